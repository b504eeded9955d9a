// Rectangles, the camera, snapping, neighbors and the spatial index. All of it is pure: points of the board in, points out.

/** @typedef {{x: number, y: number}} Point */
/** @typedef {{x: number, y: number, width: number, height: number}} Rect */
/** The point of the board at the view's top left corner, and the number of pixels per point.
 * @typedef {{x: number, y: number, scale: number}} Camera */
/** @typedef {{axis: 'x'|'y', at: number, from: number, to: number}} Guide */
/** @typedef {'left'|'right'|'up'|'down'} Direction */

export const minimumScale = 0.02, maximumScale = 4;

/** The nearest number within the bounds.
 * @param {number} value @param {number} low @param {number} high */
export const clamp = (value, low, high) => Math.min(high, Math.max(low, value));

/** @param {Camera} camera @param {Point} p @returns {Point} pixels of the view */
export const toScreen = (camera, p) => ({ x: (p.x - camera.x) * camera.scale, y: (p.y - camera.y) * camera.scale });

/** @param {Camera} camera @param {Point} p pixels of the view @returns {Point} */
export const toBoard = (camera, p) => ({ x: p.x / camera.scale + camera.x, y: p.y / camera.scale + camera.y });

/** Zooms so that the point under the pixel stays where it is.
 * @param {Camera} camera @param {Point} pixel @param {number} scale @returns {Camera} */
export function zoomAt(camera, pixel, scale) {
  const p = toBoard(camera, pixel), s = clamp(scale, minimumScale, maximumScale);
  return { x: p.x - pixel.x / s, y: p.y - pixel.y / s, scale: s };
}

/** The part of the board that a view shows.
 * @param {Camera} camera @param {number} width @param {number} height
 * @param {number} margin pixels around it @returns {Rect} */
export const visible = (camera, width, height, margin = 0) => ({
  x: camera.x - margin / camera.scale, y: camera.y - margin / camera.scale,
  width: (width + 2 * margin) / camera.scale, height: (height + 2 * margin) / camera.scale,
});

/** @param {Rect} a @param {Rect} b */
export const intersects = (a, b) =>
  a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;

/** The rectangle around all; null for none.
 * @param {Iterable<Rect>} rects @returns {Rect|null} */
export function union(rects) {
  let left = Infinity, top = Infinity, right = -Infinity, bottom = -Infinity;
  for (const r of rects) {
    left = Math.min(left, r.x), top = Math.min(top, r.y);
    right = Math.max(right, r.x + r.width), bottom = Math.max(bottom, r.y + r.height);
  }
  return left === Infinity ? null : { x: left, y: top, width: right - left, height: bottom - top };
}

/** The rectangle with two opposite corners.
 * @param {Point} a @param {Point} b @returns {Rect} */
export const between = (a, b) => ({
  x: Math.min(a.x, b.x), y: Math.min(a.y, b.y), width: Math.abs(a.x - b.x), height: Math.abs(a.y - b.y),
});

/** The camera that shows a rectangle in the middle of the free part of the view.
 * @param {Rect} rect @param {{width: number, height: number}} view
 * @param {{top: number, right: number, bottom: number, left: number}} inset pixels that panels cover
 * @param {number} limit the largest scale @returns {Camera} */
export function fit(rect, view, inset, limit = 1) {
  const width = Math.max(1, view.width - inset.left - inset.right);
  const height = Math.max(1, view.height - inset.top - inset.bottom);
  const scale = clamp(Math.min(width / Math.max(1, rect.width), height / Math.max(1, rect.height), limit),
    minimumScale, maximumScale);
  return {
    x: rect.x + rect.width / 2 - (inset.left + width / 2) / scale,
    y: rect.y + rect.height / 2 - (inset.top + height / 2) / scale, scale,
  };
}

/** The distance by which a view must move along an axis to show the part from `a` to `b`.
 * If the part is too long, its beginning is shown.
 * @param {number} a @param {number} b @param {number} low @param {number} high */
const along = (a, b, low, high) => a < low || b - a > high - low ? a - low : b > high ? b - high : 0;

/** Moves the camera as little as possible so that the rectangle is visible.
 * @param {Camera} camera @param {Rect} rect @param {{width: number, height: number}} view
 * @param {{top: number, right: number, bottom: number, left: number}} inset @returns {Camera} */
