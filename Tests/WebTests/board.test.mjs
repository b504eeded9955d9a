import assert from 'node:assert/strict';
import test from 'node:test';
import { FakeBrowser, shown } from './fake-browser.mjs';
import { settle } from './fakes.mjs';

test('a board shows its notes, and an edit is visible at once', async () => {
  const { browser, server, session, board, note, changes } = await shown();
  assert.equal(session.status.kind, 'live');
  assert.deepEqual(session.boards.map((each) => [each.name, each.notes]), [['Home', 1]]);
  assert.equal(board.ready, true);
  assert.deepEqual([...board.notes.values()].map((each) => [each.text, each.number, each.unsent]), [['milk', 1, false]]);
  board.edit(note, { start: 4, end: 4, text: '!' });
  assert.equal(board.notes.get(note).text, 'milk!');
  assert.equal(board.notes.get(note).unsent, true);
  assert.deepEqual(changes[0].updated, [{ id: note, properties: ['text', 'title', 'unsent'], splices: [{ start: 4, end: 4, text: '!' }] }]);
  assert.equal(changes[0].mine, true);
  await browser.clock.pass(2000);
  assert.equal(server.objects.get(note).values.text, 'milk!');
  assert.equal(board.notes.get(note).unsent, false);
  assert.equal(session.status.unsent, 0);
});

test('a new note has a provisional number until the server gives it one', async () => {
  const { browser, board, changes } = await shown();
  browser.connection.isHeld = true;
  const id = board.insert({ text: 'new' });
  assert.equal(board.notes.get(id).number, '+1');
  assert.deepEqual([board.notes.get(id).x, board.notes.get(id).y], [224, 0]);
  board.edit(id, { start: 3, end: 3, text: 'er' });
  await browser.clock.pass(500);
  browser.connection.flush();
  await browser.clock.pass(500);
  browser.connection.flush();
  browser.connection.isHeld = false;
  await browser.clock.pass(3000);
  browser.connection.flush();
  await browser.clock.pass(3000);
  const renamed = changes.flatMap((each) => each.renamed);
  assert.deepEqual(renamed.map((each) => each.from), [id]);
  const note = board.notes.get(renamed[0].to);
  assert.deepEqual([note.number, note.text, note.unsent], [2, 'newer', false]);
  // At no time was it there twice.
  assert.equal(changes.flatMap((each) => each.inserted).length, 1);
  assert.equal(board.notes.size, 2);
  assert.equal(board.current(id), note.id);
});

test('typing is one step of undo and continues its own text', async () => {
  const { browser, server, board, note } = await shown('');
  const gesture = board.gesture('Edit Note');
  for (const [index, letter] of [...'hello'].entries()) board.edit(note, { start: index, end: index, text: letter }, gesture);
  board.end(gesture);
  await browser.clock.pass(3000);
  assert.equal(server.objects.get(note).values.text, 'hello');
  const groups = new Set(browser.connection.sent.map((each) => each.undo.group));
  assert.equal(groups.size, 1);
  const splices = browser.connection.sent.flatMap((each) => each.changes.flatMap((change) => change.splices?.text ?? []));
  assert.deepEqual(splices.map((each) => each.leftAffinity), splices.map((_, index) => index > 0));
});

