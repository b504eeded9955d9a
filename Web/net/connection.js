// A connection to the server: a WebSocket, the replica, its timers, and the graph. It reconnects by itself, keeps
// unanswered commits and the results of queries meanwhile, and speaks to its owner by the names of the model.
import { Graph, emptyChange } from '../context/graph.js';
import { Replica } from '../replica/replica.js';
import { decodeToClient, encodeToServer } from '../wire/codec.js';
import { hex } from '../wire/forms.js';

/**
 * @typedef {import('../context/graph.js').GraphChange} GraphChange
 * @typedef {import('../replica/replica.js').ReplicaAction} ReplicaAction
 * @typedef {{ now(): number, setTimeout(action: () => void, milliseconds: number): any, clearTimeout(timer: any): void }} Clock
 * @typedef {{ kind: 'connecting'|'live'|'reconnecting'|'refused'|'closed', code?: string, message?: string, retryAt?: number,
 *   head?: any, user?: string, role?: string }} State of a connection: `reconnecting` without `retryAt` is a server that is
 *   connected and does not answer; `refused` ends the connection for good
 * @typedef {{ session: number, author: string, state: any }} Presence of another session; null for an unknown form
 */

/** A request that the server did not carry out. Codes are those of docs/protocol.md, and `outdated`: a commit was made from
 * a past that the restored store does not have, and has to be made again from the present objects. */
export class Refusal extends Error {
  /**
   * @param {any} refusal
   * @param {import('../context/model.js').Model} model
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
   * @param {{ entity: string, where?: string, window?: { sort: string, offset: number, limit: number } }} wanted
   */
  constructor(connection, id, wanted) {
    this.connection = connection;
    this.id = id;
    this.wanted = wanted;
    /** Of a window: the rows before limit and offset. */
    this.total = 0;
    /**
     * Why the server does not follow the query.
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
    // A refusal that no caller awaits is no unhandled error: `refusal` has it, too.
    this.ready.catch(() => {});
  }

  /** The ids of the result; of a window in order. */
  get ids() { return [...this.connection.graph.results.get(this.id) ?? []]; }

  /**
   * Moves a window.
   * @param {number} offset
   * @param {number} limit
   */
  move(offset, limit) { this.connection.handle({ type: 'moveWindow', query: this.id, offset, limit }); }

  close() { this.connection.unfollow(this.id); }
}

const firstPause = 200;
const longestPause = 10_000;

export class Connection {
  /**
   * @param {{ url: string, identity: { replica: string, lastSequence: number, author: string, program: string },
   *   credential?: string|null, clock?: Clock, random?: () => number, newID?: () => string, WebSocket?: any, page?: any
   * }} options `replica` is 16 random bytes in hexadecimal digits; `page` has the events `online` and `visibilitychange`
   */
  constructor({ url, identity, credential, clock, random, newID, WebSocket, page }) {
    this.url = url;
    /** @type {Clock} */
    this.clock = clock ?? {
      now: () => performance.now(), setTimeout: (action, milliseconds) => setTimeout(action, milliseconds),
      clearTimeout: (timer) => clearTimeout(timer),
    };
    this.random = random ?? Math.random;
    this.newID = newID ?? (() => hex(crypto.getRandomValues(new Uint8Array(16))));
    this.WebSocket = WebSocket ?? globalThis.WebSocket;
    this.page = page ?? (typeof document === 'undefined' ? undefined : document);
    const { replica, lastSequence, author, program } = identity;
    this.replica = new Replica({ id: replica, lastSequence, author, program });
    if (credential) this.replica.handle({ type: 'credential', credential });
    /** The id of the next transaction: the owner keeps it before it is sent. */
    this.identity = { replica, lastSequence, author, program };
    this.graph = new Graph();
    /**
     * The last welcome: store, session, role.
     * 
     * @type {any}
     */
    this.welcome = undefined;
    /** @type {any} */
    this.socket = undefined;
    this.isStarted = false;
    /** @type {import('../replica/replica.js').ReplicaEvent[]} */
    this.events = [];
    this.isHandling = false;
    this.attempts = 0;
    /** @type {any} */
    this.retryTimer = undefined;
    /** @type {any} */
    this.tickTimer = undefined;
    this.tickTime = Infinity;
    /** @type {State} */
    this.state = { kind: 'closed' };
    this.lastQuery = 0;
    this.lastRequest = 0;
    /** @type {Map<number, Query>} */
    this.queries = new Map();
    /**
     * What waits for the outcome of a transaction, by its id.
     * 
     * @type {Map<string, { resolve: Function, reject: Function }>}
     */
    this.commits = new Map();
    /**
     * What waits for a reply.
     * 
     * @type {Map<number, { parts: any[], resolve: Function, reject: Function }>}
     */
    this.requests = new Map();
    /** @type {Map<number, Presence>} */
    this.presences = new Map();
    /** @type {Uint8Array|undefined} */
    this.ownPresence = undefined;
    /**
     * Called once for each published revision.
     * 
     * @type {(change: GraphChange) => void}
     */
    this.onchange = () => {};
    /** @type {(state: State) => void} */
    this.onstate = () => {};
    /** @type {(list: Presence[]) => void} */
    this.onpresence = () => {};
    /**
     * Called when another instance has used the replica id, and a new one was taken.
     * 
     * @type {(identity: { replica: string, lastSequence: number }) => void}
     */
    this.onidentity = () => {};
    /** Called when the store turned out to have another past. */
    this.ondiverged = () => {};
    this.wake = () => this.reconnectNow();
  }

