// The queue of unsent edits, without storage, network or clock: each event returns the actions that follow from it.
//
// An intent is queued, is marked as sent (`left`) before its first byte is sent, and is removed when the server's
// answer has arrived and its effects are visible. A refused intent is parked: it stays until the user retries or
// discards it, and blocks only intents that need an object which it inserts. Intents are sent in their order. An intent
// that touches an object of an unanswered intent waits, and so do all later ones. Later edits of the same step are
// merged into a waiting intent. Each note therefore has one write in flight and at most one that waits.

import { entityOf, idOf, isTemporary, merge, rename, subjects } from './intents.js';

/** @typedef {import('./intents.js').Intent} Intent */
/** @typedef {import('./intents.js').Change} Change */
/** @typedef {import('./intents.js').Conflict} Conflict */
/** @typedef {{code: string, message: string, conflicts?: Conflict[], violations?: object[], outcomeUnknown?: boolean}} Refusal
 *  with objects as `Entity/ID` */
/** @typedef {{do: 'store', intent: Intent} | {do: 'leave', intent: Intent} | {do: 'send', intent: Intent}
 *  | {do: 'settle', removed: number[], stored: Intent[]}} Action
 *  store, leave and settle are durable when `stored`, `hasLeft` is called. */

/** The minimum time between two transactions of one step, in milliseconds. */
export const interval = 50;
/** The time after which a transaction that the server could not carry out is sent again. */
export const retryDelay = 2000;
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
   * @param {string} entity @param {import('./intents.js').UndoGroup} undo */
  name(entity, undo) {
    const number = this.#open(undo)?.number ?? this.#next;
    this.#names = number === this.#named ? this.#names + 1 : 1;
    this.#named = number;
    return `${entity}/new:${number}.${this.#names}`;
  }
  #names = 0;
  #named = 0;

  /** The newest intent, if a change of this step can join it.
   * @param {import('./intents.js').UndoGroup} undo */
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
   * @param {{undo: import('./intents.js').UndoGroup, policy: string, author: string, made: string, model?: object}} about
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

  /** @param {Intent} intent @param {import('./intents.js').Parked} parked @returns {Action[]} */
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

  /** Takes over the intents of a replica that has ended, such as a closed tab: with new numbers and names. Those that
   * had left keep their transaction ids, because the server may have committed them.
   * @param {Intent[]} intents in their order @returns {Intent[]} the intents to store in place of the old ones */
  adopt(intents) {
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
      if (intent.state === 'parked') {
        this.parked.set(intent.number, intent);
        continue;
      }
      if (intent.state === 'queued') intent.transaction = { replica: this.#replica, sequence: this.#sequence() };
      // Sent again once a connection of its replica is there.
      if (intent.state === 'left') intent.retryAt = -Infinity;
      this.entries.push(intent);
    }
    return sorted;
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
      mine: change.kind === 'delete' ? null : isPlace ? change.set : text ? textAfter(text[1]) : found?.mine ?? change.set[String(property)] ?? null,
      theirs: isPlace ? place(intent) : found?.theirs ?? null,
      edit: text?.[1], author: found?.author ?? '', when: new Date(intent.made), reason: intent.parked?.message ?? '',
    };
  });
}

/** @param {Intent} intent */
function place(intent) {
  return Object.fromEntries((intent.parked?.conflicts ?? []).map((each) => [each.property ?? '', each.theirs]));
}

/** @param {import('./intents.js').TextEdit} edit */
function textAfter({ before, splices }) {
  let result = before;
  for (const each of [...splices].reverse()) {
    result = result.slice(0, each.offset) + each.insertion + result.slice(each.offset + each.length);
  }
  return result;
}
