// Mouse, pen and touch on the surface: pan, zoom, pinch, select, drag, resize and link. One state at a time; each state
// owns what it needs until the pointer is released or canceled.

import { byID, h } from './dom.js';
import { between, snap, toBoard, toScreen, union, zoomAt } from './geometry.js';

/** @typedef {import('./geometry.js').Point} Point */
/** @typedef {import('./geometry.js').Rect} Rect */
/** @typedef {import('./app.js').App} App */
/** @typedef {{kind: 'press', at: Point, note: string|null, isNew: boolean, touch: boolean, timer: number, add: boolean}
 *  | {kind: 'pan', at: Point, from: import('./geometry.js').Camera}
 *  | {kind: 'pinch', distance: number, center: Point, from: import('./geometry.js').Camera}
 *  | {kind: 'lasso', at: Point, before: Set<string>, box: HTMLElement}
 *  | {kind: 'drag', at: Point, starts: Map<string, Rect>, others: Rect[], whole: Rect, gesture: any, sent: number}
 *  | {kind: 'resize', at: Point, id: string, start: Rect, edges: string, others: Rect[], gesture: any, sent: number}
 *  | {kind: 'link', from: string, line: HTMLElement, target: string|null}} State */

/** Pixels that a pointer moves before a press becomes a drag. */
const slop = 4;
/** Pixels within which edges snap. */
const snapDistance = 7;
/** The least size of a note, in points. */
export const leastSize = { width: 96, height: 64 };
/** Milliseconds between two writes of a gesture, and the notes of which each step is written. */
const writeInterval = 60, liveNotes = 30;

export class Pointer {
  /** @type {State|null} */
  state = null;
  /** @type {Map<number, Point>} */
  #pointers = new Map(); #space = false; #view = byID('view'); #edge = 0;
  /** @type {Point} */
  last = { x: innerWidth / 2, y: innerHeight / 2 };

