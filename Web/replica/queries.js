// Live queries: first results, deltas, windows, and the rule that all queries of a session advance to a revision
// together. Replica+Queries.swift and Replica+Windows.swift.
import { applyEdits, changeID } from '../context/graph.js';
import { finishResumeValidation, sortedKeys } from './receiving.js';

/**
 * @typedef {import('./replica.js').Replica} Replica
 */

// ---- Subscriptions

/**
 * Subscribes to a query, now or when the server has answered enough of the others.
 * @param {Replica} replica
 * @param {number} query
 */
export function subscribe(replica, query) {
  if (replica.subscriptions.add(query)) sendSubscription(replica, query);
}

/**
 * @param {Replica} replica
 * @param {number} query
 */
function sendSubscription(replica, query) {
  const followed = /** @type {FollowedQuery} */ (replica.queries.get(query));
  replica.send('subscribe', followed.beginSubscribing(), { kind: 'subscribe', query });
}

/**
 * @param {Replica} replica
 * @param {number} query
 */
export function unsubscribe(replica, query) {
  const followed = replica.queries.get(query);
  // The server may have refused the query.
  if (!followed) return;
  replica.queries.delete(query);
  if (replica.subscriptions.removeUnsent(query)) return finishSubscribing(replica, true);
  // If the subscription has not been answered, the answer ends it.
  if (!followed.isFollowed) return;
  // The query counts against the session's limit until the server confirms.
  replica.send('unsubscribe', { query: followed.number });
  // Later answers to the subscription are ignored.
  replica.open.close(followed.request);
  removeNumbers(replica, followed);
}

/**
 * Removes the server's numbers of a query that is no longer followed. An answered move has a second one.
 * @param {Replica} replica
 * @param {FollowedQuery} followed
 */
function removeNumbers(replica, followed) {
  if (followed.isFollowed) replica.numbers.delete(followed.number);
  if (followed.answeredMove) replica.numbers.delete(followed.answeredMove.previous);
  replica.staged = replica.staged.filter((delta) => replica.numbers.has(delta.query));
}

/**
 * Handles the server's number for a query. A server also sends it a second time, after a reset; the number is then
 * another one if the rights have changed.
 * @param {Replica} replica
 * @param {number} query
 * @param {number} request
 * @param {any} subscribed
 */
export function receiveSubscribed(replica, query, request, { query: number, resumed, known }) {
  const followed = replica.queries.get(query);
  if (!followed) {
    // The query is no longer followed.
    replica.send('unsubscribe', { query: number });
    return finishSubscribing(replica, true);
  }
  const isRepeated = followed.isFollowed;
  if (isRepeated && followed.number !== number) {
    replica.numbers.delete(followed.number);
    dropStaged(replica, followed.number);
  }
  replica.numbers.set(number, query);
  const since = followed.resumeToken;
  if (since && !isRepeated) replica.resume.recordAnswer(since.revision, known || resumed);
  if (resumed) {
    followed.resume(number, request);
    // An earlier advance was for a session without this query.
    replica.deferredAdvance = undefined;
    replica.actions.push({ type: 'resumed', query, since: since?.revision ?? 0 });
  } else {
    followed.beginReceiving(number, request);
    dropStaged(replica, number);
  }
  if (!isRepeated) finishSubscribing(replica, !resumed);
}

/**
 * Handles a refused subscription, or a result that failed after the subscription was accepted.
 * @param {Replica} replica
 * @param {number} query
 * @param {import('./replica.js').Refusal} refusal
 */
export function receiveRefusal(replica, query, refusal) {
  const followed = replica.queries.get(query);
  replica.queries.delete(query);
  if (followed) removeNumbers(replica, followed);
  replica.actions.push({ type: 'refusedQuery', query, refusal });
  finishSubscribing(replica, true, followed?.isFollowed);
}

/**
 * Handles the answer to one subscription. The last answer publishes the held-back revisions, unless its query resumes.
 * In that case the advance at the end of the replay publishes them.
 * @param {Replica} replica
 * @param {boolean} mayPublish
 * @param {boolean} [wasAnswered]
 */