  get model() { return this.graph.model; }

  // ---- The socket

  start() {
    if (this.isStarted) return;
    this.isStarted = true;
    this.page?.addEventListener('visibilitychange', this.wake);
    globalThis.addEventListener?.('online', this.wake);
    this.setState({ kind: 'connecting' });
    this.open();
  }

  /** Ends the connection; unanswered commits are rejected as `unavailable`. */
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
    const { code = 'unavailable', message = 'the connection was closed' } = state;
    for (const { reject } of this.commits.values()) reject(new Refusal({ code, message }, this.model));
    this.commits.clear();
    this.setState(state);
  }

  open() {
    const socket = new this.WebSocket(this.url, 'graph.1');
    socket.binaryType = 'arraybuffer';
    this.socket = socket;
    const isCurrent = () => this.socket === socket;
    socket.onopen = () => { if (isCurrent()) this.handle({ type: 'tick', milliseconds: this.now }, { type: 'connected' }); };
    socket.onmessage = (/** @type {any} */ event) => { if (isCurrent()) this.receive(event.data); };
    socket.onclose = () => { if (isCurrent()) this.lose(); };
    socket.onerror = () => {};
  }

  /** Milliseconds of a monotonic clock, from 1. */
  get now() { return Math.floor(this.clock.now()) + 1; }

  /** @param {ArrayBuffer|string} data */
  receive(data) {
    try {
      if (typeof data === 'string') throw new Error('the server sent text');
      const message = decodeToClient(new Uint8Array(data));
      this.handle({ type: 'tick', milliseconds: this.now }, { type: 'received', message });
    } catch (error) {
      // The stream can no longer be trusted.
      this.lose(`the server's message is not understood: ${error instanceof Error ? error.message : error}`);
    }
  }

  /** Closes the socket without waiting for its end. */
  drop() {
    const { socket } = this;
    this.socket = undefined;
    if (!socket) return;
    socket.onopen = socket.onmessage = socket.onclose = null;
    socket.close();
    this.handle({ type: 'disconnected' });
    this.forgetPresences();
  }

  /**
   * Handles a lost connection: the next attempt comes after a pause, which grows and is randomized.
   * @param {string} [message]
   */
  lose(message) {
    this.drop();
    if (!this.isStarted) return;
    const pause = Math.min(longestPause, firstPause * 2 ** Math.min(this.attempts++, 10)) * (0.5 + 0.5 * this.random());
    this.clock.clearTimeout(this.retryTimer);
    this.retryTimer = this.clock.setTimeout(() => this.open(), pause);
    this.setState({ kind: 'reconnecting', message, retryAt: this.clock.now() + pause });
  }

