// Unsent edits, and the queue in which they wait for the server.

import { apply, compose, fromBytes, toBytes } from '../context/text.js';

// ---- Intents
//
// Unsent edits. An intent is one transaction of the user: what it changes, by names, under the id with which it is sent.
// docs/guides/offline.md describes its JSON form, which the shell's replica reads and writes too. In memory, an intent has
// one change for each object, and texts are edited by splices in UTF-16; the form counts bytes.

/** @typedef {import('../context/text.js').Splice} Splice */
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
      set[name] = apply(edit.splices, /** @type {string} */ (set[name]));
    } else if (earlier.kind === 'insert') {
      set[name] = apply(edit.splices, '');
    } else if (texts[name]) {
      texts[name] = { ...texts[name], splices: compose(texts[name].splices, edit.splices) };
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
function subjects(intent) {
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
function rename(intent, names, revision, texts = new Set()) {
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
    const bytes = toBytes(edit.splices, edit.before);
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
        made.texts[property] = { before: text, ...(isLowest ? { base: each.base } : {}), splices: fromBytes(edit.splices, text) };
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
      const bytes = toBytes(list, edit.before).map(({ offset, length, insertion, continues }) => (
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

// ---- The queue
//
// The queue has neither storage, network nor clock: each event returns the actions that follow from it.
//
// An intent is queued, is marked as sent (`left`) before its first byte is sent, and is removed when the server's
// answer has arrived and its effects are visible. A refused intent is parked: it stays until the user retries or
// discards it, and blocks only intents that need an object which it inserts. Intents are sent in their order. An intent
// that touches an object of an unanswered intent waits, and so do all later ones. Later edits of the same step are
// merged into a waiting intent. Each note therefore has one write in flight and at most one that waits.

/** @typedef {{code: string, message: string, conflicts?: Conflict[], violations?: object[], outcomeUnknown?: boolean}} Refusal
 *  with objects as `Entity/ID` */
/** @typedef {{do: 'store', intent: Intent} | {do: 'leave', intent: Intent} | {do: 'send', intent: Intent}
 *  | {do: 'settle', removed: number[], stored: Intent[]}} Action
 *  store, leave and settle are durable when `stored`, `hasLeft` is called. */

/** The minimum time between two transactions of one step, in milliseconds. */
const interval = 50;
/** The time after which a transaction that the server could not carry out is sent again. */
const retryDelay = 2000;
/** The maximum number of intents without an answer. */
const maximumInFlight = 32;
/** The properties of a note's place. A lost move is reported as one conflict; a move that wins is visible anyway. */
const frame = ['x', 'y', 'width', 'height', 'z'];

export class Queue {
  /** Queued intents and those without an answer, in order.
   * @type {Intent[]} */
  entries = [];
  /** Refused intents.
   * @type {Map<number, Intent>} */
  parked = new Map();
  /** Intents from this number on wait until an undo is answered. */
  barrier = Infinity;
  #next = 1;
  #replica;
  #sequence;
  /** @type {Map<number, number>} the time at which a step's newest intent left, by its group */
  #leftAt = new Map();
  /** @type {Map<number, number>} the version that is being stored, by number */
  #storing = new Map();

  /** @param {{replica: string, nextSequence: () => number}} identity the replica's id, as text, and its counter */
  constructor({ replica, nextSequence }) {
    this.#replica = replica;
    this.#sequence = nextSequence;
  }

  /** The number of edits that the server does not have. */
  get unsent() { return this.entries.filter((each) => each.state !== 'answered').length; }

  /** A temporary name for an object of an intent that `add` extends or makes.
   * @param {string} entity @param {UndoGroup} undo */
  name(entity, undo) {
    const number = this.#open(undo)?.number ?? this.#next;
    this.#names = number === this.#named ? this.#names + 1 : 1;
    this.#named = number;
    return `${entity}/new:${number}.${this.#names}`;
  }
  #names = 0;
  #named = 0;

  /** The newest intent, if a change of this step can join it.
   * @param {UndoGroup} undo */
  #open(undo) {
    const last = this.entries[this.entries.length - 1];
    const isSame = last?.state === 'queued' && last.undo?.scope === undo.scope && last.undo.group === undo.group;
    return isSame && last.number < this.barrier ? last : undefined;
  }

  /** The intents with changes of an object, in order.
   * @param {string} object */
  of(object) { return this.entries.filter((each) => each.changes.some((change) => change.object === object)); }

  /** Whether an unanswered intent changes an object.
   * @param {string} object */
  isInFlight(object) { return this.of(object).some((each) => each.state !== 'queued'); }

  // ---- Edits

  /** Adds changes: to the newest intent if it is of the same step and has not left, otherwise as a new one.
   * @param {Change[]} changes
   * @param {{undo: UndoGroup, policy: string, author: string, made: string, model?: object}} about
   * @returns {Action[]} */
  add(changes, about) {
    const last = this.#open(about.undo);
    if (last) {
      last.changes = merge(last.changes, changes);
      last.version += 1;
      // Edits that were made offline must not overwrite the changes of other users.
      if (about.policy === 'storeTrump') last.policy = about.policy;
      if (last.changes.length > 0) return this.#store(last);
      this.entries.pop();
      return [{ do: 'settle', removed: [last.number], stored: [] }];
    }
    const number = this.#next;
    this.#next += 1;
    /** @type {Intent} */
    const intent = {
      ...about, number, transaction: { replica: this.#replica, sequence: this.#sequence() }, changes: merge([], changes),
      state: 'queued', version: 1,
    };
    if (intent.changes.length === 0) return [];
    this.entries.push(intent);
    return this.#store(intent);
  }

  /** Records that a queued intent was changed, because it was rebased.
   * @param {Intent} intent @returns {Action[]} */
  touch(intent) {
    intent.version += 1;
    return this.#store(intent);
  }

  /** @param {Intent} intent @returns {Action[]} */
  #store(intent) {
    // An intent that can leave is stored once, with its mark.
    if (this.#storing.has(intent.number)) return [];
    this.#storing.set(intent.number, intent.version);
    return [{ do: 'store', intent }];
  }

  /** Records that an intent is durable, in the version that it had at its `store` action.
   * @param {number} number @returns {Action[]} */
  stored(number) {
    const version = this.#storing.get(number);
    this.#storing.delete(number);
    const intent = this.entries.find((each) => each.number === number);
    return intent?.state === 'queued' && version !== undefined && intent.version > version ? this.#store(intent) : [];
  }

  /** Removes the queued intents of the newest step, if none of it has left; this undoes it without the server.
   * @returns {{name: string, changes: Change[], actions: Action[]} | null} */
  withdraw() {
    const last = this.entries[this.entries.length - 1];
    if (!last?.undo) return null;
    const { scope, group, name } = last.undo;
    const step = this.entries.filter((each) => each.undo?.scope === scope && each.undo.group === group);
    if (step.some((each) => each.state !== 'queued') || this.#leftAt.has(group)) return null;
    this.entries = this.entries.filter((each) => !step.includes(each));
    const removed = step.map((each) => each.number);
    return { name, changes: step.flatMap((each) => each.changes), actions: [{ do: 'settle', removed, stored: [] }] };
  }

  // ---- Sending

  /** The intents to send now, and the time at which to call this again.
   * @param {number} now in milliseconds @param {string} at the same as text
   * @param {(intent: Intent) => boolean} isReady whether the state that an intent refers to is known
   * @returns {{actions: Action[], wake: number}} */
  leaving(now, at, isReady = () => true) {
    /** @type {Action[]} */
    const actions = [];
    let wake = Infinity;
    for (const intent of [...this.entries]) {
      if (intent.state === 'left' && intent.retryAt !== undefined) {
        if (intent.retryAt <= now) {
          delete intent.retryAt;
          actions.push({ do: 'send', intent });
        } else {
          wake = Math.min(wake, intent.retryAt);
        }
      }
      if (intent.state !== 'queued') continue;
      if (intent.number >= this.barrier) break;
      const orphaned = this.#orphaned(intent);
      if (orphaned !== undefined) {
        const message = 'it needs something that the server has refused';
        actions.push(...this.#park(intent, { code: 'waits', message, at, ...(orphaned > 0 ? { waitsFor: orphaned } : {}) }));
        continue;
      }
      if (this.#isBlocked(intent) || !isReady(intent)) break;
      const due = (this.#leftAt.get(intent.undo?.group) ?? -Infinity) + interval;
      if (due > now) {
        wake = Math.min(wake, due);
        break;
      }
      if (this.entries.filter((each) => each.state !== 'queued').length >= maximumInFlight) break;
      for (const group of this.#leftAt.keys()) if (this.#leftAt.size > 100) this.#leftAt.delete(group);
      this.#leftAt.set(intent.undo?.group, now);
      intent.state = 'leaving';
      actions.push({ do: 'leave', intent });
    }
    return { actions, wake };
  }

  /** The parked intent that makes an object which a queued intent needs; 0 if it was discarded.
   * @param {Intent} intent */
  #orphaned(intent) {
    for (const name of subjects(intent).needs) {
      const makes = (/** @type {Intent} */ each) => each.changes.some((change) => change.kind === 'insert' && change.object === name);
      if (this.entries.some(makes)) continue;
      return [...this.parked.values()].find(makes)?.number ?? 0;
    }
    return undefined;
  }

  /** @param {Intent} intent */
  #isBlocked(intent) {
    const { objects, needs } = subjects(intent);
    if (needs.size > 0) return true;
    for (const each of this.entries) {
      if (each === intent) return false;
      if (each.state !== 'queued' && each.changes.some((change) => objects.has(change.object))) return true;
    }
    return false;
  }

  /** The mark of an intent is durable.
   * @param {number} number @returns {Action[]} */
  hasLeft(number) {
    const intent = this.entries.find((each) => each.number === number);
    if (!intent || intent.state !== 'leaving') return [];
    intent.state = 'left';
    return [{ do: 'send', intent }];
  }

  /** Another tab has taken intents over; they are its to send.
   * @param {Set<number>} numbers */
  taken(numbers) {
    this.entries = this.entries.filter((each) => !numbers.has(each.number));
    for (const number of numbers) this.parked.delete(number);
  }

  // ---- Answers

  /** The server has committed an intent. Its effects stay in the overlay until `seen`.
   * @param {number} number
   * @param {{revision: number, ids: Map<string, string>, conflicts: (Conflict & {mineWon: boolean, collateral?: boolean})[], at: string}} answer
   *  `ids` maps `Entity/new:…` to `Entity/ID`
   * @returns {Action[]} */
  answered(number, { revision, ids, conflicts, at }) {
    const intent = this.entries.find((each) => each.number === number);
    if (!intent || intent.state !== 'left') return [];
    intent.state = 'answered';
    intent.revision = revision;
    delete intent.retryAt;
    const lost = this.#lost(intent, conflicts, at);
    const stored = lost.map((each) => each);
    rename(intent, ids);
    const texts = new Set();
    for (const other of [...this.entries, ...this.parked.values(), ...lost]) {
      if (other !== intent && rename(other, ids, revision, texts) && !stored.includes(other)) {
        other.version += 1;
        stored.push(other);
      }
    }
    const removed = [number, ...lost.flatMap((each) => this.#superseded(each))];
    for (const each of removed) this.parked.delete(each);
    for (const each of lost) this.parked.set(each.number, each);
    return [{ do: 'settle', removed, stored: stored.filter((each) => !removed.includes(each.number)) }];
  }

  /** The parked intents whose values a later one of the user replaces: a note that was dragged twice has one conflict.
   * @param {Intent} intent */
  #superseded(intent) {
    const [change] = intent.changes;
    const covers = (/** @type {Change} */ other) => other.kind === change.kind && other.object === change.object
      && Object.keys(other.texts).length + Object.keys(other.members).length === 0
      && Object.keys(other.set).every((name) => name in change.set);
    return [...this.parked.values()].filter((each) => each.parked?.code === 'conflict' && each.changes.every(covers)).map((each) => each.number);
  }

  /** Parked intents for the changes that lost a conflict, one for each object.
   * @param {Intent} intent @param {(Conflict & {mineWon: boolean, collateral?: boolean})[]} conflicts @param {string} at */
  #lost(intent, conflicts, at) {
    /** @type {Intent[]} */
    const result = [];
    for (const change of intent.changes) {
      const own = conflicts.filter((each) => each.object === change.object && !each.mineWon && each.kind !== 'unique');
      if (own.length === 0) continue;
      const isWhole = own.some((each) => each.kind === 'deleted' || !each.property) || change.kind === 'delete';
      const names = own.map((each) => each.property);
      const kept = (/** @type {string} */ name) => isWhole || names.includes(name);
      const part = {
        ...change, set: filtered(change.set, kept), members: filtered(change.members, kept), texts: filtered(change.texts, kept),
      };
      const isEmpty = [part.set, part.members, part.texts].every((each) => Object.keys(each).length === 0);
      if (isEmpty && change.kind !== 'delete') continue;
      // A deleted note that someone else moved is not worth a question.
      if (own[0].kind === 'deleted' && change.kind !== 'delete'
        && Object.keys(part.texts).length === 0 && Object.keys(part.members).length === 0
        && Object.keys(part.set).every((name) => frame.includes(name))) continue;
      const number = this.#next;
      this.#next += 1;
      const [first] = own;
      const message = first.kind === 'deleted' ? 'the object was deleted' : `${first.author || 'someone'} has changed the same`;
      result.push({
        ...intent, number, transaction: { replica: this.#replica, sequence: this.#sequence() }, changes: [part],
        state: 'parked', version: 1, parked: { code: 'conflict', message, at, conflicts: own.map(plain) },
      });
    }
    return result;
  }

  /** The server has refused an intent.
   * @param {number} number @param {Refusal} refusal
   * @param {{now: number, at: string}} time @returns {Action[]} */
  refused(number, refusal, { now, at }) {
    const intent = this.entries.find((each) => each.number === number);
    if (!intent || intent.state !== 'left') return [];
    if (refusal.code === 'unavailable' || refusal.outcomeUnknown) {
      intent.retryAt = now + retryDelay;
      return [];
    }
    if (refusal.code === 'outdated') {
      // The store was restored to an earlier state: the same edits are made again over it, under the same id.
      intent.state = 'queued';
      delete intent.left;
      return this.touch(intent);
    }
    const { code, message, conflicts, violations } = refusal;
    return this.#park(intent, {
      code, message, at, ...(conflicts?.length ? { conflicts: conflicts.map(plain) } : {}), ...(violations?.length ? { violations } : {}),
    });
  }

  /** @param {Intent} intent @param {Parked} parked @returns {Action[]} */
  #park(intent, parked) {
    this.entries = this.entries.filter((each) => each !== intent);
    intent.state = 'parked';
    intent.parked = parked;
    intent.version += 1;
    this.parked.set(intent.number, intent);
    /** @type {Intent[]} */
    const stored = [intent];
    const made = intent.changes.filter((each) => each.kind === 'insert').map((each) => each.object);
    for (const other of [...this.entries]) {
      const { needs } = subjects(other);
      if (other.state !== 'queued' || !made.some((each) => needs.has(each))) continue;
      const message = 'it needs something that the server has refused';
      const [action] = this.#park(other, { code: 'waits', message, at: parked.at, waitsFor: intent.number });
      if (action.do === 'settle') stored.push(...action.stored);
    }
    return [{ do: 'settle', removed: [], stored }];
  }

  /** The effects of an answered intent are visible.
   * @param {number} number */
  seen(number) { this.entries = this.entries.filter((each) => each.number !== number || each.state !== 'answered'); }

  // ---- Conflicts

  /** Sends a parked intent again, over the present state: the user's values win.
   * @param {number} number @param {number} revision the newest revision that is shown @returns {Action[]} */
  retry(number, revision) {
    const intent = this.parked.get(number);
    if (!intent) return [];
    this.parked.delete(number);
    intent.transaction = { replica: this.#replica, sequence: this.#sequence() };
    intent.policy = 'objectTrump';
    intent.state = 'queued';
    delete intent.parked;
    delete intent.left;
    for (const change of intent.changes) if (change.kind !== 'insert' && !isTemporary(change.object)) change.base = revision;
    this.entries.push(intent);
    const actions = this.touch(intent);
    const made = intent.changes.map((each) => each.object);
    for (const other of [...this.parked.values()].sort((a, b) => a.number - b.number)) {
      if (other.parked?.waitsFor === number && made.length > 0) actions.push(...this.retry(other.number, revision));
    }
    return actions;
  }

  /** Removes a parked intent, and the intents that need an object which only it makes.
   * @param {number} number @returns {Action[]} */
  discard(number) {
    const intent = this.parked.get(number);
    if (!intent) return [];
    this.parked.delete(number);
    const removed = [number];
    for (const other of [...this.parked.values()]) {
      if (other.parked?.waitsFor !== number) continue;
      for (const action of this.discard(other.number)) if (action.do === 'settle') removed.push(...action.removed);
    }
    return [{ do: 'settle', removed, stored: [] }];
  }

  // ---- Other replicas

  /** Gives the intents of a replica that has ended, such as a closed tab, numbers and names of this one. Those that had
   * left keep their transaction ids, because the server may have committed them. They join the queue with `adopt`.
   * @param {Intent[]} intents @returns {Intent[]} the intents to store in place of the old ones, in their order */
  renumber(intents) {
    const sorted = [...intents].sort((a, b) => a.number - b.number);
    /** @type {Map<string, string>} */
    const names = new Map();
    /** @type {Map<number, number>} */
    const numbers = new Map();
    for (const intent of sorted) {
      numbers.set(intent.number, this.#next);
      intent.number = this.#next;
      this.#next += 1;
      for (const { kind, object } of intent.changes) {
        if (kind === 'insert') names.set(object, `${entityOf(object)}/new:${intent.number}.${names.size + 1}`);
      }
    }
    for (const intent of sorted) {
      rename(intent, names);
      if (intent.parked?.waitsFor !== undefined) intent.parked.waitsFor = numbers.get(intent.parked.waitsFor);
      if (intent.state === 'queued') intent.transaction = { replica: this.#replica, sequence: this.#sequence() };
    }
    return sorted;
  }

  /** Adds renumbered intents, before those that were made since they got their numbers. Call it when they are stored in
   * place of the old ones: another tab that finds the old ones would send them, too.
   * @param {Intent[]} intents */
  adopt(intents) {
    const newest = intents[intents.length - 1].number;
    const later = this.entries.findIndex((each) => each.number > newest);
    const sent = intents.filter((each) => each.state !== 'parked');
    this.entries.splice(later < 0 ? this.entries.length : later, 0, ...sent);
    for (const intent of intents) {
      if (intent.state === 'parked') this.parked.set(intent.number, intent);
      // Sent again once a connection of its replica is there.
      if (intent.state === 'left') intent.retryAt = -Infinity;
    }
  }

  /** The unanswered intents of other replicas, by replica. */
  get foreign() {
    /** @type {Map<string, Intent[]>} */
    const result = new Map();
    for (const intent of this.entries) {
      if (intent.state !== 'left' || intent.transaction.replica === this.#replica) continue;
      result.set(intent.transaction.replica, [...(result.get(intent.transaction.replica) ?? []), intent]);
    }
    return result;
  }
}

/** @template V @param {Record<string, V>} values @param {(name: string) => boolean} isKept */
function filtered(values, isKept) {
  return Object.fromEntries(Object.entries(values).filter(([name]) => isKept(name)));
}

/** @param {Conflict} conflict @returns {Conflict} */
function plain({ kind, object, property, mine, theirs, author, revision }) {
  return { kind, object, ...(property ? { property } : {}), mine: mine ?? null, theirs: theirs ?? null, author, revision };
}

/** A list of the parked intents for a person.
 * @param {Iterable<Intent>} parked @param {(object: string) => string | number | undefined} numberOf */
export function conflicts(parked, numberOf) {
  return [...parked].sort((a, b) => a.number - b.number).map((intent) => {
    const found = intent.parked?.conflicts?.[0];
    const violation = /** @type {{object?: string, property?: string}} */ (intent.parked?.violations?.[0] ?? {});
    const change = intent.changes.find((each) => each.object === (found?.object ?? violation.object)) ?? intent.changes[0];
    const text = Object.entries(change.texts)[0];
    const names = [...Object.keys(change.set), ...Object.keys(change.members), ...Object.keys(change.texts)];
    const isPlace = names.length > 0 && names.every((name) => frame.includes(name));
    const property = isPlace ? 'place' : found?.property ?? violation.property ?? names[0] ?? null;
    return {
      key: String(intent.number), note: idOf(change.object), entity: entityOf(change.object), number: numberOf(change.object),
      property, kind: found?.kind === 'deleted' ? 'deleted' : intent.parked?.code ?? '',
      mine: change.kind === 'delete' ? null : isPlace ? change.set : text ? apply(text[1].splices, text[1].before) : found?.mine ?? change.set[String(property)] ?? null,
      theirs: isPlace ? place(intent) : found?.theirs ?? null,
      edit: text?.[1], author: found?.author ?? '', when: new Date(intent.made), reason: intent.parked?.message ?? '',
    };
  });
}

/** @param {Intent} intent */
function place(intent) {
  return Object.fromEntries((intent.parked?.conflicts ?? []).map((each) => [each.property ?? '', each.theirs]));
}
