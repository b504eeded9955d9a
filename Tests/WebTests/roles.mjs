// Checks the rights of a page against a real daemon: `node Tests/WebTests/roles.mjs BIN-FOLDER`, where the folder has
// stickies and stickiesd. The roles of a user change while its page is open, and the page knows what the server allows.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { Session } from '../../Web/control/session.js';
import { idText } from '../../Web/keep/queue.js';
import { memoryStorage } from '../../Web/keep/storage.js';
import { check, Daemon, wordsOf } from './daemon.mjs';

const [bin] = wordsOf('node Tests/WebTests/roles.mjs BIN-FOLDER');
const daemon = new Daemon(bin);
const stickiesd = (...words) => execFileSync(join(bin, 'stickiesd'), [...words, ...daemon.data], { encoding: 'utf8' }).trim();

/** A page of a user; without a token it is the daemon's own user. */
async function open(user, credential) {
  const hex = () => randomBytes(16).toString('hex');
  const root = new URL('http://127.0.0.1/');
  const page = new Session({
    page: new URL('app/b/', root), root, build: 'b', program: 'roles.mjs', location: { hash: '' },
    fetch: async () => ({ ok: true, status: 200, json: async () => ({ user, role: 'reader', build: 'b', store: '', accounts: credential !== undefined }) }),
    replaceFragment: () => {}, clock: { now: () => performance.now(), date: () => new Date(), later: (body, time) => setTimeout(body, time).unref() },
    connect: ({ identity }) => daemon.connection(identity.author, { identity, credential }),
    randomHex: hex, undoScope: () => [idText(hex()), 1], openStorage: async () => memoryStorage(new Map()),
    openTabs: () => ({ hold: () => {}, ended: () => {}, close: () => {} }), isPersistent: async () => true, persist: async () => true,
    keepShell: async () => true, onhide: () => {}, onshow: () => {}, isOnline: () => true,
    reload: () => { throw new Error('the page is loaded again'); },
  });
  page.notices = [];
  page.addEventListener('notice', ({ detail }) => page.notices.push(detail.message));
  await page.start();
  await until(() => page.status.kind === 'live' || page.status.kind === 'readOnly');
  await until(() => page.boardsAreKnown);
  return page;
}

/** Waits for a condition, which is looked at often; the check has a limit. */
async function until(condition, description) {
  while (!condition()) await new Promise((resolve) => { setTimeout(resolve, 5); });
  if (description) console.log(`ok  ${description}`);
}

check(daemon, 60, async () => {
  await daemon.start();
  const owner = await open(process.env.STICKIES_AUTHOR ?? 'owner');
  const [home, work] = [await owner.createBoard('Home'), await owner.createBoard('Work')];
  const theirs = owner.openBoard(home);
  await until(() => theirs.ready);
  theirs.insert({ text: 'milk' });
  await until(() => owner.status.unsent === 0 && [...theirs.notes.values()][0]?.creator);
  const [milk] = theirs.notes.keys();

  stickiesd('user', 'add', 'ann', '--role', 'none');
  stickiesd('grant', 'ann', 'commenter', '--on', 'Board:Home');
  stickiesd('grant', 'ann', 'reader', '--on', 'Board:Work');
  const ann = await open('ann', stickiesd('token', 'create', 'ann'));
  assert.deepEqual(ann.boards.map((each) => [each.name, each.isReadOnly, each.canDelete]), [['Home', false, false], ['Work', true, false]]);
  const [board, other] = [ann.openBoard(home), ann.openBoard(work)];
  await until(() => board.ready && other.ready);
  assert.deepEqual([board.role, board.canWrite, other.role, other.canWrite], ['commenter', true, 'reader', false]);
  assert.match(board.refusal('update', [milk]), /^note 1 is someone else’s/);
  const made = board.insert({ text: 'eggs' });
  await until(() => ann.status.unsent === 0 && board.notes.get(board.current(made))?.creator);
  const eggs = board.current(made);
  assert.equal(board.notes.get(eggs).creator, ann.rights.user);
  assert.equal(board.refusal('delete', [eggs]), '');
  board.edit(eggs, { start: 4, end: 4, text: '!' });
  await until(() => theirs.notes.get(eggs)?.text === 'eggs!', 'a commenter writes its own notes');
  // The server agrees with what the page refuses.
  const change = { kind: 'update', id: milk, entity: 'Note', base: ann.graph.get(milk).revision, values: { color: 'red' } };
  await assert.rejects(ann.connection.commit({ policy: 'objectTrump', changes: [change] }), (error) => error.code === 'notAllowed');
  await assert.rejects(ann.createBoard('Third'), /role on everything/);

  const seen = [];
  for (const each of [board, other]) each.addEventListener('rights', ({ detail }) => { if (detail.message) seen.push(detail.message); });
  other.addEventListener('gone', ({ detail }) => seen.push(detail.message));
  stickiesd('grant', 'ann', 'reader', '--on', 'Board:Home');
  await until(() => seen.length === 1);
  assert.deepEqual([seen[0], board.canWrite, ann.status.kind], ['your role on this board is reader now', false, 'readOnly']);
  board.edit(eggs, { start: 0, end: 0, text: 'x' });
  assert.match(ann.notices.at(-1), /your role here is reader/);
  stickiesd('grant', 'ann', 'editor', '--on', 'Board:Home');
  await until(() => seen.length === 2);
  board.edit(milk, { start: 0, end: 0, text: 'oat ' });
  await until(() => theirs.notes.get(milk)?.text === 'oat milk', 'an editor changes the notes of others, in the same session');

  stickiesd('grant', 'remove', 'ann', '--on', 'Board:Work');
  await until(() => seen.length === 3);
  assert.equal(seen[2], 'you no longer see the board “Work”: your role on it has ended');
  assert.deepEqual(ann.boards.map((each) => each.name), ['Home']);
  await until(() => board.notes.size === 2, 'a board that can no longer be seen closes; the others stay');
  stickiesd('grant', 'remove', 'ann', '--on', 'Board:Home');
  await until(() => ann.status.kind === 'notAllowed', 'a user without a role is shut out');
  assert.match(ann.status.message, /no role/);
  for (const page of [owner, ann]) page.connection.stop();
});
