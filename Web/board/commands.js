// What the user can do, and where it is offered: the table of commands, the bars around the surface, and the panels.

import { parse, places } from '../control/board.js';
import { Timeline } from '../control/live.js';
import { ago, announce, ask, byID, confirmed, copy, dialog, h, icon, iconButton, menu, save } from './dom.js';
import { align, distribute, neighbor, readingOrder, tidy, toScreen, union } from './geometry.js';
import { plainTitle, targets } from './markdown.js';
import { colors, frameOf, shownLength } from './note.js';
import { Overview } from './surface.js';

// ---- Commands
//
// Every command with its name, its keys and its condition. The keyboard, the menus and the help read this table.

/** @typedef {import('./app.js').App} App */
/** @typedef {import('./types').Note} Note */
/** @typedef {{id: string, group: string, name: string, keys: string[], icon?: import('./dom.js').Icon,
 *   when?: () => boolean, needs?: import('./types').Operation, run: (event?: Event) => unknown, checked?: () => boolean,
 *   danger?: boolean}} Command  `when`: whether it has a meaning now; `needs`: the right to do this with the selected notes */

const isMac = /Mac|iPhone|iPad/.test(navigator.platform);

/** The boards that a menu lists; a dialog finds one of more. */
const mostInMenu = 15;

/** The steps of arrow keys, in points. */
const moveStep = 20, fineStep = 1, panStep = 120;

