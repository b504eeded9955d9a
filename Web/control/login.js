// The login of this browser: which account a page is for, and whether it still holds. The last account is kept for starts
// without the server, and compared with the server's before anything is sent.

/** @typedef {import('./account.js').Account} Account */
/** @typedef {Account & {user: string, principal?: string, grants?: import('./rights.js').Grant[]}} Known  the roles are those of the last connection */

/** The time between looks at the account, in milliseconds. */
const pause = 5000;

export class Login {
  /** The account that the page is for.
   * @type {Known | null} */
  account = null;
  isSignedOut = false;
  /** The reason why the server does not let this page in.
   * @type {'notAllowed' | 'outdated' | null} */
  refused = null;
  refusal = '';
  /** Whether the server has a newer build of the page. */
  update = false;
  /** Called when the login has ended, or the page can't continue. */
  onend = () => {};
  /** Called when something else has changed. */
  onchange = () => {};
  /** Keeps the account.
   * @type {import('../keep/storage.js').Storage} */
  storage;
  #server;
  #environment;
  #due = 0;

  /** @param {import('./account.js').Server} server @param {import('./browser.js').Environment} environment
   * @param {import('../keep/storage.js').Storage} storage */
  constructor(server, environment, storage) {
    this.#server = server;
    this.#environment = environment;
    this.storage = storage;
  }

  get #key() { return ['account', this.#environment.root.href]; }

  /** Finds the account: the account that the server names, or the last one without the server.
   * @param {Account | null} found the server's answer
   * @returns {Promise<Known | null>} null without one, and if the user has to log in */
  async find(found) {
    if (!found) {
      const [remembered] = await this.storage.list(this.#key).catch(() => []);
      this.account = remembered?.[1] ?? null;
      return this.account;
    }
    this.#compareBuild(found);
    if (found.user === null && found.accounts) {
      this.#end();
      return null;
    }
    const [last] = await this.storage.list(this.#key).catch(() => []);
    const roles = last?.[1]?.user === found.user && last[1].store === found.store ? { principal: last[1].principal, grants: last[1].grants } : {};
    this.account = { ...found, ...roles, user: found.user ?? 'browser' };
    this.#keep();
    return this.account;
  }

  /** Keeps the roles, for starts without the server.
   * @param {import('./rights.js').Rights} rights */
  remember({ user, grants, strongest }) {
    if (!this.account) return;
    Object.assign(this.account, { principal: user, grants, role: strongest ?? '' });
    this.#keep();
  }

  #keep() { this.storage.change({ put: [[this.#key, this.account]] }).catch(() => {}); }

  /** Whether a connection is this account's, in the same store. If not, the page is loaded again: the cookie now
   * belongs to another user, who must not see the objects of this page.
   * @param {any} welcome */
  verify(welcome) {
    const store = String(welcome.head?.store ?? '').replace(/-/g, '');
    const known = this.account?.store ?? '';
    if (welcome.author === this.account?.user && (!store || !known || store === known)) {
      this.refused = null;
      return true;
    }
    this.#reload();
    return false;
  }

  #reload() {
    if (this.#environment.reload()) return;
    // It was loaded just now, so that another time would not help.
    this.refused = 'notAllowed';
    this.refusal = 'the server names another user on each connection; sign out and in again';
    this.onend();
  }

  #end() {
    this.isSignedOut = true;
    this.onend();
  }

  /** @param {Account} found */
  #compareBuild({ build }) {
    this.update = this.#environment.build !== '' && build !== '' && build !== this.#environment.build;
  }

  /** The server has refused the connection.
   * @param {{code?: string, message?: string}} state */
  refuse({ code, message = '' }) {
    this.refused = code === 'malformed' || /protocol|model/.test(message) ? 'outdated' : 'notAllowed';
    this.refusal = message;
    this.#due = 0;
    this.look();
  }

  /** Asks whether the login has ended, or the server has a newer page: a browser does not say why a WebSocket failed. */
  async look() {
    const now = this.#environment.clock.now();
    if (now < this.#due || !this.account) return;
    this.#due = now + pause;
    const found = await this.#server.account();
    if (!found) return;
    this.#compareBuild(found);
    if (this.refused && this.update) this.refused = 'outdated';
    if (found.user === null && found.accounts) return this.#end();
    if (found.user !== null && found.user !== this.account.user) return this.#reload();
    this.onchange();
  }

  /** Ends the login of this browser. */
  async leave() {
    await this.#server.logout();
    await this.storage.change({ remove: [this.#key] }).catch(() => {});
    this.#end();
  }

  /** The version of the model, which the form of unsent edits names: asked once for each hash.
   * @param {string} hash @param {() => Promise<{name: string, version: number}>} read */
  async modelVersion(hash, read) {
    if (!this.account || this.account.model?.hash === hash) return this.account?.model;
    const { name, version } = await read();
    this.account.model = { name, version, hash };
    this.#keep();
    return this.account.model;
  }
}
