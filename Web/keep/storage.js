// What the browser keeps: its storage, the unsent edits in it, and copies of boards.

import { conflicts, entityOf, formValue, fromForm, Queue, toForm, toTransaction } from './queue.js';

// ---- The storage
//
// The browser's storage: unsent edits, and copies of the boards that were seen last. Unsent edits must not be lost;
// copies can be deleted at any time. A key is a list, and the beginning of such a list is a prefix.

/** @typedef {(string | number)[]} Key */
/** @typedef {{put?: [Key, unknown][], remove?: Key[], ifPresent?: Key[], isStrict?: boolean}} Write
 *  All of a change or nothing is stored. Nothing is if a key of `ifPresent` is missing: another tab has taken it.
 *  `isStrict`: on the disk before the promise resolves, not only with the browser. */
/** @typedef {{change: (change: Write) => Promise<boolean>, list: (prefix: Key) => Promise<[Key, any][]>, close: () => void}} Storage
 *  `change` resolves with false if a key of `ifPresent` was missing */

/** Opens the storage of this browser.
 * @param {IDBFactory | undefined} factory @param {string} name @returns {Promise<Storage>}
 * @throws if the browser has none, or refuses it */
export async function openStorage(factory, name) {
  if (!factory) throw new Error('this browser has no storage for programs');
  const request = factory.open(name, 1);
  request.onupgradeneeded = () => { request.result.createObjectStore('entries'); };
  const database = /** @type {IDBDatabase} */ (await done(request));
  // A later version of the program needs the database without this one.
  database.onversionchange = () => database.close();
  return {
    close: () => database.close(),
    change: ({ put = [], remove = [], ifPresent = [], isStrict = false }) => new Promise((resolve, reject) => {
      const transaction = database.transaction('entries', 'readwrite', { durability: isStrict ? 'strict' : 'relaxed' });
      const entries = transaction.objectStore('entries');
      let isTaken = false;
      const write = () => {
        for (const key of remove) entries.delete(key);
        for (const [key, value] of put) entries.put(value, key);
      };
      let left = ifPresent.length;
      if (left === 0) write();
      for (const key of ifPresent) {
        const count = entries.count(key);
        count.onsuccess = () => {
          if (count.result === 0) isTaken = true;
          left -= 1;
          if (left === 0 && !isTaken) write();
        };
      }
      transaction.oncomplete = () => resolve(!isTaken);
      transaction.onabort = () => reject(transaction.error ?? new Error('the browser has refused to store it'));
    }),
    list: async (prefix) => {
      const entries = database.transaction('entries', 'readonly').objectStore('entries');
      // Lists compare element by element, and a list is above every string and number.
      const range = factoryRange(prefix);
      const [keys, values] = await Promise.all([done(entries.getAllKeys(range)), done(entries.getAll(range))]);
      return /** @type {Key[]} */ (keys).map((key, index) => [key, /** @type {unknown[]} */ (values)[index]]);
    },
  };
}

/** @param {Key} prefix */
const factoryRange = (prefix) => IDBKeyRange.bound(prefix, [...prefix, []]);

/** @param {IDBRequest | IDBOpenDBRequest} request @returns {Promise<unknown>} */
function done(request) {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
    if ('onblocked' in request) request.onblocked = () => reject(new Error('another tab holds the storage of an older version'));
  });
}

/** A storage in memory, for a browser without one. Its contents are lost with the page.
 * @param {Map<string, unknown>} [entries] @returns {Storage} */
export function memoryStorage(entries = new Map()) {
  const starts = (/** @type {Key} */ key, /** @type {Key} */ prefix) => prefix.every((each, index) => key[index] === each);
  return {
    close: () => {},
    change: async ({ put = [], remove = [], ifPresent = [] }) => {
      if (ifPresent.some((key) => !entries.has(JSON.stringify(key)))) return false;
      for (const key of remove) entries.delete(JSON.stringify(key));
      for (const [key, value] of put) entries.set(JSON.stringify(key), structuredClone(value));
      return true;
    },
    list: async (prefix) => {
      const found = [...entries].map(([key, value]) => /** @type {[Key, any]} */ ([JSON.parse(key), structuredClone(value)]));
      return found.filter(([key]) => starts(key, prefix)).sort(([a], [b]) => compare(a, b));
    },
  };
}

