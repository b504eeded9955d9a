import assert from 'node:assert/strict';
import test from 'node:test';
import { change, fromForm, idHex, idText, merge, toForm, toTransaction } from '../../Web/keep/queue.js';
import { memoryStorage, Unsent } from '../../Web/keep/storage.js';
import { FakeClock, FakeServer, settle } from './fakes.mjs';

const scope = idText('0123456789abcdef0123456789abcdef');
const undo = (group, name = 'Edit') => ({ scope, group, name });

function insert(name, set) { return { ...change('insert', name), set }; }
function set(object, base, values) { return { ...change('update', object, base), set: values }; }
function type(object, base, before, offset, insertion) {
  return { ...change('update', object, base), texts: { text: { before, base, splices: [{ offset, length: 0, insertion }] } } };
}

/** A tab: its queue over a storage that tabs share, and a server. */
function tab(server, entries, replica, { clock = new FakeClock(), isLive = true, storage = memoryStorage(entries), user = 'ann', ended = [] } = {}) {
  let sequence = 0;
  const made = new Unsent({
    storage, owner: { store: 's', user, replica: idText(replica.repeat(32)) }, author: user, clock,
    model: { name: 'Stickies', version: 1, hash: 'ab'.repeat(16) }, commit: async (transaction, from) => server.commit(transaction, from, user),
    nextSequence: () => (sequence += 1),
    tabs: { hold: () => {}, ended: (name, body) => { ended.push(body); }, close: () => {} },
  });
  made.isLive = isLive;
  made.clock = clock;
  return made;
}

const newNote = (text) => insert('Note/new:1.1', { text });
const newLink = insert('Link/new:2.2', { from: 'Note/new:1.1', to: 'Note/x' });

/** A tab that has made edits, each a step, without a connection: they wait in the storage. */
async function awayTab(...edits) {
  const [server, entries] = [new FakeServer(), new Map()];
  const ann = tab(server, entries, '1', { isLive: false });
  edits.forEach((each, index) => ann.add([each], undo(index + 1)));
  await settle();
  return { server, entries, ann };
}

/** A storage in which each change that moves edits to another tab waits until its entry of `waiting` is called. */
function storageWithHeldMoves(entries) {
  const inner = memoryStorage(entries);
  const waiting = [];
  const hold = (given) => new Promise((resolve) => { waiting.push(() => resolve(inner.change(given))); });
  return { waiting, storage: { ...inner, change: (given) => given.ifPresent?.length > 0 ? hold(given) : inner.change(given) } };
}

/** Two more tabs, which look for ended ones, and the work that each finds. */
async function twoTabs(server, entries, clock, storage = memoryStorage(entries)) {
  const [one, two] = [[], []];
  const second = tab(server, entries, '2', { clock, storage, ended: one });
  const third = tab(server, entries, '3', { clock, ended: two });
  await second.start();
  await third.start();
  return { second, one, two };
}

test('an id has the text form of the protocol', () => {
  assert.equal(idText('0123456789abcdeffedcba9876543210'), 'sxq5tk1v58cgg04hmasw9nf6yy');
  assert.equal(idHex('sxq5tk1v58cgg04hmasw9nf6yy'), '0123456789abcdeffedcba9876543210');
});

test('changes of one step become one', () => {
  const typed = merge([insert('Note/new:1.1', { text: 'a' })], [type('Note/new:1.1', undefined, 'a', 1, 'b')]);
  assert.equal(typed[0].set.text, 'ab');
  const moved = merge([set('Note/a', 3, { x: 1 })], [set('Note/a', 4, { x: 2, y: 3 })]);
  assert.deepEqual(moved, [set('Note/a', 3, { x: 2, y: 3 })]);
  const gone = merge([insert('Note/new:1.1', {}), insert('Link/new:1.2', { from: 'Note/new:1.1', to: 'Note/a' })], [change('delete', 'Note/new:1.1')]);
  assert.deepEqual(gone, []);
  const tags = merge([{ ...change('update', 'Note/a', 1), members: { tags: { add: ['Tag/x'], remove: [] } } }],
    [{ ...change('update', 'Note/a', 1), members: { tags: { add: [], remove: ['Tag/x'] } } }]);
  assert.deepEqual(tags[0].members.tags, { add: [], remove: ['Tag/x'] });
});

