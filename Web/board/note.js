// The notes on the screen: one on the surface, the field of its text, and the rows of the list view.

import { ago, announce, byID, h, icon } from './dom.js';
import { readingOrder, splice } from './geometry.js';
import { plainTitle, render } from './markdown.js';

// ---- A note
//
// One note on the surface: a list item with the paper, the rendered text, the tags and, while it is edited, the field.

/** @typedef {import('./types').Note} Note */

/** The colors in the order of the palette. */
export const colors = ['yellow', 'orange', 'red', 'pink', 'purple', 'blue', 'teal', 'green', 'brown', 'gray', 'white'];

/** The height of a collapsed note, in points. */
const collapsedHeight = 44;

/** The rectangle that a note covers on the board.
 * @param {Note} note */
export const frameOf = (note) => ({
  x: note.x, y: note.y, width: note.width, height: note.collapsed ? collapsedHeight : note.height,
});

/** The size of a note's text: few words on much paper are large.
 * @param {Note} note */
export function textSize(note) {
  const text = note.text.trim(), length = text.length + 18 * (text.split('\n', 12).length - 1);
  const area = (note.width - 32) * (note.height - 56) / Math.max(1, length);
  return length <= 40 && area > 560 ? 'large' : length <= 110 && area > 300 ? 'medium' : 'small';
}

/** The sentence that a screen reader speaks for a note.
 * @param {Note} note */
function spokenName(note) {
  const marks = [note.color, note.pinned && 'pinned', note.locked && 'locked', note.collapsed && 'collapsed',
    note.unsent && 'not sent yet', note.tags.length && 'tagged ' + note.tags.map((t) => t.name).join(', ')];
  return `Note ${note.number}: ${plainTitle(note.text) || 'empty'} (${marks.filter(Boolean).join(', ')})`;
}

export class NoteView {
  /** @type {Editor|null} */
  editor = null;
  /** @type {string|null} */
  #shownText = null;
  #text; #foot; #body; #place = ''; #marks = '';

  /** @param {Note} note @param {(at: number, done: boolean) => void} ontick */
  constructor(note, ontick) {
    this.id = note.id, this.ontick = ontick, this.note = note;
    this.#text = h('div', { class: 'text', dir: 'auto' });
    this.#foot = h('div', { class: 'foot' });
    this.#body = h('div', { class: 'paper' }, this.#text, this.#foot);
    this.element = h('li', { class: 'note', tabIndex: -1, 'data-id': note.id }, this.#body);
    this.update(note);
  }

  /** @param {Note} note */
  update(note) {
    this.note = note;
    const { element } = this, { style, dataset } = element;
    const place = `translate(${note.x}px,${note.y}px) ${note.width} ${note.height} ${note.collapsed}`;
    if (place !== this.#place) {
      this.#place = place;
      style.transform = `translate(${note.x}px, ${note.y}px)`;
      style.width = note.width + 'px', style.height = (note.collapsed ? collapsedHeight : note.height) + 'px';
    }
    const marks = [note.number, note.color, note.pinned, note.locked, note.collapsed, note.unsent,
      ...note.tags.map((t) => t.name)].join('\n');
    if (marks !== this.#marks) {
      this.#marks = marks;
      dataset.color = note.color;
      for (const name of /** @type {const} */ (['pinned', 'locked', 'collapsed', 'unsent'])) element.classList.toggle(name, note[name]);
      this.#foot.replaceChildren(
        ...note.tags.map((t) => h('span', { class: 'chip', dir: 'auto' }, t.name)),
        ...(note.locked ? [icon('lock')] : []),
        h('span', { class: 'number', title: note.unsent ? 'Not sent yet' : '' }, note.unsent ? '…' : String(note.number)));
      this.#shownText = null;
    }
    dataset.size = textSize(note);
    if (note.text !== this.#shownText) {
      this.#shownText = note.text;
      element.setAttribute('aria-label', spokenName(note));
      if (!this.editor) this.#text.replaceChildren(content(note, this.ontick));
    }
  }

