// A daemon of its own, in a folder that is removed at the end, for checks that `node --test` does not run.
import { execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Connection } from '../../Web/net/connection.js';
import { FramedSocket, webSocket } from './sockets.mjs';

export const isVerbose = Boolean(process.env.VERBOSE);

export class Daemon {
  /**
   * @param {string} bin the folder of stickies and stickiesd
   * @param {string} transport `unix`, or `ws` for the WebSocket of the HTTP interface
   */
  constructor(bin, transport = 'unix') {
    this.bin = bin;
    this.transport = transport;
    this.folder = mkdtempSync(join(tmpdir(), 'stickies-web-'));
    this.address = `unix://${join(this.folder, 'socket')}`;
    this.data = ['--data', join(this.folder, 'data')];
    this.port = 0;
    this.process = undefined;
  }

  async start() {
    this.port ||= await freePort();
    const http = this.transport === 'ws' ? `127.0.0.1:${this.port}` : 'off';
    const options = [...this.data, '--listen', this.address, '--http', http];
    this.process = spawn(join(this.bin, 'stickiesd'), options, { stdio: ['ignore', 'pipe', isVerbose ? 'inherit' : 'ignore'] });
    let expected = this.transport === 'ws' ? 2 : 1;
    for await (const line of createInterface({ input: this.process.stdout })) {
      if (line.startsWith('listening') && --expected === 0) return;
    }
    throw new Error('the daemon ended');
  }

  /** Kills it at once. */
  async kill() {
    const exited = new Promise((resolve) => this.process.once('exit', resolve));
    this.process.kill('SIGKILL');
    await exited;
  }

  /** Runs stickiesd on the data of the daemon. */
  run(...words) { execFileSync(join(this.bin, 'stickiesd'), words, { stdio: 'ignore' }); }

  /** Runs stickies, and returns what it prints. */
  stickies(...words) {
    return execFileSync(join(this.bin, 'stickies'), [...words, '--server', this.address], { encoding: 'utf8' });
  }

  /** A connection, which has not started. */
  connection(author, options = {}) {
    const made = new Connection({
      url: this.transport === 'ws' ? `ws://127.0.0.1:${this.port}/v1/socket` : this.address,
      identity: { replica: randomBytes(16).toString('hex'), lastSequence: 0, author, program: 'node' },
      WebSocket: this.transport === 'ws' ? webSocket() : FramedSocket, ...options,
    });
    made.onstate = (state) => { if (isVerbose) console.log(author, state); };
    return made;
  }

  remove() {
    this.process?.kill('SIGKILL');
    rmSync(this.folder, { recursive: true, force: true });
  }
}

function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

/** The words after the program; ends it with a usage if there are none. `node --test` runs all files of the folder. */
export function wordsOf(usage) {
  const words = process.argv.slice(2);
  if (words.length) return words;
  console.log(`usage: ${usage}`);
  return process.exit(process.env.NODE_TEST_CONTEXT ? 0 : 64);
}

/** Runs a check, which removes the daemon at its end, and fails it if it takes too long. */
export async function check(daemon, seconds, body) {
  const limit = setTimeout(() => end(new Error(`the check takes longer than ${seconds} seconds`)), seconds * 1000);
  const end = (error) => {
    clearTimeout(limit);
    daemon.remove();
    if (error) console.error(error);
    process.exit(error ? 1 : 0);
  };
  await body().then(() => end(), end);
}