test('two people write in one note and all letters are there', async () => {
  const browsers = [new FakeBrowser()];
  browsers.push(new FakeBrowser(browsers[0].server, 100));
  const { server } = browsers[0];
  const boardID = server.insert('Board', { name: 'Home' });
  const note = server.insert('Note', { text: '', board: boardID });
  const boards = [];
  for (const browser of browsers) {
    const session = await browser.open();
    boards.push(session.openBoard(boardID));
    await browser.clock.pass(10);
    browser.connection.isHeld = true;
  }
  const [one, two] = ['abcdefghijklmno', 'ABCDEFGHIJKLMNO🎉'];
  for (const index of Array(16).keys()) {
    for (const [which, text] of [one, two].entries()) {
      const letter = [...text][index];
      if (letter === undefined) continue;
      const now = boards[which].notes.get(note).text;
      // Each writes at the end of the own letters.
      const place = [...now].reduce((end, each, at) => ([...text].includes(each) ? [...now].slice(0, at + 1).join('').length : end), 0);
      boards[which].edit(note, { start: place, end: place, text: letter });
      await browsers[which].clock.pass(40);
    }
    for (const browser of browsers) browser.connection.flush();
    for (const browser of browsers) await browser.clock.pass(10);
  }
  for (let round = 0; round < 60; round += 1) {
    for (const browser of browsers) {
      browser.connection.flush();
      await browser.clock.pass(100);
    }
  }
  const text = server.objects.get(note).values.text;
  assert.equal([...text].sort().join(''), [...one, ...two].sort().join(''));
  assert.equal(text.replace(/[^a-z]/g, ''), one);
  assert.equal(text.replace(/[a-z]/g, ''), two);
  for (const board of boards) assert.equal(board.notes.get(note).text, text);
});

test('edits of others wait during a composition', async () => {
  const { browser, server, board, note, changes } = await shown('milk');
  board.compose(note, true);
  server.commit({ sequence: 1, policy: 'error', changes: [{ kind: 'update', id: note, entity: 'Note', base: 2, splices: { text: [{ offset: 0, length: 0, insertion: 'oat ' }] } }] }, 'bob', 'bob');
  assert.equal(board.notes.get(note).text, 'milk');
  board.edit(note, { start: 4, end: 4, text: '漢' });
  assert.equal(board.notes.get(note).text, 'milk漢');
  await browser.clock.pass(3000);
  board.compose(note, false);
  await browser.clock.pass(3000);
  assert.equal(board.notes.get(note).text, 'oat milk漢');
  assert.equal(server.objects.get(note).values.text, 'oat milk漢');
  const splices = changes.filter((each) => !each.mine).flatMap((each) => each.updated.flatMap((one) => one.splices ?? []));
  assert.deepEqual(splices, [{ start: 0, end: 0, text: 'oat ' }]);
});

test('a drag of several notes is one transaction', async () => {
  const { browser, server, session, board, note } = await shown();
  const other = server.insert('Note', { text: 'b', board: board.id, x: 50 });
  const gesture = board.gesture('Move');
  for (let x = 1; x <= 30; x += 1) board.update([note, other], new Map([[note, { x }], [other, { x: x + 50 }]]), gesture);
  assert.equal(session.status.unsent, 2);
  await browser.clock.pass(3000);
  assert.deepEqual([note, other].map((id) => server.objects.get(id).values.x), [30, 80]);
  assert.ok(browser.connection.sent.every((each) => each.changes.length === 2));
});

test('tags are made once, and links go with their notes', async () => {
  const { browser, server, board, note } = await shown();
  const other = board.insert({ text: 'b' });
  board.tag([note, other], 'home');
  board.tag([note], 'home');
  const link = board.link(note, other, 'see');
  assert.deepEqual(board.notes.get(note).links.map((each) => [each.to, each.label]), [[other, 'see']]);
  assert.deepEqual(board.notes.get(other).tags.map((each) => each.name), ['home']);
  await browser.clock.pass(5000);
  const of = (entity) => [...server.objects.values()].filter((each) => each.entity === entity);
  assert.equal(of('Tag').length, 1);
  assert.deepEqual(of('Link').map((each) => [each.values.from, each.values.to]), [[note, board.current(other)]]);
  assert.deepEqual(board.notes.get(note).links.map((each) => each.to), [board.current(other)]);
  assert.deepEqual(board.notes.get(note).tags.map((each) => each.name), ['home']);
  board.untag([note], 'home');
  assert.deepEqual(board.notes.get(note).tags, []);
  board.delete([other]);
  assert.equal(board.links.size, 0);
  assert.equal(board.notes.has(board.current(other)), false);
  assert.ok(link);
});

