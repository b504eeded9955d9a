// The client half of a session, without I/O: it sends the hello, keeps saves until they are answered, follows queries
// across reconnects, and publishes a revision only when all of it has arrived. It receives events and returns actions;
// the owner provides the socket, the clock and the screen.
//
// It behaves like Sources/GraphReplica/Replica.swift: its tests replay recorded transcripts of that one. receiving.js
// handles messages, and queries.js handles queries.
import * as queries from './queries.js';
import { FollowedQuery } from './queries.js';
import { isSameID, OpenRequests, receive, ReplicaIdentity, SubscriptionQueue } from './receiving.js';

/**
 * @typedef {import('./receiving.js').TransactionID} TransactionID
 * @typedef {import('./receiving.js').Purpose} Purpose
 * @typedef {{ code: string, message: string, conflicts?: any[], violations?: any[], outcomeUnknown?: boolean }} Refusal
 * @typedef {{ request: number, kind: string, body: any }} WireMessage
 *
 * @typedef {{ type: 'connected' } | { type: 'disconnected' } | { type: 'received', message: WireMessage }
 *   | { type: 'credential', credential: string } | { type: 'tick', milliseconds: number }
 *   | { type: 'save', transaction: any } | { type: 'undo', undo: any } | { type: 'restore', restore: any }
 *   | { type: 'subscribe', query: number, subscribe: any, atMost?: number } | { type: 'unsubscribe', query: number }
 *   | { type: 'moveWindow', query: number, offset: number, limit: number }
 *   | { type: 'request', request: number, kind: string, body: any } | { type: 'more', request: number }
 *   | { type: 'cancel', request: number } | { type: 'renew', id: string } | { type: 'presence', state: Uint8Array }
 * } ReplicaEvent an input, from the network or from the owner. A `tick` has the milliseconds of a monotonic clock,
 *   precedes each message, and is due at `deadline`.
 *
 * @typedef {{ query: number, changes: any[] }} QueryChanges
 * @typedef {{ revision: number, time: number, author: string, changes: QueryChanges[], totals: Map<number, number> }}
 *   CommitUpdate
 * @typedef {{ rows: any[], objects: any[], total: number, offset: number, limit: number }} WindowRows
 *
 * @typedef {{ type: 'send', message: WireMessage } | { type: 'disconnect', refusal: Refusal }
 *   | { type: 'welcomed', welcome: any } | { type: 'copied' } | { type: 'rejected', refusal: Refusal }
 *   | { type: 'saved', id: TransactionID, saved?: any, refusal?: Refusal }
 *   | { type: 'incomplete', query: number, damage: any } | { type: 'loaded', query: number, objects: any[], at: Token }
 *   | { type: 'loadedWindow', query: number, rows: WindowRows, at: Token }
 *   | { type: 'resumed', query: number, since: number } | { type: 'diverged' } | { type: 'outdated', transaction: any }
 *   | { type: 'changed', update: CommitUpdate } | { type: 'refusedQuery', query: number, refusal: Refusal }
 *   | { type: 'reply', request: number, kind: string, body: any, isLast: boolean }
 *   | { type: 'refused', request: number, refusal: Refusal } | { type: 'presence', presence: any }
 *   | { type: 'rights', grants: any[] } | { type: 'silence', isSilent: boolean }
 * } ReplicaAction an output, to perform in this order.
 *
 * @typedef {{ kind: 'commit'|'undo'|'restore', body: any, id: TransactionID, sentID?: TransactionID, isOutdated:
 *   boolean }} PendingSave
 */

const noStore = '0'.repeat(32);

/** @type {Refusal} */
const lostConnection = { code: 'unavailable', message: 'the connection was lost' };
const copied = {
  code: 'unavailable',
  message: 'another client has used the id of this one, which was copied or restored: it connects again under a new id',
};
const otherPast = {
  code: 'unavailable',
  message: 'the store was restored to an earlier state meanwhile: check its current state, and try again',
};
const forgotten = {
  code: 'unavailable',
  message: 'its answer was lost, and the history of the store has changed: the log shows whether it was done',
};