/** @param {App} app @returns {Command[]} */
export function allCommands(app) {
  const { surface } = app;
  const some = () => app.selection.size > 0, one = () => app.selection.size === 1;
  const several = () => app.selection.size > 1, only = () => [...app.selection][0];
  const onBoard = () => !app.listShown;
  /** @param {'pinned'|'locked'|'collapsed'} name */
  const toggle = (name) => () => app.change(name, { [name]: !app.selected().every((n) => n[name]) }, name === 'locked');
  /** @type {Command[]} */
  const commands = [
    { id: 'new', group: 'Notes', name: 'New note', keys: ['n'], icon: 'add', needs: 'insert', run: () => app.create() },
    { id: 'edit', group: 'Notes', name: 'Edit text', keys: ['Enter', 'F2'], icon: 'edit', when: one, needs: 'update', run: () => app.edit(only()) },
    { id: 'tick', group: 'Notes', name: 'Tick task …', keys: ['X'], icon: 'check', when: () => one() && targetsOf(app).tasks.length > 0, needs: 'update', run: () => tickTask(app) },
    { id: 'openLink', group: 'Notes', name: 'Open link …', keys: ['O'], when: () => one() && targetsOf(app).links.length > 0, run: () => openLink(app) },
    { id: 'color', group: 'Notes', name: 'Color …', keys: ['c'], when: some, needs: 'update', run: () => app.bars.openPalette() },
    { id: 'tag', group: 'Notes', name: 'Tag …', keys: ['t'], icon: 'tag', when: some, needs: 'update', run: () => tagNotes(app) },
    { id: 'untag', group: 'Notes', name: 'Remove tag …', keys: ['T'], when: () => app.selected().some((n) => n.tags.length), needs: 'update', run: () => untagNotes(app) },
    { id: 'link', group: 'Notes', name: 'Link to …', keys: ['L'], icon: 'link', when: one, needs: 'insert', run: () => app.arm(only()) },
    { id: 'links', group: 'Notes', name: 'Links of the note …', keys: ['K'], when: () => one() && linksOf(app).length > 0, run: () => chooseLink(app) },
    { id: 'pin', group: 'Notes', name: 'Pin', keys: ['p'], icon: 'pin', when: some, needs: 'update', checked: () => app.selected().every((n) => n.pinned), run: toggle('pinned') },
    { id: 'lock', group: 'Notes', name: 'Lock', keys: ['l'], icon: 'lock', when: some, needs: 'update', checked: () => app.selected().every((n) => n.locked), run: toggle('locked') },
    { id: 'collapse', group: 'Notes', name: 'Collapse', keys: ['k'], icon: 'collapse', when: some, needs: 'update', checked: () => app.selected().every((n) => n.collapsed), run: toggle('collapsed') },
    { id: 'raise', group: 'Notes', name: 'Raise', keys: ['r'], icon: 'raise', when: some, needs: 'update', run: () => app.stack(1) },
    { id: 'lower', group: 'Notes', name: 'Lower', keys: ['R'], icon: 'lower', when: some, needs: 'update', run: () => app.stack(-1) },
    { id: 'fitText', group: 'Notes', name: 'Fit to the text', keys: ['x'], when: some, needs: 'update', run: () => app.fitText() },
    { id: 'duplicate', group: 'Notes', name: 'Duplicate', keys: ['d', 'Mod+d'], icon: 'copy', when: some, needs: 'insert', run: () => app.duplicate() },
    { id: 'moveTo', group: 'Notes', name: 'Move to a board …', keys: ['m'], icon: 'board', when: () => some() && app.session.boards.length > 1, needs: 'update', run: (event) => moveToBoard(app, event) },
    { id: 'details', group: 'Notes', name: 'Details', keys: ['i'], icon: 'info', when: one, run: () => app.panels.details(only()) },
    { id: 'delete', group: 'Notes', name: 'Delete', keys: ['Delete', 'Backspace'], icon: 'trash', danger: true, when: some, needs: 'delete', run: () => app.remove() },

    ...(/** @type {const} */ (['left', 'right', 'up', 'down'])).flatMap((direction) => {
      const key = 'Arrow' + direction[0].toUpperCase() + direction.slice(1), sign = direction === 'left' || direction === 'up' ? -1 : 1;
      const flat = direction === 'left' || direction === 'right';
      /** @param {number} by */
      const offset = (by) => ({ x: flat ? by * sign : 0, y: flat ? 0 : by * sign });
      /** @type {Command[]} */
      const commands = [
        { id: 'go' + direction, group: 'Arrows', name: `Note to the ${direction}`, keys: [key], when: onBoard, run: () => go(app, direction) },
        { id: 'move' + direction, group: 'Arrows', name: `Move ${direction}`, keys: ['Shift+' + key], when: some, needs: 'update', run: () => app.nudge(offset(moveStep)) },
        { id: 'fine' + direction, group: 'Arrows', name: `Move ${direction} by one point`, keys: ['Mod+Shift+' + key], when: some, needs: 'update', run: () => app.nudge(offset(fineStep)) },
        { id: 'grow' + direction, group: 'Arrows', name: { left: 'Narrower', right: 'Wider', up: 'Shorter', down: 'Taller' }[direction], keys: ['Alt+' + key], when: some, needs: 'update', run: () => app.grow(offset(moveStep)) },
        { id: 'pan' + direction, group: 'Arrows', name: `Pan ${direction}`, keys: ['Mod+' + key], when: onBoard, run: () => pan(app, offset(panStep)) },
      ];
      return commands;
    }),

    { id: 'first', group: 'Selection', name: 'First note', keys: ['Home'], when: onBoard, run: () => goTo(app, 0) },
    { id: 'last', group: 'Selection', name: 'Last note', keys: ['End'], when: onBoard, run: () => goTo(app, -1) },
    { id: 'add', group: 'Selection', name: 'Add the focused note', keys: [' '], when: () => app.focused !== null, run: () => app.toggleFocused() },
    { id: 'all', group: 'Selection', name: 'Select all', keys: ['a', 'Mod+a'], run: () => selectAll(app) },
    { id: 'cancel', group: 'Selection', name: 'Deselect, close', keys: ['Escape'], run: () => app.cancel() },
    { id: 'alignLeft', group: 'Align', name: 'Align left', keys: [], icon: 'align', when: several, needs: 'update', run: () => app.place((r) => align(r, 'left')) },
    { id: 'alignCenter', group: 'Align', name: 'Align centers', keys: [], when: several, needs: 'update', run: () => app.place((r) => align(r, 'center')) },
    { id: 'alignRight', group: 'Align', name: 'Align right', keys: [], when: several, needs: 'update', run: () => app.place((r) => align(r, 'right')) },
    { id: 'alignTop', group: 'Align', name: 'Align top', keys: [], when: several, needs: 'update', run: () => app.place((r) => align(r, 'top')) },
    { id: 'alignMiddle', group: 'Align', name: 'Align middles', keys: [], when: several, needs: 'update', run: () => app.place((r) => align(r, 'middle')) },
    { id: 'alignBottom', group: 'Align', name: 'Align bottom', keys: [], when: several, needs: 'update', run: () => app.place((r) => align(r, 'bottom')) },
    { id: 'spread', group: 'Align', name: 'Equal distances across', keys: [], when: () => app.selection.size > 2, needs: 'update', run: () => app.place((r) => distribute(r, 'x')) },
    { id: 'stackEven', group: 'Align', name: 'Equal distances down', keys: [], when: () => app.selection.size > 2, needs: 'update', run: () => app.place((r) => distribute(r, 'y')) },
    { id: 'tidy', group: 'Align', name: 'Tidy up', keys: ['y'], icon: 'board', when: several, needs: 'update', run: () => app.place((r) => tidy(r)) },

    { id: 'undo', group: 'Board', name: 'Undo', keys: ['u', 'Mod+z'], icon: 'undo', needs: 'insert', run: () => app.undo() },
    { id: 'redo', group: 'Board', name: 'Redo', keys: ['U', 'Mod+Shift+z', 'Mod+y'], icon: 'redo', needs: 'insert', run: () => app.undo(true) },
    { id: 'boards', group: 'Board', name: 'Boards …', keys: ['b'], icon: 'menu', run: () => app.attempt(async () => (await dialogs()).showBoards(app)) },
    { id: 'previousBoard', group: 'Board', name: 'Previous board', keys: ['[', 'PageUp'], icon: 'left', when: () => app.session.boards.length > 1, run: () => app.page(-1) },
    { id: 'nextBoard', group: 'Board', name: 'Next board', keys: [']', 'PageDown'], icon: 'right', when: () => app.session.boards.length > 1, run: () => app.page(1) },
    { id: 'search', group: 'Board', name: 'Search', keys: ['/', 'Mod+f'], icon: 'search', run: () => app.bars.openSearch() },
    { id: 'filter', group: 'Board', name: 'Show only …', keys: ['f'], icon: 'filter', run: () => app.panels.filter() },
    { id: 'showAll', group: 'Board', name: 'Show all notes', keys: ['F'], when: () => app.isFiltered, run: () => app.showAll() },
    { id: 'history', group: 'Board', name: 'History', keys: ['h'], icon: 'history', run: () => app.panels.history() },
    { id: 'conflicts', group: 'Board', name: 'Conflicts', keys: ['!'], icon: 'warning', run: () => app.panels.conflicts() },
    { id: 'share', group: 'Board', name: 'Share …', keys: ['S'], icon: 'share', run: () => app.attempt(async () => (await dialogs()).share(app)) },
    { id: 'export', group: 'Board', name: 'Export …', keys: ['E'], icon: 'download', run: () => app.panels.exports() },
    { id: 'print', group: 'Board', name: 'Print', keys: ['Mod+p'], icon: 'print', run: () => app.print() },

    { id: 'list', group: 'View', name: 'List', keys: ['v'], icon: 'list', checked: () => app.listShown, run: () => app.showList(!app.listShown) },
    { id: 'zoomIn', group: 'View', name: 'Zoom in', keys: ['+', '='], icon: 'add', when: onBoard, run: () => app.pointer.zoom(surface.camera.scale * 1.25, undefined, true) },
    { id: 'zoomOut', group: 'View', name: 'Zoom out', keys: ['-', '_'], icon: 'minus', when: onBoard, run: () => app.pointer.zoom(surface.camera.scale / 1.25, undefined, true) },
    { id: 'actual', group: 'View', name: 'Actual size', keys: ['0'], when: onBoard, run: () => app.pointer.zoom(1, undefined, true) },
    { id: 'fit', group: 'View', name: 'Show all of the board', keys: ['1'], icon: 'fit', when: onBoard, run: () => app.fitBoard() },
    { id: 'fitSelection', group: 'View', name: 'Show the selection', keys: ['2'], when: () => onBoard() && some(), run: () => surface.fit(app.selection) },
    { id: 'overview', group: 'View', name: 'Overview', keys: ['o'], icon: 'map', when: onBoard, checked: () => app.bars.overviewShown, run: () => app.bars.toggleOverview() },
    { id: 'follow', group: 'View', name: 'Follow the next person', keys: ['g'], when: () => onBoard() && app.people.count > 0, run: () => app.people.followNext() },
    { id: 'cursors', group: 'View', name: 'Hide cursors', keys: ['H'], icon: 'hidden', checked: () => app.people.areHidden, run: () => app.people.toggleCursors() },
    { id: 'install', group: 'View', name: 'Install …', keys: [], icon: 'download', when: () => app.installer !== null, run: () => { app.installer?.prompt(), (app.installer = null); } },
    { id: 'help', group: 'View', name: 'Keyboard', keys: ['?'], icon: 'help', run: () => app.panels.help() },
  ];
  return commands;
}

/** The name of a key event, such as `Mod+Shift+z`. On keyboards of other scripts the letter of the key's place counts.
 * @param {KeyboardEvent} event */
