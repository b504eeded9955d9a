// A connection over a fake server, clock and page: reconnects, commits, requests, presence, and the graph that it keeps.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Refusal } from '../../Web/net/connection.js';
import { connected, following } from './fake-server.mjs';
import { id, image, note, set, token, update } from './script.mjs';

const key = (number) => id(number).key;
const change = (number, x, base = 1) => ({ kind: 'update', id: key(number), entity: 'Note', base, values: { x } });
const refusalOf = (promise) => promise.then(() => assert.fail('it is not refused'), (error) => {
  assert(error instanceof Refusal, String(error));
  return error;
});

test('a query is subscribed to with the first welcome, and its result is one change', async () => {
  const { server, connection, changes, states, query } = await following([image(5, 1, { text: 'one', x: 2 })]);
  assert.equal(server.socket.protocol, 'graph.1');
  assert.deepEqual(server.received('hello')[0].body.author, 'ann');
  assert.deepEqual(server.received('subscribe')[0].body.entity, note);
  assert.deepEqual(query.ids, [key(5)]);
  const { values, ...object } = connection.graph.get(key(5));
  assert.deepEqual(object, { id: key(5), entity: 'Note', revision: 1 });
  assert.deepEqual([values.text, values.x, values.board, values.tags, values.color], ['one', 2, null, [], 'yellow']);
  assert.equal(changes.length, 1);
  assert.deepEqual([...changes[0].inserted], [key(5)]);
  assert.deepEqual(states.map(({ kind }) => kind), ['connecting', 'live']);
  assert.deepEqual([states[1].user, states[1].role, states[1].head.revision], ['ann', 'editor', 1]);
});

test('a commit of another client is one change, with edits and the object before', async () => {
  const { server, connection, changes } = await following([image(5, 1, { text: 'one' }), image(6, 1)]);
  const splice = { property: 20, splice: { splices: [{ offset: 3, length: 0, insertion: '!' }] } };
  server.delta(4, 2, [update(5, [splice, set(9)], 1), { kind: 'delete', id: id(6), deleted: true }]);
  assert.equal(changes.length, 2);
  const [, { revision, author, time, changed, removed, deleted, edits, previous }] = changes;
  assert.deepEqual([revision, author, time], [2, 'bob', 5]);
  assert.deepEqual([[...changed], [...removed], [...deleted]], [[key(5)], [key(6)], [key(6)]]);
  assert.deepEqual(edits.get(key(5)), [
    { property: 'text', splices: [{ offset: 3, length: 0, insertion: '!', leftAffinity: false }] }, { property: 'x', value: 9 },
  ]);
  assert.equal(previous.get(key(5)).values.text, 'one');
  const { text, x } = connection.graph.get(key(5)).values;
  assert.deepEqual([text, x], ['one!', 9]);
  assert.equal(connection.graph.get(key(6)), undefined);
  assert.equal(connection.graph.revision, 2);
});

test('an object of two queries stays until both have lost it', async () => {
  const { server, connection, changes, query } = await following([image(5, 1)]);
  const other = connection.subscribe({ entity: 'Note', where: 'x < 1' });
  server.answer(7, [image(5, 1)], 3);
  await other.ready;
  server.delta(7, 2, [{ kind: 'delete', id: id(5) }]);
  server.delta(4, 2, [update(5, [set(3)], 1)]);
  server.advance(2);
  assert.deepEqual([...changes.at(-1).changed], [key(5)]);
  assert.deepEqual([other.ids, query.ids], [[], [key(5)]]);
  query.close();
  assert.deepEqual([...changes.at(-1).removed], [key(5)]);
  assert.equal(connection.graph.get(key(5)), undefined);
  assert.deepEqual(server.received('unsubscribe').map(({ body }) => body.query), [4]);
});

