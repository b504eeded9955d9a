// The entry: one session, one board, one surface. This module holds the view's own state (selection, focus, the edited
// note, the filter, the past) and connects the board's events with the parts that show them.

import { Session } from '../control/session.js';
import { allCommands, Bars, blocked, dialogs, keyName, mayChange, menuItem, OutdatedPage, Panels, reason } from './commands.js';
import { announce, ask, byID, confirmed, h, menu, perFrame, toast } from './dom.js';
import { freePlace, neighbor, readingOrder, toBoard, toScreen } from './geometry.js';
import { content, frameOf, List } from './note.js';
import { People } from './people.js';
import { leastSize, Pointer } from './pointer.js';
import { Surface } from './surface.js';

/** @typedef {import('./types').Note} Note */
/** @typedef {import('./types').Board} Board */
/** @typedef {import('./types').Values} Values */

const newSize = { width: 200, height: 200 }, gap = 20;
/** A note grows with its text up to this height. */
const highest = 640;
/** The time after which the parts are loaded that the first view does not need, in milliseconds. */
const latePart = 3000;
/** The most notes that are printed. */
const mostPrinted = 2000;
/** The most notes that a paste makes. */
const mostPasted = 1000;
/** The type of copied notes on the clipboard. */
const clipboardType = 'application/x-stickies+json';
/** On a screen as small as a page at 400 % zoom, the list replaces the surface. */
const coarse = matchMedia('(pointer: coarse)');
const tinyScreen = matchMedia('(max-width: 330px), (max-height: 270px)');

export class App {
  /** @type {Board|null} */
  board = null;
  /** @type {Set<string>} */
  selection = new Set();
  /** @type {string|null} */
  focused = null;
  /** The note whose text is edited on the surface.
   * @type {string|null} */
  editing = null;
  /** The note from which a link begins, while the user chooses its end.
   * @type {string|null} */
  armed = null;
  /** The revision that is shown instead of the present.
   * @type {import('./types').Entry|null} */
  past = null;
  filter = { colors: /** @type {Set<string>} */ (new Set()), tags: /** @type {Set<string>} */ (new Set()) };
  /** What the browser offers for an installation; null if it offers none, or has installed the board.
   * @type {{prompt: () => Promise<unknown>}|null} */
  installer = null;
  listShown = false; handTool = false;
  #cameras = /** @type {Map<string, import('./geometry.js').Camera>} */ (new Map()); #needsFit = false;
  #frame = h('div', { id: 'frame', hidden: true }); #fresh = ''; #sought = ''; #step = /** @type {import('./types').Gesture} */ (null); #color = 'yellow'; #listeners = new AbortController();
  /** The notes to print, if they are not those in memory.
   * @type {Map<string, Note>|null} */
  #printed = null;
  #refresh;

