// The messages of the server: Replica+Receive.swift and Replica+ResumeValidation.swift.
import { slotsOf } from '../context/graph.js';
import * as queries from './queries.js';

/** @typedef {import('./replica.js').Replica} Replica */

const codes = new Set(['conflict', 'invalid', 'denied', 'unique', 'notFound', 'malformed', 'limit', 'pruned',
  'unavailable', 'notAllowed', 'cancelled']);

/**
 * A code of a newer server counts as `unavailable`; its message still explains the refusal.
 * @param {string} code
 */
const knownCode = (code) => (codes.has(code) ? code : code ? 'unavailable' : 'malformed');

/**
 * Handles a message.
 * @param {Replica} replica
 * @param {import('./replica.js').WireMessage} message
 */
export function receive(replica, { request: number, kind, body: received }) {
  const { open, actions, identity } = replica;
  if (replica.timer.recordMessage()) actions.push({ type: 'silence', isSilent: false });
  const body = kind === 'refused' ? { ...received, code: knownCode(received.code) } : received;
  if (kind === 'close') return close(replica, body);
  const purpose = open.purposes.get(number);
  const query = purpose?.query ?? 0;
  switch (kind) {
    case 'delta': return queries.receiveDelta(replica, body);
    case 'advance': return queries.receiveAdvance(replica, body.revision, body.fingerprint);
    case 'reset': return queries.receiveReset(replica, body.query);
    case 'rights':
      actions.push({ type: 'rights', grants: body.grants });
      return;
    case 'presence':
      actions.push({ type: 'presence', presence: body });
      return;
  }
  switch (`${purpose?.kind} ${kind}`) {
    case 'hello welcome':
      open.close(number);
      return receiveWelcome(replica, body);
    case 'save committed':
      replica.resume.record(stateOf(replica, body.result));
      return receiveOutcome(replica, number, { type: 'saved', id: /** @type {any} */ (purpose?.id), saved: body });
    case 'save refused':
      return receiveOutcome(replica, number, { type: 'saved', id: /** @type {any} */ (purpose?.id), refusal: body });
    case 'subscribe refused':
      open.close(number);
      return queries.receiveRefusal(replica, query, body);
    case 'subscribe subscribed':
      // The query is no longer followed: ignore further answers to its subscription, such as a reset.
      if (!replica.queries.has(query)) open.close(number);
      return queries.receiveSubscribed(replica, query, number, body);
    case 'moveWindow subscribed': return queries.receiveMovedAsReload(replica, body.query, query, number);
    case 'moveWindow windowMoved': return queries.receiveMoved(replica, body, query, number);
    case 'moveWindow refused':
      open.close(number);
      replica.queries.get(query)?.cancelMove();
      return;
    case 'subscribe chunk': return queries.receiveChunk(replica, body, query, number);
    case 'confirmation followed':
      open.close(number);
      return receiveConfirmation(replica, purpose?.revision ?? 0, true);
    case 'confirmation refused':
      open.close(number);
      // `unavailable` does not answer the question: ask again on the next connection.
      if (body.code === 'unavailable') actions.push({ type: 'disconnect', refusal: body });
      else receiveConfirmation(replica, purpose?.revision ?? 0, false);
      return;
    case 'ping pong':
      open.close(number);
      // The server names a revision only after it has sent everything up to it.
      if (replica.subscriptions.areAnswered && !replica.staged.length && body.head.revision > 0) {
        queries.advanceResults(replica, body.head);
      }
      return;
  }
  if (purpose?.kind !== 'request' && purpose?.kind !== 'batch') return;
  const request = purpose.request ?? 0;
  if (kind === 'refused') {
    if (purpose.kind === 'batch') identity.finishBatch(request);
    open.close(number, request);
    actions.push({ type: 'refused', request, refusal: body });
    return;
  }
  const awaitsMore = kind === 'exportHead' || (['chunk', 'log', 'differences'].includes(kind) && !body.last);
  const isLast = purpose.kind === 'batch' ? kind !== 'progress' : !awaitsMore;
  if (purpose.kind === 'batch' && isLast) identity.finishBatch(request);
  if (kind === 'chunk' && body.last) replica.resume.record(body.at);
  if (kind === 'committed') replica.resume.record(stateOf(replica, body.result));
  if (isLast) open.close(number, request);
  actions.push({ type: 'reply', request, kind, body, isLast });
}

/**
 * The state after a commit.
 * @param {Replica} replica
 * @param {any} result
 * @returns {import('./replica.js').Token}
 */
function stateOf({ store }, { revision, fingerprint }) { return { store, revision, fingerprint }; }

/**
 * Passes on the outcome of a save, which is no longer pending.
 * @param {Replica} replica
 * @param {number} number
 * @param {import('./replica.js').ReplicaAction & { type: 'saved' }} action
 */
function receiveOutcome(replica, number, action) {
  replica.open.close(number);
  replica.forget(action.id);
  replica.actions.push(action);
}

/**
 * @param {Replica} replica
 * @param {any} body
 */
