// Encodes and decodes the messages of schema.js.
//
// A message is an object with a property for each field, in camel case. The fields of a received message are complete:
// an absent number is 0, an absent list is empty; only an absent message, and a field that excludes others, is missing.
// A message to send can omit zeros. The forms of values: integer, date Number, or BigInt where a Number would not be
// exact; so are times other integers Number; a larger one is an error fixed64 16 hexadecimal digits (a fingerprint)
// enumerations the name of the case: "storeTrump" ObjectID {key, entity}; the key has the form that `stickies` prints,
// or is "temporary N" other ids 32 hexadecimal digits; '' for none decimals text: "12.50" is read as "12.5" bytes
// Uint8Array
import { schema } from './schema.js';

/** An error in the bytes of a message, or in a message to encode; `place` names the field. */
export class MalformedMessage extends Error {
  /**
   * @param {string} reason
   * @param {string} place
   */
  constructor(reason, place) {
    super(place ? `${place}: ${reason}` : reason);
    this.place = place;
  }
}

/**
 * @typedef {{ number: number, name: string, type: string, mark: string, message?: Message, cases?: string[] }} Field
 * @typedef {{ name: string, mark: string, fields: Field[], byNumber: Map<number, Field>, lists: string[],
 *   defaults: Record<string, any> }} Message
 */

/** @type {Map<string, Message>} */
const messages = new Map();
{
  /** @type {Map<string, string[]>} */
  const enumerations = new Map();
  /** @type {Message|undefined} */
  let current;
  for (const line of schema.split('\n')) {
    const [first, second, third, ...rest] = line.split(' ');
    if (first === 'enum') enumerations.set(second, [third, ...rest]);
    else if (first === 'message') {
      current = { name: second, mark: third ?? '', fields: [], byNumber: new Map(), lists: [], defaults: {} };
      messages.set(second, current);
    } else if (current) {
      const [, type, mark] = /** @type {RegExpExecArray} */ (/^(\w+)(\W?)$/.exec(third));
      const field = { number: Number(first), name: second, type, mark, cases: enumerations.get(type) };
      current.fields.push(field);
      current.byNumber.set(field.number, field);
    }
  }
  for (const message of messages.values()) {
    for (const field of message.fields) {
      /** @type {Field} */ (field).message = messages.get(field.type);
      if (field.mark === '*') message.lists.push(field.name);
      else if (!field.mark && !messages.has(field.type)) message.defaults[field.name] = zero(field);
    }
  }
}

/**
 * The value of an absent field.
 * @param {Field} field
 */
function zero(field) {
  if (field.cases) return field.cases[0];
  switch (field.type) {
    case 'bool': return false;
    case 'string': case 'id': return '';
    case 'bytes': return new Uint8Array(0);
    case 'fixed64': return '0000000000000000';
    default: return 0;
  }
}

// ---- Decoding

/** The maximum number of list elements in a message, because a short message could otherwise take much memory. */
const maximumElements = 2_000_000;
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

class Reader {
  /** @param {Uint8Array} bytes */
  constructor(bytes) {
    this.bytes = bytes;
    this.at = 0;
    this.elements = 0;
    /** The halves of the last varint. */
    this.low = 0;
    this.high = 0;
    /** @type {string[]} */
    this.path = [];
  }

  /**
   * @param {string} reason
   * @returns {never}
   */
  fail(reason) { throw new MalformedMessage(reason, this.path.join('.')); }

  /**
   * Reads a varint into `low` and `high`.
   * @param {number} end
   */
  varint(end) {
    const { bytes } = this;
    // Most numbers take one byte.
    if (this.at < end && bytes[this.at] < 128) {
      this.low = bytes[this.at++];
      this.high = 0;
      return;
    }
    let low = 0;
    let high = 0;
    let shift = 0;
    for (;;) {
      if (this.at >= end) this.fail('the message is cut short');
      const byte = bytes[this.at++];
      if (shift === 63 && byte > 1) this.fail('a number has more than 64 bits');
      const bits = byte & 127;
      if (shift < 28) low |= bits << shift;
      else if (shift === 28) {
        low |= bits << 28;
        high = bits >> 4;
      } else high |= bits << (shift - 32);
      if (byte < 128) break;
      shift += 7;
    }
    this.low = low >>> 0;
    this.high = high >>> 0;
  }

