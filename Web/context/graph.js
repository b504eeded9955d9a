// The objects of the newest published revision that are in the result of at least one query, by the names of the model.
import { compareIDs } from '../wire/codec.js';
import { applySplices } from './text.js';

/**
 * @typedef {{ wire: any, object: GraphObject|undefined, queries: Set<number> }} Entry
 * @typedef {{ property: string, value?: any, splices?: Splice[], added?: string[],
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
    /**
     * The revisions at which the client's own commits deleted objects, until the results reach them. Older deltas and
     * results do not revive these objects.
     * @type {Map<string, number>}
     */
    this.deletions = new Map();
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
    const isHere = (/** @type {string} */ id) => !this.isDeleted(id, change.revision);
    const here = objects.filter((object) => isHere(object.id.key));
    const ids = rows ?? new Set(here.map((object) => object.id.key));
    this.results.set(query, ids);
    change.queries.add(query);
    for (const wire of here) this.put(wire, query, change);
    const kept = new Set(ids);
    for (const id of rows ?? []) this.entries.get(id)?.queries.add(query);
    for (const id of old) if (!kept.has(id)) this.leave(id, query, change, false);
    this.advance(change.revision);
  }

  /**
   * Records the newest revision that the results have.
   * @param {number} revision
   */
  advance(revision) {
    this.revision = Math.max(this.revision, revision);
    for (const [id, deletion] of this.deletions) if (deletion <= this.revision) this.deletions.delete(id);
  }

  /**
   * Whether one of the client's own commits deleted the object after a revision.
   * @param {string} id
   * @param {number} revision
   */
  isDeleted(id, revision) { return revision < (this.deletions.get(id) ?? 0); }

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
      if (this.isDeleted(key, change.revision)) continue;
      if (result instanceof Set) result.add(key);
      const entry = this.entries.get(key);
      if (each.object) this.put(each.object, query, change, each.edits);
      else if (entry && entry.wire.revision >= 0 && entry.wire.revision < change.revision) {
        const wire = { ...applyEdits(entry.wire, each.edits, this.slots), revision: change.revision };
        this.put(wire, query, change, each.edits);
      }
    }
    if (Array.isArray(result)) this.results.set(query, movedRows(result, changes));
    this.advance(change.revision);
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
   * Removes the objects that the client's own commit deleted, also by a delete rule. Their deltas arrive later if the
   * connection lags; until then the rows of windows keep the ids, because older deltas count them. An object whose
   * newer state arrived before, because another client restored it, stays.
   * @param {any[]} ids
   * @param {GraphChange} change
   */
  remove(ids, change) {
    for (const { key } of ids) {
      if (change.revision > this.revision) this.deletions.set(key, change.revision);
      const entry = this.entries.get(key);
      if (!entry || entry.wire.revision > change.revision) continue;
      for (const query of [...entry.queries]) {
        const result = this.results.get(query);
        if (result instanceof Set) result.delete(key);
        change.queries.add(query);
        this.leave(key, query, change, true);
      }
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
    this.deletions.clear();
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

// ---- Edits
//
// Edits of objects in the form of the wire.

/**
 * The slots of each entity: its properties that are stored, by number, with their place in `values`.
 * @param {any[]} entities of a welcome
 * @returns {Map<number, Map<number, number>>}
 */
export function slotsOf(entities) {
  return new Map(entities.map((entity) => [
    entity.number,
    new Map(entity.properties.filter((/** @type {any} */ property) => property.stored)
      .map((/** @type {any} */ property, /** @type {number} */ slot) => [property.number, slot])),
  ]));
}

/**
 * The id of a changed object, which is in the object if there is one.
 * @param {any} change
 */
export function changeID(change) { return change.object?.id ?? change.id ?? { key: 'temporary 0', entity: 0 }; }

/**
 * The object after a delta's edits; an edit that does not fit the held value is skipped.
 * @param {any} object
 * @param {any[]} edits
 * @param {Map<number, Map<number, number>>} slots
 */
export function applyEdits(object, edits, slots) {
  const values = object.values.slice();
  for (const edit of edits) {
    const slot = slots.get(object.id.entity)?.get(edit.property);
    const value = slot === undefined ? undefined : edited(values[slot] ?? {}, edit);
    if (slot !== undefined && value) values[slot] = value;
  }
  return { ...object, values };
}

/**
 * A value after an edit; undefined if the edit does not fit.
 * @param {any} value
 * @param {any} edit
 */
function edited(value, edit) {
  if (edit.set) return edit.set;
  if (edit.splice) {
    const string = applySplices(edit.splice.splices, value.string ?? '');
    return string === undefined ? undefined : { string };
  }
  // A changed order of members arrives as a complete list.
  if (!edit.members) return undefined;
  const removed = new Set(edit.members.removed.map((/** @type {any} */ id) => id.key));
  const ids = new Map();
  for (const id of value.objects?.ids ?? []) if (!removed.has(id.key)) ids.set(id.key, id);
  for (const id of edit.members.added) ids.set(id.key, id);
  return { objects: { ids: [...ids.values()].sort((a, b) => compareIDs(a.key, b.key)) } };
}

// ---- The model
//
// The names of the model that the server serves, from the dictionary of the welcome, and objects by these names.
//
// Values by name: bool, string (also text, URI, JSON document, case of an enumeration, decimal, and UUID with hyphens),
// number (BigInt for an integer that a Number does not represent exactly), a date in microseconds since 1970, data as
// Uint8Array, a to-one as an id or null, a to-many as a list of ids. Null is null.

/**
 * @typedef {{ name: string, number: number, type: string, slot: number }} Property
 *   `slot` is the place in the values of the wire; -1 for a to-many that is stored at the other end
 * @typedef {{ name: string, number: number, properties: Map<string, Property>, byNumber: Map<number, Property>
 * }} Entity
 * @typedef {{ id: string, entity: string, revision: number, values: Record<string, any> }} GraphObject
 * @typedef {{ offset: number, length: number, insertion: string, leftAffinity?: boolean }} Splice
 * @typedef {{ kind: 'insert'|'update'|'delete', id: string, entity: string, base?: number,
 *   values?: Record<string, any>, splices?: Record<string, Splice[]>,
 *   members?: Record<string, { added?: string[], removed?: string[] }>,
 *   ifRevision?: number }} Change
 */

/** An error of the caller: an entity, a property or an id that the model or the graph does not have. */
class UnknownName extends Error {}

export class Model {
  /** @param {any[]} dictionary the entities of a welcome */
  constructor(dictionary) {
    /** @type {Map<string, Entity>} */
    this.entities = new Map();
    /** @type {Map<number, Entity>} */
    this.byNumber = new Map();
    for (const { number, name, properties } of dictionary) {
      let slot = 0;
      /** @type {Property[]} */
      const found = properties.map((/** @type {any} */ property) => ({
        name: property.name, number: property.number, type: property.type, slot: property.stored ? slot++ : -1,
      }));
      const entity = {
        name, number, properties: new Map(found.map((each) => [each.name, each])),
        byNumber: new Map(found.map((each) => [each.number, each])),
      };
      this.entities.set(name, entity);
      this.byNumber.set(number, entity);
    }
  }

  /** @param {string} name */
  entity(name) {
    const entity = this.entities.get(name);
    if (!entity) throw new UnknownName(`the model has no entity ${name}`);
    return entity;
  }

  /**
   * @param {string} entity
   * @param {string} name
   */
  property(entity, name) {
    const property = this.entity(entity).properties.get(name);
    if (!property) throw new UnknownName(`${entity} has no property ${name}`);
    return property;
  }

  /**
   * The name of an entity; '' for one that the model does not have.
   * @param {number} number
   */
  entityName(number) { return this.byNumber.get(number)?.name ?? ''; }

  /**
   * The name of a property of an entity; '' for 0, which is the object as a whole.
   * @param {number} entity
   * @param {number} number
   */
  propertyName(entity, number) { return this.byNumber.get(entity)?.byNumber.get(number)?.name ?? ''; }

  /**
   * A value of the wire by the rules above.
   * @param {any} wire
   */
  value(wire) {
    if (!wire) return null;
    for (const kind in wire) {
      const value = wire[kind];
      switch (kind) {
        case 'object': return value.key;
        case 'objects': return value.ids.map((/** @type {any} */ id) => id.key);
        case 'uuid': return value.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
        default: return value;
      }
    }
    return null;
  }

  /**
   * A value in the form of the wire.
   * @param {any} value
   * @param {Property} property
   * @param {(id: any) => any} wireID finds the entity of an id
   */
  wireValue(value, { type }, wireID) {
    if (value === null || value === undefined) return {};
    switch (type) {
      case 'bool': return { bool: Boolean(value) };
      case 'integer': case 'date': return { [type]: value };
      case 'double': return { double: Object.is(value, -0) ? 0 : Number(value) };
      case 'decimal': return { decimal: String(value) };
      case 'uuid': return { uuid: String(value).replaceAll('-', '').toLowerCase() };
      case 'data': return { data: value };
      case 'toOne': return { object: wireID(value) };
      case 'toMany': return { objects: { ids: value.map(wireID) } };
      default: return { string: String(value) };
    }
  }

  /**
   * An object of the wire by names.
   * @param {any} wire
   * @returns {GraphObject}
   */
  object(wire) {
    const entity = this.byNumber.get(wire.id.entity);
    /** @type {Record<string, any>} */
    const values = {};
    if (entity && wire.values.length) {
      for (const { name, slot } of entity.properties.values()) {
        if (slot >= 0) values[name] = this.value(wire.values[slot]);
      }
    }
    return { id: wire.id.key, entity: entity?.name ?? '', revision: wire.revision, values };
  }

  /**
   * An edit of the wire by names: what changed in the property.
   * @param {any} edit
   * @param {number} entity
   * @returns {{ property: string, value?: any, splices?: Splice[], added?: string[], removed?: string[] }}
   */
  edit(edit, entity) {
    const property = this.propertyName(entity, edit.property);
    if (edit.splice) return { property, splices: edit.splice.splices };
    if (edit.set) return { property, value: this.value(edit.set) };
    const keys = (/** @type {any[]} */ ids) => ids.map((id) => id.key);
    if (edit.members) return { property, added: keys(edit.members.added), removed: keys(edit.members.removed) };
    return { property, added: keys(edit.place.objects), removed: [] };
  }

  /**
   * A change in the form of the wire.
   * @param {Change} change
   * @param {(id: any) => any} wireID
   */
  wireChange({ kind, id, entity, base, values, splices, members, ifRevision }, wireID) {
    const edits = [];
    for (const [name, value] of Object.entries(values ?? {})) {
      const property = this.property(entity, name);
      edits.push({ property: property.number, set: this.wireValue(value, property, wireID) });
    }
    for (const [name, list] of Object.entries(splices ?? {})) {
      edits.push({ property: this.property(entity, name).number, splice: { splices: list } });
    }
    for (const [name, { added = [], removed = [] }] of Object.entries(members ?? {})) {
      const lists = { added: added.map(wireID), removed: removed.map(wireID) };
      edits.push({ property: this.property(entity, name).number, members: lists });
    }
    const precondition = ifRevision === undefined ? undefined : { revision: ifRevision };
    return { kind, id: { key: id, entity: this.entity(entity).number }, base, edits, precondition };
  }

  /**
   * A conflict by names.
   * @param {any} conflict
   */
  conflict({ kind, id, property, mine, theirs, author, revision, mineWon, collateral }) {
    return {
      kind, id: id.key, entity: this.entityName(id.entity), property: this.propertyName(id.entity, property),
      mine: this.value(mine), theirs: this.value(theirs), author, revision, mineWon, collateral,
    };
  }

  /**
   * A violation of a rule by names.
   * @param {any} violation
   */
  violation({ id, property, rule, value, message }) {
    return {
      id: id.key, entity: this.entityName(id.entity), property: this.propertyName(id.entity, property), rule,
      value: this.value(value), message,
    };
  }

  /**
   * A change of a commit in history by names.
   * @param {any} change
   */
  historyChange({ kind, object, id: found, edits, previousRevision }) {
    const id = object?.id ?? found;
    return {
      kind, id: id.key, entity: this.entityName(id.entity), object: object && this.object(object), previousRevision,
      edits: edits.map((/** @type {any} */ edit) => this.edit(edit, id.entity)),
    };
  }
}
