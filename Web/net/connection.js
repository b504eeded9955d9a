// A connection to the server: the link with its WebSocket, and what the connection does with the names of the model.
import { emptyChange, Graph } from '../context/graph.js';
import { Replica } from '../replica/replica.js';
import { decodeToClient, encodeToServer, hex } from '../wire/codec.js';

// ---- The link
//
// The link of a replica to the server: the WebSocket, the clock, and reconnects with growing, randomized pauses.

/**
 * @typedef {import('../replica/replica.js').ReplicaAction} ReplicaAction
 * @typedef {import('../replica/replica.js').ReplicaEvent} ReplicaEvent
 * @typedef {{ replica: string, lastSequence: number, author: string, program: string }} Identity of a session: the
 *   replica is 16 random bytes in hexadecimal digits, and `lastSequence` the highest sequence that was sent under it
 * @typedef {{ now(): number, setTimeout(action: () => void, milliseconds: number): any, clearTimeout(timer: any): void
 * }} Clock
 * @typedef {'connecting'|'live'|'reconnecting'|'refused'|'closed'} Kind
 * @typedef {{ kind: Kind, code?: string, message?: string, retryAt?: number, head?: any, user?: string, role?: string
 * }} State of a connection: `reconnecting` without `retryAt` is a server that is connected and does not answer;
 *   `refused` ends the connection for good
 *
 * @typedef {{ url: string, identity: Identity, credential?: string|null, clock?: Clock, random?: () => number,
 *   newID?: () => string, WebSocket?: any, page?: any }} Options `page` has the event `visibilitychange`
 */

const firstPause = 200;
const longestPause = 10_000;
/** After a connection that was live for this time, the pauses begin with the shortest again. */
const stableMilliseconds = 5_000;
/** The time within which a socket must open. */
const openingMilliseconds = 10_000;
/** The time within which the server must answer after the page was hidden or the network was down. */
const probeMilliseconds = 4_000;

/** @type {Clock} */
const pageClock = {
  now: () => performance.now(),
  setTimeout: (action, milliseconds) => setTimeout(action, milliseconds),
  clearTimeout: (timer) => clearTimeout(timer),
};

class Link {
  /** @param {Options} options */
  constructor({ url, identity, credential, clock = pageClock, random = Math.random, WebSocket, page }) {
    this.url = url;
    this.clock = clock;
    this.random = random;
    this.WebSocket = WebSocket ?? globalThis.WebSocket;
    this.page = page ?? (typeof document === 'undefined' ? undefined : document);
    const { replica, lastSequence, author, program } = identity;
    this.replica = new Replica({ id: replica, lastSequence, author, program });
    if (credential) this.replica.handle({ type: 'credential', credential });
    /**
     * The last welcome: store, session, role.
     * @type {any}
     */
    this.welcome = undefined;
    /** @type {any} */
    this.socket = undefined;
    this.isStarted = false;
    /** @type {ReplicaEvent[]} */
    this.events = [];
    this.isHandling = false;
    this.attempts = 0;
    /**
     * The time since which the connection is live.
     * @type {number|undefined}
     */
    this.liveSince = undefined;
    /**
     * The timer of the next attempt to connect, or of the timeout of the present one.
     * @type {any}
     */
    this.retryTimer = undefined;
    /** @type {any} */
    this.probeTimer = undefined;
    /** @type {any} */
    this.tickTimer = undefined;
    this.tickTime = Infinity;
    /** @type {State} */
    this.state = { kind: 'closed' };
    /** @type {(state: State) => void} */
    this.onstate = () => {};
    /**
     * Whether a session is that of the owner's user; in another one nothing is sent, and the connection ends.
     * @type {(welcome: any) => boolean}
     */
    this.accepts = () => true;
    /** Called when the roles of the user have changed: `welcome.grants` has the new ones. */
    this.onrights = () => {};
    this.wake = () => this.reconnectNow();
  }