export function finishSubscribing(replica, mayPublish, wasAnswered = false) {
  const { subscriptions } = replica;
  if (!wasAnswered) {
    const next = subscriptions.recordAnswer();
    if (next !== undefined) sendSubscription(replica, next);
  }
  if (!subscriptions.areAnswered) return;
  finishResumeValidation(replica);
  // The validation may have subscribed to queries again, or asked the store once more.
  if (!subscriptions.areAnswered || !mayPublish) return;
  const deferred = replica.deferredAdvance;
  const last = replica.staged.at(-1);
  if (deferred) {
    replica.deferredAdvance = undefined;
    advance(replica, deferred.revision, deferred.fingerprint);
  } else if (last && isWhole(replica, last)) advance(replica, last.revision, last.fingerprint);
}

/**
 * Handles a reset: a new result follows. The server's number may be of a query that is no longer followed.
 * @param {Replica} replica
 * @param {number} number
 */
export function receiveReset(replica, number) {
  const query = replica.numbers.get(number);
  if (query === undefined) return;
  dropMove(replica, query);
  replica.queries.get(query)?.beginReload();
  dropStaged(replica, number);
}

/**
 * @param {Replica} replica
 * @param {number} number of the server's for a query
 */
function dropStaged(replica, number) { replica.staged = replica.staged.filter((delta) => delta.query !== number); }

/**
 * Reloads a query because the history of the store differs.
 * @param {Replica} replica
 * @param {number} query
 */
export function reloadAfterDivergence(replica, query) {
  const followed = /** @type {FollowedQuery} */ (replica.queries.get(query));
  const { number, isFollowed, token } = followed;
  followed.invalidateHeldResult();
  // A query that is not subscribed to, or whose new result is on its way, is reloaded anyway.
  if (!isFollowed || !token) return;
  replica.numbers.delete(number);
  dropMove(replica, query);
  // Answers under the old request, such as a reset, do not concern the new subscription.
  replica.open.removeAbout(query);
  dropStaged(replica, number);
  followed.endSubscription();
  replica.send('unsubscribe', { query: number });
  subscribe(replica, query);
}

// ---- Results and deltas

/**
 * Handles a part of a result. A chunk that was sent before a reset is ignored.
 * @param {Replica} replica
 * @param {any} chunk
 * @param {number} query
 * @param {number} request
 */
export function receiveChunk(replica, chunk, query, request) {
  const followed = replica.queries.get(query);
  const count = followed?.append(chunk);
  if (followed === undefined || count === undefined) return;
  if (followed.atMost !== undefined && count > followed.atMost) {
    unsubscribe(replica, query);
    const message = `the query has more than ${followed.atMost} objects, the requested maximum: narrow it, ` +
      'or follow a window of it';
    replica.actions.push({ type: 'refusedQuery', query, refusal: { code: 'limit', message } });
  } else if (!chunk.last) replica.send('more', { request });
}

/**
 * Handles a query's part of a commit. The server may have sent it before it ended the query.
 * @param {Replica} replica
 * @param {any} delta
 */
export function receiveDelta(replica, delta) {
  if (!replica.numbers.has(delta.query)) return;
  replica.staged.push(delta);
  if (replica.subscriptions.areAnswered && isWhole(replica, delta)) advance(replica, delta.revision, delta.fingerprint);
}

/**
 * Whether a delta completes its revision. It does for a single query; for several, an advance does.
 * @param {Replica} replica
 * @param {any} delta
 */
function isWhole(replica, delta) {
  if (replica.numbers.size !== 1) return false;
  const query = replica.numbers.get(delta.query);
  return !(query !== undefined && replica.queries.get(query)?.isReceiving);
}

/**
 * Handles an advance. It covers the results that were complete before it, even while it is held back.
 * @param {Replica} replica
 * @param {number} revision
 * @param {string} fingerprint
 */
export function receiveAdvance(replica, revision, fingerprint) {
  for (const followed of replica.queries.values()) followed.cover(revision);
  advance(replica, revision, fingerprint);
}

/**
 * Publishes everything up to `revision`. All of it must have arrived.
 * @param {Replica} replica
 * @param {number} revision
 * @param {string} fingerprint
 */