test('the form is read as it was written', () => {
  const intent = {
    number: 3, transaction: { replica: scope, sequence: 9 }, author: 'ann', made: '2026-11-28T20:00:00.000Z', policy: 'objectTrump',
    undo: undo(4), state: 'queued', version: 1, model: undefined, left: undefined, parked: undefined,
    changes: [
      insert('Note/new:3.1', { text: 'ש\0🎉', board: 'Board/b' }), type('Note/a', 5, 'é🎉', 3, '漢'), set('Note/c', 7, { x: 1.5 }),
      { ...change('update', 'Note/d', 2), set: { color: 'red' }, texts: { text: { before: 'x', splices: [{ offset: 1, length: 0, insertion: 'y', continues: true }] } } },
      change('delete', 'Note/e', 8),
    ],
  };
  const { form, before } = JSON.parse(JSON.stringify(toForm(intent)));
  assert.deepEqual(form.changes[1].edits[0].splices, [{ offset: 6, length: 0, insertion: '漢' }]);
  assert.equal(form.changes[3].edits[1].before, 'x');
  assert.deepEqual(fromForm(form, before), intent);
  assert.throws(() => fromForm({ ...form, format: 2 }, before), /format 2/);
});

test('a text that looks like a reference stays a text', () => {
  const intent = { ...base(), changes: [insert('Note/new:1.1', { text: 'Note/new:1.1', board: 'Board/b' })] };
  const { transaction } = toTransaction(intent);
  assert.deepEqual(transaction.changes[0].values, { text: 'Note/new:1.1', board: { id: 'b', entity: 'Board' } });
  assert.equal(transaction.changes[0].id, 'temporary 1');
});

function base() {
  return { number: 1, transaction: { replica: scope, sequence: 1 }, author: 'ann', made: '', policy: 'error', undo: undo(1), state: 'queued', version: 1 };
}

test('an edit is stored before it is sent, and removed after its answer', async () => {
  const server = new FakeServer();
  const entries = new Map();
  const seen = [];
  const ann = tab(server, entries, '1');
  const commit = server.commit.bind(server);
  server.commit = (...given) => {
    seen.push([...entries.values()].map((each) => each.form.state));
    return commit(...given);
  };
  ann.add([insert('Note/new:1.1', { text: 'milk' })], undo(1));
  assert.equal(ann.queue.unsent, 1);
  await settle();
  assert.deepEqual(seen, [['left']]);
  assert.deepEqual(server.texts(), ['milk']);
  assert.equal(entries.size, 0);
  assert.equal(ann.queue.unsent, 0);
});

test('one write of a note is in flight, with the newest behind it', async () => {
  const server = new FakeServer();
  const id = server.insert('Note', { x: 0 });
  const clock = new FakeClock();
  const waiting = [];
  const ann = tab(server, new Map(), '1', { clock });
  const commit = server.commit.bind(server);
  const sent = [];
  server.commit = (transaction, ...rest) => {
    sent.push(transaction.changes[0].values.x);
    return new Promise((resolve) => waiting.push(() => resolve(commit(transaction, ...rest))));
  };
  for (let x = 1; x <= 40; x += 1) ann.add([set(`Note/${id}`, 1, { x })], undo(1, 'Move'));
  await clock.pass(1000);
  assert.deepEqual(sent, [1]);
  waiting.shift()();
  await clock.pass(1000);
  assert.deepEqual(sent, [1, 40]);
  waiting.shift()();
  await clock.pass(2000);
  assert.equal(server.objects.get(id).values.x, 40);
  assert.equal(ann.queue.entries.length, 0);
});

test('an edit of a note that is being made waits for its id', async () => {
  const server = new FakeServer();
  const clock = new FakeClock();
  const ann = tab(server, new Map(), '1', { clock });
  const renamed = [];
  ann.onchange = (_, names) => renamed.push(...names);
  ann.add([insert('Note/new:1.1', { text: 'a' })], undo(1));
  ann.add([type('Note/new:1.1', undefined, 'a', 1, 'b')], undo(2));
  await clock.pass(3000);
  assert.deepEqual(server.texts(), ['ab']);
  assert.equal(renamed.length, 1);
});

