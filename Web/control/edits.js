// The user's edits: how the server's objects look with the unsent ones, undo and redo, and the repair of refused ones.

import { apply, differences, rebase } from '../context/text.js';
import { change, entityOf, idHex, idOf, isTemporary } from '../keep/queue.js';

// ---- The overlay
//
// What the user sees: the server's objects with the unsent edits on top. A text is a stack of layers, each a difference
// from the one below: the stored text, then the intents in their order. While a layer is on its way, or the user
// composes a character, the stack is not rebased, because it is not known which edits of others the server has ordered
// before it. Afterwards the layers are rebased over the difference.

/** @typedef {{id: string, entity: string, revision: number, values: Record<string, any>}} Stored an object as the server has it */
/** @typedef {import('../keep/queue.js').Change} Change */
/** @typedef {import('../keep/queue.js').Intent} Intent */

/** The values of an object that its insert does not set, by entity.
 * @type {Record<string, Record<string, any>>} */
const defaults = {
  Note: {
    text: '', color: 'yellow', x: 0, y: 0, width: 200, height: 200, z: 0, collapsed: false, pinned: false, locked: false,
    number: null, created: null, updated: null, origin: null, creator: null, board: null, tags: [],
  },
  Board: { name: '', color: 'gray', created: null },
  Tag: { name: '' },
  Link: { label: '', from: null, to: null },
};

/** @type {WeakMap<import('../keep/queue.js').TextEdit, string>} */
const results = new WeakMap();

/** The text after an edit.
 * @param {import('../keep/queue.js').TextEdit} edit */
function textAfter(edit) {
  let text = results.get(edit);
  if (text === undefined) {
    text = apply(edit.splices, edit.before);
    results.set(edit, text);
  }
  return text;
}

export class Overlay {
  #queue;
  #stored;
  /** The changes of each object, in order.
   * @type {Map<string, {intent: Intent, change: Change}[]> | null} */
  #index = null;
  /** Objects whose texts are being composed, with the text at that time.
   * @type {Map<string, {text: string, base?: number}>} */
  #composed = new Map();

  /** @param {{entries: Intent[]}} queue @param {(id: string) => Stored | undefined} stored the server's objects */
  constructor(queue, stored) {
    this.#queue = queue;
    this.#stored = stored;
  }