  // ---- The socket

  start() {
    if (this.isStarted) return;
    this.isStarted = true;
    this.page?.addEventListener('visibilitychange', this.wake);
    globalThis.addEventListener?.('online', this.wake);
    this.setState({ kind: 'connecting' });
    this.open();
  }

  /**
   * Ends the connection; unanswered commits are rejected as `unavailable`. If it starts again, it sends them again
   * under their ids, because they may have been committed.
   */
  stop() {
    if (this.isStarted) this.end({ kind: 'closed' });
  }

  /** @param {State} state */
  end(state) {
    this.isStarted = false;
    this.page?.removeEventListener('visibilitychange', this.wake);
    globalThis.removeEventListener?.('online', this.wake);
    this.clock.clearTimeout(this.retryTimer);
    this.clock.clearTimeout(this.tickTimer);
    this.tickTime = Infinity;
    this.drop();
    this.setState(state);
  }

  open() {
    const socket = new this.WebSocket(this.url, 'graph.1');
    socket.binaryType = 'arraybuffer';
    this.socket = socket;
    this.clock.clearTimeout(this.retryTimer);
    this.retryTimer = this.clock.setTimeout(() => this.lose(), openingMilliseconds);
    // A socket that was dropped keeps its handlers until its end.
    const isCurrent = () => this.socket === socket;
    socket.onopen = () => {
      if (!isCurrent()) return;
      this.clock.clearTimeout(this.retryTimer);
      this.handle({ type: 'tick', milliseconds: this.now }, { type: 'connected' });
    };
    socket.onmessage = (/** @type {any} */ event) => { if (isCurrent()) this.receive(event.data); };
    socket.onclose = (/** @type {any} */ event) => { if (isCurrent()) this.lose(event.reason || undefined); };
    socket.onerror = () => {};
  }

  /** Milliseconds of a monotonic clock, from 1. */
  get now() { return Math.floor(this.clock.now()) + 1; }

  /** @param {ArrayBuffer|string} data */
  receive(data) {
    this.clock.clearTimeout(this.probeTimer);
    let message;
    try {
      if (typeof data === 'string') throw new Error('it is text');
      message = decodeToClient(new Uint8Array(data));
    } catch (error) {
      // After a malformed message, the rest of the stream is unreliable.
      this.lose(`the server's message is not understood: ${error instanceof Error ? error.message : error}`);
      return;
    }
    if (message.kind === 'welcome' && !this.accepts(message.body)) {
      // The commits without an answer are the owner's to keep.
      this.end({ kind: 'closed', message: 'the server names another user' });
      return;
    }
    this.handle({ type: 'tick', milliseconds: this.now }, { type: 'received', message });
  }

  /** Closes the socket without waiting for its end. */
  drop() {
    const { socket } = this;
    this.socket = undefined;
    this.clock.clearTimeout(this.probeTimer);
    if (!socket) return;
    socket.close();
    this.handle({ type: 'disconnected' });
  }

  /**
   * Handles a lost connection: the next attempt comes after a pause.
   * @param {string} [message]
   */
  lose(message) {
    this.drop();
    if (!this.isStarted) return;
    const { liveSince } = this;
    this.liveSince = undefined;
    if (liveSince !== undefined && this.clock.now() - liveSince >= stableMilliseconds) this.attempts = 0;
    const longest = Math.min(longestPause, firstPause * 2 ** Math.min(this.attempts++, 10));
    const pause = longest * (0.5 + 0.5 * this.random());
    this.clock.clearTimeout(this.retryTimer);
    this.retryTimer = this.clock.setTimeout(() => this.open(), pause);
    this.setState({ kind: 'reconnecting', message, retryAt: this.clock.now() + pause });
  }

