// Every command with its name, its keys and its condition. The keyboard, the menus and the help read this table.

import { ask, confirmed, menu } from './dom.js';
import { align, distribute, neighbor, readingOrder, tidy } from './geometry.js';
import { colors, frameOf } from './note.js';

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
    { id: 'color', group: 'Notes', name: 'Color …', keys: ['c'], when: some, needs: 'update', run: () => app.bars.openPalette() },
    { id: 'tag', group: 'Notes', name: 'Tag …', keys: ['t'], icon: 'tag', when: some, needs: 'update', run: () => tagNotes(app) },
    { id: 'untag', group: 'Notes', name: 'Remove tag …', keys: ['T'], when: () => app.selected().some((n) => n.tags.length), needs: 'update', run: () => untagNotes(app) },
    { id: 'link', group: 'Notes', name: 'Link to …', keys: ['L'], icon: 'link', when: one, needs: 'insert', run: () => app.arm(only()) },
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
    { id: 'all', group: 'Selection', name: 'Select all', keys: ['a', 'Mod+a'], run: () => app.select(surface.shown().map((n) => n.id)) },
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
    { id: 'boards', group: 'Board', name: 'Boards …', keys: ['b'], icon: 'menu', run: () => app.attempt(async () => (await import('./boards.js')).showBoards(app)) },
    { id: 'previousBoard', group: 'Board', name: 'Previous board', keys: ['[', 'PageUp'], icon: 'left', when: () => app.session.boards.length > 1, run: () => app.page(-1) },
    { id: 'nextBoard', group: 'Board', name: 'Next board', keys: [']', 'PageDown'], icon: 'right', when: () => app.session.boards.length > 1, run: () => app.page(1) },
    { id: 'search', group: 'Board', name: 'Search', keys: ['/', 'Mod+f'], icon: 'search', run: () => app.bars.openSearch() },
    { id: 'filter', group: 'Board', name: 'Show only …', keys: ['f'], icon: 'filter', run: () => app.panels.filter() },
    { id: 'showAll', group: 'Board', name: 'Show all notes', keys: ['F'], when: () => app.isFiltered, run: () => app.showAll() },
    { id: 'history', group: 'Board', name: 'History', keys: ['h'], icon: 'history', run: () => app.panels.history() },
    { id: 'conflicts', group: 'Board', name: 'Conflicts', keys: ['!'], icon: 'warning', run: () => app.panels.conflicts() },
    { id: 'share', group: 'Board', name: 'Share …', keys: ['S'], icon: 'share', run: () => app.attempt(async () => (await import('./sharing.js')).share(app)) },
    { id: 'export', group: 'Board', name: 'Export …', keys: ['E'], icon: 'download', run: () => app.panels.exports() },
    { id: 'print', group: 'Board', name: 'Print', keys: ['Mod+p'], icon: 'print', run: () => app.print() },

    { id: 'list', group: 'View', name: 'List', keys: ['v'], icon: 'list', checked: () => app.listShown, run: () => app.showList(!app.listShown) },
    { id: 'zoomIn', group: 'View', name: 'Zoom in', keys: ['+', '='], icon: 'add', when: onBoard, run: () => app.pointer.zoom(surface.camera.scale * 1.25, undefined, true) },
    { id: 'zoomOut', group: 'View', name: 'Zoom out', keys: ['-', '_'], icon: 'minus', when: onBoard, run: () => app.pointer.zoom(surface.camera.scale / 1.25, undefined, true) },
    { id: 'actual', group: 'View', name: 'Actual size', keys: ['0'], when: onBoard, run: () => app.pointer.zoom(1, undefined, true) },
    { id: 'fit', group: 'View', name: 'Show all of the board', keys: ['1'], icon: 'fit', when: onBoard, run: () => surface.fit() },
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
export function shownKey(key) {
  const names = { Mod: isMac ? '⌘' : 'Ctrl', Shift: isMac ? '⇧' : 'Shift', Alt: isMac ? '⌥' : 'Alt', ArrowLeft: '←', ArrowRight: '→', ArrowUp: '↑', ArrowDown: '↓', ' ': 'Space', Escape: 'Esc' };
  const parts = key === '+' ? ['+'] : key.split('+');
  return parts.map((p) => /** @type {Record<string, string>} */ (names)[p] ?? (parts.length > 1 && p.length === 1 ? p.toUpperCase() : p)).join(isMac ? '' : ' ');
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
async function tagNotes(app) {
  const ids = [...app.selection], name = await ask('Tag', 'Name of the tag', '', 'Add tag', app.tagNames());
  if (name) app.board?.tag(ids, name);
}

/** @param {App} app */
function untagNotes(app) {
  const ids = [...app.selection], names = [...new Set(app.selected().flatMap((n) => n.tags.map((t) => t.name)))].sort();
  menu('Remove tag', names.map((name) => ({ name, icon: 'tag', run: () => app.board?.untag(ids, name) })), app.menuPlace());
}

/** @param {App} app @param {Event} [event] */
function moveToBoard(app, event) {
  const ids = [...app.selection], place = event?.currentTarget instanceof Element ? event.currentTarget : app.menuPlace();
  const others = app.session.boards.filter((b) => b.id !== app.board?.id);
  const move = (/** @type {{id: string, name: string}} */ b) => { app.board?.update(ids, { board: b.id }), app.report(`Moved to ${b.name}`, 'Undo', () => app.undo()); };
  if (others.length > mostInMenu) return void app.attempt(async () => (await import('./boards.js')).chooseBoard(app, 'Move to a board', move));
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
export const paletteItems = (choose, current) => colors.map((color) => ({
  name: color[0].toUpperCase() + color.slice(1), swatch: color, checked: current === undefined ? undefined : color === current, run: () => choose(color),
}));
