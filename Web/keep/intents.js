// Unsent edits. An intent is one transaction of the user: what it changes, by names, under the id with which it is sent.
// docs/guides/offline.md describes its JSON form, which the shell's replica reads and writes too. In memory, an intent has
// one change for each object, and texts are edited by splices in UTF-16; the form counts bytes.

import * as splices from '../control/splices.js';

/** @typedef {import('../control/splices.js').Splice} Splice */
/** @typedef {{before: string, base?: number, splices: Splice[]}} TextEdit
 *  `before`: the text that the splices refer to; `base`: the server's revision that has this text. It is missing while
 *  an earlier intent of the same object has no answer. */
/** @typedef {{kind: 'insert'|'update'|'delete', object: string, base?: number, set: Record<string, unknown>,
 *  members: Record<string, {add: string[], remove: string[]}>, texts: Record<string, TextEdit>}} Change
 *  `object` is `Entity/ID`, as are the values of relationships. */
/** @typedef {{scope: string, group: number, name: string}} UndoGroup */
/** @typedef {{kind: string, object: string, property?: string, mine: unknown, theirs: unknown, author: string, revision: number}} Conflict */
/** @typedef {{code: string, message: string, at: string, conflicts?: Conflict[], violations?: object[], waitsFor?: number}} Parked */
/** @typedef {{number: number, transaction: {replica: string, sequence: number}, model?: object, author: string,
 *  made: string, policy: string, undo: UndoGroup, changes: Change[], state: 'queued'|'leaving'|'left'|'answered'|'parked',
 *  left?: string, parked?: Parked, version: number, revision?: number, retryAt?: number}} Intent
 *  `version` counts the changes of the intent; `revision` is that of its commit, once it is answered. */

/** The relationships of the notes' model: the entity that a property refers to, and whether it refers to many. */
const relationships = {
  Note: { board: { to: 'Board', many: false }, tags: { to: 'Tag', many: true } },
  Link: { from: { to: 'Note', many: false }, to: { to: 'Note', many: false } },
};

/** @param {string} object @param {string} property @returns {{to: string, many: boolean} | undefined} */
function relationship(object, property) {
  const entity = /** @type {Record<string, Record<string, {to: string, many: boolean}>>} */ (relationships)[entityOf(object)];
  return entity && Object.hasOwn(entity, property) ? entity[property] : undefined;
}

/** A value of a property as the form has it: references with their entities.
 * @param {string} object @param {string | null | undefined} property @param {unknown} value @returns {unknown} */
export function formValue(object, property, value) {
  const found = property ? relationship(object, property) : undefined;
  if (value === undefined || value === null) return null;
  if (!found) return value;
  return Array.isArray(value) ? value.map((each) => `${found.to}/${each}`) : `${found.to}/${value}`;
}

/** The entity of an `Entity/ID`.
 * @param {string} object */
export const entityOf = (object) => object.slice(0, object.indexOf('/'));
/** The id of an `Entity/ID`.
 * @param {string} object */
export const idOf = (object) => object.slice(object.indexOf('/') + 1);
/** Whether an id or an `Entity/ID` is the temporary name of an object that an unsent intent makes.
 * @param {string} name */
export const isTemporary = (name) => name.startsWith('new:') || name.includes('/new:');

/** An empty change of an object.
 * @param {'insert'|'update'|'delete'} kind @param {string} object @param {number} [base] @returns {Change} */
export function change(kind, object, base) {
  return { kind, object, ...(base === undefined ? {} : { base }), set: {}, members: {}, texts: {} };
}

// ---- Coalescing

/** Adds later changes of the same step to the changes of an intent that has not left.
 * @param {Change[]} changes @param {Change[]} later @returns {Change[]} */
