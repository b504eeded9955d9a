// People: the user's account, login and rights, and the other sessions.

// ---- The account
//
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

// ---- The login
//
// The login of this browser: which account a page is for, and whether it still holds. The last account is kept for starts
// without the server, and compared with the server's before anything is sent.

/** @typedef {Account & {user: string, principal?: string, grants?: Grant[]}} Known  the roles are those of the last connection */

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

  /** @param {Server} server @param {import('./session.js').Environment} environment
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
   * @param {Rights} rights */
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

// ---- Rights
//
// What the user may do, by its roles on everything and on single boards: the judgement of BoardRights.swift, for the rules
// of the notes' model. Commands that the server would refuse are disabled; the server judges each change anyway.

/** @typedef {'reader' | 'commenter' | 'editor' | 'owner'} Role */
/** @typedef {{role: string, scope?: string | null}} Grant  without a scope: on everything */
/** @typedef {'insert' | 'update' | 'delete'} Operation */

const order = ['reader', 'commenter', 'editor', 'owner'];

/** @param {string | null} one @param {string | null} other */
const stronger = (one, other) => (order.indexOf(one ?? '') >= order.indexOf(other ?? '') ? one : other);

export class Rights {
  /** The user's id: what the creator of its own objects is.
   * @type {string} */
  user;
  /** @type {Grant[]} */
  grants;
  /** The role on everything; null for none.
   * @type {string | null} */
  everywhere = null;
  /** @type {Map<string, string>} */
  #boards = new Map();

  /** @param {string} user @param {Grant[]} grants none if the user may do everything */
  constructor(user, grants) {
    this.user = user;
    this.grants = grants.filter(({ role }) => order.includes(role)).map(({ role, scope }) => (scope ? { role, scope } : { role }));
    if (grants.length === 0) this.everywhere = 'owner';
    for (const { role, scope } of this.grants) {
      if (scope) this.#boards.set(scope, String(stronger(this.#boards.get(scope) ?? null, role)));
      else this.everywhere = stronger(this.everywhere, role);
    }
  }