  /**
   * A varint of at most 32 bits.
   * @param {number} end
   */
  small(end) {
    this.varint(end);
    if (this.high) this.fail('a number is too large');
    return this.low;
  }

  /**
   * The end of a field with a length.
   * @param {number} end
   */
  length(end) {
    this.varint(end);
    if (this.high || this.low > end - this.at) this.fail('the message is cut short');
    return this.at + this.low;
  }

  /** @param {number} end */
  string(end) {
    const { bytes, at: start } = this;
    this.at = end;
    if (end - start <= 24) {
      let text = '';
      let index = start;
      while (index < end && bytes[index] < 128) text += String.fromCharCode(bytes[index++]);
      if (index === end) return text;
    }
    try {
      return utf8.decode(bytes.subarray(start, end));
    } catch {
      return this.fail('a string is not UTF-8');
    }
  }
}

/**
 * @param {number} low
 * @param {number} high
 */
function unsigned(low, high) {
  return high <= 0x1fffff ? high * 0x100000000 + low : exact((BigInt(high) << 32n) | BigInt(low));
}

/**
 * @param {number} low
 * @param {number} high
 */
function signed(low, high) {
  if (high <= 0x1fffff) return high * 0x100000000 + low;
  return exact(BigInt.asIntN(64, (BigInt(high) << 32n) | BigInt(low)));
}

/**
 * @param {number} low
 * @param {number} high
 */
function zigzag(low, high) {
  if (high <= 0x3fffff) {
    const magnitude = high * 0x80000000 + (low >>> 1);
    if (magnitude < Number.MAX_SAFE_INTEGER) return low & 1 ? -magnitude - 1 : magnitude;
  }
  const value = (BigInt(high) << 32n) | BigInt(low);
  return exact((value >> 1n) ^ -(value & 1n));
}

const wireTypes = { fixed64: 1, double: 1, string: 2, bytes: 2, id: 2, decimal: 2 };

/**
 * The value of a field, whose key was read.
 * @param {Reader} reader
 * @param {Field} field
 * @param {number} end
 */
function readValue(reader, field, end) {
  if (field.message) {
    const inner = reader.length(end);
    return field.type === 'ObjectID' ? readObjectID(reader, inner) : readMessage(reader, field.message, inner);
  }
  if (field.cases) {
    reader.varint(end);
    const name = reader.high ? undefined : field.cases[reader.low];
    return name ?? reader.fail(`${unsigned(reader.low, reader.high)} is not a valid ${field.type}`);
  }
  switch (field.type) {
    case 'uint32': return reader.small(end);
    case 'bool': reader.varint(end); return (reader.low | reader.high) !== 0;
    case 'uint64': reader.varint(end); return small(reader, unsigned(reader.low, reader.high));
    case 'int64': {
      reader.varint(end);
      const value = signed(reader.low, reader.high);
      return field.name === 'time' ? value : small(reader, value);
    }
    case 'sint64': reader.varint(end); return zigzag(reader.low, reader.high);
    case 'fixed64': case 'double': {
      if (end - reader.at < 8) reader.fail('the message is cut short');
      const view = new DataView(reader.bytes.buffer, reader.bytes.byteOffset + reader.at, 8);
      reader.at += 8;
      if (field.type === 'double') return view.getFloat64(0, true);
      return view.getBigUint64(0, true).toString(16).padStart(16, '0');
    }
    default: {
      const inner = reader.length(end);
      if (field.type === 'string') return reader.string(inner);
      const bytes = reader.bytes.slice(reader.at, inner);
      reader.at = inner;
      if (field.type === 'bytes') return bytes;
      if (field.type === 'decimal') {
        return decimalText(bytes) ?? reader.fail('a decimal is not in its ordered form');
      }
      if (bytes.length && bytes.length !== 16) reader.fail('an id needs 16 bytes');
      return hex(bytes);
    }
  }
}