function advance(replica, revision, fingerprint) {
  if (!replica.subscriptions.areAnswered) {
    replica.deferredAdvance = { revision, fingerprint };
    return;
  }
  replica.deferredAdvance = undefined;
  for (const query of sortedKeys(replica.queries)) publishResult(replica, query);
  const moved = sortedKeys(replica.queries).filter((query) => replica.queries.get(query)?.answeredMove);
  for (const update of takeUpdates(replica, revision)) {
    publishMoves(replica, moved, update.revision);
    replica.actions.push({ type: 'changed', update });
  }
  publishMoves(replica, moved, revision + 1);
  replica.publishedRevision = Math.max(replica.publishedRevision, revision);
  advanceResults(replica, { store: replica.store, revision, fingerprint });
}

/**
 * Publishes the new result of a query, if an advance covers it.
 * @param {Replica} replica
 * @param {number} query
 */
function publishResult(replica, query) {
  const followed = /** @type {FollowedQuery} */ (replica.queries.get(query));
  const incoming = followed.coveredResult;
  if (!incoming) return;
  // Applies deltas of revisions that other queries published while this result was on its way, so that no revision is
  // published twice. A window's result is never older than the published revision.
  if (!followed.visiblePlace) {
    /** @param {any} delta */
    const isPublished = (delta) =>
      replica.numbers.get(delta.query) === query && delta.revision <= replica.publishedRevision;
    const published = replica.staged.filter(isPublished).sort((a, b) => a.revision - b.revision);
    replica.staged = replica.staged.filter((delta) => !isPublished(delta));
    incoming.fold(published, replica.store, replica.slots);
  }
  const at = /** @type {import('./replica.js').Token} */ (incoming.at);
  followed.finishLoading(at, incoming.damage);
  if (!isUndamaged(incoming.damage)) replica.actions.push({ type: 'incomplete', query, damage: incoming.damage });
  const place = followed.visiblePlace;
  if (!place) {
    replica.actions.push({ type: 'loaded', query, objects: incoming.objects, at });
    return;
  }
  const rows = {
    rows: incoming.objects.map((object) => object.id), objects: incoming.objects, total: incoming.total,
    offset: place.offset, limit: place.limit,
  };
  replica.actions.push({ type: 'loadedWindow', query, rows, at });
  requestMove(replica, query);
}

/**
 * Removes the staged deltas up to a revision, and returns them by commit, in order.
 * @param {Replica} replica
 * @param {number} revision
 */
function takeUpdates(replica, revision) {
  /** @type {import('./replica.js').CommitUpdate[]} */
  const updates = [];
  const rest = [];
  // Queries that resumed at different times delivered their parts of a revision separately.
  for (const delta of replica.staged.slice().sort((a, b) => a.revision - b.revision)) {
    const query = replica.numbers.get(delta.query);
    if (delta.revision > revision || query === undefined) {
      rest.push(delta);
      continue;
    }
    if (updates.at(-1)?.revision !== delta.revision) {
      const { time, author } = delta;
      updates.push({ revision: delta.revision, time, author, changes: [], totals: new Map() });
    }
    const update = updates[updates.length - 1];
    update.changes.push({ query, changes: delta.changes });
    if (delta.total) update.totals.set(query, delta.total.count);
  }
  replica.staged = rest;
  return updates;
}

/**
 * Advances every current result to this state.
 * @param {Replica} replica
 * @param {import('./replica.js').Token} token
 */
export function advanceResults(replica, token) {
  replica.resume.record(token);
  for (const followed of replica.queries.values()) followed.advance(token);
}

// ---- Windows that move. One move is in flight at a time, followed by the newest place that was requested.

/**
 * Sends the requested place, if it differs from the last one sent and those rows are visible.
 * @param {Replica} replica
 * @param {number} query
 */
export function requestMove(replica, query) {
  const followed = replica.queries.get(query);
  const place = followed?.beginMove();
  if (!followed || !place) return;
  const { offset, limit } = place;
  replica.send('moveWindow', { query: followed.number, offset, limit }, { kind: 'moveWindow', query });
}

