// The golden messages: each decodes to the values of its text form, and encodes to its bytes again.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { compareIDs, decimalBytes, decimalText, decode, decodeToClient, encode, encodeToServer, fromHex, hex, idText, MalformedMessage, writeID } from '../../Web/wire/codec.js';
import { schema } from '../../Web/wire/schema.js';

const folder = new URL('../../Schema/Wire/golden/', import.meta.url);

/** The bytes and the text form of a golden message. */
function golden(name) {
  const text = readFileSync(new URL(name, folder), 'utf8').replace(/^#.*\n/gm, '');
  const [digits, form] = text.split(/\n\n/);
  return { bytes: fromHex(digits.replace(/\s/g, '')), form };
}

/** The fields of each message: its lines of the schema, in words. */
const table = new Map();
for (const line of schema.split('\n')) {
  const words = line.split(' ');
  if (words[0] === 'message') table.set(words[1], []);
  else if (words[0] !== 'enum') [...table.values()].at(-1).push(words);
}

/** The lines of a message as `protoc --decode` prints it, without the order of its blanks. */
function printed(message, type, indent = '') {
  let text = '';
  for (const [, name, form] of table.get(type)) {
    const kind = form.replace(/\W$/, '');
    const mark = form.slice(kind.length);
    let values = mark === '*' ? message[name] : message[name] === undefined ? [] : [message[name]];
    if (!mark) values = values.filter((value) => !isZero(value));
    const label = name.replace(/[A-Z]/g, (letter) => '_' + letter.toLowerCase());
    for (const value of values) {
      if (table.has(kind)) {
        const body = kind === 'ObjectID' ? printedID(value, indent + '  ') : printed(value, kind, indent + '  ');
        text += `${indent}${label} {\n${body}${indent}}\n`;
      } else text += `${indent}${label}: ${scalar(kind, value)}\n`;
    }
  }
  return text;
}

const isZero = (value) => value === 0 || value === false || value === '' || value === '0000000000000000' ||
  value?.length === 0 || ['insert', 'error', 'changed', 'objects', 'object', 'inserted'].includes(value);

function printedID({ key, entity }, indent) {
  const halves = new Uint8Array(16);
  assert(writeID(key, halves, 0));
  const view = new DataView(halves.buffer);
  const [high, low] = [view.getBigUint64(0, true), view.getBigUint64(8, true)];
  return (high ? `${indent}high: ${high}\n` : '') + (low ? `${indent}low: ${low}\n` : '') +
    (entity ? `${indent}entity: ${entity}\n` : '');
}

function scalar(kind, value) {
  switch (kind) {
    case 'fixed64': return String(BigInt('0x' + value));
    case 'string': return octal(new TextEncoder().encode(value));
    case 'bytes': return octal(value);
    case 'id': return octal(fromHex(value));
    case 'decimal': return octal(decimalBytes(value));
    default: return /^[A-Z]/.test(kind) ? value.replace(/[A-Z]/g, (letter) => '_' + letter).toUpperCase() : String(value);
  }
}

/** Bytes in the notation of protoc. */
function octal(bytes) {
  const named = { 9: '\\t', 10: '\\n', 13: '\\r', 34: '\\"', 39: "\\'", 92: '\\\\' };
  let text = '"';
  for (const byte of bytes) {
    text += named[byte] ?? (byte >= 32 && byte < 127 ? String.fromCharCode(byte) : '\\' + byte.toString(8).padStart(3, '0'));
  }
  return text + '"';
}

for (const name of readdirSync(folder)) {
  const type = name.startsWith('to-client') ? 'ToClient' : 'ToServer';
  test(`golden ${name}`, () => {
    const { bytes, form } = golden(name);
    const message = decode(type, bytes);
    assert.equal(printed(message, type).trim(), form.trim());
    assert.equal(hex(encode(type, message)), hex(bytes));
  });
}

test('each field of the schema is in a golden message', () => {
  const seen = new Set();
  const visit = (message, type) => {
    for (const [, name, form] of table.get(type)) {
      const values = [message[name] ?? []].flat();
      if (values.length) seen.add(`${type}.${name}`);
      const kind = form.replace(/\W$/, '');
      if (/^[A-Z]/.test(kind) && kind !== 'ObjectID') for (const value of values) if (typeof value === 'object') visit(value, kind);
    }
  };
  for (const name of readdirSync(folder)) {
    const type = name.startsWith('to-client') ? 'ToClient' : 'ToServer';
    visit(decode(type, golden(name).bytes), type);
  }
  for (const [type, fields] of table) {
    for (const [, name] of fields) if (type !== 'ObjectID') assert(seen.has(`${type}.${name}`), `${type}.${name}`);
  }
});

test('a message that is cut or changed is an error with a place, or is read', () => {
  for (const name of readdirSync(folder)) {
    if (!name.startsWith('to-client')) continue;
    const { bytes } = golden(name);
    for (let length = 0; length < bytes.length; length++) attempt(bytes.slice(0, length));
    for (let place = 0; place < bytes.length; place++) {
      for (const byte of [0, 0x7f, 0x80, 0xff, bytes[place] ^ 1, bytes[place] ^ 7]) {
        const changed = bytes.slice();
        changed[place] = byte;
        attempt(changed);
      }
    }
  }
  function attempt(bytes) {
    try {
      decodeToClient(bytes);
    } catch (error) {
      assert(error instanceof MalformedMessage, String(error));
      assert.match(error.message, /^ToClient/);
    }
  }
});

test('mistakes name their place', () => {
  const refuses = (digits, reason) => assert.throws(() => decodeToClient(fromHex(digits)), { message: reason });
  refuses('', 'ToClient: a ToClient has no part that this version knows');
  refuses('0801', 'ToClient: a ToClient has no part that this version knows');
  refuses('1a060a01ff', 'ToClient.refused: the message is cut short');
  refuses('1a030a01ff', 'ToClient.refused.code: a string is not UTF-8');
  refuses('2a021001', 'ToClient.chunk: at is missing');
  refuses('7200', 'ToClient.pong: head is missing');
  refuses('2a040a0210', 'ToClient.chunk: the message is cut short');
  refuses('2a060a041a022a05', 'ToClient.chunk.objects.values.string: the message is cut short');
  refuses('2a070a051a03b80601', 'ToClient.chunk.objects.values: a value has a kind that this version does not know');
  refuses('0a00', 'ToClient.request: the wire type is 2 instead of 0');
  refuses('08ffffffffffffffffff02', 'ToClient.request: a number has more than 64 bits');
  assert.throws(() => encode('Change', { kind: 'remove' }), { message: 'Change.kind: remove is not a valid ChangeKind' });
  assert.throws(() => encode('Value', { integer: 1.5 }), { message: 'Value.integer: is not an exact integer' });
  assert.throws(() => encode('Value', { bool: true, string: '' }), { message: 'Value.string: excludes another field' });
  assert.throws(() => encode('Value', { double: NaN }), { message: 'Value.double: is not a finite number' });
  assert.throws(() => encode('Edit', { property: 1 }), { message: 'Edit: a Edit needs one of its fields' });
  assert.throws(() => encode('ObjectID', { key: 'x', entity: 1 }), { message: 'ObjectID: is not an id' });
});

test('a field of a later version is skipped', () => {
  const pong = golden('to-client.pong.txt').bytes;
  assert.deepEqual(decodeToClient(Uint8Array.of(...pong, 0xba, 0x3e, 1, 7)).kind, 'pong');
});

test('integers are exact', () => {
  for (const integer of [0, 1, -1, 63, 64, -64, -65, 2 ** 31, -(2 ** 31), 2 ** 32, 2 ** 53 - 1, -(2 ** 53 - 1),
    2n ** 53n, -(2n ** 53n), 2n ** 63n - 1n, -(2n ** 63n)]) {
    assert.equal(decode('Value', encode('Value', { integer })).integer, integer);
    assert.equal(decode('RevisionAt', encode('RevisionAt', { time: integer })).time, integer);
    const revision = () => decode('Advance', encode('Advance', { revision: integer })).revision;
    if (typeof integer === 'number') assert.equal(revision(), integer);
    else assert.throws(revision, { message: 'Advance.revision: a number is too large' });
  }
  assert.throws(() => decode('Cancel', encode('Cancel', { request: 2n ** 64n - 1n })), MalformedMessage);
});

test('ids have the text form of the protocol', () => {
  const halves = new Uint8Array(16);
  const view = new DataView(halves.buffer);
  view.setBigUint64(0, 0x0123456789abcdefn, true);
  view.setBigUint64(8, 0xfedcba9876543210n, true);
  assert.equal(idText(halves, 0), 'sxq5tk1v58cgg04hmasw9nf6yy');
  let random = 12345;
  for (let round = 0; round < 500; round++) {
    const bytes = Uint8Array.from({ length: 16 }, () => (random = (random * 1103515245 + 12345) % 2147483648) >> 16);
    const back = new Uint8Array(16);
    assert(writeID(idText(bytes, 0), back, 0));
    assert.deepEqual(back, bytes);
  }
  assert(!writeID('sxq5tk1v58cgg04hmasw9nf6yz', halves, 0), 'the last digit is even');
  assert(!writeID('SXQ5TK1V58CGG04HMASW9NF6YY', halves, 0), 'capitals are not accepted');
  assert(compareIDs('temporary 2', 'temporary 10') < 0);
  assert(compareIDs('temporary 2', 'sxq5tk1v58cgg04hmasw9nf6yy') < 0);
});

test('decimals have the bytes of the protocol', () => {
  const forms = {
    '0': '01', '1': '0240010200', '12.5': '0240020203' + '0600', '-12.5': '00bffdfdfcf9ff', '0.05': '023fff0600',
  };
  for (const [text, digits] of Object.entries(forms)) {
    assert.equal(hex(decimalBytes(text)), digits);
    assert.equal(decimalText(fromHex(digits)), text);
  }
  assert.equal(decimalText(decimalBytes('12.50')), '12.5');
  assert.equal(decimalText(decimalBytes('1e60')), '1e60');
  assert.equal(decimalText(decimalBytes('-1.25E-40')), '-1.25e-40');
  assert.equal(decimalText(decimalBytes('.5')), '0.5');
  for (const text of ['', '.', '1e', 'x', '1e9999', '1'.repeat(39), '--1']) assert.equal(decimalBytes(text), undefined, text);
});

test('the messages of the protocol page have these bytes', () => {
  const replica = '00112233445566778899aabbccddeeff';
  assert.equal(
    hex(encodeToServer({ request: 1, kind: 'hello', body: { protocol: 1, replica, author: 'anna', program: 'demo' } })),
    '08011220' + '08011a10' + replica + '2204616e6e612a0464656d6f');
  const id = { key: 'temporary 1', entity: 4 };
  const changes = [{ kind: 'insert', id, edits: [{ property: 26, set: { string: 'foo' } }] }];
  assert.equal(
    hex(encodeToServer({ request: 2, kind: 'commit', body: { transaction: { id: { replica, sequence: 1 }, changes } } })),
    '08022a320a300a140a10' + replica + '10012218120b1101000000000000001804220908' + '1a12052a03666f6f');
});
