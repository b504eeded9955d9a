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
export class UnknownName extends Error {}

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