export function keyName(event) {
  const letter = event.key.length === 1, mod = event.ctrlKey || event.metaKey, shift = event.shiftKey && (!letter || mod);
  let { key } = event;
  if (letter && key > '\x7f' && /^Key[A-Z]$/.test(event.code)) key = event.shiftKey ? event.code[3] : event.code[3].toLowerCase();
  // Caps lock does not change what a key does.
  if (letter && event.getModifierState('CapsLock')) key = event.shiftKey ? key.toUpperCase() : key.toLowerCase();
  if (mod && letter) key = key.toLowerCase();
  return (mod ? 'Mod+' : '') + (event.altKey ? 'Alt+' : '') + (shift ? 'Shift+' : '') + key;
}

/** A key as people read it.
 * @param {string} key */
function shownKey(key) {
  const names = { Mod: isMac ? '⌘' : 'Ctrl', Shift: isMac ? '⇧' : 'Shift', Alt: isMac ? '⌥' : 'Alt', ArrowLeft: '←', ArrowRight: '→', ArrowUp: '↑', ArrowDown: '↓', ' ': 'Space', Escape: 'Esc' };
  const parts = key === '+' ? ['+'] : key.split('+');
  return parts.map((p) => /** @type {Record<string, string>} */ (names)[p] ?? (parts.length > 1 && p.length === 1 ? p.toUpperCase() : p)).join(isMac ? '' : ' ');
}

/** An error after which the page must be loaded again. */
export class OutdatedPage extends Error {}

/** The part of the page that is loaded when it is first needed, or while the page has nothing else to do.
 * @returns {Promise<typeof import('./dialogs.js')>} */
export async function dialogs() {
  try {
    return await import('./dialogs.js');
  } catch {
    // The server has no files of former builds.
    throw new OutdatedPage('this part of the page can’t be loaded: reload the page if the server has a new version');
  }
}

/** Why a command is not allowed now; '' if nothing speaks against it.
 * @param {App} app @param {Command} command */
export const blocked = (app, command) => command.needs ? app.refusal(command.needs, app.selection) : '';

/** A command as an item of a menu.
 * @param {App} app @param {Command} command @returns {import('./dom.js').MenuItem} */
export const menuItem = (app, command) => ({
  name: command.name, keys: command.keys[0] ? shownKey(command.keys[0]) : '', icon: command.icon, danger: command.danger,
  checked: command.checked?.(), refusal: blocked(app, command), run: () => app.run(command),
});

/** @param {App} app @param {import('./geometry.js').Direction} direction */
function go(app, direction) {
  const { surface } = app, from = app.focused === null ? undefined : surface.index.get(app.focused);
  if (!from) return goTo(app, 0);
  const all = surface.shown().filter((n) => n.id !== app.focused).map((n) => ({ ...frameOf(n), id: n.id }));
  const next = neighbor(from, all, direction);
  if (next) app.focusNote(next.id), app.select([next.id]);
}

/** @param {App} app @param {number} place in the order of reading; -1 for the last */
function goTo(app, place) {
  const note = app.surface.shown().sort(readingOrder).at(place);
  if (note) app.focusNote(note.id), app.select([note.id]);
}

/** @param {App} app @param {import('./geometry.js').Point} by pixels */
function pan(app, by) {
  const { camera } = app.surface;
  app.stopFollowing(), app.surface.setCamera({ ...camera, x: camera.x + by.x / camera.scale, y: camera.y + by.y / camera.scale }, true);
}

/** @param {App} app */
function selectAll(app) {
  app.select(app.surface.shown().map((n) => n.id));
  if (app.isPart) app.report(`${app.countOf(app.selection.size)} are selected: those near the view`);
}

/** @param {App} app */
async function tagNotes(app) {
  const ids = [...app.selection], name = await ask('Tag', 'Name of the tag', '', 'Add tag', app.tagNames());
  if (name) app.board?.tag(ids, name);
}

/** @param {App} app */
function untagNotes(app) {
  const ids = [...app.selection], names = [...new Set(app.selected().flatMap((n) => n.tags.map((t) => t.name)))].sort();
  menu('Remove tag', names.map((name) => ({ name, icon: 'tag', run: () => app.board?.untag(ids, name) })), app.menuPlace());
}

/** The most letters of a text in a menu. */
const longest = 80;

/** The tasks and the links in the text of the selected note.
 * @param {App} app */
const targetsOf = (app) => targets(app.selected()[0]?.text.slice(0, shownLength) ?? '');

/** Lets the user choose the task to tick.
 * @param {App} app */
async function tickTask(app) {
  const [note] = app.selected();
  if (!note || !(await mayChange([note], 'Change'))) return;
  menu('Tick task', targetsOf(app).tasks.map(({ at, done, name }) => ({
    name: name.slice(0, longest) || 'Task', checked: done, run: () => {
      const [now] = app.selected();
      // In another text the tasks have other offsets.
      if (now?.text !== note.text) return void tickTask(app);
      app.tick(now.id, at, !done), announce(done ? 'Task open' : 'Task done');
    },
  })), app.menuPlace());
}

/** Lets the user choose the link in the text to open.
 * @param {App} app */
function openLink(app) {
  const items = targetsOf(app).links.map(({ href, name }) => ({
    name: (name === href ? href : `${name.slice(0, longest)} (${href})`).slice(0, 2 * longest),
    run: () => h('a', { href, target: '_blank', rel: 'noopener noreferrer' }).click(),
  }));
  menu('Open link', items, app.menuPlace());
}

/** The links that begin or end at the selected note, with their other ends.
 * @param {App} app */
function linksOf(app) {
  const { notes } = app.surface, id = [...app.selection][0];
  return [...notes.values()].flatMap((note) => note.links.filter((link) => note.id === id || link.to === id)
    .map((link) => ({ ...link, isFrom: note.id !== id, other: note.id === id ? notes.get(link.to) : note })));
}

/** Lets the user choose a link between notes, to label or to remove it.
 * @param {App} app */
function chooseLink(app) {
  menu('Links of the note', linksOf(app).map(({ id, label, isFrom, other }) => ({
    name: `${isFrom ? 'From' : 'To'} note ${other?.number ?? '?'}: ${other ? plainTitle(other.text).slice(0, longest) : ''}${label && ` (${label})`}`,
    icon: 'link', run: () => app.showLinkMenu(id, app.menuPlace()),
  })), app.menuPlace());
}

