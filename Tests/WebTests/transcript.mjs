// The lines of a transcript, as Sources/GraphSimulation/ReplicaTranscript.swift writes them: a head for each replica, then
// one line for each event, with messages in hexadecimal digits.
import { decode, decodeToClient, encode, encodeToServer, fromHex, hex } from '../../Web/wire/codec.js';

const write = (name, message) => hex(encode(name, message));
const toClient = (kind, body) => write('ToClient', { request: 0, [kind]: body });

/** The event of a line. */
export function eventOf({ type, message, transaction, undo, restore, subscribe, atMost, state, ...rest }) {
  const read = (name, digits) => decode(name, fromHex(digits));
  switch (type) {
    case 'received': return { type, message: decodeToClient(fromHex(message)) };
    case 'save': return { type, transaction: read('Transaction', transaction) };
    case 'undo': return { type, undo: read('Undo', undo) };
    case 'restore': return { type, restore: read('Restore', restore) };
    case 'subscribe': {
      const { resume, ...wanted } = read('Subscribe', subscribe);
      return { type, subscribe: wanted, atMost: atMost ?? undefined, ...rest };
    }
    case 'request': {
      const { request: _, ...bodies } = read('ToServer', message);
      const [[kind, body]] = Object.entries(bodies);
      return { type, kind, body, ...rest };
    }
    case 'presence': return { type, state: fromHex(state) };
    default: return { type, ...rest };
  }
}

/** An action in the form of a line. */
export function lineOf(action) {
  const { type } = action;
  switch (type) {
    case 'send': return { type, message: hex(encodeToServer(action.message)) };
    case 'welcomed': return { type, head: write('Token', action.welcome.head) };
    case 'disconnect': case 'rejected': return { type, refusal: write('Refusal', action.refusal) };
    case 'saved': {
      const id = write('TransactionID', action.id);
      if (action.refusal) return { type, id, refusal: write('Refusal', action.refusal) };
      return { type, id, message: toClient('committed', action.saved) };
    }
    case 'incomplete': return { type, query: action.query, damage: write('DamageNotice', action.damage) };
    case 'loaded': {
      const objects = write('Chunk', { objects: action.objects });
      return { type, query: action.query, objects, at: write('Token', action.at) };
    }
    case 'loadedWindow': {
      const { offset, limit, ...rows } = action.rows;
      return { type, query: action.query, offset, limit, rows: write('WindowMoved', { query: 0, ...rows, at: action.at }) };
    }
    case 'outdated': return { type, transaction: write('Transaction', action.transaction) };
    case 'changed': {
      const { revision, time, author, changes, totals } = action.update;
      const written = changes.map(({ query, changes }) => ({ query, changes: changes.map((each) => write('DeltaChange', each)) }));
      return { type, revision, time, author, changes: written, totals: [...totals].sort((a, b) => a[0] - b[0]) };
    }
    case 'refusedQuery': return { type, query: action.query, refusal: write('Refusal', action.refusal) };
    case 'refused': return { type, request: action.request, refusal: write('Refusal', action.refusal) };
    case 'reply': {
      const { request, kind, body, isLast } = action;
      return { type, request, message: toClient(kind, body), isLast };
    }
    case 'presence': return { type, message: toClient('presence', action.presence) };
    case 'rights': return { type, message: toClient('rights', { grants: action.grants }) };
    default: return { ...action };
  }
}

/** An event in the form of a line; the reverse of `eventOf`. */
export function eventLineOf({ type, ...rest }) {
  switch (type) {
    case 'received': {
      const { request, kind, body } = rest.message;
      return { type, message: write('ToClient', { request, [kind]: body }) };
    }
    case 'save': return { type, transaction: write('Transaction', rest.transaction) };
    case 'undo': return { type, undo: write('Undo', rest.undo) };
    case 'restore': return { type, restore: write('Restore', rest.restore) };
    case 'subscribe': {
      const { since } = rest.subscribe;
      const subscribe = write('Subscribe', { ...rest.subscribe, resume: since !== undefined });
      return { type, query: rest.query, subscribe, atMost: rest.atMost ?? null };
    }
    case 'request': {
      const { request, kind, body } = rest;
      return { type, request, message: write('ToServer', { request: 0, [kind]: body }) };
    }
    case 'presence': return { type, state: hex(rest.state) };
    default: return { type, ...rest };
  }
}
