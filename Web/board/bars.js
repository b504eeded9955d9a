// The bars around the surface: the board and its status, people, search, tools, zoom, and the tools of the selection.

import { announce, byID, h, icon, iconButton, menu } from './dom.js';
import { blocked, menuItem, paletteItems, shownKey } from './commands.js';
import { toScreen, union } from './geometry.js';
import { Overview } from './overview.js';

/** @typedef {import('./app.js').App} App */

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
        this.boardButton = h('button', { type: 'button', class: 'board-button', title: 'Boards (b)', onclick: () => app.run(command('boards')) }, icon('menu'), this.name),
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
   * @param {HTMLButtonElement} node @param {import('./commands.js').Command} command */
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
    const query = this.input.value.trim(), turn = ++this.#searchTurn, { board } = this.app;
    clearTimeout(this.#searchTimer);
    if (!query || !board) return this.#show('', []);
    const here = board.searchHere?.(query);
    if (here) this.#show(query, here.map((f) => f.id));
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
    this.#query = query;
    this.matches = ids.filter((id) => app.surface.index.get(id));
    if (isNew) this.#match = -1;
    byID('notes').classList.toggle('searching', query !== '');
    this.#count(), this.mark();
    if (isNew && this.matches.length && !this.matches.some((id) => app.surface.views.has(id))) app.surface.reveal(this.matches[0]);
    app.list.refresh();
  }

  #count() {
    const place = this.#match >= 0 ? `${this.#match + 1} / ` : '';
    this.count.textContent = !this.#query ? '' : this.matches.length ? place + this.matches.length : 'None';
  }

  /** Highlights the words in the visible notes. The highlights are ranges: the nodes stay as they are. */
  mark() {
    const matches = new Set(this.matches), words = this.#query.toLocaleLowerCase().split(/\s+/).filter(Boolean), ranges = [];
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
    app.select([id]), app.setFocused(id), app.surface.reveal(id), this.#count();
    announce(`Match ${this.#match + 1} of ${matches.length}`);
  }
}

/** The ranges of the words in an element's text.
 * @param {Element} element @param {string[]} words */
function wordRanges(element, words) {
  const ranges = [], walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const text = (node.textContent ?? '').toLocaleLowerCase();
    for (const word of words) {
      for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + word.length)) {
        if (at + word.length > (node.textContent ?? '').length) break;
        const range = document.createRange();
        range.setStart(node, at), range.setEnd(node, at + word.length), ranges.push(range);
      }
    }
  }
  return ranges;
}
