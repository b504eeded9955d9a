// Checks the browser's modules against a real daemon: `node Tests/WebTests/live.mjs BIN-FOLDER [ws]`, where the folder
// has stickies and stickiesd. Two connections and `stickies watch` follow one graph, also across `kill -9` of the daemon.
// With `ws`, the connections use the WebSocket of the HTTP interface instead of a plain socket.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { wellFormed } from '../../Web/context/text.js';
import { check, Daemon, isVerbose, wordsOf } from './daemon.mjs';
import { randomText, seeded, splice } from './random.mjs';

const [bin, transport] = wordsOf('node Tests/WebTests/live.mjs BIN-FOLDER [ws]');
const daemon = new Daemon(bin, transport);

/** Waits for a condition, which is looked at after each change of a connection. */
function until(description, connections, condition) {
  return new Promise((resolve) => {
    const look = () => {
      if (!condition()) return;
      for (const each of connections) each.onchange = () => {};
      if (description) console.log(`ok  ${description}`);
      resolve();
    };
    for (const each of connections) each.onchange = look;
    look();
  });
}

async function main() {
  await daemon.start();
  const [first, second] = ['anna', 'bert'].map((author) => daemon.connection(author));
  first.start();
  second.start();
  const boards = first.subscribe({ entity: 'Board' });
  const notes = [first, second].map((each) => each.subscribe({ entity: 'Note' }));
  await Promise.all([boards.ready, ...notes.map((query) => query.ready)]);
  console.log('ok  subscribe');

  const saved = await first.commit({
    policy: 'error', undo: { scope: 'ab'.repeat(16), group: 1, name: 'New' }, changes: [
      { kind: 'insert', id: 'temporary 1', entity: 'Board', values: { name: 'Web' } },
      { kind: 'insert', id: 'temporary 2', entity: 'Note', values: { text: 'Grüße 🐍', x: 10.5, board: 'temporary 1' } },
    ],
  });
  const id = saved.ids.get('temporary 2');
  await until('insert', [first, second], () => first.graph.get(id) && second.graph.get(id));
  const note = first.graph.get(id);
  assert.deepEqual(second.graph.get(id), note);
  assert.equal(note.values.text, 'Grüße 🐍');
  assert.equal(note.values.x, 10.5);
  assert.equal(note.values.board, saved.ids.get('temporary 1'));
  assert.equal(first.graph.get(note.values.board).values.name, 'Web');
  assert.equal(JSON.parse(daemon.stickies('show', id.slice(0, 8), '--json')).id, id);

  // Both edit the same text at the same revision: each letter is there.
  const base = note.revision;
  await Promise.all([first, second].map((each, index) => each.commit({
    policy: 'storeTrump', changes: [{
      kind: 'update', id, entity: 'Note', base,
      splices: { text: [splice(note.values.text, index ? 0 : note.values.text.length, index ? 0 : note.values.text.length, index ? '<' : '>')] },
    }],
  })));
  await until('merge', [first, second], () => [first, second].every((each) => each.graph.get(id).values.text === '<Grüße 🐍>'));

  await second.commit({ changes: [{ kind: 'update', id, entity: 'Note', base: second.graph.get(id).revision, values: { color: 'pink' } }] });
  const refusal = await first.commit({
    changes: [{ kind: 'update', id, entity: 'Note', base, values: { color: 'blue' } }],
  }).then(() => assert.fail('the conflict is not refused'), (error) => error);
  assert.equal(refusal.code, 'conflict');
  assert.deepEqual(refusal.conflicts.map(({ property, mine, theirs, author }) => ({ property, mine, theirs, author })),
    [{ property: 'color', mine: 'blue', theirs: 'pink', author: 'bert' }]);
  console.log('ok  conflict');

  const state = await first.undoState('ab'.repeat(16));
  assert.equal(state.undo.group.name, 'New');
  assert.equal((await first.valueOrigin(id, 'color')).author, 'bert');
  assert.equal((await first.log({ limit: 3 })).length, 3);
  assert.equal((await first.fetch({ entity: 'Note', at: saved.revision })).objects[0].values.text, 'Grüße 🐍');
  assert.equal((await first.fetch({ entity: 'Note', result: 'count' })).count, 1);
  assert((await first.modelFile()).entities.some((entity) => entity.name === 'Note'));
  assert.equal((await first.revisionAt(Date.now() * 1000 + 60_000_000)).revision, first.graph.revision);
  console.log('ok  requests');
  await second.undo({});
  await until('undo', [first], () => first.graph.get(id).values.color === 'yellow');

  const peers = new Promise((resolve) => { first.onpresence = (list) => { if (list[0]?.state?.x === 5) resolve(list); }; });
  first.presence({ v: 1, board: note.values.board });
  await first.undoState();
  second.presence({ v: 1, board: note.values.board, x: 5, y: 6 });
  assert.equal((await peers)[0].author, 'bert');
  console.log('ok  presence');

  await compare(first, second, notes, { id: note.values.board, entity: 'Board' });
}