/** @param {App} app @param {Event} [event] */
function moveToBoard(app, event) {
  const ids = [...app.selection], place = event?.currentTarget instanceof Element ? event.currentTarget : app.menuPlace();
  const others = app.session.boards.filter((b) => b.id !== app.board?.id);
  const move = (/** @type {{id: string, name: string}} */ b) => { app.board?.update(ids, { board: b.id }), app.report(`Moved to ${b.name}`, 'Undo', () => app.undo()); };
  if (others.length > mostInMenu) return void app.attempt(async () => (await dialogs()).chooseBoard(app, 'Move to a board', move));
  menu('Move to a board', others.map((b) => ({ name: b.name, icon: 'board', run: () => move(b) })), place);
}

/** Locked notes are changed only after a question.
 * @param {Note[]} notes @param {string} action
 * @returns {Promise<boolean>} */
export async function mayChange(notes, action) {
  const locked = notes.filter((n) => n.locked);
  if (!locked.length) return true;
  const what = locked.length === 1 ? `Note ${locked[0].number} is` : `${locked.length} notes are`;
  return confirmed(action, `${what} locked. Change ${locked.length === 1 ? 'it' : 'them'} anyway?`, action);
}

/** The palette as items of a menu.
 * @param {(color: string) => void} choose @param {string} [current] */
const paletteItems = (choose, current) => colors.map((color) => ({
  name: color[0].toUpperCase() + color.slice(1), swatch: color, checked: current === undefined ? undefined : color === current, run: () => choose(color),
}));

// ---- Bars
//
// The bars around the surface: the board and its status, people, search, tools, zoom, and the tools of the selection.

/** The status in two words; the message says the rest.
 * @type {Record<string, string>} */
const statusNames = {
  connecting: 'Connecting', live: 'Live', reconnecting: 'Reconnecting', offline: 'Offline', readOnly: 'Read only',
  notAllowed: 'Not allowed', signedOut: 'Signed out', outdated: 'Reload',
};

export class Bars {
  /** @type {string[]} */
  matches = [];
  #match = -1; #query = ''; #searchTurn = 0; #searchTimer = 0; #isStale = false; #spoken = '';

