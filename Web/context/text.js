// Texts: the server counts bytes of UTF-8, the browser counts UTF-16 code units.
//
// An astral character has two code units and four bytes. A lone surrogate, which no server stores, counts three bytes:
// it is sent as U+FFFD.

/** @typedef {{ offset: number, length: number, insertion: string, leftAffinity?: boolean }} Splice in bytes of UTF-8 */

/**
 * The bytes of UTF-8 that a text takes.
 * @param {string} text
 * @param {number} [start]
 * @param {number} [end]
 */
export function byteLength(text, start = 0, end = text.length) {
  let bytes = 0;
  for (let index = start; index < end; index++) {
    const unit = text.charCodeAt(index);
    if (unit < 0x80) bytes += 1;
    else if (unit < 0x800) bytes += 2;
    else if (isHigh(unit) && index + 1 < end && isLow(text.charCodeAt(index + 1))) {
      bytes += 4;
      index++;
    } else bytes += 3;
  }
  return bytes;
}

/**
 * The code unit at which `bytes` bytes of UTF-8 after `start` end; -1 if they end within a character, or after the
 * text.
 * @param {string} text
 * @param {number} bytes
 * @param {number} [start]
 */
export function unitOffset(text, bytes, start = 0) {
  let index = start;
  let rest = bytes;
  while (rest > 0 && index < text.length) {
    const unit = text.charCodeAt(index);
    const isPair = isHigh(unit) && index + 1 < text.length && isLow(text.charCodeAt(index + 1));
    rest -= unit < 0x80 ? 1 : unit < 0x800 ? 2 : isPair ? 4 : 3;
    index += isPair ? 2 : 1;
  }
  return rest === 0 ? index : -1;
}

/** @param {number} unit */
const isHigh = (unit) => (unit & 0xfc00) === 0xd800;
/** @param {number} unit */
const isLow = (unit) => (unit & 0xfc00) === 0xdc00;

/**
 * The text with U+FFFD in place of lone surrogates, as the server receives it.
 * @param {string} text
 */
export function wellFormed(text) {
  return text.replace(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, '\ufffd');
}

/**
 * Splices as ranges of code units in the text before them; undefined if one is outside the text, within a character, or
 * before the end of the previous one.
 * @param {Splice[]} splices
 * @param {string} text
 * @returns {{ start: number, end: number, text: string }[] | undefined}
 */
export function ranges(splices, text) {
  const found = [];
  let [bytes, unit] = [0, 0];
  for (const { offset, length, insertion } of splices) {
    const start = offset < bytes ? -1 : unitOffset(text, offset - bytes, unit);
    const end = start < 0 || length < 0 ? -1 : unitOffset(text, length, start);
    if (end < 0) return undefined;
    found.push({ start, end, text: insertion });
    [bytes, unit] = [offset + length, end];
  }
  return found;
}

/**
 * The text after the splices; undefined if one does not fit.
 * @param {Splice[]} splices
 * @param {string} text
 */
export function applySplices(splices, text) {
  const places = ranges(splices, text);
  if (!places) return undefined;
  let result = '';
  let at = 0;
  for (const { start, end, text: insertion } of places) {
    result += text.slice(at, start) + insertion;
    at = end;
  }
  return result + text.slice(at);
}

/**
 * A range of code units as a splice. Its ends move out of a surrogate pair, which they would split.
 * @param {string} text
 * @param {number} start
 * @param {number} end
 * @param {string} insertion
 * @returns {Splice}
 */
export function splice(text, start, end, insertion) {
  /** @param {number} index */
  const splits = (index) => isHigh(text.charCodeAt(index - 1)) && isLow(text.charCodeAt(index));
  let inserted = insertion;
  let [first, last] = [start, end];
  // The half of a split pair that is outside the range is kept, in a new pair or alone.
  if (splits(first)) inserted = text[--first] + inserted;
  if (splits(last)) inserted += text[last++];
  return {
    offset: byteLength(text, 0, first), length: byteLength(text, first, last), insertion: wellFormed(inserted),
  };
}

/**
 * The smallest range whose replacement turns `before` into `after`, in code units, without a split pair.
 * @param {string} before
 * @param {string} after
 * @returns {{ start: number, end: number, text: string }}
 */
export function difference(before, after) {
  const shorter = Math.min(before.length, after.length);
  let prefix = 0;
  while (prefix < shorter && before.charCodeAt(prefix) === after.charCodeAt(prefix)) prefix++;
  if (prefix > 0 && isHigh(before.charCodeAt(prefix - 1))) prefix--;
  let suffix = 0;
  while (suffix < shorter - prefix &&
    before.charCodeAt(before.length - 1 - suffix) === after.charCodeAt(after.length - 1 - suffix)) suffix++;
  if (suffix > 0 && isLow(before.charCodeAt(before.length - suffix))) suffix--;
  return { start: prefix, end: before.length - suffix, text: after.slice(prefix, after.length - suffix) };
}