export class Replica {
  /**
   * @param {{ id: string, lastSequence?: number, author: string, program?: string, model?: string }} options
   *   `id` is 16 random bytes as hexadecimal digits; `lastSequence` is the highest sequence that was sent under it;
   *   `model` is the hash of the only accepted model.
   */
  constructor({ id, lastSequence = 0, author, program = '', model = '' }) {
    this.identity = new ReplicaIdentity(id, lastSequence);
    this.author = author;
    this.program = program;
    this.model = model;
    this.credential = '';
    /**
     * `resuming`: the hello was accepted, and the queries have not reached the server's head of that time. Until then
     * no save is sent, because saves refer to the objects of the queries, and because a restored store must be detected
     * first.
     * @type {'disconnected'|'handshaking'|'resuming'|'live'}
     */
    this.state = 'disconnected';
    /** Of the last welcome. */
    this.head = 0;
    this.hasDiverged = false;
    this.store = noStore;
    /** @type {Map<number, Map<number, number>>} */
    this.slots = new Map();
    this.timer = new ConnectionTimer();
    this.open = new OpenRequests();
    /**
     * Saves that the server has not answered, oldest first.
     * @type {PendingSave[]}
     */
    this.pending = [];
    /**
     * Batches that were requested while this side caught up, each after so many of the waiting saves.
     * @type {{ request: number, kind: string, body: any, saves: number }[]}
     */
    this.heldRequests = [];
    /**
     * The newest rows for a batch which has not been requested; the server keeps them after its answer.
     * @type {{ request: number, number: number } | undefined}
     */
    this.unusedRows = undefined;
    /** @type {Map<number, FollowedQuery>} */
    this.queries = new Map();
    /**
     * The query of each number of the server's.
     * @type {Map<number, number>}
     */
    this.numbers = new Map();
    this.subscriptions = new SubscriptionQueue();
    /**
     * Deltas that wait for the advance that completes their revision.
     * @type {any[]}
     */
    this.staged = [];
    /**
     * An advance that arrived before all subscriptions were answered.
     * @type {any}
     */
    this.deferredAdvance = undefined;
    /** The newest published revision; no query publishes an older one. */
    this.publishedRevision = 0;
    this.resume = new ResumeValidation();
    /** @type {ReplicaAction[]} */
    this.actions = [];
  }

  get isWelcomed() { return this.state === 'resuming' || this.state === 'live'; }

  /** @returns {Phase} */
  get phase() { return this.state === 'resuming' || this.state === 'live' ? 'welcomed' : this.state; }

  /** When the next tick is due, on the clock of the ticks; undefined without a connection. */
  get deadline() { return this.timer.deadline(this.phase); }

  /**
   * Fixes the model for later hellos: another model is refused then.
   * @param {string} model
   */
  adopt(model) { this.model = model; }

  /**
   * Handles one event and returns the resulting actions, in order.
   * @param {ReplicaEvent} event
   */
  handle(event) {
    this.actions = [];
    this.dispatch(event);
    if (this.state === 'resuming') this.finishResuming();
    if (this.identity.phase === 'copied') this.requestNewID();
    return this.actions;
  }

  /** @param {ReplicaEvent} event */
  dispatch(event) {
    switch (event.type) {
      case 'connected': return this.sendHello();
      case 'received': return receive(this, event.message);
      case 'disconnected': return this.disconnect();
      case 'save': return this.enqueue('commit', event.transaction);
      case 'undo': return this.enqueue('undo', event.undo);
      case 'restore': return this.enqueue('restore', event.restore);
      case 'subscribe':
        this.queries.set(event.query, new FollowedQuery(event.subscribe, event.atMost));
        if (this.isWelcomed) queries.subscribe(this, event.query);
        return;
      case 'unsubscribe': return queries.unsubscribe(this, event.query);
      case 'moveWindow':
        this.queries.get(event.query)?.setPlace(event.offset, event.limit);
        return queries.requestMove(this, event.query);
      case 'request': return this.sendRequest(event);
      case 'more': {
        const number = this.open.numbers.get(event.request);
        if (number !== undefined) this.send('more', { request: number });
        return;
      }
      case 'cancel': return this.cancel(event.request);
      case 'presence':
        if (this.isWelcomed) this.send('presence', { state: event.state });
        return;
      case 'renew': return this.renew(event.id);
      case 'credential':
        this.credential = event.credential;
        return;
      case 'tick': return this.tick(event.milliseconds);
    }
  }