  /** Called when the page is visible again or the network is back: connects at once, or probes an open connection. */
  reconnectNow() {
    if (!this.isStarted || this.page?.visibilityState === 'hidden') return;
    if (!this.socket) {
      this.attempts = 0;
      this.open();
    } else if (this.replica.isWelcomed) {
      this.handle({ type: 'tick', milliseconds: this.now }, { type: 'request', request: 0, kind: 'ping', body: {} });
      this.clock.clearTimeout(this.probeTimer);
      this.probeTimer = this.clock.setTimeout(() => {
        this.attempts = 0;
        this.lose('the server does not answer');
      }, probeMilliseconds);
    }
  }

  /** @param {State} state */
  setState(state) {
    const { kind, message, retryAt, role } = this.state;
    if (state.kind === kind && state.message === message && state.retryAt === retryAt && state.role === role) return;
    this.state = state;
    this.notify(() => this.onstate(state));
  }

  // ---- The replica

  /**
   * Passes events to the replica, and performs its actions. Events that a handler adds wait until the current event is
   * handled, so that messages are sent in the order of their numbers.
   * @param {ReplicaEvent[]} events
   */
  handle(...events) {
    this.events.push(...events);
    if (this.isHandling) return;
    this.isHandling = true;
    try {
      for (let event = this.events.shift(); event; event = this.events.shift()) this.step(event);
    } finally {
      this.isHandling = false;
    }
    this.schedule();
  }

  /** @param {ReplicaEvent} event */
  step(event) {
    const actions = this.replica.handle(event);
    for (const action of actions) {
      if (action.type === 'send') this.send(action.message);
      else if (action.type === 'welcomed') {
        this.welcome = action.welcome;
        this.receiveWelcome(action.welcome);
      }
    }
    this.perform(actions);
    for (const action of actions) {
      if (action.type === 'disconnect') this.lose(action.refusal.message);
      else if (action.type === 'rejected') {
        this.end({ kind: 'refused', code: action.refusal.code, message: action.refusal.message });
      } else if (action.type === 'rights') this.changeRole(action.grants);
      else if (action.type === 'silence' && action.isSilent) {
        this.setState({ kind: 'reconnecting', message: 'the server does not answer' });
      }
    }
    if (this.replica.state === 'live' && !this.replica.timer.isSilent && this.state.kind !== 'live' && this.socket) {
      this.liveSince ??= this.clock.now();
      const { head, author: user, role } = this.welcome;
      this.setState({ kind: 'live', head, user, role });
    }
  }

  /** @param {import('../replica/replica.js').WireMessage} message */
  send(message) {
    const bytes = encodeToServer(message);
    if (this.welcome && bytes.length > this.welcome.maximumFrame) {
      // The server would close the connection because of this message, and again after each reconnect.
      const text = `the change has ${bytes.length} bytes, and the server accepts ${this.welcome.maximumFrame}`;
      const body = { code: 'limit', message: text, conflicts: [], violations: [], outcomeUnknown: false };
      this.handle({ type: 'received', message: { request: message.request, kind: 'refused', body } });
    } else this.socket?.send(bytes);
  }

  /**
   * Replaces the role of the welcome by the strongest role of the new grants. Without grants, the user may do
   * everything.
   * @param {{ role: string }[]} grants
   */
  changeRole(grants) {
    if (!this.welcome) return;
    const order = ['reader', 'commenter', 'editor', 'owner'];
    const strongest = Math.max(...grants.map(({ role }) => order.indexOf(role)));
    this.welcome = { ...this.welcome, grants, role: grants.length ? order[strongest] ?? '' : 'owner' };
    if (this.state.kind === 'live') this.setState({ ...this.state, role: this.welcome.role });
    this.notify(() => this.onrights());
  }

  /** Starts the timer of the replica's next tick, unless it fires earlier anyway. */
  schedule() {
    const { deadline } = this.replica;
    if (deadline === undefined || deadline >= this.tickTime) return;
    this.clock.clearTimeout(this.tickTimer);
    this.tickTime = deadline;
    this.tickTimer = this.clock.setTimeout(() => {
      this.tickTime = Infinity;
      this.handle({ type: 'tick', milliseconds: this.now });
    }, Math.max(0, deadline - this.now));
  }