  /** Shows the text again as it is: a box that was pressed without an effect loses its mark. */
  redraw() { this.#shownText = null, this.update(this.note); }

  /** The element of the text, or of its field. */
  get text() { return this.#text; }

  /** Moves the element during a gesture, before the board knows the place.
   * @param {{x: number, y: number}} place */
  moveTo({ x, y }) {
    this.#place = '', this.element.style.transform = `translate(${x}px, ${y}px)`;
  }

  /** Shows the field in place of the text.
   * @param {import('./types').Board} board
   * @param {ConstructorParameters<typeof Editor>[2]} events @param {boolean} [selectAll] */
  edit(board, events, selectAll) {
    this.editor = new Editor(board, this.note, events);
    this.#text.replaceChildren(this.editor.field);
    this.element.classList.add('editing');
    const { field } = this.editor;
    field.focus({ preventScroll: true });
    field.setSelectionRange(selectAll ? 0 : field.value.length, field.value.length);
  }

  /** Shows the text again. */
  endEditing() {
    const { editor } = this;
    if (!editor) return;
    this.editor = null, editor.close();
    this.element.classList.remove('editing');
    this.#text.replaceChildren(content(this.note, this.ontick));
    this.element.setAttribute('aria-label', spokenName(this.note));
  }

  /** The height at which the complete text is visible. */
  neededHeight() {
    const inner = this.editor?.field ?? this.#text;
    return Math.ceil(inner.scrollHeight + this.#body.clientHeight - inner.clientHeight);
  }

  /** Whether a part of the text is hidden below the paper's edge. */
  isCut() { return !this.editor && this.#text.scrollHeight > this.#text.clientHeight + 4; }
}

/** The most letters of a text that are shown. */
export const shownLength = 20_000;

/** The rendered text. The first line of several is the title.
 * @param {Note} note
 * @param {(at: number, done: boolean) => void} [ontick] */
export function content(note, ontick) {
  const text = note.text.length > shownLength ? note.text.slice(0, shownLength) + '…' : note.text;
  // A collapsed note begins with its first line.
  const start = note.collapsed ? text.length - text.trimStart().length : 0;
  const tick = ontick && !note.locked ? (/** @type {number} */ at, /** @type {boolean} */ done) => ontick(start + at, done) : undefined;
  const nodes = render(note.collapsed ? text.slice(start).split('\n', 1)[0] : text, tick);
  const first = nodes.firstElementChild;
  if (first?.tagName === 'P' && (nodes.childElementCount > 1 || first.querySelector('br'))) {
    const title = h('span', { class: 'title' });
    while (first.firstChild && first.firstChild.nodeName !== 'BR') title.append(first.firstChild);
    if ((title.textContent ?? '').length <= 80) first.prepend(title);
    else first.prepend(...title.childNodes);
  }
  return nodes;
}

// ---- The field
//
// The text field of a note. The user's input goes to the board as splices. Changes of others come back as splices that
// never touch the caret, the selection or an open composition.

/** The pause after which typing begins a new step of undo. */
const undoPause = 2500;

class Editor {
  #known; #composing = false; #lastInput = 0;
  /** @type {any} */
  #gesture = null;

  /** @param {import('./types').Board} board @param {import('./types').Note} note
   * @param {{oninput?: () => void, oncaret?: (caret: number) => void, onundo?: () => boolean, onkey: (event: KeyboardEvent) => void,
   *   onend: () => void}} events */
  constructor(board, note, events) {
    this.board = board, this.id = note.id, this.events = events, this.#known = note.text;
    this.field = h('textarea', {
      value: note.text, spellcheck: true, dir: 'auto', class: 'editor', 'aria-label': `Text of note ${note.number}`,
      oninput: () => this.#input(),
      oncompositionstart: () => { this.#composing = true, board.compose(this.id, true); },
      oncompositionend: () => { this.#composing = false, this.#input(), board.compose(this.id, false); },
      onselectionchange: () => events.oncaret?.(this.field.selectionEnd),
      onkeyup: () => events.oncaret?.(this.field.selectionEnd),
      onblur: () => { if (document.hasFocus()) events.onend(); },
      onbeforeinput: (/** @type {InputEvent} */ event) => this.#beforeInput(event),
      onkeydown: (/** @type {KeyboardEvent} */ event) => this.#key(event),
    });
  }

  /** The step of undo to which what is typed belongs. */
  get gesture() { return this.#gesture; }

  /** @param {KeyboardEvent} event */
  #key(event) {
    event.stopPropagation();
    if (event.isComposing) return;
    const isUndo = (event.ctrlKey || event.metaKey) && !event.altKey && /^[zy]$/i.test(event.key);
    if (isUndo) event.preventDefault(), this.#history(event.shiftKey || event.key.toLowerCase() === 'y');
    else if (event.key === 'Enter' && !event.shiftKey && !event.ctrlKey && !event.metaKey) this.#continueList(event);
    if (!event.defaultPrevented) this.events.onkey(event);
  }

  /** The browser's own undo would restore a text that others have changed since.
   * @param {InputEvent} event */
  #beforeInput(event) {
    if (event.inputType !== 'historyUndo' && event.inputType !== 'historyRedo') return;
    event.preventDefault(), this.#history(event.inputType === 'historyRedo');
  }

  /** @param {boolean} redo */
  #history(redo) {
    if (!redo && this.events.onundo?.()) return;
    this.#endStep();
    (redo ? this.board.redo() : this.board.undo()).then(() => this.receive(), () => {});
  }

  /** Enter inside a list begins its next item; in an empty item it ends the list.
   * @param {KeyboardEvent} event */
  #continueList(event) {
    const { selectionStart: at, selectionEnd: end, value } = this.field;
    const start = value.lastIndexOf('\n', at - 1) + 1;
    const match = /^(\s*)(?:([-*+])|(\d{1,8})([.)]))( +\[[ xX]\])?( +)/.exec(value.slice(start, at));
    if (!match || at !== end) return;
    event.preventDefault();
    if (start + match[0].length === at && (value[at] ?? '\n') === '\n') return this.#replace(start, at, '');
    const mark = match[2] ?? Number(match[3]) + 1 + match[4];
    this.#replace(at, at, '\n' + match[1] + mark + (match[5] ? ' [ ]' : '') + match[6]);
  }

  /** @param {number} start @param {number} end @param {string} text */
  #replace(start, end, text) {
    this.field.setRangeText(text, start, end, 'end');
    this.#input();
  }

  #input() {
    const now = performance.now();
    if (now - this.#lastInput > undoPause) this.#endStep();
    this.#lastInput = now;
    const value = this.field.value;
    if (value === this.#known) return;
    this.#gesture ??= this.board.gesture('Edit text');
    this.board.edit(this.id, splice(this.#known, value, this.field.selectionEnd), this.#gesture);
    this.#known = value;
    this.events.oninput?.();
  }

  #endStep() {
    if (this.#gesture !== null) this.board.end(this.#gesture);
    this.#gesture = null;
  }

  /** Takes over the board's text. `setRangeText` keeps the caret and the selection where they are in the text.
   * @param {{start: number, end: number, text: string}[]} [splices] */
  receive(splices) {
    const text = this.board.notes.get(this.id)?.text;
    if (text === undefined || this.#composing || text === this.field.value) return;
    const { field } = this, { scrollTop } = field;
    for (const s of splices ?? []) if (s.end <= field.value.length) this.#apply(s);
    if (field.value !== text) this.#apply(splice(field.value, text, 0));
    field.scrollTop = scrollTop, this.#known = field.value;
  }

  /** @param {{start: number, end: number, text: string}} s */
  #apply({ start, end, text }) {
    const { field } = this, { selectionStart, selectionEnd, selectionDirection } = field;
    // An insertion at the edge of a selection stays outside of it.
    const pushes = (/** @type {boolean} */ isStart) => isStart && selectionStart < selectionEnd;
    const moved = (/** @type {number} */ at, /** @type {boolean} */ isStart) => at < start || (at === start && !pushes(isStart)) ? at
      : at >= end ? at + text.length - (end - start) : start + text.length;
    field.setRangeText(text, start, end, 'preserve');
    field.setSelectionRange(moved(selectionStart, true), moved(selectionEnd, false), selectionDirection);
  }

  /** Ends the step of undo and an open composition. */
  close() {
    if (this.#composing) this.#composing = false, this.board.compose(this.id, false);
    this.#endStep();
  }
}

// ---- The list view
//
// All notes as rows, for small screens, screen readers and boards with thousands of notes. Only the rows
// near the view have elements; `aria-setsize` and `aria-posinset` count all.

const rowHeight = 64;

export class List {
  /** @type {Note[]} */
  #notes = [];
  #current = 0;
  /** @type {string|null} */
  #edited = null;
  /** @type {Editor|null} */
  #editor = null;

  /** @param {import('./app.js').App} app */
  constructor(app) {
    this.app = app;
    this.spacer = h('ol', { class: 'rows', 'aria-label': 'Notes', onkeydown: (/** @type {KeyboardEvent} */ event) => this.#key(event) });
    this.title = h('p', { class: 'summary' });
    this.root = byID('list');
    this.root.append(this.title, this.spacer);
    this.root.addEventListener('scroll', () => this.#paint(), { passive: true });
    new ResizeObserver(() => this.#paint()).observe(this.root);
  }

  /** Shows the notes that pass the filter, and the search's matches first. */
  refresh() {
    if (!this.app.listShown) return;
    const matches = new Set(this.app.bars.matches), { input } = this.app.bars;
    const all = this.app.surface.shown().filter((n) => !input.value.trim() || matches.has(n.id) || n.id === this.#edited);
    this.#notes = all.sort((a, b) => Number(b.pinned) - Number(a.pinned) || readingOrder(a, b));
    this.#current = Math.max(0, this.#notes.findIndex((n) => n.id === this.app.focused));
    const { app } = this, length = this.#notes.length;
    this.title.textContent = app.countOf(length, input.value.trim() ? app.bars.matches.length : undefined) + (app.isPart ? ': those near the view' : '');
    this.spacer.style.height = this.#notes.length * rowHeight + (this.#editor ? 220 : 0) + 'px';
    this.#paint();
  }

  #paint() {
    if (!this.app.listShown) return;
    const offset = this.root.scrollTop - this.spacer.offsetTop, first = Math.max(0, Math.floor(offset / rowHeight) - 6);
    const last = Math.min(this.#notes.length, Math.ceil((offset + this.root.clientHeight) / rowHeight) + 6);
    const wanted = new Map();
    for (let i = first; i < last; i++) wanted.set(this.#notes[i].id, i);
    if (this.#notes[this.#current]) wanted.set(this.#notes[this.#current].id, this.#current);
    const known = new Map([.../** @type {NodeListOf<HTMLElement>} */ (this.spacer.querySelectorAll(':scope > li'))].map((n) => [n.dataset.id ?? '', n]));
    for (const [id, node] of known) if (!wanted.has(id) && id !== this.#edited) node.remove();
    const edited = this.#notes.findIndex((n) => n.id === this.#edited);
    this.#order([...wanted].sort((a, b) => a[1] - b[1]).map(([id, i]) => {
      const row = this.#row(known.get(id), this.#notes[i], i);
      row.style.transform = `translateY(${i * rowHeight + (edited >= 0 && i > edited ? 220 : 0)}px)`;
      return row;
    }));
  }

  /** Puts rows in their order around the one that has the focus: moving it would end the editing in it.
   * @param {HTMLElement[]} rows */
  #order(rows) {
    const held = rows.findIndex((row) => row.contains(document.activeElement)), end = held < 0 ? rows.length : held;
    /** @type {Element|null} */
    let next = rows[held] ?? null;
    for (let i = end - 1; i >= 0; i--) {
      if (!rows[i].isConnected || rows[i].nextElementSibling !== next) this.spacer.insertBefore(rows[i], next);
      next = rows[i];
    }
    for (let i = end + 1; i < rows.length; i++) if (rows[i - 1].nextElementSibling !== rows[i]) rows[i - 1].after(rows[i]);
  }

  /** @param {HTMLElement|undefined} known @param {Note} note @param {number} i */
  #row(known, note, i) {
    const row = known ?? h('li', { 'data-id': note.id, onclick: (/** @type {MouseEvent} */ e) => this.#click(e), ondblclick: (/** @type {MouseEvent} */ e) => this.#double(e) });
    row.tabIndex = i === this.#current ? 0 : -1;
    row.setAttribute('aria-setsize', this.app.isPart ? '-1' : String(this.#notes.length)), row.setAttribute('aria-posinset', String(i + 1));
    row.setAttribute('aria-label', spokenName(note)), row.setAttribute('data-color', note.color);
    row.classList.toggle('selected', this.app.selection.has(note.id));
    const writers = this.app.people.writers(note.id);
    const signature = [note.text, note.color, note.pinned, note.locked, note.unsent, note.number, note.updatedAt?.getTime(), ...writers, ...note.tags.map((t) => t.name)].join('\n');
    if (row.dataset.shown !== signature && (note.id !== this.#edited || !known)) {
      row.dataset.shown = signature;
      const rest = note.text.slice(0, 600).split('\n').filter((l) => l.trim()).slice(1).map(plainTitle).join(' · ');
      row.replaceChildren(h('span', { class: 'swatch', 'data-color': note.color, title: note.color }), h('span', { class: 'words' },
        h('b', { dir: 'auto' }, plainTitle(note.text) || 'Empty note'), h('span', { class: 'rest', dir: 'auto' }, rest || ' ')),
      h('span', { class: 'meta' }, ...(note.pinned ? [icon('pin')] : []), ...(note.locked ? [icon('lock')] : []),
        ...writers.map((name) => h('span', { class: 'writer', dir: 'auto' }, `${name} writes`)),
        ...note.tags.slice(0, 3).map((t) => h('span', { class: 'chip', dir: 'auto' }, t.name)),
        h('span', { class: 'when' }, note.unsent ? 'unsent' : ago(note.updatedAt)), h('span', { class: 'number' }, String(note.number))));
    }
    return row;
  }

  /** @param {MouseEvent} event */
  #click(event) {
    if (/** @type {Element} */ (event.target).closest('textarea')) return;
    const { app } = this, id = /** @type {HTMLElement} */ (event.currentTarget).dataset.id ?? '';
    if (event.ctrlKey || event.metaKey || event.shiftKey) app.select(app.selection.has(id) ? [...app.selection].filter((i) => i !== id) : [...app.selection, id]);
    else app.select([id]);
    this.#go(this.#notes.findIndex((n) => n.id === id));
  }

  /** @param {MouseEvent} event */
  #double(event) {
    if (!(/** @type {Element} */ (event.target).closest('textarea'))) this.app.edit(/** @type {HTMLElement} */ (event.currentTarget).dataset.id ?? '');
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    if (/** @type {Element} */ (event.target).closest('textarea')) return;
    const page = Math.max(1, Math.floor(this.root.clientHeight / rowHeight) - 1), last = this.#notes.length - 1;
    const to = { ArrowDown: this.#current + 1, ArrowUp: this.#current - 1, Home: 0, End: last, PageDown: this.#current + page, PageUp: this.#current - page }[event.key];
    if (to === undefined || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault(), event.stopPropagation();
    this.#go(Math.max(0, Math.min(last, to)));
    const note = this.#notes[this.#current];
    if (note) this.app.select([note.id]);
  }

  /** @param {number} i */
  #go(i) {
    if (i < 0 || !this.#notes[i]) return;
    this.#current = i, this.app.focused = this.#notes[i].id;
    const top = i * rowHeight + this.spacer.offsetTop, { root } = this;
    if (top < root.scrollTop + 8) root.scrollTop = top - 8;
    else if (top + rowHeight > root.scrollTop + root.clientHeight - 96) root.scrollTop = top + rowHeight - root.clientHeight + 96;
    this.#paint(), this.focus();
  }

  /** The note whose field is open; null for none. */
  get edited() { return this.#edited; }

  /** Focuses the current row. */
  focus() { /** @type {HTMLElement|null} */ (this.spacer.querySelector('li[tabindex="0"]'))?.focus({ preventScroll: true }); }

  /** Opens the field of a note below its row.
   * @param {string} id */
  edit(id) {
    const { app } = this, note = app.surface.notes.get(id);
    if (!note || !app.board || !app.may('update', [id])) return;
    app.endEditing();
    this.#edited = id, this.refresh();
    const i = this.#notes.findIndex((n) => n.id === id);
    // The filter hides it.
    if (i < 0) return void (this.#edited = null);
    this.#go(i);
    this.#editor = new Editor(app.board, note, {
      oninput: () => app.surface.views.get(this.#edited ?? '')?.element.classList.remove('born'),
      oncaret: (caret) => app.people.send({ note: this.#edited, caret }), onundo: () => app.undoNew(this.#edited),
      onend: () => app.endEditing(), onkey: (event) => this.#editKey(event),
    });
    const row = /** @type {HTMLElement|null} */ (this.spacer.querySelector(`li[tabindex="0"]`));
    row?.append(this.#editor.field), row?.classList.add('open');
    this.spacer.style.height = this.#notes.length * rowHeight + 220 + 'px';
    this.#paint();
    this.#editor.field.focus();
    app.people.send({ note: id, caret: note.text.length });
    announce('Editing. Escape ends.');
  }

  /** @param {KeyboardEvent} event */
  #editKey(event) {
    const mod = event.ctrlKey || event.metaKey, isNext = event.key === 'Tab' ? !mod && !event.altKey : event.key === 'Enter' && mod;
    if (event.key === 'Escape') event.preventDefault(), this.app.endEditing(), this.refresh(), this.focus();
    else if (isNext) event.preventDefault(), this.#next(event.shiftKey ? -1 : 1);
  }

  /** Continues with the note of the next row, or of the one before; locked ones are passed over. Behind the last row, a
   * note is created.
   * @param {1|-1} by */
  #next(by) {
    const { app } = this, i = this.#notes.findIndex((n) => n.id === this.#edited), note = this.#notes[i];
    const rows = by > 0 ? this.#notes.slice(i + 1) : this.#notes.slice(0, Math.max(0, i)).reverse(), found = rows.find((n) => !n.locked);
    app.endEditing();
    if (found) app.edit(found.id);
    else if (by > 0 && note) app.createBeside(note);
    else this.refresh(), this.focus();
  }

  /** @param {{id: string, splices?: {start: number, end: number, text: string}[]}[]} updated */
  receive(updated) {
    for (const u of updated) if (u.id === this.#edited) this.#editor?.receive(u.splices);
  }

  /** @param {string} from @param {string} to */
  rename(from, to) {
    if (this.#edited === from) this.#edited = to;
    if (this.#editor?.id === from) this.#editor.id = to;
    const row = /** @type {HTMLElement|undefined} */ ([...this.spacer.children].find((n) => /** @type {HTMLElement} */ (n).dataset.id === from));
    if (row) row.dataset.id = to;
  }

  /** Closes the field. `App.endEditing` calls it. */
  endEditing() {
    const { app } = this, editor = this.#editor;
    if (!editor) return;
    this.#editor = null, this.#edited = null;
    if (editor.gesture !== null && !app.refusal('update', [editor.id])) app.fitWritten(editor.id, editor.gesture);
    editor.close();
    const row = editor.field.closest('li');
    editor.field.remove();
    if (row) row.classList.remove('open'), (row.dataset.shown = '');
    this.refresh();
  }
}
