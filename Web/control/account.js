// The user's identity, by HTTP: the server's answer to `v1/session`, logging in and out, and share links. The login is
// a cookie that no script can read.

/** @typedef {{name: string, version: number, hash: string}} ModelVersion */
/** @typedef {{user: string | null, role: string, build: string, store: string, accounts: boolean, model?: ModelVersion}} Account */
/** @typedef {typeof globalThis.fetch} Fetch */
/** @typedef {{id: string, name: string, role: string, created: Date, expires: Date | null, used: Date | null}} ShareLink */

/** The longest time for an answer, in milliseconds. */
const patience = 5000;

export class Server {
  #fetch;
  #root;

  /** @param {Fetch} fetch @param {URL} root the root of the server's HTTP interface */
  constructor(fetch, root) {
    this.#fetch = fetch;
    this.#root = root;
  }

  /** @param {string} path @param {object | null} [body] posted as JSON; null posts nothing
   * @param {string} [method] instead of GET or POST */
  #ask(path, body, method) {
    const url = new URL(path, this.#root);
    /** @type {RequestInit} */
    const options = { credentials: 'same-origin', cache: 'no-store', signal: ending(patience), ...(method ? { method } : {}) };
    if (body === undefined) return this.#fetch(url, options);
    if (body === null) return this.#fetch(url, { ...options, method: 'POST' });
    const headers = { 'Content-Type': 'application/json' };
    return this.#fetch(url, { ...options, method: 'POST', headers, body: JSON.stringify(body) });
  }

  /** The account of this browser; null if the server can't be reached.
   * @returns {Promise<Account | null>} with `user` null if a login is needed */
  async account() {
    try {
      const answer = await this.#ask('v1/session');
      if (answer.status === 401 || answer.status === 403) return { user: null, role: '', build: '', store: '', accounts: true };
      if (!answer.ok) return null;
      const { user, role, build, store, accounts } = await answer.json();
      return {
        user: typeof user === 'string' ? user : null, role: role ?? (accounts ? 'reader' : 'owner'), build: build ?? '',
        store: String(store ?? '').replace(/-/g, ''), accounts: Boolean(accounts),
      };
    } catch {
      return null;
    }
  }

  /** Logs in with a code of a link, or with the token of a share link.
   * @param {{code: string} | {token: string}} secret @returns {Promise<string>} why it failed; empty if it did not */
  async login(secret) {
    try {
      const answer = await this.#ask('v1/login', secret);
      if (answer.ok) return '';
      if (answer.status === 401) return 'the link has expired or was used; make a new one with: stickies login --browser';
      return await problem(answer);
    } catch {
      return 'the server can’t be reached; open the link again when it is back';
    }
  }

  async logout() { await this.#ask('v1/logout', null); }

  /** Whether this browser's user sees a board.
   * @param {string} board */
  async sees(board) {
    const query = new URLSearchParams({ where: `id == ${JSON.stringify(board)}`, fields: 'name', limit: '1' });
    try {
      const answer = await this.#ask(`v1/objects/Board?${query}`);
      return answer.ok && (await answer.json()).objects.length > 0;
    } catch {
      return false;
    }
  }

  // ---- Share links

  /** Makes a share link with which people read a board.
   * @param {string} board @param {number | null} days until its end; null for never
   * @param {URL} page the address of the application @returns {Promise<string>}
   * @throws {Error} with a sentence that says what to do; the same in the other methods */
  async share(board, days, page) {
    const { token } = await this.#links(this.#ask('v1/share', { object: board, role: 'reader', days }));
    const url = new URL(page);
    url.hash = new URLSearchParams({ share: token, board }).toString();
    return url.href;
  }

  /** The share links to a board, the newest first.
   * @param {string} board @returns {Promise<ShareLink[]>} */
  async shares(board) {
    const { links } = await this.#links(this.#ask(`v1/share?${new URLSearchParams({ object: board })}`));
    const date = (/** @type {string | null} */ text) => (text === null ? null : new Date(text));
    return links.map((/** @type {any} */ each) => ({
      id: String(each.id), name: String(each.name).replace(/^link: /, ''), role: String(each.role),
      created: new Date(each.created), expires: date(each.expires), used: date(each.used),
    }));
  }

  /** Removes a share link: whoever reads with it is disconnected.
   * @param {string} id */
  async unshare(id) { await this.#links(this.#ask(`v1/share/${encodeURIComponent(id)}`, undefined, 'DELETE')); }

  /** @param {Promise<Response>} request */
  async #links(request) {
    let answer;
    try {
      answer = await request;
    } catch {
      throw new Error('share links need the server; try again when it is back');
    }
    if (!answer.ok) throw new Error(await problem(answer));
    return answer.json();
  }
}

/** @param {Response} answer */
async function problem(answer) {
  try {
    const { detail, title } = await answer.json();
    return detail || title || `the server answered ${answer.status}`;
  } catch {
    return `the server answered ${answer.status}`;
  }
}

/** The secrets and the board that the fragment of an address names.
 * @param {string} hash */
export function parseFragment(hash) {
  const fields = new URLSearchParams(hash.replace(/^#/, ''));
  const [code, token, board] = ['code', 'share', 'board'].map((name) => fields.get(name));
  return { secret: code ? { code } : token ? { token } : null, board };
}

/** A signal that ends a request.
 * @param {number} milliseconds */
function ending(milliseconds) {
  const controller = new AbortController();
  setTimeout(() => controller.abort(), milliseconds);
  return controller.signal;
}
