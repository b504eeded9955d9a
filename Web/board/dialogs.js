// What is loaded only when it is needed: the list of boards, share links, and pictures for the export.

import { reason } from './commands.js';
import { ago, ask, confirmed, copy, dialog, h, icon, iconButton, menu, svg } from './dom.js';
import { arrow, union } from './geometry.js';
import { parse, plainTitle } from './markdown.js';
import { frameOf, textSize } from './note.js';
import { palette } from './surface.js';

// ---- The list of boards
//
// A field that finds a board, and the rows. Of thousands of boards, only those that were scrolled to have rows.

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

// ---- Share links
//
// An owner makes links with which people without an account read the board, sees who has opened them, and ends them.

/** The choices for the end of a link, in days. */
const ends = [[1, 'after a day'], [7, 'after a week'], [30, 'after a month'], [365, 'after a year'], [0, 'never']];

/** Opens the dialog in which a board is shared.
 * @param {import('./app.js').App} app */
export function share(app) {
  const { board, session } = app;
  if (!board) return;
  const made = h('div', { class: 'made', hidden: true }), list = h('ul', { class: 'shares', 'aria-label': 'Links to this board' });
  const status = h('p', { class: 'summary', role: 'status' });
  const days = h('select', { id: 'end' }, ...ends.map(([value, name]) => h('option', { value: String(value), selected: value === 30 }, String(name))));
  const make = h('button', { class: 'primary' }, 'Make a link');

  /** Shows the links; the server knows them, so the dialog is not wrong for long after a change elsewhere. */
  const fill = async () => {
    const links = await session.shareLinks(board.id);
    list.replaceChildren(...links.map((link) => h('li', null,
      h('span', { class: 'words' }, h('b', { dir: 'auto' }, link.name), h('span', { class: 'rest' }, about(link))),
      h('button', { type: 'button', 'aria-label': `Remove ${link.name}`, onclick: () => remove(link) }, 'Remove'))));
    status.textContent = links.length ? '' : 'There are no links to this board.';
  };

  /** @param {import('./types').ShareLink} link */
  const remove = async (link) => {
    const text = `Browsers that opened “${link.name}” lose the board at once, and the link no longer works.`;
    if (await confirmed('Remove the link', text, 'Remove')) attempt(async () => { await session.removeShareLink(link.id), await fill(); });
  };

  /** @param {() => Promise<unknown>} run */
  const attempt = async (run) => {
    status.textContent = '';
    try { await run(); } catch (error) { status.textContent = sentence(reason(error)); }
  };

  const form = h('form', {
    onsubmit: (/** @type {Event} */ event) => {
      event.preventDefault(), (make.disabled = true);
      attempt(async () => { showLink(made, await session.shareLink(board.id, Number(days.value) || null), attempt), await fill(); }).finally(() => { make.disabled = false; });
    },
  }, h('label', { htmlFor: 'end' }, 'The link ends'), h('div', { class: 'actions' }, days, make));
  const refusal = session.refusalOfSharing(board.id);
  if (refusal) return void dialog('Share', { class: 'small' }, h('p', null, sentence(refusal)));
  dialog('Share', { class: 'small share' },
    h('p', null, 'People with a link can read “', h('bdi', null, board.name), '”. They need no account, and can’t change anything.'), form, made, status, list);
  attempt(fill);
}

/** Shows a new link, selected, with a button that copies it. Only this answer of the server has it.
 * @param {HTMLElement} place @param {string} address @param {(run: () => Promise<unknown>) => void} attempt shows why it failed */
function showLink(place, address, attempt) {
  const field = h('input', { readOnly: true, value: address, 'aria-label': 'Link' });
  const button = h('button', {
    type: 'button', class: 'primary', onclick: () => attempt(async () => {
      field.select();
      await copy(address);
      button.textContent = 'Copied';
    }),
  }, 'Copy link');
  place.replaceChildren(h('p', null, 'Copy it now: it is not shown again.'), h('div', { class: 'actions' }, field, button));
  place.hidden = false, field.focus(), field.select(), (field.scrollLeft = 0);
}

/** @param {import('./types').ShareLink} link */
function about({ role, expires, used }) {
  const end = expires ? `ends ${expires.toLocaleDateString(undefined, { year: 'numeric', month: 'short', day: 'numeric' })}` : 'never ends';
  return [role === 'reader' ? 'can read' : `is ${role}`, end, used ? `opened ${ago(used)}` : 'not opened yet'].join(' · ');
}

/** @param {string} text */
const sentence = (text) => text.charAt(0).toUpperCase() + text.slice(1);

// ---- Pictures
//
// The board as an SVG or PNG picture. The text is laid out by the browser's measure of each line.

/** @typedef {import('./types').Note} Note */

