// Checks the browser's sessions and boards against a real daemon: `node Tests/WebTests/session.mjs BIN-FOLDER`, where the
// folder has stickies and stickiesd. Two pages and the shell write on one board; the daemon is killed, a page is loaded
// again without it, and each edit arrives once.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Session } from '../../Web/control/session.js';
import { idText } from '../../Web/keep/queue.js';
import { memoryStorage } from '../../Web/keep/storage.js';
import { Connection } from '../../Web/net/connection.js';
import { FramedSocket } from './sockets.mjs';

const [bin] = process.argv.slice(2);
if (!bin) {
  console.log('usage: node Tests/WebTests/session.mjs BIN-FOLDER');
  process.exit(process.env.NODE_TEST_CONTEXT ? 0 : 64);
}
const folder = mkdtempSync(join(tmpdir(), 'stickies-session-'));
const socket = join(folder, 'socket');
const timeLimit = setTimeout(() => fail(new Error('the check takes longer than two minutes')), 120_000);
let daemon;

async function startDaemon() {
  daemon = spawn(join(bin, 'stickiesd'), ['--data', join(folder, 'data'), '--listen', `unix://${socket}`, '--http', 'off'],
    { stdio: ['ignore', 'pipe', 'inherit'] });
  const lines = createInterface({ input: daemon.stdout })[Symbol.asyncIterator]();
  for (;;) {
    const { value, done } = await lines.next();
    if (done) throw new Error('the daemon ended');
    if (value.startsWith('listening')) break;
  }
}

async function kill() {
  const exited = new Promise((resolve) => daemon.once('exit', resolve));
  daemon.kill('SIGKILL');
  await exited;
}

function stickies(...words) {
  return execFileSync(join(bin, 'stickies'), [...words, '--server', `unix://${socket}`], { encoding: 'utf8', env: { ...process.env, STICKIES_AUTHOR: 'shell' } });
}

/** A browser profile: what survives a page. */
class Profile {
  entries = new Map();
  ended = new Map();
  constructor(user) { this.user = user; }

  async open() {
    const hex = () => randomBytes(16).toString('hex');
    const root = new URL('http://127.0.0.1/');
    const isOnline = () => daemon.exitCode === null && daemon.signalCode === null;
    const waiting = [];
    const page = new Session({
      page: new URL('app/b/', root), root, build: 'b', program: 'session.mjs', location: { hash: '' },
      fetch: async () => {
        if (!isOnline()) throw new TypeError('fetch failed');
        return { ok: true, status: 200, json: async () => ({ user: this.user, role: 'owner', build: 'b', store: '', accounts: false }) };
      },
      replaceFragment: () => {}, clock: { now: () => performance.now(), date: () => new Date(), later: (body, time) => setTimeout(body, time).unref() },
      connect: ({ identity }) => new Connection({ url: `unix://${socket}`, identity, WebSocket: FramedSocket }),
      randomHex: hex, undoScope: () => [idText(hex()), 1], openStorage: async () => memoryStorage(this.entries),
      openTabs: () => ({ hold: () => {}, ended: (_, body) => { waiting.push(body()); }, close: () => {} }),
      isPersistent: async () => true, persist: async () => true, keepShell: async () => true,
      onhide: (body) => { page.hide = body; }, onshow: () => {}, isOnline: () => true, reload: () => { fail(new Error('reload')); return false; },
    });
    await page.start();
    await Promise.all(waiting);
    return page;
  }
}

/** Waits for a condition, which is looked at often. */
async function until(description, condition) {
  while (!condition()) await new Promise((resolve) => { setTimeout(resolve, 5); });
  if (description) console.log(`ok  ${description}`);
}

function fail(error) {
  console.error(error);
  stop();
  process.exit(1);
}

function stop() {
  clearTimeout(timeLimit);
  daemon?.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
}

