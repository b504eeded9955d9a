// The text forms of ids, byte strings and decimals: docs/protocol.md defines them.

const letters = 'abcdefghjkmnpqrs';
const digits = '0123456789abcdefghjkmnpqrstvwxyz';
const temporary = 'temporary ';
/** @type {number[]} */
const codes = new Array(26).fill(0);

/**
 * The 26 characters of an id, or `temporary N` if its high half is zero.
 * @param {Uint8Array} bytes holds the two halves at `at`, each least significant byte first, the high half first
 * @param {number} at
 */
export function idText(bytes, at) {
  let isTemporary = true;
  for (let index = at; index < at + 8; index++) if (bytes[index] !== 0) isTemporary = false;
  if (isTemporary) return temporary + (littleEndian(bytes, at + 8));
  // The characters are collected in an array, because appending them would build a tree of 26 strings.
  codes[0] = letters.charCodeAt(bytes[at + 15] >> 4);
  let length = 1;
  let rest = bytes[at + 15] & 15;
  let count = 4;
  // The random half comes first, each half from its most significant byte.
  for (let index = 14; index >= -1; index--) {
    const byte = index < 0 ? 0 : bytes[at + index];
    // After the last byte, the last digit ends with a zero bit.
    const bits = index < 0 ? 1 : 8;
    rest = (rest << bits) | byte;
    count += bits;
    while (count >= 5) {
      count -= 5;
      codes[length++] = digits.charCodeAt((rest >> count) & 31);
    }
    rest &= 31;
  }
  return String.fromCharCode.apply(null, codes);
}

/**
 * Writes the two halves of an id into `bytes` at `at`; the reverse of `idText`.
 * @param {string} text
 * @param {Uint8Array} bytes
 * @param {number} at
 * @returns {boolean} whether the text is an id
 */
export function writeID(text, bytes, at) {
  if (text.startsWith(temporary)) {
    const digits = text.slice(temporary.length);
    if (!/^[0-9]{1,20}$/.test(digits)) return false;
    const low = BigInt(digits);
    if (low >> 64n) return false;
    const view = new DataView(bytes.buffer, bytes.byteOffset + at, 16);
    view.setBigUint64(0, 0n);
    view.setBigUint64(8, low, true);
    return true;
  }
  if (text.length !== 26) return false;
  let rest = letters.indexOf(text[0]);
  if (rest < 0) return false;
  let count = 4;
  let index = 15;
  for (let place = 1; place < 26; place++) {
    const digit = digits.indexOf(text[place]);
    if (digit < 0 || (place === 25 && digit & 1)) return false;
    rest = place < 25 ? (rest << 5) | digit : (rest << 4) | (digit >> 1);
    count += place < 25 ? 5 : 4;
    if (count >= 8) {
      count -= 8;
      bytes[at + index--] = (rest >> count) & 255;
      rest &= (1 << count) - 1;
    }
  }
  return true;
}

/**
 * Compares two ids as the server orders them: by their halves, not by their texts.
 * @param {string} one
 * @param {string} other
 */
export function compareIDs(one, other) {
  const [a, b] = [new Uint8Array(16), new Uint8Array(16)];
  writeID(one, a, 0);
  writeID(other, b, 0);
  for (const half of [0, 8]) {
    for (let index = half + 7; index >= half; index--) if (a[index] !== b[index]) return a[index] - b[index];
  }
  return 0;
}

/**
 * The number that 8 bytes hold, least significant first: a BigInt only where a Number would not be exact.
 * @param {Uint8Array} bytes
 * @param {number} at
 * @returns {number|bigint}
 */
export function littleEndian(bytes, at) {
  const view = new DataView(bytes.buffer, bytes.byteOffset + at, 8);
  return exact(view.getBigUint64(0, true));
}

/**
 * The number itself: a BigInt only where a Number would not be exact.
 * @param {bigint} big
 * @returns {number|bigint}
 */
export function exact(big) {
  return big >= Number.MIN_SAFE_INTEGER && big <= Number.MAX_SAFE_INTEGER ? Number(big) : big;
}

/** @param {Uint8Array} bytes */
export function hex(bytes) {
  let text = '';
  for (const byte of bytes) text += (byte < 16 ? '0' : '') + byte.toString(16);
  return text;
}

/**
 * The bytes of hexadecimal digits; undefined for other text.
 * @param {string} text
 */
export function fromHex(text) {
  if (text.length % 2 || !/^[0-9a-f]*$/.test(text)) return undefined;
  return Uint8Array.from({ length: text.length / 2 }, (_, index) => parseInt(text.slice(2 * index, 2 * index + 2), 16));
}

const maximumDigits = 38;
const maximumExponent = 6000;

/**
 * The text of a decimal in its ordered bytes; undefined for other bytes.
 * @param {Uint8Array} bytes
 */
export function decimalText(bytes) {
  if (bytes.length === 1 && bytes[0] === 1) return '0';
  const isNegative = bytes[0] === 0;
  if (bytes.length < 5 || bytes.length > maximumDigits + 4 || (bytes[0] !== 0 && bytes[0] !== 2)) return undefined;
  const magnitude = Array.from(bytes.subarray(1), (byte) => (isNegative ? 255 - byte : byte));
  const found = magnitude.slice(2, -1);
  const exponent = ((magnitude[0] << 8) | magnitude[1]) - 0x4000;
  if (magnitude.at(-1) !== 0 || !found.every((digit) => digit >= 1 && digit <= 10) || found[0] === 1 ||
    found.at(-1) === 1 || Math.abs(exponent) > maximumExponent) return undefined;
  const text = found.map((digit) => digit - 1).join('');
  const sign = isNegative ? '-' : '';
  if (exponent > 40 || exponent < -10) {
    return `${sign}${text[0]}${text.length > 1 ? '.' : ''}${text.slice(1)}e${exponent - 1}`;
  }
  if (exponent <= 0) return `${sign}0.${'0'.repeat(-exponent)}${text}`;
  if (exponent >= text.length) return sign + text + '0'.repeat(exponent - text.length);
  return `${sign}${text.slice(0, exponent)}.${text.slice(exponent)}`;
}

/**
 * The ordered bytes of a decimal; undefined if it is not one, or has too many digits.
 * @param {string} text
 */
export function decimalBytes(text) {
  const parts = /^([-+]?)([0-9]*)(?:\.([0-9]*))?(?:[eE]([-+]?[0-9]{1,5}))?$/.exec(text);
  if (!parts || !(parts[2] || parts[3]) || text.length > 10_000) return undefined;
  const all = parts[2] + (parts[3] ?? '');
  const found = all.replace(/^0+/, '').replace(/0+$/, '');
  if (!found) return Uint8Array.of(1);
  const exponent = parts[2].length + Number(parts[4] ?? 0) - /** @type {RegExpExecArray} */ (/^0*/.exec(all))[0].length;
  if (found.length > maximumDigits || Math.abs(exponent) > maximumExponent) return undefined;
  const biased = exponent + 0x4000;
  const magnitude = [biased >> 8, biased & 255, ...Array.from(found, (digit) => Number(digit) + 1), 0];
  const isNegative = parts[1] === '-';
  return Uint8Array.from([isNegative ? 0 : 2, ...magnitude.map((byte) => (isNegative ? 255 - byte : byte))]);
}
