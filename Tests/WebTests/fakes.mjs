// A server and a connection for tests of Web/control and Web/keep: in memory, with the interface of net/connection.js and
// the rules of docs/protocol.md that these tests need. The real ones are tested together with the programs.
import { idHex } from '../../Web/keep/queue.js';
import * as splices from '../../Web/context/text.js';

export class FakeServer {
  revision = 0;
  /** @type {Map<string, any>} */
  objects = new Map();
  /** The transactions that were committed, by replica and sequence. */
  outcomes = new Map();
  /** Past values of objects: {id, revision, author, replica, property, value, splices}. */
  log = [];
  /** The connections that receive changes. */
  connections = new Set();
  #ids = 0;
  #numbers = 0;
  /** Set to refuse the next commits. @type {((transaction: any) => any) | null} */
  refuse = null;

  id() {
    this.#ids += 1;
    // The last digit of an id has four bits and a zero.
    return `${'abcdefghjkmnpqrs'[this.#ids % 16]}${String(this.#ids).padStart(24, '0')}0`;
  }

  insert(entity, values) {
    const id = this.id();
    this.commit({ sequence: 0, policy: 'error', changes: [{ kind: 'insert', id: 'temporary 1', entity, values }] }, `seed ${id}`, 'seed', id);
    return id;
  }