function close(replica, body) {
  const refusal = { code: codes.has(body.code) ? body.code : 'unavailable', message: body.message };
  // A server that shuts down comes back; one that rejects this client will not change its decision.
  replica.actions.push({ type: refusal.code === 'unavailable' ? 'disconnect' : 'rejected', refusal });
}

/**
 * @param {Replica} replica
 * @param {any} welcome
 */
function receiveWelcome(replica, welcome) {
  replica.state = 'resuming';
  replica.head = welcome.head.revision;
  replica.hasDiverged = false;
  replica.timer.setHeartbeat(welcome.heartbeatMilliseconds);
  replica.identity.connect(welcome.lastSequence);
  replica.store = welcome.head.store;
  replica.slots = slotsOf(welcome.entities);
  replica.actions.push({ type: 'welcomed', welcome });
  // Must come first: the server answers it before it commits a save.
  beginResumeValidation(replica, welcome.head);
  for (const query of sortedKeys(replica.queries)) queries.subscribe(replica, query);
  if (!replica.queries.size && replica.subscriptions.areAnswered) finishResumeValidation(replica);
}

/**
 * The keys in ascending order.
 * @param {Map<number, any>} map
 */
export function sortedKeys(map) { return [...map.keys()].sort((a, b) => a - b); }

/**
 * Asks the store for the changes after the newest state, unless the subscription of a query names it. The store refuses
 * if it does not know that state.
 * @param {Replica} replica
 * @param {import('./replica.js').Token} head
 */
function beginResumeValidation(replica, head) {
  replica.resume.connect(head);
  const token = replica.resume.unconfirmedToken;
  // Every store knows the state of revision 0.
  if (!token || token.revision <= 0) return;
  const named = replica.newestOfQueries;
  if (!named || named.revision < token.revision) requestConfirmation(replica, token);
}

/**
 * @param {Replica} replica
 * @param {import('./replica.js').Token} token
 */
function requestConfirmation(replica, token) {
  replica.subscriptions.unanswered++;
  replica.send('changes', { follow: { since: token, limit: 1 } }, { kind: 'confirmation', revision: token.revision });
}

/**
 * Handles the answer to whether the store knows the newest state.
 * @param {Replica} replica
 * @param {number} revision
 * @param {boolean} isKnown
 */
function receiveConfirmation(replica, revision, isKnown) {
  replica.resume.recordAnswer(revision, isKnown);
  queries.finishSubscribing(replica, true);
}

/**
 * Decides whether the held state is valid, once the store has answered for every state in question.
 * @param {Replica} replica
 */
export function finishResumeValidation(replica) {
  if (replica.resume.isDenied) return diverge(replica);
  const token = replica.resume.openToken;
  if (token) {
    // The query that would have confirmed the state was refused, or is no longer followed.
    requestConfirmation(replica, token);
    return;
  }
  replica.resume.confirm();
}

/**
 * Handles a store that is not the one of this side's newest state, or was restored to an earlier one. Held objects
 * can't be distinguished from those of states that the store never reached, so all queries are reloaded.
 * @param {Replica} replica
 */
function diverge(replica) {
  replica.resume.discardUnconfirmed();
  replica.publishedRevision = 0;
  if (replica.state === 'resuming') replica.hasDiverged = true;
  for (const save of replica.pending) save.isOutdated = true;
  replica.actions.push({ type: 'diverged' });
  for (const query of sortedKeys(replica.queries)) queries.reloadAfterDivergence(replica, query);
}

// ---- Open requests
//
// The unanswered messages of a connection: OpenRequests.swift, SubscriptionQueue.swift and ReplicaIdentity.swift.

/**
 * @typedef {{ replica: string, sequence: number }} TransactionID
 * @typedef {{ kind: 'hello'|'save'|'subscribe'|'moveWindow'|'request'|'batch'|'confirmation'|'ping'|'unanswered',
 *   query?: number, request?: number, id?: TransactionID, revision?: number }} Purpose of a message to the server
 */

/**
 * Whether two transactions have the same id.
 * @param {TransactionID} one
 * @param {TransactionID} other
 */
export function isSameID(one, other) { return one.replica === other.replica && one.sequence === other.sequence; }

/** The requests of one connection that have answers, or further parts of answers, to come. */
export class OpenRequests {
  constructor() {
    this.lastNumber = 0;
    /** @type {Map<number, Purpose>} */
    this.purposes = new Map();
    /**
     * The numbers of the owner's requests.
     * @type {Map<number, number>}
     */
    this.numbers = new Map();
  }

  /**
   * Numbers a message, and keeps its purpose if it has an answer.
   * @param {Purpose} purpose
   */
  add(purpose) {
    const number = ++this.lastNumber;
    if (purpose.kind !== 'unanswered') this.purposes.set(number, purpose);
    if (purpose.kind === 'request' || purpose.kind === 'batch') this.numbers.set(purpose.request ?? 0, number);
    return number;
  }

  /**
   * Closes a request, of the owner if it is named: later answers are ignored.
   * @param {number} number
   * @param {number} [request]
   */
  close(number, request) {
    this.purposes.delete(number);
    if (request !== undefined) this.numbers.delete(request);
  }