  /** Call it after each change of the queue. */
  invalidate() { this.#index = null; }

  /** @returns {Map<string, {intent: Intent, change: Change}[]>} */
  #changes() {
    if (this.#index) return this.#index;
    /** @type {Map<string, {intent: Intent, change: Change}[]>} */
    const index = new Map();
    for (const intent of this.#queue.entries) {
      for (const change of intent.changes) {
        const list = index.get(change.object);
        if (list) list.push({ intent, change });
        else index.set(change.object, [{ intent, change }]);
      }
    }
    this.#index = index;
    return index;
  }

  /** The objects that unsent edits make, of an entity.
   * @param {string} entity */
  made(entity) {
    const result = [];
    for (const [object, list] of this.#changes()) {
      if (list[0].change.kind === 'insert' && entityOf(object) === entity) result.push(object);
    }
    return result;
  }

  /** The objects with unsent edits. */
  get objects() { return [...this.#changes().keys()]; }

  /** Whether an object has edits that the server does not have.
   * @param {string} object */
  isUnsent(object) { return this.#changes().get(object)?.some(({ intent }) => intent.state !== 'answered') ?? false; }

  /** The visible values of an object; null if there is none, or if it is deleted here.
   * @param {string} object @returns {Record<string, any> | null} */
  values(object) {
    const stored = this.#stored(idOf(object));
    const list = this.#changes().get(object);
    const composed = this.#composed.get(object);
    if (!list) {
      if (!stored) return null;
      return composed === undefined ? stored.values : { ...stored.values, text: composed.text };
    }
    /** @type {Record<string, any> | null} */
    let values = stored ? { ...stored.values } : null;
    for (const { change } of list) {
      if (change.kind === 'delete') return null;
      if (change.kind === 'insert') values = { ...defaults[entityOf(object)], ...values };
      if (!values) continue;
      for (const [name, value] of Object.entries(change.set)) values[name] = withoutEntity(object, name, value);
      for (const [name, { add, remove }] of Object.entries(change.members)) {
        const [added, removed] = [add.map(idOf), remove.map(idOf)];
        const old = /** @type {string[]} */ (values[name] ?? []);
        values[name] = [...old.filter((each) => !removed.includes(each) && !added.includes(each)), ...added];
      }
      for (const [name, edit] of Object.entries(change.texts)) values[name] = textAfter(edit);
    }
    if (values && composed !== undefined && !list.some(({ change }) => 'text' in change.texts || 'text' in change.set)) {
      values.text = composed.text;
    }
    return values;
  }

  /** The revision at which an object is seen, the base of an edit; undefined for one that an unsent intent makes.
   * @param {string} object */
  base(object) { return this.#stored(idOf(object))?.revision; }

  /** The edit that a splice of the visible text makes.
   * @param {string} object @param {import('../context/text.js').Splice[]} splices */
  textEdit(object, splices) {
    const stored = this.#stored(idOf(object));
    const before = /** @type {string} */ (this.values(object)?.text ?? '');
    if (!stored || this.#hasText(object)) return { before, splices };
    const composed = this.#composed.get(object);
    const base = composed ? composed.base : stored.revision;
    return { before, ...(base === undefined ? {} : { base }), splices };
  }

  /** @param {string} object */
  #hasText(object) {
    return this.#changes().get(object)?.some(({ change }) => 'text' in change.texts || 'text' in change.set) ?? false;
  }

  /** Rebases the unsent edits of a text over the stored text, unless one of them is on its way.
   * @param {string} object */
  rebase(object) {
    const list = this.#changes().get(object);
    const stored = this.#stored(idOf(object));
    if (!list || !stored || this.#composed.has(object)) return;
    const layers = list.filter(({ change }) => 'text' in change.texts);
    if (layers.length === 0) return;
    if (list.some(({ intent, change }) => intent.state !== 'queued' && ('text' in change.texts || 'text' in change.set))) return;
    let below = /** @type {string} */ (stored.values.text ?? '');
    layers.forEach(({ change }, place) => {
      const old = change.texts.text;
      const splices = old.before === below ? old.splices : rebase(old.splices, differences(old.before, below));
      if (old.before !== below || (place === 0 && old.base !== stored.revision)) {
        change.texts.text = { before: below, splices, ...(place === 0 ? { base: stored.revision } : {}) };
      }
      below = textAfter(change.texts.text);
    });
  }

  /** Begins or ends a composition: others' edits of the text wait until its end.
   * @param {string} object @param {boolean} isOn */
  compose(object, isOn) {
    if (!isOn) this.#composed.delete(object);
    else if (!this.#composed.has(object)) {
      const text = /** @type {string} */ (this.values(object)?.text ?? '');
      // With unsent edits below, the server does not have this text.
      this.#composed.set(object, { text, ...(this.#hasText(object) ? {} : { base: this.base(object) }) });
    }
  }

  /** Whether others' edits of an object's text wait.
   * @param {string} object */
  isComposed(object) { return this.#composed.has(object); }

  /** Replaces a temporary name.
   * @param {string} from @param {string} to */
  rename(from, to) {
    const composed = this.#composed.get(from);
    this.#composed.delete(from);
    if (composed !== undefined) this.#composed.set(to, composed);
    this.invalidate();
  }
}

/** The value of a property without the entities of references.
 * @param {string} object @param {string} name @param {any} value */
function withoutEntity(object, name, value) {
  const entity = entityOf(object);
  const isReference = (entity === 'Note' && (name === 'board' || name === 'tags')) || (entity === 'Link' && (name === 'from' || name === 'to'));
  if (!isReference || value === null) return value;
  return Array.isArray(value) ? value.map(idOf) : idOf(value);
}

// ---- Objects
//
// The objects behind the boards: tags, what unsent edits need of the server, and which new objects were made here.

/** The inserts of intents by entity and place, so that thousands of new notes are not compared with each other.
 * @type {WeakMap<Change[], Map<string, Change[]>>} */
const inserts = new WeakMap();

/** @param {string} object @param {unknown} [x] @param {unknown} [y] */
const placeOf = (object, x, y) => `${entityOf(object)} ${x} ${y}`;

/** @param {Intent} intent which has left, so that it stays as it is */
function insertsOf({ changes }) {
  let found = inserts.get(changes);
  if (found) return found;
  inserts.set(changes, found = new Map());
  for (const each of changes) {
    if (each.kind !== 'insert') continue;
    const key = placeOf(each.object, each.set.x, each.set.y), list = found.get(key);
    if (list) list.push(each);
    else found.set(key, [each]);
  }
  return found;
}

export class Objects {
  /** The names of the tags, by id.
   * @type {Map<string, string>} */
  tags = new Map();
  /** Notes that were read because an unsent edit needs them, while no board shows them.
   * @type {Map<string, Stored | undefined>} */
  fetched = new Map();
  #session;
  /** @type {Map<string, number>} */
  #provisional = new Map();

  /** @param {import('./session.js').Session} session */
  constructor(session) { this.#session = session; }

  /** Whether an intent's texts are known as the server has them; reads those that are not.
   * @param {import('../keep/queue.js').Intent} intent */
  isReady(intent) {
    let isReady = true;
    for (const { kind, object, texts, set, base } of intent.changes) {
      // A text is sent when the composition has ended, because it must not be rebased before.
      if (this.#session.overlay.isComposed(object) && ('text' in texts || 'text' in set)) return false;
      if (kind !== 'update' || Object.keys(texts).length === 0) continue;
      this.#session.overlay.rebase(object);
      const change = intent.changes.find((each) => each.object === object);
      if (Object.values(change?.texts ?? {}).every((edit) => edit.base !== undefined)) continue;
      isReady = false;
      const id = idOf(object);
      if (this.#session.graph.get(id) || isTemporary(id) || this.fetched.has(id)) continue;
      this.fetched.set(id, undefined);
      this.#fetchNote(id, base ?? 1);
    }
    return isReady;
  }

  /** @param {string} id @param {number} base */
  async #fetchNote(id, base) {
    try {
      const { objects } = await this.#session.connection.fetch({ entity: 'Note', where: `id == "${id}"` });
      if (objects[0]) this.fetched.set(id, objects[0]);
      // The server reports that it is deleted.
      else for (const intent of this.#session.unsent?.queue.of(`Note/${id}`) ?? []) {
        for (const change of intent.changes) for (const edit of Object.values(change.texts)) edit.base ??= base;
      }
      this.#session.unsent?.pump();
      // Stays only until the edit has left.
      this.#session.later(() => this.fetched.delete(id), 10_000);
    } catch {
      this.fetched.delete(id);
      this.#session.later(() => this.#session.pump(), 1000);
    }
  }

  /** @param {import('../keep/queue.js').Intent} intent */
  isVisible({ revision = 0, changes }) {
    if (this.#session.graph.revision >= revision) return true;
    return changes.every(({ kind, object }) => {
      const stored = this.#session.graph.get(idOf(object));
      return kind === 'delete' ? !stored : kind === 'update' ? !stored || stored.revision >= revision : Boolean(stored);
    });
  }

  /** Whether an object that has just arrived equals one whose insert has no answer yet.
   * @param {string} object */
  isTwin(object) {
    const stored = this.#session.graph.get(idOf(object));
    if (!stored || !this.#session.unsent) return false;
    const { x, y } = stored.values;
    const isEqual = (/** @type {Change} */ { set }) => Object.entries(set).every(([name, value]) => {
      const mine = typeof value === 'string' && value.startsWith('Board/') ? idOf(value) : value;
      return Array.isArray(value) || isTemporary(String(value)) || stored.values[name] === mine || typeof stored.values[name] === 'object'
        || (typeof value === 'string' && value.endsWith(`/${stored.values[name]}`));
    });
    return this.#session.unsent.queue.entries.some((intent) => {
      if (intent.state !== 'left') return false;
      const made = insertsOf(intent);
      return [placeOf(object, x, y), placeOf(object)].some((key) => made.get(key)?.some(isEqual));
    });
  }

  /** @param {Set<string>} ids */
  readTags(ids) {
    for (const id of ids) {
      const name = this.#session.overlay.values(`Tag/${id}`)?.name;
      if (name === undefined) this.tags.delete(id);
      else this.tags.set(id, name);
    }
  }

  /** The tags of these ids, each name once, in order.
   * @param {string[]} ids */
  tagsOf(ids) {
    /** @type {Map<string, {id: string, name: string}>} */
    const found = new Map();
    for (const id of ids) {
      const name = this.tags.get(id) ?? this.#session.overlay.values(`Tag/${id}`)?.name;
      if (name !== undefined && (!found.has(name) || !isTemporary(id))) found.set(name, { id, name });
    }
    return [...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** The id of the tag with a name.
   * @param {string} name */
  tagNamed(name) {
    for (const [id, each] of this.tags) if (each === name) return id;
    return undefined;
  }

  /** The name of a note until the server gives it a number: +1, +2.
   * @param {string} object */
  provisionalNumber(object) {
    let number = this.#provisional.get(object);
    if (number === undefined) this.#provisional.set(object, number = this.#provisional.size + 1);
    return `+${number}`;
  }
}

// ---- Undo and redo
//
// The steps are the server's: they survive reloads, and undo only what the user did. A step of which nothing has been
// sent is withdrawn here.

/** @typedef {import('./board.js').Gesture} Gesture */

export class Steps {
  /** The id of this tab's stack, as text. */
  scope;
  #session;
  #group;
  /** @type {{undo?: any, redo?: any}} */
  #state = {};
  /** The newest restore, until the next edit: it is undone by its revision.
   * @type {number | null} */
  #restored = null;
  /** The groups of steps without an effect: undo and redo go on to the next one.
   * @type {Set<number>} */
  #ignored = new Set();
  #isAsking = false;

  /** @param {import('./session.js').Session} session @param {string} scope
   * @param {number} group groups are numbered from the one after this; it was never used in this scope */
  constructor(session, scope, group) {
    this.#session = session;
    this.scope = scope;
    this.#group = group;
  }

  /** @param {string} name @returns {Gesture} */
  gesture(name) {
    this.#group += 1;
    return { group: this.#group, name };
  }

  /** @param {Gesture} gesture */
  end(gesture) { gesture.group = this.gesture('').group; }

  /** A step has no effect: what it made, it has removed.
   * @param {Gesture} gesture */
  ignore({ group }) { this.#ignored.add(group); }

  /** The undo group of an edit.
   * @param {Gesture} gesture */
  undo({ group, name }) {
    this.#restored = null;
    return { scope: this.scope, group, name };
  }

  get canUndo() { return this.#restored !== null || Boolean(this.#state.undo) || this.#session.unsentSteps > 0; }
  get canRedo() { return Boolean(this.#state.redo); }

  /** Asks the server what undo and redo would do now. */
  async refresh() {
    if (this.#isAsking || !this.#session.isLive) return;
    this.#isAsking = true;
    try {
      const { undo, redo } = await this.#session.connection.undoState(idHex(this.scope));
      const isNew = Boolean(undo) !== Boolean(this.#state.undo) || Boolean(redo) !== Boolean(this.#state.redo);
      this.#state = { undo, redo };
      if (isNew) this.#session.announce();
    } catch {
      // The connection was lost; the next one asks again.
    } finally {
      this.#isAsking = false;
    }
  }

  /** @param {boolean} isRedo @returns {Promise<string>} a sentence that says what was done */
  async run(isRedo) {
    const { unsent, connection } = this.#session;
    if (!this.#session.user.canWrite) return 'you can read this board, but not change it';
    if (!isRedo && unsent) {
      const step = unsent.withdraw();
      if (step) return `Undone: ${step.name}`;
    }
    if (!this.#session.isLive || !unsent) return `${isRedo ? 'redo' : 'undo'} needs the server`;
    const restored = isRedo ? null : this.#restored;
    try {
      return await unsent.after(async () => {
        const scope = idHex(this.scope);
        const next = async () => (await connection.undoState(scope))[isRedo ? 'redo' : 'undo'];
        let step = await next();
        for (; restored === null && this.#ignored.has(Number(step?.group?.group)); step = await next()) await connection.undo({ scope, redo: isRedo });
        const { conflicts } = await connection.undo(restored === null ? { scope, redo: isRedo } : { revision: restored });
        this.#restored = null;
        const name = restored === null ? step?.group?.name : 'Restore';
        const stays = conflicts.length > 0 ? '; later changes by others stay' : '';
        return `${isRedo ? 'Redone' : 'Undone'}${name ? `: ${name}` : ''}${stays}`;
      });
    } catch (error) {
      const { code, message } = /** @type {{code?: string, message: string}} */ (error);
      return code === 'notFound' ? `nothing to ${isRedo ? 'redo' : 'undo'}` : message;
    } finally {
      this.refresh();
    }
  }

  /** Restores objects on the server, after the edits made so far.
   * @param {{revision?: number, id: {id: string, entity: string}, contents?: boolean}} state */
  async restore(state) {
    const { unsent, connection } = this.#session;
    if (!unsent || !this.#session.isLive) throw new Error('restoring needs the server');
    const { revision, conflicts } = await unsent.after(() => connection.restore(state));
    this.#restored = revision;
    if (conflicts.length > 0) this.#session.notice('restored; a part of it no longer exists');
    this.#session.announce();
  }
}

// ---- Repair
//
// Repairing an edit that the server has refused, or that lost to another one.

/** @typedef {import('./session.js').Session} Session */
/** @typedef {import('./live.js').LiveBoard} LiveBoard */

/** The properties for which a user can write a value that is neither of the two. */
const texts = ['text', 'name', 'label'];

/** Adds to each conflict what its repair begins with: of a text the present one, and the one with both edits.
 * @template {{property: string | null, kind: string, entity: string, note: string, mine: any, theirs: any}} C
 * @param {Session} session @param {C} conflict
 * @param {import('../keep/queue.js').TextEdit | undefined} edit the edit, if it is that of a text
 * @returns {C & {merged: string | null}} `merged` is null where there is nothing to merge */
export function withMerge(session, conflict, edit) {
  const { property, kind, entity, note, mine } = conflict;
  const present = session.overlay.values(`${entity}/${note}`);
  if (!texts.includes(String(property)) || typeof mine !== 'string' || kind === 'deleted' || !present) return { ...conflict, merged: null };
  const theirs = typeof conflict.theirs === 'string' ? conflict.theirs : String(present[String(property)] ?? '');
  if (!edit) return { ...conflict, theirs, merged: mine };
  return { ...conflict, theirs, merged: apply(rebase(edit.splices, differences(edit.before, theirs)), theirs) };
}

/** Makes a parked edit again over the present state: the user's value wins. A text whose note was deleted becomes a new
 * note.
 * @param {Session} session @param {string} key
 * @param {LiveBoard | undefined} board the board that is shown */
export function retry(session, key, board) {
  const { unsent, graph } = session;
  const found = session.conflicts.find((each) => each.key === key);
  if (!found || !unsent) return;
  if (found.kind !== 'deleted' || found.mine === null) return unsent.retry(Number(key), graph.revision);
  if (found.property !== 'text' || typeof found.mine !== 'string' || !board || !('insert' in board)) {
    return session.notice('the note was deleted, so there is nothing to change; restore it from the history');
  }
  const { insert } = /** @type {import('./board.js').Board} */ (board);
  if (insert.call(board, { text: found.mine }) === '') return;
  session.notice('your text is a new note now');
  session.discard(key);
}

/** Sets a value that the user has written with both in view, in place of a parked edit.
 * @param {Session} session @param {string} key @param {string} value */
export function resolve(session, key, value) {
  const found = session.conflicts.find((each) => each.key === key);
  if (!found?.property || found.merged === null) return;
  const { overlay, steps } = session, object = `${found.entity}/${found.note}`, present = overlay.values(object);
  if (!present) return session.notice('the object was deleted meanwhile; copy your text, and make a new note');
  const made = change('update', object, overlay.base(object));
  if (found.property !== 'text') made.set[found.property] = value;
  else if (value !== present.text) made.texts.text = overlay.textEdit(object, differences(String(present.text), value));
  if (Object.keys(made.set).length + Object.keys(made.texts).length > 0) session.add([made], steps.gesture('Merge'));
  session.discard(key);
}