  /** The page is visible again, or the network is back: connects at once, and looks whether the server still answers. */
  reconnectNow() {
    if (!this.isStarted || this.page?.visibilityState === 'hidden') return;
    if (this.socket) {
      this.handle({ type: 'tick', milliseconds: this.now });
      return;
    }
    this.clock.clearTimeout(this.retryTimer);
    this.attempts = 0;
    this.open();
  }

  /** @param {State} state */
  setState(state) {
    const { kind, message, retryAt } = this.state;
    if (state.kind === kind && state.message === message && state.retryAt === retryAt) return;
    this.state = state;
    this.onstate(state);
  }

  // ---- The replica

  /**
   * Passes events to the replica, and performs its actions. Events that a handler adds wait for the end of the current
   * one: messages leave in the order of their numbers.
   * @param {import('../replica/replica.js').ReplicaEvent[]} events
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

  /** @param {import('../replica/replica.js').ReplicaEvent} event */
  step(event) {
    const actions = this.replica.handle(event);
    for (const action of actions) {
      if (action.type === 'send') this.socket?.send(encodeToServer(action.message));
      else if (action.type === 'welcomed') this.receiveWelcome(action.welcome);
    }
    /** @type {GraphChange|undefined} */
    let change;
    /** @type {ReplicaAction[]} */
    let behind = [];
    // A change is announced before the outcomes that arrived with it.
    const announce = () => {
      if (change) this.onchange(change);
      for (const action of behind) this.perform(action);
      behind = [];
    };
    for (const action of actions) {
      const next = this.publish(action, change);
      if (next !== change) {
        announce();
        change = next;
      }
      behind.push(action);
    }
    announce();
    if (this.replica.state === 'live' && !this.replica.timer.isSilent && this.state.kind !== 'live' && this.isStarted) {
      this.attempts = 0;
      const { head, author: user, role } = this.welcome;
      this.setState({ kind: 'live', head, user, role });
    }
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

  /** @param {any} welcome */
  receiveWelcome(welcome) {
    const isFirst = !this.welcome;
    this.welcome = welcome;
    if (this.ownPresence) this.handle({ type: 'presence', state: this.ownPresence });
    if (!isFirst) return;
    this.graph.adopt(welcome.entities);
    this.replica.adopt(welcome.model);
    for (const query of this.queries.values()) this.follow(query);
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
        // Results that become complete together are one change.
        const current = change?.author === '' && change.time === 0 ? change : emptyChange(0);
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
        return current.changed.size ? current : change;
      }
      case 'diverged':
        graph.invalidate();
        return change;
      default: return change;
    }
  }

  /** @param {ReplicaAction} action */
  perform(action) {
    switch (action.type) {
      case 'loaded': case 'loadedWindow': {
        const query = this.queries.get(action.query);
        if (!query) return;
        if (action.type === 'loadedWindow') query.total = action.rows.total;
        return query.resolve(query);
      }
      case 'disconnect': return this.lose(action.refusal.message);
      case 'rejected': return this.end({ kind: 'refused', code: action.refusal.code, message: action.refusal.message });
      case 'diverged': return this.ondiverged();
      case 'copied': {
        this.identity.replica = this.newID();
        this.onidentity(this.identity);
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
      case 'silence':
        if (action.isSilent) this.setState({ kind: 'reconnecting', message: 'the server does not answer' });
        return;
    }
  }

  // ---- Queries

  /**
   * Follows the objects of an entity that satisfy a predicate, across reconnects.
   * @param {{ entity: string, where?: string, window?: { sort: string, offset: number, limit: number } }} wanted
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
    if (change.removed.size) this.onchange(change);
  }

  // ---- Commits. A sequence that is not given is the next one; it is unique within the replica, and rises.

  /**
   * @param {number} [sequence]
   * @returns {import('../replica/requests.js').TransactionID}
   */
  transactionID(sequence) {
    const { identity } = this;
    identity.lastSequence = Math.max(identity.lastSequence, sequence ?? identity.lastSequence + 1);
    return { replica: identity.replica, sequence: sequence ?? identity.lastSequence };
  }

  /**
   * Commits a transaction, now or when there is a connection again.
   * @param {{ sequence?: number, policy?: string, undo?: { scope: string, group: number, name: string },
   *   changes: import('../context/model.js').Change[] }} transaction an insert has the id `temporary N`, which other changes of
   *   the transaction can refer to
   * @returns {Promise<{ revision: number, ids: Map<string, string>, conflicts: any[] }>} rejects with a Refusal
   */
  async commit({ sequence, policy = 'error', undo, changes }) {
    const inserted = new Map(changes.filter((change) => change.kind === 'insert').map((change) => [change.id, change.entity]));
    const wireID = (/** @type {any} */ id) =>
      inserted.has(id) ? { key: id, entity: this.model.entity(/** @type {string} */ (inserted.get(id))).number } : this.graph.wireID(id);
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
   * @param {{ revision?: number, id?: string|{ id: string, entity: string }, contents?: boolean, sequence?: number }} state
   *   without a revision, a deleted object as it was before its delete
   */
  async restore({ revision, id: object, contents = false, sequence }) {
    const scope = object === undefined ? 'everything' : contents ? 'contents' : 'object';
    const wire = object === undefined ? undefined : this.graph.wireID(object);
    const id = this.transactionID(sequence);
    return this.outcome(id, { type: 'restore', restore: { id, revision, scope, object: wire } });
  }

  /**
   * @param {import('../replica/requests.js').TransactionID} id
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
   * @param {import('../replica/requests.js').TransactionID} id
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
    waiting.resolve({ revision, ids, conflicts: conflicts.map((/** @type {any} */ each) => this.model.conflict(each)) });
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
   * @param {{ entity: string, where?: string, sort?: string, limit?: number, offset?: number, after?: Uint8Array, at?: number,
   *   result?: 'objects'|'identifiers'|'count'|'rows', properties?: string, groupBy?: string }} wanted `at` is a revision,
   *   `after` the `next` of an earlier page, `properties` the columns of rows
   * @returns {Promise<{ objects: import('../context/model.js').GraphObject[], rows: any[][], columns: any[], count: number,
   *   next: Uint8Array|undefined, at: import('../replica/resume.js').Token }>}
   */
  async fetch({ entity, where = '', at, ...rest }) {
    const asOf = at === undefined ? undefined : { revision: at };
    const chunks = await this.request('fetch', { ...rest, entity: this.model.entity(entity).number, predicate: where, at: asOf });
    const last = chunks[chunks.length - 1];
    return {
      objects: chunks.flatMap((chunk) => chunk.objects.map((/** @type {any} */ object) => this.model.object(object))),
      rows: chunks.flatMap((chunk) =>
        chunk.rows.map((/** @type {any} */ row) => row.values.map((/** @type {any} */ value) => this.model.value(value)))),
      columns: chunks[0].columns, count: last.count, next: last.next.length ? last.next : undefined, at: last.at,
    };
  }

  /**
   * Reads history.
   * @param {{ after?: number, through?: number, limit?: number, oldestFirst?: boolean, changes?: number, authors?: string[],
   *   entities?: string[], object?: string, since?: number, until?: number }} wanted `changes` limits those of each commit;
   *   times are microseconds since 1970
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
    return {
      ...origin, value: this.model.value(origin.value), previous: this.model.value(origin.previous),
      overwritten: origin.overwritten.map((/** @type {any} */ each) => ({ ...each, value: this.model.value(each.value) })),
    };
  }

  /**
   * The newest commit at or before a time, in microseconds since 1970.
   * @param {number} time
   * @returns {Promise<{ revision: number, time: number, author: string, head: import('../replica/resume.js').Token }>}
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
   * Sets what other sessions see of this one; it is sent again after a reconnect.
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
    this.onpresence([...this.presences.values()]);
  }

  forgetPresences() {
    if (!this.presences.size) return;
    this.presences.clear();
    this.onpresence([]);
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
