// Texts and the edits of them: the server counts bytes of UTF-8, the browser counts UTF-16 code units.
//
// An astral character has two code units and four bytes. A lone surrogate, which no server stores, counts three bytes:
// it is sent as U+FFFD.

/**
 * @typedef {{ offset: number, length: number, insertion: string, leftAffinity?: boolean }} ByteSplice in bytes of UTF-8
 */

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
 * @param {ByteSplice[]} splices
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
 * @param {ByteSplice[]} splices
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

// ---- Splices
//
// A splice replaces the units from `offset` to `offset + length` by `insertion`; the offsets of one edit all refer to
// the text before it, ascending and without overlap. Here they count UTF-16 units, as the DOM does; on the wire and in
// unsent edits they count bytes of UTF-8. The rules of rebasing are the server's (TextSplice.swift), so that a
// prediction made here equals its result.

/** @typedef {{offset: number, length: number, insertion: string, continues?: boolean}} Splice
 *  `continues`: the insertion continues what its author wrote to its left, so no other author's text comes between. */

/** The most parts that are compared; larger differences become one splice. */
const maximumParts = 2000;
/** The most splices of a comparison; more are joined into one. */
const maximumHunks = 100;
/** The most steps of a comparison, whose time and memory grow with their square. */
const maximumSteps = 300;

/** @param {string} text @param {number} offset */
const splitsPair = (text, offset) => isHigh(text.charCodeAt(offset - 1)) && isLow(text.charCodeAt(offset));

/** The text after the splices.
 * @param {Splice[]} splices @param {string} text
 * @throws {RangeError} if a splice lies outside the text or overlaps the previous one */
export function apply(splices, text) {
  let result = '';
  let position = 0;
  for (const { offset, length, insertion } of splices) {
    const isInside = offset >= position && length >= 0 && offset + length <= text.length;
    if (!isInside) throw new RangeError('a splice beyond its text');
    result += text.slice(position, offset) + insertion;
    position = offset + length;
  }
  return result + text.slice(position);
}

/** The single splice for an edit of a text field, on boundaries of characters.
 * @param {string} text @param {{start: number, end: number, text: string}} edit @returns {Splice} */
export function splice(text, edit) {
  let start = Math.max(0, Math.min(edit.start, text.length));
  let end = Math.max(start, Math.min(edit.end, text.length));
  if (splitsPair(text, start)) start -= 1;
  if (splitsPair(text, end)) end += 1;
  return { offset: start, length: end - start, insertion: wellFormed(edit.text) };
}

/** The single splice that turns `old` into `text` and touches the fewest units; null for equal texts.
 * @param {string} old @param {string} text @returns {Splice | null} */
function smallest(old, text) {
  if (old === text) return null;
  const { start, end, text: insertion } = difference(old, text);
  return { offset: start, length: end - start, insertion };
}

// ---- Comparing

const lines = /[^\n]*\n|[^\n]+/g;
const words = /[\p{L}\p{N}\p{M}]+|[^]/gu;
const letters = /[^]/gu;

/** The splices that turn `old` into `text`, ascending and not adjacent. It compares lines, then the words of differing
 * lines, then the letters of words that mostly stay: one splice over all of it would not merge with the edits of
 * others in between.
 * @param {string} old @param {string} text @returns {Splice[]} */
export function differences(old, text) {
  const whole = smallest(old, text);
  if (!whole) return [];
  if (whole.length === 0 || whole.insertion === '') return [whole];
  let start = old.lastIndexOf('\n', whole.offset - 1) + 1;
  if (whole.offset === 0) start = 0;
  const newEnd = whole.offset + whole.insertion.length;
  const oldEnd = whole.offset + whole.length;
  const rest = old.indexOf('\n', oldEnd);
  const more = (rest < 0 ? old.length : rest) - oldEnd;
  const hunk = { start, old: old.slice(start, oldEnd + more), text: text.slice(start, newEnd + more) };
  let hunks = compare(hunk, lines);
  if (hunks.length > maximumHunks) return [whole];
  hunks = hunks.flatMap((each) => compare(each, words)).flatMap(letterHunks);
  /** @type {Splice[]} */
  const splices = [];
  for (const each of hunks) {
    const part = smallest(each.old, each.text);
    if (!part) continue;
    const last = splices[splices.length - 1];
    if (last && last.offset + last.length === each.start + part.offset) {
      last.length += part.length;
      last.insertion += part.insertion;
    } else {
      splices.push({ ...part, offset: each.start + part.offset });
    }
  }
  return splices.length > maximumHunks ? [whole] : splices;
}

/** @typedef {{start: number, old: string, text: string}} Hunk a part of the old text at `start`, and its replacement */

/** The hunks of a word, or of text without spaces. Letters that two different words share are coincidence.
 * @param {Hunk} hunk @returns {Hunk[]} */