test('pauses grow to ten seconds, and begin anew after a connection that lasted', async () => {
  const { server, clock, states } = connected();
  const pauses = [];
  for (let attempt = 0; attempt < 9; attempt++) {
    const before = clock.time;
    server.lose();
    assert.equal(states.at(-1).kind, 'reconnecting');
    pauses.push(states.at(-1).retryAt - before);
    const count = server.sockets.length;
    clock.pass(pauses.at(-1) - 1);
    assert.equal(server.sockets.length, count);
    clock.pass(1);
    assert.equal(server.sockets.length, count + 1);
  }
  assert.deepEqual(pauses, [200, 400, 800, 1_600, 3_200, 6_400, 10_000, 10_000, 10_000]);
  server.welcome();
  assert.equal(states.at(-1).kind, 'live');
  // A server that welcomes and then fails at once is not asked more often.
  server.lose();
  assert.equal(states.at(-1).retryAt - clock.time, 10_000);
  clock.pass(10_000);
  server.welcome();
  clock.pass(5_000);
  server.lose();
  assert.equal(states.at(-1).retryAt - clock.time, 200);
});

test('an unanswered commit is not sent again in the session of another user', async () => {
  const { server, clock, connection, states } = connected();
  server.welcome();
  const changes = [{ kind: 'insert', id: 'temporary 1', entity: 'Note', values: { text: 'mine' } }];
  const commit = connection.commit({ changes }).then(() => assert.fail('it is committed'), (error) => error);
  assert.equal(server.received('commit').length, 1);
  server.lose();
  clock.pass(200);
  const users = [];
  connection.accepts = (welcome) => { users.push(welcome.author); return false; };
  server.welcome();
  assert.deepEqual(users, ['ann']);
  assert.equal(server.received('commit').length, 0);
  assert.equal(states.at(-1).kind, 'closed');
  assert.equal((await commit).code, 'unavailable');
  // The owner sends it again, once the user is back.
  connection.accepts = () => true;
  connection.start();
  server.welcome();
  assert.equal(server.received('commit').length, 1);
});

test('a visible page and a network that is back connect at once', () => {
  const { server, clock, page } = connected();
  for (let attempt = 0; attempt < 8; attempt++) {
    server.lose();
    clock.pass(attempt === 7 ? 0 : 10_000);
  }
  const count = server.sockets.length;
  page.visibilityState = 'hidden';
  page.dispatchEvent(new Event('visibilitychange'));
  assert.equal(server.sockets.length, count);
  page.visibilityState = 'visible';
  page.dispatchEvent(new Event('visibilitychange'));
  assert.equal(server.sockets.length, count + 1);
  server.lose();
  // Its pause is the first one again.
  clock.pass(200);
  assert.equal(server.sockets.length, count + 2);
});

test('a socket that does not open, and a server that does not answer a returning page, are given up', async () => {
  const { server, clock, page, states } = connected();
  clock.pass(10_000);
  assert.equal(states.at(-1).kind, 'reconnecting');
  clock.pass(200);
  server.welcome();
  page.dispatchEvent(new Event('visibilitychange'));
  assert.equal(server.received('ping').length, 1);
  server.send('pong', { head: token(1) }, server.received('ping')[0].request);
  clock.pass(4_000);
  assert.equal(states.at(-1).kind, 'live');
  page.dispatchEvent(new Event('visibilitychange'));
  clock.pass(4_000);
  assert.deepEqual([states.at(-1).kind, states.at(-1).message], ['reconnecting', 'the server does not answer']);
  assert(server.socket.isClosed);
});

test('an idle connection is pinged, and its silence is a state', () => {
  const { server, clock, states } = connected();
  server.welcome();
  clock.pass(15_000);
  assert.equal(server.received('ping').length, 1);
  clock.pass(5_000);
  assert.deepEqual(states.at(-1), { kind: 'reconnecting', message: 'the server does not answer' });
  server.send('pong', { head: token(1) }, 2);
  assert.equal(states.at(-1).kind, 'live');
  clock.pass(60_000);
  assert.equal(states.at(-1).kind, 'reconnecting');
  assert(states.at(-1).retryAt > 0 && server.sockets.length > 1);
});

