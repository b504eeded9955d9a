// The boards: the user's actions on one, and the list of all.

import { differences, splice } from '../context/text.js';
import { change, idHex, idOf, isTemporary } from '../keep/queue.js';
import { LiveBoard, Past } from './live.js';

// ---- A board
//
// The user's actions on a board. Each edit is one undo step, or part of the step of a gesture.

/** @typedef {import('../keep/queue.js').Change} Change */
/** @typedef {import('./live.js').Note} Note */
/** @typedef {import('./live.js').TextChange} TextChange */
/** @typedef {{group: number, name: string}} Gesture */

/** The properties of a note that a caller can set. */
const settable = ['text', 'color', 'x', 'y', 'width', 'height', 'z', 'collapsed', 'pinned', 'locked'];

export class Board extends LiveBoard {
  /** The past of the board. */
  past = new Past(this.session, this);

  get canUndo() { return this.session.steps.canUndo; }
  get canRedo() { return this.session.steps.canRedo; }

  /** Begins a gesture, such as a drag or typing in a note: its edits are one step of undo.
   * @param {string} name for a menu, "Undo NAME" @returns {Gesture} */
  gesture(name) { return this.session.steps.gesture(name); }

  /** Ends a gesture. Later edits with it would be another step.
   * @param {Gesture} gesture */
  end(gesture) { this.session.steps.end(gesture); }

