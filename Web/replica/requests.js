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