test('copies of notes have their tags and the links between them, in one step', async () => {
  const { browser, server, board, note } = await shown('a');
  const [other, third] = [server.insert('Note', { text: 'b', board: board.id, x: 300, z: 5, locked: true, pinned: true }), board.insert({ text: 'c' })];
  board.tag([note, third], 'home');
  board.link(other, note, 'see');
  board.link(note, third);
  await browser.clock.pass(5000);
  browser.connection.sent.length = 0;
  const copies = board.duplicate([other, note], { x: 10, y: 20 });
  await browser.clock.pass(5000);
  const [first, second] = copies.map((id) => board.notes.get(board.current(id)));
  assert.deepEqual([first, second].map(({ text, x, y, locked, pinned }) => [text, x, y, locked, pinned]), [['a', 10, 20, false, false], ['b', 310, 20, false, false]]);
  assert.ok(second.z > first.z && first.z > board.notes.get(other).z, 'above all, in the order of the originals');
  assert.deepEqual([first, second].map((each) => each.tags.map((tag) => tag.name)), [['home'], []]);
  assert.deepEqual([first.links, second.links.map(({ to, label }) => [to, label])], [[], [[first.id, 'see']]]);
  assert.equal([...server.objects.values()].filter((each) => each.entity === 'Tag').length, 1);
  assert.equal(browser.connection.sent.length, 1);
  assert.equal(browser.connection.sent[0].undo.name, 'Duplicate');
});

test('pasted notes make each missing tag once, with the notes and links', async () => {
  const { browser, server, board } = await shown();
  board.tag([[...board.notes.keys()][0]], 'known');
  await browser.clock.pass(3000);
  browser.connection.sent.length = 0;
  const list = [[' new ', 'known'], ['new', 'new', ''], []].map((names, index) => ({ text: `${index}`, x: 300 * index, y: 500, tags: names.map((name) => ({ name })) }));
  const ids = board.insertMany(list, board.gesture('Paste'), [{ from: 2, to: 0, label: 'x' }]);
  const names = () => ids.map((id) => board.notes.get(board.current(id)).tags.map((tag) => tag.name));
  assert.deepEqual(names(), [['known', 'new'], ['new'], []]);
  await browser.clock.pass(5000);
  assert.deepEqual(names(), [['known', 'new'], ['new'], []]);
  assert.deepEqual([...server.objects.values()].filter((each) => each.entity === 'Tag').map((each) => each.values.name), ['known', 'new']);
  assert.deepEqual(board.notes.get(board.current(ids[2])).links.map(({ to, label }) => [to, label]), [[board.current(ids[0]), 'x']]);
  assert.equal(browser.connection.sent.length, 1);
  browser.connection.disconnect();
  board.insertMany(list, board.gesture('Paste'));
  assert.equal(await board.undo(), 'Undone: Paste');
});

test('copying a large board takes time that grows with its notes', async () => {
  const { browser, server, board } = await shown();
  const [{ values }] = [...server.objects.values()].filter((each) => each.entity === 'Note');
  const add = (count) => {
    for (let index = 0; index < count; index += 1) {
      const id = server.id(), number = server.objects.size;
      server.objects.set(id, { id, entity: 'Note', revision: 2, values: { ...values, number, x: 220 * (number % 100), y: 220 * Math.floor(number / 100) } });
    }
    const change = { revision: server.revision, author: '', inserted: new Set(), changed: new Set(), removed: new Set(), edits: new Map() };
    browser.connection.load(change);
    browser.connection.onchange(change);
  };
  const measured = async (count) => {
    add(count - board.notes.size);
    const ids = [...board.notes.keys()], started = process.cpuUsage().user;
    const copies = board.duplicate(ids.slice(0, count));
    assert.equal(copies.length, count);
    await browser.clock.pass(5000);
    assert.equal(board.notes.size, 2 * count);
    return process.cpuUsage().user - started;
  };
  await measured(500);
  const small = await measured(2000), large = await measured(8000);
  assert.ok(large < 5 * small + 5e5, `${small} µs for 2,000 notes, ${large} µs for 8,000`);
});