/**
 * A revision, a count, or the number of a request. None of them is large enough to need a BigInt.
 * @param {Reader} reader
 * @param {number|bigint} value
 */
function small(reader, value) {
  return typeof value === 'number' ? value : reader.fail('a number is too large');
}

/**
 * Skips the value of an unknown field.
 * @param {Reader} reader
 * @param {number} type
 * @param {number} end
 */
function skip(reader, type, end) {
  if (type === 0) reader.varint(end);
  else if (type === 2) reader.at = reader.length(end);
  else if (type === 1 || type === 5) {
    const size = type === 1 ? 8 : 4;
    if (end - reader.at < size) reader.fail('the message is cut short');
    reader.at += size;
  } else reader.fail(`the invalid wire type ${type}`);
}

/**
 * Reads an id. Most messages contain ids, so a function of its own is faster.
 * @param {Reader} reader
 * @param {number} end
 */
function readObjectID(reader, end) {
  const halves = new Uint8Array(16);
  let entity = 0;
  while (reader.at < end) {
    const key = reader.small(end);
    if (key === 9 || key === 17) {
      if (end - reader.at < 8) reader.fail('the message is cut short');
      halves.set(reader.bytes.subarray(reader.at, reader.at + 8), key - 9);
      reader.at += 8;
    } else if (key === 24) entity = reader.small(end);
    else if (key >> 3 >= 1 && key >> 3 <= 3) reader.fail('a fixed number is expected');
    else skip(reader, key & 7, end);
  }
  return { key: idText(halves, 0), entity };
}

/**
 * @param {Reader} reader
 * @param {Message} type
 * @param {number} end
 * @returns {Record<string, any>}
 */
function readMessage(reader, type, end) {
  /** @type {Record<string, any>} */
  const message = { ...type.defaults };
  for (const name of type.lists) message[name] = [];
  let chosen = '';
  while (reader.at < end) {
    const key = reader.small(end);
    const field = type.byNumber.get(key >>> 3);
    if (!field) {
      if (type.mark === '~') reader.fail('a value has a kind that this version does not know');
      if (key >>> 3 === 0) reader.fail('a field has the invalid number 0');
      skip(reader, key & 7, end);
      continue;
    }
    reader.path.push(field.name);
    const expected = field.message ? 2 : (/** @type {Record<string, number>} */ (wireTypes)[field.type] ?? 0);
    if ((key & 7) !== expected) reader.fail(`the wire type is ${key & 7} instead of ${expected}`);
    const value = readValue(reader, field, end);
    if (field.mark === '*') {
      if (++reader.elements > maximumElements) reader.fail('the lists are too long');
      message[field.name].push(value);
    } else {
      if (field.mark === '|') {
        if (chosen) delete message[chosen];
        chosen = field.name;
      }
      message[field.name] = value;
    }
    reader.path.pop();
  }
  if (type.mark === '!' && !chosen) reader.fail(`a ${type.name} has no part that this version knows`);
  for (const field of type.fields) {
    if (!field.message || message[field.name] !== undefined) continue;
    if (field.mark === '!') reader.fail(`${field.name} is missing`);
    if (field.mark === '+') message[field.name] = emptyMessage(field.message);
  }
  return message;
}

/**
 * The message with the default value of each field, for an absent one.
 * @param {Message} type
 * @returns {Record<string, any>}
 */
function emptyMessage(type) {
  if (type.name === 'ObjectID') return { key: 'temporary 0', entity: 0 };
  return readMessage(new Reader(new Uint8Array(0)), type, 0);
}

/**
 * Decodes a message of the schema.
 * @param {string} type
 * @param {Uint8Array} bytes
 * @returns {Record<string, any>}
 */