  // ---- Sending

  /**
   * Sends a message to the server.
   * @param {string} kind
   * @param {any} body
   * @param {Purpose} [purpose]
   */
  send(kind, body, purpose = { kind: 'unanswered' }) {
    if (purpose.kind !== 'unanswered') this.timer.recordRequest();
    this.actions.push({ type: 'send', message: { request: this.open.add(purpose), kind, body } });
  }

  /**
   * @param {'commit'|'undo'|'restore'} kind
   * @param {any} body
   */
  enqueue(kind, body) {
    const isOutdated = this.state === 'resuming' && this.hasDiverged;
    const save = { kind, body, id: body.id, isOutdated };
    this.pending.push(save);
    if (this.state === 'live' && this.identity.phase === 'unique') this.submit(save);
  }

  /** Sends pending saves once the queries have reached the server's head at the time of the welcome. Each keeps its id,
   * so that a transaction whose answer was lost is committed once. */
  finishResuming() {
    if (!this.subscriptions.areAnswered) return;
    for (const { token } of this.queries.values()) if (!token || token.revision < this.head) return;
    this.state = 'live';
    for (const [index, save] of [...this.pending].entries()) {
      this.sendHeldRequests(index);
      if (!save.isOutdated) {
        if (this.identity.phase === 'unique' || save.sentID) this.submit(save);
        continue;
      }
      this.pending = this.pending.filter((other) => other !== save);
      if (save.kind === 'commit') this.actions.push({ type: 'outdated', transaction: save.body });
      // In the restored store, the step or the revision may be a different one.
      else this.actions.push({ type: 'saved', id: save.id, refusal: save.sentID ? forgotten : otherPast });
    }
    this.sendHeldRequests(Infinity);
  }

  /**
   * Sends the requests that were held back, in their original order among the saves.
   * @param {number} saves
   */
  sendHeldRequests(saves) {
    while (this.heldRequests.length && this.heldRequests[0].saves <= saves) {
      const held = /** @type {any} */ (this.heldRequests.shift());
      this.sendRequest(held);
    }
  }

  /** @param {PendingSave} save */
  submit(save) {
    save.sentID ??= this.identity.wireID(save.id);
    this.identity.recordSent(save.sentID);
    const body = { ...save.body, id: save.sentID };
    this.send(save.kind, save.kind === 'commit' ? { transaction: body } : body, { kind: 'save', id: save.id });
  }

  /**
   * Sends a request of the owner.
   * @param {{ request: number, kind: string, body: any }} event
   */
  sendRequest({ request, kind, body }) {
    if (!this.isWelcomed) {
      const refusal = { code: 'unavailable', message: 'there is no connection to the server' };
      this.actions.push({ type: 'refused', request, refusal });
      return;
    }
    const isBatch = kind === 'batch' || kind === 'importGraph';
    if ((isBatch || kind === 'batchRows') && !this.identity.maySendBatch(body.id)) {
      this.actions.push({ type: 'refused', request, refusal: copied });
      return;
    }
    if (isBatch) {
      this.unusedRows = undefined;
      // The request depends on the saves before it, which are sent when the queries have caught up.
      if (this.state === 'resuming' && this.pending.length) {
        this.heldRequests.push({ request, kind, body, saves: this.pending.length });
      } else {
        this.identity.recordSentBatch(body.id, request);
        this.send(kind, { ...body, id: this.identity.batchWireID(body.id) }, { kind: 'batch', request });
      }
    } else if (kind === 'batchRows') {
      this.send(kind, { ...body, id: this.identity.batchWireID(body.id) }, { kind: 'request', request });
      this.unusedRows = { request, number: this.open.lastNumber };
    } else this.send(kind, body, { kind: 'request', request });
  }

