// Edits of objects in the form of the wire.
import { compareIDs } from '../wire/forms.js';
import { applySplices } from './text.js';

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