  /**
   * Closes a request whose further answers name another number.
   * @param {number} old
   * @param {number} number
   * @param {Purpose} purpose
   */
  replace(old, number, purpose) {
    this.purposes.set(number, purpose);
    if (old !== number) this.purposes.delete(old);
  }

  /**
   * Closes all requests about a query.
   * @param {number} query
   */
  removeAbout(query) {
    for (const [number, purpose] of this.purposes) if (purpose.query === query) this.purposes.delete(number);
  }

  /** Closes all requests, because the connection ended; returns the owner's, ascending. */
  removeAll() {
    const requests = [...this.numbers.keys()].sort((a, b) => a - b);
    this.purposes.clear();
    this.numbers.clear();
    return requests;
  }
}

/** Limits the subscriptions that are sent at a time, because a server refuses requests beyond its limit. */
export class SubscriptionQueue {
  constructor() {
    /** Unanswered subscriptions, unsent ones included, and the question whether the server knows the newest state. */
    this.unanswered = 0;
    /** @type {number[]} */
    this.unsent = [];
  }

  /**
   * Until the server has answered all of them, nothing is published: a query that resumes may still deliver its part of
   * a revision that the others have.
   */
  get areAnswered() { return this.unanswered === 0; }

  /**
   * Adds a subscription; returns whether to send it now.
   * @param {number} query
   */
  add(query) {
    this.unanswered++;
    if (this.unanswered - this.unsent.length <= SubscriptionQueue.maximumSent) return true;
    this.unsent.push(query);
    return false;
  }

  /**
   * Removes a query that has not been sent; returns whether it was here.
   * @param {number} query
   */
  removeUnsent(query) {
    const index = this.unsent.indexOf(query);
    if (index >= 0) this.unsent.splice(index, 1);
    return index >= 0;
  }

  /** Records an answer; returns the query to subscribe to next, if one waits. */
  recordAnswer() {
    this.unanswered = Math.max(0, this.unanswered - 1);
    if (!this.unsent.length || this.unanswered - this.unsent.length >= SubscriptionQueue.maximumSent) return undefined;
    return this.unsent.shift();
  }
}
/** A quarter of the server's limit for waiting requests. */
SubscriptionQueue.maximumSent = 64;

/**
 * The id of a replica, and the ids of its transactions on the wire.
 *
 * A *copy* is a replica of which another instance has committed: the storage of the browser was copied or restored. It
 * takes a new id. A transaction that was sent before keeps its id, because it may have been committed under it.
 */
export class ReplicaIdentity {
  /**
   * @param {string} id
   * @param {number} lastSequence the highest sequence that was sent under the id; 0 for none
   */
  constructor(id, lastSequence) {
    this.id = id;
    this.lastSequence = lastSequence;
    /** @type {Set<string>} */
    this.formerIDs = new Set();
    /**
     * The batches whose outcome has not arrived: the newest request, and the id on the wire.
     * @type {{ id: TransactionID, request: number, wireID: TransactionID }[]}
     */
    this.openBatches = [];
    /**
     * `copied`: only transactions that were sent before are sent again.
     * @type {'unique'|'copied'|'awaitingID'}
     */
    this.phase = 'unique';
  }

  /**
   * Compares this instance with the server's highest sequence of the replica.
   * @param {number} known
   */
  connect(known) { this.phase = known > this.lastSequence ? 'copied' : 'unique'; }

  /**
   * Replaces the id for all transactions that have not been sent.
   * @param {string} id
   */
  renew(id) {
    this.formerIDs.add(this.id);
    this.id = id;
    this.lastSequence = 0;
  }

  /**
   * The id on the wire of a transaction that has not been sent.
   * @param {TransactionID} id
   * @returns {TransactionID}
   */
  wireID(id) { return this.formerIDs.has(id.replica) ? { replica: this.id, sequence: id.sequence } : id; }

  /** @param {TransactionID} id */
  openBatch(id) { return this.openBatches.find((batch) => isSameID(batch.id, id)); }

  /**
   * The id on the wire of a batch, or of its rows.
   * @param {TransactionID} id
   */
  batchWireID(id) { return this.openBatch(id)?.wireID ?? this.wireID(id); }

  /**
   * Whether a batch may be sent now: a copy may only repeat one.
   * @param {TransactionID} id
   */
  maySendBatch(id) { return this.phase === 'unique' || this.openBatch(id) !== undefined; }

  /**
   * Records that a transaction is sent under this id of the wire.
   * @param {TransactionID} id
   */
  recordSent(id) { if (id.replica === this.id) this.lastSequence = Math.max(this.lastSequence, id.sequence); }

  /**
   * @param {TransactionID} id
   * @param {number} request
   */
  recordSentBatch(id, request) {
    const wireID = this.batchWireID(id);
    this.openBatches = this.openBatches.filter((batch) => !isSameID(batch.id, id));
    this.openBatches.push({ id, request, wireID });
    this.recordSent(wireID);
  }

  /**
   * Records the outcome of a batch.
   * @param {number} request
   */
  finishBatch(request) { this.openBatches = this.openBatches.filter((batch) => batch.request !== request); }
}