export function decode(type, bytes) {
  const reader = new Reader(bytes);
  reader.path.push(type);
  if (type === 'ObjectID') return readObjectID(reader, bytes.length);
  return readMessage(reader, named(type), bytes.length);
}

/**
 * Decodes a message of the server.
 * @param {Uint8Array} bytes
 * @returns {{ request: number, kind: string, body: any }}
 */
export function decodeToClient(bytes) {
  const message = decode('ToClient', bytes);
  const kind = Object.keys(message).find((name) => name !== 'request') ?? '';
  const body = message[kind];
  if (kind === 'chunk' && body.last && !body.at) throw new MalformedMessage('at is missing', 'ToClient.chunk');
  return { request: message.request, kind, body };
}

// ---- Encoding

const encoder = new TextEncoder();

class Writer {
  constructor() {
    this.bytes = new Uint8Array(256);
    this.at = 0;
  }

  /**
   * Makes space for more bytes.
   * @param {number} count
   */
  reserve(count) {
    if (this.at + count <= this.bytes.length) return;
    const bytes = new Uint8Array(Math.max(2 * this.bytes.length, this.at + count));
    bytes.set(this.bytes.subarray(0, this.at));
    this.bytes = bytes;
  }

  /**
   * A varint of at most 53 bits.
   * @param {number} value
   */
  varint(value) {
    this.reserve(10);
    while (value >= 128) {
      this.bytes[this.at++] = (value % 128) | 128;
      value = Math.floor(value / 128);
    }
    this.bytes[this.at++] = value;
  }

  /**
   * A varint of 64 bits.
   * @param {bigint} value
   */
  big(value) {
    this.reserve(10);
    let rest = BigInt.asUintN(64, value);
    while (rest >= 128n) {
      this.bytes[this.at++] = Number(rest & 127n) | 128;
      rest >>= 7n;
    }
    this.bytes[this.at++] = Number(rest);
  }

  /** @param {Uint8Array} bytes */
  append(bytes) {
    this.reserve(bytes.length);
    this.bytes.set(bytes, this.at);
    this.at += bytes.length;
  }

  /**
   * Writes a part and then its length before it, because the length is known only afterwards.
   * @param {() => void} body
   */
  measured(body) {
    this.reserve(1);
    const start = ++this.at;
    body();
    const length = this.at - start;
    if (length < 128) {
      this.bytes[start - 1] = length;
      return;
    }
    let extra = 0;
    for (let rest = length; rest >= 128; rest = Math.floor(rest / 128)) extra++;
    this.reserve(extra);
    this.bytes.copyWithin(start + extra, start, this.at);
    this.at = start - 1;
    this.varint(length);
    this.at += length;
  }
}

/**
 * @param {Message} type
 * @param {Record<string, any>} message
 * @param {Writer} writer
 * @param {string} place
 */
function writeMessage(type, message, writer, place) {
  if (type.name === 'ObjectID') return writeObjectID(message, writer, place);
  let count = 0;
  for (const field of type.fields) {
    const value = message[field.name];
    const at = `${place}.${field.name}`;
    if (field.mark === '*') {
      for (const element of value ?? []) writeField(field, element, writer, at);
    } else if (value !== undefined && value !== null) {
      if (field.mark === '|' && ++count > 1) throw new MalformedMessage('excludes another field', at);
      if (field.message || field.mark || !isZero(field, value)) writeField(field, value, writer, at);
    } else if (field.mark === '!') throw new MalformedMessage('is missing', at);
    else if (field.mark === '+' && field.message) writeField(field, emptyMessage(field.message), writer, at);
  }
  if (type.mark === '!' && count === 0) throw new MalformedMessage(`a ${type.name} needs one of its fields`, place);
}

/**
 * @param {Record<string, any>} id
 * @param {Writer} writer
 * @param {string} place
 */
function writeObjectID(id, writer, place) {
  const halves = new Uint8Array(16);
  if (!writeID(String(id.key), halves, 0)) throw new MalformedMessage('is not an id', place);
  for (const start of [0, 8]) {
    const half = halves.subarray(start, start + 8);
    if (half.every((byte) => byte === 0)) continue;
    writer.varint(start ? 17 : 9);
    writer.append(half);
  }
  if (id.entity) {
    writer.varint(24);
    writer.varint(id.entity);
  }
}