/**
 * Handles the answer to a move. The query may no longer be followed.
 * @param {Replica} replica
 * @param {any} moved
 * @param {number} query
 * @param {number} request
 */
export function receiveMoved(replica, moved, query, request) {
  const followed = answerMove(replica, request, query);
  if (!followed) return replica.send('unsubscribe', { query: moved.query });
  replica.numbers.set(moved.query, query);
  followed.acceptMove(moved);
}

/**
 * Handles a move that is answered by a new result. The server does not know which rows this side holds.
 * @param {Replica} replica
 * @param {number} number
 * @param {number} query
 * @param {number} request
 */
export function receiveMovedAsReload(replica, number, query, request) {
  const followed = answerMove(replica, request, query);
  if (!followed) return replica.send('unsubscribe', { query: number });
  const old = followed.number;
  replica.numbers.delete(old);
  replica.numbers.set(number, query);
  followed.reloadAfterMove(number);
  dropStaged(replica, old);
}

/**
 * Records the request of the move, because the server's answers name it from now on.
 * @param {Replica} replica
 * @param {number} request
 * @param {number} query
 */
function answerMove(replica, request, query) {
  const followed = replica.queries.get(query);
  if (!followed?.isFollowed) {
    replica.open.close(request);
    return undefined;
  }
  replica.open.replace(followed.request, request, { kind: 'subscribe', query });
  followed.request = request;
  return followed;
}

/**
 * Drops an answered move when the rows of its place are reloaded. The rows that the move brought are older, and must
 * not replace them.
 * @param {Replica} replica
 * @param {number} query
 */
function dropMove(replica, query) {
  const followed = replica.queries.get(query);
  const move = followed?.answeredMove;
  if (!followed || !move) return;
  replica.numbers.delete(move.previous);
  dropStaged(replica, move.previous);
  followed.endMove();
}

/**
 * Publishes moves of revisions before this one.
 * @param {Replica} replica
 * @param {number[]} queries
 * @param {number} revision
 */
function publishMoves(replica, queries, revision) {
  for (const query of queries) {
    const followed = replica.queries.get(query);
    const move = followed?.answeredMove;
    if (!followed || !move || move.moved.at.revision >= revision) continue;
    replica.numbers.delete(move.previous);
    followed.endMove();
    const { rows, objects, total, at } = move.moved;
    const { offset, limit } = followed.visiblePlace;
    replica.actions.push({ type: 'loadedWindow', query, rows: { rows, objects, total, offset, limit }, at });
    requestMove(replica, query);
  }
}

// ---- A followed query
//
// A query that the replica follows, across connections: FollowedQuery.swift.
//
// After the first result, the owner always holds one. Each query has the token of its own result, because one query may
// be reloading while the others advance. A reconnect resumes from that token.

/** @typedef {import('./replica.js').Token} Token */

/** A result that is being received. An advance at or past `at` covers it, if it arrives after the last chunk. */
class IncomingResult {
  constructor() {
    /** @type {Record<string, any>[]} */
    this.objects = [];
    /**
     * The damaged objects that the result lacks.
     * @type {any}
     */
    this.damage = undefined;
    /**
     * Set with the last chunk.
     * @type {Token|undefined}
     */
    this.at = undefined;
    this.total = 0;
    this.isCovered = false;
  }

  /** @param {number} revision */
  cover(revision) { if (this.at && this.at.revision <= revision) this.isCovered = true; }

  /**
   * Advances a complete result to the revision of the last delta, as if it had been read there.
   * @param {any[]} deltas in the order of revisions
   * @param {string} store
   * @param {Map<number, any>} slots
   */
  fold(deltas, store, slots) {
    const last = deltas.at(-1);
    if (!last) return;
    /** @type {Map<string, Record<string, any>|undefined>} */
    const rows = new Map(this.objects.map((object) => [object.id.key, object]));
    for (const delta of deltas) {
      for (const change of delta.changes) {
        const { key } = changeID(change);
        const held = rows.get(key);
        if (change.kind === 'delete') {
          // Keeps an empty row in its place. An insert that follows fills it.
          if (held) rows.set(key, undefined);
        } else if (change.kind === 'update') {
          // An object that was read later than the rest may already include this delta.
          if (!held || held.revision >= delta.revision) continue;
          const image = applyEdits(held, change.edits, slots);
          rows.set(key, change.object ?? { ...image, revision: delta.revision });
        } else rows.set(key, change.object);
      }
    }
    this.objects = [...rows.values()].flatMap((object) => object ?? []);
    this.at = { store, revision: last.revision, fingerprint: last.fingerprint };
  }
}