  /** @param {import('./types').Session} session */
  constructor(session) {
    this.session = session;
    this.surface = new Surface();
    this.commands = allCommands(this);
    this.panels = new Panels(this);
    this.bars = new Bars(this);
    this.people = new People(this, this.bars.faces);
    this.list = new List(this);
    this.pointer = new Pointer(this);
    const { surface } = this;
    surface.held = () => /** @type {string[]} */ ([...[...this.selection].slice(0, 400), this.focused, this.editing, ...surface.dragged.keys()].filter(Boolean));
    surface.isShown = (note) => this.#passes(note);
    surface.onpaint = () => { this.bars.paint(), this.placeFrame(), this.people.send({}); };
    surface.onviews = () => { this.board?.look?.(surface.visible()); this.bars.mark(), this.#markStates(), this.people.refreshCarets(); };
    surface.ontick = (id, at, done) => this.tick(id, at, done);
    byID('overlay').append(this.#frame);
    for (const edges of ['n', 'e', 's', 'w', 'ne', 'se', 'sw', 'nw', 'link']) this.#frame.append(h('div', { class: 'handle ' + edges, 'data-edges': edges }));
    this.#refresh = perFrame(() => { this.bars.refresh(), this.bars.refreshSearch(), this.list.refresh(), this.people.refresh(), this.#showHint(); });
    this.#listen();
  }

  // MARK: - Events

  #listen() {
    const { session } = this;
    session.addEventListener('status', () => this.#statusChanged());
    session.addEventListener('boards', () => this.#boardsChanged());
    session.addEventListener('conflicts', () => this.bars.refresh());
    session.addEventListener('notice', (event) => this.report(/** @type {CustomEvent} */ (event).detail.message));
    document.addEventListener('keydown', (event) => this.#key(event));
    document.addEventListener('paste', (event) => this.#paste(event));
    document.addEventListener('copy', (event) => this.#copy(event));
    document.addEventListener('cut', (event) => { if (this.may('delete', this.selection) && this.#copy(event)) this.remove(); });
    byID('notes').addEventListener('focusin', (event) => {
      const item = /** @type {Element} */ (event.target).closest('.note');
      if (item instanceof HTMLElement && item.dataset.id) this.setFocused(item.dataset.id);
    });
    addEventListener('hashchange', () => {
      // A link that logs in, opened in this tab: the page starts again with it.
      if (hasSecret()) return location.reload();
      const id = boardOfAddress();
      if (id !== this.board?.id && session.boards.some((b) => b.id === id)) this.openBoard(id);
    });
    tinyScreen.addEventListener('change', () => this.showList(tinyScreen.matches));
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.surface.refreshFar());
    addEventListener('beforeunload', (event) => {
      const { unsent, keeps } = session.status;
      if (unsent && keeps === 'none') event.preventDefault();
    });
    addEventListener('beforeinstallprompt', (event) => { event.preventDefault(), (this.installer = /** @type {any} */ (event)); });
    addEventListener('appinstalled', () => { this.installer = null; });
    addEventListener('beforeprint', () => this.#preparePrint());
    addEventListener('afterprint', () => { this.#printed = null, document.getElementById('paper')?.remove(); });
  }

  /** Starts the session and shows the first board as soon as there is one. */
  start() {
    if (tinyScreen.matches) this.showList(true);
    this.session.start();
    this.bars.refresh(), this.#boardsChanged(), this.#showHint();
    // A page that is open while the server gets a new version has all of its parts.
    setTimeout(() => dialogs().catch(() => {}), latePart);
  }

  #boardsChanged() {
    const { session } = this, wanted = session.boardID ?? boardOfAddress();
    if (this.board && !session.boards.some((b) => b.id === this.board?.id) && session.status.kind === 'live') this.#leaveBoard();
    if (!this.board && session.boards.length && !this.isShutOut) this.openBoard(session.boards.find((b) => b.id === wanted)?.id ?? session.boards[0].id);
    this.bars.refresh(), this.#setTitle(), this.#showHint();
  }

  /** Whether the user may no longer see what the page has shown. */
  get isShutOut() { return ['signedOut', 'notAllowed'].includes(this.session.status.kind); }

  #statusChanged() {
    // The next person at this screen must not read the notes.
    if (this.isShutOut && this.board) closeDialogs('dialog'), this.#leaveBoard(), this.#setTitle();
    else if (!this.board) this.#boardsChanged();
    this.bars.refresh(), this.#showHint();
  }

  #setTitle() { document.title = this.board ? `${this.board.name} – Stickies` : 'Stickies'; }

  /** @param {string} id */
  openBoard(id) {
    this.#leaveBoard();
    const board = this.session.openBoard(id), { signal } = this.#listeners = new AbortController();
    this.board = board, this.#needsFit = true;
    if (boardOfAddress() !== id) history.replaceState(null, '', '#board=' + encodeURIComponent(id));
    board.addEventListener('change', (event) => this.#changed(/** @type {CustomEvent} */ (event).detail), { signal });
    board.addEventListener('presence', () => this.people.refresh(), { signal });
    board.addEventListener('ready', () => this.#ready(), { signal });
    board.addEventListener('gone', (event) => this.#closed(/** @type {CustomEvent} */ (event).detail.message), { signal });
    board.addEventListener('rights', (event) => this.#rightsChanged(/** @type {CustomEvent} */ (event).detail.message), { signal });
    this.surface.load(board.notes);
    if (board.ready === true || board.notes.size) this.#ready();
    this.bars.refresh(), this.#setTitle(), this.people.refresh(), this.#showHint();
  }

  #ready() {
    const { board, surface } = this;
    if (!board) return;
    if (this.#needsFit) {
      surface.reindex();
      const camera = this.#cameras.get(board.id);
      if (camera) surface.setCamera(camera);
      else surface.home();
      this.#needsFit = false;
      if (board.isPart) this.#showPart(board);
    }
    this.#setRoving(), this.bars.refresh(), this.list.refresh(), this.people.refresh(), this.#showHint();
  }

  /** Says that the board has more notes than the page, and shows some of them.
   * @param {Board} board */
  #showPart(board) {
    this.report(`This board has ${String(board.total)} notes, of which the page shows those near the view. The search finds all.`);
    if (!board.notes.size) this.fitBoard();
  }

  #leaveBoard() {
    if (!this.board) return;
    this.endEditing(), this.panels.closeHistory(), this.people.stop();
    this.#cameras.set(this.board.id, this.surface.camera);
    this.#listeners.abort(), this.people.forget(), this.board.close?.();
    this.board = null, this.focused = null, this.armed = null;
    this.selection.clear(), this.surface.load(new Map());
  }

  /** The note whose field is open, on the surface or in the list; null for none. */
  get edited() { return this.editing ?? this.list.edited; }

  /** The board can no longer be seen: another one is shown.
   * @param {string} message */
  #closed(message) {
    closeDialogs('dialog:not(.side)'), this.#leaveBoard(), this.#boardsChanged(), this.report(message);
  }

  /** The user has another role on this board. What was begun with the former one ends.
   * @param {string} message */
  #rightsChanged(message) {
    if (this.edited !== null && this.refusal('update', [this.edited])) this.endEditing();
    if (this.pointer.state && !this.canWrite) this.pointer.abort();
    if (this.armed && !this.canWrite) this.disarm();
    this.bars.refresh(), this.placeFrame(), this.#showHint();
    if (message) this.report(message);
  }

  /** @param {import('./types').Change} change */
  #changed(change) {
    const { surface, board } = this;
    if (!board) return;
    if (this.#needsFit) return this.#ready();
    if (this.past) return this.bars.refresh();
    for (const { from, to } of change.renamed ?? []) this.#rename(from, to);
    const isLost = this.edited !== null && change.removed.includes(this.edited);
    if (isLost) this.endEditing();
    if (!change.mine && !change.isLoad) surface.arrive(change.inserted);
    surface.apply(change);
    for (const u of change.updated) if (u.id === this.editing) surface.views.get(u.id)?.editor?.receive(u.splices);
    this.list.receive(change.updated);
    for (const id of change.removed) this.selection.delete(id);
    if (this.focused && change.removed.includes(this.focused)) this.#setRoving();
    if (isLost) this.list.refresh(), this.focusSurface(), this.report('The note that you wrote in was deleted', 'Undo', () => this.undo());
    const others = change.inserted.length + change.updated.length + change.removed.length;
    if (!change.mine && !change.isLoad) {
      if (others) announce(`Others changed ${others} ${others === 1 ? 'note' : 'notes'}`);
    }
    if (change.inserted.includes(this.#sought)) this.#found(this.#sought);
    this.#refresh();
  }

  /** @param {string} from @param {string} to */
  #rename(from, to) {
    this.surface.rename(from, to), this.list.rename(from, to);
    if (this.selection.delete(from)) this.selection.add(to);
    if (this.focused === from) this.focused = to;
    if (this.editing === from) this.editing = to;
    if (this.armed === from) this.armed = to;
    if (this.#fresh === from) this.#fresh = to;
  }

  // MARK: - Keyboard and clipboard

  /** @param {string} id */
  command(id) {
    const found = this.commands.find((c) => c.id === id);
    if (!found) throw new Error(`there is no command "${id}"`);
    return found;
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    const target = /** @type {HTMLElement} */ (event.target), name = keyName(event);
    if (event.defaultPrevented || event.isComposing || target.closest('dialog, .menu')) return;
    const isField = target.closest('input, textarea, select') !== null;
    if (isField && name !== 'Escape' && !(target instanceof HTMLInputElement && target.type === 'checkbox')) return;
    // Enter and the space bar press the button that has the focus.
    if (target.closest('button, a') && (name === 'Enter' || name === ' ')) return;
    const command = this.commands.find((c) => c.keys.includes(name) && (c.when?.() ?? true));
    if (!command) return;
    event.preventDefault(), this.run(command, event);
  }

  /** Runs a command, or shows why it is not allowed.
   * @param {import('./commands.js').Command} command @param {Event} [event] */
  run(command, event) {
    const refusal = blocked(this, command);
    if (refusal) this.report(refusal);
    else command.run(event);
  }

  /** @param {ClipboardEvent} event */
  #copy(event) {
    if (!this.selection.size || /** @type {Element} */ (event.target).closest?.('input, textarea, dialog') || !getSelection()?.isCollapsed) return false;
    const notes = this.selected().sort(readingOrder), placeOf = new Map(notes.map((n, i) => [n.id, i]));
    event.clipboardData?.setData('text/plain', notes.map((n) => n.text).join('\n\n'));
    event.clipboardData?.setData(clipboardType, JSON.stringify(notes.map(({ text, color, x, y, width, height, tags, links }) => ({
      text, color, x, y, width, height, tags: tags.map((t) => t.name),
      links: links.filter((l) => placeOf.has(l.to)).map((l) => ({ to: placeOf.get(l.to), label: l.label })),
    }))));
    event.preventDefault();
    this.report(notes.length === 1 ? 'Note copied' : `${notes.length} notes copied`);
    return true;
  }

  /** Notes are pasted as notes, and each line of a text becomes a note.
   * @param {ClipboardEvent} event */
  #paste(event) {
    if (!this.board || /** @type {Element} */ (event.target).closest?.('input, textarea, dialog') || !this.may('insert')) return;
    const copied = event.clipboardData?.getData(clipboardType), text = event.clipboardData?.getData('text/plain') ?? '';
    event.preventDefault();
    const z = this.#top() + 1, at = this.#place(), found = copied ? readCopied(copied) : [];
    if (found.length) {
      const notes = found.slice(0, mostPasted), least = { x: Math.min(...notes.map((n) => n.x)), y: Math.min(...notes.map((n) => n.y)) };
      const links = notes.flatMap(({ links: all }, from) => all.filter((l) => notes[l.to] && l.to !== from).map((l) => ({ from, ...l })));
      return this.#added(this.board.insertMany(notes.map(({ links: _, ...n }, i) => (
        { ...n, x: at.x + n.x - least.x, y: at.y + n.y - least.y, z: z + i })), this.board.gesture('Paste'), links), found.length);
    }
    const all = text.split(/\r?\n/).map((l) => l.trim()).filter(Boolean), lines = all.slice(0, mostPasted);
    if (!lines.length) return;
    const columns = Math.ceil(Math.sqrt(lines.length));
    this.#added(this.board.insertMany(lines.map((line, i) => ({
      text: line.replace(/^[-*+•] (?!\[)/, ''), color: this.#color, ...newSize, z: z + i,
      x: at.x + (i % columns) * (newSize.width + gap), y: at.y + Math.floor(i / columns) * (newSize.height + gap),
    })), this.board.gesture('Paste')), all.length);
  }