/**
 * Whether a value is left out.
 * @param {Field} field
 * @param {any} value
 */
function isZero(field, value) {
  switch (field.type) {
    case 'double': return Object.is(value, 0);
    case 'bytes': return value.length === 0;
    default: return value === zero(field) || value === 0n;
  }
}

/**
 * @param {Field} field
 * @param {any} value
 * @param {Writer} writer
 * @param {string} place
 */
function writeField(field, value, writer, place) {
  const wireType = field.message ? 2 : (/** @type {Record<string, number>} */ (wireTypes)[field.type] ?? 0);
  writer.varint(field.number * 8 + wireType);
  const { message } = field;
  if (message) return writer.measured(() => writeMessage(message, value, writer, place));
  /**
   * @param {boolean} condition
   * @param {string} reason
   */
  const check = (condition, reason) => { if (!condition) throw new MalformedMessage(reason, place); };
  if (field.cases) {
    const index = field.cases.indexOf(value);
    check(index >= 0, `${value} is not a valid ${field.type}`);
    return writer.varint(index);
  }
  switch (field.type) {
    case 'bool': return writer.varint(value ? 1 : 0);
    case 'uint32': case 'uint64': case 'int64': case 'sint64': {
      check(typeof value === 'bigint' || Number.isSafeInteger(value), 'is not an exact integer');
      check(value >= 0 || field.type[0] !== 'u', 'is negative');
      if (field.type === 'sint64') {
        const big = BigInt(value);
        return writer.big(BigInt.asUintN(64, (big << 1n) ^ (big >> 63n)));
      }
      return typeof value === 'number' && value >= 0 ? writer.varint(value) : writer.big(BigInt(value));
    }
    case 'double': case 'fixed64': {
      writer.reserve(8);
      const view = new DataView(writer.bytes.buffer, writer.at, 8);
      if (field.type === 'double') {
        check(typeof value === 'number' && Number.isFinite(value), 'is not a finite number');
        view.setFloat64(0, value, true);
      } else view.setBigUint64(0, BigInt(`0x${value}`), true);
      writer.at += 8;
      return;
    }
    case 'string': {
      check(typeof value === 'string', 'is not a string');
      return writer.measured(() => {
        writer.reserve(3 * value.length);
        writer.at += encoder.encodeInto(value, writer.bytes.subarray(writer.at)).written ?? 0;
      });
    }
    default: {
      const bytes = field.type === 'bytes' ? value : field.type === 'id' ? fromHex(value) : decimalBytes(value);
      check(bytes instanceof Uint8Array, `is not ${field.type === 'bytes' ? 'a Uint8Array' : `a valid ${field.type}`}`);
      writer.varint(bytes.length);
      writer.append(bytes);
    }
  }
}

/** @param {string} type */
function named(type) {
  const message = messages.get(type);
  if (!message) throw new MalformedMessage('there is no such message', type);
  return message;
}

/**
 * Encodes a message of the schema.
 * @param {string} type
 * @param {Record<string, any>} message
 */
export function encode(type, message) {
  const writer = new Writer();
  writeMessage(named(type), message, writer, type);
  return writer.bytes.slice(0, writer.at);
}

/**
 * Encodes a message of the client.
 * @param {{ request: number, kind: string, body: any }} message
 */
export function encodeToServer({ request, kind, body }) {
  return encode('ToServer', { request, [kind]: body });
}

// ---- Ids, byte strings and decimals
//
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
function littleEndian(bytes, at) {
  const view = new DataView(bytes.buffer, bytes.byteOffset + at, 8);
  return exact(view.getBigUint64(0, true));
}

/**
 * The number itself: a BigInt only where a Number would not be exact.
 * @param {bigint} big
 * @returns {number|bigint}
 */
function exact(big) {
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
