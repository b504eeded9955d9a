import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { colorOf, colors, fromState, parseFragment, Presence, toState, yielded } from '../../Web/control/account.js';
import { beside, corners, find, frames, jsonLines, markdown, parse, piled, places, predicate, quoted } from '../../Web/control/board.js';
import { statusOf } from '../../Web/control/session.js';
import { openTabs } from '../../Web/keep/storage.js';
import { FakeClock, settle } from './fakes.mjs';
import { seeded } from './random.mjs';

const board = 'mv87qkn3ykvha0sgck74xghfg4';
const note = 'byhxed7xpmnvf0sgck74wvbr02';

test('a presence is the terminal’s', () => {
  const state = toState({ board, cursor: { x: 1.26, y: -2 }, note, caret: 7, view: { x: 0, y: 0, width: 800, height: 600 }, color: 3 });
  assert.deepEqual(state, { v: 1, board, x: 1.3, y: -2, edits: note, color: 3, caret: 7, view: [0, 0, 800, 600] });
  const person = fromState({ session: 5, author: 'ann@desk', state });
  assert.deepEqual(person, {
    session: 5, author: 'ann@desk', name: 'ann', board, color: colors[3], cursor: { x: 1.3, y: -2 }, note, caret: 7,
    view: { x: 0, y: 0, width: 800, height: 600 },
  });
  // The terminal sends neither caret nor view, and leaves out the color until it has chosen one.
  assert.deepEqual(fromState({ session: 5, author: 'bob', state: { v: 1, board } }).color, colors[colorOf('bob')]);
});

test('a hostile presence shows nothing', () => {
  for (const state of [null, 'x', 5, [], { v: 2, board }, { v: 1 }, { v: 1, board: '<img>' }, { v: 1, board: '__proto__' }]) {
    assert.equal(fromState({ session: 1, author: 'x', state }), null);
  }
  const odd = fromState({ session: 1, author: '@', state: { v: 1, board, x: '1', y: 2, edits: 'javascript:', color: 99, caret: -1, view: [1, 2, 0, NaN] } });
  assert.deepEqual([odd.cursor, odd.note, odd.caret, odd.view, odd.name], [null, null, null, null, '@']);
  assert.ok(colors.includes(odd.color));
});

test('of two people with one color the later session takes another', () => {
  const other = (session, color) => ({ session, author: 'x', state: { v: 1, board, color } });
  assert.equal(yielded(2, 10, [other(5, 2)]), 3);
  assert.equal(yielded(2, 3, [other(5, 2)]), 2);
  assert.equal(yielded(2, 10, [other(5, 2), other(6, 3)]), 4);
  assert.equal(yielded(2, 10, colors.map((_, index) => other(index, index))), 2);
});

test('a presence is sent at a limited rate, and again for a new person', async () => {
  const clock = new FakeClock();
  const sent = [];
  const presence = new Presence((state) => sent.push(state), clock);
  presence.reset('ann');
  presence.set({ board, cursor: { x: 1, y: 1 } });
  assert.deepEqual(sent.map((each) => each.x), [undefined]);
  await clock.pass(100);
  presence.receive([{ session: 2, author: 'bob', state: { v: 1, board } }], 9);
  assert.equal(sent.length, 2);
  for (let x = 1; x <= 100; x += 1) {
    presence.set({ board, cursor: { x, y: 1 } });
    await clock.pass(10);
  }
  await clock.pass(100);
  assert.ok(sent.length <= 25, `${sent.length} messages in a second`);
  assert.equal(sent[sent.length - 1].x, 100);
});

test('new notes overlap no others', () => {
  const random = seeded(3);
  const any = (limit) => Math.floor(random() * limit);
  for (let round = 0; round < 300; round += 1) {
    const frame = () => ({ x: any(2000) - 1000, y: any(2000) - 1000, width: 1 + any(400), height: 1 + any(400) });
    const there = Array.from({ length: any(20) }, frame);
    const made = frames(Array.from({ length: 1 + any(30) }, frame), there);
    for (const [index, one] of made.entries()) {
      for (const other of [...there, ...made.slice(0, index)]) {
        const apart = one.x >= other.x + other.width || other.x >= one.x + one.width || one.y >= other.y + other.height || other.y >= one.y + one.height;
        assert.ok(apart, `round ${round}`);
      }
    }
  }
  assert.deepEqual(frames([{ width: 200, height: 200 }], [{ x: 1e300, y: 0, width: 1, height: 1 }])[0].x, 0);
  assert.deepEqual(beside({ x: 0, y: 0, width: 1, height: 1 }, corners([{ x: 0, y: 0 }, { x: 16, y: 16 }])), { x: 32, y: 32, width: 1, height: 1 });
});

test('a raised pile keeps its order', () => {
  const all = [{ id: 'a', z: 0 }, { id: 'b', z: 1 }, { id: 'c', z: 2 }];
  assert.deepEqual([...piled([all[1], all[0]], all, true)], [['a', 3], ['b', 4]]);
  assert.deepEqual([...piled([all[1], all[2]], all, false)], [['b', -2], ['c', -1]]);
  assert.equal(piled([all[2]], all, true), null);
  assert.equal(piled(all, all, true), null);
});

