// Boards of more notes than a page holds: the notes near the view are in memory, and the user learns of the others.
import assert from 'node:assert/strict';
import test from 'node:test';
import { FakeBrowser } from './fake-browser.mjs';

/** A session that shows a board of which the server counts 25,000 notes. `here` of them exist, and are followed. */
async function shown(here = 3) {
  const browser = new FakeBrowser();
  const id = browser.server.insert('Board', { name: 'Large' });
  const notes = Array.from({ length: here }, (_, index) => {
    const note = browser.server.id();
    const values = { text: `note ${index}`, board: id, color: 'yellow', x: 300 * index, y: 0, width: 200, height: 200, z: index, tags: [] };
    browser.server.objects.set(note, { id: note, entity: 'Note', revision: 1, values });
    return note;
  });
  const session = await browser.open();
  const { connection } = browser, fetched = [], fetch = connection.fetch.bind(connection);
  const answers = {};
  connection.fetch = async (wanted) => {
    fetched.push(wanted);
    if (wanted.entity !== 'Note') return fetch(wanted);
    return answers[wanted.result ?? 'objects'] ?? (wanted.result === 'count' ? { count: 25_000 } : fetch(wanted));
  };
  const board = session.openBoard(id);
  const changes = [];
  board.addEventListener('change', ({ detail }) => changes.push(detail));
  await browser.clock.pass(10);
  /** The conditions on the notes that were followed, in order. */
  const regions = () => connection.queries.filter(({ wanted }) => wanted.entity === 'Note').map(({ wanted }) => wanted.where);
  return { browser, connection, board, notes, fetched, answers, changes, regions };
}

test('a board with more notes than the page holds says how many there are', async () => {
  const { board, changes } = await shown();
  assert.deepEqual([board.isPart, board.total, board.notes.size], [true, 25_000, 3]);
  // No one has made these notes just now.
  assert.deepEqual(changes.map(({ mine, isLoad }) => [mine, isLoad]), [[false, true]]);
});

test('the number of notes is that of the last part', async () => {
  const { browser, board, answers } = await shown();
  answers.count = { count: 26_000 };
  board.look({ x: 90_000, y: 0, width: 1000, height: 800 });
  await browser.clock.pass(10);
  assert.equal(board.total, 26_000);
  answers.count = Promise.reject(new Error('busy'));
  answers.count.catch(() => {});
  board.look({ x: 0, y: 0, width: 1000, height: 800 });
  await browser.clock.pass(10);
  assert.deepEqual([board.total, board.ready], [26_000, true]);
});

test('a search finds notes that are not in memory, with their places', async () => {
  const { board, notes, answers, fetched } = await shown();
  answers.identifiers = { objects: [{ id: notes[1] }, { id: 'far' }] };
  assert.deepEqual((await board.search('note 1')).map((each) => each.id), [notes[1], 'far']);
  answers.objects = { objects: [{ id: 'far', values: { x: 70_000, y: 5, width: 200, height: 100 } }] };
  assert.deepEqual(await board.frame('far'), { x: 70_000, y: 5, width: 200, height: 100 });
  assert.equal(fetched.at(-1).where, `id == "far" AND board == "${board.id}"`);
  answers.objects = { objects: [] };
  assert.equal(await board.frame('gone'), null);
});

test('the bounds of a board are those of all notes', async () => {
  const { board, answers } = await shown();
  answers.rows = { rows: [[-500, 20, 70_200, 4000]] };
  assert.deepEqual(await board.bounds(), { x: -500, y: 20, width: 70_700, height: 3980 });
  answers.rows = { rows: [[null, null, null, null]] };
  assert.equal(await board.bounds(), null);
});

test('a part that lacks notes is read again when the user zooms in', async () => {
  const { browser, connection, board, regions } = await shown();
  const large = { x: 0, y: 0, width: 60_000, height: 40_000 }, small = { x: 20_000, y: 20_000, width: 2000, height: 1500 };
  const look = async (area) => { board.look(area); await browser.clock.pass(10); };
  const before = regions().length;
  await look(large);
  assert.equal(regions().length, before + 1);
  // The part has all notes of its area.
  await look(small);
  assert.equal(regions().length, before + 1);
  const { subscribe } = connection;
  connection.subscribe = function (wanted) { return Object.assign(subscribe.call(this, wanted), { total: 25_000 }); };
  await look({ ...large, x: 500_000 });
  await look({ ...small, x: 520_000 });
  assert.equal(regions().length, before + 3);
  assert.match(regions().at(-1), /x < 524000 AND x \+ width > 518000/);
  // A view of the same size is served.
  await look({ ...small, x: 520_100 });
  assert.equal(regions().length, before + 3);
});

test('the note that the user has open stays in memory', async () => {
  const { browser, board, notes, regions } = await shown();
  board.setPresence({ note: notes[1] });
  board.look({ x: 90_000, y: 0, width: 1000, height: 800 });
  await browser.clock.pass(10);
  assert.ok(regions().at(-1).endsWith(` OR id IN {"${notes[1]}"})`), regions().at(-1));
  board.setPresence({ note: null });
  board.look({ x: 500_000, y: 0, width: 1000, height: 800 });
  await browser.clock.pass(10);
  assert.doesNotMatch(regions().at(-1), /id IN/);
});
