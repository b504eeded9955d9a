// The link of a replica to the server: the WebSocket, the clock, and reconnects with growing, randomized pauses.
import { Replica } from '../replica/replica.js';
import { decodeToClient, encodeToServer } from '../wire/codec.js';

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

export class Link {
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