function letterHunks(hunk) {
  if (Math.min(hunk.old.length, hunk.text.length) < 8) return [hunk];
  /** @type {Hunk[]} */
  const places = [];
  let shift = 0;
  for (const next of compare(hunk, letters)) {
    const last = places[places.length - 1];
    const gap = last ? next.start - last.start - last.old.length : 3;
    if (last && gap < 3) {
      const between = hunk.old.slice(next.start - gap - hunk.start, next.start - hunk.start);
      last.old += between + next.old;
      last.text += between + next.text;
    } else {
      places.push({ ...next });
    }
    shift += Math.max(next.old.length, next.text.length);
  }
  return shift * 2 <= Math.max(hunk.old.length, hunk.text.length) ? places : [hunk];
}

/** @param {Hunk} hunk @param {RegExp} parts @returns {Hunk[]} */
function compare(hunk, parts) {
  const old = hunk.old.match(parts) ?? [];
  const text = hunk.text.match(parts) ?? [];
  let prefix = 0;
  while (prefix < old.length && prefix < text.length && old[prefix] === text[prefix]) prefix += 1;
  let suffix = 0;
  while (suffix < old.length - prefix && suffix < text.length - prefix
    && old[old.length - 1 - suffix] === text[text.length - 1 - suffix]) suffix += 1;
  const a = old.slice(prefix, old.length - suffix);
  const b = text.slice(prefix, text.length - suffix);
  const start = hunk.start + old.slice(0, prefix).join('').length;
  if (a.length === 0 && b.length === 0) return [];
  const pairs = a.length > 0 && b.length > 0 && a.length + b.length <= maximumParts ? common(a, b) : [];
  if (!pairs) return [{ start, old: a.join(''), text: b.join('') }];
  /** @type {Hunk[]} */
  const hunks = [];
  let [i, j, place] = [0, 0, start];
  for (const [x, y] of [...pairs, [a.length, b.length]]) {
    const [removed, inserted] = [a.slice(i, x).join(''), b.slice(j, y).join('')];
    if (removed || inserted) hunks.push({ start: place, old: removed, text: inserted });
    place += removed.length + (a[x] ?? '').length;
    [i, j] = [x + 1, y + 1];
  }
  return hunks;
}

/** The pairs of indexes of a longest common subsequence (Myers), or null if the lists differ too much.
 * @param {string[]} a @param {string[]} b @returns {[number, number][] | null} */
function common(a, b) {
  const limit = Math.min(a.length + b.length, maximumSteps);
  const reach = new Int32Array(2 * limit + 3);
  /** @type {Int32Array[]} */
  const trace = [];
  for (let step = 0; step <= limit; step += 1) {
    trace.push(reach.slice());
    for (let k = -step; k <= step; k += 2) {
      const at = k + limit + 1;
      let x = k === -step || (k !== step && reach[at - 1] < reach[at + 1]) ? reach[at + 1] : reach[at - 1] + 1;
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x += 1;
      reach[at] = x;
      if (x >= a.length && x - k >= b.length) return walkBack(trace, a.length, b.length, limit);
    }
  }
  return null;
}

/** @param {Int32Array[]} trace @param {number} x @param {number} y @param {number} limit */
function walkBack(trace, x, y, limit) {
  /** @type {[number, number][]} */
  const pairs = [];
  for (let step = trace.length - 1; step >= 0; step -= 1) {
    const reach = trace[step];
    const k = x - y;
    const at = k + limit + 1;
    const before = k === -step || (k !== step && reach[at - 1] < reach[at + 1]) ? k + 1 : k - 1;
    const start = step === 0 ? 0 : reach[before + limit + 1];
    const startY = step === 0 ? 0 : start - before;
    for (; x > start && y > startY; x -= 1, y -= 1) pairs.push([x - 1, y - 1]);
    [x, y] = [start, startY];
  }
  return pairs.reverse();
}

// ---- Rebasing and composing

/** The splices as they apply after `earlier`, which was made against the same text. Text that `earlier` inserted is
 * never deleted; at equal places the earlier insertion comes first, unless only the later one continues a text.
 * @param {Splice[]} splices @param {Splice[]} earlier @returns {Splice[]} */
export function rebase(splices, earlier) {
  /** @type {Splice[]} */
  const result = [];
  for (const each of splices) {
    const last = result[result.length - 1];
    const goesFirst = (/** @type {Splice} */ other) => Boolean(other.continues) || !each.continues;
    const place = Math.max(moved(each.offset, earlier, goesFirst), last ? last.offset + last.length : 0);
    const pieces = remaining(each.offset, each.offset + each.length, earlier);
    const first = { ...each, offset: place, length: 0 };
    if (pieces.length > 0 && pieces[0][0] === place) {
      first.length = pieces[0][1] - place;
      pieces.shift();
    }
    if (first.length > 0 || first.insertion !== '') result.push(first);
    for (const [start, end] of pieces) result.push({ offset: start, length: end - start, insertion: '' });
  }
  return result;
}