test('a commit is kept across a lost connection, and answered once', async () => {
  const { server, clock, connection } = await following([image(5, 1)]);
  const saved = connection.commit({
    undo: { scope: 'ab'.repeat(16), group: 1, name: 'New' }, policy: 'storeTrump', changes: [
      { kind: 'insert', id: 'temporary 1', entity: 'Note', values: { x: 3, text: 'new' } }, change(5, 4),
    ],
  });
  const { transaction } = server.received('commit')[0].body;
  assert.deepEqual([transaction.policy, transaction.undo.name, transaction.changes.length], ['storeTrump', 'New', 2]);
  assert.deepEqual(transaction.changes[1].id, id(5));
  server.lose();
  clock.pass(200);
  server.welcome();
  assert.deepEqual(server.received('commit'), [], 'a query has to catch up first');
  server.send('subscribed', { query: 4, resumed: true, known: true }, 2);
  server.advance(1);
  const again = server.received('commit')[0];
  assert.deepEqual(again.body, { transaction });
  const identities = [{ temporary: { key: 'temporary 1', entity: note }, permanent: id(7) }];
  server.commit(2, again.request, { result: { identities } });
  assert.deepEqual(await saved, { revision: 2, ids: new Map([['temporary 1', key(7)]]), conflicts: [] });
  // The id can be referred to from now on, although no query has the object yet.
  assert.deepEqual(connection.graph.wireID(key(7)), id(7));
});

test('the answer to a commit brings the stored object, and its delta changes nothing', async () => {
  const { server, connection, changes } = await following([image(5, 1)]);
  const saved = connection.commit({ changes: [change(5, 4)] });
  server.commit(2, server.received('commit')[0].request, { objects: [image(5, 2, { x: 4 })], complete: true });
  assert.equal((await saved).revision, 2);
  assert.equal(connection.graph.get(key(5)).values.x, 4);
  assert.deepEqual([...changes.at(-1).changed], [key(5)]);
  server.delta(4, 2, [update(5, [set(4)], 1)]);
  assert.equal(changes.at(-1).changed.size, 0);
});

test('the answer to a commit removes the objects that a delete rule took along', async () => {
  const { server, connection, changes, query } = await following([image(5, 1), image(6, 1), image(7, 1)]);
  const window = connection.subscribe({ entity: 'Note', window: { sort: 'x', offset: 0, limit: 3 } });
  const [{ request }] = server.received('subscribe').slice(-1);
  server.send('subscribed', { query: 5, known: true }, request);
  server.send('chunk', { objects: [5, 6, 7].map((each) => image(each, 1)), last: true, at: token(1), count: 3, total: { count: 3 } }, request);
  server.advance(1);
  await window.ready;
  assert.deepEqual(window.ids, [5, 6, 7].map(key));
  const saved = connection.commit({ changes: [{ kind: 'delete', id: key(5), entity: 'Note', base: 1 }] });
  server.commit(3, server.received('commit')[0].request, { deleted: [id(5), id(6)], complete: true });
  assert.equal((await saved).revision, 3);
  const { revision, removed, deleted, previous } = changes.at(-1);
  assert.deepEqual([revision, [...removed], [...deleted]], [3, [key(5), key(6)], [key(5), key(6)]]);
  assert.equal(previous.get(key(6)).id, key(6));
  assert.deepEqual([query.ids, window.ids, connection.graph.get(key(6))], [[key(7)], [key(7)], undefined]);
  // An older delta does not bring them back, and that of the commit removes nothing again.
  server.delta(4, 2, [update(6, [set(9)], 1), { kind: 'insert', object: image(5, 2, { x: 3 }) }, { kind: 'insert', object: image(8, 2) }]);
  server.delta(5, 2, [{ kind: 'insert', object: image(8, 2), index: { count: 2 } }]);
  server.advance(2);
  assert.equal(changes.at(-1).revision, 2);
  assert.deepEqual([query.ids, window.ids, connection.graph.get(key(5))], [[key(7), key(8)], [key(8), key(7)], undefined]);
  const deletes = [5, 6].map((each) => ({ kind: 'delete', id: id(each), deleted: true }));
  for (const number of [4, 5]) server.delta(number, 3, deletes);
  server.advance(3);
  assert.deepEqual([changes.at(-1).revision, changes.at(-1).removed.size], [3, 0]);
  assert.deepEqual([query.ids, window.ids], [[key(7), key(8)], [key(8), key(7)]]);
  // A restore does.
  server.delta(4, 4, [{ kind: 'insert', object: image(6, 4) }]);
  server.advance(4);
  assert.deepEqual([query.ids, [...changes.at(-1).inserted]], [[key(7), key(8), key(6)], [key(6)]]);
});