test('of two edits of a text that is being made, the first is based on its commit', async () => {
  const server = new FakeServer();
  const waiting = [];
  const ann = tab(server, new Map(), '1');
  const commit = server.commit.bind(server);
  server.commit = (...given) => new Promise((resolve) => waiting.push(() => resolve(commit(...given))));
  ann.isReady = () => false;
  ann.isLive = true;
  ann.add([insert('Note/new:1.1', { text: 'a' })], undo(1));
  ann.isReady = (intent) => intent.changes.every((each) => each.kind === 'insert');
  ann.pump();
  ann.add([type('Note/new:1.1', undefined, 'a', 1, 'b')], undo(2));
  ann.add([type('Note/new:1.1', undefined, 'ab', 2, 'c')], undo(3));
  await settle();
  waiting.shift()();
  await settle();
  assert.deepEqual(ann.queue.entries.slice(-2).map((each) => each.changes[0].texts.text.base), [1, undefined]);
});

test('a refused edit is parked and holds up only what needs it', async () => {
  const server = new FakeServer();
  const entries = new Map();
  const clock = new FakeClock();
  const ann = tab(server, entries, '1', { clock });
  server.refuse = (transaction) => transaction.changes.some((each) => each.values?.text === 'bad')
    && { code: 'invalid', message: 'the text is too long', violations: [{ id: 'temporary 1', entity: 'Note', property: 'text', rule: 'maximumLength' }] };
  ann.add([insert('Note/new:1.1', { text: 'bad' })], undo(1));
  ann.add([insert('Link/new:2.2', { from: 'Note/new:1.1', to: 'Note/a' })], undo(2));
  ann.add([insert('Note/new:3.3', { text: 'good' })], undo(3));
  await clock.pass(3000);
  assert.deepEqual(server.texts(), ['good']);
  assert.equal(ann.queue.unsent, 0);
  const [bad, link] = ann.conflicts(() => '+1');
  assert.deepEqual([bad.property, bad.mine, bad.reason, bad.number], ['text', 'bad', 'the text is too long', '+1']);
  assert.match(link.reason, /needs something/);
  assert.equal(entries.size, 2);
  server.refuse = null;
  ann.retry(Number(bad.key), server.revision);
  await clock.pass(3000);
  assert.deepEqual(server.texts(), ['bad', 'good']);
  assert.equal([...server.objects.values()].filter((each) => each.entity === 'Link').length, 1);
  assert.equal(entries.size, 0);
});

test('a discarded edit is gone with those that need it', async () => {
  const server = new FakeServer();
  const entries = new Map();
  const clock = new FakeClock();
  const ann = tab(server, entries, '1', { clock });
  server.refuse = () => ({ code: 'notAllowed', message: 'your role does not allow it' });
  ann.add([insert('Note/new:1.1', { text: 'a' })], undo(1));
  ann.add([insert('Link/new:2.2', { from: 'Note/new:1.1', to: 'Note/x' })], undo(2));
  await clock.pass(100);
  assert.equal(ann.queue.parked.size, 2);
  ann.discard(1);
  await settle();
  assert.equal(ann.queue.parked.size + entries.size, 0);
});

test('an edit made offline loses to a newer value, and both are shown', async () => {
  const server = new FakeServer();
  const id = server.insert('Note', { color: 'yellow', text: 'milk' });
  const clock = new FakeClock();
  const entries = new Map();
  const ann = tab(server, entries, '1', { clock, isLive: false });
  ann.add([set(`Note/${id}`, 1, { color: 'red', pinned: true })], undo(1));
  server.commit({ sequence: 1, policy: 'error', changes: [{ kind: 'update', id, entity: 'Note', base: 1, values: { color: 'blue' } }] }, 'bob', 'bob');
  ann.isLive = true;
  ann.pump();
  await clock.pass(2000);
  assert.equal(server.objects.get(id).values.color, 'blue');
  assert.equal(server.objects.get(id).values.pinned, true);
  const [lost] = ann.conflicts(() => 1);
  assert.deepEqual([lost.property, lost.mine, lost.theirs, lost.author], ['color', 'red', 'blue', 'bob']);
  assert.equal(entries.size, 1);
  ann.retry(Number(lost.key), server.revision);
  await clock.pass(2000);
  assert.equal(server.objects.get(id).values.color, 'red');
  assert.equal(entries.size, 0);
});

