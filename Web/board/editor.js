// The text field of a note. The user's input goes to the board as splices. Changes of others come back as splices that
// never touch the caret, the selection or an open composition.

import { h } from './dom.js';
import { splice } from './geometry.js';

/** The pause after which typing begins a new step of undo. */
const undoPause = 2500;

export class Editor {
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