/** Commits at random by both connections, while the daemon is killed, and compares with `stickies watch`. */
async function compare(first, second, notes, board) {
  const seen = new Map();
  const watch = spawn(join(bin, 'stickies'), ['watch', '--json', '--server', daemon.address], { stdio: ['ignore', 'pipe', 'ignore'] });
  const lines = createInterface({ input: watch.stdout });
  let isWatching;
  const watching = new Promise((resolve) => { isWatching = resolve; });
  lines.on('line', (line) => {
    isWatching();
    const message = JSON.parse(line);
    if (isVerbose) console.log('watch', line.slice(0, 200));
    record(seen, message);
  });
  await watching;
  const random = seeded(7);
  for (let round = 0; round < 120; round++) {
    const each = random() < 0.5 ? first : second;
    const ids = (each === first ? notes[0] : notes[1]).ids;
    const id = ids[Math.floor(random() * ids.length)];
    const object = id && each.graph.get(id);
    const commits = [];
    if (!object || random() < 0.3) {
      const values = { text: wellFormed(randomText(random, 10)), board };
      commits.push(each.commit({ changes: [{ kind: 'insert', id: 'temporary 1', entity: 'Note', values }] }));
    } else if (random() < 0.2 && ids.length > 2) {
      commits.push(each.commit({ policy: 'objectTrump', changes: [{ kind: 'delete', id, entity: 'Note', base: 0 }] }));
    } else {
      const { text } = object.values;
      const start = Math.floor(random() * (text.length + 1));
      const end = Math.min(text.length, start + Math.floor(random() * 3));
      commits.push(each.commit({
        policy: 'objectTrump', changes: [{
          kind: 'update', id, entity: 'Note', base: object.revision,
          splices: { text: [splice(text, start, end, randomText(random, 3))] }, values: { x: Math.floor(random() * 100) },
        }],
      }));
    }
    const settled = Promise.allSettled(commits);
    if (round % 30 === 15) {
      await daemon.kill();
      await daemon.start();
    }
    for (const outcome of await settled) {
      // A concurrent delete wins over every policy.
      if (outcome.status === 'rejected') assert.equal(outcome.reason.code, 'conflict', outcome.reason.message);
    }
  }
  const last = await first.commit({ changes: [{ kind: 'insert', id: 'temporary 1', entity: 'Note', values: { text: 'last', board } }] });
  const lastID = last.ids.get('temporary 1');
  await until('', [first, second], () => first.graph.get(lastID) && second.graph.get(lastID));
  const texts = (each, query) => Object.fromEntries(query.ids.map((id) => [id, each.graph.get(id).values.text]).sort());
  const stored = Object.fromEntries((await first.fetch({ entity: 'Note' })).objects.map(({ id, values }) => [id, values.text]).sort());
  assert.deepEqual(texts(first, notes[0]), stored);
  assert.deepEqual(texts(second, notes[1]), stored);
  while (!seen.has(lastID)) await new Promise((resolve) => lines.once('line', resolve));
  assert.deepEqual(Object.fromEntries([...seen].sort()), stored);
  console.log(`ok  ${Object.keys(stored).length} notes equal those of the server and of stickies watch, across kill -9`);
  watch.kill();
  await restore(first, second, notes, board);
  first.stop();
  second.stop();
}

/** Restores a backup: what came after it disappears, and a change that was made from it comes back to its maker. */
async function restore(first, second, notes, board) {
  const backup = join(daemon.folder, 'backup.sqlite');
  daemon.run('backup', ...daemon.data, backup);
  const lost = await second.commit({
    changes: [{ kind: 'insert', id: 'temporary 1', entity: 'Note', values: { text: 'lost', board } }],
  });
  const id = lost.ids.get('temporary 1');
  await until('', [first, second], () => first.graph.get(id) && second.graph.get(id));
  let divergences = 0;
  for (const each of [first, second]) each.ondiverged = () => { divergences++; };
  await daemon.kill();
  const changes = [{ kind: 'update', id, entity: 'Note', base: lost.revision, values: { x: 1 } }];
  const outdated = first.commit({ changes }).then(() => assert.fail('it is committed'), (error) => error);
  daemon.run('restore', ...daemon.data, backup);
  await daemon.start();
  assert.equal((await outdated).code, 'outdated');
  await until('', [first, second], () => !first.graph.get(id) && !second.graph.get(id));
  assert.equal(divergences, 2);
  const made = await first.commit({
    changes: [{ kind: 'insert', id: 'temporary 1', entity: 'Note', values: { text: 'after', board } }],
  });
  const after = made.ids.get('temporary 1');
  await until('', [first, second], () => first.graph.get(after) && second.graph.get(after));
  const { objects } = await first.fetch({ entity: 'Note' });
  for (const [each, query] of [[first, notes[0]], [second, notes[1]]]) {
    assert.deepEqual(query.ids.map((id) => each.graph.get(id)).sort(byID), objects.sort(byID));
  }
  console.log('ok  restored backup');
}

const byID = (one, other) => (one.id < other.id ? -1 : 1);

/** Records the texts of notes that `stickies watch --json` prints. */
function record(seen, { snapshot, changes = [] }) {
  if (snapshot) seen.clear();
  for (const { id, entity, text } of snapshot ?? []) if (entity === 'Note') seen.set(id, text);
  for (const { kind, object } of changes) {
    if (object?.entity !== 'Note') continue;
    if (kind === 'removed') seen.delete(object.id);
    else seen.set(object.id, object.text);
  }
}

await check(daemon, 120, main);