/** An offset in the text after the splices.
 * @param {number} offset @param {Splice[]} splices
 * @param {(other: Splice) => boolean} goesFirst whether an insertion at the same place is to the left */
export function moved(offset, splices, goesFirst) {
  let shift = 0;
  for (const each of splices) {
    if (each.length === 0 && each.insertion === '') continue;
    if (!(each.offset < offset || (each.offset === offset && goesFirst(each)))) break;
    if (each.offset + each.length > offset) return each.offset + shift + each.insertion.length;
    shift += each.insertion.length - each.length;
  }
  return offset + shift;
}

/** The parts of a range that the splices leave, in the text after them, split where they insert.
 * @param {number} start @param {number} end @param {Splice[]} splices @returns {[number, number][]} */
function remaining(start, end, splices) {
  /** @type {[number, number][]} */
  const pieces = [];
  let from = start;
  let shift = 0;
  for (const each of splices) {
    if (each.offset >= end) break;
    if (each.offset > from) pieces.push([from + shift, each.offset + shift]);
    from = Math.max(from, each.offset + each.length);
    shift += each.insertion.length - each.length;
  }
  if (from < end) pieces.push([from + shift, end + shift]);
  return pieces;
}

/** The splices with the effect of `first` and then `second`, whose offsets are of the text after `first`. Text that
 * neither touches stays untouched.
 * @param {Splice[]} first @param {Splice[]} second @returns {Splice[]} */
export function compose(first, second) {
  /** @typedef {{start: number, count: number, text: string | null, continues?: boolean}} Piece */
  /** @type {Piece[]} */
  let pieces = [];
  let position = 0;
  for (const each of first) {
    if (each.offset > position) pieces.push({ start: position, count: each.offset - position, text: null });
    pieces.push({ start: 0, count: each.insertion.length, text: each.insertion, continues: each.continues });
    position = each.offset + each.length;
  }
  pieces.push({ start: position, count: Number.MAX_SAFE_INTEGER - position, text: null });
  /** @type {Piece[]} */
  const edited = [];
  /** @param {number} count @param {Piece[]} into */
  const take = (count, into) => {
    while (count > 0 && pieces.length > 0) {
      const [piece] = pieces;
      const taken = Math.min(count, piece.count);
      into.push({ ...piece, count: taken, text: piece.text?.slice(0, taken) ?? null });
      if (taken === piece.count) {
        pieces.shift();
      } else {
        const text = piece.text?.slice(taken) ?? null;
        pieces[0] = { start: piece.start + taken, count: piece.count - taken, text };
      }
      count -= taken;
    }
  };
  position = 0;
  for (const each of second) {
    take(each.offset - position, edited);
    edited.push({ start: 0, count: each.insertion.length, text: each.insertion, continues: each.continues });
    take(each.length, []);
    position = each.offset + each.length;
  }
  return fromPieces([...edited, ...pieces]);
}

/** @param {{start: number, count: number, text: string | null, continues?: boolean}[]} pieces @returns {Splice[]} */
function fromPieces(pieces) {
  /** @type {Splice[]} */
  const result = [];
  let position = 0;
  let insertion = '';
  let continues = false;
  for (const piece of pieces) {
    if (piece.text !== null) {
      if (insertion === '' && piece.text !== '') continues = Boolean(piece.continues);
      insertion += piece.text;
    } else if (piece.count > 0) {
      if (piece.start > position || insertion !== '') {
        const made = { offset: position, length: piece.start - position, insertion };
        result.push(continues && insertion !== '' ? { ...made, continues } : made);
        [insertion, continues] = ['', false];
      }
      position = piece.start + piece.count;
    }
  }
  return result;
}

// ---- Bytes

/** The splices of a text with offsets in bytes of UTF-8.
 * @param {Splice[]} splices @param {string} text the text before them @returns {Splice[]} */
export function toBytes(splices, text) {
  let [units, bytes] = [0, 0];
  return splices.map((each) => {
    bytes += byteLength(text, units, each.offset);
    const length = byteLength(text, each.offset, each.offset + each.length);
    const result = { ...each, offset: bytes, length };
    units = each.offset + each.length;
    bytes += length;
    return result;
  });
}

/** The splices of a text with offsets in UTF-16 units.
 * @param {Splice[]} splices with offsets in bytes of UTF-8 @param {string} text the text before them
 * @returns {Splice[]}
 * @throws {RangeError} if an offset is beyond the text or within a character */
export function fromBytes(splices, text) {
  let [units, bytes] = [0, 0];
  /** @param {number} goal */
  const advance = (goal) => {
    units = goal < bytes ? -1 : unitOffset(text, goal - bytes, units);
    if (units < 0) throw new RangeError('a splice beyond its text');
    bytes = goal;
    return units;
  };
  return splices.map((each) => {
    const offset = advance(each.offset);
    return { ...each, offset, length: advance(each.offset + each.length) - offset };
  });
}
