// The list of boards: a field that finds one, and the rows. Of thousands of boards, only those that were scrolled to have
// rows.

import { ask, confirmed, dialog, h, icon, iconButton, menu } from './dom.js';

/** @typedef {import('./types').Session['boards'][number]} Entry */

/** The rows that are added at a time. */
const pageLength = 60;

/** Shows the boards in a dialog, to open, make, rename or delete one.
 * @param {import('./app.js').App} app */
export function showBoards(app) {
  const { session } = app;
  session.refreshBoards?.();
  const create = h('button', { class: 'row make' }, icon('add'), ' ');
  const list = new BoardList(app, 'Boards', 'Find a board, or name a new one', {
    open: (id) => app.openBoard(id),
    more: (board, place) => boardMenu(app, board, place),
    found: (query, isKnown) => {
      create.hidden = !query || isKnown || Boolean(session.refusalOfNewBoard);
      create.lastChild?.replaceWith(` Make “${query}”`);
    },
    submit: async (name) => {
      if (create.hidden) return false;
      await make(app, name);
      return true;
    },
  }, create);
  list.fill();
}

/** Lets the user choose one of many other boards.
 * @param {import('./app.js').App} app @param {string} title @param {(board: Entry) => void} run */
export function chooseBoard(app, title, run) {
  const { session } = app;
  const list = new BoardList(app, title, 'Find a board', {
    open: (id) => { const board = session.boards.find((b) => b.id === id); if (board) run(board); },
    isListed: (board) => board.id !== app.board?.id,
  });
  list.fill();
}

/** @param {import('./app.js').App} app @param {string} name */
async function make(app, name) {
  await app.attempt(async () => {
    const made = await app.session.createBoard(name), id = typeof made === 'string' ? made : made?.id;
    const known = id ?? app.session.boards.find((b) => b.name === name)?.id;
    if (known) app.openBoard(known);
  });
}

/** @param {import('./app.js').App} app @param {Entry} board @param {Element} place */
function boardMenu(app, board, place) {
  const { session } = app;
  menu(board.name, [
    { name: 'Rename …', icon: 'edit', refusal: board.canRename ? '' : 'your role on this board does not let you rename it', run: async () => {
      if (!board.canRename) return;
      const name = await ask('Rename board', 'Name', board.name, 'Rename');
      if (name && name !== board.name) app.attempt(() => session.renameBoard(board.id, name));
    } },
    { name: 'Delete …', icon: 'trash', danger: true, refusal: board.canDelete ? '' : 'only an owner and the person who made a board can delete it', run: async () => {
      if (!board.canDelete) return;
      const text = `“${board.name}” and its ${count(board)} are deleted for all.`;
      if (await confirmed('Delete board', text, 'Delete')) app.attempt(() => session.deleteBoard(board.id));
    } }], place);
}

/** @param {Entry} board */
const count = ({ notes }) => notes === null ? 'notes' : `${notes} ${notes === 1 ? 'note' : 'notes'}`;

class BoardList {
  #rows = h('ul', { class: 'boards' }); #status = h('p', { class: 'summary', role: 'status' });
  /** @type {Entry[]} */
  #found = [];
  #shown = 0;

