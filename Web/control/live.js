// The notes and links of a board as the user sees them: the server's objects with the unsent edits on top. A published
// revision or an edit changes only the notes and links that it touches; observers receive one difference for it.

import { differences, fromBytes, moved } from '../context/text.js';
import { change, idOf, isTemporary } from '../keep/queue.js';

/** @typedef {{id: string, number: number | string, text: string, title: string, color: string, x: number, y: number, width: number,
 *  height: number, z: number, pinned: boolean, collapsed: boolean, locked: boolean, board: string, origin: string | null,
 *  tags: {id: string, name: string}[], links: {id: string, to: string, label: string}[], createdAt: Date | null,
 *  updatedAt: Date | null, updatedBy: string, creator: string, unsent: boolean}} Note
 *  `creator` is the id of the user that made the note, `updatedBy` who changed it last while the page was open */
/** @typedef {{id: string, from: string, to: string, label: string, creator: string, unsent: boolean}} Link */
/** @typedef {{start: number, end: number, text: string}} TextChange in UTF-16 units of the text before it */

export class LiveBoard extends EventTarget {
  id;
  /** @type {Map<string, Note>} */
  notes = new Map();
  /** @type {Map<string, Link>} */
  links = new Map();
  /** Whether all visible notes have arrived. Until then, a copy from an earlier visit may be shown. */
  ready = false;
  isGone = false;
  /** Why the board is gone. */
  goneBecause = '';
  session;
  #region;
  /** The links that begin at a note.
   * @type {Map<string, Set<string>>} */
  #outgoing = new Map();
  /** New objects that may be those of an unanswered edit made here.
   * @type {Set<string>} */
  #held = new Set();
  /** Temporary ids of notes, and the ids that they have now.
   * @type {Map<string, string>} */
  aliases = new Map();
  /** The authors of the last changes.
   * @type {Map<string, string>} */
  #authors = new Map();
  /** The place where the user has written last.
   * @type {{object: string, end: number} | null} */
  typed = null;
  /** The note whose text the user has open.
   * @type {string | null} */
  edited = null;
  #name = '';

  /** @param {import('./session.js').Session} session @param {string} id */
  constructor(session, id) {
    super();
    this.id = id;
    this.session = session;
    this.#region = new Region(session, id, () => this.load(), () => this.#inUse());
    this.load();
  }

