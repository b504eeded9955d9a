// Random texts for tests, and edits of them.
import { byteLength, wellFormed } from '../../Web/context/text.js';

/** A generator of numbers from 0 to 1, the same for the same seed (mulberry32). */
export function seeded(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let value = Math.imul(state ^ (state >>> 15), state | 1);
    value = (value + Math.imul(value ^ (value >>> 7), value | 61)) ^ value;
    return ((value ^ (value >>> 14)) >>> 0) / 4294967296;
  };
}

const characters = ['a', 'b', ' ', '\n', '\0', 'é', 'ß', 'ह', '漢', '\uffff', '\ufeff', '🐍', '🐛', '\u{10ffff}', '\ud83d', '\udc0d'];

/** A text of at most `most` characters, some of which are astral, and some lone surrogates. */
export function randomText(random, most) {
  let text = '';
  for (let count = Math.floor(random() * (most + 1)); count > 0; count--) text += characters[Math.floor(random() * characters.length)];
  return text;
}

/** A range of code units as a splice in bytes. Its ends move out of a surrogate pair, which they would split. */
export function splice(text, start, end, insertion) {
  const splits = (index) => /^[\ud800-\udbff][\udc00-\udfff]$/.test(text.slice(index - 1, index + 1));
  let inserted = insertion;
  let [first, last] = [start, end];
  // The half of a split pair that is outside the range is kept, in a new pair or alone.
  if (splits(first)) inserted = text[--first] + inserted;
  if (splits(last)) inserted += text[last++];
  return {
    offset: byteLength(text, 0, first), length: byteLength(text, first, last), insertion: wellFormed(inserted),
  };
}