  /**
   * Calls a handler of the owner. An error in it does not stop the connection.
   * @param {() => void} body
   */
  notify(body) {
    try {
      body();
    } catch (error) {
      this.clock.setTimeout(() => { throw error; }, 0);
    }
  }

  /** @param {any} _welcome */
  receiveWelcome(_welcome) {}

  /** @param {ReplicaAction[]} _actions all but those of the link */
  perform(_actions) {}
}

// ---- The connection
//
// A connection to the server that uses the names of the model: queries, commits, requests and presence. It reconnects
// automatically, and keeps unanswered commits and the results of queries until then.

/**
 * @typedef {import('../context/graph.js').GraphChange} GraphChange
 * @typedef {import('../context/graph.js').GraphObject} GraphObject
 * @typedef {import('../replica/receiving.js').TransactionID} TransactionID
 * @typedef {import('../replica/replica.js').Token} Token
 * @typedef {{ session: number, author: string, state: any }} Presence of another session; null for an unknown form
 * @typedef {{ entity: string, where?: string, window?: { sort: string, offset: number, limit: number } }} Wanted
 */

/**
 * A request that the server did not carry out. Codes are those of docs/protocol.md, and `outdated`: a commit is based
 * on a state that the restored store does not have, and has to be made again from the present objects.
 */
export class Refusal extends Error {
  /**
   * @param {any} refusal
   * @param {import('../context/graph.js').Model} model
   */
  constructor(refusal, model) {
    super(refusal.message);
    this.code = /** @type {string} */ (refusal.code);
    this.conflicts = (refusal.conflicts ?? []).map((/** @type {any} */ each) => model.conflict(each));
    this.violations = (refusal.violations ?? []).map((/** @type {any} */ each) => model.violation(each));
    this.outcomeUnknown = Boolean(refusal.outcomeUnknown);
  }
}

/** The result of a query that the connection follows until `close`. */
export class Query {
  /**
   * @param {Connection} connection
   * @param {number} id
   * @param {Wanted} wanted
   */
  constructor(connection, id, wanted) {
    this.connection = connection;
    this.id = id;
    this.wanted = wanted;
    /** For a window: the number of rows without limit and offset. */
    this.total = 0;
    /**
     * The reason why the server does not follow the query.
     * 
     * @type {Refusal|undefined}
     */
    this.refusal = undefined;
    /** @type {(query: Query) => void} */
    this.resolve = () => {};
    /** @type {(refusal: Refusal) => void} */
    this.reject = () => {};
    /**
     * The first result is complete; rejected if the query is refused.
     * 
     * @type {Promise<Query>}
     */
    this.ready = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
    // Prevents an unhandled rejection if no caller awaits `ready`; the refusal is also in `refusal`.
    this.ready.catch(() => {});
  }

  /** The ids of the result; of a window in order. */
  get ids() {
    const { results, deletions } = this.connection.graph;
    return [...results.get(this.id) ?? []].filter((id) => !deletions.has(id));
  }

  /**
   * Moves a window.
   * @param {number} offset
   * @param {number} limit
   */
  move(offset, limit) { this.connection.handle({ type: 'moveWindow', query: this.id, offset, limit }); }

  close() { this.connection.unfollow(this.id); }
}

