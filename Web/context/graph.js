// The objects of the newest published revision that are in the result of at least one query.
import { applyEdits, changeID, slotsOf } from './edits.js';
import { Model } from './model.js';

/**
 * @typedef {import('./model.js').GraphObject} GraphObject
 * @typedef {{ wire: any, object: GraphObject|undefined, queries: Set<number> }} Entry
 * @typedef {{ property: string, value?: any, splices?: import('./model.js').Splice[], added?: string[],
 *   removed?: string[] }} NamedEdit
 * @typedef {{ revision: number, time: number, author: string, inserted: Set<string>, changed: Set<string>,
 *   removed: Set<string>, deleted: Set<string>, edits: Map<string, NamedEdit[]>, previous: Map<string, GraphObject>,
 *   queries: Set<number> }} GraphChange what one revision changed: `edits` where a delta named them, `previous` the
 *   objects before it, `deleted`
 *   those of `removed` that no longer exist, `queries` whose results or rows changed. A new result has no author.
 */

/**
 * An empty change.
 * @param {number} revision
 * @param {number} [time]
 * @param {string} [author]
 * @returns {GraphChange}
 */
export function emptyChange(revision, time = 0, author = '') {
  return {
    revision, time, author, inserted: new Set(), changed: new Set(), removed: new Set(), deleted: new Set(),
    edits: new Map(), previous: new Map(), queries: new Set(),
  };
}

export class Graph {
  constructor() {
    this.model = new Model([]);
    /** @type {Map<number, Map<number, number>>} */
    this.slots = new Map();
    /** @type {Map<string, Entry>} */
    this.entries = new Map();
    /**
     * The ids in the result of each query; of a window in order.
     * @type {Map<number, string[]|Set<string>>}
     */
    this.results = new Map();
    /**
     * The entities of objects that are not held, but to which held objects refer.
     * @type {Map<string, number>}
     */
    this.entities = new Map();
    /** The newest published revision. */
    this.revision = 0;
  }

  /**
   * Takes the dictionary of a welcome. Later connections have the same: their hello names the model.
   * @param {any[]} dictionary
   */
  adopt(dictionary) {
    this.model = new Model(dictionary);
    this.slots = slotsOf(dictionary);
  }

  /**
   * The object, if a query has it.
   * @param {string} id
   * @returns {GraphObject|undefined}
   */
  get(id) {
    const entry = this.entries.get(id);
    if (!entry) return undefined;
    entry.object ??= this.model.object(entry.wire);
    return entry.object;
  }

  /**
   * An id in the form of the wire.
   * @param {string|{ id: string, entity: string }} id
   */
  wireID(id) {
    if (typeof id === 'object') return { key: id.id, entity: this.model.entity(id.entity).number };
    const entity = this.entries.get(id)?.wire.id.entity ?? this.entities.get(id);
    if (entity === undefined) throw new Error(`the entity of ${id} is not known; write {id, entity}`);
    return { key: id, entity };
  }

  /**
   * The new result of a query.
   * @param {number} query
   * @param {any[]} objects those that are new or may have changed
   * @param {string[]|undefined} rows of a window, all ids in order
   * @param {GraphChange} change records the difference
   */
  load(query, objects, rows, change) {
    const old = this.results.get(query) ?? [];
    const ids = rows ?? new Set(objects.map((object) => object.id.key));
    this.results.set(query, ids);
    change.queries.add(query);
    for (const wire of objects) this.put(wire, query, change);
    const kept = new Set(ids);
    for (const id of rows ?? []) this.entries.get(id)?.queries.add(query);
    for (const id of old) if (!kept.has(id)) this.leave(id, query, change, false);
    this.revision = Math.max(this.revision, change.revision);
  }

  /**
   * Applies one query's part of a commit.
   * @param {number} query
   * @param {any[]} changes
   * @param {GraphChange} change records the difference
   */
  apply(query, changes, change) {
    const result = this.results.get(query);
    if (!result) return;
    change.queries.add(query);
    for (const each of changes) {
      const { key } = changeID(each);
      if (each.kind === 'delete') {
        if (result instanceof Set) result.delete(key);
        this.leave(key, query, change, each.deleted);
        continue;
      }
      if (result instanceof Set) result.add(key);
      const entry = this.entries.get(key);
      if (each.object) this.put(each.object, query, change, each.edits);
      else if (entry && entry.wire.revision >= 0 && entry.wire.revision < change.revision) {
        const wire = { ...applyEdits(entry.wire, each.edits, this.slots), revision: change.revision };
        this.put(wire, query, change, each.edits);
      }
    }
    if (Array.isArray(result)) this.results.set(query, movedRows(result, changes));
    this.revision = Math.max(this.revision, change.revision);
  }

