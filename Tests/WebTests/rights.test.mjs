// The rights of a user: on everything, on single boards, and while they change.
import assert from 'node:assert/strict';
import test from 'node:test';
import { Rights } from '../../Web/control/account.js';
import { shown } from './fake-browser.mjs';

test('the stronger of two roles counts on a board', () => {
  const rights = new Rights('user:a', [{ role: 'reader' }, { role: 'editor', scope: 'one' }, { role: 'commenter', scope: 'two' }, { role: 'reader', scope: 'two' }]);
  assert.deepEqual(['one', 'two', 'three'].map((board) => rights.role(board)), ['editor', 'commenter', 'reader']);
  assert.equal(rights.strongest, 'editor');
  assert.equal(new Rights('user:a', []).role('any'), 'owner');
  const some = new Rights('user:a', [{ role: 'owner', scope: 'one' }, { role: 'emperor', scope: 'two' }]);
  assert.deepEqual([some.role('one'), some.role('two'), some.everywhere], ['owner', null, null]);
});

test('each role allows what the server allows', () => {
  const refusals = (role, creator) => {
    const rights = new Rights('user:a', role ? [{ role, scope: 'one' }] : [{ role: 'owner', scope: 'other' }]);
    return ['insert', 'update', 'delete'].map((operation) => rights.refusal(operation, 'one', creator, 'note 7') === '');
  };
  assert.deepEqual(refusals(null, 'user:a'), [false, false, false]);
  assert.deepEqual(refusals('reader', 'user:a'), [false, false, false]);
  assert.deepEqual(refusals('commenter', 'user:a'), [true, true, true]);
  assert.deepEqual(refusals('commenter', 'user:b'), [true, false, false]);
  assert.deepEqual(refusals('commenter', ''), [true, false, false]);
  assert.deepEqual(refusals('editor', 'user:b'), [true, true, true]);
  assert.deepEqual(refusals('owner', 'user:b'), [true, true, true]);
  const boards = (grants, creator) => {
    const rights = new Rights('user:a', grants);
    return ['insert', 'update', 'delete'].map((operation) => rights.refusalOfBoard(operation, 'one', creator) === '');
  };
  assert.deepEqual(boards([{ role: 'commenter' }], 'user:a'), [true, true, true]);
  assert.deepEqual(boards([{ role: 'editor' }], 'user:b'), [true, true, false]);
  assert.deepEqual(boards([{ role: 'owner', scope: 'one' }], 'user:b'), [false, true, true]);
  assert.deepEqual(boards([{ role: 'reader' }], 'user:a'), [false, false, false]);
});

/** A board that another user made, and which this one sees with a role there. */
async function shownAs(role) {
  const all = await shown('milk');
  const { browser, server, board, note, session } = all;
  browser.connection.welcome.principal = 'user:a';
  const own = server.insert('Note', { text: 'mine', board: board.id, creator: 'user:a' });
  server.objects.get(note).values.creator = 'user:b';
  browser.connection.setGrants([{ role, scope: board.id }]);
  await browser.clock.pass(10);
  session.notices.length = 0;
  return { ...all, own };
}

test('a commenter changes its own notes, and a sentence names the missing right', async () => {
  const { browser, session, server, board, note, own } = await shownAs('commenter');
  assert.equal(board.canWrite, true);
  assert.equal(board.refusal('update', [own]), '');
  assert.match(board.refusal('delete', [own, note]), /^note 1 is someone else’s.*commenter/);
  board.edit(note, { start: 0, end: 0, text: 'x' });
  board.update([own, note], { color: 'red' });
  board.tag([note], 'tag');
  board.delete([note]);
  assert.equal(session.notices.length, 4);
  board.edit(own, { start: 0, end: 0, text: 'x' });
  const made = board.insert({ text: 'new' });
  // It has no creator until the server gives it one.
  assert.equal(board.refusal('update', [made]), '');
  const link = board.link(note, made);
  assert.notEqual(link, '');
  await browser.clock.pass(2000);
  assert.deepEqual(server.texts(), ['milk', 'new', 'xmine']);
  assert.equal(board.refusalOfLink([...board.links.keys()][0]) === '', false, 'the fake server sets no creators');
  assert.equal(session.status.parked, 0);
  await assert.rejects(session.createBoard('Other'), /role on everything/);
  await assert.rejects(session.deleteBoard(board.id), /only an owner/);
  assert.deepEqual(session.boards.map(({ canRename, canDelete, canShare }) => [canRename, canDelete, canShare]), [[false, false, false]]);
});

test('a changed role takes effect within the session', async () => {
  const { browser, session, server, board, note } = await shownAs('editor');
  const seen = [];
  board.addEventListener('rights', ({ detail }) => seen.push(detail.message));
  assert.equal(board.canWrite, true);
  browser.connection.setGrants([{ role: 'reader', scope: board.id }]);
  assert.equal(board.canWrite, false);
  assert.equal(session.status.kind, 'readOnly');
  assert.equal(session.user.canWrite, false);
  board.edit(note, { start: 0, end: 0, text: 'x' });
  assert.deepEqual(session.notices, ['you can read this board, but not change it: your role here is reader']);
  browser.connection.setGrants([{ role: 'reader', scope: board.id }]);
  browser.connection.setGrants([{ role: 'owner', scope: board.id }]);
  assert.deepEqual(seen, ['your role on this board is reader now', 'your role on this board is owner now']);
  assert.equal(session.boards[0].canShare, true);
  board.edit(note, { start: 0, end: 0, text: 'y' });
  await browser.clock.pass(1000);
  assert.equal(server.objects.get(note).values.text, 'ymilk');
});

test('a role elsewhere does not make a board writable', async () => {
  const { browser, server, session, board } = await shownAs('reader');
  browser.connection.setGrants([{ role: 'reader', scope: board.id }, { role: 'editor', scope: server.id() }]);
  assert.equal(session.boards[0].isReadOnly, true);
  assert.equal(session.user.canWrite, true);
  assert.equal(board.canWrite, false);
});

test('a board that can no longer be seen closes, and says why', async () => {
  const { browser, server, session, board, note, own } = await shownAs('editor');
  const gone = [];
  board.addEventListener('gone', ({ detail }) => gone.push(detail.message));
  browser.connection.setGrants([{ role: 'editor', scope: server.id() }], [board.id, note, own]);
  assert.deepEqual(gone, ['you no longer see the board “Home”: your role on it has ended']);
  assert.equal(board.refusal('insert'), gone[0]);
  assert.deepEqual(session.boards, []);
});

test('a start without the server has the roles of the last connection', async () => {
  const { browser, board, note, own } = await shownAs('commenter');
  browser.role = 'commenter';
  await browser.clock.pass(10_000);
  browser.hidden.forEach((body) => body());
  await browser.clock.pass(10);
  browser.isOnline = false;
  const page = await browser.open();
  const again = page.openBoard(board.id);
  assert.equal(again.refusal('update', [own]), '');
  assert.match(again.refusal('update', [note]), /someone else’s/);
});
