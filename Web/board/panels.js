// The panels: filter, details, conflicts, history, export, status and the keyboard map.

import { ago, announce, dialog, h, icon, iconButton, save } from './dom.js';
import { shownKey } from './commands.js';
import { colors } from './note.js';

/** @typedef {import('./app.js').App} App */
/** @typedef {import('./types').Entry} Entry */

/** The entries of the history that are loaded at a time. */
const pageLength = 200;

export class Panels {
  /** The bar of the history while it is open.
   * @type {HTMLElement|null} */
  historyBar = null;

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
    const count = () => { status.textContent = `${app.surface.index.size} of ${app.surface.notes.size} notes`; };
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
        button('Copy yours', () => navigator.clipboard.writeText(shownValue(c.mine))),
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
    /** @type {Entry[]} oldest first */
    let entries = [];
    let shown = -1, complete = false;
    const slider = h('input', { type: 'range', min: '0', 'aria-label': 'Revision', oninput: () => show(Number(slider.value)) });
    const what = h('p', { class: 'what' }), restoreNotes = h('button', { type: 'button', class: 'restore-notes', onclick: () => this.#restore(entries[shown], [...app.selection]) }, 'Restore note');
    const restoreBoard = h('button', { type: 'button', class: 'primary', onclick: () => this.#restore(entries[shown], null) }, 'Restore board');
    const bar = h('section', { class: 'bar history', 'aria-label': 'History' },
      h('div', { class: 'line' }, iconButton('left', 'Previous revision', () => show(shown - 1)), slider, iconButton('right', 'Next revision', () => show(shown + 1))),
      h('div', { class: 'line' }, what, h('div', { class: 'actions' }, restoreNotes, restoreBoard, iconButton('close', 'Back to now', () => this.closeHistory()))));
    const load = async () => {
      const page = await board.history({ limit: pageLength, ...(entries[0] && { before: entries[0].revision }) });
      complete = page.length < pageLength, entries = [...page.reverse(), ...entries];
      slider.max = String(entries.length - 1);
      return page.length;
    };
    let turn = 0;
    const show = async (/** @type {number} */ at) => {
      const mine = ++turn;
      if (at <= 0 && !complete) at += await load();
      shown = Math.max(0, Math.min(entries.length - 1, at)), (slider.value = String(shown));
      const entry = entries[shown];
      if (!entry) return void (what.textContent = 'This board has no history.');
      const sentence = `${entry.author || 'Unknown'} · ${entry.summary} · ${entry.at.toLocaleString([], { dateStyle: 'medium', timeStyle: 'short' })}`;
      what.replaceChildren(h('b', null, entry.author || 'Unknown'), ' ', entry.summary, h('span', null, entry.at.toLocaleString([], { dateStyle: 'medium', timeStyle: 'short' })));
      slider.setAttribute('aria-valuetext', sentence);
      const isNow = shown === entries.length - 1;
      restoreNotes.hidden = !app.selection.size;
      restoreBoard.disabled = restoreNotes.disabled = isNow || !board.canWrite || app.session.user?.canWrite === false;
      const notes = await board.at(entry.revision);
      if (mine !== turn || this.historyBar !== bar) return;
      const numbers = entry.notes.flatMap((id) => (notes.get(id) ?? board.notes.get(id))?.number ?? []);
      if (numbers.length) what.append(h('span', null, numbers.length > 8 ? `notes ${numbers.slice(0, 8).join(', ')} …` : `${numbers.length === 1 ? 'note' : 'notes'} ${numbers.join(', ')}`));
      app.showPast(notes, entry);
    };
    this.historyBar = bar;
    document.body.append(bar);
    document.body.classList.add('past');
    await app.attempt(async () => { await load(), await show(entries.length - 1); });
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
      ['SVG', 'svg', async () => (await import('./picture.js')).svgBlob(await notes())], ['PNG', 'png', async () => (await import('./picture.js')).pngBlob(await notes())],
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
      ...[...groups].map(([title, list]) => section(title, list.map((/** @type {import('./commands.js').Command} */ c) => [c.keys.slice(0, 2).map(shownKey).join(', '), c.name.replace(' …', '')]))),
      section('Arrow keys', arrows), section('While writing', typing), section('Mouse', mouse)));
  }
}

/** @param {unknown} value */
const shownValue = (value) => typeof value === 'string' ? value : value === null || value === undefined ? '' : JSON.stringify(value);

/** The sentence of an error.
 * @param {unknown} error */
export const reason = (error) => error instanceof Error ? error.message : String(error);