export function merge(changes, later) {
  const result = new Map(changes.map((each) => [each.object, each]));
  for (const next of later) {
    const earlier = result.get(next.object);
    if (!earlier) {
      result.set(next.object, next);
    } else if (next.kind !== 'delete') {
      result.set(next.object, combined(earlier, next));
    } else {
      result.delete(next.object);
      if (earlier.kind !== 'insert') {
        result.set(next.object, { ...next, ...(earlier.base === undefined ? {} : { base: earlier.base }) });
        continue;
      }
      // Objects that the step itself made for the deleted object, such as a link, are dropped, too.
      for (const [object, each] of result) if (each.kind === 'insert' && refersTo(each, next.object)) result.delete(object);
    }
  }
  return [...result.values()];
}

/** @param {Change} earlier @param {Change} next @returns {Change} */
function combined(earlier, next) {
  const set = { ...earlier.set, ...next.set };
  const members = { ...earlier.members };
  const texts = { ...earlier.texts };
  for (const name of Object.keys(next.set)) {
    delete members[name];
    delete texts[name];
  }
  for (const [name, { add, remove }] of Object.entries(next.members)) {
    if (Array.isArray(set[name])) {
      const kept = /** @type {string[]} */ (set[name]).filter((each) => !remove.includes(each));
      set[name] = [...kept, ...add.filter((each) => !kept.includes(each))];
      continue;
    }
    const old = members[name] ?? { add: [], remove: [] };
    members[name] = {
      add: [...old.add.filter((each) => !remove.includes(each) && !add.includes(each)), ...add],
      remove: [...old.remove.filter((each) => !add.includes(each) && !remove.includes(each)), ...remove],
    };
  }
  for (const [name, edit] of Object.entries(next.texts)) {
    if (typeof set[name] === 'string') {
      set[name] = splices.apply(edit.splices, /** @type {string} */ (set[name]));
    } else if (earlier.kind === 'insert') {
      set[name] = splices.apply(edit.splices, '');
    } else if (texts[name]) {
      texts[name] = { ...texts[name], splices: splices.compose(texts[name].splices, edit.splices) };
    } else {
      texts[name] = edit;
    }
  }
  return { ...earlier, set, members, texts };
}

/** @param {Change} each @param {string} object */
function refersTo(each, object) {
  return Object.values(each.set).includes(object)
    || Object.values(each.members).some(({ add }) => add.includes(object));
}

/** The objects that an intent changes, and the temporary names of others that it refers to.
 * @param {Intent} intent */
export function subjects(intent) {
  const objects = new Set(intent.changes.map((each) => each.object));
  /** @type {Set<string>} */
  const needs = new Set();
  const made = new Set(intent.changes.filter((each) => each.kind === 'insert').map((each) => each.object));
  /** @param {unknown} value */
  const look = (value) => {
    if (Array.isArray(value)) value.forEach(look);
    else if (typeof value === 'string' && isTemporary(value) && !made.has(value)) needs.add(value);
  };
  for (const each of intent.changes) {
    look(each.object);
    for (const [name, value] of Object.entries(each.set)) if (relationship(each.object, name)) look(value);
    for (const { add, remove } of Object.values(each.members)) look([...add, ...remove]);
  }
  return { objects, needs };
}

/** Replaces names of objects, when the server has given them ids or the intent moves to another replica.
 * @param {Intent} intent @param {Map<string, string>} names
 * @param {number} [revision] the commit that made the objects: their later changes are based on it
 * @param {Set<string>} [texts] the texts that an earlier intent edits; the others are those of the commit
 * @returns {boolean} whether it had any of them */