  /** Commits a transaction by names; the outcome of a repeated one is the first. */
  commit(transaction, replica, author, givenID) {
    const key = `${replica}.${transaction.sequence}`;
    const known = this.outcomes.get(key);
    if (known) return known;
    const refusal = this.refuse?.(transaction);
    if (refusal) throw Object.assign(new Error(refusal.message), refusal);
    const ids = new Map();
    const conflicts = [];
    const change = { revision: this.revision + 1, author, inserted: new Set(), changed: new Set(), removed: new Set(), edits: new Map() };
    for (const each of transaction.changes) if (each.kind === 'insert') ids.set(each.id, givenID ?? this.id());
    const resolve = (value) => {
      if (Array.isArray(value)) return value.map(resolve);
      if (value && typeof value === 'object') return ids.get(value.id) ?? value.id;
      return ids.get(value) ?? value;
    };
    const draft = new Map([...this.objects].map(([id, object]) => [id, { ...object, values: { ...object.values } }]));
    for (const each of transaction.changes) {
      const id = ids.get(each.id) ?? each.id;
      if (each.kind === 'insert') {
        const defaults = each.entity === 'Note'
          ? { text: '', color: 'yellow', x: 0, y: 0, width: 200, height: 200, z: 0, pinned: false, collapsed: false, locked: false, tags: [], board: null,
            number: (this.#numbers += 1), created: 1e15, updated: 1e15, origin: null }
          : {};
        const values = Object.fromEntries(Object.entries(each.values ?? {}).map(([name, value]) => [name, resolve(value)]));
        draft.set(id, { id, entity: each.entity, revision: change.revision, values: { ...defaults, ...values } });
        change.inserted.add(id);
        continue;
      }
      const object = draft.get(id);
      const since = this.log.filter((entry) => entry.id === id && entry.revision > each.base && entry.replica !== replica);
      const report = (property, mine, mineWon, other) => conflicts.push({
        kind: object ? 'changed' : 'deleted', id, entity: each.entity, property, mine, theirs: object?.values[property] ?? null,
        author: other?.author ?? '', revision: other?.revision ?? 0, mineWon, collateral: false,
      });
      if (!object) {
        if (each.kind === 'update') {
          const other = this.log.filter((entry) => entry.id === id && entry.deleted).pop();
          for (const name of [...Object.keys(each.values ?? {}), ...Object.keys(each.splices ?? {})]) report(name, each.values?.[name] ?? null, false, other);
        }
        continue;
      }
      if (each.kind === 'delete') {
        if (since.length > 0 && each.base > 0) {
          const isMine = transaction.policy === 'objectTrump';
          report('', null, isMine, since[since.length - 1]);
          if (!isMine) continue;
        }
        draft.delete(id);
        change.removed.add(id);
        continue;
      }
      for (const [name, given] of Object.entries(each.values ?? {})) {
        const value = resolve(given);
        const other = since.filter((entry) => entry.property === name).pop();
        if (other && JSON.stringify(object.values[name]) !== JSON.stringify(value)) {
          const isMine = transaction.policy === 'objectTrump';
          report(name, value, isMine, other);
          if (!isMine) continue;
        }
        object.values[name] = value;
      }
      for (const [name, { added, removed }] of Object.entries(each.members ?? {})) {
        const [more, less] = [resolve(added), resolve(removed)];
        object.values[name] = [...object.values[name].filter((one) => !less.includes(one) && !more.includes(one)), ...more];
      }
      for (const [name, given] of Object.entries(each.splices ?? {})) {
        const history = this.log.filter((entry) => entry.id === id && entry.property === name && entry.revision > each.base);
        const before = history.length > 0 ? history[0].before : object.values[name];
        let own = splices.fromBytes(given.map((one) => ({ ...one, continues: one.leftAffinity })), before);
        for (const entry of history) own = splices.rebase(own, splices.differences(entry.before, entry.value));
        object.values[name] = splices.apply(own, object.values[name]);
      }
      object.revision = change.revision;
      change.changed.add(id);
    }
    for (const id of change.changed) {
      for (const [name, value] of Object.entries(draft.get(id).values)) {
        const before = this.objects.get(id)?.values[name];
        if (before !== value) this.log.push({ id, revision: change.revision, author, replica, property: name, value, before });
      }
    }
    for (const id of change.removed) this.log.push({ id, revision: change.revision, author, replica, deleted: true });
    this.objects = draft;
    this.revision = change.revision;
    const outcome = { revision: change.revision, ids, conflicts };
    this.outcomes.set(key, outcome);
    for (const connection of this.connections) connection.publish(change);
    return outcome;
  }

  texts() { return [...this.objects.values()].filter((each) => each.entity === 'Note').map((each) => each.values.text).sort(); }
}

/** The part of net/connection.js that control uses. Answers arrive when `flush` is called, or at once. */
export class FakeConnection {
  graph = { revision: 0, objects: new Map(), get: (id) => this.graph.objects.get(id) };
  welcome;
  onchange = () => {};
  onstate = () => {};
  onpresence = () => {};
  onrights = () => {};
  state = { kind: 'closed' };
  queries = [];
  sent = [];
  presences = [];
  /** Whether answers wait for `flush`. */
  isHeld = false;
  #held = [];
  #waiting = [];
  #pending = [];

  constructor(server, { replica, lastSequence = 0, author = 'ann', role = 'owner', isOnline = true }) {
    Object.assign(this, { server, replica, author, role, isOnline });
    this.identity = { replica, lastSequence };
  }

  start() {
    if (this.isOnline) this.connect();
    else this.setState({ kind: 'connecting' });
  }

  stop() { this.server.connections.delete(this); }

  setState(state) {
    this.state = state;
    this.onstate(state);
  }

  connect() {
    this.isOnline = true;
    // A replica that has sent less than the server has of it is a copy, and takes a new id.
    const sent = [...this.server.outcomes.keys()].filter((key) => key.startsWith(`${this.replica}.`)).map((key) => Number(key.split('.')[1]));
    if (Math.max(0, ...sent) > this.identity.lastSequence) this.replica = `copy of ${this.replica}`;
    this.welcome = { session: 7, author: this.author, role: this.role, principal: this.principal ?? '', grants: this.grants ?? [], model: 'ab'.repeat(16) };
    this.server.connections.add(this);
    const change = { revision: this.server.revision, author: '', inserted: new Set(), changed: new Set(), removed: new Set(), edits: new Map() };
    this.load(change);
    this.onchange(change);
    for (const query of this.queries) query.resolve(query);
    this.setState({ kind: 'live', user: this.author, role: this.role });
    for (const retry of this.#pending.splice(0)) retry();
  }

  /** The server has given the user other roles; with `hidden`, these objects are no longer visible. */
  setGrants(grants, hidden = []) {
    this.welcome = { ...this.welcome, grants: grants.map((each) => (each.scope ? { ...each, scope: idHex(each.scope) } : each)) };
    this.onrights();
    const change = { revision: this.graph.revision, author: '', inserted: new Set(), changed: new Set(), removed: new Set(hidden), deleted: new Set(), edits: new Map() };
    for (const id of hidden) this.graph.objects.delete(id);
    if (hidden.length > 0) this.onchange(change);
  }

  disconnect() {
    this.isOnline = false;
    this.server.connections.delete(this);
    this.setState({ kind: 'reconnecting', retryAt: 1 });
  }

  load(change) {
    for (const [id, object] of this.server.objects) {
      const old = this.graph.objects.get(id);
      if (!old) change.inserted.add(id);
      else if (old.revision !== object.revision) change.changed.add(id);
      this.graph.objects.set(id, object);
    }
    for (const id of [...this.graph.objects.keys()]) {
      if (this.server.objects.has(id)) continue;
      this.graph.objects.delete(id);
      change.removed.add(id);
    }
    this.graph.revision = this.server.revision;
  }

  publish(change) {
    const act = () => {
      for (const id of [...change.inserted, ...change.changed]) {
        const object = this.server.objects.get(id);
        if (object) this.graph.objects.set(id, object);
      }
      for (const id of change.removed) this.graph.objects.delete(id);
      this.graph.revision = change.revision;
      this.onchange(change);
    };
    if (this.isHeld) this.#held.push(act);
    else act();
  }

  /** Delivers what was held. */
  flush() { for (const act of this.#held.splice(0)) act(); }

  subscribe(wanted) {
    const { graph } = this;
    const query = {
      wanted, close: () => {}, move: () => {}, resolve: () => {}, total: 0,
      get ids() { return [...graph.objects.values()].filter((each) => matches(wanted, each, graph.objects)).map((each) => each.id); },
    };
    query.ready = new Promise((resolve) => { query.resolve = resolve; });
    this.queries.push(query);
    if (this.isOnline && this.welcome) query.resolve(query);
    return query;
  }

  async fetch(wanted) {
    await settle();
    if (!this.isOnline) throw Object.assign(new Error('no connection'), { code: 'unavailable' });
    const objects = [...this.server.objects.values()].filter((each) => matches(wanted, each, this.server.objects));
    if (wanted.result === 'count') return { count: objects.length };
    if (wanted.result !== 'rows') return { objects };
    const counts = new Map();
    for (const { values } of objects) counts.set(values.board, (counts.get(values.board) ?? 0) + 1);
    return { rows: [...counts] };
  }

  async undoState() { return this.undoSteps ?? {}; }

  async undo(step) {
    this.undone = [...this.undone ?? [], step];
    return { revision: this.server.revision, conflicts: [] };
  }

  transactionID(sequence) {
    this.identity.lastSequence = Math.max(this.identity.lastSequence, sequence ?? this.identity.lastSequence + 1);
    return { replica: this.replica, sequence: sequence ?? this.identity.lastSequence };
  }

  commit(transaction) {
    return new Promise((resolve, reject) => {
      const attempt = () => {
        if (!this.isOnline) return void this.#pending.push(attempt);
        this.sent.push(transaction);
        let result;
        try {
          result = this.server.commit(transaction, this.replica, this.author);
        } catch (error) {
          return this.isHeld ? void this.#held.push(() => reject(error)) : reject(error);
        }
        if (this.isHeld) this.#held.push(() => resolve(result));
        else resolve(result);
      };
      attempt();
    });
  }

  async modelFile() { return { name: 'Stickies', version: 1 }; }

  presence(state) { this.presences.push(state); }
}

/** The conditions that control uses. */
function matches({ entity, where = '' }, object, objects) {
  if (object.entity !== entity) return false;
  const [, path, value] = /^(\S+) == "([^"]*)"/.exec(where) ?? [];
  if (!path) return true;
  if (path === 'id') return object.id === value;
  if (path === 'from.board') return objects.get(object.values.from)?.values.board === value;
  return object.values[path] === value;
}

/** A clock that stands until a test moves it. */
export class FakeClock {
  time = 0;
  #timers = [];
  now() { return this.time; }
  date() { return new Date(1_800_000_000_000 + this.time); }
  later(body, milliseconds) { this.#timers.push({ at: this.time + milliseconds, body }); }
  /** Moves the clock, with all promises settled at each step. */
  async pass(milliseconds) {
    const end = this.time + milliseconds;
    await settle();
    for (;;) {
      this.#timers.sort((a, b) => a.at - b.at);
      const next = this.#timers[0];
      if (!next || next.at > end) break;
      this.#timers.shift();
      this.time = Math.max(this.time, next.at);
      next.body();
      await settle();
    }
    this.time = end;
    for (let count = 0; count < 5; count += 1) await settle();
  }
}

/** Lets all promises that can settle do so. */
export async function settle() { for (let count = 0; count < 4; count += 1) await new Promise((resolve) => setImmediate(resolve)); }
