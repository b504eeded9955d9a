// Commits under the ids of tabs that have ended: the server may have carried them out, and answers a repetition only to
// the same replica. Each such replica has its own connection until all its commits are answered.

/** @typedef {import('../net/connection.js').Connection} Connection */

export class EndedReplicas {
  #open;
  /** @type {Map<string, {connection: Connection, pending: number, live: Promise<void>}>} */
  #connections = new Map();

  /** @param {(replica: string) => Connection} open makes a connection, not yet started, of a replica that knows of all its
   * transactions: it would take a higher one for that of a copy, and send this one under another id */
  constructor(open) { this.#open = open; }

  /** @param {string} replica @param {any} transaction @returns {Promise<any>} */
  async commit(replica, transaction) {
    let other = this.#connections.get(replica);
    if (!other) {
      const connection = this.#open(replica);
      other = { connection, pending: 0, live: untilLive(connection) };
      this.#connections.set(replica, other);
      connection.start();
    }
    const { connection } = other;
    other.pending += 1;
    try {
      await other.live;
      return await connection.commit(transaction);
    } finally {
      other.pending -= 1;
      if (other.pending === 0) {
        this.#connections.delete(replica);
        connection.stop();
      }
    }
  }
}

/** @param {Connection} connection @returns {Promise<void>} */
function untilLive(connection) {
  return new Promise((resolve, reject) => {
    connection.onstate = ({ kind, message }) => {
      if (kind === 'live') resolve();
      // The edits are kept and sent again later.
      if (kind === 'refused' || kind === 'closed') reject(Object.assign(new Error(message), { code: 'unavailable' }));
    };
  });
}