test('an object that was restored before the answer to its delete stays', async () => {
  const { server, connection, changes } = await following([image(5, 1)]);
  const saved = connection.commit({ changes: [{ kind: 'delete', id: key(5), entity: 'Note', base: 1 }] });
  server.delta(4, 2, [{ kind: 'delete', id: id(5), deleted: true }]);
  server.delta(4, 3, [{ kind: 'insert', object: image(5, 3) }]);
  const count = changes.length;
  server.commit(2, server.received('commit')[0].request, { deleted: [id(5)], complete: true });
  assert.equal((await saved).revision, 2);
  assert.deepEqual([connection.graph.get(key(5)).revision, changes.length], [3, count]);
});

test('a refusal names the values by name', async () => {
  const { server, connection } = await following([image(5, 1)]);
  const promise = refusalOf(connection.commit({ changes: [change(5, 4)] }));
  const conflict = { kind: 'changed', id: id(5), property: 23, mine: { double: 4 }, theirs: { double: 9 }, author: 'bob', revision: 2 };
  const violation = { id: id(5), property: 20, rule: 'maximumLength', value: { string: 'x' }, message: 'too long' };
  const body = { code: 'conflict', message: 'changed', conflicts: [conflict], violations: [violation] };
  server.send('refused', body, server.received('commit')[0].request);
  const refusal = await promise;
  assert.deepEqual([refusal.code, refusal.message, refusal.outcomeUnknown], ['conflict', 'changed', false]);
  assert.deepEqual(refusal.conflicts, [{
    kind: 'changed', id: key(5), entity: 'Note', property: 'x', mine: 4, theirs: 9, author: 'bob', revision: 2, mineWon: false,
    collateral: false,
  }]);
  assert.deepEqual(refusal.violations, [
    { id: key(5), entity: 'Note', property: 'text', rule: 'maximumLength', value: 'x', message: 'too long' },
  ]);
});

test('what a handler sends leaves in the order of numbers, and its error stops nothing', async () => {
  const { server, clock, connection } = await following([image(5, 1)]);
  const saved = [];
  connection.onchange = ({ revision }) => {
    saved.push(connection.commit({ changes: [change(5, revision, revision)] }).catch(() => {}));
    throw new Error('a mistake of the owner');
  };
  for (let revision = 2; revision < 6; revision++) server.delta(4, revision, [update(5, [set(revision)], revision - 1)]);
  assert.equal(server.received('commit').length, 4);
  assert.equal(connection.graph.get(key(5)).values.x, 5);
  // The error is reported, as one of the page.
  assert.throws(() => clock.pass(1), { message: 'a mistake of the owner' });
});

test('a message that is not understood ends the connection', async () => {
  const { server, clock, states } = await following([image(5, 1)]);
  server.socket.onmessage({ data: Uint8Array.of(0x2a, 2, 16, 1).buffer });
  assert.match(states.at(-1).message, /ToClient.chunk: at is missing/);
  clock.pass(200);
  server.welcome();
  server.socket.onmessage({ data: 'text' });
  assert.match(states.at(-1).message, /it is text/);
});

test('a connection that is refused for good does not try again', async () => {
  const { server, clock, connection, states } = await following([image(5, 1)]);
  const promise = refusalOf(connection.commit({ changes: [change(5, 4)] }));
  server.send('close', { code: 'notAllowed', message: 'the token has expired' });
  assert.deepEqual(states.at(-1), { kind: 'refused', code: 'notAllowed', message: 'the token has expired' });
  // The session is refused, and not the commit.
  assert.equal((await promise).code, 'unavailable');
  clock.pass(100_000);
  assert.equal(server.sockets.length, 1);
  // Such as after a new login.
  connection.start();
  assert.equal(server.sockets.length, 2);
});

