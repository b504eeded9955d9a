// The geometry of the board: camera, snapping, neighbors by arrow, arrangements, the index and text splices.
import assert from 'node:assert/strict';
import test from 'node:test';
import * as g from '../../Web/board/geometry.js';

/** A generator of numbers from 0 to 1 that repeats for a seed. */
export function random(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

const rect = (x, y, width = 200, height = 200) => ({ x, y, width, height });

test('the point under the pointer stays while zooming', () => {
  const next = random(1);
  for (let i = 0; i < 500; i++) {
    const camera = { x: next() * 2000 - 1000, y: next() * 2000 - 1000, scale: 0.1 + next() * 3 };
    const pixel = { x: next() * 1280, y: next() * 800 };
    const before = g.toBoard(camera, pixel), after = g.toBoard(g.zoomAt(camera, pixel, next() * 5), pixel);
    assert.ok(Math.abs(before.x - after.x) < 1e-6 && Math.abs(before.y - after.y) < 1e-6);
  }
  assert.equal(g.zoomAt({ x: 0, y: 0, scale: 1 }, { x: 0, y: 0 }, 99).scale, g.maximumScale);
});

test('fit shows the complete rectangle between the bars', () => {
  const view = { width: 1280, height: 800 }, inset = { top: 80, right: 40, bottom: 100, left: 40 };
  for (const r of [rect(0, 0), rect(-5000, 300, 9000, 20), rect(10, 10, 1, 4000)]) {
    const camera = g.fit(r, view, inset), a = g.toScreen(camera, r), b = g.toScreen(camera, { x: r.x + r.width, y: r.y + r.height });
    assert.ok(a.x >= 40 - 1e-6 && a.y >= 80 - 1e-6 && b.x <= 1240 + 1e-6 && b.y <= 700 + 1e-6, JSON.stringify(r));
  }
});

test('reveal does not move a view that already shows the note', () => {
  const view = { width: 1000, height: 800 }, inset = { top: 50, right: 50, bottom: 50, left: 50 }, camera = { x: 0, y: 0, scale: 1 };
  assert.deepEqual(g.reveal(camera, rect(100, 100), view, inset), camera);
  assert.deepEqual(g.reveal(camera, rect(900, 100), view, inset), { x: 150, y: 0, scale: 1 });
});

test('a note snaps to edges, centers and the usual distance', () => {
  assert.equal(g.snap(rect(3, 500), [rect(0, 0)], 7).dx, -3);
  assert.equal(g.snap(rect(53, 500, 100, 100), [rect(0, 0)], 7).dx, -3, 'centers');
  assert.equal(g.snap(rect(224, 40), [rect(0, 0)], 7).dx, -4, 'a distance of 20 points');
  const far = g.snap(rect(60, 500), [rect(0, 0)], 7);
  assert.deepEqual([far.dx, far.dy, far.guides.length], [0, 0, 0]);
});

test('the correction of a snap is never larger than the tolerance', () => {
  const next = random(7);
  for (let i = 0; i < 300; i++) {
    const others = Array.from({ length: 8 }, () => rect(next() * 1000, next() * 1000, 50 + next() * 300, 50 + next() * 300));
    const { dx, dy, guides } = g.snap(rect(next() * 1000, next() * 1000), others, 6);
    assert.ok(Math.abs(dx) < 6 && Math.abs(dy) < 6);
    for (const guide of guides) assert.ok(guide.from <= guide.to);
  }
});

test('arrows lead to the nearest note in their direction', () => {
  const grid = [0, 1, 2].flatMap((y) => [0, 1, 2].map((x) => rect(x * 220, y * 220))), middle = grid[4];
  assert.equal(g.neighbor(middle, grid, 'left'), grid[3]);
  assert.equal(g.neighbor(middle, grid, 'right'), grid[5]);
  assert.equal(g.neighbor(middle, grid, 'up'), grid[1]);
  assert.equal(g.neighbor(middle, grid, 'down'), grid[7]);
  assert.equal(g.neighbor(grid[0], grid, 'left'), null);
});

test('the way back by arrow exists in a grid', () => {
  const grid = Array.from({ length: 25 }, (_, i) => rect((i % 5) * 220, Math.floor(i / 5) * 220));
  const back = { left: 'right', right: 'left', up: 'down', down: 'up' };
  for (const note of grid) for (const direction of Object.keys(back)) {
    const next = g.neighbor(note, grid, direction);
    if (next) assert.equal(g.neighbor(next, grid, back[direction]), note);
  }
});

test('arrangements keep the extent and do not overlap', () => {
  const notes = [rect(0, 0), rect(500, 30), rect(250, 10, 100, 100)];
  assert.deepEqual(g.align(notes, 'top').map((p) => p.y), [0, 0, 0]);
  assert.deepEqual(g.align(notes, 'right').map((p) => p.x), [500, 500, 600]);
  const spread = g.distribute(notes, 'x');
  assert.deepEqual([spread[0].x, spread[1].x, spread[2].x], [0, 500, 300]);
  const next = random(3), many = Array.from({ length: 17 }, () => rect(next() * 400, next() * 400, 80 + next() * 200, 80 + next() * 200));
  const placed = g.tidy(many).map((p, i) => ({ ...many[i], ...p }));
  for (const a of placed) for (const b of placed) if (a !== b) assert.ok(!g.intersects(a, b));
});

test('the index finds what a search through all finds', () => {
  const next = random(11), index = new g.SpatialIndex(), all = new Map();
  for (let i = 0; i < 3000; i++) {
    const id = String(Math.floor(next() * 400));
    if (next() < 0.2) index.delete(id), all.delete(id);
    else {
      const size = next() < 0.02 ? 20000 : 300, r = rect(next() * 8000 - 4000, next() * 8000 - 4000, next() * size + 1, next() * size + 1);
      index.set(id, r), all.set(id, r);
    }
    if (i % 20) continue;
    const wanted = rect(next() * 8000 - 4000, next() * 8000 - 4000, next() * 3000, next() * 3000);
    const naive = [...all].filter(([, r]) => g.intersects(r, wanted)).map(([key]) => key).sort();
    assert.deepEqual(index.query(wanted).map((r) => r.id).sort(), naive);
  }
  assert.equal(index.size, all.size);
});

test('a splice turns one text into the other and cuts no surrogate pair', () => {
  const next = random(5), letters = ['a', 'b', '\n', '😀', '😁', 'é', 'ا'];
  const text = () => Array.from({ length: Math.floor(next() * 12) }, () => letters[Math.floor(next() * letters.length)]).join('');
  for (let i = 0; i < 5000; i++) {
    const before = text(), after = text(), s = g.splice(before, after, Math.floor(next() * (after.length + 1)));
    assert.equal(before.slice(0, s.start) + s.text + before.slice(s.end), after);
    assert.ok(s.start <= s.end && s.text.isWellFormed?.() !== false);
  }
  assert.deepEqual(g.splice('aaa', 'aaaa', 2), { start: 1, end: 1, text: 'a' }, 'the caret decides among equal letters');
});

test('a new note does not lie exactly on another', () => {
  const index = new g.SpatialIndex();
  for (let i = 0; i < 20; i++) index.set(String(i), { ...rect(0, 0), ...g.freePlace(rect(0, 0), index) });
  const corners = new Set(index.query(rect(-100, -100, 5000, 5000)).map((r) => `${r.x} ${r.y}`));
  assert.equal(corners.size, 20);
});

test('a new note takes a free place in the view', () => {
  const index = new g.SpatialIndex(), view = rect(0, 0, 1000, 800);
  for (let i = 0; i < 6; i++) {
    const place = { ...rect(0, 0), ...g.freePlace(rect(400, 300), index, view) };
    assert.equal(index.query(place).length, 0);
    assert.ok(place.x >= 0 && place.y >= 0 && place.x <= 800 && place.y <= 600);
    index.set(String(i), place);
  }
});

test('an arrow begins and ends at the sides that face each other', () => {
  assert.match(g.arrow(rect(0, 0), rect(400, 0)).d, /^M200 100C.* 396 100$/);
  assert.match(g.arrow(rect(0, 400), rect(0, 0)).d, /^M100 400C.* 100 204$/);
});
