// A replica with its actions as lines, as ReplicaTranscript.swift of Tests/GraphReplicaTests has: `> commit 1` is a message
// to the server, all other lines are for the owner.
import assert from 'node:assert/strict';
import { Replica } from '../../Web/replica/replica.js';
import { decodeToClient, encode, encodeToServer } from '../../Web/wire/codec.js';
import { eventLineOf, lineOf } from './transcript.mjs';

const store = '00000000000000070000000000000007';
export const replicaID = '00000000000000010000000000000001';
export const note = 3;
const x = 23;

/** The slots of a note in the model of Schema/Stickies, with the values of a new one. */
const slots = [
  [8, 'board', 'toOne', {}], [9, 'collapsed', 'bool', { bool: false }], [10, 'color', 'enumeration', { string: 'yellow' }],
  [11, 'created', 'date', {}], [12, 'height', 'double', { double: 200 }], [14, 'locked', 'bool', { bool: false }],
  [15, 'number', 'integer', {}], [16, 'origin', 'string', {}], [18, 'pinned', 'bool', { bool: false }],
  [19, 'tags', 'toMany', { objects: { ids: [] } }], [20, 'text', 'text', { string: '' }], [21, 'updated', 'date', {}],
  [22, 'width', 'double', { double: 200 }], [x, 'x', 'double', { double: 0 }], [24, 'y', 'double', { double: 0 }],
  [25, 'z', 'double', { double: 0 }],
];

export const entities = [
  { number: note, name: 'Note', properties: slots.map(([number, name, type]) => ({ number, name, type, stored: true })) },
];

export const token = (revision) => ({ store, revision, fingerprint: (revision * 1000).toString(16).padStart(16, '0') });
/** An id whose low half is a number. */
export const id = (number) => ({ key: `abcdefghjkmnp0000000000${String(number).padStart(2, '0')}0`, entity: note });
export const numberOf = ({ key }) => Number(key.slice(23, 25));
export function image(number, revision, { text = '', x = 0 } = {}) {
  const values = slots.map(([, name, , value]) => (name === 'text' ? { string: text } : name === 'x' ? { double: x } : value));
  return { id: id(number), revision, values };
}
export const update = (number, edits, previousRevision) => ({ kind: 'update', id: id(number), previousRevision, edits });
export const set = (value) => ({ property: x, set: { double: value } });
export const changes = [{ kind: 'update', id: id(5), base: 1, edits: [set(7)] }];

export class Script {
  /** What all replicas have received and done, as lines of a transcript. */
  static lines = [];

  constructor({ lastSequence = 0, isRecorded = true } = {}) {
    this.isRecorded = isRecorded;
    this.replica = new Replica({ id: replicaID, author: 'ann', lastSequence });
    if (isRecorded) Script.lines.push({ id: replicaID, author: 'ann', model: '', lastSequence });
    /** What was published and sent last. */
    this.actions = [];
    this.sequence = 0;
  }

  /** Handles an event; returns its actions as lines, messages and the welcome first, as an owner performs them. */
  handle(type, rest = {}) {
    this.actions = this.replica.handle({ type, ...rest });
    const { deadline } = this.replica;
    if (this.isRecorded) Script.lines.push({ event: eventLineOf({ type, ...rest }), actions: this.actions.map(lineOf), deadline });
    const isFirst = ({ type }) => type === 'send' || type === 'welcomed';
    return [...this.actions.filter(isFirst), ...this.actions.filter((action) => !isFirst(action))].map((action) => line(action));
  }

  /** Receives a message, which goes through the codec. */
  receive(kind, body, request = 0) {
    return this.handle('received', { message: decodeToClient(encode('ToClient', { request, [kind]: body })) });
  }

  /** Connects; the lines are those that follow the welcome. */
  connect(head = 0, lastSequence = 0) {
    assert.deepEqual(this.handle('connected'), ['> hello']);
    // The replica needs no names.
    const properties = slots.map(([number]) => ({ number, stored: true }));
    const welcome = { protocol: 1, model: '1'.repeat(32), head: token(head), session: 1,
      entities: [{ number: note, properties }], maximumFrame: 1 << 20,
      heartbeatMilliseconds: 15_000, lastSequence, author: 'ann', role: 'editor' };
    return this.receive('welcome', welcome, 1);
  }

