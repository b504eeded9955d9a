// Measures how long a change takes from one connection to another: `node Tests/WebTests/latency.mjs BIN-FOLDER [ws]`, where
// the folder has stickies and stickiesd. It prints the median in milliseconds, from the call of a commit to the change of the
// other connection, of letters that are typed one after the other.
import { check, Daemon, wordsOf } from './daemon.mjs';
import { splice } from './random.mjs';

const [bin, transport] = wordsOf('node Tests/WebTests/latency.mjs BIN-FOLDER [ws]');
const daemon = new Daemon(bin, transport);
const letters = 100;
/** The pause between two letters, in milliseconds. */
const pause = 120;

async function main() {
  await daemon.start();
  const [writer, reader] = ['anna', 'bert'].map((author) => daemon.connection(author));
  for (const each of [writer, reader]) each.start();
  await Promise.all([writer, reader].map((each) => each.subscribe({ entity: 'Note' }).ready));
  const insert = { kind: 'insert', id: 'temporary 1', entity: 'Note', values: { text: '' } };
  const board = { kind: 'insert', id: 'temporary 2', entity: 'Board', values: { name: 'Latency' } };
  insert.values.board = board.id;
  const { ids } = await writer.commit({ changes: [insert, board] });
  const id = ids.get(insert.id);
  const times = [];
  for (let length = 0; length < letters; length += 1) {
    await new Promise((resolve) => { setTimeout(resolve, pause); });
    const { values, revision } = writer.graph.get(id);
    const seen = new Promise((resolve) => {
      reader.onchange = () => { if (reader.graph.get(id)?.values.text.length > length) resolve(performance.now()); };
    });
    const begin = performance.now();
    const texts = { text: [splice(values.text, length, length, 'x')] };
    const saved = writer.commit({ policy: 'objectTrump', changes: [{ kind: 'update', id, entity: 'Note', base: revision, splices: texts }] });
    times.push(await seen - begin);
    await saved;
  }
  times.sort((a, b) => a - b);
  console.log(times[letters / 2].toFixed(1));
}

await check(daemon, 120, main);
