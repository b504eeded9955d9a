// The history of a board among the commits of others, and the timeline on which the user goes through it.
import assert from 'node:assert/strict';
import test from 'node:test';
import { Past, Timeline } from '../../Web/control/live.js';
import { settle } from './fakes.mjs';

const board = { id: 'board', notes: new Map() };

/** The past of a board in a store with `count` commits, of which those that `isHere` names are the board's. The store keeps those from
 * `oldest` on. */
function past(count, isHere, oldest = 1) {
  const reads = [];
  const commit = (revision) => ({
    revision, time: revision * 1e6, author: 'ann', unlisted: 0,
    changes: [{ kind: 'insert', id: `note ${revision}`, entity: 'Note', object: { values: { board: isHere(revision) ? 'board' : 'other' } }, edits: [] }],
  });
  const log = async ({ through, limit }) => {
    reads.push(through);
    if (through > 0 && through < oldest) throw Object.assign(new Error('the history was pruned'), { code: 'pruned' });
    const newest = through || count;
    return Array.from({ length: Math.min(limit, newest - oldest + 1) }, (_, index) => commit(newest - index));
  };
  return { reads, past: new Past({ connection: { log } }, board) };
}

/** All entries, page by page. */
async function all(past, limit) {
  const pages = [];
  for (let before; before !== null;) {
    const { entries, next } = await past.history({ limit, before });
    pages.push(entries.map((each) => each.revision));
    before = next;
  }
  return pages;
}

test('the history of a board is found behind thousands of commits of others', async () => {
  const { past: quiet, reads } = past(5000, (revision) => revision <= 100);
  const first = await quiet.history({ limit: 200 });
  assert.deepEqual(first, { entries: [], next: 3001 });
  assert.equal(reads.length, 20);
  const pages = await all(quiet, 200);
  assert.deepEqual(pages.flat(), Array.from({ length: 100 }, (_, index) => 100 - index));
});

test('pages of history have each commit once, whatever their length', async () => {
  for (const limit of [1, 7, 99, 100, 101, 200]) {
    const wanted = Array.from({ length: 333 }, (_, index) => 999 - 3 * index);
    assert.deepEqual((await all(past(1000, (revision) => revision % 3 === 0).past, limit)).flat(), wanted, `${limit}`);
  }
});

test('history ends where older commits were removed', async () => {
  const { past: pruned } = past(450, () => true, 251);
  assert.deepEqual((await all(pruned, 1000)).flat().length, 200);
  const broken = new Past({ connection: { log: async () => { throw Object.assign(new Error('no connection'), { code: 'unavailable' }); } } }, board);
  await assert.rejects(broken.history(), /no connection/);
});

test('the notes of a revision have their own links and tags', async () => {
  const objects = {
    Note: [{ id: 'a', values: { number: 1, text: 'a', tags: ['t', 'gone'] } }, { id: 'b', values: { number: 2, text: 'b' } }],
    Tag: [{ id: 't', values: { name: 'home' } }],
    Link: [{ id: 'l', values: { from: 'a', to: 'b', label: 'x' } }, { id: 'm', values: { from: 'a', to: 'c', label: '' } }],
  };
  const asked = [];
  const connection = { fetch: async ({ entity, at }) => { asked.push(at); return { objects: objects[entity] }; } };
  const notes = await new Past({ connection }, board).at(7);
  assert.deepEqual(asked, [7, 7, 7]);
  assert.deepEqual(notes.get('a').links, [{ id: 'l', to: 'b', label: 'x' }, { id: 'm', to: 'c', label: '' }]);
  assert.deepEqual([notes.get('a').tags, notes.get('b').links, notes.get('b').tags], [[{ id: 't', name: 'home' }], [], []]);
});

/** A timeline over revisions 1 to `count`, whose reads wait for `answer`. */
function timeline(count, isHere = () => true) {
  const waiting = [];
  const { past: of } = past(count, isHere);
  const pages = [];
  const line = new Timeline({
    history: (page) => { pages.push(page.before); return of.history(page); },
    at: (revision) => new Promise((resolve, reject) => { waiting.push({ revision, resolve: () => resolve(new Map([[revision, {}]])), reject }); }),
  });
  const shown = [], failures = [];
  line.onshow = (notes, isLast) => shown.push([line.entry?.revision, ...notes.keys(), isLast]);
  line.onfail = (error) => failures.push(error.message);
  const answer = async (act = 'resolve', value = undefined) => {
    await settle();
    waiting.shift()[act](value);
    await settle();
  };
  return { line, waiting, pages, shown, failures, answer };
}

test('a sweep over the timeline reads one state at a time, and ends at the last place', async () => {
  const { line, waiting, shown, answer } = timeline(150);
  line.start();
  await answer();
  assert.deepEqual(shown, [[150, 150, true]]);
  for (let place = 149; place >= 20; place -= 1) {
    line.go(place);
    assert.ok(waiting.length <= 1);
  }
  await answer();
  await answer();
  assert.deepEqual(shown.slice(1), [[150, 150, false], [21, 21, true]]);
  assert.equal(waiting.length, 0);
});

test('a state that cannot be read leaves the shown one with its entry', async () => {
  const { line, shown, failures, answer } = timeline(150);
  line.start();
  await answer();
  line.go(3);
  await answer('reject', new Error('no connection'));
  assert.deepEqual(failures, ['no connection']);
  assert.equal(line.entry.revision, 150);
  line.go(4);
  await answer();
  assert.deepEqual(shown, [[150, 150, true], [5, 5, true]]);
});

test('at the first entry the timeline reads on, through pages without one', async () => {
  const { line, pages, shown, answer } = timeline(9000, (revision) => revision > 8990 || revision <= 20);
  const searched = [];
  line.onsearch = (before) => searched.push(before);
  line.start();
  await answer();
  assert.deepEqual(shown, [[9000, 9000, true]]);
  assert.equal(line.entries.length, 10);
  line.go(-1);
  await answer();
  assert.deepEqual(shown[1], [20, 20, true]);
  assert.deepEqual([line.entries.length, line.shown, line.isComplete], [30, 19, true]);
  assert.deepEqual(searched, [5001, 3001, 1001]);
  assert.equal(pages[0], undefined);
  line.go(-5);
  await answer();
  assert.deepEqual(shown[2], [1, 1, true]);
  assert.equal(pages.length, 5);
});

test('the search for older commits ends when the user goes elsewhere, and goes on later', async () => {
  const { line, shown, answer } = timeline(9000, (revision) => revision > 8990 || revision <= 20);
  line.start();
  await answer();
  line.onsearch = () => line.go(5);
  line.go(0);
  await answer();
  assert.deepEqual(shown[1], [8996, 8996, true]);
  assert.equal(line.isComplete, false);
  line.onsearch = () => {};
  line.go(-1);
  await answer();
  assert.deepEqual(shown[2], [20, 20, true]);
});

test('a timeline that has ended shows nothing more, and a board without commits has no entry', async () => {
  const { line, shown, answer } = timeline(150);
  line.start();
  await settle();
  line.end();
  await answer();
  assert.deepEqual(shown, []);
  const empty = timeline(300, () => false);
  empty.line.start();
  await settle();
  assert.deepEqual(empty.shown, [[undefined, true]]);
});