export function rename(intent, names, revision, texts = new Set()) {
  let isChanged = false;
  /** @param {unknown} value @returns {any} */
  const renamed = (value) => {
    if (Array.isArray(value)) return value.map(renamed);
    const name = typeof value === 'string' ? names.get(value) : undefined;
    if (name === undefined) return value;
    isChanged = true;
    return name;
  };
  for (const each of intent.changes) {
    if (revision !== undefined && each.kind !== 'insert' && names.has(each.object)) {
      each.base = revision;
      for (const name of Object.keys(each.texts)) {
        const text = `${each.object}.${name}`;
        if (!texts.has(text)) each.texts[name] = { ...each.texts[name], base: revision };
        texts.add(text);
      }
    }
    each.object = renamed(each.object);
    for (const name of Object.keys(each.set)) if (relationship(each.object, name)) each.set[name] = renamed(each.set[name]);
    for (const name of Object.keys(each.members)) {
      const { add, remove } = each.members[name];
      each.members[name] = { add: renamed(add), remove: renamed(remove) };
    }
  }
  for (const each of intent.parked?.conflicts ?? []) each.object = renamed(each.object);
  return isChanged;
}

// ---- The JSON form

/** The form of an intent, and the texts before its splices, which the form does not have.
 * @param {Intent} intent */
export function toForm(intent) {
  /** @type {Record<string, string>} */
  const before = {};
  const { number, transaction, model, author, made, policy, undo, left, parked } = intent;
  const changes = intent.changes.flatMap((each) => {
    for (const [name, edit] of Object.entries(each.texts)) before[`${each.object}.${name}`] = edit.before;
    return formsOf(each);
  });
  const state = intent.state === 'leaving' || intent.state === 'answered' ? 'left' : intent.state;
  const form = {
    format: 1, number, transaction, ...(model ? { model } : {}), author, made, policy, ...(undo ? { undo } : {}), changes, state,
    ...(left ? { left } : {}), ...(parked ? { parked } : {}),
  };
  return { form, before };
}

/** A change becomes two changes in the form if its text has another base than the rest.
 * @param {Change} each */
function formsOf(each) {
  const { kind, object, base } = each;
  const head = (/** @type {number | undefined} */ seen) => ({ kind, object, ...(seen === undefined ? {} : { base: seen }) });
  if (kind === 'delete') return [head(base)];
  /** @type {any[]} */
  const edits = Object.entries(each.set).map(([property, set]) => ({ property, set }));
  for (const [property, { add, remove }] of Object.entries(each.members)) edits.push({ property, add, remove });
  if (kind === 'insert') return [{ ...head(undefined), edits }];
  const forms = edits.length > 0 ? [{ ...head(base), edits }] : [];
  for (const [property, edit] of Object.entries(each.texts)) {
    const bytes = splices.toBytes(edit.splices, edit.before);
    const list = bytes.length > 0 ? bytes : [{ offset: 0, length: 0, insertion: '' }];
    const made = { property, splices: list, ...(edit.base === undefined ? { before: edit.before } : {}) };
    const last = forms[forms.length - 1];
    if (last && (edit.base === undefined || base === edit.base)) last.edits.push(made);
    else forms.push({ ...head(edit.base ?? base), edits: [made] });
  }
  return forms.length > 0 ? forms : [{ ...head(base), edits }];
}

/** An intent from its form.
 * @param {any} form @param {Record<string, string>} before the texts before its splices @returns {Intent}
 * @throws {Error} if the form is of a later version */
export function fromForm(form, before) {
  if (form.format !== 1) throw new Error(`an unsent edit has the format ${form.format}; this program reads 1`);
  /** @type {Change[]} */
  const changes = [];
  for (const each of form.changes) {
    let made = changes.find((other) => other.object === each.object);
    if (!made) changes.push(made = change(each.kind, each.object, each.base));
    for (const edit of each.edits ?? []) {
      const { property } = edit;
      if ('set' in edit) {
        made.set[property] = edit.set;
      } else if (edit.splices) {
        const text = edit.before ?? before[`${each.object}.${property}`] ?? '';
        const isLowest = each.base !== undefined && edit.before === undefined;
        made.texts[property] = { before: text, ...(isLowest ? { base: each.base } : {}), splices: splices.fromBytes(edit.splices, text) };
      } else {
        made.members[property] = { add: edit.add ?? [], remove: edit.remove ?? [] };
      }
    }
  }
  const { number, transaction, model, author, made, policy, undo, state, left, parked } = form;
  return { number, transaction, model, author, made, policy, undo, changes, state, left, parked, version: 1 };
}