  /** @param {App} app */
  constructor(app) {
    this.app = app;
    const view = this.#view;
    view.addEventListener('pointerdown', (event) => this.#down(event));
    view.addEventListener('pointermove', (event) => this.#move(event));
    view.addEventListener('pointerup', (event) => this.#up(event));
    view.addEventListener('pointercancel', (event) => this.#cancel(event));
    view.addEventListener('pointerleave', () => app.people.cursor(null));
    view.addEventListener('dblclick', (event) => this.#double(event));
    view.addEventListener('contextmenu', (event) => this.#menu(event));
    view.addEventListener('wheel', (event) => this.#wheel(event), { passive: false });
    let gestureScale = 1;
    view.addEventListener('gesturestart', (event) => { event.preventDefault(), (gestureScale = app.surface.camera.scale); });
    view.addEventListener('gesturechange', (event) => {
      event.preventDefault();
      this.zoom(gestureScale * /** @type {any} */ (event).scale, this.last);
    });
    document.addEventListener('keydown', (event) => {
      if (event.key === ' ' && event.target === document.body) this.#space = true, view.classList.add('hand');
      if (event.key === 'Escape' && this.state) event.stopPropagation(), this.abort();
    }, true);
    document.addEventListener('keyup', (event) => { if (event.key === ' ') this.#space = false, view.classList.remove('hand'); });
  }

  /** @param {number} scale @param {Point} [pixel] */
  zoom(scale, pixel = { x: this.app.surface.size.width / 2, y: this.app.surface.size.height / 2 }, animated = false) {
    this.app.stopFollowing(), this.app.surface.setCamera(zoomAt(this.app.surface.camera, pixel, scale), animated);
  }

  /** @param {Point} pixel */
  #board(pixel) { return toBoard(this.app.surface.camera, pixel); }

  /** @param {MouseEvent} event @returns {Point} */
  #pixel(event) {
    const box = this.#view.getBoundingClientRect();
    return { x: event.clientX - box.x, y: event.clientY - box.y };
  }

  /** @param {PointerEvent} event */
  #down(event) {
    const { app } = this, target = /** @type {Element} */ (event.target), at = this.#pixel(event);
    if (target.closest('textarea') || (target.closest('a, input') && event.button === 0)) return;
    this.#pointers.set(event.pointerId, at), (this.last = at);
    const note = this.noteUnder(event);
    if (app.editing && app.editing !== note) app.endEditing();
    if (this.#pointers.size === 2) return this.#startPinch();
    const handle = target.closest('[data-edges]');
    if (handle instanceof HTMLElement && event.button === 0) return this.#startHandle(event, handle.dataset.edges ?? '');
    if (event.button === 1 || this.#space || (event.button === 0 && app.handTool)) {
      event.preventDefault();
      return this.#begin(event, { kind: 'pan', at, from: app.surface.camera });
    }
    if (event.button !== 0) return;
    const touch = event.pointerType === 'touch', add = event.shiftKey || event.ctrlKey || event.metaKey;
    event.preventDefault();
    const isNew = note !== null && !app.selection.has(note);
    const timer = touch ? window.setTimeout(() => this.#hold(event), 380) : 0;
    if (note && isNew && !touch) app.select(add ? [...app.selection, note] : [note]);
    if (note) app.focusNote(note, false);
    else /** @type {HTMLElement|null} */ (document.activeElement)?.blur?.();
    this.state = { kind: 'press', at, note, isNew, touch, timer, add };
  }

  /** The note under the pointer; null for none.
   * @param {Event} event */
  noteUnder(event) {
    const item = /** @type {Element} */ (event.target).closest?.('.note');
    if (item instanceof HTMLElement) return item.dataset.id ?? null;
    if (!this.app.surface.isFar || !(event instanceof MouseEvent)) return null;
    return this.app.surface.noteAt(this.#board(this.#pixel(event)))?.id ?? null;
  }

  /** @param {PointerEvent} event @param {State} state */
  #begin(event, state) {
    this.state = state;
    try { this.#view.setPointerCapture(event.pointerId); } catch { /* The pointer has been released meanwhile. */ }
    this.#view.dataset.gesture = state.kind;
  }

  /** A finger that rests on a note takes it up.
   * @param {PointerEvent} event */
  #hold(event) {
    const { app, state } = this;
    if (state?.kind !== 'press') return;
    if (!state.note) return this.app.showMenu(null, { x: event.clientX, y: event.clientY });
    navigator.vibrate?.(8);
    if (!app.selection.has(state.note)) app.select([state.note]);
    this.#startDrag(event, state.note, state.at, false);
  }

  /** @param {PointerEvent} event */
  #move(event) {
    const { app } = this, at = this.#pixel(event);
    this.last = at;
    if (this.#pointers.has(event.pointerId)) this.#pointers.set(event.pointerId, at);
    app.people.cursor(this.#board(at));
    const { state } = this;
    // The button was released above a bar.
    if (state?.kind === 'press' && event.pointerType === 'mouse' && !event.buttons) return void (this.state = null);
    switch (state?.kind) {
      case 'press': return this.#leavePress(event, state, at);
      case 'pan': {
        const { scale } = state.from;
        app.stopFollowing();
        return app.surface.setCamera({ x: state.from.x - (at.x - state.at.x) / scale, y: state.from.y - (at.y - state.at.y) / scale, scale });
      }
      case 'pinch': return this.#pinch(state);
      case 'lasso': return this.#lasso(state, at);
      case 'drag': return this.#drag(state, event), this.#scrollAtEdge(event);
      case 'resize': return this.#resize(state, event);
      case 'link': return this.#link(state, event);
    }
  }

  /** @param {PointerEvent} event @param {State & {kind: 'press'}} state @param {Point} at */
  #leavePress(event, state, at) {
    if (Math.hypot(at.x - state.at.x, at.y - state.at.y) < (state.touch ? 8 : slop)) return;
    clearTimeout(state.timer);
    const { app } = this;
    // A finger moves a selected note, and the board everywhere else.
    if (state.touch && (state.note === null || state.isNew)) {
      return this.#begin(event, { kind: 'pan', at: state.at, from: app.surface.camera });
    }
    if (state.note !== null) return this.#startDrag(event, state.note, state.at, event.altKey);
    const box = h('div', { class: 'lasso' });
    byID('overlay').append(box);
    this.#begin(event, { kind: 'lasso', at: this.#board(state.at), before: state.add ? new Set(app.selection) : new Set(), box });
  }

  // MARK: - Drag

  /** @param {PointerEvent} event @param {string} id @param {Point} at @param {boolean} copies */
  #startDrag(event, id, at, copies) {
    const { app } = this, { surface } = app;
    if (!app.canWrite) return this.#begin(event, { kind: 'pan', at, from: surface.camera });
    if (!copies && !app.may('update', app.selection.has(id) ? app.selection : [id])) return void (this.state = null);
    if (copies) app.duplicate({ x: 0, y: 0 });
    const ids = [...(app.selection.has(id) || copies ? app.selection : [id])].filter((i) => !surface.notes.get(i)?.locked);
    if (!ids.length) return void app.explainLock(id), void (this.state = null);
    /** @type {Map<string, Rect>} */
    const starts = new Map();
    for (const i of ids) {
      const frame = surface.index.get(i);
      // A few notes move in layers of their own; many layers would cost more than they save.
      if (frame) starts.set(i, frame), surface.viewOf(i)?.element.classList.add('dragged', ids.length <= 12 ? 'lifted' : 'dragged');
    }
    const whole = union(starts.values());
    if (!whole) return;
    surface.dragged = new Map(starts);
    if (surface.isFar) surface.refreshFar();
    const others = surface.index.query(surface.visible(0)).filter((r) => !starts.has(r.id)).slice(0, 400);
    this.#begin(event, { kind: 'drag', at: this.#board(at), starts, others, whole, gesture: app.board?.gesture('Move'), sent: 0 });
    this.#drag(/** @type {State & {kind: 'drag'}} */ (this.state), event);
  }

  /** @param {State & {kind: 'drag'}} state @param {PointerEvent} event */
  #drag(state, event) {
    const { app } = this, { surface } = app, p = this.#board(this.#pixel(event));
    let dx = p.x - state.at.x, dy = p.y - state.at.y;
    if (event.shiftKey) Math.abs(dx) > Math.abs(dy) ? (dy = 0) : (dx = 0);
    const moved = { ...state.whole, x: state.whole.x + dx, y: state.whole.y + dy };
    const snapped = event.ctrlKey || event.metaKey ? { dx: 0, dy: 0, guides: [] }
      : snap(moved, state.others, snapDistance / surface.camera.scale);
    dx = Math.round(dx + snapped.dx), (dy = Math.round(dy + snapped.dy));
    for (const [id, start] of state.starts) {
      const frame = { ...start, x: start.x + dx, y: start.y + dy };
      surface.dragged.set(id, frame), surface.views.get(id)?.moveTo(frame);
    }
    surface.showGuides(snapped.guides), surface.paintLinks(), app.placeFrame();
    const now = performance.now();
    if (state.starts.size <= liveNotes && now - state.sent > writeInterval) (state.sent = now), this.#writeDrag(state);
  }

  /** @param {State & {kind: 'drag'}} state */
  #writeDrag(state) {
    const values = new Map([...this.app.surface.dragged].map(([id, { x, y }]) => [id, { x, y }]));
    this.app.board?.update([...values.keys()], values, state.gesture);
  }

  /** The board moves while a note is held at the edge of the view.
   * @param {PointerEvent} event */
  #scrollAtEdge(event) {
    cancelAnimationFrame(this.#edge);
    const at = this.#pixel(event), { size } = this.app.surface, zone = 28;
    const push = (/** @type {number} */ v, /** @type {number} */ end) => v < zone ? v - zone : v > end - zone ? v - end + zone : 0;
    const x = push(at.x, size.width), y = push(at.y, size.height);
    if (!x && !y) return;
    const turn = () => {
      if (this.state?.kind !== 'drag') return;
      const { camera } = this.app.surface;
      this.app.surface.setCamera({ ...camera, x: camera.x + x / 3 / camera.scale, y: camera.y + y / 3 / camera.scale });
      this.#drag(this.state, event);
      this.#edge = requestAnimationFrame(turn);
    };
    this.#edge = requestAnimationFrame(turn);
  }

  // MARK: - Handles

  /** @param {PointerEvent} event @param {string} edges */
  #startHandle(event, edges) {
    const { app } = this, [id] = app.selection, start = app.surface.index.get(id);
    event.preventDefault();
    if (!start || !app.canWrite) return;
    if (edges === 'link') {
      const line = h('div', { class: 'rubber' });
      byID('overlay').append(line);
      return this.#begin(event, { kind: 'link', from: id, line, target: null });
    }
    app.surface.dragged = new Map([[id, start]]);
    const others = app.surface.index.query(app.surface.visible(0)).filter((r) => r.id !== id).slice(0, 400);
    this.#begin(event, { kind: 'resize', at: this.#board(this.#pixel(event)), id, start, edges, others, gesture: app.board?.gesture('Resize'), sent: 0 });
  }

  /** @param {State & {kind: 'resize'}} state @param {PointerEvent} event */
  #resize(state, event) {
    const { surface } = this.app, { start, edges } = state, p = this.#board(this.#pixel(event));
    const dx = p.x - state.at.x, dy = p.y - state.at.y;
    let left = start.x + (edges.includes('w') ? dx : 0), right = start.x + start.width + (edges.includes('e') ? dx : 0);
    let top = start.y + (edges.includes('n') ? dy : 0), bottom = start.y + start.height + (edges.includes('s') ? dy : 0);
    const corner = { x: edges.includes('w') ? left : right, y: edges.includes('n') ? top : bottom, width: 0, height: 0 };
    const snapped = event.ctrlKey || event.metaKey ? { dx: 0, dy: 0 } : snap(corner, state.others, snapDistance / surface.camera.scale, 0);
    if (edges.includes('w')) left = Math.min(left + snapped.dx, right - leastSize.width);
    if (edges.includes('e')) right = Math.max(right + snapped.dx, left + leastSize.width);
    if (edges.includes('n')) top = Math.min(top + snapped.dy, bottom - leastSize.height);
    if (edges.includes('s')) bottom = Math.max(bottom + snapped.dy, top + leastSize.height);
    const frame = { x: Math.round(left), y: Math.round(top), width: Math.round(right - left), height: Math.round(bottom - top) };
    surface.dragged.set(state.id, frame);
    const view = surface.views.get(state.id);
    if (view) view.update({ ...view.note, ...frame });
    surface.paintLinks(), this.app.placeFrame();
    const now = performance.now();
    if (now - state.sent > writeInterval) (state.sent = now), this.app.board?.update([state.id], frame, state.gesture);
  }

  /** @param {State & {kind: 'link'}} state @param {PointerEvent} event */
  #link(state, event) {
    const { surface } = this.app, p = this.#board(this.#pixel(event)), note = surface.noteAt(p);
    state.target = note && note.id !== state.from ? note.id : null;
    this.app.markTarget(state.target);
    const start = surface.index.get(state.from);
    if (!start) return;
    const a = toScreen(surface.camera, { x: start.x + start.width, y: start.y + start.height / 2 }), b = this.#pixel(event);
    state.line.style.width = Math.hypot(b.x - a.x, b.y - a.y) + 'px';
    state.line.style.transform = `translate(${a.x}px, ${a.y}px) rotate(${Math.atan2(b.y - a.y, b.x - a.x)}rad)`;
  }

  // MARK: - Lasso and pinch

  /** @param {State & {kind: 'lasso'}} state @param {Point} pixel */
  #lasso(state, pixel) {
    const { surface } = this.app, rect = between(state.at, this.#board(pixel)), at = toScreen(surface.camera, rect);
    state.box.style.transform = `translate(${at.x}px, ${at.y}px)`;
    state.box.style.width = rect.width * surface.camera.scale + 'px';
    state.box.style.height = rect.height * surface.camera.scale + 'px';
    this.app.select([...state.before, ...surface.index.query(rect).map((r) => r.id)], true);
  }

  #startPinch() {
    if (this.state?.kind === 'press') clearTimeout(this.state.timer);
    if (this.state) this.abort();
    const [a, b] = this.#pointers.values();
    this.state = {
      kind: 'pinch', distance: Math.max(1, Math.hypot(a.x - b.x, a.y - b.y)), from: this.app.surface.camera,
      center: { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 },
    };
  }

  /** @param {State & {kind: 'pinch'}} state */
  #pinch(state) {
    const [a, b] = this.#pointers.values();
    if (!b) return;
    const center = { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 }, { from } = state;
    const shifted = {
      x: from.x - (center.x - state.center.x) / from.scale, y: from.y - (center.y - state.center.y) / from.scale, scale: from.scale,
    };
    this.app.stopFollowing();
    this.app.surface.setCamera(zoomAt(shifted, center, from.scale * Math.hypot(a.x - b.x, a.y - b.y) / state.distance));
  }

  // MARK: - Ends

  /** @param {PointerEvent} event */
  #up(event) {
    this.#pointers.delete(event.pointerId);
    const { app, state } = this;
    if (state?.kind === 'pinch') {
      const [rest] = this.#pointers.values();
      this.state = rest ? { kind: 'pan', at: rest, from: app.surface.camera } : null;
      return;
    }
    this.#finish();
    if (state?.kind === 'press') return this.#click(state);
    if (state?.kind === 'drag') this.#writeDrag(state), app.board?.end(state.gesture);
    if (state?.kind === 'resize') {
      const frame = app.surface.dragged.get(state.id);
      if (frame) app.board?.update([state.id], frame, state.gesture);
      app.board?.end(state.gesture);
    }
    if (state?.kind === 'link') {
      if (state.target) app.board?.link(state.from, state.target);
      else app.createLinked(state.from, this.#board(this.#pixel(event)));
    }
    this.#drop();
  }

  /** @param {State & {kind: 'press'}} state */
  #click(state) {
    const { app } = this;
    clearTimeout(state.timer);
    if (state.note === null) return app.armed ? app.placeArmed(this.#board(state.at)) : state.add ? undefined : app.select([]);
    if (state.touch) {
      if (!state.isNew && app.selection.size === 1) return app.edit(state.note);
      return app.select([state.note]);
    }
    if (app.armed) return app.linkArmed(state.note);
    if (state.add && !state.isNew) return app.select([...app.selection].filter((id) => id !== state.note));
    if (!state.add && app.selection.size > 1) app.select([state.note]);
  }

  #finish() {
    cancelAnimationFrame(this.#edge);
    if (this.state?.kind === 'lasso') this.state.box.remove();
    if (this.state?.kind === 'link') this.state.line.remove(), this.app.markTarget(null);
    this.state = null;
    delete this.#view.dataset.gesture;
  }

  /** Forgets the dragged places: from here on the board's values count. */
  #drop() {
    const { surface } = this.app, ids = [...surface.dragged.keys()];
    surface.dragged = new Map();
    surface.showGuides([]);
    for (const id of ids) surface.viewOf(id)?.element.classList.remove('dragged', 'lifted');
    if (ids.length) surface.apply({ inserted: [], removed: [], updated: ids.map((id) => ({ id })) });
    this.app.placeFrame();
  }

