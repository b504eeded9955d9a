// The application's session: who the user is, the connection, the boards, and the unsent edits. It starts without the
// server too: then it shows copies of the boards that were seen last, and keeps the edits until the server is back.

import { emptyChange } from '../context/graph.js';
import { entityOf, idHex, idOf, idText } from '../keep/queue.js';
import { Copies, EndedReplicas, memoryStorage, openStorage, openTabs, Unsent } from '../keep/storage.js';
import { Connection } from '../net/connection.js';
import { isID, Login, parseFragment, Presence, Rights, Server } from './account.js';
import { Board, Boards } from './board.js';
import { Objects, Overlay, resolve, retry, Steps, withMerge } from './edits.js';

/** @typedef {import('./board.js').Gesture} Gesture */
/** @typedef {import('../keep/queue.js').Change} Change */

/** The time after a change until the copies are stored, and without a connection until they are shown, in milliseconds. */
const [copyDelay, copyPatience] = [5000, 1500];

export class Session extends EventTarget {
  user = { name: '', role: '', canWrite: false };
  rights = new Rights('', [{ role: 'reader' }]);
  /** The board that the address asks for.
   * @type {string | null} */
  boardID = null;
  objects = new Objects(this);
  /** Whether the list of boards has arrived from the server. */
  boardsAreKnown = false;
  /** @type {Connection} */
  connection;
  /** @type {Overlay} */
  overlay;
  /** @type {Copies} */
  copies;
  /** @type {Unsent | null} */
  unsent = null;
  /** @type {Steps} */
  steps;
  /** Settles when the server is connected for the first time.
   * @type {Promise<void>} */
  connected;
  #environment;
  #server;
  #login;
  #storage = memoryStorage();
  /** @type {Keeps} */
  #keeps = 'none';
  #isVerified = false;
  #reloadsOffline = false;
  #wasLive = false;
  #lostAt = 0;
  #lastStatus = '';
  /** @type {Set<import('./live.js').LiveBoard>} */
  #open = new Set();
  #isMine = false;
  #hasAsked = false;
  #copyTimer = false;
  /** @type {() => void} */
  #connect = () => {};
  /** @type {import('../net/connection.js').Query | null} */
  #boardQuery = null;
  #presence;
  #boards = new Boards(this);
  #ended;