/**
 * Whether damage names nothing.
 * @param {any} damage
 */
function isUndamaged(damage) { return !damage || (!damage.objects.length && !damage.commits.length); }

export class FollowedQuery {
  /**
   * @param {Record<string, any>} subscribe
   * @param {number|undefined} atMost
   */
  constructor(subscribe, atMost) {
    /** The query that the owner has requested. */
    this.subscribe = subscribe;
    /** The maximum number of objects that the owner accepts. */
    this.atMost = atMost;
    /**
     * `waiting`: the server does not follow the query.
     * @type {'waiting'|'subscribing'|'followed'}
     */
    this.state = 'waiting';
    /**
     * The state of the result that the owner has, even while it is being reloaded.
     * @type {Token|undefined}
     */
    this.held = undefined;
    /** Of a followed query: the server's number, and the request that its answers name. */
    this.number = 0;
    this.request = 0;
    /**
     * Of a followed query: whether the owner's result is current, or a new one is due, or is being received.
     * @type {'current'|'reloading'|'receiving'}
     */
    this.result = 'reloading';
    this.incoming = new IncomingResult();
    /**
     * The move of a window to another place: requested, or answered by rows that wait for their revision.
     * @type {undefined|'requested'|{ moved: any, previous: number }}
     */
    this.move = undefined;
    /**
     * The place that was last sent to the server. `visiblePlace` is the place of the visible rows.
     * @type {any}
     */
    this.sentPlace = undefined;
    /** @type {any} */
    this.visiblePlace = undefined;
    /**
     * The damaged objects that the owner's result lacks.
     * @type {any}
     */
    this.damage = undefined;
  }

  /** The state of the owner's result, unless it is being reloaded. */
  get token() { return this.state === 'followed' && this.result !== 'current' ? undefined : this.held; }

  get isFollowed() { return this.state === 'followed'; }

  get isReceiving() { return this.isFollowed && this.result === 'receiving'; }

  /** The answered move of a window. */
  get answeredMove() { return this.isFollowed && typeof this.move === 'object' ? this.move : undefined; }

  /** The state that the server was asked to resume from. */
  get resumeToken() { return this.token ?? this.subscribe.since; }

  /** The subscription to send now. A result of an earlier connection is current as of its token. */
  beginSubscribing() {
    this.sentPlace = this.subscribe.window;
    this.visiblePlace = this.subscribe.window;
    this.state = 'subscribing';
    const since = this.resumeToken;
    return { ...this.subscribe, since, resume: since !== undefined };
  }

  /**
   * Handles an answer that resumes the query: the owner's result stays valid.
   * @param {number} number
   * @param {number} request
   */
  resume(number, request) {
    const since = this.resumeToken;
    const wasReceiving = this.isReceiving;
    this.accept(number, request);
    // A server that resumes a reload has no record of what it had sent. The state of the reload counts.
    if (since) this.held = since;
    if (!wasReceiving && since) this.result = 'current';
  }

  /**
   * Handles an answer that a new result follows.
   * @param {number} number
   * @param {number} request
   */
  beginReceiving(number, request) {
    this.accept(number, request);
    this.result = 'receiving';
    this.incoming = new IncomingResult();
  }

  /**
   * @param {number} number
   * @param {number} request
   */
  accept(number, request) {
    // From now on, the state of the result is the one to resume from: the owner has seen later states than its first
    // token.
    this.subscribe = { ...this.subscribe, since: undefined };
    this.number = number;
    if (this.isFollowed) return;
    this.state = 'followed';
    this.request = request;
    this.result = this.held ? 'current' : 'reloading';
    this.move = undefined;
  }