// ---- The wire

/** The transaction of an intent, as a connection takes it, and the temporary names by the ids that it has on the wire.
 * @param {Intent} intent */
export function toTransaction(intent) {
  /** @type {Map<string, string>} */
  const temporary = new Map();
  for (const each of intent.changes) {
    if (each.kind === 'insert') temporary.set(each.object, `temporary ${temporary.size + 1}`);
  }
  const id = (/** @type {string} */ object) => temporary.get(object) ?? idOf(object);
  const reference = (/** @type {any} */ object) => {
    if (typeof object !== 'string') return object;
    return temporary.get(object) ?? { id: idOf(object), entity: entityOf(object) };
  };
  const changes = intent.changes.flatMap((each) => {
    const { kind, object } = each;
    const head = { kind, id: id(object), entity: entityOf(object) };
    if (kind === 'delete') return [{ ...head, base: each.base ?? 0 }];
    /** @type {Record<string, unknown>} */
    const values = {};
    for (const [name, value] of Object.entries(each.set)) {
      values[name] = !relationship(object, name) ? value : Array.isArray(value) ? value.map(reference) : reference(value);
    }
    /** @type {Record<string, {added: unknown[], removed: unknown[]}>} */
    const members = {};
    for (const [name, { add, remove }] of Object.entries(each.members)) {
      members[name] = { added: add.map(reference), removed: remove.map(reference) };
    }
    const made = [];
    const hasPlain = Object.keys(values).length + Object.keys(members).length > 0;
    if (kind === 'insert' || hasPlain || Object.keys(each.texts).length === 0) {
      made.push({ ...head, base: each.base ?? 0, values, members });
    }
    for (const [name, edit] of Object.entries(each.texts)) {
      const list = edit.splices.length > 0 ? edit.splices : [{ offset: 0, length: 0, insertion: '' }];
      const bytes = splices.toBytes(list, edit.before).map(({ offset, length, insertion, continues }) => (
        { offset, length, insertion, leftAffinity: Boolean(continues) }));
      made.push({ ...head, base: edit.base ?? each.base ?? 0, splices: { [name]: bytes } });
    }
    return made;
  });
  const names = new Map([...temporary].map(([name, wire]) => [wire, name]));
  return { transaction: { sequence: intent.transaction.sequence, policy: intent.policy, undo: { ...intent.undo, scope: idHex(intent.undo.scope) }, changes }, names };
}

// ---- Ids

const idLetters = 'abcdefghjkmnpqrs';
const idDigits = '0123456789abcdefghjkmnpqrstvwxyz';

/** The text form of an id of 16 bytes in hexadecimal: 26 characters, the second half first (docs/protocol.md).
 * @param {string} hex */
export function idText(hex) {
  const bits = BigInt(`0x${hex.slice(16)}${hex.slice(0, 16)}`);
  let text = idLetters[Number(bits >> 124n)];
  for (let place = 0; place < 24; place += 1) text += idDigits[Number((bits >> BigInt(119 - 5 * place)) & 31n)];
  return text + idDigits[Number((bits << 1n) & 31n)];
}

/** The bytes of an id in hexadecimal; the reverse of `idText`.
 * @param {string} text */
export function idHex(text) {
  let bits = BigInt(idLetters.indexOf(text[0]));
  for (const digit of text.slice(1, 25)) bits = (bits << 5n) | BigInt(idDigits.indexOf(digit));
  bits = (bits << 4n) | BigInt(idDigits.indexOf(text[25]) >> 1);
  const hex = bits.toString(16).padStart(32, '0');
  return hex.slice(16) + hex.slice(0, 16);
}