export function reveal(camera, rect, view, inset) {
  const left = camera.x + inset.left / camera.scale, right = camera.x + (view.width - inset.right) / camera.scale;
  const top = camera.y + inset.top / camera.scale, bottom = camera.y + (view.height - inset.bottom) / camera.scale;
  return {
    x: camera.x + along(rect.x, rect.x + rect.width, left, right),
    y: camera.y + along(rect.y, rect.y + rect.height, top, bottom), scale: camera.scale,
  };
}

/** Aligns the edges and centers of a moving rectangle with those of others.
 * @param {Rect} moving @param {Rect[]} others @param {number} tolerance in points
 * @param {number} gap the preferred distance between neighbors
 * @returns {{dx: number, dy: number, guides: Guide[]}} the correction, and the lines to show */
export function snap(moving, others, tolerance, gap = 20) {
  const best = { x: { by: 0, distance: tolerance }, y: { by: 0, distance: tolerance } };
  /** @param {'x'|'y'} axis @param {number} from @param {number} to */
  const attempt = (axis, from, to) => {
    const distance = Math.abs(to - from);
    if (distance < best[axis].distance) best[axis] = { by: to - from, distance };
  };
  for (const o of others) {
    for (const [axis, size, cross, crossSize] of /** @type {const} */ ([
      ['x', 'width', 'y', 'height'], ['y', 'height', 'x', 'width']])) {
      const a = moving[axis], b = o[axis], as = moving[size], bs = o[size];
      attempt(axis, a, b), attempt(axis, a + as, b + bs), attempt(axis, a + as / 2, b + bs / 2);
      const overlap = moving[cross] < o[cross] + o[crossSize] && o[cross] < moving[cross] + moving[crossSize];
      if (overlap) attempt(axis, a, b + bs + gap), attempt(axis, a + as, b - gap);
    }
  }
  const at = { ...moving, x: moving.x + best.x.by, y: moving.y + best.y.by };
  return { dx: best.x.by, dy: best.y.by, guides: guides(at, others) };
}

/** The lines on which edges or centers of the rectangle and of others coincide.
 * @param {Rect} at @param {Rect[]} others */
function guides(at, others) {
  /** @type {Map<string, Guide>} */
  const found = new Map();
  for (const o of others) {
    for (const [axis, size, cross, crossSize] of /** @type {const} */ ([
      ['x', 'width', 'y', 'height'], ['y', 'height', 'x', 'width']])) {
      const meets = (/** @type {number} */ part) => Math.abs(at[axis] + at[size] * part - (o[axis] + o[size] * part)) < 0.01;
      for (const part of meets(0) || meets(1) ? [0, 1] : [0.5]) {
        if (!meets(part)) continue;
        const line = at[axis] + at[size] * part;
        const from = Math.min(at[cross], o[cross]);
        const to = Math.max(at[cross] + at[crossSize], o[cross] + o[crossSize]);
        const key = axis + Math.round(line * 8), known = found.get(key);
        found.set(key, { axis, at: line, from: Math.min(from, known?.from ?? from), to: Math.max(to, known?.to ?? to) });
      }
    }
  }
  return [...found.values()];
}

/** The nearest rectangle in a direction: distance along it counts once, distance across it twice.
 * @template {Rect} T @param {Rect} from @param {Iterable<T>} all @param {Direction} direction @returns {T|null} */
export function neighbor(from, all, direction) {
  const sign = direction === 'left' || direction === 'up' ? -1 : 1;
  const flat = direction === 'left' || direction === 'right';
  const cx = from.x + from.width / 2, cy = from.y + from.height / 2;
  let best = null, least = Infinity;
  for (const r of all) {
    if (r === from) continue;
    const dx = r.x + r.width / 2 - cx, dy = r.y + r.height / 2 - cy;
    const along = (flat ? dx : dy) * sign, across = Math.abs(flat ? dy : dx);
    if (along <= 0 || across > along * 3) continue;
    const cost = along + 2 * across;
    if (cost < least) (least = cost), (best = r);
  }
  return best;
}

/** Orders rectangles as a page is read: rows of 100 points, then from left to right.
 * @param {Rect} a @param {Rect} b */
export const readingOrder = (a, b) => Math.floor(a.y / 100) - Math.floor(b.y / 100) || a.x - b.x || a.y - b.y;

/** @typedef {'left'|'center'|'right'|'top'|'middle'|'bottom'} Edge */

/** The places of rectangles whose edges or centers are aligned.
 * @param {Rect[]} rects @param {Edge} edge
 * @returns {Point[]} */