/** @param {Key} a @param {Key} b */
function compare(a, b) {
  for (let index = 0; index < Math.min(a.length, b.length); index += 1) {
    if (a[index] !== b[index]) return a[index] < b[index] ? -1 : 1;
  }
  return a.length - b.length;
}

// ---- Tabs
//
// Which tabs of this browser are alive. Each tab holds a Web Lock with the name of its replica, which the browser
// releases when the tab ends, even if it crashes; another tab that waits for it takes over the unsent edits. Without
// locks (on plain HTTP), the tabs ask each other. A wrong answer does no harm: storage decides who sends.

/** @typedef {{hold: (name: string) => void, ended: (name: string, body: () => Promise<void>) => void, close: () => void}} Tabs */

/** The time within which a tab must answer, and the time until the next question, in milliseconds. */
const [answerTime, askPause] = [500, 30_000];

/** @param {LockManager | undefined} locks
 * @param {(name: string) => BroadcastChannel} openChannel
 * @param {(body: () => void, milliseconds: number) => unknown} later @returns {Tabs} */
export function openTabs(locks, openChannel, later) {
  const end = new AbortController();
  if (locks) {
    return {
      hold: (name) => { hold(locks, name, end.signal); },
      ended: (name, body) => { locks.request(name, { signal: end.signal }, body).catch(() => {}); },
      close: () => end.abort(),
    };
  }
  const channel = openChannel('stickies-tabs');
  const held = new Set();
  /** @type {Map<string, () => void>} */
  const waiting = new Map();
  channel.onmessage = ({ data }) => {
    if (data?.ask && held.has(data.ask)) channel.postMessage({ alive: data.ask });
    if (data?.alive) waiting.get(data.alive)?.();
  };
  const ended = (/** @type {string} */ name, /** @type {() => Promise<void>} */ body) => {
    if (end.signal.aborted) return;
    let isAlive = false;
    waiting.set(name, () => { isAlive = true; });
    channel.postMessage({ ask: name });
    later(() => {
      waiting.delete(name);
      if (isAlive) later(() => ended(name, body), askPause);
      else body();
    }, answerTime);
  };
  return { hold: (name) => { held.add(name); }, ended, close: () => { end.abort(); channel.close(); } };
}

/** @param {LockManager} locks @param {string} name @param {AbortSignal} signal */
function hold(locks, name, signal) {
  const untilEnd = () => new Promise((resolve) => { signal.addEventListener('abort', resolve); });
  locks.request(name, untilEnd).catch(() => {});
}

// ---- Unsent edits
//
// Carries out the decisions of the queue of unsent edits: stores edits in the browser before they are sent, sends them,
// and takes over the edits of tabs that have ended.

/** @typedef {import('./queue.js').Intent} Intent */
/** @typedef {import('./queue.js').Change} Change */
/** @typedef {import('./queue.js').Action} Action */
/** @typedef {{now: () => number, date: () => Date, later: (body: () => void, milliseconds: number) => unknown}} Clock
 *  `now` is in milliseconds and only grows */
/** @typedef {{revision: number, ids: Map<string, string>, conflicts: any[]}} Answer */
/** @typedef {(transaction: any, replica: string) => Promise<Answer>} Commit */

/** The longest time for which the effects of an answered edit are awaited, and the time between looks for other tabs, in
 * milliseconds. */
const [patience, pause] = [1000, 30_000];

export class Unsent {
  queue;
  /** Called with the objects whose visible state may have changed, and with the names that became ids.
   * @type {(objects: Iterable<string>, renamed: Map<string, string>) => void} */
  onchange = () => {};
  /** Called when the number of unsent or parked edits, or where they are kept, has changed. */
  onstatus = () => {};
  /** Called with a sentence for the user.
   * @type {(message: string) => void} */
  onnotice = () => {};
  /** Whether intents can be sent now: the server is connected, and the shown state is its newest one. */
  isLive = false;
  /** Whether the objects that an intent changes are known as they are on the server.
   * @type {(intent: Intent) => boolean} */
  isReady = () => true;
  /** Whether the effects of an answered intent are visible.
   * @type {(intent: Intent) => boolean} */
  isVisible = () => true;
  /** The model in whose names edits are made.
   * @type {{name: string, version: number, hash: string}} */
  model;
  /** Whether the browser has refused to store an edit; it is sent anyway. */
  isFull = false;
  /** The stored copies, which are not a part of the queue.
   * @type {Storage} */
  storage;
  #owner;
  #clock;
  #commit;
  #tabs;
  /** Numbers of intents that are in storage.
   * @type {Set<number>} */
  #kept = new Set();
  #wake = Infinity;
  /** @type {{number: number, run: () => void}[]} */
  #waiting = [];
  #followed = new Set();