  delta(query, revision, changes, total) {
    return this.receive('delta', { query, revision, author: 'bob', fingerprint: token(revision).fingerprint, changes,
      total: total === undefined ? undefined : { count: total } });
  }

  advance(revision) { return this.receive('advance', { revision, fingerprint: token(revision).fingerprint }); }

  subscribed(query, request, { resumed = false, known = false } = {}) {
    return this.receive('subscribed', { query, resumed, known }, request);
  }

  last(objects, revision, request, more = {}) {
    return this.receive('chunk', { objects, last: true, at: token(revision), count: objects.length, ...more }, request);
  }

  committed(revision, request) {
    return this.receive('committed', { result: { revision, fingerprint: token(revision).fingerprint }, complete: true }, request);
  }

  refused(code, request) { return this.receive('refused', { code, message: 'no' }, request); }

  follow(query, subscribe = {}) { return this.handle('subscribe', { query, subscribe: { entity: note, ...subscribe } }); }

  newID() { return { replica: this.replica.identity.id, sequence: ++this.sequence }; }

  save(transaction = { id: this.newID(), changes }) { return this.handle('save', { transaction }); }

  /** The ids of the transactions that the last event sent. */
  get sentIDs() {
    return this.actions.filter(({ type }) => type === 'send')
      .map(({ message: { body } }) => (body.transaction ?? body).id).filter((id) => id !== undefined);
  }

  /** Follows all notes as query 1, the server's query 4, from a first result at revision 1. */
  static following(images = [image(5, 1)]) {
    const script = new Script();
    assert.deepEqual(script.connect(1), ['welcomed']);
    assert.deepEqual(script.follow(1), ['> follow']);
    assert.deepEqual(script.subscribed(4, 2), []);
    assert.deepEqual(script.last(images, 1, 2), []);
    assert.deepEqual(script.advance(1), [`query 1 has ${images.length} at 1`]);
    return script;
  }
}

function line(action) {
  const { type, query, refusal, request } = action;
  switch (type) {
    case 'send': {
      // Each message can be encoded.
      assert(encodeToServer(action.message).length > 0);
      return `> ${described(action.message)}`;
    }
    case 'saved': return refusal ? `${action.id.sequence} was refused: ${refusal.code}` :
      `saved ${action.id.sequence} as ${action.saved.result.revision}`;
    case 'outdated': return `${action.transaction.id.sequence} is outdated`;
    case 'incomplete': return `query ${query} lacks ${action.damage.objects.map(numberOf)}`;
    case 'loaded': return `query ${query} has ${action.objects.length} at ${action.at.revision}`;
    case 'loadedWindow': {
      const { rows, total, offset } = action.rows;
      return `window ${query} shows ${rows.map(numberOf)} of ${total} from ${offset} at ${action.at.revision}`;
    }
    case 'resumed': return `query ${query} goes on from ${action.since}`;
    case 'changed': return `revision ${action.update.revision} changes ${action.update.changes.map(({ query }) => query)}`;
    case 'disconnect': case 'rejected': return `${type}: ${refusal.code}`;
    case 'refused': return `request ${request} was refused: ${refusal.code}`;
    case 'refusedQuery': return `query ${query} was refused: ${refusal.code}`;
    case 'reply': return `request ${request}: ${action.kind}${action.isLast ? '' : ', not the last'}`;
    case 'silence': return `silence ${action.isSilent}`;
    default: return type;
  }
}

function described({ kind, body }) {
  switch (kind) {
    case 'commit': return `commit ${body.transaction.id.sequence}`;
    case 'subscribe': return body.since ? `follow since ${body.since.revision}` : 'follow';
    case 'unsubscribe': return `unfollow ${body.query}`;
    case 'moveWindow': return `move ${body.query} to ${body.offset}+${body.limit}`;
    case 'more': case 'cancel': return `${kind} of ${body.request}`;
    case 'changes': return `commits behind ${body.follow.since.revision}`;
    default: return kind;
  }
}
