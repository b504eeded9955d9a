// The times of a connection, in milliseconds of a monotonic clock: when to ping, when the server is silent, and when
// the connection counts as lost. It corresponds to ConnectionTimer.swift.

/** The time without an answer or another message after which the owner is notified. */
export const silenceMilliseconds = 5_000;
const welcomeMilliseconds = 10_000;

/** @typedef {'disconnected'|'handshaking'|'welcomed'} Phase of a connection: how long the server may be silent */

export class ConnectionTimer {
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
