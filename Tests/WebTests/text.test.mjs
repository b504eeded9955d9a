// Offsets of UTF-8 and UTF-16, compared with the platform's encoder on random texts.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { applySplices, byteLength, difference, ranges, unitOffset, wellFormed } from '../../Web/context/text.js';
import { randomText, seeded, splice } from './random.mjs';

const bytes = (text) => new TextEncoder().encode(text);

test('offsets equal those of an encoder, for random texts with astral characters and lone surrogates', () => {
  for (let seed = 1; seed <= 3_000; seed++) {
    const random = seeded(seed);
    const text = randomText(random, 30);
    assert.equal(byteLength(text), bytes(text).length, `seed ${seed}`);
    let at = 0;
    for (const character of text) {
      assert.equal(unitOffset(text, bytes(text.slice(0, at)).length), at, `seed ${seed}`);
      // Within a character there is no place.
      if (byteLength(character) > 1) assert.equal(unitOffset(text, byteLength(text, 0, at) + 1), -1, `seed ${seed}`);
      at += character.length;
    }
    assert.equal(unitOffset(text, bytes(text).length), text.length);
    assert.equal(unitOffset(text, bytes(text).length + 1), -1);
    assert.equal(wellFormed(text), new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes(text)), `seed ${seed}`);
  }
});

test('a splice of any range gives the text that the range gives', () => {
  for (let seed = 1; seed <= 3_000; seed++) {
    const random = seeded(seed);
    // The text of a server is well-formed; what the user enters need not be.
    const text = wellFormed(randomText(random, 20));
    const start = Math.floor(random() * (text.length + 1));
    const end = start + Math.floor(random() * (text.length - start + 1));
    const insertion = randomText(random, 5);
    const made = splice(text, start, end, insertion);
    assert.equal(applySplices([made], text), wellFormed(text.slice(0, start) + insertion + text.slice(end)), `seed ${seed}`);
  }
});

test('several splices equal the same replacement of bytes', () => {
  for (let seed = 1; seed <= 3_000; seed++) {
    const random = seeded(seed);
    const text = wellFormed(randomText(random, 30));
    const places = [...new Set(Array.from({ length: 6 }, () => Math.floor(random() * (text.length + 1))))].sort((a, b) => a - b);
    const splices = [];
    for (let index = 0; index + 1 < places.length; index += 2) {
      const made = splice(text, places[index], places[index + 1], wellFormed(randomText(random, 3)));
      const last = splices.at(-1);
      if (!last || made.offset >= last.offset + last.length) splices.push(made);
    }
    const source = bytes(text);
    const result = [];
    let at = 0;
    for (const { offset, length, insertion } of splices) {
      result.push(...source.subarray(at, offset), ...bytes(insertion));
      at = offset + length;
    }
    result.push(...source.subarray(at));
    assert.equal(applySplices(splices, text), new TextDecoder('utf-8', { ignoreBOM: true }).decode(Uint8Array.from(result)), `seed ${seed}`);
    assert.equal(ranges(splices, text).length, splices.length);
  }
});

test('a splice that does not fit is refused', () => {
  const refused = [
    { offset: 1, length: 0, insertion: '' }, { offset: 0, length: 1, insertion: '' }, { offset: 9, length: 0, insertion: '' },
    { offset: 4, length: 5, insertion: '' },
  ];
  for (const one of refused) assert.equal(applySplices([one], '🐍ab'), undefined, JSON.stringify(one));
  const overlapping = [{ offset: 0, length: 4, insertion: '' }, { offset: 0, length: 0, insertion: 'x' }];
  assert.equal(applySplices(overlapping, '🐍ab'), undefined);
});

test('a difference is small and never splits a pair', () => {
  for (let seed = 1; seed <= 3_000; seed++) {
    const random = seeded(seed);
    const before = wellFormed(randomText(random, 12));
    const after = random() < 0.5 ? wellFormed(randomText(random, 12)) : wellFormed(before.slice(0, 5) + randomText(random, 2) + before.slice(7));
    const { start, end, text } = difference(before, after);
    assert.equal(before.slice(0, start) + text + before.slice(end), after, `seed ${seed}`);
    assert.equal(wellFormed(text), text, `seed ${seed}`);
    assert.equal(wellFormed(before.slice(start, end)), before.slice(start, end), `seed ${seed}`);
  }
  assert.deepEqual(difference('a🐍b', 'a🐛b'), { start: 1, end: 3, text: '🐛' });
});