export function align(rects, edge) {
  const all = union(rects);
  if (!all) return [];
  const flat = edge === 'left' || edge === 'center' || edge === 'right';
  const part = edge === 'left' || edge === 'top' ? 0 : edge === 'center' || edge === 'middle' ? 0.5 : 1;
  return rects.map((r) => flat
    ? { x: all.x + (all.width - r.width) * part, y: r.y } : { x: r.x, y: all.y + (all.height - r.height) * part });
}

/** The places of rectangles with equal distances along an axis.
 * @param {Rect[]} rects @param {'x'|'y'} axis
 * @returns {Point[]} */
export function distribute(rects, axis) {
  const size = axis === 'x' ? 'width' : 'height', all = union(rects);
  if (!all || rects.length < 3) return rects.map(({ x, y }) => ({ x, y }));
  const order = rects.map((_, i) => i).sort((a, b) => rects[a][axis] - rects[b][axis]);
  const gap = (all[size] - rects.reduce((sum, r) => sum + r[size], 0)) / (rects.length - 1);
  const places = rects.map(({ x, y }) => ({ x, y }));
  let at = all[axis];
  for (const i of order) (places[i][axis] = at), (at += rects[i][size] + gap);
  return places;
}

/** The places of rectangles in rows that are about as wide as high.
 * @param {Rect[]} rects @param {number} gap
 * @returns {Point[]} */
export function tidy(rects, gap = 20) {
  const all = union(rects);
  if (!all) return [];
  const columns = Math.ceil(Math.sqrt(rects.length));
  const order = rects.map((_, i) => i).sort((a, b) => readingOrder(rects[a], rects[b]));
  /** @type {Point[]} */
  const places = [];
  let y = all.y;
  for (let row = 0; row < order.length; row += columns) {
    const members = order.slice(row, row + columns);
    let x = all.x;
    for (const i of members) (places[i] = { x, y }), (x += rects[i].width + gap);
    y += Math.max(...members.map((i) => rects[i].height)) + gap;
  }
  return places;
}

/** The place nearest to the wanted one that is free and within the view; if the view is full, one beside the wanted one
 * that no other rectangle has as its corner.
 * @param {Rect} wanted @param {SpatialIndex} index @param {Rect} [view] @returns {Point} */
export function freePlace(wanted, index, view) {
  const gap = 20, stepX = (wanted.width + gap) / 2, stepY = (wanted.height + gap) / 2;
  /** @type {Point[]} */
  const places = [];
  for (let i = -12; view && i <= 12; i++) {
    for (let k = -12; k <= 12; k++) {
      const p = { x: Math.round(wanted.x + i * stepX), y: Math.round(wanted.y + k * stepY) };
      const isInside = p.x >= view.x && p.y >= view.y && p.x + wanted.width <= view.x + view.width && p.y + wanted.height <= view.y + view.height;
      if (isInside) places.push(p);
    }
  }
  places.sort((a, b) => Math.hypot(a.x - wanted.x, a.y - wanted.y) - Math.hypot(b.x - wanted.x, b.y - wanted.y));
  const free = places.find((p) => !index.query({ x: p.x - gap / 2, y: p.y - gap / 2, width: wanted.width + gap, height: wanted.height + gap }).length);
  if (free) return free;
  let { x, y } = wanted;
  const taken = () => index.query({ x: x - 8, y: y - 8, width: 16, height: 16 })
    .some((r) => Math.abs(r.x - x) < 8 && Math.abs(r.y - y) < 8);
  for (let turn = 0; turn < 200 && taken(); turn++) (x += 24), (y += 24);
  return { x, y };
}

const cell = 512;

/** Finds the rectangles that intersect another one. Each is filed under the cells that it covers; one that covers more
 * than 64 cells is in a list of its own. */
export class SpatialIndex {
  /** @type {Map<string, Set<string>>} */
  #cells = new Map();
  /** @type {Set<string>} */
  #large = new Set();
  /** @type {Map<string, Rect>} */
  #rects = new Map();

