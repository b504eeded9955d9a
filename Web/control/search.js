// Searching texts in the browser, as the server's SEARCH does: each word of the query is a prefix of a word of the text,
// or in scripts without spaces occurs in a run. Case, diacritics and width are ignored.

/** The most units of a text that are searched for places to highlight. */
const maximumLength = 262_144;

const letter = /[\p{Alphabetic}\p{N}\p{Mn}\p{Mc}]/u;
const emoji = /\p{Emoji}/u;
const phrase = /[\p{Ideographic}\u0E00-\u0EFF\u1000-\u109F\uA9E0-\uA9FF\uAA60-\uAA7F\u1780-\u17FF\u1950-\u19DF\u1A20-\u1AAF\uAA80-\uAADF\u{11700}-\u{1174F}\u1B00-\u1B7F\uA980-\uA9DF\u3005\u303B\u3041-\u30FF\u31F0-\u31FF\u{1AFF0}-\u{1AFFF}\u{1B000}-\u{1B16F}]/u;

/** @typedef {'letter' | 'phrase' | null} Kind  null for a separator */
/** @typedef {{start: number, end: number}} Range in UTF-16 units */

/** @param {string} character folded @returns {Kind} */
function kindOf(character) {
  const code = /** @type {number} */ (character.codePointAt(0));
  if (code < 0x80) return (code >= 0x61 && code <= 0x7A) || (code >= 0x30 && code <= 0x39) ? 'letter' : null;
  if (!letter.test(character) && !(code > 0xFF && emoji.test(character))) return null;
  return phrase.test(character) ? 'phrase' : 'letter';
}

/** A character without case, diacritics and width; empty for a mark that belongs to the letter before it.
 * @param {string} character */
function folded(character) {
  if (character < '\x80') return character.toLowerCase();
  if (character === 'ı') return character;
  return character.normalize('NFKD').replace(/\p{Mn}/gu, '').toUpperCase().toLowerCase().replace(/ς/g, 'σ');
}

/** Visits the words of a text: their kind, and for each character its place and folded form.
 * @param {string} text @param {(kind: 'letter' | 'phrase', word: string, steps: {index: number, before: number}[], end: number) => void} visit */
function eachWord(text, visit) {
  /** @type {Kind} */
  let kind = null;
  let word = '';
  /** @type {{index: number, before: number}[]} */
  let steps = [];
  let index = 0;
  const finish = () => {
    if (kind) visit(kind, word, steps, index);
    [kind, word, steps] = [null, '', []];
  };
  for (const character of text) {
    const piece = folded(character);
    if (piece !== '') {
      const next = kindOf(piece);
      if (next !== kind) finish();
      if (next) {
        kind = next;
        steps.push({ index, before: word.length });
        word += piece;
      }
    }
    index += character.length;
  }
  finish();
}

/** A query: its words, folded. A query without words finds nothing.
 * @param {string} text @returns {{kind: 'letter' | 'phrase', word: string}[]} */
export function parse(text) {
  /** @type {{kind: 'letter' | 'phrase', word: string}[]} */
  const words = [];
  eachWord(text, (kind, word) => { words.push({ kind, word }); });
  return words;
}

/** The places to highlight in a text that matches; null if it does not match.
 * @param {{kind: 'letter' | 'phrase', word: string}[]} query @param {string} text @returns {Range[] | null} */
export function find(query, text) {
  if (query.length === 0) return null;
  const missing = new Set(query);
  /** @type {Range[]} */
  const ranges = [];
  eachWord(text.length > maximumLength ? text.slice(0, maximumLength) : text, (kind, word, steps, end) => {
    const endOf = (/** @type {number} */ length) => steps.find((step) => step.before >= length)?.index ?? end;
    if (kind === 'letter') {
      let longest = 0;
      for (const each of query) {
        if (each.kind !== 'letter' || !word.startsWith(each.word)) continue;
        missing.delete(each);
        longest = Math.max(longest, each.word.length);
      }
      if (longest > 0) ranges.push({ start: steps[0].index, end: endOf(longest) });
      return;
    }
    let covered = 0;
    for (const { index, before } of steps) {
      for (const each of query) {
        if (each.kind !== 'phrase' || !word.startsWith(each.word, before)) continue;
        missing.delete(each);
        const length = before + each.word.length;
        if (length <= covered) continue;
        const last = ranges[ranges.length - 1];
        if (before < covered && last) last.end = endOf(length);
        else ranges.push({ start: index, end: endOf(length) });
        covered = length;
      }
    }
  });
  return missing.size === 0 ? ranges : null;
}

/** A string of the predicate language.
 * @param {string} text */
export function quoted(text) {
  return `"${text.replace(/[\\"]/g, '\\$&').replace(/\n/g, '\\n').replace(/\t/g, '\\t')}"`;
}

/** The server's condition for a search: words, or between slashes a regular expression.
 * @param {string} text @returns {string | null} null for a text without words */
export function predicate(text) {
  const pattern = /^\/(.+)\/$/s.exec(text.trim());
  if (pattern) return `text MATCHES ${quoted(`(.|\\n)*(${pattern[1]})(.|\\n)*`)}`;
  return parse(text).length > 0 ? `text SEARCH ${quoted(text)}` : null;
}
