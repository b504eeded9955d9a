// The list view: all notes as rows, for small screens, screen readers and boards with thousands of notes. Only the rows
// near the view have elements; `aria-setsize` and `aria-posinset` count all.

import { announce, ago, byID, h, icon } from './dom.js';
import { Editor } from './editor.js';
import { readingOrder } from './geometry.js';
import { plainTitle } from './markdown.js';
import { spokenName } from './note.js';

/** @typedef {import('./types').Note} Note */

const rowHeight = 64;

export class List {
  /** @type {Note[]} */
  #notes = [];
  #current = 0; #edited = '';
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
    const all = this.app.surface.shown().filter((n) => !input.value.trim() || matches.has(n.id));
    this.#notes = all.sort((a, b) => Number(b.pinned) - Number(a.pinned) || readingOrder(a, b));
    this.#current = Math.max(0, this.#notes.findIndex((n) => n.id === this.app.focused));
    this.title.textContent = `${this.#notes.length} ${this.#notes.length === 1 ? 'note' : 'notes'}`;
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
    /** @type {Element|null} */
    let previous = null;
    for (const [id, i] of [...wanted].sort((a, b) => a[1] - b[1])) {
      const row = this.#row(known.get(id), this.#notes[i], i);
      row.style.transform = `translateY(${i * rowHeight + (edited >= 0 && i > edited ? 220 : 0)}px)`;
      const after = /** @type {Element|null} */ (previous ? previous.nextElementSibling : this.spacer.firstElementChild);
      if (after !== row) this.spacer.insertBefore(row, after);
      previous = row;
    }
  }

  /** @param {HTMLElement|undefined} known @param {Note} note @param {number} i */
  #row(known, note, i) {
    const row = known ?? h('li', { 'data-id': note.id, onclick: (/** @type {MouseEvent} */ e) => this.#click(e), ondblclick: () => this.edit(note.id) });
    row.tabIndex = i === this.#current ? 0 : -1;
    row.setAttribute('aria-setsize', String(this.#notes.length)), row.setAttribute('aria-posinset', String(i + 1));
    row.setAttribute('aria-label', spokenName(note)), row.setAttribute('data-color', note.color);
    row.classList.toggle('selected', this.app.selection.has(note.id));
    const writers = this.app.people.writers(note.id);
    const signature = [note.text, note.color, note.pinned, note.locked, note.unsent, note.number, note.updatedAt?.getTime(), ...writers, ...note.tags.map((t) => t.name)].join('\n');
    if (row.dataset.shown !== signature && note.id !== this.#edited) {
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

  /** The note whose field is open; '' for none. */
  get edited() { return this.#edited; }

  /** Focuses the current row. */
  focus() { /** @type {HTMLElement|null} */ (this.spacer.querySelector('li[tabindex="0"]'))?.focus({ preventScroll: true }); }

  /** Opens the field of a note below its row.
   * @param {string} id */
  edit(id) {
    const { app } = this, note = app.surface.notes.get(id), i = this.#notes.findIndex((n) => n.id === id);
    if (!note || i < 0 || !app.board || !app.may('update', [id])) return;
    this.endEditing(), this.#go(i);
    this.#edited = id;
    this.#editor = new Editor(app.board, note, {
      onend: () => this.endEditing(), oncaret: (caret) => app.people.send({ note: this.#edited, caret }),
      onkey: (event) => { if (event.key === 'Escape' || (event.key === 'Enter' && (event.ctrlKey || event.metaKey))) event.preventDefault(), this.endEditing(), this.focus(); },
    });
    const row = /** @type {HTMLElement|null} */ (this.spacer.querySelector(`li[tabindex="0"]`));
    row?.append(this.#editor.field), row?.classList.add('open');
    this.spacer.style.height = this.#notes.length * rowHeight + 220 + 'px';
    this.#paint();
    this.#editor.field.focus();
    app.people.send({ note: id, caret: note.text.length });
    announce('Editing. Escape ends.');
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

  endEditing() {
    const editor = this.#editor;
    if (!editor) return;
    this.#editor = null, this.#edited = '', editor.close(), this.app.people.send({ note: null, caret: null });
    const row = editor.field.closest('li');
    editor.field.remove();
    if (row) row.classList.remove('open'), (row.dataset.shown = '');
    this.refresh();
  }
}