test('raised notes are above all others in their order', async () => {
  const { server, board, note } = await shown();
  const ids = [1, 2, 3].map((z) => server.insert('Note', { board: board.id, z }));
  board.raise([ids[0], note]);
  assert.deepEqual([note, ids[0]].map((id) => board.notes.get(id).z), [4, 5]);
  board.raise([ids[0], note]);
  assert.deepEqual([note, ids[0]].map((id) => board.notes.get(id).z), [4, 5]);
  board.lower([ids[2]]);
  assert.equal(board.notes.get(ids[2]).z, 1);
});

test('a reader can’t write', async () => {
  const browser = new FakeBrowser();
  browser.role = 'reader';
  const id = browser.server.insert('Board', { name: 'Home' });
  const note = browser.server.insert('Note', { text: 'a', board: id });
  const session = await browser.open();
  const board = session.openBoard(id);
  await browser.clock.pass(10);
  assert.equal(session.status.kind, 'readOnly');
  assert.equal(board.canWrite, false);
  assert.equal(board.insert({ text: 'b' }), '');
  board.edit(note, { start: 0, end: 0, text: 'x' });
  board.delete([note]);
  assert.equal(board.notes.get(note).text, 'a');
  assert.equal(browser.connection.sent.length, 0);
  assert.match(session.notices[0], /not change it/);
});

test('a page that is loaded without the server shows the board, and each edit arrives once', async () => {
  const { browser, server, board, note } = await shown('milk');
  for (const save of browser.hidden) save();
  await settle();
  const id = board.id;
  browser.connection.disconnect();
  browser.isOnline = false;
  board.edit(note, { start: 4, end: 4, text: ' and bread' });
  await browser.clock.pass(1000);
  // The page ends; the next one is loaded from the worker's cache.
  const page = await browser.open();
  for (const body of browser.ended.splice(0)) await body();
  const again = page.openBoard(id);
  assert.deepEqual(page.boards.map((each) => each.name), ['Home']);
  assert.equal(again.name, 'Home');
  assert.equal(again.ready, false);
  assert.equal(again.notes.get(note).text, 'milk and bread');
  const made = again.insert({ text: 'eggs' });
  again.edit(note, { start: 0, end: 0, text: 'oat ' });
  await browser.clock.pass(9000);
  assert.equal(page.status.kind, 'offline');
  assert.equal(page.status.unsent, 3);
  assert.match(page.status.message, /3 edits kept in this browser/);
  // The server is back, and another client has written meanwhile.
  server.commit({ sequence: 1, policy: 'error', changes: [{ kind: 'update', id: note, entity: 'Note', base: 2, splices: { text: [{ offset: 4, length: 0, insertion: '!' }] } }] }, 'bob', 'bob');
  browser.isOnline = true;
  browser.connection.connect();
  await browser.clock.pass(10_000);
  assert.deepEqual(server.texts(), ['eggs', 'oat milk! and bread']);
  assert.deepEqual([again.notes.get(note).text, again.notes.get(again.current(made)).text], ['oat milk! and bread', 'eggs']);
  assert.equal(page.status.kind, 'live');
  assert.equal([...browser.entries.keys()].filter((key) => key.includes('"unsent"')).length, 0);
});

test('a page of another user shows nothing of the first', async () => {
  const { browser, board, note } = await shown('secret');
  for (const save of browser.hidden) save();
  browser.connection.disconnect();
  browser.isOnline = false;
  board.edit(note, { start: 0, end: 0, text: 'top ' });
  await browser.clock.pass(100);
  browser.isOnline = true;
  browser.user = 'bob';
  const page = await browser.open();
  assert.equal(page.status.unsent, 0);
  assert.equal(await (await page.exportUnsent()).text(), '');
  assert.equal(page.copies.boards.length, 0);
});