test('a search agrees with the words of the server', () => {
  const here = (query, text) => find(parse(query), text)?.map(({ start, end }) => text.slice(start, end));
  assert.deepEqual(here('strasse', 'Hauptstraße, STRASSE'), ['STRASSE']);
  assert.deepEqual(here('ΣΊΣΥΦΟΣ', 'ο σίσυφος'), ['σίσυφος']);
  assert.deepEqual(here('cafe', 'cafe\u0301 noir'), ['cafe\u0301']);
  assert.deepEqual(here('買', '牛乳を買う'), ['買']);
  assert.deepEqual(here('a b', 'b only'), undefined);
  assert.deepEqual(here('🎉', 'party 🎉!'), ['🎉']);
  assert.deepEqual(here('don', "don't"), ['don']);
  assert.equal(predicate('  '), null);
  assert.equal(predicate('a"b\\'), 'text SEARCH "a\\"b\\\\"');
  assert.equal(predicate('/a|b/'), 'text MATCHES "(.|\\\\n)*(a|b)(.|\\\\n)*"');
  assert.equal(quoted('a\nb\0'), '"a\\nb\0"');
});

test('the words that a text has are highlighted without case and accents', () => {
  const here = (query, text) => places(parse(query), text).ranges.map(({ start, end }) => text.slice(start, end));
  assert.deepEqual(here('cafe lait', 'Café au Lait'), ['Café', 'Lait']);
  // A piece of a note may have some of the words only.
  assert.deepEqual(here('cafe lait', 'two cafe\u0301s'), ['cafe\u0301']);
  assert.deepEqual(here('strasse', 'STRASSE und Straße'), ['STRASSE', 'Straße']);
  assert.deepEqual(here('', 'a'), []);
});

test('exports cannot be broken by texts', () => {
  const one = {
    id: note, number: '+1', text: '-->\n---\n# x', color: 'yellow', tags: [{ id: 't', name: '--><script>\n' }], x: 0, y: 0, createdAt: null, updatedAt: null,
  };
  const text = markdown('Home\n# other', [one]);
  assert.equal(text.split('\n')[0], '# Home # other');
  assert.match(text.split('\n')[2], /^<!-- \+1 · yellow · - - <script +-->$/);
  const lines = jsonLines({ id: board, name: 'Home' }, [one], [{ id: 'l', from: note, to: 'elsewhere', label: '' }]).trim().split('\n');
  assert.deepEqual(lines.map((line) => JSON.parse(line).entity), ['Board', 'Tag', 'Note']);
});

test('the status says what is true', () => {
  const facts = {
    connection: 'live', isRefused: null, refusal: '', isSignedOut: false, canWrite: true, wasLive: true, lostFor: 0, isOnline: true,
    unsent: 0, parked: 0, keeps: 'durable', update: false, reloadsOffline: true,
  };
  const kind = (changes) => statusOf({ ...facts, ...changes }).kind;
  assert.equal(kind({}), 'live');
  assert.equal(kind({ canWrite: false }), 'readOnly');
  assert.equal(kind({ connection: 'connecting', wasLive: false }), 'connecting');
  assert.equal(kind({ connection: 'reconnecting' }), 'reconnecting');
  assert.equal(kind({ connection: 'reconnecting', isOnline: false }), 'offline');
  assert.equal(kind({ connection: 'reconnecting', lostFor: 9000 }), 'offline');
  assert.equal(kind({ connection: 'closed', isRefused: 'notAllowed' }), 'notAllowed');
  assert.equal(kind({ connection: 'closed', isSignedOut: true }), 'signedOut');
  assert.match(statusOf({ ...facts, connection: 'reconnecting', unsent: 2, keeps: 'none' }).message, /2 edits kept in this page only/);
  assert.match(statusOf({ ...facts, unsent: 1, keeps: 'none' }).message, /leave the page open/);
  assert.match(statusOf({ ...facts, isSignedOut: true, unsent: 1 }).message, /1 edit stays here.*stickies login --browser/);
});

test('an address names a login or a board', () => {
  assert.deepEqual(parseFragment('#code=a%2Bb'), { secret: { code: 'a+b' }, board: null });
  assert.deepEqual(parseFragment('#share=stk_x&board=y'), { secret: { token: 'stk_x' }, board: 'y' });
  assert.deepEqual(parseFragment(''), { secret: null, board: null });
  assert.deepEqual(parseFragment('#%%%'), { secret: null, board: null });
});

test('without locks, tabs find out who is alive by asking', async () => {
  const clock = new FakeClock();
  const channels = new Set();
  const open = () => {
    const made = { onmessage: () => {}, postMessage: (data) => { for (const each of channels) if (each !== made) each.onmessage({ data }); }, close: () => channels.delete(made) };
    channels.add(made);
    return made;
  };
  const [one, two] = [0, 1].map(() => openTabs(undefined, open, (body, time) => clock.later(body, time)));
  one.hold('one');
  const ended = [];
  two.ended('one', async () => { ended.push('one'); });
  two.ended('gone', async () => { ended.push('gone'); });
  await clock.pass(1000);
  assert.deepEqual(ended, ['gone']);
  one.close();
  await clock.pass(40_000);
  assert.deepEqual(ended, ['gone', 'one']);
  await settle();
});

test('what decides about edits uses neither page, storage, network nor clock', () => {
  const pure = ['context/text', 'keep/queue', 'control/board', 'control/edits', 'control/live'];
  // Members of other objects can have these names.
  const forbidden = /(?<![.\w#])(?:document|window(?!:)|navigator|location|indexedDB|localStorage|sessionStorage|fetch|setTimeout|setInterval|performance|crypto)\b|Date\.now|new Date\(\)|Math\.random/;
  for (const name of pure) {
    const source = readFileSync(new URL(`../../Web/${name}.js`, import.meta.url), 'utf8');
    const code = source.replace(/\/\*[^]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '');
    assert.equal(forbidden.exec(code)?.[0], undefined, name);
  }
});