  /** @param {Change[]} changes @param {Gesture | undefined} gesture @param {string} name */
  #add(changes, gesture, name) {
    if (changes.length > 0) this.session.add(changes, gesture ?? this.gesture(name));
  }

  /** Whether nothing speaks against an edit; otherwise the user sees why.
   * @param {import('./account.js').Operation} operation @param {Iterable<string>} [ids] of the notes */
  #may(operation, ids = []) {
    const refusal = this.refusal(operation, ids);
    if (refusal) this.session.notice(refusal);
    return refusal === '';
  }

  /** Why the user can't change or delete a link; '' if nothing speaks against it.
   * @param {string} id */
  refusalOfLink(id) {
    const link = this.links.get(this.current(id));
    if (this.isGone || !link) return this.goneBecause;
    return this.session.rights.refusal('update', this.id, isTemporary(link.id) ? null : link.creator, 'the link');
  }

  /** @param {string} id */
  #mayChangeLink(id) {
    const refusal = this.refusalOfLink(id);
    if (refusal) this.session.notice(refusal);
    return refusal === '';
  }

  /** @param {Iterable<string>} ids @returns {Note[]} */
  #all(ids) { return [...ids].flatMap((id) => this.notes.get(this.current(id)) ?? []); }

  /** @param {Note} note */
  #change(note) { return change('update', `Note/${note.id}`, this.session.overlay.base(`Note/${note.id}`)); }

  /** Makes a note. Without `x` and `y` it gets a free place beside the others.
   * @param {Partial<Note>} values @param {Gesture} [gesture] @returns {string} its temporary id; empty if the user can't write */
  insert(values, gesture) { return this.insertMany([values], gesture)[0] ?? ''; }

  /** Makes notes in one step, with their tags and the links between them.
   * @param {(Partial<Omit<Note, 'tags'>> & {tags?: {id?: string, name: string}[]})[]} list a tag without an id is that of its name
   * @param {Gesture} [gesture] @param {{from: number, to: number, label: string}[]} [links] by the places of the notes in the list
   * @returns {string[]} their temporary ids */
  insertMany(list, gesture, links = []) {
    if (list.length === 0 || !this.#may('insert')) return [];
    const step = gesture ?? this.gesture(list.length === 1 ? 'New Note' : 'New Notes');
    const hasPlace = (/** @type {{x?: number, y?: number}} */ each) => Number.isFinite(each.x) && Number.isFinite(each.y);
    const homeless = list.filter((each) => !hasPlace(each));
    const free = this.place(homeless.map(({ width = 200, height = 200 }) => ({ width, height })));
    const taken = corners(this.notes.values());
    let [top, used] = [this.#top(), 0];
    /** @type {Map<string, Change>} */
    const newTags = new Map();
    const made = list.map((values) => {
      const insert = change('insert', this.session.name('Note', step));
      for (const name of settable) {
        const value = values[/** @type {keyof typeof values} */ (name)];
        if (isValue(value)) insert.set[name] = value;
      }
      const place = hasPlace(values) ? beside({ x: Number(values.x), y: Number(values.y), width: 1, height: 1 }, taken) : free[used++];
      Object.assign(insert.set, { x: place.x, y: place.y });
      if (values.z === undefined) insert.set.z = top += 1;
      insert.set.board = `Board/${this.id}`;
      const tags = (values.tags ?? []).flatMap(({ id, name }) => (id ? `Tag/${id}` : this.#tagNamed(name, step, newTags) ?? []));
      if (tags.length > 0) insert.set.tags = [...new Set(tags)];
      return insert;
    });
    const arrows = links.map(({ from, to, label }) => {
      const insert = change('insert', this.session.name('Link', step));
      insert.set = { from: made[from].object, to: made[to].object, ...(label ? { label } : {}) };
      return insert;
    });
    // All in one: each further change of a step would look at all of the former ones.
    this.#add([...newTags.values(), ...made, ...arrows], step, step.name);
    return made.map((each) => idOf(each.object));
  }

  /** The object of the tag with a name; null for an empty name.
   * @param {string} name @param {Gesture} step @param {Map<string, Change>} made the tags that the step makes, to which a missing
   *  one is added */
  #tagNamed(name, step, made) {
    const wanted = name.trim();
    const known = wanted === '' ? undefined : this.session.objects.tagNamed(wanted);
    if (known || wanted === '') return known ? `Tag/${known}` : null;
    const insert = made.get(wanted) ?? { ...change('insert', this.session.name('Tag', step)), set: { name: wanted } };
    made.set(wanted, insert);
    return insert.object;
  }

  #top() {
    let top = 0;
    for (const { z } of this.notes.values()) top = Math.max(top, z);
    return top;
  }

  /** Free places for new notes, beside all others.
   * @param {{width: number, height: number}[]} sizes */
  place(sizes) { return frames(sizes, this.notes.values()); }

  /** Sets values of notes in one step.
   * @param {Iterable<string>} ids
   * @param {Partial<Note> | Map<string, Partial<Note>>} values for all, or for each by id; `board` moves them to another board
   * @param {Gesture} [gesture] */
  update(ids, values, gesture) {
    if (!this.#may('update', ids)) return;
    /** @type {Change[]} */
    const changes = [];
    for (const id of ids) {
      const note = this.notes.get(this.current(id));
      const wanted = values instanceof Map ? values.get(id) : values;
      if (!note || !wanted) continue;
      const made = this.#change(note);
      for (const name of settable) {
        const key = /** @type {keyof Note} */ (name);
        if (!isValue(wanted[key]) || wanted[key] === note[key]) continue;
        if (name === 'text') made.texts.text = this.session.overlay.textEdit(made.object, differences(note.text, String(wanted.text)));
        else made.set[name] = wanted[key];
      }
      if (wanted.board !== undefined && wanted.board !== note.board) made.set.board = `Board/${wanted.board}`;
      if (Object.keys(made.set).length + Object.keys(made.texts).length > 0) changes.push(made);
    }
    this.#add(changes, gesture, 'Change');
  }

  /** Edits the text of a note, as a text field reports it.
   * @param {string} id @param {TextChange} edit @param {Gesture} [gesture] */
  edit(id, edit, gesture) {
    const note = this.notes.get(this.current(id));
    if (!note || !this.#may('update', [id])) return;
    const made = this.#change(note);
    const step = splice(note.text, edit);
    if (step.length === 0 && step.insertion === '') return;
    if (this.typed?.object === made.object && this.typed.end === step.offset && step.insertion !== '') step.continues = true;
    made.texts.text = this.session.overlay.textEdit(made.object, [step]);
    this.remember(made.object, step.offset + step.insertion.length);
    this.#add([made], gesture, 'Edit Note');
  }

  /** Holds others' edits of a text back while the user composes a character.
   * @param {string} id @param {boolean} isOn */
  compose(id, isOn) {
    const object = `Note/${this.current(id)}`;
    this.session.overlay.compose(object, isOn);
    if (isOn) return;
    this.refresh(new Set([idOf(object)]), new Set(), { mine: false });
    this.session.pump();
  }

  /** Deletes notes in one step; undo brings them back.
   * @param {Iterable<string>} ids @param {Gesture} [gesture] */
  delete(ids, gesture) {
    if (!this.#may('delete', ids)) return;
    const notes = this.#all(ids);
    const gone = new Set(notes.map((note) => note.id));
    const made = notes.map((note) => change('delete', `Note/${note.id}`, this.session.overlay.base(`Note/${note.id}`)));
    const links = [...this.links.values()].filter((link) => gone.has(link.from) || gone.has(link.to));
    this.#add(made, gesture, notes.length === 1 ? 'Delete Note' : 'Delete Notes');
    // The server deletes their links.
    this.refresh(new Set(), new Set(links.map((link) => link.id)), { mine: true });
  }

  /** Removes a new note in which nothing was written, in the step that made it: neither undo nor redo shows it again.
   * @param {string} id @param {Gesture} gesture of its insert */
  withdraw(id, gesture) {
    this.delete([id], gesture);
    this.session.steps.ignore(gesture);
  }

  /** Raises notes above all others.
   * @param {Iterable<string>} ids @param {Gesture} [gesture] */
  raise(ids, gesture) { this.#pile(ids, true, gesture); }

  /** Lowers notes below all others.
   * @param {Iterable<string>} ids @param {Gesture} [gesture] */
  lower(ids, gesture) { this.#pile(ids, false, gesture); }

  /** @param {Iterable<string>} ids @param {boolean} isUp @param {Gesture} [gesture] */
  #pile(ids, isUp, gesture) {
    const notes = this.#all(ids);
    const heights = piled(notes, this.notes.values(), isUp);
    if (!heights) return;
    const values = new Map(notes.map((note) => [note.id, { z: heights.get(note.id) }]));
    this.update(values.keys(), values, gesture ?? this.gesture(isUp ? 'Raise' : 'Lower'));
  }

  /** Copies notes with their tags and the links between them, in one step. The copies lie above all notes, in the order of
   * the originals, and are neither locked nor pinned.
   * @param {Iterable<string>} ids @param {{x: number, y: number}} [by] from the originals
   * @returns {string[]} the temporary ids of the copies */
  duplicate(ids, by = { x: 24, y: 24 }) {
    const notes = this.#all(ids).sort((a, b) => a.z - b.z || (a.id < b.id ? -1 : 1));
    const placeOf = new Map(notes.map((note, index) => [note.id, index]));
    const links = notes.flatMap((note, from) => note.links.flatMap(({ to, label }) => {
      const end = placeOf.get(to);
      return end === undefined ? [] : [{ from, to: end, label }];
    }));
    const copies = notes.map(({ text, color, x, y, width, height, collapsed, tags }) => (
      { text, color, x: x + by.x, y: y + by.y, width, height, collapsed, tags }));
    return this.insertMany(copies, this.gesture('Duplicate'), links);
  }

  // ---- Tags and links

  /** Adds a tag to notes, and creates it if no tag has this name.
   * @param {Iterable<string>} ids @param {string} name @param {Gesture} [gesture] */
  tag(ids, name, gesture) {
    const wanted = name.trim();
    const notes = this.#all(ids).filter((note) => !note.tags.some((tag) => tag.name === wanted));
    if (wanted === '' || notes.length === 0 || !this.#may('update', notes.map((note) => note.id))) return;
    const step = gesture ?? this.gesture('Tag');
    const known = this.session.objects.tagNamed(wanted);
    const object = known ? `Tag/${known}` : this.session.name('Tag', step);
    const changes = notes.map((note) => ({ ...this.#change(note), members: { tags: { add: [object], remove: [] } } }));
    this.#add(known ? changes : [{ ...change('insert', object), set: { name: wanted } }, ...changes], step, step.name);
  }

  /** Removes a tag from notes.
   * @param {Iterable<string>} ids @param {string} name its name or its id @param {Gesture} [gesture] */
  untag(ids, name, gesture) {
    if (!this.#may('update', ids)) return;
    const changes = this.#all(ids).flatMap((note) => {
      const worn = note.tags.filter((tag) => tag.name === name || tag.id === name);
      return worn.length === 0 ? [] : [{ ...this.#change(note), members: { tags: { add: [], remove: worn.map((tag) => `Tag/${tag.id}`) } } }];
    });
    this.#add(changes, gesture, 'Untag');
  }

  /** Links two notes, unless they are linked.
   * @param {string} from @param {string} to @param {string} [label] @param {Gesture} [gesture] @returns {string} the link's id */
  link(from, to, label = '', gesture) {
    const [start, end] = [this.current(from), this.current(to)];
    const known = [...this.links.values()].find((link) => (
      (link.from === start && link.to === end) || (link.from === end && link.to === start)));
    if (known) return known.id;
    if (start === end || !this.notes.has(start) || !this.notes.has(end) || !this.#may('insert')) return '';
    const step = gesture ?? this.gesture('Link');
    const made = change('insert', this.session.name('Link', step));
    made.set = { from: `Note/${start}`, to: `Note/${end}`, ...(label ? { label } : {}) };
    this.#add([made], step, step.name);
    return idOf(made.object);
  }

  /** Removes a link.
   * @param {string} id @param {Gesture} [gesture] */
  unlink(id, gesture) {
    const link = this.links.get(this.current(id));
    if (!link || !this.#mayChangeLink(id)) return;
    this.#add([change('delete', `Link/${link.id}`, this.session.overlay.base(`Link/${link.id}`))], gesture, 'Unlink');
  }

  /** Writes the text beside a link.
   * @param {string} id @param {string} text @param {Gesture} [gesture] */
  label(id, text, gesture) {
    const link = this.links.get(this.current(id));
    if (!link || link.label === text || !this.#mayChangeLink(id)) return;
    const made = change('update', `Link/${link.id}`, this.session.overlay.base(`Link/${link.id}`));
    made.set.label = text;
    this.#add([made], gesture, 'Label');
  }

  // ---- Undo, history, search, presence

  /** Undoes the user's newest step.
   * @returns {Promise<string>} a sentence that says what was undone */
  undo() { return this.session.steps.run(false); }
  /** Redoes what was undone last.
   * @returns {Promise<string>} */
  redo() { return this.session.steps.run(true); }

  /** @param {{limit?: number, before?: number}} [page] see `Past.history` */
  history(page) { return this.past.history(page); }
  /** @param {number} revision */
  at(revision) { return this.past.at(revision); }
  reach() { return this.past.reach(); }
  /** @param {Date} date */
  revisionAt(date) { return this.past.revisionAt(date); }
  /** @param {string} id @param {string} property */
  why(id, property) { return this.past.why(this.current(id), property); }
  /** @param {Iterable<string>} ids @param {number} revision */
  restore(ids, revision) { return this.past.restore([...ids].map((id) => this.current(id)), revision); }
  /** @param {number} revision */
  restoreBoard(revision) { return this.past.restoreBoard(revision); }

  /** Searches the notes in memory, at once.
   * @param {string} text @returns {{id: string, ranges: {start: number, end: number}[]}[]} */
  searchHere(text) {
    const query = parse(text);
    return [...this.notes.values()].flatMap((note) => {
      const ranges = find(query, note.text);
      return ranges ? [{ id: note.id, ranges }] : [];
    });
  }

  /** Searches the notes in memory and on the server. Without the server, those in memory.
   * @param {string} text words, or between slashes a regular expression
   * @returns {Promise<{id: string, ranges: {start: number, end: number}[]}[]>} */
  async search(text) {
    const condition = predicate(text);
    const here = /^\/.*\/$/s.test(text.trim()) ? [] : this.searchHere(text);
    if (!condition || !this.session.isLive) return here;
    const { objects } = await this.session.connection.fetch({
      entity: 'Note', where: `board == "${this.id}" AND ${condition}`, result: 'identifiers', limit: 10_000,
    });
    const found = new Map(here.map((each) => [each.id, each]));
    for (const { id } of objects) if (!found.has(id)) found.set(id, { id, ranges: this.#matches(id, text) });
    return [...found.values()];
  }

  /** The matches of a regular expression in a note, where the browser's engine reads it as the server's.
   * @param {string} id @param {string} text */
  #matches(id, text) {
    const note = this.notes.get(id);
    const pattern = /^\/(.+)\/$/s.exec(text.trim());
    if (!note || !pattern || note.text.length > 100_000 || pattern[1].length > 100 || /[*+}]\)?[*+{]|\)[*+{]/.test(pattern[1])) return [];
    try {
      return [...note.text.matchAll(new RegExp(pattern[1], 'gu'))].filter((match) => match[0] !== '').slice(0, 1000)
        .map((match) => ({ start: match.index ?? 0, end: (match.index ?? 0) + match[0].length }));
    } catch {
      return [];
    }
  }

  /** Shows the others where the user is.
   * @param {{cursor?: {x: number, y: number} | null, note?: string | null, caret?: number | null,
   *  view?: {x: number, y: number, width: number, height: number} | null}} own */
  setPresence(own) {
    const note = this.edited = own.note ? this.current(own.note) : null;
    this.session.setPresence({ ...own, board: this.id, note: note && !isTemporary(note) ? note : null });
  }

  /** All notes, also those of a large board that are not in memory; these as the server has them.
   * @returns {Promise<Map<string, Note>>} */
  async everything() {
    if (!this.isPart) return this.notes;
    return this.past.at((await this.reach()).to);
  }

  /** @param {'markdown' | 'json'} form json: JSON Lines, as `stickies import` reads them */
  exportAs(form) {
    const { name, id, links } = this, { color } = this.session.overlay.values(`Board/${id}`) ?? {};
    const write = (/** @type {Iterable<Note>} */ notes, /** @type {Iterable<{id: string, from: string, to: string, label: string}>} */ all) => (
      form === 'markdown' ? markdown(name, notes) : jsonLines({ id, name, color }, notes, all));
    if (!this.isPart) return write(this.notes.values(), links.values());
    return this.everything().then((notes) => write(notes.values(), [...notes.values()].flatMap((note) => note.links.map((link) => ({ ...link, from: note.id })))));
  }
}

/** Whether a value can be set: a number that is not finite has no form in JSON.
 * @param {unknown} value */
function isValue(value) { return value !== undefined && (typeof value !== 'number' || Number.isFinite(value)); }

// ---- Places
//
// Places for new notes, and their order in the pile.

/** @typedef {{x: number, y: number, width: number, height: number}} Frame */

/** The space between two notes, in points. */
const gap = 24;
/** Notes beyond this coordinate are ignored: new notes beside them could not share a screen with any other. */
const farthest = 1e9;

/** Frames for new notes: a grid beside the board's notes, in columns, somewhat wider than high. None overlaps another.
 * The grid is the terminal's (NoteLayout).
 * @param {{width: number, height: number}[]} sizes @param {Iterable<Frame>} occupied @returns {Frame[]} */
export function frames(sizes, occupied) {
  let [left, top, isEmpty] = [-Infinity, Infinity, true];
  for (const { x, y, width } of occupied) {
    if (!(Math.abs(x) < farthest && Math.abs(y) < farthest && width < farthest)) continue;
    isEmpty = false;
    left = Math.max(left, x + width + gap);
    top = Math.min(top, y);
  }
  if (isEmpty) [left, top] = [0, 0];
  let [area, tallest] = [0, 0];
  for (const { width, height } of sizes) {
    area += (width + gap) * (height + gap);
    tallest = Math.max(tallest, height);
  }
  const limit = top + Math.max(tallest, Math.sqrt(area / 1.5));
  let [x, y, column] = [left, top, 0];
  return sizes.map(({ width, height }) => {
    if (y > top && y + height > limit) [x, y, column] = [x + column + gap, top, 0];
    const frame = { x, y, width, height };
    y += height + gap;
    column = Math.max(column, width);
    return frame;
  });
}

/** The corners of notes, for `beside`.
 * @param {Iterable<{x: number, y: number}>} notes */
export function corners(notes) {
  /** @type {Set<string>} */
  const found = new Set();
  for (const { x, y } of notes) found.add(`${x} ${y}`);
  return found;
}

/** The frame itself, or the nearest one to its right and below whose corner is not taken.
 * @param {Frame} frame @param {Set<string>} taken @returns {Frame} */
export function beside(frame, taken) {
  let { x, y } = frame;
  // Far out, adding 16 to a number does not change it.
  while (taken.has(`${x} ${y}`) && Math.min(Math.abs(x), Math.abs(y)) < farthest) [x, y] = [x + 16, y + 16];
  return { ...frame, x, y };
}

/** The `z` that puts notes above all others, or below; null if they are there. The order among them stays.
 * @param {{id: string, z: number}[]} moved @param {Iterable<{id: string, z: number}>} all @param {boolean} isUp
 * @returns {Map<string, number> | null} */
export function piled(moved, all, isUp) {
  const ids = new Set(moved.map((each) => each.id));
  let edge = isUp ? -Infinity : Infinity;
  for (const { id, z } of all) if (!ids.has(id)) edge = isUp ? Math.max(edge, z) : Math.min(edge, z);
  if (!Number.isFinite(edge) || moved.every(({ z }) => isUp ? z > edge : z < edge)) return null;
  const sorted = [...moved].sort((a, b) => a.z - b.z || (a.id < b.id ? -1 : 1));
  return new Map(sorted.map(({ id }, index) => [id, isUp ? edge + 1 + index : edge - sorted.length + index]));
}

// ---- Search
//
// Searching texts in the browser, as the server's SEARCH does: each word of the query is a prefix of a word of the text,
// or in scripts without spaces occurs in a run. Case, diacritics and width are ignored.

/** The most units of a text that are searched for places to highlight. */
const maximumLength = 262_144;

const letter = /[\p{Alphabetic}\p{N}\p{Mn}\p{Mc}]/u;
const emoji = /\p{Emoji}/u;
const phrase = /[\p{Ideographic}\u0E00-\u0EFF\u1000-\u109F\uA9E0-\uA9FF\uAA60-\uAA7F\u1780-\u17FF\u1950-\u19DF\u1A20-\u1AAF\uAA80-\uAADF\u{11700}-\u{1174F}\u1B00-\u1B7F\uA980-\uA9DF\u3005\u303B\u3041-\u30FF\u31F0-\u31FF\u{1AFF0}-\u{1AFFF}\u{1B000}-\u{1B16F}]/u;

/** @typedef {'letter' | 'phrase' | null} Kind  null for a separator */
/** @typedef {{start: number, end: number}} Range in UTF-16 units */

/** @param {string} character folded @returns {Kind} */
function kindOf(character) {
  const code = /** @type {number} */ (character.codePointAt(0));
  if (code < 0x80) return (code >= 0x61 && code <= 0x7A) || (code >= 0x30 && code <= 0x39) ? 'letter' : null;
  if (!letter.test(character) && !(code > 0xFF && emoji.test(character))) return null;
  return phrase.test(character) ? 'phrase' : 'letter';
}

/** A character without case, diacritics and width; empty for a mark that belongs to the letter before it.
 * @param {string} character */
function folded(character) {
  if (character < '\x80') return character.toLowerCase();
  if (character === 'ı') return character;
  return character.normalize('NFKD').replace(/\p{Mn}/gu, '').toUpperCase().toLowerCase().replace(/ς/g, 'σ');
}

/** Visits the words of a text: their kind, and for each character its place and folded form.
 * @param {string} text @param {(kind: 'letter' | 'phrase', word: string, steps: {index: number, before: number}[], end: number) => void} visit */
function eachWord(text, visit) {
  /** @type {Kind} */
  let kind = null;
  let word = '';
  /** @type {{index: number, before: number}[]} */
  let steps = [];
  let index = 0;
  const finish = () => {
    if (kind) visit(kind, word, steps, index);
    [kind, word, steps] = [null, '', []];
  };
  for (const character of text) {
    const piece = folded(character);
    if (piece !== '') {
      const next = kindOf(piece);
      if (next !== kind) finish();
      if (next) {
        kind = next;
        steps.push({ index, before: word.length });
        word += piece;
      }
    }
    index += character.length;
  }
  finish();
}

/** A query: its words, folded. A query without words finds nothing.
 * @param {string} text @returns {{kind: 'letter' | 'phrase', word: string}[]} */
export function parse(text) {
  /** @type {{kind: 'letter' | 'phrase', word: string}[]} */
  const words = [];
  eachWord(text, (kind, word) => { words.push({ kind, word }); });
  return words;
}

/** The places to highlight in a text that matches; null if it does not match.
 * @param {{kind: 'letter' | 'phrase', word: string}[]} query @param {string} text @returns {Range[] | null} */
export function find(query, text) {
  if (query.length === 0) return null;
  const { ranges, missing } = places(query, text);
  return missing.size === 0 ? ranges : null;
}

/** The places of a query's words in a text, and the words that it lacks.
 * @param {{kind: 'letter' | 'phrase', word: string}[]} query @param {string} text */
export function places(query, text) {
  const missing = new Set(query);
  /** @type {Range[]} */
  const ranges = [];
  eachWord(text.length > maximumLength ? text.slice(0, maximumLength) : text, (kind, word, steps, end) => {
    const endOf = (/** @type {number} */ length) => steps.find((step) => step.before >= length)?.index ?? end;
    if (kind === 'letter') {
      let longest = 0;
      for (const each of query) {
        if (each.kind !== 'letter' || !word.startsWith(each.word)) continue;
        missing.delete(each);
        longest = Math.max(longest, each.word.length);
      }
      if (longest > 0) ranges.push({ start: steps[0].index, end: endOf(longest) });
      return;
    }
    let covered = 0;
    for (const { index, before } of steps) {
      for (const each of query) {
        if (each.kind !== 'phrase' || !word.startsWith(each.word, before)) continue;
        missing.delete(each);
        const length = before + each.word.length;
        if (length <= covered) continue;
        const last = ranges[ranges.length - 1];
        if (before < covered && last) last.end = endOf(length);
        else ranges.push({ start: index, end: endOf(length) });
        covered = length;
      }
    }
  });
  return { ranges, missing };
}

/** A string of the predicate language.
 * @param {string} text */
export function quoted(text) {
  return `"${text.replace(/[\\"]/g, '\\$&').replace(/\n/g, '\\n').replace(/\t/g, '\\t')}"`;
}

/** The server's condition for a search: words, or between slashes a regular expression.
 * @param {string} text @returns {string | null} null for a text without words */
export function predicate(text) {
  const pattern = /^\/(.+)\/$/s.exec(text.trim());
  if (pattern) return `text MATCHES ${quoted(`(.|\\n)*(${pattern[1]})(.|\\n)*`)}`;
  return parse(text).length > 0 ? `text SEARCH ${quoted(text)}` : null;
}

// ---- Export
//
// A board as a text: Markdown to read, and JSON Lines that `stickies import` reads.

/** @typedef {{id: string, name: string}} Named */
/** @typedef {{id: string, from: string, to: string, label: string}} Link */

/** Notes as people read them: from top to bottom, and from left to right within a row.
 * @param {Iterable<Note>} notes */
function inOrder(notes) {
  return [...notes].sort((a, b) => a.y - b.y || a.x - b.x || (a.id < b.id ? -1 : 1));
}

/** The board as one Markdown document: a section for each note, with its number, color and tags in a comment.
 * @param {string} name @param {Iterable<Note>} notes */
export function markdown(name, notes) {
  const sections = inOrder(notes).map((note) => {
    const about = [`#${note.number}`.replace('#+', '+'), note.color, ...note.tags.map((tag) => tag.name)].join(' · ');
    // A comment ends at its first "--" with some readers.
    return `<!-- ${about.replace(/--/g, '- -').replace(/[\n\r>]/g, ' ')} -->\n\n${note.text.replace(/\n*$/, '')}\n`;
  });
  return [`# ${name.replace(/[\n\r]/g, ' ')}\n`, ...sections].join('\n---\n\n').replace('\n---\n\n', '\n');
}

/** The board as JSON Lines, as `stickies export` prints them: objects before those that refer to them.
 * @param {Named & {color?: string}} board @param {Iterable<Note>} notes @param {Iterable<Link>} links */
export function jsonLines(board, notes, links) {
  const list = inOrder(notes);
  /** @type {Map<string, object>} */
  const tags = new Map();
  for (const note of list) {
    for (const { id, name } of note.tags) tags.set(id, { id, entity: 'Tag', name });
  }
  const ids = new Set(list.map((note) => note.id));
  const lines = [
    { id: board.id, entity: 'Board', name: board.name, color: board.color ?? 'gray' }, ...tags.values(), ...list.map(plain),
    ...[...links].filter(({ from, to }) => ids.has(from) && ids.has(to)).map(({ id, from, to, label }) => (
      { id, entity: 'Link', from, label, to })),
  ];
  return lines.map((each) => `${JSON.stringify(each)}\n`).join('');
}

/** @param {Note} note */
function plain(note) {
  const { id, board, collapsed, color, createdAt, height, locked, number, origin, pinned, text, updatedAt, width, x, y, z } = note;
  return {
    id, entity: 'Note', board, collapsed, color, created: createdAt?.toISOString() ?? null, height, locked,
    number: typeof number === 'number' ? number : null, origin, pinned, tags: note.tags.map((tag) => tag.id), text,
    updated: updatedAt?.toISOString() ?? null, width, x, y, z,
  };
}

// ---- The list of boards
//
// The list of boards with the numbers of their notes, and their creation, renaming and deletion. The server decides these
// at once, because the name of a board is unique.

/** @typedef {{id: string, name: string, color: string, notes: number | null, isReadOnly: boolean, canRename: boolean, canDelete: boolean,
 *  canShare: boolean}} Entry
 *  `notes` is null while it is unknown */

const byName = new Intl.Collator(undefined, { numeric: true });
/** The least time between two counts, in milliseconds. */
const pause = 1000;

export class Boards {
  #session;
  /** @type {Map<string, number>} */
  #counts = new Map();
  /** The boards by name; null after a change.
   * @type {Entry[] | null} */
  #list = null;
  #isCounted = false;
  #isCounting = false;
  #due = 0;

  /** @param {import('./session.js').Session} session */
  constructor(session) { this.#session = session; }

  /** Call it after each change of the boards: sorting thousands of names takes longer than a frame. */
  invalidate() { this.#list = null; }

  /** The boards by name.
   * @param {() => Iterable<string>} ids @param {Iterable<import('./live.js').LiveBoard>} open @returns {Entry[]} */
  list(ids, open) {
    const list = this.#list ??= this.#read(ids());
    for (const board of open) {
      const entry = board.ready ? list.find((each) => each.id === board.id) : undefined;
      if (entry) entry.notes = board.total;
    }
    return list;
  }

  /** @param {Iterable<string>} ids */
  #read(ids) {
    const list = [...new Set(ids)].flatMap((id) => {
      const values = this.#session.overlay.values(`Board/${id}`);
      if (!values) return [];
      const known = this.#isCounted ? this.#counts.get(id) ?? 0 : null;
      const { rights } = this.#session;
      return [{
        id, name: String(values.name), color: values.color ?? 'gray', notes: known,
        canRename: !rights.refusalOfBoard('update', id, values.creator), canDelete: !rights.refusalOfBoard('delete', id, values.creator),
        canShare: rights.role(id) === 'owner', isReadOnly: Boolean(rights.refusal('insert', id)),
      }];
    });
    return list.sort((a, b) => byName.compare(a.name, b.name) || (a.id < b.id ? -1 : 1));
  }

  /** Counts the notes of all boards again.
   * @param {number} now @returns {Promise<boolean>} whether a number has changed */
  async count(now) {
    if (!this.#session.isLive || this.#isCounting || now < this.#due) return false;
    this.#isCounting = true;
    this.#due = now + pause;
    try {
      const { rows } = await this.#session.connection.fetch({
        entity: 'Note', result: 'rows', properties: 'board, @count', groupBy: 'board',
      });
      const counts = new Map(rows.map(([board, count]) => [String(board), Number(count)]));
      const isSame = this.#isCounted && counts.size === this.#counts.size && [...counts].every(([id, count]) => this.#counts.get(id) === count);
      this.#counts = counts;
      this.#isCounted = true;
      return !isSame;
    } catch {
      // The connection was lost; the list shows the old numbers.
      return false;
    } finally {
      this.#isCounting = false;
    }
  }

  /** @param {any} change @param {string} step for a menu, "Undo STEP" */
  async #commit(change, step) {
    const { unsent, steps, connection } = this.#session;
    if (!unsent || !this.#session.isLive) throw new Error('boards need the server; try again when it is back');
    const creator = change.kind === 'insert' ? null : this.#session.overlay.values(`Board/${change.id}`)?.creator;
    const refusal = this.#session.rights.refusalOfBoard(change.kind, change.kind === 'insert' ? '' : change.id, creator);
    if (refusal) throw new Error(refusal);
    const { group, name } = steps.gesture(step);
    const undo = { scope: idHex(steps.scope), group, name };
    // Behind the edits made so far, so that undo takes the steps in their order.
    const answer = await unsent.after(() => connection.commit({ policy: 'error', undo, changes: [change] }));
    steps.refresh();
    return answer;
  }

  /** @param {string} name @returns {Promise<string>} the id of the board */
  async create(name) {
    const values = { name: checked(name) };
    const { ids } = await this.#commit({ kind: 'insert', id: 'temporary 1', entity: 'Board', values }, 'New Board');
    return /** @type {string} */ (ids.get('temporary 1'));
  }

  /** @param {string} id @param {string} name */
  async rename(id, name) {
    const base = this.#session.overlay.base(`Board/${id}`) ?? 0;
    await this.#commit({ kind: 'update', id, entity: 'Board', base, values: { name: checked(name) } }, 'Rename Board');
  }

  /** Deletes a board with its notes; undo brings them back.
   * @param {string} id */
  async delete(id) {
    await this.#commit({ kind: 'delete', id: idOf(id), entity: 'Board', base: 0 }, 'Delete Board');
  }
}

/** @param {string} name @throws {Error} for a name that no board can have */
function checked(name) {
  const text = name.trim();
  const bytes = new TextEncoder().encode(text).length;
  if (bytes < 1 || bytes > 200) throw new Error('a board’s name has 1 to 200 bytes');
  return text;
}