  /** Handles a reset: a new result is due; the old one stays visible until it arrives. */
  beginReload() { if (this.isFollowed) this.result = 'reloading'; }

  /** Ends the subscription, to subscribe again on the same connection, for a complete result. */
  endSubscription() {
    this.state = 'waiting';
    this.held = undefined;
  }

  /**
   * Resets the query after the connection was lost. The next subscription resumes from the result that the owner holds.
   * A result that lacks damaged objects is loaded again: they may have been repaired, which is no commit.
   */
  resetAfterDisconnect() {
    if (!isUndamaged(this.damage)) this.held = undefined;
    this.state = 'waiting';
  }

  /**
   * Requires a complete reload if other queries advanced while this result was on its way: a resume would deliver
   * deltas of revisions that have passed.
   * @param {number} published
   */
  requireReload(published) {
    if (this.token && this.token.revision < published) this.invalidateHeldResult();
  }

  /** Invalidates the result that the owner holds. */
  invalidateHeldResult() {
    this.held = undefined;
    if (this.isFollowed && this.result === 'current') this.result = 'reloading';
  }

  // ---- Results

  /**
   * Adds a chunk; returns the number of objects so far, undefined if no result is being received.
   * @param {any} chunk
   */
  append(chunk) {
    if (!this.isReceiving) return undefined;
    const { incoming } = this;
    for (const object of chunk.objects) incoming.objects.push(object);
    incoming.damage = chunk.damage;
    if (chunk.last) {
      incoming.at = chunk.at;
      incoming.total = chunk.total ? chunk.total.count : chunk.count;
    }
    return incoming.objects.length;
  }

  /**
   * Marks a complete result as covered if an advance reaches its state.
   * @param {number} revision
   */
  cover(revision) { if (this.isReceiving) this.incoming.cover(revision); }

  /** The result that an advance covers, ready to be published. */
  get coveredResult() { return this.isReceiving && this.incoming.isCovered ? this.incoming : undefined; }

  /**
   * Ends a load: the owner has the result of this state.
   * @param {Token} at
   * @param {any} damage
   */
  finishLoading(at, damage) {
    this.damage = damage;
    this.held = at;
    this.result = 'current';
    this.incoming = new IncomingResult();
  }

  /**
   * Advances a current result to a later state.
   * @param {Token} token
   */
  advance(token) {
    if (!this.isFollowed || this.result !== 'current' || !this.held) return;
    if (this.held.revision <= token.revision) this.held = token;
  }

  // ---- Windows

  /**
   * Sets the place that the owner of a window wants.
   * @param {number} offset
   * @param {number} limit
   */
  setPlace(offset, limit) {
    const { window } = this.subscribe;
    if (window) this.subscribe = { ...this.subscribe, window: { ...window, offset, limit } };
  }

  /** Begins to move to the place that the owner wants, if it differs from the last one sent and those rows are visible;
   * returns the place to send. */
  beginMove() {
    const place = this.subscribe.window;
    if (!place || !this.isFollowed || this.result !== 'current' || this.move || !this.sentPlace) return undefined;
    if (place.offset === this.sentPlace.offset && place.limit === this.sentPlace.limit) return undefined;
    this.sentPlace = place;
    this.move = 'requested';
    return place;
  }

  /**
   * Handles the answer to a move: the rows wait for their revision to be complete.
   * @param {any} moved
   */
  acceptMove(moved) {
    this.move = { moved, previous: this.number };
    this.number = moved.query;
  }

  /**
   * Handles a move that is answered by a new result.
   * @param {number} number
   */
  reloadAfterMove(number) {
    this.endMove();
    this.number = number;
    this.result = 'receiving';
    this.incoming = new IncomingResult();
  }

  /** Ends a move: the rows of the place that was sent last are visible, or being received. */
  endMove() {
    this.visiblePlace = this.sentPlace;
    this.move = undefined;
  }

  /** Ends a refused move: the window stays where it is. */
  cancelMove() {
    if (this.visiblePlace) {
      this.sentPlace = this.visiblePlace;
      this.subscribe = { ...this.subscribe, window: this.visiblePlace };
    }
    this.move = undefined;
  }
}