test('two lost moves of a note are one conflict', async () => {
  const server = new FakeServer();
  const id = server.insert('Note', { x: 0, y: 0 });
  const clock = new FakeClock();
  const entries = new Map();
  const ann = tab(server, entries, '1', { clock, isLive: false });
  ann.add([set(`Note/${id}`, 1, { x: 5, y: 5 })], undo(1));
  ann.add([set(`Note/${id}`, 1, { color: 'red' })], undo(2));
  ann.add([set(`Note/${id}`, 1, { x: 7, y: 7 })], undo(3));
  server.commit({ sequence: 1, policy: 'error', changes: [{ kind: 'update', id, entity: 'Note', base: 1, values: { x: 9, y: 9, color: 'blue' } }] }, 'bob', 'bob');
  ann.isLive = true;
  ann.pump();
  await clock.pass(5000);
  assert.deepEqual(ann.conflicts(() => 1).map((each) => [each.property, each.mine, each.theirs]),
    [['color', 'red', 'blue'], ['place', { x: 7, y: 7 }, { x: 9, y: 9 }]]);
  assert.equal(entries.size, 2);
});

test('an edit of a deleted note is kept with its text', async () => {
  const server = new FakeServer();
  const id = server.insert('Note', { text: 'milk' });
  const clock = new FakeClock();
  const ann = tab(server, new Map(), '1', { clock, isLive: false });
  ann.add([type(`Note/${id}`, 1, 'milk', 4, ' and bread')], undo(1));
  server.commit({ sequence: 1, policy: 'error', changes: [{ kind: 'delete', id, entity: 'Note', base: 1 }] }, 'bob', 'bob');
  ann.isLive = true;
  ann.pump();
  await clock.pass(2000);
  const [lost] = ann.conflicts(() => 1);
  assert.deepEqual([lost.kind, lost.mine, lost.author], ['deleted', 'milk and bread', 'bob']);
});

test('a server that is not available is asked again under the same id', async () => {
  const server = new FakeServer();
  const clock = new FakeClock();
  const ann = tab(server, new Map(), '1', { clock });
  const sequences = [];
  let isBusy = true;
  server.refuse = (transaction) => {
    sequences.push(transaction.sequence);
    return isBusy && { code: 'unavailable', message: 'the disk is full', outcomeUnknown: true };
  };
  ann.add([insert('Note/new:1.1', { text: 'a' })], undo(1));
  await clock.pass(2500);
  isBusy = false;
  await clock.pass(2500);
  assert.deepEqual(sequences, [1, 1, 1].slice(0, sequences.length));
  assert.ok(sequences.length >= 2);
  assert.deepEqual(server.texts(), ['a']);
});

test('a step that has not left is undone here', async () => {
  const server = new FakeServer();
  const entries = new Map();
  const ann = tab(server, entries, '1', { isLive: false });
  ann.add([insert('Note/new:1.1', { text: 'a' })], undo(1, 'New Note'));
  ann.add([insert('Note/new:2.2', { text: 'b' })], undo(2, 'New Note'));
  await settle();
  assert.equal(ann.withdraw().name, 'New Note');
  await settle();
  assert.equal(ann.queue.unsent, 1);
  assert.equal(entries.size, 1);
  ann.withdraw();
  assert.equal(ann.withdraw(), null);
});

test('a request behind edits waits for them, and later edits for it', async () => {
  const server = new FakeServer();
  const clock = new FakeClock();
  const order = [];
  const ann = tab(server, new Map(), '1', { clock });
  server.refuse = (transaction) => void order.push(transaction.changes[0].values.text);
  ann.add([insert('Note/new:1.1', { text: 'a' })], undo(1));
  const request = ann.after(async () => { order.push('undo'); });
  ann.add([insert('Note/new:2.2', { text: 'b' })], undo(2));
  await clock.pass(2000);
  await request;
  assert.deepEqual(order, ['a', 'undo', 'b']);
});

test('a full disk is said, and the edit is sent anyway', async () => {
  const server = new FakeServer();
  const storage = { change: async () => { throw new Error('QuotaExceededError'); }, list: async () => [], close: () => {} };
  const ann = tab(server, new Map(), '1', { storage });
  let calls = 0;
  ann.onstatus = () => { calls += 1; };
  ann.add([insert('Note/new:1.1', { text: 'a' })], undo(1));
  await settle();
  assert.equal(ann.isFull, true);
  assert.ok(calls > 0);
  assert.deepEqual(server.texts(), ['a']);
});

