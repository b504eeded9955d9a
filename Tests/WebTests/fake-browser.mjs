// A browser for tests of Web/control: what a page sees of it, and a session that shows a board.
import { Session } from '../../Web/control/session.js';
import { idText } from '../../Web/keep/queue.js';
import { memoryStorage } from '../../Web/keep/storage.js';
import { FakeClock, FakeConnection, FakeServer } from './fakes.mjs';

/** A browser with one server: what a page sees of it, and what survives a reload. */
export class FakeBrowser {
  clock = new FakeClock();
  entries = new Map();
  connections = [];
  isOnline = true;
  role = 'owner';
  user = 'ann';
  build = 'b1';
  reloads = 0;
  hidden = [];
  posts = [];
  ended = [];
  #replicas = 0;
  location = { hash: '' };

  constructor(server = new FakeServer(), number = 0) {
    this.server = server;
    this.#replicas = number;
  }

  /** A new page. */
  async open(before = () => {}) {
    const session = new Session(this.environment());
    session.notices = [];
    session.addEventListener('notice', ({ detail }) => session.notices.push(detail.message));
    before(session);
    await session.start();
    await this.clock.pass(10);
    return session;
  }

  get connection() { return this.connections[this.connections.length - 1]; }

  environment() {
    const answer = (status, body) => ({ ok: status < 300, status, json: async () => body });
    const page = new URL('https://notes.example/prefix/app/b1/');
    return {
      page, root: new URL('../../', page), build: 'b1', program: 'test', location: this.location, clock: this.clock,
      fetch: async (url, options = {}) => {
        if (!this.isOnline) throw new TypeError('fetch failed');
        const path = new URL(url).pathname;
        if (path === '/prefix/v1/session') return answer(200, { user: this.user, role: this.role, build: this.build, store: 'a-b', accounts: this.user === null });
        this.posts.push([path, options.body === undefined ? null : JSON.parse(options.body)]);
        return this.post?.(path, answer) ?? answer(404, {});
      },
      replaceFragment: (hash) => { this.location.hash = hash; },
      connect: ({ identity }) => {
        const made = new FakeConnection(this.server, { ...identity, author: this.user, role: this.role, isOnline: this.isOnline });
        this.connections.push(made);
        return made;
      },
      randomHex: () => String((this.#replicas += 1)).padStart(32, '0'), undoScope: () => [idText('f'.repeat(32)), 1000 * this.#replicas],
      openStorage: async () => memoryStorage(this.entries),
      openTabs: () => ({ hold: () => {}, ended: (_, body) => { this.ended.push(body); }, close: () => {} }),
      isPersistent: async () => false, persist: async () => true, keepShell: async () => true,
      onhide: (body) => this.hidden.push(body), onshow: () => {}, isOnline: () => this.isOnline, reload: () => { this.reloads += 1; return this.reloads < 2; },
    };
  }
}

/** A session that shows a board with one note. */
export async function shown(text = 'milk') {
  const browser = new FakeBrowser();
  const board = browser.server.insert('Board', { name: 'Home', color: 'gray' });
  const note = browser.server.insert('Note', { text, board, x: 0, y: 0 });
  const session = await browser.open();
  const open = session.openBoard(board);
  await browser.clock.pass(10);
  const changes = [];
  open.addEventListener('change', ({ detail }) => changes.push(detail));
  return { browser, server: browser.server, session, board: open, note, changes };
}
