// Connections that are cut at random, with several queries and windows each, over a daemon that is killed: whenever it is
// quiet, each result equals a fetch. `node Tests/WebTests/storm.mjs BIN-FOLDER [SEED] [ROUNDS] [ws]`.
import assert from 'node:assert/strict';
import { check, Daemon, isVerbose, wordsOf } from './daemon.mjs';
import { randomText, seeded, splice } from './random.mjs';

const [bin, seed = '1', rounds = '400', transport] = wordsOf('node Tests/WebTests/storm.mjs BIN-FOLDER [SEED] [ROUNDS] [ws]');
const daemon = new Daemon(bin, transport);
const random = seeded(Number(seed));
const below = (count) => Math.floor(random() * count);
const pick = (list) => list[below(list.length)];
const colors = ['yellow', 'blue', 'green'];
const wanted = [
  { entity: 'Note' }, { entity: 'Note', where: 'color == "yellow"' }, { entity: 'Note', where: 'x < 50' }, { entity: 'Board' },
  { entity: 'Note', where: 'board.name == "B1"' }, { entity: 'Tag' },
  { entity: 'Note', window: { sort: '-x', offset: 0, limit: 4 } },
  { entity: 'Note', where: 'color != "blue"', window: { sort: 'text,x', offset: 2, limit: 5 } },
];
const counts = { commits: 0, refused: 0, cuts: 0, kills: 0, quiet: 0, changes: 0 };

class Client {
  constructor(name) {
    this.connection = daemon.connection(name);
    this.queries = [];
    this.pending = new Set();
    this.revision = 0;
    this.connection.onchange = ({ revision, author, inserted, changed, removed }) => {
      counts.changes++;
      if (author) {
        assert(revision >= this.revision, `${name} is shown revision ${revision} after ${this.revision}`);
        this.revision = revision;
      }
      for (const id of [...inserted, ...changed]) assert(this.connection.graph.get(id), `${name}: ${id} is not held`);
      for (const id of removed) assert(!this.connection.graph.get(id), `${name}: ${id} is held`);
    };
    this.connection.start();
    this.follow();
  }

  follow() { this.queries.push(this.connection.subscribe(pick(wanted))); }

  /** A note that this client has. */
  get note() {
    const ids = this.queries.flatMap((query) => (query.wanted.entity === 'Note' ? query.ids : []));
    return ids.length ? this.connection.graph.get(pick(ids)) : undefined;
  }

  commit(changes, policy = 'objectTrump') {
    counts.commits++;
    const outcome = this.connection.commit({ policy, changes }).catch((error) => {
      counts.refused++;
      assert(['conflict', 'notFound'].includes(error.code), `${error.code}: ${error.message}`);
    }).finally(() => this.pending.delete(outcome));
    this.pending.add(outcome);
  }

  act() {
    const { note, connection } = this;
    const draw = random();
    if (draw < 0.12) this.follow();
    else if (draw < 0.2 && this.queries.length > 1) this.queries.splice(below(this.queries.length), 1)[0].close();
    else if (draw < 0.3) pick(this.queries).move(below(6), 1 + below(5));
    else if (draw < 0.38) {
      counts.cuts++;
      connection.socket?.socket?.destroy();
    } else if (!connection.welcome) return;
    else if (!note || draw < 0.6) {
      const values = { text: randomText(random, 8), x: below(100), color: pick(colors), board: boards[below(2)] };
      this.commit([{ kind: 'insert', id: 'temporary 1', entity: 'Note', values }]);
    } else if (draw < 0.66) this.commit([{ kind: 'delete', id: note.id, entity: 'Note', base: note.revision }]);
    else if (draw < 0.72) {
      this.commit([
        { kind: 'insert', id: 'temporary 1', entity: 'Tag', values: { name: `tag ${below(5)}` } },
        { kind: 'update', id: note.id, entity: 'Note', base: note.revision, members: { tags: { added: ['temporary 1'] } } },
      ]);
    } else {
      const { text } = note.values;
      const start = below(text.length + 1);
      const made = splice(text, start, Math.min(text.length, start + below(3)), randomText(random, 3));
      const values = random() < 0.5 ? { x: below(100), color: pick(colors) } : {};
      this.commit([{ kind: 'update', id: note.id, entity: 'Note', base: note.revision, values, splices: { text: [made] } }]);
    }
  }

  /** Whether every query is complete, and no commit or move is under way. */
  get isSettled() {
    const { state, queries, staged } = this.connection.replica;
    return state === 'live' && !this.pending.size && !staged.length &&
      [...queries.values()].every(({ token, move }) => token && !move);
  }

  /** Each result equals a fetch. */
  async compare() {
    for (const query of this.queries) {
      await query.ready;
      const { entity, where } = query.wanted;
      const place = this.connection.replica.queries.get(query.id).visiblePlace;
      const { objects } = await this.connection.fetch({ entity, where, ...place });
      const held = query.ids.map((id) => this.connection.graph.get(id));
      const sorted = (list) => (place ? list : list.sort((a, b) => (a.id < b.id ? -1 : 1)));
      assert.deepEqual(sorted(held), sorted(objects), JSON.stringify(query.wanted));
      if (place) {
        assert.equal(query.total, (await this.connection.fetch({ entity, where, result: 'count' })).count);
        assert.equal(JSON.stringify(place), JSON.stringify(this.connection.replica.queries.get(query.id).subscribe.window));
      }
    }
  }
}

let boards;

const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Waits until all clients have everything, and compares. */
async function quiet(clients) {
  for (;;) {
    await Promise.all(clients.flatMap(({ pending }) => [...pending]));
    // The answer to a request comes after the deltas of the commits before it.
    const answers = await Promise.allSettled(clients.map(({ connection }) => connection.undoState()));
    if (answers.every(({ status }) => status === 'fulfilled') && clients.every((client) => client.isSettled)) break;
    await pause(50);
  }
  for (const client of clients) await client.compare();
  counts.quiet++;
}

await check(daemon, 300, async () => {
  await daemon.start();
  const maker = daemon.connection('maker');
  maker.start();
  await maker.subscribe({ entity: 'Board' }).ready;
  const made = await maker.commit({
    changes: ['B1', 'B2'].map((name, index) => ({ kind: 'insert', id: `temporary ${index + 1}`, entity: 'Board', values: { name } })),
  });
  boards = [...made.ids.values()].map((id) => ({ id, entity: 'Board' }));
  maker.stop();
  const clients = ['anna', 'bert', 'cleo'].map((name) => new Client(name));
  for (let round = 1; round <= Number(rounds); round++) {
    pick(clients).act();
    if (random() < 0.6) await pause(below(8));
    if (random() < 0.008) {
      counts.kills++;
      await daemon.kill();
      await daemon.start();
    }
    if (round % 100 === 0) await quiet(clients);
  }
  await quiet(clients);
  if (isVerbose) console.log(clients.map(({ queries }) => queries.length));
  console.log(`ok  seed ${seed}: ${JSON.stringify(counts)}`);
});