  /** Ends a gesture without its effect. */
  abort() {
    const { app, state } = this;
    if (state?.kind === 'drag') {
      const values = new Map([...state.starts].map(([id, { x, y }]) => [id, { x, y }]));
      app.board?.update([...values.keys()], values, state.gesture), app.board?.end(state.gesture);
    } else if (state?.kind === 'resize') {
      app.board?.update([state.id], state.start, state.gesture), app.board?.end(state.gesture);
    }
    this.#finish(), this.#drop();
  }

  /** @param {PointerEvent} event */
  #cancel(event) {
    this.#pointers.delete(event.pointerId);
    if (this.state?.kind === 'press') clearTimeout(this.state.timer);
    this.abort();
  }

  /** @param {MouseEvent} event */
  #double(event) {
    const { app } = this, target = /** @type {Element} */ (event.target);
    if (target.closest('textarea, a, input, [data-edges]')) return;
    const note = this.noteUnder(event);
    if (note) app.edit(note);
    else app.create(this.#board(this.#pixel(event)));
  }

  /** @param {MouseEvent} event */
  #menu(event) {
    const target = /** @type {Element} */ (event.target), link = target.closest('[data-link]');
    if (target.closest('textarea, a')) return;
    event.preventDefault();
    // A long press has taken up the note.
    if (this.state) return;
    if (link instanceof SVGElement) return this.app.showLinkMenu(link.dataset.link ?? '', { x: event.clientX, y: event.clientY });
    const note = this.noteUnder(event);
    if (note && !this.app.selection.has(note)) this.app.select([note]);
    this.app.showMenu(note, { x: event.clientX, y: event.clientY });
  }

  /** @param {WheelEvent} event */
  #wheel(event) {
    const { app } = this, { surface } = app, unit = event.deltaMode === 1 ? 18 : event.deltaMode === 2 ? 400 : 1;
    const field = /** @type {Element} */ (event.target).closest('textarea');
    if (field && !event.ctrlKey && field.scrollHeight > field.clientHeight + 1) return;
    event.preventDefault();
    if (event.ctrlKey || event.metaKey) {
      const by = Math.max(-60, Math.min(60, event.deltaY * unit));
      return this.zoom(surface.camera.scale * Math.exp(-by * 0.009), this.#pixel(event));
    }
    const sideways = event.shiftKey && !event.deltaX;
    const dx = (sideways ? event.deltaY : event.deltaX) * unit, dy = (sideways ? 0 : event.deltaY) * unit;
    app.stopFollowing();
    surface.setCamera({ ...surface.camera, x: surface.camera.x + dx / surface.camera.scale, y: surface.camera.y + dy / surface.camera.scale });
  }
}