test('a change beyond the limit of the server is refused here', async () => {
  const { server, connection } = await following([image(5, 1)]);
  server.maximumFrame = 1 << 20;
  const values = { text: 'x'.repeat(1 << 20) };
  const promise = refusalOf(connection.commit({ changes: [{ kind: 'update', id: key(5), entity: 'Note', base: 1, values }] }));
  assert.equal((await promise).code, 'limit');
  assert.deepEqual(server.received('commit'), []);
  const next = connection.commit({ changes: [change(5, 4)] });
  server.commit(2, server.received('commit')[0].request);
  assert.equal((await next).revision, 2);
});

test('a mistake of the caller rejects, and sends nothing', async () => {
  const { server, connection } = await following([image(5, 1)]);
  const wrong = [
    { kind: 'update', id: key(5), entity: 'Note', values: { colour: 1 } }, { kind: 'insert', id: 'temporary 1', entity: 'Nota' },
  ];
  for (const each of wrong) await assert.rejects(connection.commit({ changes: [each] }), /has no/);
  await assert.rejects(connection.valueOrigin(key(9), 'x'), /is not known/);
  assert.equal(server.socket.received.length, 2);
});

test('a store that was restored hands its changes back, and the result is replaced', async () => {
  const { server, clock, connection, changes } = await following([image(5, 8, { x: 8 }), image(6, 1)]);
  let hasDiverged = false;
  connection.ondiverged = () => { hasDiverged = true; };
  server.lose();
  const promise = refusalOf(connection.commit({ changes: [change(5, 4, 8)] }));
  clock.pass(200);
  server.head = 3;
  server.welcome();
  server.send('subscribed', { query: 9 }, 2);
  assert(hasDiverged);
  assert.equal(connection.graph.get(key(5)).values.x, 8);
  server.send('chunk', { objects: [image(5, 2, { x: 2 })], last: true, at: token(3), count: 1 }, 2);
  server.advance(3);
  assert.equal((await promise).code, 'outdated');
  const { revision, values } = connection.graph.get(key(5));
  assert.deepEqual([revision, values.x], [2, 2]);
  const { changed, removed } = changes.at(-1);
  assert.deepEqual([[...changed], [...removed]], [[key(5)], [key(6)]]);
});

test('a copy takes a new id, and commits under it', async () => {
  const { server, clock, connection } = connected();
  const identities = [];
  connection.onidentity = ({ replica }) => identities.push(replica);
  server.lastSequence = 7;
  server.welcome();
  assert.deepEqual(identities, ['00000000000000000000000000000008']);
  server.lastSequence = 0;
  clock.pass(200);
  server.welcome();
  assert.equal(server.received('hello')[0].body.replica, identities[0]);
  const saved = connection.commit({ changes: [{ kind: 'insert', id: 'temporary 1', entity: 'Note' }] });
  assert.deepEqual(server.received('commit')[0].body.transaction.id, { replica: identities[0], sequence: 1 });
  server.commit(1, server.received('commit')[0].request);
  await saved;
});

test('a fetch asks for each further part', async () => {
  const { server, connection } = await following([]);
  const fetched = connection.fetch({ entity: 'Note', where: 'x > 1', sort: 'x', limit: 2, at: 7 });
  const { request, body } = server.received('fetch')[0];
  assert.deepEqual([body.predicate, body.sort, body.limit, body.at], ['x > 1', 'x', 2, { revision: 7 }]);
  server.send('chunk', { objects: [image(5, 1)] }, request);
  assert.deepEqual(server.received('more').map(({ body }) => body.request), [request]);
  server.send('chunk', { objects: [image(6, 1)], last: true, at: token(7), count: 2, next: Uint8Array.of(1) }, request);
  const { objects, count, next, at } = await fetched;
  assert.deepEqual(objects.map(({ id }) => id), [key(5), key(6)]);
  assert.deepEqual([count, next, at.revision], [2, Uint8Array.of(1), 7]);
  server.lose();
  assert.equal((await refusalOf(connection.undoState())).code, 'unavailable');
});

