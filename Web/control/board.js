// The user's actions on a board. Each edit is one undo step, or part of the step of a gesture.

import { change, idOf, isTemporary } from '../keep/intents.js';
import { jsonLines, markdown } from './exports.js';
import { beside, frames, piled } from './layout.js';
import { LiveBoard } from './live.js';
import { Past } from './past.js';
import { find, parse, predicate } from './search.js';
import { differences, splice } from './splices.js';

/** @typedef {import('../keep/intents.js').Change} Change */
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
   * @param {import('./rights.js').Operation} operation @param {Iterable<string>} [ids] of the notes */
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

  /** Makes notes in one step.
   * @param {Partial<Note>[]} list @param {Gesture} [gesture] @returns {string[]} */
  insertMany(list, gesture) {
    if (list.length === 0 || !this.#may('insert')) return [];
    const step = gesture ?? this.gesture(list.length === 1 ? 'New Note' : 'New Notes');
    const hasPlace = (/** @type {Partial<Note>} */ each) => Number.isFinite(each.x) && Number.isFinite(each.y);
    const homeless = list.filter((each) => !hasPlace(each));
    const places = this.place(homeless.map(({ width = 200, height = 200 }) => ({ width, height })));
    let top = this.#top();
    const made = list.map((values) => {
      const object = this.session.name('Note', step);
      const insert = change('insert', object);
      for (const name of settable) {
        const value = values[/** @type {keyof Note} */ (name)];
        if (isValue(value)) insert.set[name] = value;
      }
      const place = hasPlace(values)
        ? beside({ x: Number(values.x), y: Number(values.y), width: 1, height: 1 }, this.notes.values()) : places[homeless.indexOf(values)];
      Object.assign(insert.set, { x: place.x, y: place.y });
      if (values.z === undefined) insert.set.z = top += 1;
      insert.set.board = `Board/${this.id}`;
      if (values.tags?.length) insert.set.tags = values.tags.map((tag) => `Tag/${tag.id}`);
      return insert;
    });
    this.#add(made, step, step.name);
    return made.map((each) => idOf(each.object));
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

  /** Copies notes with their tags and the links between them, in one step.
   * @param {Iterable<string>} ids @returns {string[]} the temporary ids of the copies */
  duplicate(ids) {
    const notes = this.#all(ids);
    const step = this.gesture('Duplicate');
    const copies = this.insertMany(notes.map((note) => ({ ...note, x: note.x + 24, y: note.y + 24, z: undefined })), step);
    const copyOf = new Map(notes.map((note, index) => [note.id, copies[index]]));
    for (const link of [...this.links.values()]) {
      const [from, to] = [copyOf.get(link.from), copyOf.get(link.to)];
      if (from && to) this.link(from, to, link.label, step);
    }
    return copies;
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

  /** @param {{limit?: number, before?: number}} [page] */
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
    const note = own.note ? this.current(own.note) : null;
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
