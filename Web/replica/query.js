// A query that the replica follows, across connections: FollowedQuery.swift.
//
// After the first result, the owner always holds one. Each query has the token of its own result, because one query may
// be reloading while the others advance. A reconnect resumes from that token.
import { applyEdits, changeID } from '../context/edits.js';
/** @typedef {import('./resume.js').Token} Token */

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
export function isUndamaged(damage) { return !damage || (!damage.objects.length && !damage.commits.length); }

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
