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
export function isSameToken(one, other) {
  return one.store === other.store && one.revision === other.revision && one.fingerprint === other.fingerprint;
}

export class ResumeValidation {
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