async function main() {
  await startDaemon();
  const profiles = [new Profile('anna'), new Profile('bert')];
  const pages = [await profiles[0].open(), await profiles[1].open()];
  const [anna, bert] = pages;
  await until('connect', () => pages.every((each) => each.status.kind === 'live' && each.boardsAreKnown));
  const id = await anna.createBoard('Web');
  await assert.rejects(bert.createBoard('Web'), /./);
  const boards = pages.map((each) => each.openBoard(id));
  const [hers, his] = boards;
  await until('open a board', () => boards.every((each) => each.ready && each.name === 'Web'));

  const made = hers.insert({ text: '123' });
  assert.equal(hers.notes.get(made).number, '+1');
  await until('insert', () => his.notes.size === 1 && anna.status.unsent === 0);
  const [note] = his.notes.keys();
  assert.equal(hers.current(made), note);
  assert.equal(his.notes.get(note).number, 1);
  assert.equal(his.notes.get(note).updatedBy, 'anna');

  // Three write in one note.
  const [one, two] = ['abcdefghijklmnopqrstuvw', 'ABCDEFGHIJKLMNOPQRSTUVW'];
  for (let index = 0; index < one.length; index += 1) {
    for (const [board, text] of [[hers, one], [his, two]]) {
      const now = board.notes.get(note).text;
      const place = index === 0 ? now.length : now.indexOf(text[index - 1]) + 1;
      board.edit(note, { start: place, end: place, text: text[index] });
    }
    if (index === 10) {
      // The shell sets the whole text, so nothing may be on its way that it does not know.
      await until('', () => pages.every((each) => each.status.unsent === 0) && hers.notes.get(note).text === his.notes.get(note).text);
      stickies('edit', '1', '--text', `${hers.notes.get(note).text.replace('123', '0 123 🥛')}`);
    }
    await new Promise((resolve) => { setTimeout(resolve, 7); });
  }
  await until('', () => pages.every((each) => each.status.unsent === 0) && hers.notes.get(note).text === his.notes.get(note).text);
  const { text } = hers.notes.get(note);
  assert.equal(JSON.parse(stickies('show', '1', '--json')).text, text);
  for (const letter of [...one, ...two]) assert.ok(text.includes(letter), `${letter} in ${text}`);
  assert.equal(text, `0 123 🥛${text.slice(8)}`);
  for (const own of [one, two]) assert.ok([...text].filter((each) => own.includes(each)).join('') === own, text);
  console.log('ok  two pages and the shell write in one note');

  const gesture = hers.gesture('Move');
  for (let x = 1; x <= 50; x += 1) hers.update([note], { x, y: 2 * x }, gesture);
  hers.end(gesture);
  await until('', () => his.notes.get(note).x === 50 && anna.status.unsent === 0);
  await until('', () => hers.canUndo);
  assert.equal(await hers.undo(), 'Undone: Move');
  await until('undo of a gesture', () => his.notes.get(note).x === 0);
  assert.equal(await hers.redo(), 'Redone: Move');
  await until('redo', () => his.notes.get(note).x === 50);

  const other = hers.insert({ text: 'eggs' });
  hers.tag([note, other], 'shop');
  const link = hers.link(note, other, 'with');
  hers.label(link, 'and');
  hers.raise([note]);
  await until('tags and links', () => [...his.links.values()].some((each) => each.label === 'and')
    && [...his.notes.values()].every((each) => each.tags.map((tag) => tag.name).join() === 'shop') && anna.status.unsent === 0);
  assert.equal(his.notes.get(note).links.length, 1);
  his.tag([note], 'shop');
  assert.equal(bert.status.unsent, 0);

  const { entries: history } = await his.history({ limit: 5 });
  assert.equal(history.length, 5);
  assert.ok(history[0].revision > history[1].revision && history[0].at.getTime() > 0);
  const { from, to } = await his.reach();
  assert.ok(from >= 1 && to >= history[0].revision);
  const all = await his.history({ limit: 1000 });
  assert.equal(all.next, null);
  const first = all.entries.pop();
  assert.equal((await his.at(first.revision + 1)).size, 1);
  assert.equal((await his.why(note, 'x')).author, 'anna');
  assert.equal(await his.revisionAt(new Date(Date.now() + 60_000)), to);
  console.log('ok  history');

  const [left, top, right, bottom] = [...his.notes.values()].reduce(([l, t, r, b], { x, y, width, height }) => (
    [Math.min(l, x), Math.min(t, y), Math.max(r, x + width), Math.max(b, y + height)]), [Infinity, Infinity, -Infinity, -Infinity]);
  assert.deepEqual(await his.bounds(), { x: left, y: top, width: right - left, height: bottom - top });
  const { x, y, width, height } = his.notes.get(note);
  assert.deepEqual(await his.frame(note), { x, y, width, height });
  assert.equal(await his.frame(id), null);
  assert.equal(await (await bert.openBoard(await anna.createBoard('Empty'))).bounds(), null);

  assert.deepEqual((await his.search('123')).map((each) => [each.id, each.ranges]), [[note, [{ start: 2, end: 5 }]]]);
  assert.deepEqual((await his.search('/eg+s/')).map((each) => each.ranges), [[{ start: 0, end: 4 }]]);
  await bert.refreshBoards();
  assert.deepEqual(bert.boards.map((each) => [each.name, each.notes]), [['Empty', 0], ['Web', 2]]);
  hers.setPresence({ cursor: { x: 3, y: 4 }, note, caret: 2, view: { x: 0, y: 0, width: 100, height: 50 } });
  his.setPresence({ cursor: { x: 1, y: 1 } });
  await until('presence', () => his.presence[0]?.cursor?.x === 3 && his.presence[0].caret === 2);

  const before = (await his.reach()).to;
  his.delete([note]);
  await until('', () => hers.notes.size === 1 && hers.links.size === 0);
  await his.restore([note], before);
  await until('restore a note', () => hers.notes.size === 2);
  assert.equal(await his.undo(), 'Undone: Restore');
  await until('', () => hers.notes.size === 1);
  await his.restoreBoard(before);
  await until('restore the board', () => hers.notes.size === 2);

  // The daemon stops; one page goes on, and the other is loaded again without it.
  for (const page of pages) page.hide();
  await kill();
  await until('', () => pages.every((each) => each.status.kind !== 'live'));
  his.edit(note, { start: 0, end: 0, text: 'offline ' });
  hers.edit(note, { start: 0, end: 1, text: 'soy' });
  hers.insert({ text: 'made offline' });
  await new Promise((resolve) => { setTimeout(resolve, 100); });
  anna.connection.stop();
  const again = await profiles[0].open();
  const board = again.openBoard(id);
  assert.equal(board.notes.size, 3);
  assert.ok(board.notes.get(note).text.startsWith('soy 123'));
  assert.equal(again.status.unsent, 2);
  board.edit(note, { start: 0, end: 0, text: '>' });
  console.log('ok  a page without the server shows the board');
  await startDaemon();
  await until('reconnect', () => [again, bert].every((each) => each.status.kind === 'live' && each.status.unsent === 0));
  await until('', () => his.notes.size === 3 && his.notes.get(note).text === board.notes.get(note).text);
  const last = his.notes.get(note).text;
  for (const part of ['offline ', 'soy', '>']) assert.equal(last.split(part).length, 2, last);
  assert.ok(!last.includes('0'), last);
  assert.equal([...his.notes.values()].filter((each) => each.text === 'made offline').length, 1);
  assert.equal([...profiles[0].entries.keys()].filter((key) => key.includes('unsent')).length, 0);
  console.log('ok  each edit arrived once');
  for (const each of [again, bert]) each.connection.stop();
}

main().then(stop, fail);