  get size() { return this.#rects.size; }
  /** @param {string} id */
  get(id) { return this.#rects.get(id); }

  /** Adds or moves a rectangle.
   * @param {string} id @param {Rect} rect */
  set(id, rect) {
    this.delete(id);
    const { x, y, width, height } = rect;
    this.#rects.set(id, { x, y, width, height });
    const keys = keysOf(rect);
    if (!keys) return void this.#large.add(id);
    for (const key of keys) {
      const set = this.#cells.get(key);
      if (set) set.add(id);
      else this.#cells.set(key, new Set([id]));
    }
  }

  /** @param {string} id */
  delete(id) {
    const rect = this.#rects.get(id);
    if (!rect) return;
    this.#rects.delete(id);
    if (this.#large.delete(id)) return;
    for (const key of keysOf(rect) ?? []) {
      const set = this.#cells.get(key);
      if (set?.delete(id) && !set.size) this.#cells.delete(key);
    }
  }

  clear() { this.#cells.clear(), this.#large.clear(), this.#rects.clear(); }

  /** @param {Rect} rect @returns {(Rect & {id: string})[]} */
  query(rect) {
    /** @type {(Rect & {id: string})[]} */
    const found = [];
    const keys = keysOf(rect);
    /** @param {string} id */
    const check = (id) => {
      const r = this.#rects.get(id);
      if (r && intersects(r, rect)) found.push({ ...r, id });
    };
    if (!keys) {
      for (const id of this.#rects.keys()) check(id);
      return found;
    }
    /** @type {Set<string>} */
    const candidates = new Set(this.#large);
    for (const key of keys) for (const id of this.#cells.get(key) ?? []) candidates.add(id);
    for (const id of candidates) check(id);
    return found;
  }
}

/** The cells that a rectangle covers; null if there are more than 64.
 * @param {Rect} r @returns {string[]|null} */
function keysOf(r) {
  const left = Math.floor(r.x / cell), right = Math.floor((r.x + r.width) / cell);
  const top = Math.floor(r.y / cell), bottom = Math.floor((r.y + r.height) / cell);
  if ((right - left + 1) * (bottom - top + 1) > 64) return null;
  const keys = [];
  for (let x = left; x <= right; x++) for (let y = top; y <= bottom; y++) keys.push(x + ' ' + y);
  return keys;
}

/** The arrow from one rectangle to another: a curve between the sides that face each other.
 * @param {Rect} a @param {Rect} b @returns {{d: string, middle: Point}} */
export function arrow(a, b) {
  const ax = a.x + a.width / 2, ay = a.y + a.height / 2, bx = b.x + b.width / 2, by = b.y + b.height / 2;
  const gapX = Math.abs(bx - ax) - (a.width + b.width) / 2, gapY = Math.abs(by - ay) - (a.height + b.height) / 2;
  const flat = gapX >= gapY, sx = bx >= ax ? 1 : -1, sy = by >= ay ? 1 : -1;
  const start = flat ? { x: ax + sx * a.width / 2, y: ay } : { x: ax, y: ay + sy * a.height / 2 };
  const end = flat ? { x: bx - sx * (b.width / 2 + 4), y: by } : { x: bx, y: by - sy * (b.height / 2 + 4) };
  const bend = Math.max(10, (flat ? Math.abs(end.x - start.x) : Math.abs(end.y - start.y)) / 2);
  const c1 = flat ? { x: start.x + sx * bend, y: start.y } : { x: start.x, y: start.y + sy * bend };
  const c2 = flat ? { x: end.x - sx * bend, y: end.y } : { x: end.x, y: end.y - sy * bend };
  const n = (/** @type {Point} */ p) => `${Math.round(p.x * 10) / 10} ${Math.round(p.y * 10) / 10}`;
  return {
    d: `M${n(start)}C${n(c1)} ${n(c2)} ${n(end)}`,
    middle: { x: (start.x + 3 * c1.x + 3 * c2.x + end.x) / 8, y: (start.y + 3 * c1.y + 3 * c2.y + end.y) / 8 },
  };
}

/** The change that turns one text into another: the smallest replaced part. With `caret`, the offset behind the
 * insertion in the new text, equal letters are counted as the ones in front of it.
 * @param {string} before @param {string} after @param {number} [caret] */
export function splice(before, after, caret = after.length) {
  let end = 0;
  const most = Math.min(before.length, after.length);
  while (end < most && after.length - end > caret && before[before.length - 1 - end] === after[after.length - 1 - end]) end++;
  let start = 0;
  while (start < most - end && before[start] === after[start]) start++;
  while (end < most - start && before[before.length - 1 - end] === after[after.length - 1 - end]) end++;
  // No half of a surrogate pair: the text of a splice is valid by itself.
  if (start && /[\uD800-\uDBFF]/.test(before[start - 1])) start--;
  if (end && /[\uDC00-\uDFFF]/.test(before[before.length - end])) end--;
  return { start, end: before.length - end, text: after.slice(start, after.length - end) };
}
