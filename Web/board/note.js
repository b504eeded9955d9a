// One note on the surface: a list item with the paper, the rendered text, the tags and, while it is edited, the field.

import { h, icon } from './dom.js';
import { Editor } from './editor.js';
import { plainTitle, render } from './markdown.js';

/** @typedef {import('./types').Note} Note */

/** The colors in the order of the palette. */
export const colors = ['yellow', 'orange', 'red', 'pink', 'purple', 'blue', 'teal', 'green', 'brown', 'gray', 'white'];

/** The height of a collapsed note, in points. */
export const collapsedHeight = 44;

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
export function spokenName(note) {
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

/** The rendered text. The first line of several is the title.
 * @param {Note} note
 * @param {(at: number, done: boolean) => void} [ontick] */
export function content(note, ontick) {
  const text = note.text.length > 20_000 ? note.text.slice(0, 20_000) + '…' : note.text;
  const nodes = render(note.collapsed ? text.trimStart().split('\n', 1)[0] : text, note.locked ? undefined : ontick);
  const first = nodes.firstElementChild;
  if (first?.tagName === 'P' && (nodes.childElementCount > 1 || first.querySelector('br'))) {
    const title = h('span', { class: 'title' });
    while (first.firstChild && first.firstChild.nodeName !== 'BR') title.append(first.firstChild);
    if ((title.textContent ?? '').length <= 80) first.prepend(title);
    else first.prepend(...title.childNodes);
  }
  return nodes;
}