  /**
   * Cancels a request of the owner. It may have been answered.
   * @param {number} request
   */
  cancel(request) {
    const index = this.heldRequests.findIndex((held) => held.request === request);
    if (index >= 0) {
      this.heldRequests.splice(index, 1);
      const refusal = { code: 'cancelled', message: 'the request was cancelled' };
      this.actions.push({ type: 'refused', request, refusal });
      return;
    }
    const unused = this.unusedRows?.request === request ? this.unusedRows.number : undefined;
    const number = this.open.numbers.get(request) ?? unused;
    if (number === undefined) return;
    if (unused !== undefined) this.unusedRows = undefined;
    this.send('cancel', { request: number });
    // The server answers once more; parts of the reply may be on their way, too. A batch may be committed already.
    if (this.open.purposes.get(number)?.kind !== 'batch') this.open.close(number, request);
  }

  // ---- The connection

  sendHello() {
    this.disconnect();
    this.open.lastNumber = 0;
    this.state = 'handshaking';
    this.timer.startHandshake();
    this.send('hello', {
      protocol: 1, model: this.model, replica: this.identity.id, author: this.author, program: this.program,
      token: this.newestOfQueries, credential: this.credential,
    }, { kind: 'hello' });
  }

  /**
   * The newest state that the result of a query shows.
   * @returns {Token|undefined}
   */
  get newestOfQueries() {
    /** @type {Token|undefined} */
    let newest;
    for (const { token } of this.queries.values()) {
      if (token && (!newest || newest.revision < token.revision)) newest = token;
    }
    return newest;
  }

  disconnect() {
    this.state = 'disconnected';
    this.identity.phase = 'unique';
    if (this.timer.endSilence()) this.actions.push({ type: 'silence', isSilent: false });
    const requests = this.open.removeAll();
    this.numbers.clear();
    this.staged = [];
    this.deferredAdvance = undefined;
    this.unusedRows = undefined;
    this.subscriptions = new SubscriptionQueue();
    this.resume.disconnect();
    for (const query of this.queries.values()) {
      query.resetAfterDisconnect();
      query.requireReload(this.publishedRevision);
    }
    // A transaction is kept and sent again. The owner decides whether to repeat a request.
    requests.push(...this.heldRequests.map(({ request }) => request));
    for (const request of requests) this.actions.push({ type: 'refused', request, refusal: lostConnection });
    this.heldRequests = [];
  }

  /** @param {number} milliseconds */
  tick(milliseconds) {
    const { phase, timer } = this;
    timer.advance(milliseconds, phase);
    if (phase !== 'disconnected' && timer.isLost(phase)) {
      const message = `the server has sent nothing for ${timer.patience(phase)} ms`;
      this.actions.push({ type: 'disconnect', refusal: { code: 'unavailable', message } });
    } else if (phase === 'welcomed') {
      if (timer.isPingDue) this.send('ping', {}, { kind: 'ping' });
      if (timer.beginSilence()) this.actions.push({ type: 'silence', isSilent: true });
    }
    timer.finishTick();
  }

  // ---- Copies

  /** Asks the owner for a new id, once everything that was sent under the old one is answered. */
  requestNewID() {
    if (this.state !== 'live' || this.pending.some((save) => save.sentID)) return;
    this.identity.phase = 'awaitingID';
    this.actions.push({ type: 'copied' });
  }

  /**
   * Takes the new id. The next connection's hello names it.
   * @param {string} id
   */
  renew(id) {
    // If the connection was lost meanwhile, the next welcome shows the copy again.
    if (this.identity.phase !== 'awaitingID') return;
    this.identity.renew(id);
    this.actions.push({ type: 'disconnect', refusal: copied });
  }

