// The surface: the camera, and the elements of the notes near the view. All other notes exist only in the index. Notes
// that are focused, edited, selected or dragged keep their elements wherever they are.

import { byID, h, perFrame, svg } from './dom.js';
import { arrow, clamp, fit, intersects, readingOrder, reveal, SpatialIndex, union, visible } from './geometry.js';
import { colors, frameOf, NoteView } from './note.js';

/** @typedef {import('./types').Note} Note */
/** @typedef {import('./geometry.js').Rect} Rect */
/** @typedef {import('./geometry.js').Camera} Camera */

/** The pixels around the view in which notes have elements. */
const margin = 300;
/** More notes than this near the view are painted as plain papers if their text is too small to read. */
const manyNotes = 350, farScale = 0.45, tooMany = 1200;
/** The elements that are kept after their notes leave the view. */
const spare = 300;
/** New elements in one frame while the view moves. */
const perFrameLimit = 14;
/** The notes that fade in together. */
const mostArriving = 40;

const reducedMotion = matchMedia('(prefers-reduced-motion: reduce)');

export class Surface {
  /** @type {Camera} */
  camera = { x: 0, y: 0, scale: 1 };
  size = { width: innerWidth, height: innerHeight };
  index = new SpatialIndex();
  /** @type {Map<string, Note>} */
  notes = new Map();
  /** @type {Map<string, NoteView>} */
  views = new Map();
  /** The notes that keep their elements: focused, edited, selected, dragged.
   * @type {() => Iterable<string>} */
  held = () => [];
  /** Whether a note passes the filter.
   * @type {(note: Note) => boolean} */
  isShown = () => true;
  /** Called after each painted frame. */
  onpaint = () => {};
  /** Called after other notes have elements than before. */
  onviews = () => {};
  /** @type {(id: string, at: number, done: boolean) => void} */
  ontick = () => {};
  /** The rectangles of notes that are being dragged.
   * @type {Map<string, Rect>} */
  dragged = new Map();

  #view = byID('view'); #world = byID('world'); #list = byID('notes'); #links = byID('links'); #dots = byID('dots');
  #far = new FarLayer(/** @type {HTMLCanvasElement} */ (byID('far')));
  /** @type {Map<string, NoteView>} */
  #spares = new Map();
  /** The notes of others that fade in when their elements appear.
   * @type {Set<string>} */
  #arriving = new Set();
  /** @type {Rect|null} */
  #culled = null; #culledScale = 0; #flight = 0; #settle = 0; #painted = 0; #isFar = false;
  /** @type {Map<string, {path: SVGElement, hit: SVGElement, text: SVGElement, d: string}>} */
  #arrows = new Map();

