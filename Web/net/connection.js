// A connection to the server that uses the names of the model: queries, commits, requests and presence. It reconnects
// automatically, and keeps unanswered commits and the results of queries until then.
import { Graph, emptyChange } from '../context/graph.js';
import { hex } from '../wire/forms.js';
import { Link } from './link.js';

/**
 * @typedef {import('../context/graph.js').GraphChange} GraphChange
 * @typedef {import('../context/model.js').GraphObject} GraphObject
 * @typedef {import('../replica/replica.js').ReplicaAction} ReplicaAction
 * @typedef {import('../replica/requests.js').TransactionID} TransactionID
 * @typedef {import('../replica/resume.js').Token} Token
 * @typedef {import('./link.js').State} State
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
  get ids() { return [...this.connection.graph.results.get(this.id) ?? []]; }

  /**
   * Moves a window.
   * @param {number} offset
   * @param {number} limit
   */
  move(offset, limit) { this.connection.handle({ type: 'moveWindow', query: this.id, offset, limit }); }

  close() { this.connection.unfollow(this.id); }
}

export class Connection extends Link {
  /** @param {import('./link.js').Options} options */
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
     * @type {(identity: import('./link.js').Identity) => void}
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
        return current.changed.size ? current : change;
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
   *   changes: import('../context/model.js').Change[] }} transaction an insert has the id `temporary N`, which other
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
