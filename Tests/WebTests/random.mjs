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