test('a page whose cookie became another user’s is loaded again and sends nothing', async () => {
  const { browser, server, board, note } = await shown('milk');
  browser.connection.disconnect();
  board.edit(note, { start: 0, end: 0, text: 'x' });
  browser.connection.author = 'bob';
  browser.connection.connect();
  await browser.clock.pass(5000);
  assert.equal(browser.reloads, 1);
  assert.equal(server.objects.get(note).values.text, 'milk');
});

test('a login code leaves the address before it is used', async () => {
  const browser = new FakeBrowser();
  browser.location.hash = '#code=secret';
  browser.post = (path, answer) => answer(200, {});
  await browser.open();
  assert.equal(browser.location.hash, '');
  assert.deepEqual(browser.posts, [['/prefix/v1/login', { code: 'secret' }]]);
});

test('a share link logs in only where the browser does not see the board already', async () => {
  const browser = new FakeBrowser();
  const board = browser.server.insert('Board', { name: 'Home' });
  const open = (answer) => {
    browser.location.hash = `#share=stk_x&board=${board}`;
    browser.post = (path, reply) => (path.endsWith('/Board') ? reply(200, { objects: answer }) : reply(200, {}));
    browser.posts = [];
    return browser.open();
  };
  const page = await open([{ id: board }]);
  assert.equal(page.boardID, board);
  assert.equal(browser.location.hash, `#board=${board}`);
  assert.deepEqual(browser.posts.map(([path]) => path), ['/prefix/v1/objects/Board']);
  const other = await open([]);
  assert.deepEqual(browser.posts[1], ['/prefix/v1/login', { token: 'stk_x' }]);
  assert.match(other.notices[0], /replaced the login of ann/);
  browser.user = null;
  await open([]);
  assert.deepEqual(browser.posts, [['/prefix/v1/login', { token: 'stk_x' }]]);
});

test('without a login the page says so and connects to nothing', async () => {
  const browser = new FakeBrowser();
  browser.user = null;
  const page = await browser.open();
  assert.equal(page.status.kind, 'signedOut');
  assert.equal(browser.connections.every((each) => each.state.kind === 'closed'), true);
});

test('the status follows the connection', async () => {
  const { browser, session } = await shown();
  const seen = [];
  session.addEventListener('status', () => seen.push(session.status.kind));
  browser.connection.disconnect();
  assert.equal(session.status.kind, 'reconnecting');
  await browser.clock.pass(9000);
  assert.equal(session.status.kind, 'offline');
  browser.connection.connect();
  assert.equal(session.status.kind, 'live');
  browser.build = 'b2';
  browser.connection.setState({ kind: 'refused', code: 'notAllowed', message: 'another model' });
  await browser.clock.pass(10);
  assert.equal(session.status.kind, 'outdated');
  assert.deepEqual([...new Set(seen)], ['reconnecting', 'offline', 'live', 'outdated']);
});

test('share links are made, listed and removed', async () => {
  const { browser, session, board } = await shown();
  browser.post = (path, answer) => answer(200, { token: 'stk_1' });
  assert.equal(await session.shareLink(board.id, 7), `https://notes.example/prefix/app/b1/#share=stk_1&board=${board.id}`);
  assert.deepEqual(browser.posts.pop(), ['/prefix/v1/share', { object: board.id, role: 'reader', days: 7 }]);
  browser.post = (path, answer) => answer(200, {
    links: [{ id: 'ab', name: 'link: plan', role: 'reader', created: '2026-11-01T00:00:00Z', expires: null, used: '2026-11-02T00:00:00Z' }],
  });
  const [link] = await session.shareLinks(board.id);
  assert.deepEqual([link.id, link.name, link.expires, link.used.getTime()], ['ab', 'plan', null, Date.UTC(2026, 10, 2)]);
  browser.post = (path, answer) => answer(200, { removed: 'ab' });
  await session.removeShareLink('ab');
  assert.equal(browser.posts.pop()[0], '/prefix/v1/share/ab');
  browser.post = (path, answer) => answer(403, { detail: 'your role here is editor' });
  await assert.rejects(session.shareLink(board.id), /your role here is editor/);
  browser.isOnline = false;
  await assert.rejects(session.shareLinks(board.id), /need the server/);
});