  get name() { return this.session.overlay.values(`Board/${this.id}`)?.name ?? this.#name; }
  /** Whether the user can make notes here. Others may still be read only: `refusal` says which. */
  get canWrite() { return this.refusal('insert') === ''; }
  /** The user's role on the board; null for none. */
  get role() { return this.session.rights.role(this.id); }

  /** Why the user can't make a note, or change or delete these; '' if nothing speaks against it.
   * @param {import('./account.js').Operation} operation @param {Iterable<string>} [ids] */
  refusal(operation, ids = []) {
    if (this.isGone) return this.goneBecause;
    const { rights } = this.session;
    const general = rights.refusal(operation, this.id);
    if (general || operation === 'insert' || rights.role(this.id) !== 'commenter') return general;
    for (const id of ids) {
      const note = this.notes.get(this.current(id));
      // A note that was just made here has no creator yet.
      if (!note || isTemporary(note.id)) continue;
      const found = rights.refusal(operation, this.id, note.creator, `note ${note.number}`);
      if (found) return found;
    }
    return '';
  }

  /** The roles of the user have changed.
   * @param {import('./account.js').Rights} before @param {boolean} isNews whether the user has seen the former ones */
  rightsDidChange(before, isNews) {
    const [old, now] = [before.role(this.id), this.role];
    if (old === now || this.isGone) return;
    const message = isNews && now ? `your role on this board is ${now} now` : '';
    this.dispatchEvent(new CustomEvent('rights', { detail: { message } }));
  }
  /** The number of notes of the board, also of those that are not in memory. */
  get total() { return this.isPart ? this.#region.total : this.notes.size; }
  /** Whether only the notes around the visible area are in memory. */
  get isPart() { return this.#region.isPart; }
  /** The rectangle around all notes, also those that are not in memory; null for none.
   * @returns {Promise<Area | null>} */
  async bounds() {
    const { rows: [row] } = await this.session.connection.fetch({
      entity: 'Note', where: `board == "${this.id}"`, result: 'rows', properties: '@min.x, @min.y, @max(x + width), @max(y + height)',
    });
    if (row.includes(null)) return null;
    const [left, top, right, bottom] = row.map(Number);
    return { x: left, y: top, width: right - left, height: bottom - top };
  }

  /** The rectangle of a note that is not in memory; null if it was deleted or is on another board.
   * @param {string} id @returns {Promise<Area | null>} */
  async frame(id) {
    const { objects: [found] } = await this.session.connection.fetch({ entity: 'Note', where: `id == "${id}" AND board == "${this.id}"` });
    if (!found) return null;
    const { x, y, width, height } = found.values;
    return { x, y, width, height };
  }

  /** The other people on this board. */
  get presence() { return this.session.people.filter((each) => each.board === this.id); }

  /** Follows the notes around the visible area, in points, if the board is too large for the memory.
   * @param {{x: number, y: number, width: number, height: number}} area */
  look(area) { this.#region.look(area); }

  /** Ends the board; it changes no longer. */
  close() {
    this.#region.close();
    this.session.forget(this);
  }

  // ---- Changes from outside

  /** Reads everything again: the first result has arrived, or another region. */
  load() {
    const { overlay, graph } = this.session;
    this.#name = overlay.values(`Board/${this.id}`)?.name ?? this.#name;
    const wasReady = this.ready;
    this.ready = this.#region.isReady;
    if (this.ready) this.session.copies.drop(this.id);
    const known = this.ready ? this.#region.ids : this.session.copies.ids(this.id);
    const links = new Set([...this.links.keys(), ...known.links, ...overlay.made('Link').map(idOf)]);
    const notes = new Set([...this.notes.keys(), ...known.notes, ...overlay.made('Note').map(idOf)]);
    for (const object of overlay.objects) if (object.startsWith('Note/')) notes.add(idOf(object));
    this.refresh(notes, links, { mine: false, isLoad: true });
    if (this.ready && !wasReady) this.dispatchEvent(new CustomEvent('ready'));
    if (this.ready && graph.get(this.id)) this.isGone = false;
  }

  /** Takes over a published revision.
   * @param {import('../context/graph.js').GraphChange} change */
  publish(change) {
    const { graph } = this.session;
    /** @type {Set<string>} */
    const notes = new Set();
    /** @type {Set<string>} */
    const links = new Set();
    for (const id of [...change.inserted, ...change.changed, ...change.removed]) {
      const entity = graph.get(id)?.entity;
      if (entity === 'Note' || this.notes.has(id)) notes.add(id);
      else if (entity === 'Link' || this.links.has(id)) links.add(id);
      else if (entity === 'Tag' || this.session.objects.tags.has(id)) for (const note of this.#tagged(id)) notes.add(note);
      if (change.author && entity === 'Note') this.#authors.set(id, change.author);
    }
    this.refresh(notes, links, { mine: false, change });
    const isThere = this.session.overlay.values(`Board/${this.id}`) !== null;
    if (this.session.boardsAreKnown && this.isGone === isThere) {
      this.isGone = !isThere;
      // The new roles arrive before what they hide.
      const isDeleted = change.deleted?.has(this.id) || this.role !== null;
      this.goneBecause = isDeleted ? `the board “${this.#name}” was deleted` : `you no longer see the board “${this.#name}”: your role on it has ended`;
      if (this.isGone) this.dispatchEvent(new CustomEvent('gone', { detail: { message: this.goneBecause } }));
    }
  }

  /** Takes over changes of the unsent edits.
   * @param {Iterable<string>} objects @param {Map<string, string>} names temporary names that became ids
   * @param {boolean} mine whether the user has just made them */
  unsentDidChange(objects, names, mine) {
    /** @type {{from: string, to: string}[]} */
    const renamed = [];
    for (const [from, to] of names) {
      const [old, id] = [idOf(from), idOf(to)];
      this.aliases.set(old, id);
      const note = this.notes.get(old);
      if (note) {
        this.notes.delete(old);
        this.notes.set(id, { ...note, id });
        renamed.push({ from: old, to: id });
      }
      const link = this.links.get(old);
      if (link) {
        this.links.delete(old);
        this.#outgoing.get(link.from)?.delete(old);
      }
      if (this.typed?.object === from) this.typed.object = to;
    }
    for (const { from, to } of renamed) {
      const outgoing = this.#outgoing.get(from);
      this.#outgoing.delete(from);
      if (outgoing) this.#outgoing.set(to, outgoing);
    }
    /** @type {Set<string>} */
    const notes = new Set();
    /** @type {Set<string>} */
    const links = new Set();
    for (const object of [...objects, ...names.values(), ...this.#held]) {
      if (object.startsWith('Note/')) notes.add(idOf(object));
      if (object.startsWith('Link/')) links.add(idOf(object));
      if (object.startsWith('Tag/')) for (const note of this.#tagged(idOf(object))) notes.add(note);
    }
    if (renamed.length > 0) for (const link of this.links.values()) links.add(link.id);
    this.#held.clear();
    this.refresh(notes, links, { mine, renamed });
  }

  /** The notes that stay in memory wherever the user looks: those with unsent edits, and the one that is edited. */
  #inUse() {
    const unsent = this.session.overlay.objects.filter((object) => object.startsWith('Note/')).map(idOf);
    const all = [...unsent, this.typed && idOf(this.typed.object), this.edited].flatMap((id) => id ?? []);
    return [...new Set(all)].filter((id) => !isTemporary(id) && this.notes.has(id));
  }

  /** @param {string} tag */
  #tagged(tag) { return [...this.notes.values()].filter((note) => note.tags.some((each) => each.id === tag)).map((note) => note.id); }

  // ---- What is visible

  /** Brings notes and links up to date, and announces the difference.
   * @param {Set<string>} noteIDs @param {Set<string>} linkIDs
   * @param {{mine: boolean, isLoad?: boolean, change?: import('../context/graph.js').GraphChange, renamed?: {from: string, to: string}[]}} about
   *  `isLoad`: other notes are in memory than before, and nothing has changed */
  refresh(noteIDs, linkIDs, { mine, isLoad = false, change: published, renamed = [] }) {
    const { overlay } = this.session;
    const notes = new Set(noteIDs);
    for (const id of linkIDs) {
      const old = this.links.get(id);
      const link = this.#isHeld(`Link/${id}`) ? null : this.#link(id);
      if (old) {
        this.#outgoing.get(old.from)?.delete(id);
        notes.add(old.from);
      }
      if (!link) {
        this.links.delete(id);
        continue;
      }
      this.links.set(id, link);
      const outgoing = this.#outgoing.get(link.from);
      if (outgoing) outgoing.add(id);
      else this.#outgoing.set(link.from, new Set([id]));
      notes.add(link.from);
    }
    /** @type {string[]} */
    const inserted = [];
    /** @type {string[]} */
    const removed = [];
    /** @type {{id: string, properties: string[], splices?: TextChange[]}[]} */
    const updated = [];
    for (const id of notes) {
      overlay.rebase(`Note/${id}`);
      const old = this.notes.get(id);
      const note = this.#isHeld(`Note/${id}`) ? null : this.#note(id);
      if (!note) {
        if (old) removed.push(id);
        this.notes.delete(id);
        continue;
      }
      this.notes.set(id, note);
      if (!old) {
        inserted.push(id);
        continue;
      }
      const properties = changedProperties(old, note);
      if (properties.length === 0) continue;
      const splices = old.text === note.text ? undefined : this.#textChanges(old, note, published);
      if (splices && !mine) this.#moveTyped(`Note/${id}`, splices);
      updated.push({ id, properties, ...(splices ? { splices } : {}) });
    }
    if (linkIDs.size + inserted.length + removed.length + updated.length + renamed.length === 0) return;
    this.dispatchEvent(new CustomEvent('change', { detail: { inserted, updated, removed, renamed, mine, isLoad } }));
  }

  /** Whether a new object is probably one that was made here and has no answer yet: it is visible by its temporary name.
   * @param {string} object */
  #isHeld(object) {
    const id = idOf(object);
    if (isTemporary(id) || this.notes.has(id) || this.links.has(id) || !this.session.objects.isTwin(object)) return false;
    this.#held.add(object);
    return true;
  }

  /** @param {string} id @returns {Note | null} */
  #note(id) {
    const object = `Note/${id}`;
    const values = this.session.overlay.values(object);
    if (!values || values.board !== this.id) return null;
    return makeNote(id, values, {
      number: values.number ?? this.session.objects.provisionalNumber(object),
      tags: this.session.objects.tagsOf(values.tags ?? []),
      links: [...this.#outgoing.get(id) ?? []].flatMap((link) => this.links.get(link) ?? []),
      updatedBy: this.#authors.get(id) ?? '',
      unsent: this.session.overlay.isUnsent(object),
    });
  }

  /** @param {string} id @returns {Link | null} */
  #link(id) {
    const values = this.session.overlay.values(`Link/${id}`);
    if (!values?.from || !values.to) return null;
    const { overlay } = this.session;
    if (overlay.values(`Note/${values.from}`)?.board !== this.id) return null;
    // Its end may be on another board, or too far away to be in memory; it goes when its end is deleted here.
    if (!overlay.values(`Note/${values.to}`) && this.session.stored(values.to)) return null;
    return { id, from: values.from, to: values.to, label: values.label ?? '', creator: values.creator ?? '', unsent: overlay.isUnsent(`Link/${id}`) };
  }

  /** The edits that lead from the old text to the new one: those of the commit where they do, else by comparison.
   * @param {Note} old @param {Note} note @param {import('../context/graph.js').GraphChange} [published] @returns {TextChange[]} */
  #textChanges(old, note, published) {
    const edits = (published?.edits.get(note.id) ?? []).filter((each) => each.property === 'text');
    let found = differences(old.text, note.text);
    const exact = edits.length === 1 ? edits[0].splices : undefined;
    if (exact && found.length > 0) {
      try {
        const made = fromBytes(exact, old.text);
        const [first, last] = [made[0], made[made.length - 1]];
        const grown = made.reduce((sum, each) => sum + each.insertion.length - each.length, 0);
        // A cheap check that they start from the visible text.
        if (old.text.length + grown === note.text.length && note.text.startsWith(old.text.slice(0, first.offset))
          && note.text.endsWith(old.text.slice(last.offset + last.length))) found = made;
      } catch {
        // The visible text has unsent edits, so the comparison stays.
      }
    }
    return found.map(({ offset, length, insertion }) => ({ start: offset, end: offset + length, text: insertion }));
  }

  /** @param {string} object @param {TextChange[]} changes */
  #moveTyped(object, changes) {
    if (this.typed?.object !== object) return;
    const list = changes.map(({ start, end, text }) => ({ offset: start, length: end - start, insertion: text }));
    this.typed.end = moved(this.typed.end, list, () => false);
  }

  /** Records where the user has written last, because text that is typed there continues that edit.
   * @param {string} object @param {number} end */
  remember(object, end) { this.typed = { object, end }; }

  /** The present id of a note, for one that was made here.
   * @param {string} id */
  current(id) { return this.aliases.get(id) ?? id; }
}

/** A note from the values of its object.
 * @param {string} id @param {Record<string, any>} values
 * @param {{number: number | string, tags: {id: string, name: string}[], links: {id: string, to: string, label: string}[], updatedBy: string, unsent: boolean}} rest
 * @returns {Note} */
function makeNote(id, values, { number, tags, links, updatedBy, unsent }) {
  const { text, color, x, y, width, height, z, pinned, collapsed, locked, board, origin } = values;
  return {
    id, number, text: text ?? '', title: title(text ?? ''), color, x, y, width, height, z, pinned, collapsed, locked, board,
    origin: origin ?? null, tags, links: links.map((link) => ({ id: link.id, to: link.to, label: link.label })),
    createdAt: date(values.created), updatedAt: date(values.updated), updatedBy, creator: values.creator ?? '', unsent,
  };
}

/** The first line with text, without Markdown's marks.
 * @param {string} text */
function title(text) {
  const line = /^[^\S\n]*(\S[^\n]*)/m.exec(text.slice(0, 2000));
  return line ? line[1].replace(/^(#{1,6} +|[-*+] +(\[[ xX]\] +)?|> +)/, '').trim().slice(0, 200) : '';
}

/** @param {number | bigint | null | undefined} microseconds since 1970 */
function date(microseconds) { return microseconds === null || microseconds === undefined ? null : new Date(Number(microseconds) / 1000); }

/** @param {Note} old @param {Note} note */
function changedProperties(old, note) {
  /** @type {string[]} */
  const names = [];
  for (const name in note) {
    const [a, b] = [old[/** @type {keyof Note} */ (name)], note[/** @type {keyof Note} */ (name)]];
    if (a !== b && !(typeof b === 'object' && isEqual(a, b))) names.push(name);
  }
  return names;
}

/** Whether two dates, or two lists of tags or links, are equal.
 * @param {any} a @param {any} b */
function isEqual(a, b) {
  if (a === null || b === null) return a === b;
  if (b instanceof Date) return a.getTime() === b.getTime();
  return a.length === b.length && a.every((/** @type {any} */ each, /** @type {number} */ index) => {
    const other = b[index];
    return each.id === other.id && each.name === other.name && each.to === other.to && each.label === other.label;
  });
}

// ---- Regions
//
// What a board follows on the server: all its notes and links, or of a large board the uppermost notes around what the
// user sees. A new region replaces the old one when it has arrived; one is being loaded at a time.

/** @typedef {{x: number, y: number, width: number, height: number}} Area */

/** Boards with more notes than this are followed in parts. */
const maximumNotes = 10_000;
/** The most notes of a part, the uppermost ones; the limit of a window. */
const partLimit = 1000;
/** The most notes that are followed wherever they are, because the user works on them. */
const maximumInUse = 100;

class Region {
  isReady = false;
  isPart = false;
  /** The number of the board's notes when the last part was read, if it is followed in parts. */
  total = 0;
  #session;
  #board;
  #onload;
  /** @type {import('../net/connection.js').Query | null} */
  #notes = null;
  /** @type {import('../net/connection.js').Query | null} */
  #links = null;
  /** @type {Area | null} */
  #covered = null;
  /** Whether the covered area has more notes than the window. */
  #isCut = false;
  /** @type {Area | null} */
  #wanted = null;
  #isLoading = false;
  #isClosed = false;
  #limit = partLimit;
  #inUse;

  /** @param {import('./session.js').Session} session @param {string} board
   * @param {() => void} onload called when a first result, or that of another region, has arrived
   * @param {() => string[]} inUse the notes that the user works on */
  constructor(session, board, onload, inUse) {
    this.#session = session;
    this.#board = board;
    this.#onload = onload;
    this.#inUse = inUse;
    this.#open();
  }

  /** The ids that the queries have. */
  get ids() { return { notes: this.#notes?.ids ?? [], links: this.#links?.ids ?? [] }; }

  get #where() { return `board == "${this.#board}"`; }

  async #open() {
    await this.#session.connected;
    if (this.#isClosed) return;
    try {
      await this.#count();
      if (this.#isClosed) return;
      this.isPart = this.total > maximumNotes;
      if (this.isPart) this.#load(this.#wanted ?? { x: 0, y: 0, width: 1600, height: 1000 });
      else this.#follow(this.#where, `from.board == "${this.#board}"`, undefined);
    } catch (error) {
      this.#fail(error);
    }
  }

  async #count() {
    const { count } = await this.#session.connection.fetch({ entity: 'Note', where: this.#where, result: 'count' });
    this.total = count;
  }

  /** @param {unknown} error */
  #fail(error) {
    if (this.#isClosed) return;
    const { code, message } = /** @type {{code?: string, message?: string}} */ (error);
    if (code !== 'unavailable') this.#session.notice(`the board can't be loaded: ${message}`);
    this.#isLoading = false;
    // Lost with the connection, or the store is busy: tried again.
    this.#session.later(() => { if (!this.isReady) this.#open(); }, code === 'unavailable' ? 500 : 10_000);
  }

  /** @param {string} notes @param {string} links @param {Area | undefined} area */
  async #follow(notes, links, area) {
    const { connection } = this.#session;
    const part = area ? { window: { sort: '-z', offset: 0, limit: this.#limit } } : {};
    const queries = [connection.subscribe({ entity: 'Note', where: notes, ...part }), connection.subscribe({ entity: 'Link', where: links })];
    try {
      await Promise.all([...queries.map((each) => each.ready), area ? this.#count().catch(() => {}) : null]);
    } catch (error) {
      for (const each of queries) each.close();
      // The rows of a window arrive in one message: with long texts only fewer fit.
      const { code } = /** @type {{code?: string}} */ (error);
      if (area && code === 'limit' && this.#limit > 1 && !this.#isClosed) {
        this.#limit = Math.floor(this.#limit / 2);
        return this.#load(this.#wanted ?? area);
      }
      return this.#fail(error);
    }
    if (this.#isClosed) {
      for (const each of queries) each.close();
      return;
    }
    const old = [this.#notes, this.#links];
    [this.#notes, this.#links] = queries;
    this.#covered = area ?? null;
    this.#isCut = area !== undefined && queries[0].total > queries[0].ids.length;
    this.isReady = true;
    this.#isLoading = false;
    for (const each of old) each?.close();
    this.#onload();
    if (this.#wanted && area) this.look(this.#wanted);
  }

  /** Follows the visible area if it is not in memory.
   * @param {Area} area in points */
  look(area) {
    this.#wanted = area;
    if (!this.isPart || this.#isLoading || this.#isClosed || serves(this.#covered, area, this.#isCut)) return;
    this.#load(area);
  }

  /** @param {Area} seen */
  #load({ x, y, width, height }) {
    this.#isLoading = true;
    const area = { x: x - width, y: y - height, width: 3 * width, height: 3 * height };
    const within = (/** @type {string} */ path) => [
      `${path}x < ${area.x + area.width}`, `${path}x + ${path}width > ${area.x}`,
      `${path}y < ${area.y + area.height}`, `${path}y + ${path}height > ${area.y}`,
    ].join(' AND ');
    const used = this.#inUse().slice(0, maximumInUse).map((id) => `"${id}"`).join(', ');
    const place = used ? `(${within('')} OR id IN {${used}})` : within('');
    this.#follow(`${this.#where} AND ${place}`, `from.board == "${this.#board}" AND ${within('from.')}`, area);
  }

  close() {
    this.#isClosed = true;
    this.#notes?.close();
    this.#links?.close();
  }
}

/** Whether a region contains the visible area and a quarter of a screen around it. A cut one lacks notes, and does not serve
 * a view that was enlarged since.
 * @param {Area | null} covered @param {Area} seen @param {boolean} isCut */
function serves(covered, seen, isCut) {
  if (!covered || (isCut && seen.width < covered.width / 6)) return false;
  const [dx, dy] = [seen.width / 4, seen.height / 4];
  return covered.x <= seen.x - dx && covered.x + covered.width >= seen.x + seen.width + dx
    && covered.y <= seen.y - dy && covered.y + covered.height >= seen.y + seen.height + dy;
}

// ---- The past
//
// The past of a board: its commits, its state at any revision, where a value comes from, and restoring.

/** @typedef {{revision: number, at: Date, author: string, summary: string, notes: string[]}} Entry  a commit: the ids of its notes */

/** The commits that are read at a time while those of this board are searched for. */
const batch = 100;
/** The most commits that are read for one page. */
const maximumRead = 2000;

export class Past {
  #session;
  #board;

  /** @param {import('./session.js').Session} session @param {import('./board.js').Board} board */
  constructor(session, board) {
    this.#session = session;
    this.#board = board;
  }

  get #connection() { return this.#session.connection; }

  /** A page of the commits that touch the board, newest first. It can be short or empty without being the last one, because
   * the commits of other boards lie in between.
   * @param {{limit?: number, before?: number}} [page] `before`: a revision
   * @returns {Promise<{entries: Entry[], next: number | null}>} `next`: the `before` of the next page; null at the beginning of history */
  async history(page = {}) {
    const { limit = 50, before = Infinity } = page;
    /** @type {Entry[]} */
    const entries = [];
    let next = before;
    for (let read = 0; read < maximumRead; read += batch) {
      if (next <= 1) return { entries, next: null };
      const commits = await this.#commits(next);
      for (const commit of commits) {
        const entry = this.#entry(commit);
        next = Number(commit.revision);
        if (entry && entries.push(entry) === limit) return { entries, next };
      }
      if (commits.length < batch) return { entries, next: null };
    }
    return { entries, next };
  }

  /** The newest commits before a revision.
   * @param {number} before @returns {Promise<any[]>} */
  async #commits(before) {
    const through = before === Infinity ? 0 : before - 1;
    try {
      return await this.#connection.log({ through, limit: batch, entities: ['Note', 'Link', 'Board'], changes: 200 });
    } catch (error) {
      // The history before was removed.
      if (through > 0 && /** @type {{code?: string}} */ (error).code === 'pruned') return [];
      throw error;
    }
  }

  /** @param {any} commit @returns {Entry | null} null for a commit of other boards */
  #entry(commit) {
    const notes = new Set();
    let isHere = Boolean(commit.unlisted);
    for (const { id, entity, object, edits } of commit.changes) {
      if (entity === 'Board' && id === this.#board.id) isHere = true;
      const values = object?.values ?? {};
      if (entity === 'Note' && (values.board === this.#board.id || this.#board.notes.has(id))) notes.add(id);
      if (entity === 'Link' && (this.#board.notes.has(values.from) || this.#board.notes.has(values.to))) isHere = true;
      // A note that was moved to another board was on this one.
      if (edits.some((/** @type {any} */ edit) => edit.property === 'board') && this.#board.notes.has(id)) isHere = true;
    }
    if (!isHere && notes.size === 0) return null;
    return {
      revision: Number(commit.revision), at: new Date(Number(commit.time) / 1000), author: commit.author,
      summary: summary(commit, notes.size), notes: /** @type {string[]} */ ([...notes]),
    };
  }

  /** The notes at a revision.
   * @param {number} revision @returns {Promise<Map<string, Note>>} */
  async at(revision) {
    const where = `board == "${this.#board.id}"`;
    const [notes, tags, links] = await Promise.all([
      this.#connection.fetch({ entity: 'Note', where, at: revision }), this.#connection.fetch({ entity: 'Tag', at: revision }),
      this.#connection.fetch({ entity: 'Link', where: `from.board == "${this.#board.id}"`, at: revision }),
    ]);
    const names = new Map(tags.objects.map(({ id, values }) => [id, values.name]));
    /** @type {Map<string, {id: string, to: string, label: string}[]>} */
    const linksOf = new Map();
    for (const { id, values: { from, to, label } } of links.objects) {
      const list = linksOf.get(from);
      if (list) list.push({ id, to, label });
      else linksOf.set(from, [{ id, to, label }]);
    }
    return new Map(notes.objects.map(({ id, values }) => [id, makeNote(id, values, {
      number: values.number, updatedBy: '', unsent: false, links: linksOf.get(id) ?? [],
      tags: (values.tags ?? []).flatMap((/** @type {string} */ tag) => names.has(tag) ? [{ id: tag, name: names.get(tag) }] : []),
    })]));
  }

  /** The first and the last revision that `at` can read. */
  async reach() {
    const [status] = await this.#connection.request('status', {});
    return { from: Math.max(1, Number(status.oldest)), to: Number(status.head.revision) };
  }

  /** The newest revision at a time.
   * @param {Date} date */
  async revisionAt(date) { return Number((await this.#connection.revisionAt(date.getTime() * 1000)).revision); }

  /** The origin of a property's value.
   * @param {string} id @param {string} property */
  async why(id, property) {
    const origin = await this.#connection.valueOrigin({ id, entity: 'Note' }, property);
    return {
      value: origin.value, previous: origin.previous, revision: Number(origin.revision), at: new Date(Number(origin.time) / 1000),
      author: origin.author, kind: origin.kind,
      lost: origin.overwritten.map((/** @type {any} */ each) => ({ value: each.value, author: each.author, at: new Date(Number(each.time) / 1000) })),
    };
  }

  /** Gives notes the values that they had: present objects are restored in one step, deleted ones return.
   * @param {string[]} ids @param {number} revision */
  async restore(ids, revision) {
    const past = await this.at(revision);
    /** @type {import('../keep/queue.js').Change[]} */
    const changes = [];
    /** @type {string[]} */
    const deleted = [];
    const names = /** @type {(keyof Note)[]} */ (['color', 'x', 'y', 'width', 'height', 'z', 'collapsed', 'pinned', 'locked']);
    for (const id of ids) {
      const old = past.get(id);
      const note = this.#board.notes.get(id);
      if (!old) continue;
      if (!note) {
        deleted.push(id);
        continue;
      }
      const made = change('update', `Note/${id}`, this.#session.overlay.base(`Note/${id}`));
      for (const name of names) if (old[name] !== note[name]) made.set[name] = old[name];
      if (old.text !== note.text) made.texts.text = this.#session.overlay.textEdit(made.object, differences(note.text, old.text));
      const [before, now] = [old, note].map((each) => new Set(each.tags.map((tag) => tag.id)));
      const add = [...before].filter((tag) => !now.has(tag) && this.#session.objects.tags.has(tag)).map((tag) => `Tag/${tag}`);
      const remove = [...now].filter((tag) => !before.has(tag)).map((tag) => `Tag/${tag}`);
      if (add.length + remove.length > 0) made.members.tags = { add, remove };
      changes.push(made);
    }
    if (changes.length > 0) this.#session.add(changes, this.#session.steps.gesture('Restore'));
    for (const id of deleted) await this.#session.steps.restore({ id: { id, entity: 'Note' } });
  }

  /** Restores the board with its notes as of a revision. Notes made since stay.
   * @param {number} revision */
  async restoreBoard(revision) {
    await this.#session.steps.restore({ revision, id: { id: this.#board.id, entity: 'Board' }, contents: true });
  }
}

// ---- The timeline
//
// The revisions of a board that the user goes through with a slider. One state is read at a time. Of the places that the slider
// passes meanwhile only the last is read, and earlier ones end the search for older commits. A state is shown with the
// entry that it belongs to, so that a failed read leaves both as they were.

/** The entries that are read at a time. */
const pageLength = 200;

export class Timeline {
  /** The commits of the board, oldest first.
   * @type {Entry[]} */
  entries = [];
  /** The place of the shown entry; -1 before the first read. */
  shown = -1;
  /** Whether the entries begin with the board's first commit. */
  isComplete = false;
  /** Called with the notes of the shown entry. `isLast`: no other place is wanted by now.
   * @type {(notes: Map<string, any>, isLast: boolean) => void} */
  onshow = () => {};
  /** Called when a page of history has no commit of the board, with the revision before which the search goes on.
   * @type {(before: number) => void} */
  onsearch = () => {};
  /** Called when a read has failed; the shown entry stays.
   * @type {(error: unknown) => void} */
  onfail = () => {};
  #board;
  /** @type {number | null | undefined} */
  #next;
  /** @type {number | null} */
  #wanted = null;
  #isReading = false;
  #isEnded = false;

  /** @param {{history: (page: {limit: number, before?: number}) => Promise<{entries: Entry[], next: number | null}>,
   *  at: (revision: number) => Promise<Map<string, any>>}} board */
  constructor(board) { this.#board = board; }

  /** The shown entry. */
  get entry() { return this.entries[this.shown]; }

  /** Shows the newest entry. */
  start() { return this.go(0); }

  /** Shows the entry at a place. At the first entry, earlier ones are read.
   * @param {number} place */
  async go(place) {
    this.#wanted = place;
    if (this.#isReading) return;
    this.#isReading = true;
    try {
      while (this.#wanted !== null && !this.#isEnded) {
        place = this.#wanted;
        this.#wanted = null;
        await this.#show(place);
      }
    } catch (error) {
      this.#wanted = null;
      if (!this.#isEnded) this.onfail(error);
    } finally {
      this.#isReading = false;
    }
  }

  /** Nothing is shown any longer. */
  end() { this.#isEnded = true; }

  /** Whether what is being read is of no use any longer. */
  get #isOvertaken() { return this.#isEnded || this.#wanted !== null; }

  /** @param {number} place */
  async #show(place) {
    const before = this.entries.length;
    if ((place <= 0 || before === 0) && !this.isComplete) {
      await this.#load();
      if (this.#isOvertaken) return;
      place = before === 0 ? this.entries.length - 1 : place + this.entries.length - before;
    }
    place = Math.max(0, Math.min(this.entries.length - 1, place));
    const entry = this.entries[place];
    if (!entry) return this.onshow(new Map(), true);
    const notes = await this.#board.at(entry.revision);
    if (this.#isEnded) return;
    this.shown = place;
    this.onshow(notes, this.#wanted === null);
  }

  /** Reads pages until one has entries. */
  async #load() {
    while (!this.isComplete && !this.#isOvertaken) {
      const { entries, next } = await this.#board.history({ limit: pageLength, ...(this.#next ? { before: this.#next } : {}) });
      this.#next = next;
      this.isComplete = next === null;
      const count = entries.length;
      this.entries = [...entries.reverse(), ...this.entries];
      if (this.shown >= 0) this.shown += count;
      if (this.#wanted !== null) this.#wanted += count;
      if (count > 0) return;
      if (next !== null && !this.#isEnded) this.onsearch(next);
    }
  }
}

/** What a commit did, in a few words.
 * @param {any} commit @param {number} count the number of its notes */
function summary(commit, count) {
  const what = commit.undo?.name || deeds(commit.changes);
  const name = commit.undoes ? (commit.redoes ? `redid “${what}”` : `undid “${what}”`) : what;
  return count > 1 ? `${name} (${count} notes)` : name;
}

/** @param {any[]} changes */
function deeds(changes) {
  const kinds = new Set(changes.map((each) => each.kind));
  if (kinds.has('insert')) return 'added';
  if (kinds.has('revive')) return 'restored';
  if (kinds.has('delete')) return 'deleted';
  const properties = new Set(changes.flatMap((each) => each.edits.map((/** @type {any} */ edit) => edit.property)));
  if (properties.has('text')) return 'wrote';
  if (properties.has('x') || properties.has('y')) return 'moved';
  return properties.size > 0 ? `changed ${[...properties].slice(0, 3).join(', ')}` : 'changed';
}