test('an edit that the disk refused at first is not taken for one of another tab', async () => {
  const server = new FakeServer();
  const entries = new Map();
  const inner = memoryStorage(entries);
  let isFull = true;
  const storage = { ...inner, change: async (given) => { if (isFull) throw new Error('full'); return inner.change(given); } };
  const ann = tab(server, entries, '1', { storage, isLive: false });
  ann.add([insert('Note/new:1.1', { text: 'a' })], undo(1));
  await settle();
  assert.equal(ann.isFull, true);
  isFull = false;
  ann.isLive = true;
  ann.pump();
  await settle();
  assert.deepEqual(server.texts(), ['a']);
  assert.equal(ann.isFull, false);
});

test('edits of another user are neither shown nor sent', async () => {
  const { server, entries } = await awayTab(newNote('secret'));
  const ended = [];
  const bob = tab(server, entries, '2', { user: 'bob', ended });
  await bob.start();
  assert.equal(ended.length, 0);
  assert.equal(bob.exported(), '');
  assert.deepEqual(server.texts(), []);
});

test('the edits of an ended tab are taken over once', async () => {
  const { server, entries, ann } = await awayTab(newNote('a'), newLink);
  const clock = new FakeClock();
  const { one, two } = await twoTabs(server, entries, clock);
  await Promise.all([one[0](), two[0]()]);
  await clock.pass(5000);
  assert.deepEqual(server.texts(), ['a']);
  assert.equal([...server.objects.values()].filter((each) => each.entity === 'Link').length, 1);
  assert.equal(entries.size, 0);
  // The first tab was only frozen: it finds that its edits are no longer its own.
  ann.isLive = true;
  ann.pump();
  await ann.clock.pass(5000);
  assert.deepEqual(server.texts(), ['a']);
  assert.equal(ann.queue.entries.length, 0);
});

test('the edits of an ended tab are taken over once, although it is looked for twice', async () => {
  const { server, entries } = await awayTab(newNote('a'));
  const clock = new FakeClock();
  const inner = memoryStorage(entries);
  const waiting = [];
  const storage = { ...inner, change: (given) => new Promise((resolve) => { waiting.push(() => resolve(inner.change(given))); }) };
  const ended = [];
  const second = tab(server, entries, '2', { clock, storage, ended });
  await second.start();
  const adopted = ended.splice(0).map((body) => body());
  await settle();
  await second.follow();
  adopted.push(...ended.splice(0).map((body) => body()));
  await settle();
  assert.equal(adopted.length, 1);
  for (let round = 0; round < 20; round += 1) {
    for (const each of waiting.splice(0)) each();
    await clock.pass(200);
  }
  await Promise.all(adopted);
  assert.deepEqual(server.texts(), ['a']);
  assert.equal(entries.size, 0);
});

test('the edits of an ended tab wait while the storage refuses to move them, and are sent once', async () => {
  const { server, entries } = await awayTab(newNote('a'));
  const inner = memoryStorage(entries);
  let isFull = true;
  const refuse = (given) => isFull && given.ifPresent?.length > 0;
  const storage = { ...inner, change: async (given) => { if (refuse(given)) throw new Error('QuotaExceededError'); return inner.change(given); } };
  const clock = new FakeClock();
  const [ended, notices] = [[], []];
  const second = tab(server, entries, '2', { clock, storage, ended });
  second.onnotice = (message) => notices.push(message);
  await second.start();
  await ended.shift()();
  await clock.pass(31_000);
  await ended.shift()();
  await clock.pass(1000);
  assert.deepEqual([server.texts(), second.queue.entries.length, entries.size, notices.length], [[], 0, 1, 1]);
  assert.equal(second.isFull, true);
  isFull = false;
  await clock.pass(31_000);
  await ended.shift()();
  await clock.pass(5000);
  assert.deepEqual([server.texts(), entries.size, second.isFull], [['a'], 0, false]);
  const third = tab(server, entries, '3', { clock, ended });
  await third.start();
  assert.equal(ended.length, 0);
});

test('edits of an ended tab are not sent before they are this tab’s in the storage', async () => {
  const { server, entries } = await awayTab(newNote('a'));
  const { waiting, storage } = storageWithHeldMoves(entries);
  const clock = new FakeClock();
  const { second, one, two } = await twoTabs(server, entries, clock, storage);
  const adopting = one[0]();
  await settle();
  second.add([insert('Note/new:2.1', { text: 'b' })], undo(2));
  await clock.pass(1000);
  await two[0]();
  await clock.pass(1000);
  assert.equal(waiting.length, 1);
  waiting[0]();
  await adopting;
  await clock.pass(5000);
  assert.deepEqual(server.texts(), ['a', 'b']);
  assert.deepEqual([entries.size, second.queue.entries.length], [0, 0]);
});

