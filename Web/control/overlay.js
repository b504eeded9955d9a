// What the user sees: the server's objects with the unsent edits on top. A text is a stack of layers, each a difference
// from the one below: the stored text, then the intents in their order. While a layer is on its way, or the user
// composes a character, the stack is not rebased, because it is not known which edits of others the server has ordered
// before it. Afterwards the layers are rebased over the difference.

import { entityOf, idOf } from '../keep/intents.js';
import { apply, differences, rebase } from './splices.js';

/** @typedef {{id: string, entity: string, revision: number, values: Record<string, any>}} Stored an object as the server has it */
/** @typedef {import('../keep/intents.js').Change} Change */
/** @typedef {import('../keep/intents.js').Intent} Intent */

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

/** @type {WeakMap<import('../keep/intents.js').TextEdit, string>} */
const results = new WeakMap();

/** The text after an edit.
 * @param {import('../keep/intents.js').TextEdit} edit */
export function textAfter(edit) {
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
   * @param {string} object @param {import('./splices.js').Splice[]} splices */
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