  /**
   * Stores the objects of the client's own commit where they are newer than the held ones.
   * @param {any[]} objects
   * @param {GraphChange} change
   */
  refresh(objects, change) {
    for (const wire of objects) {
      const entry = this.entries.get(wire.id.key);
      const query = entry && [...entry.queries][0];
      if (query !== undefined) this.put(wire, query, change);
    }
  }

  /**
   * Removes a query with the objects that no other query has.
   * @param {number} query
   * @param {GraphChange} change
   */
  close(query, change) {
    const ids = this.results.get(query) ?? [];
    this.results.delete(query);
    change.queries.add(query);
    for (const id of ids) this.leave(id, query, change, false);
  }

  /** Marks all held objects as older than any that arrive, because the history of the store differs. */
  invalidate() {
    for (const entry of this.entries.values()) {
      entry.object ??= this.model.object(entry.wire);
      entry.wire = { ...entry.wire, revision: -1 };
    }
    this.revision = 0;
  }

  /**
   * @param {any} wire
   * @param {number} query
   * @param {GraphChange} change
   * @param {any[]} [edits]
   */
  put(wire, query, change, edits) {
    const { key, entity } = wire.id;
    for (const value of wire.values) {
      if (value.object) this.entities.set(value.object.key, value.object.entity);
      else if (value.objects) for (const id of value.objects.ids) this.entities.set(id.key, id.entity);
    }
    const entry = this.entries.get(key);
    if (!entry) {
      this.entries.set(key, { wire, object: undefined, queries: new Set([query]) });
      // An object that moved from one query to another was not removed.
      if (change.removed.delete(key)) change.changed.add(key);
      else change.inserted.add(key);
      return;
    }
    entry.queries.add(query);
    if (entry.wire.revision > wire.revision) return;
    // A change of visibility of a referenced object changes the values without a new revision.
    if (entry.wire.revision === wire.revision && isSame(entry.wire.values, wire.values)) return;
    const previous = this.get(key);
    entry.wire = wire;
    entry.object = undefined;
    if (change.inserted.has(key)) return;
    change.changed.add(key);
    if (previous && !change.previous.has(key)) change.previous.set(key, previous);
    if (edits) change.edits.set(key, edits.map((edit) => this.model.edit(edit, entity)));
  }

  /**
   * @param {string} id
   * @param {number} query
   * @param {GraphChange} change
   * @param {boolean} isDeleted
   */
  leave(id, query, change, isDeleted) {
    const entry = this.entries.get(id);
    if (!entry || !entry.queries.delete(query) || entry.queries.size) return;
    const previous = this.get(id);
    if (previous) change.previous.set(id, previous);
    this.entities.set(id, entry.wire.id.entity);
    this.entries.delete(id);
    if (isDeleted) change.deleted.add(id);
    change.changed.delete(id);
    change.edits.delete(id);
    if (!change.inserted.delete(id)) change.removed.add(id);
  }
}

/**
 * Whether two lists of values of the wire are equal.
 * @param {any[]} one
 * @param {any[]} other
 */
function isSame(one, other) {
  return one.length === other.length && one.every((value, slot) => {
    const kind = Object.keys(value)[0];
    const [mine, theirs] = [value[kind], other[slot][kind]];
    switch (kind) {
      case undefined: return !Object.keys(other[slot]).length;
      case 'object': return mine.key === theirs?.key;
      case 'objects': return String(keys(mine)) === String(keys(theirs));
      case 'data': return String(mine) === String(theirs);
      default: return mine === theirs;
    }
  });
}

/**
 * The ids of a to-many.
 * @param {any} objects
 */
function keys(objects) { return objects?.ids.map((/** @type {any} */ id) => id.key); }

/**
 * The rows of a window after a commit: rows that left are removed, then those that came or moved are inserted, by
 * ascending place.
 * @param {string[]} rows
 * @param {any[]} changes
 */
function movedRows(rows, changes) {
  const lifted = changes.filter((each) => each.kind === 'delete' || each.index);
  const gone = new Set(lifted.map((each) => changeID(each).key));
  const result = rows.filter((id) => !gone.has(id));
  const placed = lifted.filter((each) => each.kind !== 'delete').sort((a, b) => a.index.count - b.index.count);
  for (const each of placed) result.splice(Math.min(each.index.count, result.length), 0, changeID(each).key);
  return result;
}