  /** @param {Environment} [environment] the browser, or what a test puts in its place */
  constructor(environment = browser()) {
    super();
    this.#environment = environment;
    this.#server = new Server(environment.fetch, environment.root);
    this.#login = new Login(this.#server, environment, this.#storage);
    this.#login.onend = () => this.#end();
    this.#login.onchange = () => this.announce();
    this.connected = new Promise((resolve) => { this.#connect = resolve; });
    this.#lostAt = environment.clock.now();
    const replica = environment.randomHex();
    this.connection = this.#makeConnection(replica, 0, 'browser');
    this.#presence = new Presence((state) => { if (this.user.canWrite) this.connection.presence(state); }, environment.clock);
    this.#ended = new EndedReplicas((other) => this.#makeConnection(idHex(other), Number.MAX_SAFE_INTEGER, this.user.name));
    this.copies = new Copies(this.#storage, { store: '', user: '' });
    this.overlay = new Overlay({ entries: [] }, (id) => this.stored(id));
    const [scope, group] = environment.undoScope();
    this.steps = new Steps(this, scope, group);
  }

  /** @param {string} replica @param {number} lastSequence @param {string} author */
  #makeConnection(replica, lastSequence, author) {
    const { connect, root, program } = this.#environment;
    const url = new URL('v1/socket', root);
    url.protocol = url.protocol.replace('http', 'ws');
    const connection = connect({ url: url.href, identity: { replica, lastSequence, author, program } });
    // Before unanswered edits are sent again: the cookie may be another user's by now.
    connection.accepts = (/** @type {any} */ welcome) => this.#login.verify(welcome);
    return connection;
  }

  // ---- Start

  /** Logs in if the address says how, and connects. */
  async start() {
    const environment = this.#environment;
    const { secret, board } = parseFragment(environment.location.hash);
    this.boardID = board;
    if (secret) {
      // The secret does not stay in the address, nor in the browser's history.
      environment.replaceFragment(board ? `#board=${encodeURIComponent(board)}` : '');
      await this.#useSecret(secret, board);
    }
    const [account] = await Promise.all([this.#server.account(), this.#openStorage()]);
    environment.onhide(() => { this.#saveCopies(); });
    environment.onshow(() => { this.unsent?.follow(); });
    this.later(() => this.announce(), patience);
    await this.#enter(account);
    // Runs after the parts that the user waits for.
    this.#reloadsOffline = await environment.keepShell();
    this.announce();
  }

  /** Logs in with the secret of the address. A share link replaces no login that sees its board already.
   * @param {{code: string} | {token: string}} secret @param {string | null} board */
  async #useSecret(secret, board) {
    const known = 'token' in secret && board && isID(board) ? await this.#server.account() : null;
    if (board && known?.user && await this.#server.sees(board)) return;
    const failure = await this.#server.login(secret);
    if (failure) this.notice(failure);
    else if (known?.user) this.notice(`the link has replaced the login of ${known.user}; stickies login --browser signs you in again`);
  }

  async #openStorage() {
    try {
      this.#storage = this.#login.storage = await this.#environment.openStorage();
      this.#keeps = await this.#environment.isPersistent() ? 'durable' : 'evictable';
    } catch {
      this.#keeps = 'none';
    }
  }

  /** Opens the session with the account that the server names; without the server, with the last one.
   * @param {import('./account.js').Account | null} found */
  async #enter(found) {
    const account = await this.#login.find(found);
    if (account) return this.#openAccount(account, found !== null);
    this.announce();
    if (!this.#login.isSignedOut) this.later(async () => this.#enter(await this.#server.account()), 1000);
  }

  /** @param {import('./account.js').Known} account
   * @param {boolean} isReachable whether the server has just answered: then its objects come sooner than the copies */
  async #openAccount(account, isReachable) {
    const environment = this.#environment;
    this.#setUser(account.user, account.principal ?? '', rolesOf(account));
    const owner = { store: account.store, user: account.user };
    const connection = this.#makeConnection(this.connection.identity.replica, 0, account.user);
    this.connection = connection;
    this.copies = new Copies(this.#storage, owner);
    if (!isReachable) await this.copies.load();
    const replica = idText(connection.identity.replica);
    const unsent = new Unsent({
      storage: this.#storage, owner: { ...owner, replica }, author: account.user, clock: environment.clock,
      model: account.model ?? { name: 'Stickies', version: 1, hash: '0'.repeat(32) },
      commit: (transaction, from) => from === replica ? connection.commit(transaction) : this.#ended.commit(from, transaction),
      nextSequence: () => connection.transactionID().sequence, tabs: environment.openTabs(),
    });
    this.unsent = unsent;
    this.overlay = new Overlay(unsent.queue, (id) => this.stored(id));
    unsent.onchange = (objects, names) => this.#unsentDidChange(objects, names);
    unsent.onstatus = () => this.announce();
    unsent.onnotice = (message) => this.notice(message);
    unsent.isReady = (intent) => this.objects.isReady(intent);
    unsent.isVisible = (intent) => this.objects.isVisible(intent);
    connection.onchange = (change) => this.#publish(change);
    connection.onstate = (state) => this.#connectionDidChange(state);
    connection.onrights = () => this.#readRights();
    connection.onpresence = (list) => this.#receivePresence(list);
    connection.ondiverged = () => this.notice('the server was restored to an earlier state');
    const [boards, tags] = [connection.subscribe({ entity: 'Board' }), connection.subscribe({ entity: 'Tag' })];
    this.#boardQuery = boards;
    Promise.all([boards.ready, tags.ready]).then(() => {
      this.boardsAreKnown = true;
      this.copies.drop('');
      this.objects.readTags(new Set(tags.ids));
      for (const board of this.#open) board.publish(emptyChange(this.graph.revision));
      this.refreshBoards();
      this.#emit('boards');
    }, (refusal) => this.notice(`the boards can’t be listed: ${refusal.message}`));
    connection.start();
    this.#showCopies();
    if (isReachable) this.later(() => { if (!this.boardsAreKnown) this.copies.load().then(() => this.#showCopies()); }, copyPatience);
    await unsent.start();
    this.announce();
  }

  /** Shows the copies, until the server's objects arrive. */
  #showCopies() {
    if (this.boardsAreKnown) return this.copies.forget();
    this.objects.readTags(new Set(this.copies.tags));
    for (const board of this.#open) board.load();
    this.#emit('boards');
  }

  /** @param {string} name @param {string} principal @param {import('./account.js').Grant[]} grants */
  #setUser(name, principal, grants) {
    this.rights = new Rights(principal, grants);
    this.user = { name, role: this.rights.strongest ?? '', canWrite: this.rights.canWrite };
  }

  /** Takes over the roles of the connection, which may have changed. */
  #readRights() {
    const { author, principal = '', grants = [], role = '' } = this.connection.welcome;
    const before = this.rights;
    const roles = grants.map((/** @type {any} */ each) => (each.scope ? { role: each.role, scope: idText(each.scope) } : { role: each.role }));
    this.#setUser(author, principal, roles.length > 0 ? roles : grantsOf(role));
    if (JSON.stringify([before.user, before.grants]) === JSON.stringify([this.rights.user, this.rights.grants])) return;
    this.#login.remember(this.rights);
    for (const board of this.#open) board.rightsDidChange(before, this.#wasLive);
    this.#emit('boards');
    this.announce();
  }

  /** Ends the connection, because the login has ended. */
  #end() {
    if (this.unsent) this.unsent.isLive = false;
    this.connection.stop();
    this.announce();
  }

  /** Ends the login of this browser. Unsent edits stay in it, for this user's next login. */
  async signOut() {
    await this.copies.clear();
    await this.#login.leave();
  }

  // ---- The connection

  get graph() { return this.connection.graph; }
  get isLive() { return this.connection.state.kind === 'live' && this.#isVerified; }

  /** @param {import('../net/connection.js').State} state */
  #connectionDidChange(state) {
    const { unsent } = this;
    if (state.kind === 'live') {
      const { welcome } = this.connection;
      if (unsent) unsent.isLive = false;
      if (!this.#login.verify(welcome)) return;
      this.#isVerified = true;
      this.#readRights();
      this.#wasLive = true;
      this.#connect();
      if (unsent) {
        unsent.isLive = true;
        this.#login.modelVersion(welcome.model, () => this.connection.modelFile()).then((model) => { if (model) unsent.model = model; }, () => {});
        unsent.pump();
        unsent.follow();
      }
      this.steps.refresh();
      this.#presence.reset(welcome.author);
    } else {
      if (this.#isVerified) this.#lostAt = this.#environment.clock.now();
      this.#isVerified = false;
      if (unsent) unsent.isLive = false;
      if (state.kind === 'refused') this.#login.refuse(state);
      else this.#login.look();
      this.later(() => this.announce(), patience);
    }
    this.announce();
  }

  // ---- Objects

  /** An object in the server's newest known state.
   * @param {string} id */
  stored(id) { return this.graph.get(id) ?? this.objects.fetched.get(id) ?? this.copies.get(id); }

  /** @param {import('../context/graph.js').GraphChange} change */
  #publish(change) {
    this.unsent?.visible();
    const touched = [...change.inserted, ...change.changed, ...change.removed];
    const entity = (/** @type {string} */ id) => this.graph.get(id)?.entity ?? change.previous?.get(id)?.entity;
    const tags = touched.filter((id) => entity(id) === 'Tag');
    if (tags.length > 0) this.objects.readTags(new Set([...this.objects.tags.keys(), ...tags]));
    for (const board of this.#open) board.publish(change);
    if (touched.some((id) => entity(id) === 'Board')) this.#emit('boards');
    this.unsent?.pump();
    this.#copySoon();
  }

  /** @param {Iterable<string>} objects @param {Map<string, string>} names */
  #unsentDidChange(objects, names) {
    for (const [from, to] of names) this.overlay.rename(from, to);
    this.overlay.invalidate();
    const all = [...objects];
    if (all.some((each) => entityOf(each) === 'Tag') || names.size > 0) this.objects.readTags(new Set([...this.objects.tags.keys(), ...this.overlay.made('Tag').map(idOf)]));
    for (const board of this.#open) board.unsentDidChange(all, names, this.#isMine);
    if (all.some((each) => entityOf(each) === 'Board')) this.#emit('boards');
    this.#emit('conflicts');
    if (!this.#isMine) this.steps.refresh();
  }

  // ---- Edits

  /** @param {Change[]} changes @param {Gesture} gesture */
  add(changes, gesture) {
    if (!this.unsent) return;
    this.#isMine = true;
    try {
      this.unsent.add(changes, this.steps.undo(gesture));
    } finally {
      this.#isMine = false;
    }
    if (this.#keeps === 'evictable' && !this.isLive) this.#persist();
  }

  /** Asks the browser, once, to keep its storage even if its disk is full. */
  async #persist() {
    if (this.#hasAsked) return;
    this.#hasAsked = true;
    if (await this.#environment.persist()) this.#keeps = 'durable';
    this.announce();
  }

  /** A temporary name for an object of a step.
   * @param {string} entity @param {Gesture} gesture */
  name(entity, gesture) { return /** @type {Unsent} */ (this.unsent).queue.name(entity, this.steps.undo(gesture)); }

  get unsentSteps() { return this.unsent?.queue.unsent ?? 0; }
  pump() { this.unsent?.pump(); }
  /** @param {() => void} body @param {number} milliseconds */
  later(body, milliseconds) { this.#environment.clock.later(body, milliseconds); }

  // ---- Boards

  /** The boards by name, with the numbers of their notes. */
  get boards() { return this.#boards.list(() => [...this.#boardIDs, ...this.copies.boards], this.#open); }
  get #boardIDs() { return this.#boardQuery?.ids ?? []; }

  /** Shows a board. Close it when another one is shown.
   * @param {string} id */
  openBoard(id) {
    const board = new Board(this, id);
    this.#open.add(board);
    return board;
  }

  /** @param {import('./live.js').LiveBoard} board */
  forget(board) { this.#open.delete(board); }

  /** Counts the notes of all boards again. */
  async refreshBoards() {
    if (await this.#boards.count(this.#environment.clock.now())) this.#emit('boards');
  }

  /** Why the user can't make boards; '' if nothing speaks against it. */
  get refusalOfNewBoard() { return this.rights.refusalOfBoard('insert'); }
  /** @param {string} name @returns {Promise<string>} the id of the new board */
  createBoard(name) { return this.#boards.create(name); }
  /** @param {string} id @param {string} name */
  renameBoard(id, name) { return this.#boards.rename(id, name); }
  /** @param {string} id */
  deleteBoard(id) { return this.#boards.delete(id); }
  /** Why the user can't make share links to a board; '' if nothing speaks against it.
   * @param {string} id */
  refusalOfSharing(id) {
    if (!this.#login.account?.accounts) {
      return 'this server has no accounts, and a share link is one: make one for yourself first, with stickiesd user add NAME --role owner';
    }
    const role = this.rights.role(id);
    return role === 'owner' ? '' : `only an owner can share a board: your role here is ${role ?? 'none'}`;
  }
  /** @param {string} id @param {number | null} [days] until its end; null for never
   * @returns {Promise<string>} the address of a page that shows the board to everyone who has it */
  shareLink(id, days = 30) { return this.#server.share(id, days, this.#environment.page); }
  /** The share links to a board, without their secrets.
   * @param {string} id */
  shareLinks(id) { return this.#server.shares(id); }
  /** @param {string} id of the link */
  removeShareLink(id) { return this.#server.unshare(id); }

  // ---- Conflicts

  /** The edits that the server has refused or that lost to others, with both values. */
  get conflicts() {
    const all = this.unsent?.conflicts((object) => this.overlay.values(object)?.number ?? this.objects.provisionalNumber(object)) ?? [];
    return all.map(({ edit, ...each }) => withMerge(this, each, edit));
  }

  /** Makes an edit again: the user's value wins.
   * @param {string} key */
  retry(key) { retry(this, key, [...this.#open][0]); }

  /** Sets a value that the user has written with both in view.
   * @param {string} key @param {string} value */
  resolve(key, value) { resolve(this, key, value); }

  /** Gives the own value up.
   * @param {string} key */
  discard(key) {
    this.unsent?.discard(Number(key));
    this.#emit('conflicts');
  }

  /** The unsent edits and those with conflicts as a file, for `stickies sync take`. */
  async exportUnsent() { return new Blob([this.unsent?.exported() ?? ''], { type: 'application/jsonl' }); }

  // ---- People

  /** The other people, on all boards. */
  get people() { return this.#presence.people; }

  /** @param {any[]} list */
  #receivePresence(list) {
    this.#presence.receive(list, Number(this.connection.welcome?.session ?? 0));
    for (const board of this.#open) board.dispatchEvent(new CustomEvent('presence'));
  }

  /** @param {Parameters<Presence['set']>[0]} place */
  setPresence(place) { this.#presence.set(place); }

  // ---- Copies

  #copySoon() {
    if (this.#copyTimer) return;
    this.#copyTimer = true;
    this.later(() => this.#saveCopies(), copyDelay);
  }

  #saveCopies() {
    this.#copyTimer = false;
    if (!this.isLive || !this.boardsAreKnown) return;
    const of = (/** @type {Iterable<string>} */ ids) => [...ids].flatMap((id) => this.graph.get(id) ?? []);
    const shown = [...this.#open].filter((each) => each.ready && !each.isPart && !each.isGone);
    const all = new Map(shown.map((each) => [each.id, of([...each.notes.keys(), ...each.links.keys()])]));
    all.set('', of([...this.#boardIDs, ...this.objects.tags.keys()]));
    for (const [board, objects] of all) this.copies.save(board, objects, this.#environment.clock.date().getTime());
  }

  // ---- Status

  get status() {
    const { clock, isOnline } = this.#environment;
    const { isSignedOut, refused, refusal, update } = this.#login;
    return statusOf({
      connection: this.isLive ? 'live' : this.connection.state.kind, isRefused: refused, refusal,
      isSignedOut, canWrite: this.user.canWrite, wasLive: this.#wasLive, lostFor: clock.now() - this.#lostAt,
      isOnline: isOnline(), unsent: this.unsent?.queue.unsent ?? 0, parked: this.unsent?.queue.parked.size ?? 0,
      keeps: this.unsent?.isFull ? 'none' : this.#keeps, update, reloadsOffline: this.#reloadsOffline,
    });
  }

  /** Announces the status if it has changed. */
  announce() {
    const text = JSON.stringify([this.status, this.user, this.rights.grants, this.steps?.canUndo, this.steps?.canRedo]);
    if (text === this.#lastStatus) return;
    this.#lastStatus = text;
    this.#emit('status');
  }

  /** Shows a sentence for a moment.
   * @param {string} message */
  notice(message) { this.dispatchEvent(new CustomEvent('notice', { detail: { message } })); }

  /** @param {string} name */
  #emit(name) {
    if (name === 'boards') this.#boards.invalidate();
    this.dispatchEvent(new CustomEvent(name));
  }
}

/** The roles with which a page starts: those of the last connection, unless the server names another role now.
 * @param {import('./account.js').Known} account */
function rolesOf({ grants, role }) {
  return grants && (new Rights('', grants).strongest ?? '') === (role || 'owner') ? grants : grantsOf(role);
}

/** The roles of a user of whom only the strongest one is known. Without accounts there is none, and the user may do everything.
 * @param {string} role */
function grantsOf(role) { return role && role !== 'owner' ? [{ role }] : []; }

// ---- Status
//
// The status that the user sees. It is always true: it is computed from the present state, and announced when that
// changes.

/** @typedef {'connecting' | 'live' | 'reconnecting' | 'offline' | 'readOnly' | 'notAllowed' | 'signedOut' | 'outdated'} Kind */
/** @typedef {'durable' | 'evictable' | 'none'} Keeps  how the browser keeps unsent edits */
/** @typedef {{kind: Kind, unsent: number, parked: number, message: string, keeps: Keeps, update: boolean, reloadsOffline: boolean}} Status */
/** @typedef {{connection: string, isRefused: 'notAllowed' | 'outdated' | null, refusal: string, isSignedOut: boolean, canWrite: boolean,
 *  wasLive: boolean, lostFor: number, isOnline: boolean, unsent: number, parked: number, keeps: Keeps, update: boolean,
 *  reloadsOffline: boolean}} Facts
 *  `lostFor`: milliseconds since the connection was lost or first tried */

/** The time after which a lost connection is called offline, in milliseconds. */
const patience = 8000;

/** @param {Facts} facts @returns {Status} */
export function statusOf(facts) {
  const { unsent, parked, keeps, update, reloadsOffline } = facts;
  const kind = kindOf(facts);
  return { kind, unsent, parked, keeps, update, reloadsOffline, message: message(kind, facts) };
}

/** @param {Facts} facts @returns {Kind} */
function kindOf({ connection, isRefused, isSignedOut, canWrite, wasLive, lostFor, isOnline }) {
  if (isSignedOut) return 'signedOut';
  if (isRefused) return isRefused;
  if (connection === 'live') return canWrite ? 'live' : 'readOnly';
  if (!isOnline || lostFor >= patience) return 'offline';
  return wasLive ? 'reconnecting' : 'connecting';
}

/** @param {Kind} kind @param {Facts} facts */
function message(kind, facts) {
  const { parked } = facts;
  const refused = parked > 0 ? `; ${parked === 1 ? '1 edit was' : `${parked} edits were`} refused, and can be repaired` : '';
  return `${sentence(kind, facts)}${kind === 'signedOut' || kind === 'notAllowed' ? '' : refused}`;
}

/** @param {Kind} kind @param {Facts} facts */
function sentence(kind, { unsent, keeps, refusal, update }) {
  const edits = unsent === 1 ? '1 edit' : `${unsent} edits`;
  const kept = keeps === 'none' ? 'kept in this page only, so leave it open' : keeps === 'durable'
    ? 'kept in this browser' : 'kept in this browser, which may remove them if its disk is full';
  const waiting = unsent > 0 ? `; ${edits} ${kept}` : '';
  switch (kind) {
    case 'connecting': return `connecting${waiting}`;
    case 'live':
      if (unsent > 0) return keeps === 'none' ? `sending ${edits}; this browser can’t keep them, so leave the page open` : `sending ${edits}`;
      return update ? 'live; reload the page for the new version' : 'live';
    case 'reconnecting': return `reconnecting${waiting}`;
    case 'offline': return `the server can’t be reached${waiting}`;
    case 'readOnly': return 'you can read this board, but not change it';
    case 'notAllowed': return refusal || 'you are not allowed to see this';
    case 'signedOut': return `signed out${unsent > 0 ? `; ${edits} ${unsent === 1 ? 'stays' : 'stay'} here until you sign in again` : ''}. Open a share link, or sign in with the link that this command prints: stickies login --browser`;
    case 'outdated': return 'this page is older than the server; reload it';
    default: return kind;
  }
}

// ---- The browser
//
// The services of the browser that a session uses. Tests pass substitutes.

/** @typedef {{page: URL, root: URL, build: string, program: string, fetch: typeof globalThis.fetch, location: {hash: string},
 *  replaceFragment: (hash: string) => void, connect: (options: any) => Connection, clock: import('../keep/storage.js').Clock,
 *  randomHex: () => string, undoScope: () => [scope: string, group: number],
 *  openStorage: () => Promise<import('../keep/storage.js').Storage>, openTabs: () => import('../keep/storage.js').Tabs,
 *  isPersistent: () => Promise<boolean>, persist: () => Promise<boolean>, keepShell: () => Promise<boolean>,
 *  isOnline: () => boolean, onhide: (body: () => void) => void, onshow: (body: () => void) => void, reload: () => boolean}} Environment
 *  `page`: the address of the application; `root`: that of the server's HTTP interface, two folders above;
 *  `keepShell`: whether the application can be loaded without the server; `reload`: false if it was loaded just now */

/** @returns {Environment} */
function browser() {
  const page = new URL('../', import.meta.url);
  const parts = page.pathname.split('/');
  /** @type {import('../keep/storage.js').Clock} */
  const clock = { now: () => performance.now(), date: () => new Date(), later: (body, milliseconds) => setTimeout(body, milliseconds) };
  const randomHex = () => [...crypto.getRandomValues(new Uint8Array(16))].map((each) => each.toString(16).padStart(2, '0')).join('');
  return {
    page, root: new URL('../../', page), build: parts[parts.length - 3] === 'app' ? parts[parts.length - 2] : '', program: 'stickies web',
    fetch: (...given) => fetch(...given), location, clock, randomHex,
    replaceFragment: (hash) => history.replaceState(history.state, '', `${location.pathname}${location.search}${hash}`),
    connect: (options) => new Connection(options), undoScope: () => undoScope(randomHex),
    openStorage: () => openStorage(globalThis.indexedDB, 'stickies'),
    openTabs: () => openTabs(navigator.locks, (name) => new BroadcastChannel(name), clock.later),
    isPersistent: async () => await navigator.storage?.persisted?.() ?? false,
    persist: async () => await navigator.storage?.persist?.().catch(() => false) ?? false,
    keepShell: () => keepShell(page), isOnline: () => navigator.onLine,
    onhide: (body) => { addEventListener('pagehide', body); document.addEventListener('visibilitychange', () => { if (document.hidden) body(); }); },
    onshow: (body) => document.addEventListener('visibilitychange', () => { if (!document.hidden) body(); }),
    reload,
  };
}

/** The undo stack of this tab, which a reload continues.
 * The numbers of groups begin at the clock's time, so that they are greater than the numbers of earlier loads.
 * @param {() => string} randomHex @returns {[string, number]} */
function undoScope(randomHex) {
  let scope = idText(randomHex());
  try {
    const known = sessionStorage.getItem('stickies-undo');
    if (known && /^[a-hj-kmnp-s][0-9a-hjkmnp-tv-z]{25}$/.test(known)) scope = known;
    sessionStorage.setItem('stickies-undo', scope);
  } catch {
    // A browser that refuses storage: the stack ends with the page.
  }
  // Not the clock's time alone: it may have been set back since the last load.
  return [scope, Number.parseInt(randomHex().slice(0, 12), 16)];
}

/** Loads the page again, unless it did so a moment ago. */
function reload() {
  const name = 'stickies-reloaded';
  try {
    const last = Number(sessionStorage.getItem(name));
    // A clock that was set back must not prevent it forever.
    if (Math.abs(Date.now() - last) < 10_000) return false;
    sessionStorage.setItem(name, String(Date.now()));
  } catch {
    return false;
  }
  location.reload();
  return true;
}

/** Registers the worker that keeps the application's files, and removes workers of older builds.
 * @param {URL} page @returns {Promise<boolean>} whether the worker has the files: over plain HTTP a browser has no workers */
async function keepShell(page) {
  const { serviceWorker } = navigator;
  if (!serviceWorker) return false;
  try {
    const script = new URL('sw.js', page).href;
    const { trustedTypes } = /** @type {any} */ (globalThis);
    // The page's policy allows this one script address and no other.
    const policy = trustedTypes?.createPolicy('app-worker', {
      createScriptURL: (/** @type {string} */ url) => {
        if (url !== script) throw new TypeError('not the address of the worker');
        return url;
      },
    });
    const registration = await serviceWorker.register(policy ? policy.createScriptURL(script) : script, { scope: new URL('../../', page).pathname });
    return await isActive(registration);
  } catch {
    return false;
  }
}

/** Whether the newest worker of a registration has all files; a full disk prevents it.
 * @param {ServiceWorkerRegistration} registration */
async function isActive({ installing, waiting, active }) {
  const worker = installing ?? waiting ?? active;
  while (worker && worker.state !== 'activated' && worker.state !== 'redundant') {
    await new Promise((resolve) => worker.addEventListener('statechange', resolve, { once: true }));
  }
  return worker?.state === 'activated';
}