test('undo and restore count with commits', async () => {
  const { server, connection } = await following([image(5, 1)]);
  connection.commit({ sequence: 5, changes: [change(5, 4)] }).catch(() => {});
  const undone = connection.undo({ scope: 'ab'.repeat(16) });
  connection.restore({ revision: 1, id: key(5), contents: true }).catch(() => {});
  assert.deepEqual(server.received('undo')[0].body, {
    id: { replica: connection.identity.replica, sequence: 6 }, revision: 0, scope: 'ab'.repeat(16), redo: false,
  });
  const { body } = server.received('restore')[0];
  assert.deepEqual([body.id.sequence, body.revision, body.scope, body.object], [7, 1, 'contents', id(5)]);
  assert.equal(connection.identity.lastSequence, 7);
  const stays = { kind: 'changed', id: id(5), property: 23, author: 'bob', revision: 2 };
  server.commit(3, server.received('undo')[0].request, { result: { conflicts: [stays] } });
  assert.equal((await undone).conflicts[0].property, 'x');
});

test('a window has its rows in order', async () => {
  const { server, connection, changes } = connected();
  server.welcome();
  const query = connection.subscribe({ entity: 'Note', window: { sort: 'x', offset: 0, limit: 3 } });
  const request = server.received('subscribe')[0].request;
  server.send('subscribed', { query: 4 }, request);
  const objects = [1, 2, 3].map((number) => image(number, 1));
  server.send('chunk', { objects, last: true, at: token(1), count: 3, total: { count: 9 } }, request);
  server.advance(1);
  await query.ready;
  assert.deepEqual([query.ids, query.total], [[1, 2, 3].map(key), 9]);
  server.send('delta', {
    query: 4, revision: 2, fingerprint: token(2).fingerprint, total: { count: 10 }, changes: [
      { kind: 'delete', id: id(3) }, { kind: 'insert', object: image(7, 2), index: { count: 0 } },
    ],
  });
  assert.deepEqual([query.ids, query.total], [[7, 1, 2].map(key), 10]);
  assert.deepEqual([[...changes.at(-1).inserted], [...changes.at(-1).removed]], [[key(7)], [key(3)]]);
  query.move(1, 3);
  assert.deepEqual(server.received('moveWindow')[0].body, { query: 4, offset: 1, limit: 3 });
  server.send('windowMoved', { query: 5, rows: [1, 2, 4].map(id), objects: [image(4, 1)], total: 10, at: token(2) },
    server.received('moveWindow')[0].request);
  server.advance(2);
  assert.deepEqual(query.ids, [1, 2, 4].map(key));
  assert.deepEqual([connection.graph.get(key(7)), connection.graph.get(key(4)).revision], [undefined, 1]);
});

test('presence is sent again after a reconnect, and others are forgotten meanwhile', () => {
  const { server, clock, connection } = connected();
  const lists = [];
  connection.onpresence = (list) => lists.push(list);
  connection.presence({ v: 1, board: 'b' });
  server.welcome();
  assert.deepEqual(JSON.parse(new TextDecoder().decode(server.received('presence')[0].body.state)), { v: 1, board: 'b' });
  const state = new TextEncoder().encode('{"v":1,"x":5}');
  server.send('presence', { session: 7, author: 'bob', state });
  server.send('presence', { session: 8, author: 'eve', state: Uint8Array.of(255) });
  assert.deepEqual(lists.at(-1), [
    { session: 7, author: 'bob', state: { v: 1, x: 5 } }, { session: 8, author: 'eve', state: null },
  ]);
  server.send('presence', { session: 8, author: 'eve', left: true });
  assert.equal(lists.at(-1).length, 1);
  server.lose();
  assert.deepEqual(lists.at(-1), []);
  clock.pass(200);
  server.welcome();
  assert.equal(server.received('presence').length, 1);
});