test('exports contain what is visible', async () => {
  const { board, note } = await shown('# Milk\n--> <b>');
  board.tag([note], 'a -- b');
  assert.match(board.exportAs('markdown'), /^# Home\n\n<!-- #1 · yellow · a - - b -->\n\n# Milk\n--> <b>\n$/);
  const lines = board.exportAs('json').trim().split('\n').map((line) => JSON.parse(line));
  assert.deepEqual(lines.map((each) => each.entity), ['Board', 'Tag', 'Note']);
  assert.equal(lines[2].text, '# Milk\n--> <b>');
});

test('a search finds words without case and accents, with their places', async () => {
  const { board, note } = await shown('Kaffee und Käse, 毎日牛乳を買う');
  assert.deepEqual(board.searchHere('kase'), [{ id: note, ranges: [{ start: 11, end: 15 }] }]);
  assert.deepEqual(board.searchHere('牛乳'), [{ id: note, ranges: [{ start: 19, end: 21 }] }]);
  assert.deepEqual(board.searchHere('ka'), [{ id: note, ranges: [{ start: 0, end: 2 }, { start: 11, end: 13 }] }]);
  assert.deepEqual(board.searchHere('ase'), []);
  assert.deepEqual(board.searchHere('  '), []);
});

test('a text whose note was deleted becomes a new note', async () => {
  const { browser, server, session, board, note } = await shown('milk');
  browser.connection.disconnect();
  board.edit(note, { start: 4, end: 4, text: ' and bread' });
  server.commit({ sequence: 1, policy: 'error', changes: [{ kind: 'delete', id: note, entity: 'Note', base: 2 }] }, 'bob', 'bob');
  browser.connection.connect();
  await browser.clock.pass(3000);
  assert.equal(board.notes.size, 0);
  const [lost] = session.conflicts;
  assert.deepEqual([lost.kind, lost.mine, lost.theirs, lost.author, session.status.parked], ['deleted', 'milk and bread', null, 'bob', 1]);
  session.retry(lost.key);
  await browser.clock.pass(3000);
  assert.deepEqual(server.texts(), ['milk and bread']);
  assert.equal(session.status.parked, 0);
});

test('a value that lost while offline can be retried or given up', async () => {
  const { browser, server, session, board, note } = await shown();
  const lose = async (color) => {
    browser.connection.disconnect();
    board.update([note], { color });
    server.commit({ sequence: server.revision, policy: 'error', changes: [{ kind: 'update', id: note, entity: 'Note', base: server.revision, values: { color: `not ${color}` } }] }, 'bob', 'bob');
    browser.connection.connect();
    await browser.clock.pass(3000);
    return session.conflicts[0];
  };
  const first = await lose('red');
  assert.deepEqual([first.number, first.property, first.mine, first.theirs], [1, 'color', 'red', 'not red']);
  assert.equal(board.notes.get(note).color, 'not red');
  session.retry(first.key);
  assert.equal(board.notes.get(note).color, 'red');
  await browser.clock.pass(3000);
  assert.equal(server.objects.get(note).values.color, 'red');
  const second = await lose('blue');
  session.discard(second.key);
  await browser.clock.pass(3000);
  assert.equal(server.objects.get(note).values.color, 'not blue');
  assert.equal([...browser.entries.keys()].filter((key) => key.includes('"unsent"')).length, 0);
});

test('a refused text stays with its reason, and later letters are kept', async () => {
  const { browser, server, session, board, note } = await shown('');
  server.refuse = (transaction) => JSON.stringify(transaction).includes('bad') && { code: 'invalid', message: 'the text is too long', violations: [{ id: note, entity: 'Note', property: 'text', rule: 'maximumLength', message: 'x' }] };
  board.edit(note, { start: 0, end: 0, text: 'bad ' });
  board.edit(note, { start: 4, end: 4, text: 'good' });
  await browser.clock.pass(3000);
  assert.equal(board.notes.get(note).text, 'good');
  assert.equal(server.objects.get(note).values.text, 'good');
  assert.deepEqual(session.conflicts.map((each) => [each.property, each.mine, each.reason]), [['text', 'bad ', 'the text is too long']]);
});

test('undo withdraws what has not left, and asks the server for the rest', async () => {
  const { browser, server, session, board } = await shown();
  browser.connection.disconnect();
  board.insert({ text: 'a' });
  board.insert({ text: 'b' });
  assert.equal(board.canUndo, true);
  assert.equal(await board.undo(), 'Undone: New Note');
  assert.deepEqual([...board.notes.values()].map((each) => each.text), ['milk', 'a']);
  assert.equal(await board.undo(), 'Undone: New Note');
  assert.match(await board.undo(), /needs the server/);
  browser.connection.undoSteps = { undo: { group: { name: 'Move' } } };
  browser.connection.connect();
  await browser.clock.pass(1000);
  assert.equal(board.canUndo, true);
  assert.equal(await board.undo(), 'Undone: Move');
  assert.equal(browser.connection.undone.length, 1);
  assert.deepEqual(server.texts(), ['milk']);
  assert.equal(session.status.unsent, 0);
});

test('numbers that are not finite are not sent', async () => {
  const { browser, server, board, note } = await shown();
  board.update([note], { x: NaN, y: 5, width: Infinity });
  const made = board.insert({ text: 'a', x: NaN, y: 3 });
  await browser.clock.pass(3000);
  assert.deepEqual([server.objects.get(note).values.x, server.objects.get(note).values.y], [0, 5]);
  assert.ok(Number.isFinite(board.notes.get(board.current(made)).x));
});

test('hostile names and texts are values and nothing else', async () => {
  const { browser, server, board, note } = await shown('a');
  for (const name of ['__proto__', 'constructor', '</script>', 'a"b\\', 'שלום', 'x'.repeat(200)]) board.tag([note], name);
  board.edit(note, { start: 1, end: 1, text: '\0\uD83D\u202E' });
  await browser.clock.pass(5000);
  assert.equal(server.objects.get(note).values.text, 'a\0\uFFFD\u202E');
  assert.equal(board.notes.get(note).tags.length, 6);
  assert.equal(({}).polluted, undefined);
});

test('a deleted board ends the page of others', async () => {
  const { server, session, board } = await shown();
  let isGone = false;
  board.addEventListener('gone', () => { isGone = true; });
  server.commit({ sequence: 1, policy: 'error', changes: [{ kind: 'delete', id: board.id, entity: 'Board', base: 0 }] }, 'bob', 'bob');
  assert.equal(isGone, true);
  assert.equal(board.canWrite, false);
  assert.equal(board.insert({ text: 'x' }), '');
  assert.deepEqual(session.boards, []);
});

test('edits whose answers are lost with the page arrive once', async () => {
  const { browser, server, board, note } = await shown('milk');
  browser.connection.isHeld = true;
  const other = board.insert({ text: 'eggs' });
  board.edit(note, { start: 4, end: 4, text: '!' });
  board.edit(other, { start: 4, end: 4, text: '?' });
  await browser.clock.pass(500);
  assert.deepEqual(server.texts(), ['eggs', 'milk!']);
  browser.connection.stop();
  const page = await browser.open();
  for (const body of browser.ended.splice(0)) await body();
  const again = page.openBoard(board.id);
  await browser.clock.pass(10_000);
  assert.deepEqual(server.texts(), ['eggs?', 'milk!']);
  assert.deepEqual([...again.notes.values()].map((each) => each.text).sort(), ['eggs?', 'milk!']);
  assert.equal(page.status.unsent + page.status.parked, 0);
});