  constructor() {
    this.invalidate = perFrame(() => this.#paint());
    new ResizeObserver(() => {
      // While the list is shown, the surface stays where it is: of a large board, the notes around it are in memory.
      if (!this.#view.clientWidth) return;
      this.size = { width: this.#view.clientWidth, height: this.#view.clientHeight };
      this.#culled = null, this.invalidate();
    }).observe(this.#view);
  }

  /** Pixels at each side that bars cover. */
  get inset() {
    const narrow = this.size.width < 700;
    return { top: narrow ? 70 : 84, right: narrow ? 16 : 48, bottom: narrow ? 92 : 100, left: narrow ? 16 : 48 };
  }

  get isFar() { return this.#isFar; }

  /** A number that changes with the notes that are shown, and with the theme. */
  version = 0;

  /** Shows other notes: those of a board, or of its past.
   * @param {Map<string, Note>} notes */
  load(notes) {
    this.notes = notes;
    for (const view of this.views.values()) view.endEditing(), view.element.remove();
    this.views.clear(), this.#spares.clear();
    this.reindex();
  }

  /** Files all notes again, after another filter for example. */
  reindex() {
    this.version++, this.index.clear();
    for (const note of this.notes.values()) if (this.isShown(note)) this.index.set(note.id, frameOf(note));
    this.#culled = null, this.#far.clear(), this.invalidate();
  }

  /** Takes over a change of the notes.
   * @param {{inserted: string[], updated: {id: string}[], removed: string[]}} change */
  apply({ inserted, updated, removed }) {
    this.version++;
    for (const id of removed) {
      this.index.delete(id), this.#spares.delete(id);
      const view = this.views.get(id);
      if (view) view.endEditing(), view.element.remove(), this.views.delete(id);
    }
    for (const id of [...inserted, ...updated.map((u) => u.id)]) {
      const note = this.notes.get(id);
      if (!note) continue;
      if (this.isShown(note)) this.index.set(id, frameOf(note));
      else this.index.delete(id);
      this.#spares.delete(id);
      if (!this.dragged.has(id)) this.views.get(id)?.update(note);
    }
    this.#culled = null, this.#far.clear(), this.invalidate();
  }

  /** Lets the notes that others have just made fade in, those of them that are near the view.
   * @param {string[]} ids */
  arrive(ids) {
    // Of a whole board that is imported or restored, each would be one layer.
    this.#arriving = new Set(ids.slice(0, mostArriving));
  }

  /** A note that was made here has its permanent id now.
   * @param {string} from @param {string} to */
  rename(from, to) {
    const view = this.views.get(from), frame = this.index.get(from), dragged = this.dragged.get(from);
    if (frame) this.index.delete(from), this.index.set(to, frame);
    if (dragged) this.dragged.delete(from), this.dragged.set(to, dragged);
    this.#spares.delete(from);
    if (!view) return;
    this.views.delete(from), this.views.set(to, view);
    view.id = to, view.element.dataset.id = to;
    if (view.editor) view.editor.id = to;
  }

  /** The notes that pass the filter. */
  shown() { return [...this.notes.values()].filter((note) => this.index.get(note.id)); }

  /** The note at a point of the board: the topmost.
   * @param {import('./geometry.js').Point} p */
  noteAt(p) {
    let best = null;
    for (const { id } of this.index.query({ ...p, width: 0.01, height: 0.01 })) {
      const note = this.notes.get(id);
      if (note && (!best || note.z >= best.z)) best = note;
    }
    return best;
  }

  /** The element of a note, created if the note is out of sight.
   * @param {string} id */
  viewOf(id) {
    const known = this.views.get(id), note = this.notes.get(id);
    if (known || !note) return known ?? null;
    return this.#show(note);
  }

  /** @param {Camera} camera @param {boolean} [animated] */
  setCamera(camera, animated = false) {
    cancelAnimationFrame(this.#flight);
    if (!animated || reducedMotion.matches) {
      this.camera = camera;
      return this.invalidate();
    }
    const from = this.camera, start = performance.now(), zoom = camera.scale / from.scale;
    const step = () => {
      const t = Math.min(1, (performance.now() - start) / 260), eased = 1 - (1 - t) ** 3;
      const scale = from.scale * zoom ** eased, ended = t >= 1;
      // The center moves on a line; otherwise a zoom would swing to the side.
      const center = (/** @type {Camera} */ c, /** @type {'x'|'y'} */ axis) =>
        c[axis] + this.size[axis === 'x' ? 'width' : 'height'] / 2 / c.scale;
      const middle = (/** @type {'x'|'y'} */ axis) => center(from, axis) + (center(camera, axis) - center(from, axis)) * eased
        - this.size[axis === 'x' ? 'width' : 'height'] / 2 / scale;
      this.camera = ended ? camera : { x: middle('x'), y: middle('y'), scale };
      this.invalidate();
      if (!ended) this.#flight = requestAnimationFrame(step);
    };
    step();
  }

  /** Shows all notes, or those with the ids.
   * @param {Iterable<string>} [ids] @param {boolean} [animated] */
  fit(ids, animated = true) {
    const frames = ids ? [...ids].map((id) => this.index.get(id)) : this.shown().map(frameOf);
    this.show(union(/** @type {Rect[]} */ (frames.filter(Boolean))), animated);
  }

  /** Shows a rectangle, and without one the origin.
   * @param {Rect|null} all @param {boolean} [animated] */
  show(all, animated = true) {
    this.setCamera(all ? fit(all, this.size, this.inset, clamp(this.size.width / 1600, 1, 2))
      : { x: -this.size.width / 2, y: -this.size.height / 2, scale: 1 }, animated);
  }

  /** Shows a board for the first time: all of it if the text can be read then, else its beginning. */
  home() {
    const all = union(this.shown().map(frameOf)), { inset } = this, readable = this.size.width < 700 ? 0.8 : 0.55;
    this.fit(undefined, false);
    if (!all || this.camera.scale >= readable) return;
    this.setCamera({ x: all.x - inset.left / readable, y: all.y - inset.top / readable, scale: readable });
  }

  /** Moves the view so that a note is completely visible.
   * @param {string} id @param {boolean} [animated] */
  reveal(id, animated = true) {
    const frame = this.index.get(id);
    if (frame) this.setCamera(reveal(this.camera, frame, this.size, this.inset), animated);
  }

  /** What the user sees, in points.
   * @param {number} [pixels] around it */
  visible(pixels = 0) { return visible(this.camera, this.size.width, this.size.height, pixels); }

  /** The papers for the map. */
  papers() {
    const papers = [];
    for (const note of this.notes.values()) {
      const frame = this.index.get(note.id);
      if (frame) papers.push({ ...frame, id: note.id, color: note.color, lines: 3 });
    }
    return papers;
  }

  #paint() {
    const { camera } = this, step = 28 * camera.scale * (camera.scale < 0.35 ? 4 : 1);
    this.#world.style.transform = `scale(${camera.scale}) translate(${-camera.x}px, ${-camera.y}px)`;
    if (this.#painted !== camera.scale) {
      this.#painted = camera.scale;
      this.#world.style.setProperty('--scale', String(camera.scale));
      this.#dots.style.backgroundSize = `${step}px ${step}px`;
    }
    const rest = (/** @type {number} */ v) => -(((v * camera.scale) % step) + step) % step;
    this.#dots.hidden = camera.scale < 0.1 || this.#isFar;
    this.#dots.style.transform = `translate(${rest(camera.x)}px, ${rest(camera.y)}px)`;
    this.#cull();
    this.onpaint();
    // A layer of its own moves without painting; afterwards the text is drawn sharply at the new scale.
    this.#world.classList.add('moving');
    clearTimeout(this.#settle);
    this.#settle = window.setTimeout(() => this.#settled(), 180);
  }

  /** The view rests: text is drawn sharply, and what needs a layout is measured. */
  #settled() {
    this.#world.classList.remove('moving'), this.#arriving.clear();
    if (this.#isFar && this.#far.isBlurred(this.camera.scale)) return this.refreshFar();
    this.#sort();
    const cut = [...this.views.values()].map((view) => view.isCut());
    [...this.views.values()].forEach((view, i) => view.element.classList.toggle('cut', cut[i]));
  }

  /** Puts the elements into the order of reading, around the one that has the focus. */
  #sort() {
    const views = [...this.views.values()].sort((a, b) => readingOrder(a.note, b.note) || (a.id < b.id ? -1 : 1));
    const items = views.map((view) => view.element), list = this.#list;
    if (items.every((item, i) => item === list.children[i])) return;
    const held = items.findIndex((item) => item.contains(document.activeElement));
    items.forEach((item, i) => {
      if (i < held) list.insertBefore(item, items[held]);
      else if (i > held) list.append(item);
    });
  }

  #cull() {
    const near = this.visible(margin), inner = this.visible(margin / 3), c = this.#culled;
    const isFresh = c && this.#culledScale / this.camera.scale < 1.3 && this.camera.scale / this.#culledScale < 1.3
      && inner.x >= c.x && inner.y >= c.y && inner.x + inner.width <= c.x + c.width && inner.y + inner.height <= c.y + c.height;
    if (isFresh) return;
    const found = this.index.query(near);
    this.#isFar = (found.length > manyNotes && this.camera.scale < farScale) || found.length > tooMany;
    const wanted = new Set(this.held());
    if (!this.#isFar) for (const { id } of found) wanted.add(id);
    for (const [id, view] of this.views) {
      if (wanted.has(id) && this.index.get(id)) continue;
      if (view.editor) continue;
      view.element.remove(), this.views.delete(id), this.#spares.set(id, view);
    }
    for (const id of this.#spares.keys()) {
      if (this.#spares.size <= spare) break;
      this.#spares.delete(id);
    }
    const missing = [...wanted].filter((id) => !this.views.has(id) && this.index.get(id));
    const center = { x: near.x + near.width / 2, y: near.y + near.height / 2 };
    const distance = (/** @type {string} */ id) => {
      const r = /** @type {Rect} */ (this.index.get(id));
      return Math.abs(r.x + r.width / 2 - center.x) + Math.abs(r.y + r.height / 2 - center.y);
    };
    const isFirst = this.views.size === 0 || !c;
    if (missing.length > perFrameLimit && !isFirst) missing.sort((a, b) => distance(a) - distance(b));
    const now = isFirst ? missing : missing.slice(0, perFrameLimit);
    for (const id of now) {
      const note = this.notes.get(id);
      if (note) this.#show(note);
    }
    this.#culled = near, this.#culledScale = this.camera.scale;
    if (now.length < missing.length) this.#culled = null, requestAnimationFrame(() => this.invalidate());
    this.#stack(), this.onviews();
    this.#paintFar(near);
    this.paintLinks();
  }

  /** Adds the element of a note at its place in the order of reading.
   * @param {Note} note */
  #show(note) {
    /** @type {NoteView} */
    const view = this.#spares.get(note.id) ?? new NoteView(note, (at, done) => this.ontick(view.id, at, done));
    this.#spares.delete(note.id);
    if (view.note !== note) view.update(note);
    const items = this.#list.children;
    let low = 0, high = items.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const other = this.notes.get(/** @type {HTMLElement} */ (items[middle]).dataset.id ?? '');
      if (other && readingOrder(other, note) <= 0) low = middle + 1;
      else high = middle;
    }
    this.#list.insertBefore(view.element, items[low] ?? null);
    this.views.set(note.id, view);
    if (this.#arriving.delete(note.id)) {
      view.element.classList.add('arrived');
      view.element.addEventListener('animationend', () => view.element.classList.remove('arrived'), { once: true });
    }
    return view;
  }

  /** Notes with a higher z lie above others. */
  #stack() {
    const order = [...this.views.values()].sort((a, b) => a.note.z - b.note.z || (a.id < b.id ? -1 : 1));
    order.forEach((view, i) => {
      const z = String(i + 1);
      if (view.element.style.zIndex !== z) view.element.style.zIndex = z;
    });
  }

  /** @param {Rect} near */
  #paintFar(near) {
    if (!this.#isFar) return this.#far.clear();
    if (!this.#far.isStale(this.visible(), this.camera.scale)) return;
    const covered = this.visible(Math.min(this.size.width, this.size.height) / 2);
    const papers = this.index.query(covered).filter((r) => !this.views.has(r.id)).map((r) => {
      const note = this.notes.get(r.id);
      return { ...r, color: note?.color ?? 'yellow', lines: Math.ceil((note?.text.length ?? 0) / 22), z: note?.z ?? 0 };
    }).sort((a, b) => a.z - b.z);
    this.#far.paint(covered, this.camera.scale, papers);
  }

  /** The papers that have been painted no longer match. */
  refreshFar() { this.version++, this.#far.clear(), this.#culled = null, this.invalidate(); }

  /** The rectangle of a note, also while it is dragged.
   * @param {string} id */
  frame(id) { return this.dragged.get(id) ?? this.index.get(id); }

  /** Draws the links of which an end is near the view. */
  paintLinks() {
    const near = this.visible(margin), used = new Set();
    if (this.camera.scale > 0.12 && !(this.#isFar && this.notes.size > 3000)) {
      for (const note of this.notes.values()) {
        const from = note.links.length ? this.frame(note.id) : undefined;
        if (!from) continue;
        for (const link of note.links) {
          const to = this.frame(link.to), around = to && union([from, to]);
          if (!to || !around || !intersects(around, near)) continue;
          used.add(link.id);
          this.#drawLink(link, from, to, note.color);
        }
      }
    }
    for (const [id, { path, hit, text }] of this.#arrows) {
      if (!used.has(id)) path.remove(), hit.remove(), text.remove(), this.#arrows.delete(id);
    }
  }

  /** @param {{id: string, label: string}} link @param {Rect} from @param {Rect} to @param {string} color */
  #drawLink(link, from, to, color) {
    const { d, middle } = arrow(from, to);
    let parts = this.#arrows.get(link.id);
    if (!parts) {
      const text = svg('text', { 'text-anchor': 'middle' });
      parts = { path: svg('path', { class: 'arrow', 'marker-end': 'url(#tip)' }), hit: svg('path', { class: 'hit', 'data-link': link.id }), text, d: '' };
      this.#arrows.set(link.id, parts), this.#links.append(parts.path, parts.hit, text);
    }
    if (parts.d !== d) {
      parts.d = d;
      parts.path.setAttribute('d', d), parts.hit.setAttribute('d', d);
      parts.text.setAttribute('x', String(middle.x)), parts.text.setAttribute('y', String(middle.y - 6));
    }
    if (parts.text.textContent !== link.label) parts.text.textContent = link.label;
  }

  /** Shows the lines on which a dragged note snaps.
   * @param {import('./geometry.js').Guide[]} guides */
  showGuides(guides) {
    byID('guides').replaceChildren(...guides.map((g) => {
      const line = h('div', { class: 'guide ' + g.axis });
      line.style.transform = g.axis === 'x' ? `translate(${g.at}px, ${g.from}px)` : `translate(${g.from}px, ${g.at}px)`;
      line.style[g.axis === 'x' ? 'height' : 'width'] = g.to - g.from + 'px';
      return line;
    }));
  }
}

// ---- Distant notes
//
// Notes as plain rectangles of paper: the map in the corner, and the layer that shows thousands of notes at a small scale.

/** @typedef {import('./geometry.js').Rect & {id: string, color: string, lines: number}} Paper */

/** The colors of the papers and of their ink, as the style sheet defines them. */
export function palette() {
  const style = getComputedStyle(document.documentElement);
  return Object.fromEntries(colors.map((name) => [name, {
    paper: style.getPropertyValue(`--${name}`).trim(), ink: style.getPropertyValue(`--${name}-ink`).trim(),
  }]));
}

/** Paints papers color by color, so that the context's state seldom changes.
 * @param {CanvasRenderingContext2D} context @param {Paper[]} papers @param {number} scale pixels per point
 * @param {import('./geometry.js').Point} origin the point of the board at the canvas's corner
 * @param {ReturnType<typeof palette>} shades @param {boolean} withLines */
function paint(context, papers, scale, origin, shades, withLines) {
  for (const p of papers) {
    const x = (p.x - origin.x) * scale, y = (p.y - origin.y) * scale, width = p.width * scale, height = p.height * scale;
    const shade = shades[p.color] ?? shades.yellow;
    context.fillStyle = shade.paper;
    context.fillRect(x, y, Math.max(1.5, width - 1), Math.max(1.5, height - 1));
    if (!withLines || width < 12) continue;
    context.globalAlpha = 0.32, context.fillStyle = shade.ink;
    const step = 21 * scale, count = Math.min(p.lines, Math.floor((height - 20 * scale) / step));
    for (let i = 0; i < count; i++) {
      const part = i + 1 === p.lines ? 0.45 : 0.82 - ((p.x + i * 37) % 5) / 20;
      context.fillRect(x + 16 * scale, y + (18 * scale) + i * step, (width - 32 * scale) * part, Math.max(1, 7 * scale));
    }
    context.globalAlpha = 1;
  }
}

/** The layer of papers behind the list. It covers more than the view, and moves with the board until the view leaves it. */
class FarLayer {
  /** @type {import('./geometry.js').Rect|null} */
  #covered = null; #scale = 0;

  /** @param {HTMLCanvasElement} canvas */
  constructor(canvas) { this.canvas = canvas; }

  clear() {
    if (!this.#covered) return;
    this.#covered = null, this.canvas.hidden = true;
  }

  /** Whether the layer was painted for another scale.
   * @param {number} scale */
  isBlurred(scale) { return this.#covered !== null && Math.abs(scale / this.#scale - 1) > 0.02; }

  /** Whether the layer must be painted again.
   * @param {import('./geometry.js').Rect} view
   * @param {number} scale */
  isStale(view, scale) {
    const c = this.#covered;
    return !c || view.x < c.x || view.y < c.y || view.x + view.width > c.x + c.width
      || view.y + view.height > c.y + c.height || scale > this.#scale * 1.6 || scale < this.#scale / 2.5;
  }

  /** @param {import('./geometry.js').Rect} covered @param {number} scale @param {Paper[]} papers */
  paint(covered, scale, papers) {
    const { canvas } = this, wanted = Math.min(devicePixelRatio, 2) * scale;
    const limit = Math.sqrt(9e6 / (covered.width * covered.height * wanted * wanted));
    const drawn = wanted * Math.min(1, limit);
    canvas.width = Math.ceil(covered.width * drawn), canvas.height = Math.ceil(covered.height * drawn);
    canvas.hidden = false;
    canvas.style.transform = `translate(${covered.x}px, ${covered.y}px) scale(${1 / drawn})`;
    const context = canvas.getContext('2d');
    if (context) paint(context, papers, drawn, covered, palette(), papers.length < 4000);
    this.#covered = covered, this.#scale = scale;
  }
}

/** The map of the whole board with a frame around the view. A click or drag moves the view. */
export class Overview {
  /** @type {Paper[]} */
  #papers = [];
  /** @type {import('./geometry.js').Rect|null} */
  #bounds = null;
  #version = -1; #base = document.createElement('canvas');

  /** @param {HTMLCanvasElement} canvas @param {(center: import('./geometry.js').Point) => void} onmove */
  constructor(canvas, onmove) {
    this.canvas = canvas;
    this.origin = { x: 0, y: 0 }, this.scale = 1;
    const move = (/** @type {PointerEvent} */ event) => {
      const box = canvas.getBoundingClientRect();
      onmove({ x: (event.clientX - box.x) / this.scale + this.origin.x, y: (event.clientY - box.y) / this.scale + this.origin.y });
    };
    canvas.addEventListener('pointerdown', (event) => { canvas.setPointerCapture(event.pointerId), move(event); });
    canvas.addEventListener('pointermove', (event) => { if (event.buttons) move(event); });
  }

  /** Draws the map. The papers are painted again only after a change of the notes or of the part that the map shows.
   * @param {() => Paper[]} papers @param {number} version of the notes @param {import('./geometry.js').Camera} camera
   * @param {{width: number, height: number}} size of the view */
  paint(papers, version, camera, size) {
    const { canvas } = this, ratio = Math.min(2, devicePixelRatio), { clientWidth: width, clientHeight: height } = canvas;
    const context = canvas.getContext('2d'), view = visible(camera, size.width, size.height);
    if (!width || !context) return;
    if (version !== this.#version) this.#papers = papers(), this.#bounds = union(this.#papers);
    const all = union(this.#bounds ? [this.#bounds, view] : [view]) ?? view;
    const scale = clamp(Math.min((width - 16) / all.width, (height - 16) / all.height), 0, 1);
    const origin = { x: all.x + all.width / 2 - width / 2 / scale, y: all.y + all.height / 2 - height / 2 / scale };
    const isSame = version === this.#version && scale === this.scale && origin.x === this.origin.x && origin.y === this.origin.y;
    this.scale = scale, this.origin = origin, this.#version = version;
    if (!isSame) {
      this.#base.width = canvas.width = width * ratio, this.#base.height = canvas.height = height * ratio;
      const base = this.#base.getContext('2d');
      if (base) paint(base, this.#papers, scale * ratio, origin, palette(), false);
    }
    context.clearRect(0, 0, canvas.width, canvas.height), context.drawImage(this.#base, 0, 0);
    context.lineWidth = 1.5 * ratio;
    context.strokeStyle = getComputedStyle(canvas).getPropertyValue('--accent');
    context.strokeRect((view.x - origin.x) * scale * ratio, (view.y - origin.y) * scale * ratio,
      view.width * scale * ratio, view.height * scale * ratio);
  }
}