  /**
   * Removes a save that was answered.
   * @param {TransactionID} id
   */
  forget(id) { this.pending = this.pending.filter((save) => !isSameID(save.id, id)); }
}

// ---- Resuming
//
// Whether the server still has the states that this side holds: ResumeState.swift and ResumeValidation.swift.
//
// States follow from each other: a server that knows a state also had all states before it. The store may be another
// one, or may have been restored from a backup.

/** @typedef {{ store: string, revision: number, fingerprint: string }} Token a state of the store */

/**
 * @param {Token|undefined} one
 * @param {Token} other
 */
const newer = (one, other) => (one && one.revision >= other.revision ? one : other);

/**
 * @param {Token} one
 * @param {Token} other
 */
function isSameToken(one, other) {
  return one.store === other.store && one.revision === other.revision && one.fingerprint === other.fingerprint;
}

class ResumeValidation {
  constructor() {
    /**
     * `confirmed`: the state is of this connection's store. `unconfirmed`: the store has yet to confirm it.
     * `inconsistent`: objects of two stores are held.
     * @type {'confirmed'|'unconfirmed'|'inconsistent'}
     */
    this.kind = 'confirmed';
    /**
     * The newest state from which objects are held; of an inconsistent one, what this connection's store has sent.
     * @type {Token|undefined}
     */
    this.token = undefined;
    /**
     * The newest state that has arrived while `token` was unconfirmed.
     * @type {Token|undefined}
     */
    this.received = undefined;
    this.confirmedRevision = 0;
    this.deniedRevision = 0;
  }

  /** The state that the store has yet to confirm. */
  get unconfirmedToken() { return this.kind === 'unconfirmed' ? this.token : undefined; }

  /**
   * Records that objects of this state are held.
   * @param {Token} token
   */
  record(token) {
    if (this.kind === 'confirmed') this.token = newer(this.token, token);
    else this.received = newer(this.received, token);
  }

  /**
   * Starts a connection to a store whose newest state is `head`.
   * @param {Token} head
   */
  connect(head) {
    if (this.kind !== 'confirmed' || !this.token) return;
    if (isSameToken(this.token, head)) this.confirmedRevision = this.token.revision;
    else {
      this.kind = 'unconfirmed';
      this.received = undefined;
    }
  }

  /**
   * Records whether the server knows a state.
   * @param {number} revision
   * @param {boolean} isKnown
   */
  recordAnswer(revision, isKnown) {
    if (isKnown) this.confirmedRevision = Math.max(this.confirmedRevision, revision);
    else this.deniedRevision = Math.max(this.deniedRevision, revision);
  }

  /** Whether the server's history differs from the states that are held here. */
  get isDenied() { return this.kind === 'inconsistent' || this.deniedRevision > this.confirmedRevision; }

  /** The newest state, if the server has not said whether it knows it or a newer one. */
  get openToken() {
    const token = this.unconfirmedToken;
    return token && this.confirmedRevision < token.revision ? token : undefined;
  }

  /** Records that the server knows the newest state. */
  confirm() {
    if (this.kind !== 'unconfirmed' || !this.token) return;
    this.kind = 'confirmed';
    if (this.received) this.token = newer(this.token, this.received);
    this.received = undefined;
  }

  /** Discards all but the state that this connection's server has sent. */
  discardUnconfirmed() {
    this.confirmedRevision = 0;
    this.deniedRevision = 0;
    this.token = this.kind === 'confirmed' ? undefined : this.received;
    this.kind = 'confirmed';
    this.received = undefined;
  }

  /** Ends a connection. */
  disconnect() {
    this.confirmedRevision = 0;
    this.deniedRevision = 0;
    if (this.kind === 'unconfirmed' && !this.received) this.kind = 'confirmed';
    else if (this.kind !== 'confirmed') {
      this.kind = 'inconsistent';
      this.received = undefined;
    }
  }
}