export class Connection extends Link {
  /** @param {Options} options */
  constructor(options) {
    super(options);
    this.newID = options.newID ?? (() => hex(crypto.getRandomValues(new Uint8Array(16))));
    /** The replica and the highest sequence of its transactions. The owner stores them before a commit. */
    this.identity = { ...options.identity };
    this.graph = new Graph();
    this.lastQuery = 0;
    /** Numbers begin at 1, because the link's own requests have the number 0. */
    this.lastRequest = 0;
    /** @type {Map<number, Query>} */
    this.queries = new Map();
    /**
     * The promises for the outcomes of transactions, by transaction id.
     * @type {Map<string, { resolve: Function, reject: Function }>}
     */
    this.commits = new Map();
    /**
     * The promises for replies, by request.
     * @type {Map<number, { parts: any[], resolve: Function, reject: Function }>}
     */
    this.requests = new Map();
    /** @type {Map<number, Presence>} */
    this.presences = new Map();
    /** @type {Uint8Array|undefined} */
    this.ownPresence = undefined;
    /**
     * Called once for each published revision.
     * @type {(change: GraphChange) => void}
     */
    this.onchange = () => {};
    /** @type {(list: Presence[]) => void} */
    this.onpresence = () => {};
    /**
     * Called when another instance has used the replica id, and the connection has chosen a new one.
     * @type {(identity: Identity) => void}
     */
    this.onidentity = () => {};
    /** Called when the history of the store differs from the one that was seen before. */
    this.ondiverged = () => {};
  }

  get model() { return this.graph.model; }

  // ---- Actions of the replica

  /** @param {any} welcome */
  receiveWelcome(welcome) {
    if (this.ownPresence) this.handle({ type: 'presence', state: this.ownPresence });
    if (this.model.entities.size) return;
    this.graph.adopt(welcome.entities);
    this.replica.adopt(welcome.model);
    for (const query of this.queries.values()) this.follow(query);
  }

  /** @param {ReplicaAction[]} actions */
  perform(actions) {
    /** @type {GraphChange|undefined} */
    let change;
    /** @type {ReplicaAction[]} */
    let behind = [];
    // A change is announced before the outcomes that arrived with it.
    const announce = () => {
      const announced = change;
      if (announced) this.notify(() => this.onchange(announced));
      for (const action of behind) this.finish(action);
      behind = [];
    };
    let isLoading = false;
    for (const action of actions) {
      // Results that become complete together are one change. Every other change is announced before the next one is
      // applied.
      const isResult = action.type === 'loaded' || action.type === 'loadedWindow';
      if (isResult ? !isLoading : ['changed', 'saved', 'refusedQuery'].includes(action.type)) {
        announce();
        change = undefined;
        isLoading = isResult;
      }
      change = this.publish(action, change);
      behind.push(action);
    }
    announce();
  }

  /** @param {State} state */
  end(state) {
    super.end(state);
    const { message = 'the connection was closed' } = state;
    // A refused session says nothing about the commits: its code is not theirs.
    for (const { reject } of this.commits.values()) reject(new Refusal({ code: 'unavailable', message }, this.model));
    this.commits.clear();
  }

  drop() {
    super.drop();
    if (!this.presences.size) return;
    this.presences.clear();
    this.notify(() => this.onpresence([]));
  }

  /**
   * Applies an action to the graph; returns the change that it belongs to.
   * @param {ReplicaAction} action
   * @param {GraphChange|undefined} change of the actions before it
   */
  publish(action, change) {
    const { graph } = this;
    switch (action.type) {
      case 'loaded': case 'loadedWindow': {
        // A handler may have closed the query in this turn.
        if (!this.queries.has(action.query)) return change;
        const current = change ?? emptyChange(0);
        current.revision = Math.max(current.revision, action.at.revision);
        if (action.type === 'loaded') graph.load(action.query, action.objects, undefined, current);
        else graph.load(action.query, action.rows.objects, action.rows.rows.map((id) => id.key), current);
        return current;
      }
      case 'changed': {
        const { revision, time, author, changes, totals } = action.update;
        const current = emptyChange(revision, time, author);
        for (const each of changes) graph.apply(each.query, each.changes, current);
        for (const [id, total] of totals) {
          const query = this.queries.get(id);
          if (query) query.total = total;
        }
        return current;
      }
      case 'saved': {
        if (!action.saved) return change;
        const current = emptyChange(action.saved.result.revision);
        graph.refresh(action.saved.objects, current);
        graph.remove(action.saved.deleted, current);
        return current.changed.size || current.removed.size ? current : change;
      }
      case 'refusedQuery': {
        const current = emptyChange(graph.revision);
        graph.close(action.query, current);
        return current.removed.size ? current : change;
      }
      case 'diverged':
        graph.invalidate();
        return change;
      default: return change;
    }
  }