const fontFamily = 'Inter, system-ui, sans-serif', padding = 16, border = 48;
const sizes = { small: 15, medium: 18, large: 24 };

/** The picture of some notes.
 * @param {Note[]} notes @returns {SVGElement} */
function boardPicture(notes) {
  const sorted = [...notes].sort((a, b) => a.z - b.z), frames = new Map(sorted.map((n) => [n.id, frameOf(n)]));
  const all = union(frames.values()) ?? { x: 0, y: 0, width: 200, height: 200 }, shades = palette();
  const style = getComputedStyle(document.documentElement);
  const view = [all.x - border, all.y - border, all.width + 2 * border, all.height + 2 * border];
  const picture = svg('svg', {
    xmlns: 'http://www.w3.org/2000/svg', viewBox: view.join(' '), width: view[2], height: view[3], 'font-family': fontFamily,
  }, svg('rect', { x: view[0], y: view[1], width: view[2], height: view[3], fill: style.getPropertyValue('--ground').trim() }));
  for (const note of sorted) {
    for (const link of note.links) {
      const from = frames.get(note.id), to = frames.get(link.to);
      if (!from || !to) continue;
      const { d, middle } = arrow(from, to), stroke = style.getPropertyValue('--arrow').trim();
      picture.append(svg('path', { d, fill: 'none', stroke, 'stroke-width': 2 }));
      if (link.label) picture.append(text(link.label, middle.x, middle.y - 6, 13, 400, stroke, 'middle'));
    }
  }
  const context = document.createElement('canvas').getContext('2d');
  for (const note of sorted) {
    const frame = frameOf(note), shade = shades[note.color] ?? shades.yellow;
    picture.append(svg('rect', { ...frame, rx: 4, fill: shade.paper, stroke: shade.ink, 'stroke-opacity': 0.12 }));
    const size = sizes[textSize(note)], step = size * 1.4;
    let y = frame.y + padding + size;
    for (const line of context ? lines(note, frame.width - 2 * padding, size, context) : []) {
      if (y > frame.y + frame.height - 12) break;
      picture.append(text(line.text, frame.x + padding + line.indent, y, size, line.bold ? 600 : 400, shade.ink));
      y += step;
    }
  }
  return picture;
}

/** @param {string} content @param {number} x @param {number} y @param {number} size @param {number} weight
 * @param {string} fill @param {string} anchor */
function text(content, x, y, size, weight, fill, anchor = 'start') {
  const node = svg('text', { x, y, 'font-size': size, 'font-weight': weight, fill, 'text-anchor': anchor });
  // XML has no control characters and no halves of surrogate pairs.
  node.textContent = content.replace(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, '');
  return node;
}

/** The lines of a note that fit a width.
 * @param {Note} note @param {number} width @param {number} size
 * @param {CanvasRenderingContext2D} context */
function lines(note, width, size, context) {
  const found = [], source = (note.collapsed ? plainTitle(note.text) : note.text).slice(0, 4000).split('\n');
  for (const [i, raw] of source.entries()) {
    const block = parse(raw)[0], item = block?.kind === 'list' ? block.items[0] : null;
    const mark = item ? (item.done === null ? '•  ' : item.done ? '☑  ' : '☐  ') : '';
    const bold = block?.kind === 'heading' || (i === 0 && source.length > 1);
    context.font = `${bold ? 600 : 400} ${size}px ${fontFamily}`;
    const indent = (raw.length - raw.trimStart().length) * size / 3;
    let line = mark;
    for (const word of plainTitle(raw).split(' ')) {
      const longer = line && line !== mark ? line + ' ' + word : line + word;
      if (line !== mark && context.measureText(longer).width > width - indent) found.push({ text: line, indent, bold }), (line = word);
      else line = longer;
    }
    found.push({ text: line, indent, bold });
  }
  return found;
}

/** The picture as a file.
 * @param {Note[]} notes */
export const svgBlob = (notes) => new Blob([new XMLSerializer().serializeToString(boardPicture(notes))], { type: 'image/svg+xml' });

/** The picture as pixels: two per point, and fewer on boards that no canvas can hold.
 * @param {Note[]} notes
 * @returns {Promise<Blob>} */
export async function pngBlob(notes) {
  const image = new Image(), url = URL.createObjectURL(svgBlob(notes));
  try {
    image.src = url;
    await image.decode();
    const scale = Math.min(2, 12_000 / Math.max(image.width, image.height), Math.sqrt(60e6 / (image.width * image.height)));
    const canvas = document.createElement('canvas');
    canvas.width = Math.ceil(image.width * scale), canvas.height = Math.ceil(image.height * scale);
    canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise((resolve, reject) => canvas.toBlob((blob) => blob ? resolve(blob) : reject(new Error('the picture is too large')), 'image/png'));
  } finally { URL.revokeObjectURL(url); }
}