// ---- Times
//
// The times of a connection, in milliseconds of a monotonic clock: when to ping, when the server is silent, and when
// the connection counts as lost. It corresponds to ConnectionTimer.swift.

/** The time without an answer or another message after which the owner is notified. */
const silenceMilliseconds = 5_000;
const welcomeMilliseconds = 10_000;

/** @typedef {'disconnected'|'handshaking'|'welcomed'} Phase of a connection: how long the server may be silent */

class ConnectionTimer {
  constructor() {
    /** The time of the last tick; 0 before the first. */
    this.now = 0;
    this.lastReceived = 0;
    /** The time at which the last request was sent that the server answers. */
    this.lastRequested = 0;
    this.heartbeat = 15_000;
    /**
     * The time since which an answer is due. The next tick records the time of a new request.
     * @type {undefined|'nextTick'|number}
     */
    this.awaitedSince = undefined;
    this.isSilent = false;
  }

  /**
   * When the next tick is due; undefined without a connection.
   * @param {Phase} phase
   */
  deadline(phase) {
    const due = this.due(phase);
    return due !== undefined && this.awaitedSince === 'nextTick' ? this.now : due;
  }

  /**
   * The next ping or timeout, apart from requests since the last tick.
   * @param {Phase} phase
   */
  due(phase) {
    if (phase === 'disconnected') return undefined;
    const lost = this.lastReceived + this.patience(phase);
    if (phase === 'handshaking') return lost;
    const due = Math.min(this.lastRequested + this.heartbeat, lost);
    if (typeof this.awaitedSince !== 'number' || this.isSilent) return due;
    return Math.min(due, this.awaitedSince + silenceMilliseconds);
  }

  /**
   * The time without a message after which the connection counts as lost.
   * @param {Phase} phase
   */
  patience(phase) { return phase === 'handshaking' ? welcomeMilliseconds : 3 * this.heartbeat; }

  /**
   * Sets the clock.
   * @param {number} milliseconds
   * @param {Phase} phase
   */
  advance(milliseconds, phase) {
    const due = this.due(phase);
    if (this.now === 0) {
      this.lastReceived = milliseconds;
      this.lastRequested = milliseconds;
    } else if (due !== undefined && milliseconds - due > this.heartbeat) {
      // Such a late tick means that the page was frozen and could not receive messages, so the server was not silent.
      this.lastReceived += milliseconds - this.now;
      if (typeof this.awaitedSince === 'number') this.awaitedSince += milliseconds - this.now;
    }
    this.now = milliseconds;
  }

  /** @param {Phase} phase */
  isLost(phase) { return this.now - this.lastReceived >= this.patience(phase); }

  get isPingDue() { return this.now - this.lastRequested >= this.heartbeat; }

  /** Records a long silence; returns whether one has begun. */
  beginSilence() {
    if (this.isSilent || typeof this.awaitedSince !== 'number') return false;
    this.isSilent = this.now - this.awaitedSince >= silenceMilliseconds;
    return this.isSilent;
  }

  /** Records the time of the requests since the last tick. */
  finishTick() {
    if (this.awaitedSince !== 'nextTick') return;
    this.awaitedSince = this.now;
    this.lastRequested = this.now;
  }

  startHandshake() { this.lastReceived = this.now; }

  /**
   * Sets the heartbeat that a server asks for, within limits.
   * @param {number|bigint} milliseconds
   */
  setHeartbeat(milliseconds) { this.heartbeat = Math.min(Math.max(Number(milliseconds), 100), 600_000); }

  /** Records that a request was sent that the server answers. */
  recordRequest() {
    this.awaitedSince ??= 'nextTick';
    this.lastRequested = this.now;
  }

  /** Records that a message was received; returns whether it ends a silence. */
  recordMessage() {
    this.lastReceived = this.now;
    return this.endSilence();
  }

  /** Ends a silence; returns whether there was one. */
  endSilence() {
    const wasSilent = this.isSilent;
    this.awaitedSince = undefined;
    this.isSilent = false;
    return wasSilent;
  }
}
