import assert from 'node:assert/strict';
import test from 'node:test';
import * as splices from '../../Web/context/text.js';

const alphabet = ['a', 'b', ' ', '\n', 'é', '\u0301', '🎉', '𝄞', 'ש', '漢', '\0', 'word', 'יום'];

/** A generator of numbers below `limit`, from a seed that a failure prints. */
export function random(seed) {
  let state = seed >>> 0;
  return (limit) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}

function text(next, count) {
  let result = '';
  for (let index = 0; index < count; index += 1) result += alphabet[next(alphabet.length)];
  return result;
}

/** Places between characters, in UTF-16 units. */
function places(string) {
  const result = [0];
  for (const character of string) result.push(result[result.length - 1] + character.length);
  return result;
}

function edit(next, string) {
  const all = places(string);
  const made = [];
  let at = 0;
  for (let count = 1 + next(3); count > 0 && at < all.length; count -= 1) {
    const start = at + next(all.length - at);
    const end = Math.min(all.length - 1, start + next(4));
    made.push({ offset: all[start], length: all[end] - all[start], insertion: text(next, next(4)) });
    at = end + 1;
  }
  return made.filter((each) => each.length > 0 || each.insertion !== '');
}

test('a comparison leads from one text to the other', () => {
  for (let seed = 1; seed <= 3000; seed += 1) {
    const next = random(seed);
    const old = text(next, next(40));
    const now = next(3) ? splices.apply(edit(next, old), old) : text(next, next(40));
    assert.equal(splices.apply(splices.differences(old, now), old), now, `seed ${seed}`);
  }
});

test('a comparison keeps the text between two edits', () => {
  const old = 'buy milk and bread at the corner shop';
  const made = splices.differences(old, 'buy oat milk and brown bread at the corner shop');
  assert.deepEqual(made.map((each) => [each.length, each.insertion.trim()]), [[0, 'oat'], [0, 'brown']]);
  assert.ok(made[0].offset < 5 && made[1].offset > 11);
});

test('offsets in bytes agree with an encoder', () => {
  for (let seed = 1; seed <= 2000; seed += 1) {
    const next = random(seed);
    const old = text(next, next(30));
    const made = edit(next, old);
    const bytes = Buffer.from(old, 'utf8');
    const parts = [];
    let position = 0;
    const wire = splices.toBytes(made, old);
    for (const each of wire) {
      parts.push(bytes.subarray(position, each.offset), Buffer.from(each.insertion, 'utf8'));
      position = each.offset + each.length;
    }
    parts.push(bytes.subarray(position));
    assert.equal(Buffer.concat(parts).toString('utf8'), splices.apply(made, old), `seed ${seed}`);
    assert.deepEqual(splices.fromBytes(wire, old), made, `seed ${seed}`);
  }
});

test('an offset within a character is refused', () => {
  assert.throws(() => splices.fromBytes([{ offset: 2, length: 0, insertion: 'x' }], '🎉'), RangeError);
  assert.throws(() => splices.fromBytes([{ offset: 5, length: 0, insertion: 'x' }], '🎉'), RangeError);
});

test('composed edits have the effect of both', () => {
  for (let seed = 1; seed <= 3000; seed += 1) {
    const next = random(seed);
    const old = text(next, next(30));
    const first = edit(next, old);
    const middle = splices.apply(first, old);
    const second = edit(next, middle);
    const both = splices.compose(first, second);
    assert.equal(splices.apply(both, old), splices.apply(second, middle), `seed ${seed}`);
  }
});

test('rebased edits keep all letters of both', () => {
  for (let seed = 1; seed <= 2000; seed += 1) {
    const next = random(seed);
    const old = 'x'.repeat(20);
    const [mine, theirs] = [['a', 'b'], ['c', 'd']].map(([one, other]) => {
      const start = next(18);
      return [
        { offset: start, length: next(2), insertion: one },
        { offset: start + 2, length: 0, insertion: other },
      ];
    });
    const both = splices.apply(splices.rebase(mine, theirs), splices.apply(theirs, old));
    for (const letter of 'abcd') assert.ok(both.includes(letter), `seed ${seed}`);
    const deleted = new Set([...mine, ...theirs].filter((each) => each.length > 0).map((each) => each.offset)).size;
    assert.equal(both.length, 20 - deleted + 4, `seed ${seed}`);
  }
});

test('at one place the earlier text is first, unless only the later one continues a word', () => {
  const earlier = [{ offset: 2, length: 0, insertion: 'E' }];
  const later = { offset: 2, length: 0, insertion: 'L' };
  assert.equal(splices.rebase([later], earlier)[0].offset, 3);
  assert.equal(splices.rebase([{ ...later, continues: true }], earlier)[0].offset, 2);
  assert.equal(splices.rebase([{ ...later, continues: true }], [{ ...earlier[0], continues: true }])[0].offset, 3);
});

test('text that others inserted survives a deletion around it', () => {
  const mine = splices.rebase([{ offset: 0, length: 4, insertion: '' }], [{ offset: 2, length: 0, insertion: 'new' }]);
  assert.equal(splices.apply(mine, 'abnewcd'), 'new');
});

test('a typed run continues the text before it when edits are composed', () => {
  const first = [{ offset: 3, length: 0, insertion: 'd', continues: true }];
  assert.deepEqual(splices.compose(first, [{ offset: 4, length: 0, insertion: 'e' }]),
    [{ offset: 3, length: 0, insertion: 'de', continues: true }]);
});

test('half of a surrogate pair is never stored or split', () => {
  assert.equal(splices.wellFormed('a\uD83Db\uDE00c😀'), 'a\uFFFDb\uFFFDc😀');
  assert.deepEqual(splices.splice('x😀y', { start: 2, end: 2, text: '\uD83D' }), { offset: 1, length: 2, insertion: '\uFFFD' });
  assert.deepEqual(splices.splice('ab', { start: -5, end: 99, text: 'c' }), { offset: 0, length: 2, insertion: 'c' });
});

test('a text of 4 MB is compared and converted quickly', () => {
  const old = 'ש123456 '.repeat(466_000);
  const start = performance.now();
  const now = old.slice(0, 2_000_000) + 'typed' + old.slice(2_000_000);
  assert.equal(splices.differences(old, now).length, 1);
  assert.equal(splices.toBytes([{ offset: old.length, length: 0, insertion: '' }], old)[0].offset, Buffer.byteLength(old));
  assert.ok(performance.now() - start < 2000);
});