  /**
   * Passes on an outcome.
   * @param {ReplicaAction} action
   */
  finish(action) {
    switch (action.type) {
      case 'loaded': case 'loadedWindow': {
        const query = this.queries.get(action.query);
        if (!query) return;
        if (action.type === 'loadedWindow') query.total = action.rows.total;
        return query.resolve(query);
      }
      case 'diverged': return this.notify(() => this.ondiverged());
      case 'copied': {
        this.identity.replica = this.newID();
        this.notify(() => this.onidentity(this.identity));
        return this.handle({ type: 'renew', id: this.identity.replica });
      }
      case 'saved': return this.receiveOutcome(action.id, action.saved, action.refusal);
      case 'outdated': {
        const message = 'the store was restored to an earlier state: the change has to be made again';
        return this.receiveOutcome(action.transaction.id, undefined, { code: 'outdated', message });
      }
      case 'refusedQuery': {
        const query = this.queries.get(action.query);
        if (!query) return;
        query.refusal = new Refusal(action.refusal, this.model);
        query.reject(query.refusal);
        return;
      }
      case 'reply': return this.receiveReply(action);
      case 'refused': {
        const waiting = this.requests.get(action.request);
        this.requests.delete(action.request);
        waiting?.reject(new Refusal(action.refusal, this.model));
        return;
      }
      case 'presence': return this.receivePresence(action.presence);
    }
  }

  // ---- Queries

  /**
   * Follows the objects of an entity that satisfy a predicate, across reconnects.
   * @param {Wanted} wanted
   */
  subscribe(wanted) {
    const query = new Query(this, ++this.lastQuery, wanted);
    this.queries.set(query.id, query);
    // Numbers of entities are known from the first welcome on.
    if (this.welcome) this.follow(query);
    return query;
  }

  /** @param {Query} query */
  follow({ id, wanted: { entity, where = '', window } }) {
    const subscribe = { entity: this.model.entity(entity).number, predicate: where, window };
    this.handle({ type: 'subscribe', query: id, subscribe });
  }

  /** @param {number} query */
  unfollow(query) {
    if (!this.queries.delete(query)) return;
    this.handle({ type: 'unsubscribe', query });
    const change = emptyChange(this.graph.revision);
    this.graph.close(query, change);
    if (change.removed.size) this.notify(() => this.onchange(change));
  }

  // ---- Commits. The default sequence is the next one; sequences are unique within the replica and ascending.

  /**
   * @param {number} [sequence]
   * @returns {TransactionID}
   */
  transactionID(sequence) {
    const { identity } = this;
    identity.lastSequence = Math.max(identity.lastSequence, sequence ?? identity.lastSequence + 1);
    return { replica: identity.replica, sequence: sequence ?? identity.lastSequence };
  }

  /**
   * Commits a transaction, immediately or after the next connect.
   * @param {{ sequence?: number, policy?: string, undo?: { scope: string, group: number, name: string },
   *   changes: import('../context/graph.js').Change[] }} transaction an insert has the id `temporary N`, which other
   *   changes of the transaction can refer to
   * @returns {Promise<{ revision: number, ids: Map<string, string>, conflicts: any[] }>} rejects with a Refusal
   */
  async commit({ sequence, policy = 'error', undo, changes }) {
    const inserts = changes.filter((change) => change.kind === 'insert');
    const number = (/** @type {string} */ entity) => this.model.entity(entity).number;
    const inserted = new Map(inserts.map(({ id, entity }) => [id, { key: id, entity: number(entity) }]));
    const wireID = (/** @type {any} */ id) => inserted.get(id) ?? this.graph.wireID(id);
    const made = changes.map((change) => this.model.wireChange(change, wireID));
    const id = this.transactionID(sequence);
    return this.outcome(id, { type: 'save', transaction: { id, policy, undo, changes: made } });
  }