  /** The role on a board, and on its notes and links; null for none.
   * @param {string} board */
  role(board) { return stronger(this.everywhere, this.#boards.get(board) ?? null); }

  /** The strongest role anywhere; null for none. */
  get strongest() { return [...this.#boards.values()].reduce((/** @type {string | null} */ a, b) => stronger(a, b), this.everywhere); }

  /** Whether the user may change something anywhere. */
  get canWrite() { return isAtLeast(this.strongest, 'commenter'); }

  /** Why the user may not make a note or a link on a board, or change or delete one; '' if nothing speaks against it.
   * @param {Operation} operation @param {string} board @param {string | null} [creator] of the object; null for a new one
   * @param {string} [name] of the object, such as "note 7" */
  refusal(operation, board, creator = null, name = 'this') {
    const role = this.role(board);
    if (role === null) return 'you have no role on this board: ask an owner for one';
    if (role === 'reader') return 'you can read this board, but not change it: your role here is reader';
    const isOwn = operation === 'insert' || creator === null || creator === this.user;
    if (role !== 'commenter' || isOwn) return '';
    return `${name} is someone else’s: your role here is commenter, which ${operation === 'delete' ? 'deletes' : 'changes'} only your own`;
  }

  /** Why the user may not make a board, or rename or delete one.
   * @param {Operation} operation @param {string} [board] @param {string | null} [creator] */
  refusalOfBoard(operation, board = '', creator = null) {
    const role = operation === 'insert' ? this.everywhere : this.role(board);
    const isOwn = creator !== null && creator === this.user;
    if (operation === 'insert') return isAtLeast(role, 'commenter') ? '' : 'you can’t make boards: that needs a role on everything';
    if (operation === 'update') return isAtLeast(role, 'editor') || (role === 'commenter' && isOwn) ? '' : 'your role on this board doesn’t let you rename it';
    const isAllowed = role === 'owner' || (isOwn && isAtLeast(role, 'commenter'));
    return isAllowed ? '' : 'only an owner and the person who made a board can delete it';
  }
}

/** @param {string | null} role @param {Role} least */
function isAtLeast(role, least) { return order.indexOf(role ?? '') >= order.indexOf(least); }

// ---- Presence
//
// The other sessions: who they are, where they are, and what they edit. The form is the terminal's (BoardPresence), so
// that both see each other; a reader ignores members that it does not know, and forms of a later version.

/** @typedef {{x: number, y: number}} Point */
/** @typedef {{x: number, y: number, width: number, height: number}} Area */
/** @typedef {{session: number, name: string, author: string, board: string, color: string, cursor: Point | null, note: string | null,
 *  caret: number | null, view: Area | null}} Person */

/** Colors of people, distinct from each other and from the papers; the same as the terminal's. */
export const colors = ['#D6336C', '#1C7ED6', '#2F9E44', '#E8590C', '#7048E8', '#0C8599', '#C2A000', '#9C36B5'];

/** The least time between two presence messages, in milliseconds. */
const interval = 50;

/** Sends the own place at a limited rate, and holds those of the others. */
export class Presence {
  /** The other people, on all boards.
   * @type {Person[]} */
  people = [];
  #send;
  #clock;
  /** @type {{board: string, cursor?: Point | null, note?: string | null, caret?: number | null, view?: Area | null} | null} */
  #place = null;
  #sent = '';
  #due = 0;
  #isWaiting = false;
  #color = 0;
  /** @type {{session: number, author: string, state: any}[]} */
  #others = [];

  /** @param {(state: object) => void} send @param {import('../keep/storage.js').Clock} clock */
  constructor(send, clock) {
    this.#send = send;
    this.#clock = clock;
  }

  /** Begins again on a new connection, whose sessions do not know this one.
   * @param {string} author */
  reset(author) {
    this.#color = colorOf(author);
    this.#sent = '';
    this.#flush();
  }

  /** @param {{board: string, cursor?: Point | null, note?: string | null, caret?: number | null, view?: Area | null} | null} place */
  set(place) {
    this.#place = place;
    this.#flush();
  }

  #flush() {
    if (!this.#place || this.#isWaiting) return;
    // If nobody else is connected, only the board and the note are sent, for the next person who connects.
    const { cursor, caret, view, ...rest } = this.#place;
    const state = toState({ ...(this.#others.length > 0 ? this.#place : rest), color: this.#color });
    const text = JSON.stringify(state);
    if (text === this.#sent) return;
    const now = this.#clock.now();
    if (now < this.#due) {
      this.#isWaiting = true;
      this.#clock.later(() => {
        this.#isWaiting = false;
        this.#flush();
      }, this.#due - now);
      return;
    }
    this.#due = now + interval;
    this.#sent = text;
    this.#send(state);
  }

  /** Takes over the presences of the other sessions.
   * @param {{session: number, author: string, state: any}[]} list @param {number} session the own number */
  receive(list, session) {
    const known = new Set(this.#others.map((each) => each.session));
    // A new session has not received the own place.
    if (list.some((each) => !known.has(each.session))) this.#sent = '';
    this.#others = list;
    this.#color = yielded(this.#color, session, list);
    this.people = list.flatMap((each) => fromState(each) ?? []);
    this.#flush();
  }
}

/** The number of the color that an author begins with, so that most people have the same one every day.
 * @param {string} author */
export function colorOf(author) {
  let sum = 0;
  for (const byte of new TextEncoder().encode(author)) sum = (sum * 31 + byte) & 0xFFFF;
  return sum % colors.length;
}

/** The own color after others have chosen theirs: the later session takes another one, as long as one is free.
 * @param {number} own @param {number} session this session's number; later sessions have higher ones
 * @param {{session: number, author: string, state: any}[]} others */
export function yielded(own, session, others) {
  const number = (/** @type {{author: string, state: any}} */ each) => chosen(each.state) ?? colorOf(each.author);
  const isTaken = others.some((each) => number(each) === own && (each.session < session || chosen(each.state) === null));
  if (!isTaken) return own;
  const taken = new Set(others.map(number));
  for (let step = 1; step < colors.length; step += 1) {
    const next = (own + step) % colors.length;
    if (!taken.has(next)) return next;
  }
  return own;
}

/** @param {any} state */
function chosen(state) {
  const color = state?.color;
  return Number.isInteger(color) && color >= 0 && color < colors.length ? /** @type {number} */ (color) : null;
}

/** The message with the own place.
 * @param {{board: string, cursor?: Point | null, note?: string | null, caret?: number | null, view?: Area | null, color: number}} own */
export function toState({ board, cursor, note, caret, view, color }) {
  const round = (/** @type {number} */ value) => Math.round(value * 10) / 10;
  return {
    v: 1, board, ...(cursor ? { x: round(cursor.x), y: round(cursor.y) } : {}), ...(note ? { edits: note } : {}), color,
    ...(note && Number.isInteger(caret) ? { caret } : {}),
    ...(view ? { view: [view.x, view.y, view.width, view.height].map(round) } : {}),
  };
}

/** A person from a message; null for another form.
 * @param {{session: number, author: string, state: any}} presence @returns {Person | null} */
export function fromState({ session, author, state }) {
  if (state === null || typeof state !== 'object' || state.v !== 1 || !isID(state.board)) return null;
  const { x, y, edits, caret, view } = state;
  const isView = Array.isArray(view) && view.length === 4 && view.every(Number.isFinite) && view[2] > 0 && view[3] > 0;
  return {
    session, author, name: author.split('@')[0] || author, board: state.board, color: colors[chosen(state) ?? colorOf(author)],
    cursor: Number.isFinite(x) && Number.isFinite(y) ? { x, y } : null, note: isID(edits) ? edits : null,
    caret: isID(edits) && Number.isInteger(caret) && caret >= 0 ? caret : null,
    view: isView ? { x: view[0], y: view[1], width: view[2], height: view[3] } : null,
  };
}

/** @param {unknown} value @returns {value is string} */
export const isID = (value) => typeof value === 'string' && /^[a-hj-kmnp-s][0-9a-hjkmnp-tv-z]{25}$/.test(value);
