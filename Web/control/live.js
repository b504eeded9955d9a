// The notes and links of a board as the user sees them: the server's objects with the unsent edits on top. A published
// revision or an edit changes only the notes and links that it touches; observers receive one difference for it.

import { idOf, isTemporary } from '../keep/intents.js';
import { differences, fromBytes, moved } from './splices.js';
import { Region } from './region.js';

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
   * @param {import('./rights.js').Operation} operation @param {Iterable<string>} [ids] */
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
   * @param {import('./rights.js').Rights} before @param {boolean} isNews whether the user has seen the former ones */
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
    this.refresh(notes, links, { mine: false });
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
    const all = [...unsent, ...(this.typed ? [idOf(this.typed.object)] : [])];
    return [...new Set(all)].filter((id) => !isTemporary(id) && this.notes.has(id));
  }

  /** @param {string} tag */
  #tagged(tag) { return [...this.notes.values()].filter((note) => note.tags.some((each) => each.id === tag)).map((note) => note.id); }

  // ---- What is visible

  /** Brings notes and links up to date, and announces the difference.
   * @param {Set<string>} noteIDs @param {Set<string>} linkIDs
   * @param {{mine: boolean, change?: import('../context/graph.js').GraphChange, renamed?: {from: string, to: string}[]}} about */
  refresh(noteIDs, linkIDs, { mine, change: published, renamed = [] }) {
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
    this.dispatchEvent(new CustomEvent('change', { detail: { inserted, updated, removed, renamed, mine } }));
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
export function makeNote(id, values, { number, tags, links, updatedBy, unsent }) {
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