  /** @param {string[]} ids @param {number} wanted the number of notes or lines on the clipboard */
  #added(ids, wanted) {
    if (!ids.length) return;
    this.surface.apply({ inserted: ids, updated: [], removed: [] });
    this.select(ids);
    if (ids.length > 1) this.surface.fit(ids);
    else this.surface.reveal(ids[0]);
    const rest = wanted > ids.length ? `; the other ${wanted - ids.length} were left out, because a paste makes at most ${mostPasted}` : '';
    this.report((ids.length === 1 ? 'Note pasted' : `${ids.length} notes pasted`) + rest, 'Undo', () => this.undo());
  }

  // MARK: - State

  /** Whether the user can make notes now. */
  get canWrite() { return this.refusal('insert') === ''; }

  /** Why the user can't do something with these notes now, as a sentence; '' if nothing speaks against it.
   * @param {import('./types').Operation} operation @param {Iterable<string>} [ids] */
  refusal(operation, ids = []) {
    if (!this.board) return 'There is no board yet';
    if (this.past) return 'This is the past: go back to now to change something';
    return this.board.refusal(operation, ids);
  }

  /** Shows why the user can't do something.
   * @param {import('./types').Operation} operation @param {Iterable<string>} [ids] @returns {boolean} whether nothing speaks against it */
  may(operation, ids = []) {
    const refusal = this.refusal(operation, ids);
    if (refusal) this.report(refusal);
    return refusal === '';
  }
  get isFiltered() { return this.filter.colors.size + this.filter.tags.size > 0; }

  /** The selected notes.
   * @returns {Note[]} */
  selected() { return /** @type {Note[]} */ ([...this.selection].map((id) => this.surface.notes.get(id)).filter(Boolean)); }

  /** The names of the tags on this board. */
  tagNames() { return [...new Set([...this.surface.notes.values()].flatMap((n) => n.tags.map((t) => t.name)))].sort((a, b) => a.localeCompare(b)); }

  /** @param {Note} note */
  #passes(note) {
    const { colors, tags } = this.filter;
    return note.id === this.#fresh || ((!colors.size || colors.has(note.color)) && (!tags.size || note.tags.some((t) => tags.has(t.name))));
  }

  filterChanged() {
    this.surface.reindex(), this.bars.refresh(), this.list.refresh();
    this.select([...this.selection].filter((id) => this.surface.index.get(id)));
  }

  showAll() { this.filter.colors.clear(), this.filter.tags.clear(), this.filterChanged(); }

  /** @param {Iterable<string>} ids @param {boolean} [quiet] without speaking */
  select(ids, quiet = false) {
    const before = this.selection;
    this.selection = new Set(ids), this.#sought = '';
    for (const id of before) if (!this.selection.has(id)) this.surface.views.get(id)?.element.classList.remove('selected');
    if (this.selection.size > before.size) this.surface.invalidate();
    byID('notes').classList.toggle('several', this.selection.size > 1);
    this.#markStates(), this.placeFrame(), this.bars.refresh();
    this.panels.selectionChanged();
    if (this.listShown) this.list.refresh();
    if (!quiet && this.selection.size > 1) announce(`${this.selection.size} notes selected`);
  }

  #markStates() {
    const touched = new Set(this.past?.notes);
    for (const [id, { element }] of this.surface.views) {
      const isSelected = this.selection.has(id);
      if (element.classList.contains('selected') !== isSelected) element.classList.toggle('selected', isSelected);
      element.classList.toggle('touched', touched.has(id));
    }
  }

  /** Gives a note the keyboard's focus.
   * @param {string} id @param {boolean} [shows] whether the view moves to it */
  focusNote(id, shows = true) {
    const view = this.surface.viewOf(id);
    this.setFocused(id);
    if (shows) this.surface.reveal(id);
    view?.element.focus({ preventScroll: true });
  }

  /** @param {string} id */
  setFocused(id) {
    if (this.focused === id) return;
    const old = this.focused === null ? undefined : this.surface.views.get(this.focused);
    if (old) old.element.tabIndex = -1;
    this.focused = id;
    const view = this.surface.viewOf(id);
    if (view) view.element.tabIndex = 0;
  }

  /** One note can be reached with Tab: the focused one, else the first. */
  #setRoving() {
    if (this.focused && this.surface.notes.has(this.focused)) return;
    this.focused = null;
    const first = this.surface.shown().sort(readingOrder)[0];
    if (first) this.setFocused(first.id);
  }

  focusSurface() {
    if (this.listShown) this.list.focus();
    else if (this.focused && this.surface.notes.has(this.focused)) this.surface.viewOf(this.focused)?.element.focus({ preventScroll: true });
    else /** @type {HTMLElement|null} */ (document.activeElement)?.blur();
  }

  toggleFocused() {
    const id = this.focused;
    if (id) this.select(this.selection.has(id) ? [...this.selection].filter((i) => i !== id) : [...this.selection, id]);
  }

  cancel() {
    if (this.panels.historyBar) this.panels.closeHistory();
    else if (this.armed) this.disarm();
    else if (this.people.followed !== null) this.people.stop();
    else if (this.editing) this.endEditing();
    else if (!this.bars.search.hidden) this.bars.closeSearch();
    else this.select([]);
  }

  stopFollowing() { this.people.stop(); }

  /** Places the frame and its handles around the selected note. */
  placeFrame() {
    const { surface } = this, [id] = this.selection, note = this.selection.size === 1 ? surface.notes.get(id) : undefined;
    const frame = note && surface.frame(note.id);
    const isShown = frame !== undefined && this.editing === null && !note?.locked && surface.camera.scale > 0.2 && !this.refusal('update', [id]);
    this.#frame.hidden = !isShown;
    if (!isShown || !frame) return;
    const at = toScreen(surface.camera, frame), { style } = this.#frame;
    style.transform = `translate(${at.x}px, ${at.y}px)`;
    style.width = frame.width * surface.camera.scale + 'px', style.height = frame.height * surface.camera.scale + 'px';
    this.#frame.classList.toggle('flat', note?.collapsed ?? false);
  }

  // MARK: - Changes

  #top() { let z = 0; for (const n of this.surface.notes.values()) z = Math.max(z, n.z); return z; }

  /** A free place for a note in the middle of the view. */
  #place() {
    const { camera, size, index, inset } = this.surface, p = toBoard(camera, { x: size.width / 2, y: size.height / 2 });
    const corner = toBoard(camera, { x: inset.left, y: inset.top }), { scale } = camera;
    const view = { ...corner, width: (size.width - inset.left - inset.right) / scale, height: (size.height - inset.top - inset.bottom) / scale };
    return freePlace({ x: Math.round(p.x - newSize.width / 2), y: Math.round(p.y - newSize.height / 2), ...newSize }, index, view);
  }

  /** Makes a note and begins to edit it.
   * @param {import('./geometry.js').Point} [at] its top left corner
   * @param {Values} [values] @returns {string|null} */
  create(at, values = {}) {
    const { board, surface } = this;
    if (!board || !this.may('insert')) return null;
    this.endEditing();
    const place = at ? { x: Math.round(at.x), y: Math.round(at.y) } : this.#place();
    const step = board.gesture('New note'), id = board.insert({ text: '', color: this.#color, ...newSize, ...place, z: this.#top() + 1, ...values }, step);
    if (!id) return null;
    this.#fresh = id, this.#step = step;
    surface.apply({ inserted: [id], updated: [], removed: [] });
    surface.viewOf(id)?.element.classList.add('born');
    if (this.listShown) this.list.refresh(), this.select([id]), this.list.edit(id);
    else this.select([id]), surface.reveal(id), this.edit(id);
    this.#showHint();
    return id;
  }

  /** @param {string} from @param {import('./geometry.js').Point} at */
  createLinked(from, at) {
    const color = this.surface.notes.get(from)?.color, id = this.create({ x: at.x, y: at.y - newSize.height / 2 }, { color });
    if (id) this.board?.link(from, id, '', this.#step);
  }

  /** Begins to edit the text of a note.
   * @param {string} id */
  async edit(id) {
    const { surface, board } = this, note = surface.notes.get(id);
    if (!board || !note) return;
    if (!this.may('update', [id])) return;
    if (!(await mayChange([note], 'Edit'))) return;
    if (this.listShown) return this.list.edit(id);
    this.endEditing();
    if (note.collapsed) board.update([id], { collapsed: false });
    const view = surface.viewOf(id);
    if (!view) return;
    this.editing = id, this.setFocused(id), this.select([id], true);
    if (surface.camera.scale < 0.5) surface.fit([id]);
    view.edit(board, {
      oncaret: (caret) => this.people.send({ note: view.id, caret }), oninput: () => this.fitWritten(view.id, view.editor?.gesture),
      onend: () => this.endEditing(), onkey: (event) => this.#editKey(event, view.id), onundo: () => this.undoNew(view.id),
    });
    this.people.send({ note: id, caret: note.text.length });
    this.placeFrame(), this.bars.refresh(), this.people.refreshCarets();
  }

  /** Undo in a new note in which nothing was written: the note goes.
   * @param {string|null} id @returns {boolean} whether it was such a note */
  undoNew(id) {
    if (!this.#isUnwritten(id)) return false;
    this.endEditing(), this.#setRoving(), this.list.refresh(), this.focusSurface();
    return true;
  }

  /** Whether a note is new, and nothing was written in it.
   * @param {string|null} id */
  #isUnwritten(id) { return id !== null && (this.surface.views.get(id)?.element.classList.contains('born') ?? false); }

  /** @param {KeyboardEvent} event @param {string} id */
  #editKey(event, id) {
    const mod = event.ctrlKey || event.metaKey;
    if (event.key === 'Escape') event.preventDefault(), this.endEditing(), this.focusNote(id, false);
    else if (event.key === 'Tab' && !mod && !event.altKey) event.preventDefault(), this.#next(id, event.shiftKey ? 'left' : 'right');
    else if (event.key === 'Enter' && mod) event.preventDefault(), this.#next(id, event.shiftKey ? 'left' : 'right');
  }

  /** Continues with the note beside an edited one; to the right, a missing note is created.
   * @param {string} id
   * @param {'left'|'right'} direction */
  #next(id, direction) {
    const { surface } = this, note = surface.notes.get(id), frame = surface.index.get(id);
    if (!note || !frame) return;
    const near = surface.index.query({ x: frame.x - frame.width, y: frame.y + 8, width: frame.width * 3, height: Math.max(8, frame.height - 16) });
    const found = neighbor(frame, near.filter((r) => r.id !== id), direction);
    this.endEditing();
    if (found && 'id' in found && surface.notes.get(found.id)?.locked === false) this.edit(found.id), surface.reveal(found.id);
    else if (direction === 'right') this.createBeside(note);
    else this.focusNote(id, false);
  }

  /** Makes a note to the right of another one.
   * @param {Note} note */
  createBeside(note) { this.create({ x: note.x + note.width + gap, y: note.y }, { color: note.color }); }

  endEditing() {
    const id = this.edited;
    if (id === null) return;
    this.editing = null, this.#fresh = '';
    this.list.endEditing();
    this.surface.views.get(id)?.endEditing();
    const note = this.board?.notes.get(id);
    // A new note that stayed empty was never wanted.
    if (note && !note.text && !note.tags.length && !note.links.length && this.#isUnwritten(id)) this.board?.withdraw(id, this.#step);
    this.people.send({ note: null, caret: null }), this.people.refreshCarets();
    this.placeFrame(), this.bars.refresh(), this.#showHint();
  }

  /** The note grows while its text does not fit.
   * @param {string} id @param {import('./types').Gesture} gesture of the typing */
  fitWritten(id, gesture) {
    const view = this.surface.viewOf(id), note = this.board?.notes.get(id);
    if (!view || !note || note.collapsed) return;
    view.element.classList.remove('born');
    // On the surface behind the list nothing has a height.
    byID('view').hidden = false;
    const needed = Math.min(highest, view.neededHeight());
    byID('view').hidden = this.listShown;
    if (needed > note.height + 1) this.board?.update([id], { height: needed }, gesture ?? undefined);
  }

  /** Gives the selected notes the height of their text. */
  fitText() {
    const values = new Map();
    for (const note of this.selected()) {
      const view = this.surface.viewOf(note.id);
      if (!view) continue;
      view.element.style.height = leastSize.height + 'px';
      values.set(note.id, { height: Math.max(leastSize.height, view.neededHeight()), collapsed: false });
      view.element.style.height = note.height + 'px';
    }
    this.change('height', values);
  }

  /** Ticks a task: one letter of the text changes.
   * @param {string} id @param {number} at @param {boolean} done */
  tick(id, at, done) {
    const text = this.board?.notes.get(id)?.text;
    if (this.may('update', [id]) && text?.[at - 1] === '[' && text[at + 1] === ']') this.board?.edit(id, { start: at, end: at + 1, text: done ? 'x' : ' ' });
    else this.surface.views.get(id)?.redraw();
  }

  /** Changes the selected notes; locked ones after a question.
   * @param {string} name
   * @param {Values|Map<string, Values>} values @param {boolean} [isUnlocking] */
  async change(name, values, isUnlocking = false) {
    const notes = this.selected();
    if (!notes.length || !this.may('update', this.selection) || !(isUnlocking || await mayChange(notes, 'Change'))) return;
    if (!(values instanceof Map) && values.color) this.#color = values.color;
    this.board?.update(notes.map((n) => n.id), values);
    announce(`${name} changed`);
  }

  /** Moves the selected notes to the places that an arrangement returns.
   * @param {(frames: import('./geometry.js').Rect[]) => import('./geometry.js').Point[]} arrange */
  place(arrange) {
    const notes = this.selected().filter((n) => !n.locked), places = arrange(notes.map(frameOf));
    if (notes.length) this.board?.update(notes.map((n) => n.id), new Map(notes.map((n, i) => [n.id, { x: Math.round(places[i].x), y: Math.round(places[i].y) }])));
  }

  /** @param {import('./geometry.js').Point} by */
  nudge(by) {
    const ids = this.selected().filter((n) => !n.locked);
    if (!ids.length) return this.explainLock([...this.selection][0]);
    this.place((frames) => frames.map((f) => ({ x: f.x + by.x, y: f.y + by.y })));
    this.surface.reveal(ids[0].id);
  }

  /** @param {import('./geometry.js').Point} by */
  grow(by) {
    this.change('size', new Map(this.selected().map((n) => [n.id, {
      width: Math.max(leastSize.width, n.width + by.x), height: Math.max(leastSize.height, n.height + by.y),
    }])));
  }

  /** @param {1|-1} direction */
  stack(direction) {
    const all = [...this.surface.notes.values()], rest = all.filter((n) => !this.selection.has(n.id)).map((n) => n.z);
    const edge = rest.reduce((z, other) => direction > 0 ? Math.max(z, other) : Math.min(z, other), rest[0] ?? 0);
    const notes = this.selected().sort((a, b) => a.z - b.z), first = direction > 0 ? edge + 1 : edge - notes.length;
    this.board?.update(notes.map((n) => n.id), new Map(notes.map((n, i) => [n.id, { z: first + i }])));
    announce(direction > 0 ? 'Raised' : 'Lowered');
  }

  /** @param {import('./geometry.js').Point} [by] */
  duplicate(by = { x: 24, y: 24 }) {
    const ids = this.board?.duplicate(this.selection, by) ?? [];
    if (!ids.length) return;
    this.surface.apply({ inserted: ids, updated: [], removed: [] });
    this.select(ids), this.focusNote(ids[0], by.x !== 0);
  }

  async remove() {
    const notes = this.selected();
    if (!notes.length || !this.may('delete', this.selection) || !(await mayChange(notes, 'Delete'))) return;
    if (notes.length > 100 && !(await confirmed('Delete notes', `${this.countOf(notes.length)} are deleted.`, 'Delete'))) return;
    const next = neighbor(frameOf(notes[0]), this.surface.shown().filter((n) => !this.selection.has(n.id)), 'right');
    this.board?.delete(notes.map((n) => n.id));
    this.select([]);
    if (next && 'id' in next) this.focusNote(/** @type {Note} */ (next).id, false);
    this.report(notes.length === 1 ? 'Note deleted' : `${notes.length} notes deleted`, 'Undo', () => this.undo());
  }

  /** @param {boolean} [redo] */
  async undo(redo = false) {
    const { board } = this;
    if (!board) return;
    if (redo ? !board.canRedo : !board.canUndo) return this.report(redo ? 'There is nothing to redo' : 'There is nothing to undo');
    await this.attempt(async () => this.report(await (redo ? board.redo() : board.undo())));
  }

  // MARK: - Links

  /** Lets the user choose the note to which a link leads.
   * @param {string} from */
  arm(from) {
    this.armed = from;
    byID('view').classList.add('linking');
    this.bars.refreshSelection();
    this.report('Choose a note: click it, or go to it with the arrow keys and press Enter. Escape cancels.');
    const choose = (/** @type {KeyboardEvent} */ event) => {
      if (this.armed !== from) document.removeEventListener('keydown', choose, true);
      else if (event.key === 'Enter') accept(event);
    };
    const accept = (/** @type {KeyboardEvent} */ event) => {
      event.preventDefault(), event.stopPropagation(), document.removeEventListener('keydown', choose, true);
      this.linkArmed(this.focused);
    };
    document.addEventListener('keydown', choose, true);
  }

  disarm() {
    this.armed = null;
    byID('view').classList.remove('linking'), (byID('toast').hidden = true);
    this.bars.refreshSelection();
  }

  /** @param {string|null} to */
  linkArmed(to) {
    const from = this.armed, { board } = this, known = from ? this.surface.notes.get(from)?.links.find((l) => l.to === to) : undefined;
    this.disarm();
    if (!from || !to || from === to || !board) return;
    if (known) board.unlink(known.id);
    else board.link(from, to);
    this.report(known ? 'Link removed' : 'Linked', 'Undo', () => this.undo());
  }

  /** @param {import('./geometry.js').Point} at */
  placeArmed(at) {
    const from = this.armed;
    this.disarm();
    if (from) this.createLinked(from, at);
  }

  /** @param {string|null} id */
  markTarget(id) {
    for (const [other, { element }] of this.surface.views) element.classList.toggle('target', other === id);
  }

  /** @param {string} id @param {{x: number, y: number}|Element} place */
  showLinkMenu(id, place) {
    const link = [...this.surface.notes.values()].flatMap((n) => n.links).find((l) => l.id === id);
    const refusal = this.past ? this.refusal('update') : this.board?.refusalOfLink(id);
    if (!link || refusal) return refusal ? this.report(refusal) : undefined;
    menu('Link', [
      { name: 'Label …', icon: 'edit', run: async () => {
        const label = await ask('Label of the link', 'Label', link.label, 'Set');
        if (label !== null) this.board?.label(id, label);
      } },
      { name: 'Remove link', icon: 'trash', danger: true, run: () => this.board?.unlink(id) }], place);
  }

  // MARK: - Menus and messages

  /** The place at which a menu opens that the keyboard requested. */
  menuPlace() {
    const view = this.focused === null ? undefined : this.surface.views.get(this.focused);
    return view && !this.listShown ? view.element : document.activeElement ?? document.body;
  }

  /** @param {string|null} note @param {{x: number, y: number}|Element} place */
  showMenu(note, place) {
    const some = ['edit', 'tick', 'openLink', '', 'color', 'tag', 'untag', 'link', 'links', '', 'pin', 'lock', 'collapse', 'raise', 'lower', 'fitText', '', 'alignLeft', 'alignCenter', 'alignRight', 'alignTop', 'alignMiddle', 'alignBottom', 'spread', 'stackEven', 'tidy', '', 'duplicate', 'moveTo', 'details', '', 'delete'];
    const ids = note ? some : ['new', 'all', '', 'undo', 'redo', '', 'fit', 'list', 'filter', 'history', '', 'export', 'help'];
    const items = ids.map((id) => id ? this.command(id) : null).filter((c) => !c || (c.when?.() ?? true)).map((c) => c && menuItem(this, c));
    menu(note ? 'Note' : 'Board', items.filter((item, i) => item || (i > 0 && items[i - 1])), place);
  }

  /** @param {string} sentence @param {string} [action] @param {() => void} [run] */
  report(sentence, action, run) { toast(sentence.charAt(0).toUpperCase() + sentence.slice(1), action, run); }

  /** @param {string} id */
  explainLock(id) {
    const note = this.surface.notes.get(id);
    if (note?.locked) this.report(`Note ${note.number} is locked`, 'Unlock', () => this.board?.update([id], { locked: false }));
  }

  /** Runs a request and reports its failure.
   * @param {() => unknown} run */
  async attempt(run) {
    try { await run(); } catch (error) {
      if (error instanceof OutdatedPage) this.report(reason(error), 'Reload', () => location.reload());
      else this.report(reason(error));
    }
  }

  #showHint() {
    const hint = byID('hint'), { board, session } = this;
    const isEmpty = board !== null && board.notes.size === 0 && !board.isPart && !this.past && board.ready !== false;
    hint.hidden = !isEmpty && board !== null;
    hint.textContent = isEmpty ? (this.canWrite ? (coarse.matches ? 'Tap the plus and start to write.' : 'Double-click anywhere, or press N, and start to write.') : 'This board is empty.')
      : board ? '' : session.status.kind !== 'live' ? session.status.message : session.refusalOfNewBoard ? 'There are no boards.'
        : coarse.matches ? 'Tap the name at the top to make the first board.' : 'Press B to make the first board.';
  }

  // MARK: - Views

  /** @param {boolean} shows */
  showList(shows) {
    if (shows === this.listShown) return;
    this.endEditing();
    this.listShown = shows;
    byID('list').hidden = !shows, byID('view').hidden = shows;
    document.body.classList.toggle('listing', shows);
    this.bars.refresh();
    if (shows) this.list.refresh(), this.list.focus();
    else this.surface.invalidate(), this.focusSurface();
  }

  /** Opens the next or the previous board.
   * @param {1|-1} by */
  page(by) {
    const { boards } = this.session, at = boards.findIndex((b) => b.id === this.board?.id);
    if (boards.length) this.openBoard(boards[(at + by + boards.length) % boards.length].id);
  }

  /** Shows the notes of an earlier revision.
   * @param {Map<string, Note>} notes @param {import('./types').Entry} entry */
  showPast(notes, entry) {
    this.endEditing();
    const { camera } = this.surface, selection = [...this.selection].filter((id) => notes.has(id));
    this.past = entry;
    this.surface.load(notes), this.surface.setCamera(camera), this.select(selection, true), this.list.refresh();
    this.#showHint();
  }

  /** Shows the present again. */
  showNow() {
    if (!this.past || !this.board) return;
    this.past = null;
    this.surface.load(this.board.notes), this.select([]), this.#setRoving(), this.list.refresh(), this.#showHint(), this.focusSurface();
  }

  /** Whether only the notes near the view are in memory. The past is always complete. */
  get isPart() { return this.board?.isPart === true && !this.past; }

  /** The number of notes, of a large board with the total.
   * @param {number} count @param {number} [total] */
  countOf(count, total = this.board?.total) {
    return this.isPart ? `${count} of ${total} notes` : `${count} ${count === 1 ? 'note' : 'notes'}`;
  }

  /** Shows all of the board, of a large one also the places of the notes that are not in memory. */
  async fitBoard() {
    const { board } = this;
    if (!board || !this.isPart || this.isFiltered) return this.surface.fit();
    await this.attempt(async () => {
      const bounds = await board.bounds();
      if (board === this.board) this.surface.show(bounds);
    });
  }

  /** Moves the view to a note that is not in memory, and selects it when it arrives.
   * @param {string} id */
  async seek(id) {
    const { board } = this;
    if (!board) return;
    this.#sought = id;
    await this.attempt(async () => {
      const frame = await board.frame(id);
      if (board !== this.board || this.#sought !== id || this.surface.notes.has(id)) return;
      if (frame) this.surface.show(frame);
      else this.report('This note is no longer on the board');
    });
  }

  /** @param {string} id */
  #found(id) {
    this.select([id]), this.setFocused(id);
    if (!this.surface.index.get(id)) this.report('The filter hides this note', 'Show all', () => this.showAll());
  }

  /** Prints the notes; of a large board, also those that are not in memory. */
  async print() {
    const { board } = this;
    await this.attempt(async () => {
      this.#printed = board && this.isPart ? await board.everything() : null;
      window.print();
    });
  }

  /** Paper shows the notes in the order of reading, without the surface. */
  #preparePrint() {
    document.getElementById('paper')?.remove();
    const all = this.#printed ? [...this.#printed.values()].filter((note) => this.#passes(note)) : this.surface.shown();
    const notes = all.sort(readingOrder).slice(0, mostPrinted), total = this.isPart && !this.#printed ? Number(this.board?.total) : all.length;
    document.body.append(h('div', { id: 'paper' }, h('h1', { dir: 'auto' }, this.board?.name ?? ''),
      total > notes.length && h('p', null, `${notes.length} of ${total} notes; an export has all`), ...notes.map((n) => h('article', { 'data-color': n.color },
      h('div', { class: 'text', dir: 'auto' }, content(n)), h('footer', null, [String(n.number), ...n.tags.map((t) => t.name)].join(' · '))))));
  }
}