  /**
   * Undoes or redoes the author's next step in a scope, or the step of a commit.
   * @param {{ scope?: string, redo?: boolean, revision?: number, sequence?: number }} step
   */
  async undo({ scope = '', redo = false, revision = 0, sequence }) {
    const id = this.transactionID(sequence);
    return this.outcome(id, { type: 'undo', undo: { id, scope, redo, revision } });
  }

  /**
   * Restores an object, an object with what its delete would delete, or without an id everything.
   * @param {{ revision?: number, id?: string|{ id: string, entity: string }, contents?: boolean, sequence?: number }}
   *   state without a revision, a deleted object as it was before its delete
   */
  async restore({ revision, id: object, contents = false, sequence }) {
    const scope = object === undefined ? 'everything' : contents ? 'contents' : 'object';
    const wire = object === undefined ? undefined : this.graph.wireID(object);
    const id = this.transactionID(sequence);
    return this.outcome(id, { type: 'restore', restore: { id, revision, scope, object: wire } });
  }

  /**
   * @param {TransactionID} id
   * @param {import('../replica/replica.js').ReplicaEvent} event
   * @returns {Promise<any>}
   */
  outcome(id, event) {
    return new Promise((resolve, reject) => {
      this.commits.set(`${id.replica}.${id.sequence}`, { resolve, reject });
      this.handle(event);
    });
  }

  /**
   * @param {TransactionID} id
   * @param {any} saved
   * @param {any} refusal
   */
  receiveOutcome({ replica, sequence }, saved, refusal) {
    const key = `${replica}.${sequence}`;
    const waiting = this.commits.get(key);
    this.commits.delete(key);
    if (!waiting) return;
    if (refusal) return waiting.reject(new Refusal(refusal, this.model));
    const { revision, identities, conflicts } = saved.result;
    const ids = new Map(identities.map((/** @type {any} */ each) => [each.temporary.key, each.permanent.key]));
    for (const { permanent } of identities) this.graph.entities.set(permanent.key, permanent.entity);
    const decided = conflicts.map((/** @type {any} */ each) => this.model.conflict(each));
    waiting.resolve({ revision, ids, conflicts: decided });
  }

  // ---- Requests. Without a connection they are rejected as `unavailable`.

  /**
   * Sends a request of docs/protocol.md; returns the parts of its reply.
   * @param {string} kind
   * @param {any} body
   * @returns {Promise<any[]>}
   */
  request(kind, body) {
    return new Promise((resolve, reject) => {
      const request = ++this.lastRequest;
      this.requests.set(request, { parts: [], resolve, reject });
      this.handle({ type: 'request', request, kind, body });
    });
  }

  /** @param {ReplicaAction & { type: 'reply' }} reply */
  receiveReply({ request, body, isLast }) {
    const waiting = this.requests.get(request);
    if (!waiting) return;
    waiting.parts.push(body);
    if (!isLast) return this.handle({ type: 'more', request });
    this.requests.delete(request);
    waiting.resolve(waiting.parts);
  }