  /** @param {{storage: Storage, owner: {store: string, user: string, replica: string}, author: string, clock: Clock,
   *  model: {name: string, version: number, hash: string}, commit: Commit, nextSequence: () => number,
   *  tabs: Tabs}} options */
  constructor({ storage, owner, author, model, clock, commit, nextSequence, tabs }) {
    this.storage = storage;
    this.#owner = owner;
    this.#clock = clock;
    this.#commit = commit;
    this.#tabs = tabs;
    this.author = author;
    this.model = model;
    this.queue = new Queue({ replica: owner.replica, nextSequence });
  }

  /** @param {string} replica */
  #lock(replica) { return `stickies ${this.#owner.store} ${this.#owner.user} ${replica}`; }

  /** @param {number} number @returns {Key} */
  #key(number) {
    const { store, user, replica } = this.#owner;
    return ['unsent', store, user, replica, number];
  }

  /** Begins to take over the edits of ended tabs. */
  async start() {
    this.#tabs.hold(this.#lock(this.#owner.replica));
    const look = async () => {
      await this.follow();
      this.#clock.later(look, pause);
    };
    await look();
  }

  /** Looks for other tabs with unsent edits, to take these over when such a tab has ended. */
  async follow() {
    const { store, user, replica } = this.#owner;
    let found;
    try {
      found = await this.storage.list(['unsent', store, user]);
    } catch {
      this.#refuse();
      return;
    }
    for (const other of new Set(found.map(([key]) => String(key[3])))) {
      if (other === replica || this.#followed.has(other)) continue;
      this.#followed.add(other);
      this.#tabs.ended(this.#lock(other), () => this.#adopt(other));
    }
  }

  /** Takes over the edits of an ended tab. If the storage refuses it, they stay there until the next look for other
   * tabs.
   * @param {string} replica */
  async #adopt(replica) {
    const { store, user } = this.#owner;
    const found = await this.storage.list(['unsent', store, user, replica]).catch(() => null);
    if (found) await this.#takeOver(found);
    else this.#postpone();
    // Not before: its records would be found again while they are being replaced.
    this.#followed.delete(replica);
  }

  #postpone() {
    if (!this.isFull) this.onnotice('edits of a closed tab wait in this browser, whose storage is full; make room on the disk, and they are sent');
    this.#refuse();
  }

  /** Stores edits of an ended tab as those of this one, and then takes them into the queue, so that they are sent once.
   * @param {[Key, any][]} found their records */
  async #takeOver(found) {
    /** @type {Intent[]} */
    const intents = [];
    /** @type {Key[]} */
    const keys = [];
    for (const [key, { form, before }] of found) {
      try {
        intents.push(fromForm(form, before));
        keys.push(key);
      } catch (error) {
        this.onnotice(`an unsent edit stays in the browser: ${error instanceof Error ? error.message : error}`);
      }
    }
    if (intents.length === 0) return;
    const adopted = this.queue.renumber(intents);
    const put = adopted.map((each) => /** @type {[Key, unknown]} */ ([this.#key(each.number), toForm(each)]));
    const isMine = await this.storage.change({ put, remove: keys, ifPresent: keys, isStrict: true }).catch(() => null);
    if (isMine === null) return this.#postpone();
    if (!isMine) return;
    for (const each of adopted) this.#kept.add(each.number);
    this.queue.adopt(adopted);
    this.onchange(adopted.flatMap((each) => each.changes.map((change) => change.object)), new Map());
    this.onstatus();
    this.pump();
  }

  // ---- Edits

  /** Adds changes of one step. They are visible at once.
   * @param {Change[]} changes
   * @param {import('./queue.js').UndoGroup} undo */
  add(changes, undo) {
    if (changes.length === 0) return;
    const actions = this.queue.add(changes, {
      undo, model: this.model, author: this.author, made: this.#clock.date().toISOString(), policy: this.isLive ? 'objectTrump' : 'storeTrump',
    });
    this.onchange(changes.map((each) => each.object), new Map());
    this.pump();
    this.#perform(actions);
    this.onstatus();
  }

  /** Sends the intents that are ready. Call it after each event that an intent may wait for. */
  pump() {
    if (!this.isLive) return;
    const now = this.#clock.now();
    const { actions, wake } = this.queue.leaving(now, this.#clock.date().toISOString(), this.isReady);
    this.#perform(actions);
    if (wake < this.#wake) {
      this.#wake = wake;
      this.#clock.later(() => {
        this.#wake = Infinity;
        this.pump();
      }, Math.max(0, wake - now));
    }
    if (actions.some((each) => each.do === 'settle')) this.onstatus();
  }

  /** @param {Action[]} actions */
  #perform(actions) {
    for (const action of actions) {
      if (action.do === 'store') {
        // One that leaves now is stored with its mark.
        if (action.intent.state !== 'queued') this.queue.stored(action.intent.number);
        else this.#store(action.intent);
      } else if (action.do === 'leave') {
        this.#leave(action.intent);
      } else if (action.do === 'send') {
        this.#send(action.intent);
      } else {
        this.#settle(action.removed, action.stored);
      }
    }
  }

  /** @param {Intent} intent */
  async #store(intent) {
    const ifPresent = this.#kept.has(intent.number) ? [this.#key(intent.number)] : [];
    const put = /** @type {[Key, unknown][]} */ ([[this.#key(intent.number), toForm(intent)]]);
    // The server makes an edit durable that reaches it soon; offline, the disk here has to.
    if (!await this.#write({ put, ifPresent, isStrict: !this.isLive })) return this.#taken(intent);
    this.#perform(this.queue.stored(intent.number));
  }

  /** @param {Intent} intent */
  async #leave(intent) {
    const ifPresent = this.#kept.has(intent.number) ? [this.#key(intent.number)] : [];
    intent.left = this.#clock.date().toISOString();
    const put = /** @type {[Key, unknown][]} */ ([[this.#key(intent.number), toForm(intent)]]);
    if (!await this.#write({ put, ifPresent })) return this.#taken(intent);
    this.#perform(this.queue.hasLeft(intent.number));
  }

  /** @param {number[]} removed @param {Intent[]} stored */
  #settle(removed, stored) {
    const put = stored.map((each) => /** @type {[Key, unknown]} */ ([this.#key(each.number), toForm(each)]));
    this.#write({ put, remove: removed.map((number) => this.#key(number)) });
  }

  /** Stores intents.
   * @param {Write} change
   * @returns {Promise<boolean>} false if another tab has taken them */
  async #write(change) {
    try {
      if (!await this.storage.change(change)) return false;
      for (const [key] of change.put ?? []) this.#kept.add(Number(key[4]));
      for (const key of change.remove ?? []) this.#kept.delete(Number(key[4]));
      if (this.isFull) {
        this.isFull = false;
        this.onstatus();
      }
      return true;
    } catch {
      this.#refuse();
      // It is in no other place, so no other tab can have it.
      return true;
    }
  }

  #refuse() {
    if (this.isFull) return;
    this.isFull = true;
    this.onstatus();
  }

  /** Another tab has found this one ended, although it was only frozen, and has taken all that was stored.
   * @param {Intent} intent */
  #taken(intent) {
    const objects = this.queue.entries.flatMap((each) => each.changes.map((change) => change.object));
    this.queue.taken(new Set([...this.#kept, intent.number]));
    this.#kept.clear();
    this.onchange(objects, new Map());
    this.onstatus();
  }

  // ---- Answers

  /** @param {Intent} intent */
  async #send(intent) {
    const { transaction, names } = toTransaction(intent);
    const object = (/** @type {any} */ each) => names.get(each.id) ?? `${each.entity}/${each.id}`;
    const conflict = (/** @type {any} */ each) => {
      const [mine, theirs] = [each.mine, each.theirs].map((value) => formValue(`${each.entity}/`, each.property, value));
      return { ...each, object: object(each), mine, theirs };
    };
    const violation = (/** @type {any} */ each) => {
      const { property, rule, value = null, message } = each;
      return { object: object(each), ...(property ? { property } : {}), rule, value, message };
    };
    try {
      const answer = await this.#commit(transaction, intent.transaction.replica);
      const ids = new Map([...answer.ids].flatMap(([wire, id]) => {
        const name = names.get(wire);
        return name ? [[name, `${entityOf(name)}/${id}`]] : [];
      }));
      this.#answered(intent, { ...answer, ids, conflicts: answer.conflicts.map(conflict) });
    } catch (error) {
      const refusal = /** @type {any} */ (error);
      // A mistake of this program must not repeat forever, nor lose the edit.
      const code = typeof refusal?.code === 'string' ? refusal.code : 'failed';
      const actions = this.queue.refused(intent.number, {
        code, message: String(refusal?.message ?? refusal), outcomeUnknown: Boolean(refusal?.outcomeUnknown),
        conflicts: (refusal?.conflicts ?? []).map(conflict), violations: (refusal?.violations ?? []).map(violation),
      }, { now: this.#clock.now(), at: this.#clock.date().toISOString() });
      this.#perform(actions);
      this.onchange(intent.changes.map((each) => each.object), new Map());
      this.#progress();
    }
  }

  /** @param {Intent} intent @param {Answer} answer */
  #answered(intent, { revision, ids, conflicts: found }) {
    const objects = intent.changes.map((each) => each.object);
    this.#perform(this.queue.answered(intent.number, { revision, ids, conflicts: found, at: this.#clock.date().toISOString() }));
    this.#notify(intent, found);
    this.onchange(objects, ids);
    this.#clock.later(() => this.#see(intent), patience);
    this.#progress();
    this.visible();
  }

  /** Informs the user of the consequences of the answer other than parked edits.
   * @param {Intent} intent @param {any[]} found */
  #notify(intent, found) {
    const own = new Set(intent.changes.map((each) => each.object));
    const isGone = found.some((each) => each.kind === 'deleted' && !own.has(each.object));
    if (isGone) this.onnotice('something that the edit refers to was deleted; the rest is saved');
    const replaced = found.find((each) => each.mineWon && each.kind === 'changed'
      && !['x', 'y', 'width', 'height', 'z'].includes(each.property ?? ''));
    if (replaced) this.onnotice(`${replaced.author || 'someone'} had changed the same; yours counts, theirs is in the history`);
  }

  /** Looks which answered edits are visible without the overlay. Call it after each published revision. */
  visible() {
    for (const intent of [...this.queue.entries]) {
      if (intent.state === 'answered' && this.isVisible(intent)) this.#see(intent);
    }
  }

  /** @param {Intent} intent */
  #see(intent) {
    if (!this.queue.entries.includes(intent)) return;
    this.queue.seen(intent.number);
    this.onchange(intent.changes.map((each) => each.object), new Map());
    this.pump();
  }

  #progress() {
    this.onstatus();
    this.pump();
    for (const each of [...this.#waiting]) {
      const isIdle = this.queue.entries.every((entry) => entry.state === 'answered' || entry.number >= each.number);
      if (!isIdle) continue;
      this.#waiting = this.#waiting.filter((other) => other !== each);
      each.run();
    }
  }

  // ---- Undo

  /** Runs a request of the server after all edits made so far, and before all later ones.
   * @template T
   * @param {() => Promise<T>} request
   * @returns {Promise<T>} */
  async after(request) {
    const { queue } = this;
    const last = queue.entries[queue.entries.length - 1];
    queue.barrier = Math.min(queue.barrier, (last?.number ?? 0) + 1);
    const number = queue.barrier;
    try {
      await new Promise((resolve) => {
        this.#waiting.push({ number, run: () => resolve(undefined) });
        this.#progress();
      });
      return await request();
    } finally {
      queue.barrier = Infinity;
      this.pump();
    }
  }

  /** Removes the newest step if nothing of it has left; this undoes it without the server.
   * @returns {{name: string, changes: Change[]} | null} */
  withdraw() {
    const step = this.queue.withdraw();
    if (!step) return null;
    this.#perform(step.actions);
    this.onchange(step.changes.map((each) => each.object), new Map());
    this.onstatus();
    return step;
  }

  // ---- Conflicts

  /** @param {(object: string) => string | number | undefined} numberOf */
  conflicts(numberOf) { return conflicts(this.queue.parked.values(), numberOf); }

  /** @param {number} number @param {number} revision */
  retry(number, revision) {
    const intent = this.queue.parked.get(number);
    this.#perform(this.queue.retry(number, revision));
    if (intent) this.onchange(intent.changes.map((each) => each.object), new Map());
    this.#progress();
  }

  /** @param {number} number */
  discard(number) {
    this.#perform(this.queue.discard(number));
    this.onstatus();
  }

  /** All unsent and parked edits as JSON Lines, for `stickies sync take`. */
  exported() {
    const all = [...this.queue.entries.filter((each) => each.state !== 'answered'), ...this.queue.parked.values()];
    return all.sort((a, b) => a.number - b.number).map((each) => `${JSON.stringify(toForm(each).form)}\n`).join('');
  }
}

// ---- Ended tabs
//
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

// ---- Copies of boards
//
// Copies of the boards that were seen last, so that a reload shows them while the server can't be reached. They can be
// deleted at any time, unlike unsent edits. A board that is too large has no copy.

/** @typedef {import('../control/edits.js').Stored} Stored */
/** @typedef {{board: string, at: number, objects: Stored[]}} Copy */

/** The largest copy, in objects and in UTF-16 units of text. */
const maximum = { objects: 5000, text: 4_000_000 };
/** The most boards with a copy. */
const maximumBoards = 20;

export class Copies {
  /** @type {Map<string, Stored>} */
  #objects = new Map();
  /** @type {Map<string, string[]>} */
  #boards = new Map();
  #storage;
  #key;

  /** @param {Storage} storage @param {{store: string, user: string}} owner */
  constructor(storage, { store, user }) {
    this.#storage = storage;
    this.#key = ['seen', store, user];
  }

  /** Reads the copies. */
  async load() {
    /** @type {[Key, Copy][]} */
    let found = [];
    try {
      found = await this.#storage.list(this.#key);
    } catch {
      // Without copies, the board is empty until the server is back.
    }
    found.sort(([, a], [, b]) => (a.board === '' ? -1 : b.board === '' ? 1 : b.at - a.at));
    const old = found.splice(1 + maximumBoards);
    if (old.length > 0) this.#storage.change({ remove: old.map(([key]) => key) }).catch(() => {});
    for (const [, { board, objects }] of found) {
      this.#boards.set(board, objects.map((each) => each.id));
      for (const each of objects) this.#objects.set(each.id, each);
    }
  }

  /** @param {string} id */
  get(id) { return this.#objects.get(id); }

  /** The boards of the copied list. */
  get boards() { return this.#of('', 'Board'); }
  /** The copied tags. */
  get tags() { return this.#of('', 'Tag'); }

  /** @param {string} board @param {string} entity */
  #of(board, entity) { return (this.#boards.get(board) ?? []).filter((id) => this.#objects.get(id)?.entity === entity); }

  /** The copied notes and links of a board.
   * @param {string} board */
  ids(board) {
    return { notes: this.#of(board, 'Note'), links: this.#of(board, 'Link') };
  }

  /** Removes the copies of a board from memory, because the server's objects have arrived.
   * An empty id means boards and tags.
   * @param {string} board */
  drop(board) {
    for (const id of this.#boards.get(board) ?? []) this.#objects.delete(id);
    this.#boards.delete(board);
  }

  /** Forgets all copies in memory. */
  forget() {
    this.#objects.clear();
    this.#boards.clear();
  }

  /** Stores the copy of a board; without an id, that of the list of boards and of the tags.
   * @param {string} board @param {Stored[]} objects @param {number} at */
  async save(board, objects, at) {
    const size = objects.reduce((sum, each) => sum + (each.values.text?.length ?? 0), 0);
    const isTooLarge = objects.length > maximum.objects || size > maximum.text;
    const put = /** @type {[Key, Copy]} */ ([[...this.#key, board], { board, at, objects }]);
    try {
      if (isTooLarge) return void await this.#storage.change({ remove: [put[0]] });
      await this.#storage.change({ put: [put] });
    } catch {
      // The disk is full. The copy is removed to leave the space to unsent edits.
      await this.#storage.change({ remove: [put[0]] }).catch(() => {});
    }
  }

  /** Removes all copies, when the user signs out. */
  async clear() {
    const all = await this.#storage.list(this.#key).catch(() => []);
    await this.#storage.change({ remove: all.map(([key]) => key) }).catch(() => {});
    this.forget();
  }
}