/** Closes dialogs and menus: what they are about is gone. The list of boards is about none of them.
 * @param {string} selector */
function closeDialogs(selector) {
  for (const node of /** @type {NodeListOf<HTMLDialogElement>} */ (document.querySelectorAll(selector))) node.close();
  document.querySelector('.menu')?.remove();
}

/** The board that the address names. */
const boardOfAddress = () => new URLSearchParams(location.hash.slice(1)).get('board') ?? '';

/** Whether the address has the code of a login, or the token of a share link. */
const hasSecret = () => ['code', 'share'].some((name) => new URLSearchParams(location.hash.slice(1)).has(name));

/** The notes on the clipboard with the links between them; anything else is ignored.
 * @param {string} json */
function readCopied(json) {
  try {
    const list = JSON.parse(json), size = (/** @type {unknown} */ v, /** @type {number} */ d) => typeof v === 'number' && Number.isFinite(v) ? v : d;
    const all = (/** @type {unknown} */ value) => Array.isArray(value) ? value : [];
    return all(list).map((n) => ({
      text: String(n?.text ?? ''), color: String(n?.color ?? 'yellow'), x: size(n?.x, 0), y: size(n?.y, 0), width: size(n?.width, 200), height: size(n?.height, 200),
      tags: all(n?.tags).filter((t) => typeof t === 'string').map((name) => ({ name })),
      links: all(n?.links).filter((l) => Number.isInteger(l?.to)).map((l) => ({ to: Number(l.to), label: String(l.label ?? '') })),
    }));
  } catch { return []; }
}

const app = new App(/** @type {any} */ (new Session()));
app.start();
