// A server that sends any valid message at any time: the connection neither throws nor holds what it should not.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeToClient, encode, MalformedMessage } from '../../Web/wire/codec.js';
import { schema } from '../../Web/wire/schema.js';
import { connected } from './fake-server.mjs';
import { entities, id, note, token } from './script.mjs';
import { randomText, seeded } from './random.mjs';

/** The fields of each message, and the cases of each enumeration, in words. */
const [table, cases] = [new Map(), new Map()];
for (const line of schema.split('\n')) {
  const [first, ...rest] = line.split(' ');
  if (first === 'enum') cases.set(rest[0], rest.slice(1));
  else if (first === 'message') table.set(rest[0], []);
  else [...table.values()].at(-1).push([first, ...rest]);
}

/** A random message whose ids and numbers are few, so that they often belong to something. */
function randomMessage(random, type) {
  const pick = (list) => list[Math.floor(random() * list.length)];
  if (type === 'ObjectID') return random() < 0.9 ? id(Math.floor(random() * 8)) : { key: 'temporary 1', entity: 9 };
  if (type === 'Token') return random() < 0.7 ? token(Math.floor(random() * 12)) : { store: 'f'.repeat(32), revision: 3 };
  const message = {};
  const choices = table.get(type).filter(([, , form]) => form.endsWith('|'));
  const chosen = choices.length ? pick(choices)[1] : '';
  for (const [, name, form] of table.get(type)) {
    const [, kind, mark] = /^(\w+)(\W?)$/.exec(form);
    if (mark === '|' && name !== chosen) continue;
    const one = () => table.has(kind) ? randomMessage(random, kind) : randomScalar(random, kind);
    if (mark === '*') message[name] = Array.from({ length: Math.floor(random() * 4) }, one);
    else if (mark === '|' || mark === '!' || random() < 0.7) message[name] = one();
  }
  return message;
}

function randomScalar(random, kind) {
  const number = Math.floor(random() * 8);
  if (cases.has(kind)) return cases.get(kind)[Math.floor(random() * cases.get(kind).length)];
  switch (kind) {
    case 'bool': return random() < 0.5;
    case 'string': return random() < 0.5 ? 'unavailable' : randomText(random, 6);
    case 'bytes': return Uint8Array.of(number);
    case 'id': return '0'.repeat(31) + number;
    case 'decimal': return String(number);
    case 'fixed64': return String(number).padStart(16, '0');
    case 'double': return number / 2;
    case 'uint32': return random() < 0.5 ? note : 20 + number;
    case 'sint64': return random() < 0.9 ? number : -(2n ** 62n);
    default: return random() < 0.95 ? number : kind === 'uint64' ? Number.MAX_SAFE_INTEGER : -number;
  }
}

const kinds = table.get('ToClient').filter(([, name]) => name !== 'request').map(([, name, form]) => [name, form.slice(0, -1)]);

test('any message at any time is handled', () => {
  for (let seed = 1; seed <= 300; seed++) {
    const random = seeded(seed);
    const { server, clock, connection } = connected();
    const queries = [];
    connection.onchange = ({ inserted, changed }) => {
      for (const key of [...inserted, ...changed]) assert(connection.graph.get(key), `seed ${seed}`);
    };
    for (let step = 0; step < 150; step++) {
      const draw = random();
      if (draw < 0.05 && connection.socket && !connection.replica.isWelcomed) server.welcome();
      else if (draw < 0.1) {
        const window = random() < 0.5 ? { sort: 'x', offset: 0, limit: 3 } : undefined;
        queries.push(connection.subscribe({ entity: 'Note', window }));
      } else if (draw < 0.13 && connection.welcome) queries.at(-1)?.close();
      else if (draw < 0.16) queries.at(-1)?.move(Math.floor(random() * 5), 3);
      else if (draw < 0.2 && connection.welcome) {
        const changes = [{ kind: 'update', id: id(5).key, entity: 'Note', base: 1, values: { x: 1 } }];
        connection.commit({ changes }).catch(() => {});
      } else if (draw < 0.23 && connection.welcome) connection.fetch({ entity: 'Note' }).catch(() => {});
      else if (draw < 0.3) clock.pass(random() * 10_000);
      else if (connection.socket) {
        const [name, type] = kinds[Math.floor(random() * kinds.length)];
        const body = name === 'welcome' ? { ...randomMessage(random, type), entities } : randomMessage(random, type);
        if (!connection.socket.received.length) server.socket.onopen({});
        server.send(name, body, Math.floor(random() * 12));
      }
    }
    connection.stop();
    for (const [key, { queries }] of connection.graph.entries) assert(queries.size > 0, `seed ${seed}: ${key}`);
  }
});

test('a random message decodes to what was encoded', () => {
  for (let seed = 1; seed <= 2_000; seed++) {
    const random = seeded(seed);
    const [name, type] = kinds[Math.floor(random() * kinds.length)];
    const bytes = encode('ToClient', { request: seed, [name]: randomMessage(random, type) });
    try {
      const { request, kind, body } = decodeToClient(bytes);
      assert.deepEqual(encode('ToClient', { request, [kind]: body }), bytes, `seed ${seed}`);
    } catch (error) {
      // Only the last chunk needs a token.
      assert(error instanceof MalformedMessage && /at is missing/.test(error.message), `seed ${seed}: ${error}`);
    }
  }
});
