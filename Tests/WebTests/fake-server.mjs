// A clock, a page and a server for tests of a connection: time passes only when a test says so.
import assert from 'node:assert/strict';
import { Connection } from '../../Web/net/connection.js';
import { decode, encode } from '../../Web/wire/codec.js';
import { entities, replicaID, token } from './script.mjs';

export class FakeClock {
  time = 1_000;
  timers = new Map();
  lastTimer = 0;

  now() { return this.time; }

  setTimeout(action, milliseconds) {
    this.timers.set(++this.lastTimer, { action, time: this.time + milliseconds });
    return this.lastTimer;
  }

  clearTimeout(timer) { this.timers.delete(timer); }

  /** Lets time pass, with the timers that fire meanwhile, in their order. */
  pass(milliseconds) {
    const end = this.time + milliseconds;
    for (;;) {
      const due = [...this.timers].filter(([, { time }]) => time <= end).sort((a, b) => a[1].time - b[1].time || a[0] - b[0])[0];
      if (!due) break;
      this.timers.delete(due[0]);
      this.time = Math.max(this.time, due[1].time);
      due[1].action();
    }
    this.time = end;
  }
}

/** A server of the model of script.mjs; each new connection has a socket of its own. */
export class FakeServer {
  /** @type {any[]} */
  sockets = [];
  head = 1;
  lastSequence = 0;
  maximumFrame = 1 << 20;

  get WebSocket() {
    const server = this;
    return class {
      received = [];
      isClosed = false;
      constructor(url, protocol) {
        Object.assign(this, { url, protocol });
        server.sockets.push(this);
      }

      send(bytes) {
        assert(!this.isClosed, 'nothing is sent on a closed socket');
        const { request, ...bodies } = decode('ToServer', bytes);
        const [[kind, body]] = Object.entries(bodies);
        // A server ends a connection whose numbers do not rise.
        assert(request > (this.received.at(-1)?.request ?? 0), `${kind} has the number ${request}`);
        this.received.push({ request, kind, body });
      }

      close() { this.isClosed = true; }
    };
  }

  get socket() { return this.sockets.at(-1); }

  /** The messages of a kind on the current connection. */
  received(kind) { return this.socket.received.filter((message) => message.kind === kind); }

  send(kind, body, request = 0) {
    this.socket.onmessage({ data: encode('ToClient', { request, [kind]: body }).slice().buffer });
  }

  /** Accepts the current connection, and welcomes it. */
  welcome() {
    if (!this.socket.received.length) this.socket.onopen({});
    this.send('welcome', {
      protocol: 1, model: '1'.repeat(32), head: token(this.head), session: 1, entities, maximumFrame: this.maximumFrame,
      heartbeatMilliseconds: 15_000, lastSequence: this.lastSequence, author: 'ann', role: 'editor',
    }, 1);
  }

  /** Answers the subscription under a request with a complete result. */
  answer(query, objects, request, revision = this.head) {
    this.send('subscribed', { query, known: true }, request);
    this.send('chunk', { objects, last: true, at: token(revision), count: objects.length }, request);
    this.advance(revision);
  }

  advance(revision) { this.send('advance', { revision, fingerprint: token(revision).fingerprint }); }

  delta(query, revision, changes) {
    this.head = revision;
    this.send('delta', { query, revision, time: 5, author: 'bob', fingerprint: token(revision).fingerprint, changes });
  }

  commit(revision, request, more = {}) {
    const result = { revision, fingerprint: token(revision).fingerprint, ...more.result };
    this.send('committed', { ...more, result }, request);
  }

  lose() { this.socket.onclose({}); }
}

/** A connection to a fake server, with what it has announced. */
export function connected({ start = true } = {}) {
  const [server, clock] = [new FakeServer(), new FakeClock()];
  const page = Object.assign(new EventTarget(), { visibilityState: 'visible' });
  const ids = [];
  const connection = new Connection({
    url: 'wss://example/v1/socket', identity: { replica: replicaID, lastSequence: 0, author: 'ann', program: 'test' }, clock,
    random: () => 1, page, WebSocket: server.WebSocket, newID: () => `${'0'.repeat(31)}${9 - ids.push(1)}`,
  });
  const [changes, states] = [[], []];
  connection.onchange = (change) => changes.push(change);
  connection.onstate = (state) => states.push(state);
  if (start) connection.start();
  return { server, clock, page, connection, changes, states };
}

/** A connection that follows all notes, as the server's query 4, from a first result. */
export async function following(objects) {
  const made = connected({ start: false });
  const query = made.connection.subscribe({ entity: 'Note' });
  made.connection.start();
  made.server.welcome();
  made.server.answer(4, objects, 2);
  await query.ready;
  return { ...made, query };
}