  /**
   * Reads objects, rows or a count.
   * @param {{ entity: string, where?: string, sort?: string, limit?: number, offset?: number, after?: Uint8Array, at?:
   *   number, result?: 'objects'|'identifiers'|'count'|'rows', properties?: string, groupBy?: string }} wanted `at` is
   *   a revision, `after` the `next` of an earlier page, `properties` the columns of rows
   * @returns {Promise<{ objects: GraphObject[], rows: any[][], columns: any[], count:
   *   number, next: Uint8Array|undefined, at: Token }>}
   */
  async fetch({ entity, where = '', at, ...rest }) {
    const asOf = at === undefined ? undefined : { revision: at };
    const { number } = this.model.entity(entity);
    const chunks = await this.request('fetch', { ...rest, entity: number, predicate: where, at: asOf });
    const last = chunks[chunks.length - 1];
    const value = (/** @type {any} */ wire) => this.model.value(wire);
    return {
      objects: chunks.flatMap((chunk) => chunk.objects.map((/** @type {any} */ object) => this.model.object(object))),
      rows: chunks.flatMap((chunk) => chunk.rows.map((/** @type {any} */ row) => row.values.map(value))),
      columns: chunks[0].columns, count: last.count, next: last.next.length ? last.next : undefined, at: last.at,
    };
  }

  /**
   * Reads history.
   * @param {{ after?: number, through?: number, limit?: number, oldestFirst?: boolean, changes?: number, authors?:
   *   string[], entities?: string[], object?: string, since?: number, until?: number }} wanted `changes` limits those
   *   of each commit; times are microseconds since 1970
   */
  async log({ authors = [], entities = [], object = '', since = 0, until = 0, ...rest }) {
    const numbers = entities.map((name) => ({ number: this.model.entity(name).number }));
    const isFiltered = authors.length || numbers.length || object || since || until;
    const filter = isFiltered ? { authors, entities: numbers, object, since, until } : undefined;
    const parts = await this.request('log', { ...rest, filter });
    return parts.flatMap((part) => part.commits.map((/** @type {any} */ commit) => ({
      ...commit, changes: commit.changes.map((/** @type {any} */ change) => this.model.historyChange(change)),
    })));
  }

  /**
   * Which commit set the value of a property, and what it replaced.
   * @param {string|{ id: string, entity: string }} id
   * @param {string} property
   */
  async valueOrigin(id, property) {
    const object = this.graph.wireID(id);
    const { number } = this.model.property(this.model.entityName(object.entity), property);
    const [origin] = await this.request('valueOrigin', { object, property: number });
    const named = (/** @type {any} */ each) => ({ ...each, value: this.model.value(each.value) });
    const { previous, overwritten } = origin;
    return { ...named(origin), previous: this.model.value(previous), overwritten: overwritten.map(named) };
  }

  /**
   * The newest commit at or before a time, in microseconds since 1970.
   * @param {number} time
   * @returns {Promise<{ revision: number, time: number, author: string, head: Token }>}
   */
  async revisionAt(time) { return (await this.request('revisionAt', { time }))[0]; }

  /**
   * What undo and redo would affect now.
   * @param {string} [scope]
   * @returns {Promise<{ undo?: any, redo?: any }>}
   */
  async undoState(scope = '') { return (await this.request('undoState', { scope }))[0]; }

  /**
   * The model file, with defaults, limits and the cases of enumerations.
   * 
   * @returns {Promise<any>}
   */
  async modelFile() { return JSON.parse((await this.request('model', {}))[0].source); }

  // ---- Presence

  /**
   * Sets the presence that other sessions see of this one. It is sent again after a reconnect.
   * @param {Uint8Array|Record<string, any>} state
   */
  presence(state) {
    this.ownPresence = state instanceof Uint8Array ? state : new TextEncoder().encode(JSON.stringify(state));
    this.handle({ type: 'presence', state: this.ownPresence });
  }

  /** @param {any} presence */
  receivePresence({ session, author, state, left }) {
    if (left) this.presences.delete(session);
    else this.presences.set(session, { session, author, state: parsed(state) });
    this.notify(() => this.onpresence([...this.presences.values()]));
  }
}

/**
 * The object of a presence; null for bytes of another form.
 * @param {Uint8Array} bytes
 */
function parsed(bytes) {
  try {
    const value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
    return typeof value === 'object' ? value : null;
  } catch {
    return null;
  }
}
