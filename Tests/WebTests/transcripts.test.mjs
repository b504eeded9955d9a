// Replays transcripts: the browser's replica does what the Swift replica did, or what both have to do. `graph-sim
// --record-replica` writes those of simulations. written.jsonl has the scenes of replica.test.mjs; a change of these
// needs `RECORD=1 node --test Tests/WebTests/replica.test.mjs`. ReplicaTranscriptTests.swift replays the same files.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { Replica } from '../../Web/replica/replica.js';
import { eventOf, lineOf } from './transcript.mjs';

const folder = new URL('transcripts/', import.meta.url);
const names = readdirSync(folder).filter((name) => name.endsWith('.jsonl'));
assert(names.length > 0, 'there are no transcripts');

for (const name of names) {
  test(`transcript ${name}`, () => {
    let replica;
    for (const [index, text] of readFileSync(new URL(name, folder), 'utf8').trim().split('\n').entries()) {
      const { event, actions, deadline, ...head } = JSON.parse(text);
      if (!event) {
        replica = new Replica(head);
        continue;
      }
      const made = replica.handle(eventOf(event)).map(lineOf);
      assert.deepEqual(made, actions, `${name}:${index + 1}: ${event.type}`);
      assert.equal(replica.deadline, deadline, `${name}:${index + 1}: the deadline after ${event.type}`);
    }
  });
}
