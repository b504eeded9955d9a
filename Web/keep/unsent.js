// Carries out the decisions of the queue of unsent edits: stores edits in the browser before they are sent, sends them,
// and takes over the edits of tabs that have ended.

import { conflicts, Queue } from './queue.js';
import { entityOf, formValue, fromForm, toForm, toTransaction } from './intents.js';

/** @typedef {import('./intents.js').Intent} Intent */
/** @typedef {import('./intents.js').Change} Change */
/** @typedef {import('./queue.js').Action} Action */
/** @typedef {import('./storage.js').Storage} Storage */
/** @typedef {import('./storage.js').Key} Key */
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
   *  tabs: import('./tabs.js').Tabs}} options */
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

  /** @param {string} replica */
  async #adopt(replica) {
    const { store, user } = this.#owner;
    const found = await this.storage.list(['unsent', store, user, replica]);
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
    if (intents.length === 0) return void this.#followed.delete(replica);
    const adopted = this.queue.adopt(intents);
    const put = adopted.map((each) => /** @type {[Key, unknown]} */ ([this.#key(each.number), toForm(each)]));
    const isMine = await this.storage.change({ put, remove: keys, ifPresent: keys, isStrict: true }).catch(() => null);
    // If the replica were no longer followed while its old records exist, they would be found again.
    if (isMine !== null) this.#followed.delete(replica);
    if (isMine) for (const each of adopted) this.#kept.add(each.number);
    else if (isMine === false) this.queue.taken(new Set(adopted.map((each) => each.number)));
    this.onchange(adopted.flatMap((each) => each.changes.map((change) => change.object)), new Map());
    this.onstatus();
    this.pump();
  }

  // ---- Edits

  /** Adds changes of one step. They are visible at once.
   * @param {Change[]} changes
   * @param {import('./intents.js').UndoGroup} undo */
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
   * @param {import('./storage.js').Change} change
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
