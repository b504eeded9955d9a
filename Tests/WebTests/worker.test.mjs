import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { runInNewContext } from 'node:vm';

const source = readFileSync(new URL('../../Web/sw.js', import.meta.url), 'utf8');

/** A browser's worker with a server of files, which can be away. */
function start(files, build = 'b1', stores = new Map(), room = Infinity) {
  const listeners = {};
  const requested = [];
  const origin = 'https://notes.example';
  let isOnline = true;
  let current = build;
  const fetch = async (given) => {
    const url = new URL(typeof given === 'string' ? given : given.url);
    requested.push(url.pathname);
    if (!isOnline) throw new TypeError('fetch failed');
    let { pathname } = url;
    const isOld = /^\/prefix\/app\/([^/]+)\/(.*)$/.exec(pathname);
    let redirected = false;
    if (pathname === '/prefix/' || (isOld && isOld[1] !== current)) {
      pathname = `/prefix/app/${current}/`;
      redirected = true;
    }
    const name = pathname.slice(`/prefix/app/${current}/`.length) || 'index.html';
    const body = pathname.startsWith('/prefix/v1/') ? '{}' : files[name];
    const types = { html: 'text/html', js: 'text/javascript', css: 'text/css', webmanifest: 'application/manifest+json' };
    const response = new Response(body ?? 'missing', { status: body === undefined ? 404 : 200, headers: { 'Content-Type': types[name.split('.').pop()] ?? 'image/svg+xml' } });
    Object.defineProperty(response, 'url', { value: `${origin}${pathname}` });
    Object.defineProperty(response, 'redirected', { value: redirected });
    return response;
  };
  const caches = {
    open: async (name) => {
      if (!stores.has(name)) stores.set(name, new Map());
      const store = stores.get(name);
      const put = async (key, value) => {
        if (store.size >= room) throw new DOMException('full', 'QuotaExceededError');
        store.set(key, value);
      };
      return { put, match: async (key) => store.get(typeof key === 'string' ? key : key.url)?.clone() };
    },
    keys: async () => [...stores.keys()], delete: async (name) => stores.delete(name),
    match: async (request) => { for (const store of stores.values()) if (store.has(request.url)) return store.get(request.url).clone(); },
  };
  const self = {
    registration: { scope: `${origin}/prefix/` }, location: { href: `${origin}/prefix/app/${build}/sw.js` },
    addEventListener: (name, body) => { listeners[name] = body; }, skipWaiting: async () => {}, clients: { claim: async () => {} },
  };
  runInNewContext(source, { self, URL, Response, fetch, caches, setTimeout: (body, time) => setTimeout(body, time / 100), Set, Promise, Error });
  const wait = (name) => new Promise((resolve, reject) => { listeners[name]({ waitUntil: (promise) => promise.then(resolve, reject) }); });
  const ask = (path, mode = 'no-cors', method = 'GET') => {
    let answer = null;
    listeners.fetch({ request: { url: `${origin}${path}`, mode, method }, respondWith: (promise) => { answer = promise; } });
    return answer;
  };
  return { wait, ask, requested, stores, offline: () => { isOnline = false; }, upgrade: (next) => { current = next; } };
}

const files = {
  'index.html': '<link rel="manifest" href="manifest.webmanifest"><link href="board.css"><script type="module" src="board/app.js"></script><a href="#x"></a>',
  'board/app.js': "import { a } from '../control/session.js';\nimport './dom.js';\n/** @type {import('./types.d.ts').X} */\nconst late = await import('./late.js');",
  'board/dom.js': '', 'board/late.js': "export { x } from './dom.js';", 'control/session.js': "import {\n  b,\n} from './board.js'; // from 'nowhere.js'",
  'control/board.js': '', 'board.css': 'a { background: url("icon.svg") }', 'icon.svg': '<svg/>', 'big.svg': '<svg/>',
  'manifest.webmanifest': '{"icons":[{"src":"big.svg"}],"screenshots":[{"src":"wide.svg"}]}',
};

test('the worker keeps every file that the page names, and no data', async () => {
  const worker = start(files);
  await worker.wait('install');
  const [[name, store]] = worker.stores;
  assert.equal(name, 'https://notes.example/prefix/app/b1/');
  assert.ok(!worker.requested.some((path) => path.endsWith('wide.svg')));
  const kept = [...store.keys()].map((each) => each.slice(name.length)).sort();
  assert.deepEqual(kept, ['', ...Object.keys(files).filter((each) => each !== 'index.html')].sort());
  for (const path of ['/prefix/v1/session', '/prefix/v1/objects/Note', '/other', '/prefix/apple/']) assert.equal(worker.ask(path), null);
  assert.equal(worker.ask('/prefix/app/b1/board.css', 'no-cors', 'POST'), null);
});

test('without the server the page and its files are loaded', async () => {
  const worker = start(files);
  await worker.wait('install');
  worker.offline();
  assert.match(await (await worker.ask('/prefix/app/b1/', 'navigate')).text(), /board\/app.js/);
  assert.match(await (await worker.ask('/prefix/app/b1/?x=1#y', 'navigate')).text(), /board\/app.js/);
  assert.equal((await worker.ask('/prefix/app/b1/icon.svg')).status, 200);
  // The entrance, and a page of another build, lead to the kept one.
  for (const path of ['/prefix/', '/prefix/app/b0/']) {
    const answer = await worker.ask(path, 'navigate');
    assert.deepEqual([answer.status, answer.headers.get('Location')], [302, 'https://notes.example/prefix/app/b1/']);
  }
});

test('a newer build replaces the kept one', async () => {
  const worker = start(files);
  await worker.wait('install');
  worker.upgrade('b2');
  const page = await worker.ask('/prefix/app/b1/', 'navigate');
  assert.equal(page.url, 'https://notes.example/prefix/app/b2/');
  // The old worker's address has the new script by now: it keeps the build that the server has.
  const next = start(files, 'b1', worker.stores);
  next.upgrade('b2');
  await next.wait('install');
  assert.deepEqual([...worker.stores.keys()], ['https://notes.example/prefix/app/b2/']);
});

test('a worker whose files are incomplete does not take over', async () => {
  const { 'board/dom.js': _, ...rest } = files;
  await assert.rejects(start(rest).wait('install'), /dom.js is missing/);
  const { 'icon.svg': __, ...bare } = files;
  await start(bare).wait('install');
});

test('a full disk leaves the older build and no part of the newer one', async () => {
  const worker = start(files);
  await worker.wait('install');
  await assert.rejects(start(files, 'b2', worker.stores, 3).wait('install'), { name: 'QuotaExceededError' });
  assert.deepEqual([...worker.stores.keys()], ['https://notes.example/prefix/app/b1/']);
});