  /** @param {import('./app.js').App} app @param {string} title @param {string} hint
   * @param {{open: (id: string) => void, more?: (board: Entry, place: Element) => void, isListed?: (board: Entry) => boolean,
   *   found?: (query: string, isKnown: boolean) => void, submit?: (query: string) => Promise<boolean>}} actions
   * @param {HTMLElement} [create] */
  constructor(app, title, hint, actions, create) {
    this.app = app, this.actions = actions;
    this.input = h('input', { type: 'search', placeholder: hint, 'aria-label': hint, dir: 'auto', maxLength: 200, autocomplete: 'off', oninput: () => this.fill() });
    const form = h('form', { onsubmit: (/** @type {Event} */ event) => this.#submit(event) }, h('div', { class: 'field' }, icon('search'), this.input), create ?? '');
    const { session } = app, refill = () => this.fill(true);
    this.node = dialog(title, { class: 'side' }, form, this.#status, this.#rows);
    session.addEventListener('boards', refill);
    this.node.addEventListener('close', () => session.removeEventListener('boards', refill));
    this.node.addEventListener('scroll', () => this.#reach(), { passive: true });
    this.node.addEventListener('keydown', (event) => this.#key(event));
    this.input.focus({ preventScroll: true });
  }

  /** Shows the boards that the field finds.
   * @param {boolean} [keeps] whether as many rows stay as there are */
  fill(keeps = false) {
    const { app, actions } = this, query = this.input.value.trim(), words = query.toLocaleLowerCase();
    const all = app.session.boards.filter((b) => actions.isListed?.(b) ?? true);
    this.#found = words ? all.filter((b) => b.name.toLocaleLowerCase().includes(words)) : all;
    actions.found?.(query, all.some((b) => b.name.toLocaleLowerCase() === words));
    const { activeElement } = document, focused = activeElement instanceof HTMLElement ? activeElement.dataset.board : undefined;
    const wanted = keeps ? Math.max(this.#shown, pageLength) : pageLength;
    this.#shown = 0, this.#rows.replaceChildren();
    this.#add(wanted);
    this.#status.textContent = all.length > pageLength || (words && !this.#found.length) ? `${this.#found.length} of ${all.length} boards` : '';
    if (focused) /** @type {HTMLElement|null} */ (this.#rows.querySelector(`[data-board="${CSS.escape(focused)}"]`))?.focus();
  }

  /** @param {number} more */
  #add(more) {
    const end = Math.min(this.#found.length, this.#shown + more);
    this.#rows.append(...this.#found.slice(this.#shown, end).map((b) => this.#row(b)));
    this.#shown = end;
  }

  /** @param {Entry} b */
  #row(b) {
    const { more } = this.actions;
    return h('li', null,
      h('button', { type: 'button', class: 'row', 'data-board': b.id, 'aria-current': b.id === this.app.board?.id ? 'true' : null, onclick: () => { this.node.close(), this.actions.open(b.id); } },
        icon('board'), h('span', { class: 'name', dir: 'auto' }, b.name), h('span', { class: 'count' }, [b.isReadOnly && 'read only', b.notes !== null && count(b)].filter(Boolean).join(' · '))),
      more && (b.canRename || b.canDelete) && iconButton('more', `More for ${b.name}`, (event) => more(b, /** @type {Element} */ (event.currentTarget)), { 'aria-haspopup': 'menu' }));
  }

  /** Adds rows when the last one comes near. */
  #reach() {
    const { scrollTop, clientHeight, scrollHeight } = this.node;
    if (this.#shown < this.#found.length && scrollTop + 2 * clientHeight > scrollHeight) this.#add(pageLength);
  }

  /** The arrow keys go through the rows.
   * @param {KeyboardEvent} event @returns {void} */
  #key(event) {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!by || event.defaultPrevented || document.querySelector('.menu')) return;
    event.preventDefault();
    const rows = /** @type {HTMLElement[]} */ ([...this.#rows.querySelectorAll('.row')]), at = rows.indexOf(/** @type {HTMLElement} */ (document.activeElement));
    if (at + by < 0) return this.input.focus();
    if (at + by >= rows.length && this.#shown < this.#found.length) return this.#add(pageLength), this.#key(new KeyboardEvent('keydown', { key: event.key }));
    rows[at + by]?.focus();
  }

  /** @param {Event} event */
  async #submit(event) {
    event.preventDefault();
    const name = this.input.value.trim();
    const first = this.#rows.querySelector('button');
    if (this.actions.submit && name && this.#found.every((b) => b.name.toLocaleLowerCase() !== name.toLocaleLowerCase())) {
      this.node.close();
      if (await this.actions.submit(name)) return;
    }
    first?.click();
  }
}