  /** @param {App} app */
  constructor(app) {
    this.app = app;
    /** @param {string} id */
    const command = (id) => app.command(id);
    /** @param {string} id @param {import('./dom.js').Attributes} [more] */
    const button = (id, more) => {
      const c = command(id), key = c.keys[0] ? ` (${shownKey(c.keys[0])})` : '';
      return iconButton(/** @type {any} */ (c.icon), c.name.replace(' …', '') + key, (event) => { if (c.when?.() ?? true) app.run(c, event); }, { 'data-command': id, ...more });
    };
    this.name = h('span', { class: 'name', dir: 'auto' });
    this.status = h('button', { type: 'button', class: 'status', onclick: () => app.panels.status() }, h('i', null), this.statusText = h('span', null));
    this.faces = h('div', { class: 'faces', role: 'group', 'aria-label': 'People on this board' });
    this.input = h('input', {
      type: 'search', placeholder: 'Search notes', 'aria-label': 'Search notes', dir: 'auto', autocomplete: 'off', spellcheck: false,
      oninput: () => this.#search(), onkeydown: (/** @type {KeyboardEvent} */ event) => this.#searchKey(event),
    });
    this.count = h('span', { class: 'count', role: 'status' });
    this.search = h('div', { class: 'search', role: 'search', hidden: true }, icon('search'), this.input, this.count,
      iconButton('collapse', 'Previous match', () => this.#step(-1)), iconButton('expand', 'Next match', () => this.#step(1)),
      iconButton('close', 'Close search', () => this.closeSearch()));
    this.badge = iconButton('warning', 'Conflicts', () => app.panels.conflicts(), { class: 'icon-button alert', hidden: true });
    this.filterButton = iconButton('filter', 'Show all notes', () => app.showAll(), { class: 'icon-button active', hidden: true });
    byID('top').append(
      h('div', { class: 'bar' },
        this.boardButton = h('button', { type: 'button', class: 'board-button', title: 'Boards (b)', onclick: () => app.run(command('boards')) }, icon('menu'), this.name), this.part = h('span', { class: 'count part' }),
        h('span', { class: 'pages' }, button('previousBoard'), button('nextBoard')), this.status),
      h('div', { class: 'bar end' }, this.faces, this.filterButton, this.badge, this.search, button('search'), button('share', { class: 'icon-button wide' }),
        iconButton('more', 'Menu', (event) => this.#more(/** @type {Element} */ (event.currentTarget)), { 'aria-haspopup': 'menu' })));

    this.newButton = h('button', { type: 'button', class: 'new', title: 'New note (n)', 'aria-label': 'New note', 'data-command': 'new', onclick: () => app.run(command('new')) }, icon('add'));
    this.zoomText = h('button', { type: 'button', class: 'zoom-text', title: 'Actual size (0)', onclick: () => command('actual').run() });
    const map = h('canvas', { class: 'map', 'aria-hidden': 'true' });
    this.map = h('div', { class: 'bar map-bar', hidden: true }, map);
    this.overview = new Overview(map, (center) => app.surface.setCamera({
      ...app.surface.camera, x: center.x - app.surface.size.width / 2 / app.surface.camera.scale, y: center.y - app.surface.size.height / 2 / app.surface.camera.scale,
    }));
    byID('bottom').append(
      h('div', { class: 'bar tools', role: 'toolbar', 'aria-label': 'Tools' },
        button('undo'), button('redo'), this.newButton, button('list', { 'aria-pressed': 'false' }), button('history')),
      this.zoomBox = h('div', { class: 'corner' }, this.map, h('div', { class: 'bar zoom', role: 'group', 'aria-label': 'Zoom' },
        button('zoomOut'), this.zoomText, button('zoomIn'), button('fit'), button('overview', { 'aria-pressed': 'false' }), button('help', { class: 'icon-button wide' }))));
    this.selectionCount = h('span', { class: 'count' });
    this.paletteButton = h('button', { type: 'button', class: 'palette', 'aria-label': 'Color (c)', title: 'Color (c)', 'aria-haspopup': 'menu', 'data-command': 'color', onclick: () => app.run(command('color')) }, h('span', { class: 'swatch' }));
    byID('selection').append(this.selectionCount, this.paletteButton, button('edit'), button('tag'), button('pin', { 'aria-pressed': 'false' }),
      button('lock', { 'aria-pressed': 'false' }), button('link'), button('tidy'), button('duplicate'), button('delete'),
      iconButton('more', 'More', (event) => app.showMenu([...app.selection][0] ?? null, /** @type {Element} */ (event.currentTarget)), { 'aria-haspopup': 'menu' }));
  }

  get overviewShown() { return !this.map.hidden; }

  toggleOverview() {
    this.map.hidden = !this.map.hidden;
    this.refresh(), this.paint();
  }

  openPalette() {
    const { app } = this, ids = [...app.selection], current = new Set(app.selected().map((n) => n.color));
    if (!ids.length) return;
    menu('Color', paletteItems((color) => app.change('color', { color }), current.size === 1 ? [...current][0] : ''),
      byID('selection').hidden ? app.menuPlace() : this.paletteButton, 'swatches');
  }

  /** @param {Element} place */
  #more(place) {
    const { app } = this;
    const ids = ['boards', 'share', 'export', 'print', '', 'list', 'filter', 'showAll', 'overview', 'fit', '', 'history', 'conflicts', 'cursors', '', 'all', 'install', 'help'];
    menu('Menu', ids.map((id) => {
      const c = id ? app.command(id) : null;
      return c && (c.when?.() ?? true) ? menuItem(app, c) : null;
    }).filter((item, i) => item || !ids[i]), place);
  }

  /** Shows changes of the application's state. */
  refresh() {
    const { app } = this, { board, session } = app, { status } = session;
    this.name.textContent = board?.name ?? 'Stickies';
    this.part.textContent = board && app.isPart ? app.countOf(board.notes.size) : '';
    const conflicts = session.conflicts.length;
    this.badge.hidden = !conflicts;
    this.badge.setAttribute('aria-label', `Conflicts: ${conflicts}`), (this.badge.dataset.count = String(conflicts));
    this.filterButton.hidden = !app.isFiltered;
    const kind = status.kind === 'live' && board && !board.canWrite ? 'readOnly' : status.kind;
    const unsent = status.unsent && kind !== 'readOnly' ? `${status.unsent} unsent` : '';
    const parked = status.parked ? `${status.parked} to repair` : '';
    const text = [kind === 'live' && unsent ? '' : statusNames[kind] ?? kind, unsent, parked].filter(Boolean).join(' · ');
    this.statusText.textContent = text, (this.status.dataset.kind = kind);
    this.status.title = status.message, this.status.setAttribute('aria-label', `Status: ${text}`);
    this.status.dataset.parked = String(status.parked > 0);
    if (kind !== this.#spoken && this.#spoken) announce(`${text}. ${status.message}`);
    this.#spoken = kind;
    const buttons = /** @type {NodeListOf<HTMLButtonElement>} */ (document.querySelectorAll('[data-command]'));
    for (const node of buttons) {
      const c = app.command(node.dataset.command ?? '');
      node.disabled = !(c.when?.() ?? true);
      this.#explain(node, c);
      if (node.hasAttribute('aria-pressed')) node.setAttribute('aria-pressed', String(c.checked?.() ?? false));
    }
    this.refreshSelection();
  }

  /** Greys out the button of a command that is not allowed, and says why. It stays a button: a press shows the sentence.
   * @param {HTMLButtonElement} node @param {Command} command */
  #explain(node, command) {
    const refusal = blocked(this.app, command);
    if (node.title !== refusal && refusal) node.dataset.name ??= node.title, node.title = refusal;
    else if (!refusal && node.dataset.name) node.title = node.dataset.name, delete node.dataset.name;
    if (refusal) node.setAttribute('aria-disabled', 'true');
    else node.removeAttribute('aria-disabled');
  }

  /** Shows the bar of the selection, with the number of notes. */
  refreshSelection() {
    const { app } = this, bar = byID('selection'), notes = app.selected();
    bar.hidden = !notes.length || !app.canWrite || app.editing !== null || app.armed !== null;
    if (bar.hidden) return;
    this.selectionCount.textContent = notes.length === 1 ? '' : `${notes.length} notes`;
    const color = notes.every((n) => n.color === notes[0].color) ? notes[0].color : 'mixed';
    this.paletteButton.firstElementChild?.setAttribute('data-color', color);
    bar.classList.toggle('several', notes.length > 1);
    const buttons = /** @type {NodeListOf<HTMLButtonElement>} */ (bar.querySelectorAll('[data-command]'));
    for (const node of buttons) {
      const c = app.command(node.dataset.command ?? '');
      node.hidden = !(c.when?.() ?? true);
      this.#explain(node, c);
      if (node.hasAttribute('aria-pressed')) node.setAttribute('aria-pressed', String(c.checked?.() ?? false));
    }
    this.placeSelection();
  }

  /** Moves the bar of the selection above the selected notes, or below them if there is no room. */
  placeSelection() {
    const { app } = this, bar = byID('selection'), { surface } = app;
    if (bar.hidden) return;
    const frames = /** @type {import('./geometry.js').Rect[]} */ ([...app.selection].map((id) => surface.frame(id)).filter(Boolean));
    const all = union(frames);
    if (!all || surface.size.width < 700 || app.listShown) return void (bar.style.transform = '');
    const { camera } = surface, corner = toScreen(camera, all), width = bar.offsetWidth, height = bar.offsetHeight;
    const above = corner.y - height - 14, under = corner.y + all.height * camera.scale + 14;
    const y = above > 76 ? above : under + height < surface.size.height - 90 ? under : 76;
    const x = Math.max(12, Math.min(surface.size.width - width - 12, corner.x + all.width * camera.scale / 2 - width / 2));
    bar.style.transform = `translate(${Math.round(x)}px, ${Math.round(y)}px)`;
  }

  /** Follows the camera. */
  paint() {
    const { surface } = this.app;
    const zoom = Math.round(surface.camera.scale * 100) + ' %';
    if (this.zoomText.textContent !== zoom) this.zoomText.textContent = zoom;
    this.placeSelection();
    if (this.overviewShown) this.overview.paint(() => surface.papers(), surface.version, surface.camera, surface.size);
  }

  // MARK: - Search

  openSearch() {
    this.search.hidden = false;
    this.input.focus(), this.input.select();
  }

  closeSearch() {
    this.search.hidden = true, this.input.value = '';
    this.#show('', []);
    this.app.focusSurface();
  }

  /** @param {KeyboardEvent} event */
  #searchKey(event) {
    event.stopPropagation();
    if (event.key === 'Escape') this.closeSearch();
    else if (event.key === 'Enter') this.#step(event.shiftKey ? -1 : 1);
    else if (event.key === 'ArrowDown') this.#step(1);
    else if (event.key === 'ArrowUp') this.#step(-1);
    else return;
    event.preventDefault();
  }

  /** Shows what the notes in memory have at once, and the server's answer when the user pauses. */
  #search() {
    const { app } = this, query = this.input.value.trim(), turn = ++this.#searchTurn, { board } = app;
    clearTimeout(this.#searchTimer);
    if (!query || !board) return this.#show('', []);
    const here = board.searchHere?.(query);
    // The matches that are not in memory stay until the server answers.
    if (here && !(app.isPart && query === this.#query)) this.#show(query, here.map((f) => f.id));
    this.#searchTimer = window.setTimeout(async () => {
      const found = await board.search(query).catch(() => here ?? []);
      if (turn === this.#searchTurn) this.#show(query, found.map((f) => f.id));
    }, here ? 160 : 0);
  }

  /** Searches again after a change of the notes. */
  refreshSearch() {
    if (!this.#query || this.#isStale) return;
    this.#isStale = true;
    setTimeout(() => { this.#isStale = false, this.#search(); }, 400);
  }

  /** @param {string} query @param {string[]} ids */
  #show(query, ids) {
    const { app } = this, isNew = query !== this.#query;
    const current = isNew ? undefined : this.matches[this.#match], found = new Set(ids.filter((id) => app.surface.index.get(id) || this.#isFar(id)));
    this.#query = query;
    // In the order in which they were found, so that no step is repeated when other notes are in memory.
    this.matches = [...new Set([...isNew ? [] : this.matches.filter((id) => found.has(id)), ...found])];
    this.#match = current === undefined ? -1 : this.matches.indexOf(current);
    byID('notes').classList.toggle('searching', query !== '');
    this.#count(), this.mark();
    if (isNew && this.matches.length && !this.matches.some((id) => app.surface.views.has(id))) app.surface.reveal(this.matches[0]);
    app.list.refresh();
  }

  /** Whether a note is not in memory.
   * @param {string} id */
  #isFar(id) { return this.app.isPart && !this.app.surface.notes.has(id); }

  #count() {
    const place = this.#match >= 0 ? `${this.#match + 1} / ` : '';
    this.count.textContent = !this.#query ? '' : this.matches.length ? place + this.matches.length : 'None';
  }

  /** Highlights the words in the visible notes. The highlights are ranges: the nodes stay as they are. */
  mark() {
    const matches = new Set(this.matches), words = /^\/.+\/$/s.test(this.#query) ? [] : parse(this.#query), ranges = [];
    for (const [id, view] of this.app.surface.views) {
      const isMatch = matches.has(id);
      view.element.classList.toggle('match', isMatch);
      if (isMatch && words.length) ranges.push(...wordRanges(view.element, words));
    }
    const { highlights } = /** @type {any} */ (CSS);
    if (!highlights) return;
    if (ranges.length) highlights.set('search', new /** @type {any} */ (globalThis).Highlight(...ranges));
    else highlights.delete('search');
  }

  /** @param {number} by */
  #step(by) {
    const { app, matches } = this;
    if (!matches.length) return;
    this.#match = (this.#match + by + matches.length) % matches.length;
    if (this.#match < 0) this.#match = matches.length - 1;
    const id = matches[this.#match];
    if (this.#isFar(id)) app.seek(id);
    else app.select([id]), app.setFocused(id), app.surface.reveal(id);
    this.#count();
    announce(`Match ${this.#match + 1} of ${matches.length}`);
  }
}

/** The ranges of the words in an element's text.
 * @param {Element} element @param {ReturnType<typeof parse>} words */
function wordRanges(element, words) {
  const found = [], walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    for (const { start, end } of places(words, node.textContent ?? '').ranges) {
      const range = document.createRange();
      range.setStart(node, start), range.setEnd(node, end), found.push(range);
    }
  }
  return found;
}

// ---- Panels
//
// The panels: filter, details, conflicts, history, export, status and the keyboard map.

/** @typedef {import('./types').Entry} Entry */

export class Panels {
  /** The bar of the history while it is open.
   * @type {HTMLElement|null} */
  historyBar = null;
  /** @type {Timeline|null} */
  #timeline = null;

  /** @param {App} app */
  constructor(app) { this.app = app; }

  // MARK: - Filter

  /** Chooses colors and tags; notes of other colors or tags are hidden. */
  filter() {
    const { app } = this, { filter } = app;
    /** @param {Set<string>} set @param {string} value @param {HTMLElement} label */
    const chip = (set, value, label) => {
      const button = h('button', {
        type: 'button', class: 'choice', 'aria-pressed': String(set.has(value)), onclick: () => {
          if (!set.delete(value)) set.add(value);
          button.setAttribute('aria-pressed', String(set.has(value))), app.filterChanged(), count();
        },
      }, label);
      return button;
    };
    const used = new Set([...app.surface.notes.values()].map((n) => n.color)), tags = app.tagNames();
    const status = h('p', { class: 'summary', role: 'status' });
    const count = () => { status.textContent = `${app.surface.index.size} of ${app.surface.notes.size} notes${app.isPart ? ` near the view; the board has ${app.board?.total}` : ''}`; };
    dialog('Show only', { class: 'small clear' }, h('h3', null, 'Colors'), h('div', { class: 'choices' },
      ...colors.filter((c) => used.has(c)).map((c) => chip(filter.colors, c, h('span', null, h('span', { class: 'swatch', 'data-color': c }), ' ' + c)))),
    tags.length > 0 && h('h3', null, 'Tags'), h('div', { class: 'choices' }, ...tags.slice(0, 100).map((t) => chip(filter.tags, t, h('span', { dir: 'auto' }, t)))),
    h('div', { class: 'actions' }, status, h('button', { type: 'button', onclick: () => { app.showAll(), document.querySelector('dialog')?.close(); } }, 'Show all')));
    count();
  }

  // MARK: - Details

  /** Shows each property of a note with its author and time.
   * @param {string} id */
  details(id) {
    const { app } = this, note = app.surface.notes.get(id), { board } = app;
    if (!note || !board) return;
    const rows = h('dl', { class: 'why' });
    const values = { text: note.text, color: note.color, x: note.x, y: note.y, width: note.width, height: note.height, pinned: note.pinned, locked: note.locked, collapsed: note.collapsed, tags: note.tags.map((t) => t.name).join(', ') };
    for (const [name, value] of Object.entries(values)) {
      const origin = h('span', { class: 'origin' }, '…'), before = h('span', { class: 'origin before', dir: 'auto' });
      rows.append(h('dt', null, name), h('dd', null, h('span', { class: 'value', dir: 'auto' }, typeof value === 'boolean' ? (value ? 'yes' : 'no') : typeof value === 'number' ? String(Math.round(value)) : value.slice(0, 200) || '–'), origin, before));
      board.why(id, name).then((why) => {
        origin.textContent = `${why.author}, ${ago(why.at)} · r${why.revision}`, (origin.title = why.at.toLocaleString());
        before.textContent = this.#before(name, why);
      }, () => { origin.textContent = ''; });
    }
    dialog(`Note ${note.number}`, {}, h('p', { class: 'summary' }, `Written ${ago(note.createdAt)}, changed ${ago(note.updatedAt)}`), rows);
  }

  /** What a property was before, and the values that lost to the present one.
   * @param {string} name @param {import('./types').Origin} why */
  #before(name, { previous, lost = [] }) {
    // The ids of tags say nothing to people.
    if (name === 'tags') return '';
    const short = (/** @type {unknown} */ value) => (typeof value === 'number' ? String(Math.round(value)) : typeof value === 'boolean' ? (value ? 'yes' : 'no') : shownValue(value).slice(0, 80));
    const parts = previous === null || previous === undefined || previous === '' ? [] : [`before: ${short(previous)}`];
    return [...parts, ...lost.slice(0, 3).map((each) => `${each.author}’s ${short(each.value)} lost`)].join(' · ');
  }

  // MARK: - Conflicts

  /** Shows refused and lost edits with both values, and takes a third one for texts. */
  conflicts() {
    const { app } = this, { session } = app, cards = h('ul', { class: 'conflicts' });
    /** @type {Map<string, HTMLLIElement>} */
    const shown = new Map();
    const fill = () => {
      const keys = new Set(session.conflicts.map((c) => c.key));
      for (const [key, card] of shown) if (!keys.has(key)) card.remove(), shown.delete(key);
      // A card that is shown stays: the user may be writing in it.
      for (const c of session.conflicts) if (!shown.has(c.key)) shown.set(c.key, this.#card(c, () => node.close())), cards.append(shown.get(c.key) ?? '');
      cards.querySelector('.none')?.remove();
      if (!keys.size) cards.append(h('li', { class: 'none' }, 'There are no conflicts: all your edits have been accepted.'));
    };
    session.addEventListener('conflicts', fill);
    const node = dialog('Conflicts', { class: 'wide' }, cards);
    node.addEventListener('close', () => session.removeEventListener('conflicts', fill));
    fill();
  }

  /** @param {import('./types').Conflict} c @param {() => void} close */
  #card(c, close) {
    const { app } = this, { session } = app, name = `Note ${c.number}, ${c.property}`;
    /** @param {string} label @param {() => unknown} run @param {string} [look] */
    const button = (label, run, look = '') => h('button', { type: 'button', class: look, onclick: () => app.attempt(async () => run()) }, label);
    const field = c.merged === null ? null : h('textarea', { value: c.merged, dir: 'auto', rows: Math.min(10, c.merged.split('\n').length + 1), spellcheck: true, 'aria-label': `${name}: merged` });
    const merge = field && h('div', { class: 'merge' }, h('h3', null, 'Merged'), field,
      h('div', { class: 'actions' }, button('Use merged', () => session.resolve(c.key, field.value), 'primary')));
    return h('li', null,
      h('p', null, h('b', null, name), [c.author, ago(c.when)].filter(Boolean).map((text) => ` · ${text}`).join('')), h('p', { class: 'summary' }, c.reason),
      h('div', { class: 'both' }, this.#value('Yours', c.mine), this.#value('Theirs', c.theirs)),
      h('div', { class: 'actions' },
        button('Show note', () => { close(), app.select([c.note]), app.surface.reveal(c.note); }),
        button('Copy yours', () => copy(shownValue(c.mine))),
        button('Keep theirs', () => session.discard(c.key)), button('Use yours', () => session.retry(c.key), field ? '' : 'primary')), merge);
  }

  /** @param {string} label @param {unknown} value */
  #value(label, value) {
    return h('div', null, h('h3', null, label), h('pre', { dir: 'auto', tabIndex: 0 }, shownValue(value) || '(empty)'));
  }

  // MARK: - History

  /** Opens or closes the bar in which the user goes through the revisions of the board. */
  async history() {
    const { app } = this, { board } = app;
    if (this.historyBar) return this.closeHistory();
    if (!board) return;
    const line = this.#timeline = new Timeline(board);
    const slider = h('input', { type: 'range', min: '0', max: '0', value: '0', 'aria-label': 'Revision', oninput: () => line.go(Number(slider.value)) });
    /** Goes on from the thumb, which can be ahead of what is shown.
     * @param {number} by */
    const step = (by) => { const at = Number(slider.value) + by; slider.value = String(at), line.go(at); };
    const what = h('p', { class: 'what' }), restoreNotes = h('button', { type: 'button', class: 'restore-notes', onclick: () => this.#restore(line.entry, [...app.selection]) }, 'Restore note');
    const restoreBoard = h('button', { type: 'button', class: 'primary', onclick: () => this.#restore(line.entry, null) }, 'Restore board');
    const bar = h('section', { class: 'bar history', 'aria-label': 'History' },
      h('div', { class: 'line' }, iconButton('left', 'Previous revision', () => step(-1)), slider, iconButton('right', 'Next revision', () => step(1))),
      h('div', { class: 'line' }, what, h('div', { class: 'actions' }, restoreNotes, restoreBoard, iconButton('close', 'Back to now', () => this.closeHistory()))));
    /** Describes the shown entry.
     * @param {Map<string, Note>} notes those of its time @param {string} [rest] what is being done */
    const describe = (notes, rest = '') => {
      const { entry } = line, isNow = line.shown === line.entries.length - 1;
      const time = entry?.at.toLocaleString([], { dateStyle: 'medium', timeStyle: 'short' }) ?? '';
      const numbers = entry?.notes.flatMap((id) => (notes.get(id) ?? board.notes.get(id))?.number ?? []) ?? [];
      const list = numbers.length > 8 ? `notes ${numbers.slice(0, 8).join(', ')} …` : `${numbers.length === 1 ? 'note' : 'notes'} ${numbers.join(', ')}`;
      what.replaceChildren(...(entry ? [h('b', null, entry.author || 'Unknown'), ' ', entry.summary, h('span', null, time)] : []),
        ...(numbers.length ? [h('span', null, list)] : []), rest && ` ${rest}`);
      if (entry) slider.setAttribute('aria-valuetext', `${entry.author || 'Unknown'} · ${entry.summary} · ${time}`);
      restoreNotes.hidden = !app.selection.size;
      restoreBoard.disabled = restoreNotes.disabled = !entry || isNow || !board.canWrite || app.session.user?.canWrite === false;
    };
    const place = () => { slider.max = String(Math.max(0, line.entries.length - 1)), (slider.value = String(Math.max(0, line.shown))); };
    line.onshow = (notes, isLast) => {
      const { entry } = line;
      if (!entry) return what.replaceChildren('This board has no history.');
      // The thumb stays under the pointer while it is ahead of what is shown.
      if (isLast) place();
      describe(notes), app.showPast(notes, entry);
    };
    line.onsearch = (before) => {
      const sentence = `Looking for changes of this board before revision ${before} …`;
      describe(app.surface.notes, sentence), announce(sentence);
    };
    line.onfail = (error) => { place(), describe(app.surface.notes, line.entry ? '' : reason(error)), app.report(reason(error)); };
    describe(app.surface.notes, 'Reading …');
    this.historyBar = bar;
    document.body.append(bar);
    document.body.classList.add('past');
    await line.start();
    if (this.historyBar !== bar) return;
    slider.focus();
    announce('History. The arrow keys go through the revisions, Escape goes back to now.');
  }

  /** @param {Entry|undefined} entry @param {string[]|null} ids null for the board */
  async #restore(entry, ids) {
    const { app } = this, { board } = app;
    if (!entry || !board) return;
    if (ids && !ids.length) return app.report('Select the notes to restore first');
    this.closeHistory();
    await app.attempt(async () => {
      await (ids ? board.restore(ids, entry.revision) : board.restoreBoard(entry.revision));
      app.report(ids ? 'Notes restored' : 'Board restored', 'Undo', () => app.undo());
    });
  }

  /** Notes can be restored while some are selected. */
  selectionChanged() {
    const button = /** @type {HTMLElement|null|undefined} */ (this.historyBar?.querySelector('.restore-notes'));
    if (button) button.hidden = !this.app.selection.size;
  }

  closeHistory() {
    if (!this.historyBar) return;
    this.historyBar.remove(), (this.historyBar = null);
    this.#timeline?.end();
    document.body.classList.remove('past');
    this.app.showNow();
  }

  // MARK: - Export, status, help

  /** Exports the board as a file. */
  exports() {
    const { app } = this, { board } = app;
    if (!board) return;
    // Of a board that is in memory in part, all notes.
    const notes = async () => board.isPart ? [...(await board.everything()).values()] : app.surface.shown();
    /** @type {[string, string, () => Promise<Blob|string>][]} */
    const forms = [
      ['Markdown', 'md', async () => board.exportAs('markdown')], ['JSON', 'json', async () => board.exportAs('json')],
      ['SVG', 'svg', async () => (await dialogs()).svgBlob(await notes())], ['PNG', 'png', async () => (await dialogs()).pngBlob(await notes())],
    ];
    const about = { Markdown: 'Text for editors and wikis', JSON: 'All properties, for programs', SVG: 'A picture that stays sharp', PNG: 'A picture for chats and slides' };
    const node = dialog('Export', { class: 'small' }, h('div', { class: 'forms' }, ...forms.map(([name, ending, make]) => h('button', {
      type: 'button', class: 'row', onclick: () => app.attempt(async () => { const content = await make(); save(`${board.name}.${ending}`, content), node.close(); }),
    }, icon('download'), h('span', { class: 'name' }, name), h('span', { class: 'count' }, /** @type {Record<string, string>} */ (about)[name])))));
  }

  /** Explains the status: what is unsent, and where it is kept. */
  status() {
    const { app } = this, { status, user } = app.session;
    const keeps = { durable: 'This browser keeps them until they are sent.', evictable: 'This browser may delete them if its storage fills up.', none: 'This browser cannot keep them: leave the page open.' }[status.keeps] ?? '';
    const unsent = status.unsent ? `${status.unsent} ${status.unsent === 1 ? 'edit is' : 'edits are'} not sent yet. ${keeps}` : 'All your edits are on the server.';
    const node = dialog('Status', { class: 'small' }, h('p', null, status.message), h('p', null, unsent),
      status.reloadsOffline === false && !isSecureContext && h('p', { class: 'summary' }, 'The page cannot be loaded while the server is away: that needs HTTPS, or a server on this machine.'), user && h('p', { class: 'summary' }, `You are ${user.name}${app.board?.role ? `, ${app.board.role} on this board` : user.role ? ', ' + user.role : ''}.`),
      h('div', { class: 'actions' },
        status.unsent > 0 && h('button', { type: 'button', onclick: () => app.attempt(async () => save('unsent-edits.jsonl', await app.session.exportUnsent())) }, 'Export unsent edits'),
        status.parked > 0 && h('button', { type: 'button', class: 'primary', onclick: () => { node.close(), this.conflicts(); } }, `Repair ${status.parked}`),
        (status.update || status.kind === 'outdated') && h('button', { type: 'button', class: 'primary', onclick: () => location.reload() }, 'Reload'),
        app.session.signOut && h('button', { type: 'button', onclick: () => app.attempt(async () => app.session.signOut?.()) }, 'Sign out')));
  }

  /** Shows the keyboard map. */
  help() {
    const groups = new Map();
    for (const c of this.app.commands) if (c.keys.length && c.group !== 'Arrows') groups.set(c.group, [...(groups.get(c.group) ?? []), c]);
    const arrows = [['← ↑ → ↓', 'Next note that way'], ['Shift ←', 'Move'], [`${shownKey('Mod')} Shift ←`, 'Move by one point'], ['Alt ←', 'Resize'], [`${shownKey('Mod')} ←`, 'Pan']];
    const mouse = [['Double click', 'New note'], ['Drag', 'Move, or select on the board'], ['Shift drag', 'Move straight'], ['Alt drag', 'Duplicate'], ['Ctrl drag', 'Without snapping'], ['Space drag', 'Pan'], ['Ctrl wheel', 'Zoom']];
    const typing = [['Tab', 'Next note'], ['Ctrl Enter', 'Next note'], ['Esc', 'End'], ['- [ ] ', 'A task'], ['**bold**', 'Strong'], ['# ', 'Heading']];
    /** @param {string} title @param {string[][]} entries */
    const section = (title, entries) => h('section', null, h('h3', null, title), h('dl', null, ...entries.flatMap(([key, name]) => [h('dt', null, ...key.split(', ').map((k) => h('kbd', null, k))), h('dd', null, name)])));
    dialog('Keyboard', { class: 'help' }, h('div', { class: 'columns', tabIndex: 0, role: 'group', 'aria-label': 'Keys' },
      ...[...groups].map(([title, list]) => section(title, list.map((/** @type {Command} */ c) => [c.keys.slice(0, 2).map(shownKey).join(', '), c.name.replace(' …', '')]))),
      section('Arrow keys', arrows), section('While writing', typing), section('Mouse', mouse)));
  }
}

/** @param {unknown} value */
const shownValue = (value) => typeof value === 'string' ? value : value === null || value === undefined ? '' : JSON.stringify(value);

/** The sentence of an error.
 * @param {unknown} error */
export const reason = (error) => error instanceof Error ? error.message : String(error);