test('edits of an ended tab come before those made while they were moved', async () => {
  const { server, entries } = await awayTab(newNote('a'), insert('Note/new:2.1', { text: 'b' }));
  const { waiting, storage } = storageWithHeldMoves(entries);
  const ended = [];
  const second = tab(server, entries, '2', { storage, ended, isLive: false });
  second.add([insert('Note/new:1.1', { text: 'earlier' })], undo(1));
  await second.start();
  const adopting = ended[0]();
  await settle();
  second.add([insert('Note/new:4.1', { text: 'later' })], undo(2));
  waiting[0]();
  await adopting;
  assert.deepEqual(second.queue.entries.map((each) => each.changes[0].set.text), ['earlier', 'a', 'b', 'later']);
});

// The page can end at every write of the storage, before and after it, and before and after the server has the commit.
test('killed at each step, each edit arrives once', async () => {
  let steps = 0;
  for (let kill = 1, wasKilled = true; wasKilled; kill += 1) {
    steps = 0;
    const server = new FakeServer();
    const old = server.insert('Note', { text: 'milk' });
    const entries = new Map();
    const inner = memoryStorage(entries);
    let isDead = false;
    const never = () => new Promise(() => {});
    const step = () => {
      steps += 1;
      if (steps === kill) isDead = true;
      return isDead;
    };
    const storage = {
      ...inner,
      change: async (given) => {
        if (isDead || step()) return never();
        const result = await inner.change(given);
        return step() ? never() : result;
      },
    };
    const clock = new FakeClock();
    const ann = tab(server, entries, '1', { clock, storage });
    const commit = server.commit.bind(server);
    server.commit = (transaction, replica, author) => {
      if (author !== 'ann' || replica !== ann.queue.entries[0]?.transaction.replica) return commit(transaction, replica, author);
      if (isDead || step()) return never();
      const result = commit(transaction, replica, author);
      return step() ? never() : result;
    };
    const made = [];
    const edit = (changes, group) => {
      if (isDead) return;
      ann.add(changes, undo(group));
      made.push(group);
    };
    edit([insert('Note/new:1.1', { text: 'a' })], 1);
    edit([type('Note/new:1.1', undefined, 'a', 1, 'b')], 2);
    await clock.pass(200);
    edit([type(`Note/${old}`, 1, 'milk', 4, '!')], 3);
    await clock.pass(5000);
    server.commit = commit;
    // What was never durable is lost with the page; an edit that was acknowledged as stored is not.
    const kept = [...entries.values()].map((each) => each.form.undo.group);
    const done = made.filter((group) => group < 3 ? server.texts().some((text) => text.includes('ab'[group - 1])) : server.texts().includes('milk!'));
    const next = new FakeClock();
    const ended = [];
    const again = tab(server, entries, '2', { clock: next, ended });
    again.isReady = (intent) => intent.changes.every((each) => Object.values(each.texts).every((edit) => edit.base !== undefined));
    await again.start();
    for (const body of ended) await body();
    await next.pass(5000);
    const texts = server.texts().join(',');
    for (const group of new Set([...kept, ...done])) {
      const letter = ['a', 'b', '!'][group - 1];
      assert.equal(texts.split(letter).length - 1, 1, `kill at ${kill}: ${letter} in ${texts}`);
    }
    assert.equal(entries.size, 0, `kill at ${kill}: nothing is left in the storage`);
    assert.equal(again.queue.parked.size, 0, `kill at ${kill}`);
    wasKilled = isDead;
  }
  assert.ok(steps > 10, `there are ${steps} steps`);
});

test('hostile names and texts survive storage and export', async () => {
  const server = new FakeServer();
  const ann = tab(server, new Map(), '1', { isLive: false });
  const text = `</script>\0\u202Eשלום\u{1F600}${'x'.repeat(4_000_000)}`;
  ann.add([insert('Note/new:1.1', { text }), insert('Tag/new:1.2', { name: '__proto__' })], undo(1));
  await settle();
  const lines = ann.exported().trim().split('\n').map((line) => JSON.parse(line));
  assert.equal(lines[0].changes[0].edits[0].set, text);
  assert.equal(lines[0].changes[1].edits[0].set, '__proto__');
  assert.equal(lines[0].state, 'queued');
});
