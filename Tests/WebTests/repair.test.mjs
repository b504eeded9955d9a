// The repair of refused edits, and steps of undo without an effect.
import assert from 'node:assert/strict';
import test from 'node:test';
import { placeOf } from '../../Web/board/people.js';
import { seeded } from './random.mjs';
import { shown } from './fake-browser.mjs';

/** A refused edit of the only note's text, which another user has changed since. */
async function refused() {
  const all = await shown('milk and bread');
  const { browser, server, board, note } = all;
  server.refuse = (transaction) => JSON.stringify(transaction).includes('!!') && { code: 'invalid', message: 'no shouting' };
  board.edit(note, { start: 4, end: 4, text: '!!' });
  await browser.clock.pass(3000);
  server.commit({
    sequence: 1, policy: 'error',
    changes: [{ kind: 'update', id: note, entity: 'Note', base: server.revision, splices: { text: [{ offset: 9, length: 5, insertion: 'cheese' }] } }],
  }, 'bob', 'bob');
  await browser.clock.pass(10);
  return all;
}

test('a refused text shows both values, and the one with both edits', async () => {
  const { session } = await refused();
  const [conflict] = session.conflicts;
  assert.deepEqual([conflict.mine, conflict.theirs, conflict.merged], ['milk!! and bread', 'milk and cheese', 'milk!! and cheese']);
  assert.equal(session.status.parked, 1);
  assert.match(session.status.message, /^live; 1 edit was refused, and can be repaired$/);
});

test('a merged text is written over the present one, in a step of its own', async () => {
  const { browser, server, session, board, note } = await refused();
  session.resolve(session.conflicts[0].key, 'milk, bread and cheese');
  assert.equal(board.notes.get(note).text, 'milk, bread and cheese');
  await browser.clock.pass(3000);
  assert.equal(server.objects.get(note).values.text, 'milk, bread and cheese');
  assert.deepEqual([session.conflicts.length, session.status.parked], [0, 0]);
  const { undo, changes } = browser.connection.sent.at(-1);
  assert.equal(undo.name, 'Merge');
  assert.ok(changes[0].splices.text.every((each) => each.insertion.length < 10), 'only the difference is sent');
});

test('a merged text that is the present one only ends the conflict', async () => {
  const { browser, session } = await refused();
  const before = browser.connection.sent.length;
  session.resolve(session.conflicts[0].key, 'milk and cheese');
  await browser.clock.pass(3000);
  assert.equal(browser.connection.sent.length, before);
  assert.equal(session.status.parked, 0);
});

test('what is no text has nothing to merge', async () => {
  const { browser, server, session, board, note } = await shown();
  server.refuse = (transaction) => JSON.stringify(transaction).includes('red') && { code: 'invalid', message: 'no red' };
  board.update([note], { color: 'red' });
  await browser.clock.pass(3000);
  assert.equal(session.conflicts[0].merged, null);
  session.resolve(session.conflicts[0].key, 'green');
  assert.equal(session.status.parked, 1);
});

test('an empty new note leaves no step of undo', async () => {
  const { browser, server, board } = await shown('milk');
  // Nothing has left yet: the note was never there.
  browser.connection.disconnect();
  const first = board.gesture('New note'), made = board.insert({ text: '' }, first);
  const sent = browser.connection.sent.length;
  board.withdraw(made, first);
  assert.deepEqual([board.notes.size, board.canUndo], [1, false]);
  browser.connection.connect();
  await browser.clock.pass(3000);
  assert.deepEqual([server.texts(), browser.connection.sent.length], [['milk'], sent]);
  // The server has it: undo goes on to the step before.
  const second = board.gesture('New note'), other = board.insert({ text: '' }, second);
  await browser.clock.pass(3000);
  assert.equal(server.texts().length, 2);
  board.withdraw(other, second);
  await browser.clock.pass(3000);
  assert.deepEqual(server.texts(), ['milk']);
  const steps = [{ undo: { group: { group: second.group, name: 'New note' } } }, { undo: { group: { group: 1, name: 'Edit Note' } } }];
  browser.connection.undoState = async () => steps[0] ?? {};
  const { undo } = browser.connection;
  browser.connection.undo = (step) => { steps.shift(); return undo.call(browser.connection, step); };
  assert.equal(await board.undo(), 'Undone: Edit Note');
  assert.equal(browser.connection.undone.length, 2);
});

test('a caret is found in the text that was rendered from a source', () => {
  const at = (texts, source, offset) => { const place = placeOf(texts, source, offset); return place && `${texts[place.node].slice(0, place.at)}|${texts[place.node].slice(place.at)}`; };
  const source = '# Head\n- [ ] a **bold** word';
  const texts = ['Head', 'a ', 'bold', ' word'];
  assert.equal(at(texts, source, 0), '|Head');
  assert.equal(at(texts, source, 4), 'He|ad');
  assert.equal(at(texts, source, 6), 'Head|');
  assert.equal(at(texts, source, 9), '|a ');
  assert.equal(at(texts, source, source.indexOf('bold') + 2), 'bo|ld');
  assert.equal(at(texts, source, source.indexOf('bold') - 1), 'a |');
  assert.equal(at(texts, source, source.length), ' word|');
  assert.equal(at(texts, source, source.length + 9), ' word|');
  assert.equal(placeOf([], '', 0), null);
  // Text that is not in the source, as after a change on its way.
  const random = seeded(5);
  for (let round = 0; round < 500; round += 1) {
    const letters = (count) => Array.from({ length: count }, () => 'ab*\n'[Math.floor(random() * 4)]).join('');
    const parts = Array.from({ length: 1 + Math.floor(random() * 4) }, () => letters(1 + Math.floor(random() * 4)));
    const place = placeOf(parts, letters(8), Math.floor(random() * 12));
    assert.ok(place && place.at >= 0 && place.at <= parts[place.node].length);
  }
});
