// The client half of the protocol as a state machine: the tests of Tests/GraphReplicaTests that are about the replica.
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { id, image, note, numberOf, replicaID, Script, set, token, update } from './script.mjs';

const equal = assert.deepEqual;

// The scenes are a transcript, which the Swift replica replays, too.
after(() => {
  if (!process.env.RECORD) return;
  const folder = new URL('transcripts/', import.meta.url);
  mkdirSync(folder, { recursive: true });
  writeFileSync(new URL('written.jsonl', folder), Script.lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
});

const last = (script) => script.actions.at(-1);

test('an unanswered save is resent under its id', () => {
  const script = new Script();
  equal(script.save(), []);
  equal(script.connect(), ['welcomed', '> commit 1']);
  equal(script.handle('disconnected'), []);
  equal(script.connect(), ['welcomed', '> commit 1']);
  equal(script.committed(1, 2), ['saved 1 as 1']);
  // The save is answered, so the next connection does not repeat it.
  equal(script.handle('disconnected'), []);
  equal(script.connect(1), ['welcomed']);
});

test('a revision is shown only when it is complete', () => {
  const script = new Script();
  script.connect();
  equal([...script.follow(1), ...script.follow(2)], ['> follow', '> follow']);
  equal(script.subscribed(4, 2), []);
  equal(script.last([image(5, 1)], 1, 2), []);
  equal(script.subscribed(5, 3), []);
  equal(script.last([], 1, 3), []);
  equal(script.advance(1), ['query 1 has 1 at 1', 'query 2 has 0 at 1']);
  equal(script.delta(4, 2, [update(5, [set(3)], 1)]), []);
  equal(script.delta(5, 2, [{ kind: 'insert', object: image(5, 2, { x: 3 }) }]), []);
  equal(script.advance(2), ['revision 2 changes 1,2']);
});

test('a resumed query continues from its token', () => {
  const script = Script.following();
  equal(script.delta(4, 2, [update(5, [set(3)], 1)]), ['revision 2 changes 1']);
  equal(script.handle('disconnected'), []);
  equal(script.connect(3), ['welcomed', '> follow since 2']);
  equal(script.subscribed(9, 2, { resumed: true }), ['query 1 goes on from 2']);
  equal(script.delta(9, 3, [update(5, [set(4)], 2)]), ['revision 3 changes 1']);
  equal(script.advance(3), []);
});

test('a reloading query neither blocks nor overtakes others', () => {
  const script = new Script();
  script.connect();
  equal([...script.follow(1), ...script.follow(2)], ['> follow', '> follow']);
  equal(script.handle('unsubscribe', { query: 1 }), []);
  equal(script.subscribed(4, 2), ['> unfollow 4']);
  equal(script.receive('reset', { query: 4, reason: 'too many changes' }), []);
  equal(script.subscribed(4, 2), []);
  equal(script.advance(3), []);
  equal(script.subscribed(5, 3), []);
  equal(script.last([image(5, 3)], 3, 3), []);
  equal(script.advance(3), ['query 2 has 1 at 3']);
});

test('a reset query shows the old result until the new one is complete', () => {
  const script = Script.following();
  equal(script.receive('reset', { query: 4, reason: 'too far behind' }), []);
  equal(script.subscribed(4, 2), []);
  equal(script.receive('chunk', { objects: [image(5, 8)] }, 2), ['> more of 2']);
  equal(script.last([image(6, 7)], 9, 2), []);
  equal(script.advance(9), ['query 1 has 2 at 9']);
});

test('a reloaded query may have another number', () => {
  const script = Script.following([5, 6].map((number) => image(number, 1)));
  equal(script.receive('rights', { grants: [{ role: 'reader' }] }), ['rights']);
  equal(script.receive('reset', { query: 4, reason: 'your rights were changed' }), []);
  equal(script.subscribed(9, 2), []);
  // The query has this number no longer.
  equal(script.delta(4, 2, [update(5, [set(3)], 1)]), []);
  equal(script.last([image(5, 1)], 2, 2), []);
  equal(script.advance(2), ['query 1 has 1 at 2']);
  equal(script.delta(9, 3, [update(5, [set(3)], 1)]), ['revision 3 changes 1']);
  equal(script.handle('unsubscribe', { query: 1 }), ['> unfollow 9']);
});

const board = '00000000000000090000000000000009';

test('changed rights leave a save in flight alone', () => {
  const script = Script.following();
  equal(script.save(), ['> commit 1']);
  equal(script.receive('rights', { grants: [{ role: 'reader' }, { role: 'editor', scope: board }] }), ['rights']);
  equal(script.receive('reset', { query: 4, reason: 'your rights were changed' }), []);
  equal(script.subscribed(9, 2), []);
  equal(script.committed(2, 3), ['saved 1 as 2']);
  equal(script.last([image(5, 2)], 2, 2), []);
  equal(script.advance(2), ['query 1 has 1 at 2']);
  equal(script.receive('presence', { session: 3, author: 'bob', left: true }), ['presence']);
});

test('rights change before a first result is complete', () => {
  const script = new Script();
  script.connect();
  equal(script.follow(1), ['> follow']);
  equal(script.subscribed(4, 2), []);
  equal(script.receive('chunk', { objects: [image(5, 1), image(6, 1)] }, 2), ['> more of 2']);
  equal(script.receive('rights', { grants: [{ role: 'commenter', scope: board }] }), ['rights']);
  equal(script.receive('reset', { query: 4, reason: 'your rights were changed' }), []);
  equal(script.subscribed(9, 2), []);
  // What was sent for the former rights is not shown.
  equal(script.last([image(6, 1)], 2, 2), []);
  equal(script.advance(2), ['query 1 has 1 at 2']);
});

test('rights that are taken away end all that is visible', () => {
  const script = Script.following([5, 6].map((number) => image(number, 1)));
  equal(script.receive('rights', { grants: [{ role: 'owner', scope: board }] }), ['rights']);
  equal(script.receive('reset', { query: 4, reason: 'your rights were changed' }), []);
  equal(script.subscribed(8, 2), []);
  equal(script.last([], 1, 2), []);
  equal(script.advance(1), ['query 1 has 0 at 1']);
  script.handle('disconnected');
  // The query resumes under its own number only.
  equal(script.connect(1), ['welcomed', '> follow since 1']);
});

test('a result that lacks damaged objects is loaded again', () => {
  const script = Script.following([5, 6].map((number) => image(number, 1)));
  script.receive('reset', { query: 4, reason: 'too far behind' });
  script.subscribed(4, 2);
  equal(script.last([image(6, 1)], 9, 2, { damage: { objects: [id(5)] } }), []);
  equal(script.advance(9), ['query 1 lacks 5', 'query 1 has 1 at 9']);
  script.handle('disconnected');
  equal(script.connect(9), ['welcomed', '> follow']);
});

test('a query with too many objects is refused', () => {
  const script = new Script();
  script.connect();
  script.handle('subscribe', { query: 1, subscribe: { entity: note }, atMost: 1 });
  script.subscribed(4, 2);
  equal(script.receive('chunk', { objects: [image(5, 1), image(6, 1)] }, 2), ['> unfollow 4', 'query 1 was refused: limit']);
});

// ---- Reconnecting

test('queries resume a few at a time', () => {
  // Its transcript would be longer than all others.
  const script = new Script({ isRecorded: false });
  script.connect();
  const [most, count] = [64, 3 * 64 + 5];
  const lines = Array.from({ length: count }, (_, query) => script.follow(query + 1)).flat();
  equal(lines, Array(most).fill('> follow'));
  equal(script.handle('unsubscribe', { query: most + 1 }), []);
  for (let number = 0; number < count - 1; number++) {
    equal(script.subscribed(number + 1, number + 2), number + most >= count - 1 ? [] : ['> follow']);
  }
  equal(script.last([], 1, 2), []);
  equal(script.advance(1), ['query 1 has 0 at 1']);
  script.handle('disconnected');
  const again = script.connect(1);
  equal([again.length, again[1]], [1 + most, '> follow since 1']);
});

test('a late result skips deltas of shown revisions', () => {
  const script = Script.following();
  equal(script.follow(2), ['> follow']);
  equal(script.subscribed(5, 3), []);
  equal(script.last([image(5, 1)], 1, 3), []);
  equal(script.advance(1), ['query 2 has 1 at 1']);
  equal(script.receive('reset', { query: 4, reason: '' }), []);
  equal(script.subscribed(4, 2), []);
  equal(script.delta(5, 8, [update(5, [set(3)], 1)]), []);
  equal(script.advance(8), ['revision 8 changes 2']);
  script.handle('disconnected');
  equal(script.connect(9), ['welcomed', '> follow', '> follow since 8']);
});

test('a reset query does not resume from its first token again', () => {
  const script = new Script();
  script.connect(9);
  for (const query of [1, 2]) equal(script.follow(query, { since: token(2) }), ['> follow since 2']);
  equal(script.subscribed(4, 2, { resumed: true, known: true }), ['query 1 goes on from 2']);
  equal(script.subscribed(5, 3, { resumed: true, known: true }), ['query 2 goes on from 2']);
  script.receive('reset', { query: 4, reason: '' });
  script.delta(5, 8, [update(5, [set(3)], 1)]);
  equal(script.advance(8), ['revision 8 changes 2']);
  script.handle('disconnected');
  equal(script.connect(9), ['welcomed', '> follow', '> follow since 8']);
});

test('a late result is shown at the revision of others, with the changes that it missed', () => {
  const script = Script.following();
  equal(script.follow(2), ['> follow']);
  equal(script.subscribed(5, 3), []);
  equal(script.delta(4, 8, [update(5, [set(3)], 1)]), []);
  equal(script.advance(8), ['revision 8 changes 1']);
  equal(script.last([image(5, 1), image(6, 1)], 1, 3), []);
  equal(script.delta(5, 7, [{ kind: 'delete', id: id(6) }]), []);
  equal(script.delta(5, 8, [update(5, [set(3)], 1)]), []);
  equal(script.delta(5, 9, [{ kind: 'insert', object: image(7, 9) }]), []);
  equal(script.advance(9), ['query 2 has 1 at 8', 'revision 9 changes 2']);
  equal(script.actions[0].objects, [image(5, 8, { x: 3 })]);
  script.handle('disconnected');
  equal(script.connect(9), ['welcomed', '> follow since 9', '> follow since 9']);
});

test('an advance covers only complete results', () => {
  const script = new Script();
  script.connect();
  script.follow(1);
  script.follow(2);
  script.subscribed(4, 2);
  equal(script.advance(3), []);
  equal(script.last([image(5, 1)], 1, 2), []);
  equal(script.subscribed(5, 3), []);
  equal(script.delta(4, 2, [update(5, [set(3)], 1)]), []);
  script.handle('disconnected');
  equal(script.connect(3), ['welcomed', '> follow', '> follow']);
});

test('messages for a query that is no longer followed are ignored', () => {
  const script = Script.following();
  equal(script.handle('unsubscribe', { query: 1 }), ['> unfollow 4']);
  equal(script.refused('unavailable', 2), []);
  equal(script.subscribed(4, 2), []);
});

const batch = (script) => ({ id: script.newID(), entity: note, delete: { predicate: 'x < 0' } });
const request = (script, number, kind, body) => script.handle('request', { request: number, kind, body });

test('a batch is sent in order with pending saves', () => {
  const script = Script.following();
  script.handle('disconnected');
  equal(script.save(), []);
  equal(script.connect(9), ['welcomed', '> follow since 1']);
  equal(request(script, 31, 'batch', batch(script)), []);
  equal(script.save(), []);
  equal(request(script, 32, 'fetch', { entity: note }), ['> fetch']);
  equal(script.subscribed(4, 2, { resumed: true }), ['query 1 goes on from 1']);
  equal(script.advance(9), ['> commit 1', '> batch', '> commit 3']);
});

test('unsent requests fail with the connection', () => {
  const script = Script.following();
  script.handle('disconnected');
  script.save();
  script.connect(9);
  equal(request(script, 31, 'batch', batch(script)), []);
  equal(script.handle('disconnected'), ['request 31 was refused: unavailable']);
  equal(request(script, 32, 'status', {}), ['request 32 was refused: unavailable']);
});

// ---- A store that was restored from a backup

test('a save of another past is handed back to its maker', () => {
  const script = Script.following();
  equal(script.delta(4, 8, [update(5, [set(3)], 1)]), ['revision 8 changes 1']);
  script.handle('disconnected');
  script.save();
  script.handle('undo', { undo: { id: script.newID() } });
  equal(script.connect(3), ['welcomed', '> follow since 8']);
  equal(script.subscribed(9, 2), ['diverged']);
  equal(script.last([image(5, 3)], 3, 2), []);
  equal(script.advance(3), ['query 1 has 1 at 3', '1 is outdated', '2 was refused: unavailable']);
});

test('a pending reload resumes from the held state', () => {
  const script = Script.following();
  script.delta(4, 8, [update(5, [set(3)], 1)]);
  script.receive('reset', { query: 4, reason: '' });
  script.subscribed(4, 2);
  for (const query of [5, 6]) {
    script.handle('disconnected');
    equal(script.connect(9), ['welcomed', '> follow since 8']);
    equal(script.subscribed(query, 2, { known: true }), []);
  }
  script.handle('disconnected');
  equal(script.connect(9), ['welcomed', '> follow since 8']);
  equal(script.subscribed(7, 2), ['diverged']);
  equal(script.last([image(5, 3)], 9, 2), []);
  equal(script.advance(9), ['query 1 has 1 at 9']);
});

test('objects from replies are revalidated', () => {
  const script = Script.following();
  equal(script.save(), ['> commit 1']);
  equal(script.committed(8, 3), ['saved 1 as 8']);
  for (const isKnown of [true, false]) {
    script.handle('disconnected');
    equal(script.connect(9), ['welcomed', '> commits behind 8', '> follow since 1']);
    equal(script.subscribed(9, 3, { resumed: true }), ['query 1 goes on from 1']);
    if (isKnown) equal(script.receive('followed', { at: token(9), head: token(9) }, 2), []);
    else equal(script.refused('notFound', 2), ['> unfollow 9', '> follow', 'diverged']);
  }
  equal(script.subscribed(10, 5, { known: true }), []);
  equal(script.last([image(5, 1)], 9, 5), []);
  equal(script.advance(9), ['query 1 has 1 at 9']);
});

test('objects of mixed histories are discarded', () => {
  const script = Script.following();
  script.save();
  script.committed(8, 3);
  script.handle('disconnected');
  equal(script.connect(9), ['welcomed', '> commits behind 8', '> follow since 1']);
  equal(request(script, 7, 'fetch', { entity: note }), ['> fetch']);
  script.last([image(5, 10, { x: 4 })], 10, 4);
  script.handle('disconnected');
  equal(script.connect(10), ['welcomed', '> follow since 1']);
  equal(script.subscribed(9, 2, { resumed: true }), ['> unfollow 9', '> follow', 'query 1 goes on from 1', 'diverged']);
});

test('whether the store knows a state is asked again if it is unavailable', () => {
  const script = Script.following();
  script.save();
  script.committed(8, 3);
  script.handle('disconnected');
  script.connect(9);
  equal(script.refused('unavailable', 2), ['disconnect: unavailable']);
});

/** Two queries that this side holds as of two states, followed on a new connection. */
function returning(older, newer) {
  const script = new Script();
  script.connect(9);
  for (const [query, revision] of [[1, older], [2, newer]]) {
    equal(script.follow(query, { since: token(revision) }), [`> follow since ${revision}`]);
  }
  return script;
}

test('messages under an old number of a query are ignored', () => {
  const script = returning(2, 8);
  equal(script.subscribed(4, 2, { resumed: true, known: true }), ['query 1 goes on from 2']);
  equal(script.subscribed(5, 3), ['> unfollow 4', '> follow', 'diverged']);
  equal(script.receive('reset', { query: 4, reason: '' }), []);
  equal(script.subscribed(4, 2), []);
  equal(script.last([image(6, 3)], 9, 2), []);
  equal(script.subscribed(6, 5, { known: true }), []);
  equal(script.last([image(5, 3)], 9, 5), []);
  equal(script.last([image(5, 3)], 9, 3), []);
  equal(script.advance(9), ['query 1 has 1 at 9', 'query 2 has 1 at 9']);
});

test('a delta before a complete result is delayed', () => {
  const script = Script.following();
  script.save();
  script.committed(8, 3);
  script.handle('disconnected');
  equal(script.connect(9)[0], 'welcomed');
  equal(script.subscribed(9, 3, { known: true }), []);
  equal(script.delta(9, 10, [update(5, [set(7)], 8)]), []);
  equal(script.receive('followed', { at: token(9), head: token(9) }, 2), []);
  equal(script.last([image(5, 8, { x: 3 })], 9, 3), []);
  equal(script.advance(10), ['query 1 has 1 at 9', 'revision 10 changes 1']);
});

test('a pruned token is of the same store if a newer one is known', () => {
  const script = returning(2, 8);
  equal(script.subscribed(4, 2), []);
  equal(script.subscribed(5, 3, { resumed: true, known: true }), ['query 2 goes on from 8']);
});

test('a query that resumed in a restored store reloads', () => {
  const script = returning(2, 8);
  equal(script.subscribed(4, 2, { resumed: true, known: true }), ['query 1 goes on from 2']);
  equal(script.subscribed(5, 3), ['> unfollow 4', '> follow', 'diverged']);
  equal(script.last([image(5, 3)], 9, 3), []);
  equal(script.advance(9), []);
  equal(script.subscribed(6, 5, { known: true }), ['query 2 has 1 at 9']);
  equal(script.last([image(5, 3)], 9, 5), []);
  equal(script.advance(9), ['query 1 has 1 at 9']);
});

// ---- Windows

const rows = (script, numbers, total, revision, request) =>
  script.last(numbers.map((number) => image(number, 1)), revision, request, { total: { count: total } });
const moved = (script, query, numbers, fresh, revision, request) => script.receive('windowMoved', {
  query, rows: numbers.map(id), objects: fresh.map((number) => image(number, 1)), total: 9, at: token(revision),
}, request);
const move = (script, offset) => script.handle('moveWindow', { query: 1, offset, limit: 3 });

function window() {
  const script = new Script();
  script.connect(1);
  equal(script.follow(1, { window: { sort: 'x', offset: 0, limit: 3 } }), ['> follow']);
  equal(script.subscribed(4, 2), []);
  equal(rows(script, [1, 2, 3], 9, 1, 2), []);
  equal(script.advance(1), ['window 1 shows 1,2,3 of 9 from 0 at 1']);
  return script;
}

test('a window is loaded again for other rights', () => {
  const script = window();
  equal(script.receive('rights', { grants: [{ role: 'reader' }] }), ['rights']);
  equal(script.receive('reset', { query: 4, reason: 'your rights were changed' }), []);
  equal(script.subscribed(7, 2), []);
  equal(rows(script, [2, 3], 4, 2, 2), []);
  equal(script.advance(2), ['window 1 shows 2,3 of 4 from 0 at 2']);
  equal(move(script, 2), ['> move 7 to 2+3']);
});

test('a move overtaken by a reset is not shown', () => {
  const script = window();
  equal(move(script, 2), ['> move 4 to 2+3']);
  equal(script.follow(2), ['> follow']);
  equal(moved(script, 5, [3, 4, 5], [4, 5], 1, 3), []);
  equal(script.advance(1), []);
  equal(script.receive('reset', { query: 5, reason: '' }), []);
  equal(script.subscribed(5, 3), []);
  equal(rows(script, [3, 5, 6], 8, 2, 3), []);
  equal(script.advance(2), []);
  equal(script.subscribed(6, 4), ['window 1 shows 3,5,6 of 8 from 2 at 2']);
  equal(move(script, 0), ['> move 5 to 0+3']);
});

test('a moved window shows kept and new rows, and the last requested place follows', () => {
  const script = window();
  equal(move(script, 2), ['> move 4 to 2+3']);
  equal([...move(script, 3), ...move(script, 4)], []);
  equal(moved(script, 5, [3, 4, 5], [4, 5], 1, 3), []);
  equal(script.advance(1), ['> move 5 to 4+3', 'window 1 shows 3,4,5 of 9 from 2 at 1']);
  const next = { kind: 'insert', object: image(6, 1), index: { count: 2 } };
  equal(script.delta(5, 2, [{ kind: 'delete', id: id(3), deleted: true }, next], 8), ['revision 2 changes 1']);
  equal([...last(script).update.totals], [[1, 8]]);
  equal(moved(script, 6, [6, 8], [8], 2, 4), []);
  equal(script.advance(2), ['window 1 shows 6,8 of 9 from 4 at 2']);
  equal(script.delta(6, 3, [], 7), ['revision 3 changes 1']);
});

test('a server without differences sends all rows', () => {
  const script = window();
  equal(move(script, 5), ['> move 4 to 5+3']);
  equal(script.subscribed(5, 3, { known: true }), []);
  equal(rows(script, [6, 7], 7, 2, 3), []);
  equal(script.advance(2), ['window 1 shows 6,7 of 7 from 5 at 2']);
});

test('a reconnect restores the requested window, and a refused move stays', () => {
  const script = window();
  equal(move(script, 6), ['> move 4 to 6+3']);
  script.handle('disconnected');
  equal(script.connect(2), ['welcomed', '> follow since 1']);
  equal(script.subscribed(2, 2, { known: true }), []);
  equal(rows(script, [7, 3], 8, 2, 2), []);
  equal(script.advance(2), ['window 1 shows 7,3 of 8 from 6 at 2']);
  equal(move(script, 900), ['> move 2 to 900+3']);
  equal(script.refused('limit', 3), []);
  equal(move(script, 6), []);
});

test('a query that ends during a move is ended under its new number', () => {
  const script = window();
  equal(move(script, 2), ['> move 4 to 2+3']);
  equal(script.handle('unsubscribe', { query: 1 }), ['> unfollow 4']);
  equal(moved(script, 5, [3], [], 1, 3), ['> unfollow 5']);
});

// ---- Copies

const newID = '00000000000000050000000000000005';

test('an unsent edit of a copy is committed under the new id', () => {
  const script = new Script();
  equal(script.save(), []);
  equal(script.connect(0, 3), ['welcomed', 'copied']);
  equal(script.handle('renew', { id: newID }), ['disconnect: unavailable']);
  equal(script.save(), []);
  script.handle('disconnected');
  script.handle('connected');
  equal(last(script).message.body.replica, newID);
  script.handle('disconnected');
  equal(script.connect(), ['welcomed', '> commit 1', '> commit 2']);
  equal(script.sentIDs, [{ replica: newID, sequence: 1 }, { replica: newID, sequence: 2 }]);
  // The owner's ids stay what they were.
  script.committed(1, 2);
  equal(last(script).id, { replica: replicaID, sequence: 1 });
});

test('a sent edit of a copy is sent again under its old id', () => {
  const script = new Script();
  script.connect();
  equal(script.save(), ['> commit 1']);
  script.handle('disconnected');
  equal(script.save(), []);
  equal(script.connect(0, 4), ['welcomed', '> commit 1']);
  equal(script.sentIDs, [{ replica: replicaID, sequence: 1 }]);
  equal(script.committed(9, 2), ['saved 1 as 9', 'copied']);
  equal(script.handle('renew', { id: newID }), ['disconnect: unavailable']);
  script.handle('disconnected');
  script.connect(9);
  equal(script.sentIDs, [{ replica: newID, sequence: 2 }]);
});

test('a replica without copies keeps its id', () => {
  for (const [lastSequence, known, isCopy] of [[6, 6, false], [6, 7, true], [0, 0, false]]) {
    const script = new Script({ lastSequence });
    equal(script.connect(0, known), isCopy ? ['welcomed', 'copied'] : ['welcomed']);
  }
  const script = new Script();
  equal(script.connect(0, 3), ['welcomed', 'copied']);
  script.handle('disconnected');
  equal(script.handle('renew', { id: newID }), []);
  equal(script.replica.identity.id, replicaID);
});

test('a copy repeats a batch under its id, and refuses a new one', () => {
  const script = new Script();
  script.connect();
  const first = batch(script);
  equal(request(script, 1, 'batch', first), ['> batch']);
  equal(script.handle('disconnected'), ['request 1 was refused: unavailable']);
  equal(script.connect(0, 3), ['welcomed', 'copied']);
  equal(request(script, 2, 'batch', first), ['> batch']);
  equal(script.sentIDs, [first.id]);
  equal(script.refused('conflict', 2), ['request 2 was refused: conflict']);
  equal(request(script, 3, 'batch', first), ['request 3 was refused: unavailable']);
});

// ---- Cancelling

test('a cancelled request is cancelled at the server once', () => {
  const script = new Script();
  script.connect();
  equal(request(script, 31, 'fetch', { entity: note }), ['> fetch']);
  equal(script.handle('cancel', { request: 31 }), ['> cancel of 2']);
  equal(script.handle('cancel', { request: 31 }), []);
  equal(script.handle('more', { request: 31 }), []);
  equal(script.receive('chunk', { objects: [image(5, 1)] }, 2), []);
  equal(script.refused('cancelled', 2), []);
  equal(request(script, 32, 'fetch', { entity: note }), ['> fetch']);
  equal(script.receive('chunk', { objects: [image(5, 1)] }, 4), ['request 32: chunk, not the last']);
  equal(script.handle('more', { request: 32 }), ['> more of 4']);
  equal(script.last([], 0, 4), ['request 32: chunk']);
  equal(script.handle('cancel', { request: 32 }), []);
});

test('rows are discarded unless their batch was requested', () => {
  const script = new Script();
  script.connect();
  const kept = { id: script.newID(), rows: [{ values: [{}] }] };
  equal(request(script, 31, 'batchRows', kept), ['> batchRows']);
  equal(script.receive('progress', { done: 1 }, 2), ['request 31: progress']);
  equal(script.handle('cancel', { request: 31 }), ['> cancel of 2']);
  equal(script.handle('cancel', { request: 31 }), []);
  equal(request(script, 32, 'batchRows', kept), ['> batchRows']);
  script.receive('progress', { done: 1 }, 4);
  equal(request(script, 33, 'batch', batch(script)), ['> batch']);
  equal(script.handle('cancel', { request: 32 }), []);
  equal(script.receive('progress', { done: 1 }, 5), ['request 33: progress, not the last']);
  equal(script.committed(3, 5), ['request 33: committed']);
});

test('an unsent batch is cancelled here', () => {
  const script = Script.following();
  script.handle('disconnected');
  script.save();
  script.connect(9);
  equal(request(script, 31, 'batch', batch(script)), []);
  equal(script.handle('cancel', { request: 31 }), ['request 31 was refused: cancelled']);
  equal(script.handle('disconnected'), []);
});

// ---- Time

const tick = (script, milliseconds) => script.handle('tick', { milliseconds });

test('an idle replica schedules a ping and its timeout', () => {
  const script = new Script();
  equal(script.replica.deadline, undefined);
  tick(script, 1_000);
  script.connect();
  equal(script.replica.deadline, 16_000);
  equal(tick(script, 15_999), []);
  equal(tick(script, 16_000), ['> ping']);
  equal(script.replica.deadline, 21_000);
  equal(script.receive('pong', { head: token(0) }, 2), []);
  equal(script.replica.deadline, 31_000);
  script.handle('disconnected');
  equal(script.replica.deadline, undefined);
});

test('a missing welcome times out', () => {
  const script = new Script();
  tick(script, 1_000);
  equal(script.handle('connected'), ['> hello']);
  equal(script.replica.deadline, 1_000);
  equal(tick(script, 1_000), []);
  equal(script.replica.deadline, 11_000);
  equal(tick(script, 10_999), []);
  equal(tick(script, 11_000), ['disconnect: unavailable']);
});

/** Ticks at each deadline, and always 3 ms late, until the server counts as lost. */
function run(script) {
  const found = [];
  while (!found.at(-1)?.endsWith('disconnect: unavailable') && found.length < 20) {
    const time = script.replica.deadline + 3;
    found.push(...tick(script, time).map((line) => `${time}: ${line}`));
  }
  return found;
}

test('a dead server is dropped after three heartbeats', () => {
  const script = new Script();
  tick(script, 1_000);
  script.connect();
  equal(tick(script, 16_003), ['> ping']);
  equal(script.receive('pong', { head: token(0) }, 2), []);
  equal(run(script), ['31006: > ping', '36009: silence true', '46009: > ping', '61006: disconnect: unavailable']);
});

test('a frozen page gives the server the full time', () => {
  const script = new Script();
  tick(script, 1_000);
  script.connect();
  equal(tick(script, 3_600_000), ['> ping']);
  equal(run(script), ['3605003: silence true', '3615003: > ping', '3630006: > ping', '3645003: disconnect: unavailable']);
});

test('presence does not delay a ping, and is not awaited', () => {
  const script = new Script();
  tick(script, 1_000);
  script.connect();
  const pings = [];
  for (let second = 2; second <= 16; second++) {
    equal(script.handle('presence', { state: Uint8Array.of(1, 2, 3) }), ['> presence']);
    equal(script.replica.deadline, 16_000);
    if (tick(script, second * 1_000).includes('> ping')) pings.push(second);
  }
  equal(pings, [16]);
});

test('a server that owes a reply is silent until it is heard', () => {
  const script = new Script();
  script.connect();
  tick(script, 1_000);
  equal(tick(script, 9_000), []);
  equal(script.save(), ['> commit 1']);
  equal(tick(script, 9_000), []);
  equal(tick(script, 13_999), []);
  equal(tick(script, 14_000), ['silence true']);
  equal(tick(script, 15_000), []);
  assert(script.advance(2).includes('silence false'));
  equal(tick(script, 22_000), []);
  equal(script.save(), ['> commit 2']);
  tick(script, 22_000);
  equal(tick(script, 28_000), ['silence true']);
  equal(script.handle('disconnected'), ['silence false']);
});

test('a pong is a token to resume from, unless something is on its way', () => {
  const script = Script.following();
  tick(script, 1_000);
  equal(tick(script, 16_000), ['> ping']);
  script.receive('pong', { head: token(6) }, 3);
  script.handle('disconnected');
  equal(script.connect(6), ['welcomed', '> follow since 6']);
});

// ---- Closing, presence, refusals

test('a server that closes comes back, or rejects the client for good', () => {
  for (const [code, line] of [['unavailable', 'disconnect: unavailable'], ['notAllowed', 'rejected: notAllowed'],
    ['malformed', 'rejected: malformed'], ['later', 'disconnect: unavailable']]) {
    const script = new Script();
    script.connect();
    equal(script.receive('close', { code, message: 'bye' }), [line]);
  }
});

test('presence is passed on, and dropped without a connection', () => {
  const script = new Script();
  equal(script.handle('presence', { state: Uint8Array.of(1) }), []);
  script.connect();
  equal(script.receive('presence', { session: 7, author: 'bob', state: Uint8Array.of(1), left: true }), ['presence']);
  equal({ ...last(script).presence }, { session: 7, author: 'bob', state: Uint8Array.of(1), left: true });
});

test('a code of a newer server counts as unavailable', () => {
  const script = new Script();
  script.connect();
  script.save();
  equal(script.refused('moonphase', 2), ['1 was refused: unavailable']);
  script.handle('credential', { credential: 'stk_1' });
  script.handle('disconnected');
  script.handle('connected');
  equal(last(script).message.body.credential, 'stk_1');
});

test('ids of the tests are ids', () => equal(numberOf(id(7)), 7));