test('a stopped connection stays closed', async () => {
  const { server, clock, page, connection, states } = await following([image(5, 1)]);
  const promise = refusalOf(connection.commit({ changes: [change(5, 4)] }));
  connection.stop();
  assert.equal((await promise).code, 'unavailable');
  assert(server.socket.isClosed);
  assert.equal(states.at(-1).kind, 'closed');
  page.dispatchEvent(new Event('visibilitychange'));
  clock.pass(100_000);
  assert.equal(server.sockets.length, 1);
});

test('a query that is refused later loses its objects', async () => {
  const { server, clock, connection, changes, query } = await following([image(5, 1)]);
  server.lose();
  clock.pass(200);
  server.welcome();
  server.send('refused', { code: 'limit', message: 'too many queries' }, 2);
  assert.deepEqual([...changes.at(-1).removed], [key(5)]);
  assert.equal(connection.graph.get(key(5)), undefined);
  assert.deepEqual([query.refusal.code, query.ids], ['limit', []]);
});

test('a handler that closes a query gets nothing more of it', async () => {
  const { server, connection } = await following([image(5, 1)]);
  const other = connection.subscribe({ entity: 'Note', where: 'x < 1' });
  connection.onchange = () => other.close();
  server.delta(4, 2, [update(5, [set(3)], 1)]);
  server.answer(7, [image(5, 2), image(6, 2)], 3);
  assert.deepEqual([...connection.graph.entries.keys()], [key(5)]);
});

test('an object that changes and leaves in one commit is only removed', async () => {
  const { server, connection, changes } = await following([image(5, 1)]);
  server.send('delta', {
    query: 4, revision: 2, author: 'bob', fingerprint: token(2).fingerprint,
    changes: [update(5, [set(3)], 1), { kind: 'delete', id: id(5) }],
  });
  const { changed, removed, edits } = changes.at(-1);
  assert.deepEqual([[...changed], [...removed], edits.size], [[], [key(5)], 0]);
  assert.equal(connection.graph.get(key(5)), undefined);
});

test('other rights are a state, and show what became visible at the same revision', async () => {
  const { server, connection, changes, states } = await following([image(5, 1), image(6, 1)]);
  server.send('rights', { grants: [{ role: 'reader' }, { role: 'commenter' }] });
  assert.deepEqual([states.at(-1).kind, states.at(-1).role], ['live', 'commenter']);
  server.send('reset', { query: 4, reason: 'other rights' });
  const seen = image(5, 1);
  seen.values[0] = { object: { key: id(9).key, entity: 1 } };
  server.answer(8, [seen, image(6, 1)], 2, 2);
  assert.equal(connection.graph.get(key(5)).values.board, key(9));
  assert.deepEqual([...changes.at(-1).changed], [key(5)]);
  server.send('rights', { grants: [] });
  assert.equal(states.at(-1).role, 'owner');
});

test('each commit is announced before the next one is applied', async () => {
  const { server, connection } = await following([image(5, 1)]);
  const other = connection.subscribe({ entity: 'Note', where: 'x < 1' });
  server.answer(7, [], 3);
  await other.ready;
  const seen = [];
  connection.onchange = ({ revision, inserted }) =>
    seen.push([revision, connection.graph.revision, [...inserted].every((id) => connection.graph.get(id))]);
  server.delta(4, 2, [{ kind: 'insert', object: image(6, 2) }]);
  server.delta(4, 3, [{ kind: 'delete', id: id(6), deleted: true }]);
  assert.deepEqual(seen, []);
  server.advance(3);
  assert.deepEqual(seen, [[2, 2, true], [3, 3, true]]);
});

test('a refused query rejects', async () => {
  const { server, connection } = connected();
  server.welcome();
  const query = connection.subscribe({ entity: 'Note', where: 'colour == 1' });
  server.send('refused', { code: 'malformed', message: 'there is no colour' }, server.received('subscribe')[0].request);
  assert.equal((await refusalOf(query.ready)).code, 'malformed');
  assert.equal(query.refusal.message, 'there is no colour');
});
