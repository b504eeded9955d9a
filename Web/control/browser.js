// The services of the browser that a session uses. Tests pass substitutes.

import { Connection } from '../net/connection.js';
import { idText } from '../keep/intents.js';
import { openStorage } from '../keep/storage.js';
import { openTabs } from '../keep/tabs.js';

/** @typedef {{page: URL, root: URL, build: string, program: string, fetch: typeof globalThis.fetch, location: {hash: string},
 *  replaceFragment: (hash: string) => void, connect: (options: any) => Connection, clock: import('../keep/unsent.js').Clock,
 *  randomHex: () => string, undoScope: () => [scope: string, group: number],
 *  openStorage: () => Promise<import('../keep/storage.js').Storage>, openTabs: () => import('../keep/tabs.js').Tabs,
 *  isPersistent: () => Promise<boolean>, persist: () => Promise<boolean>, keepShell: () => Promise<boolean>,
 *  isOnline: () => boolean, onhide: (body: () => void) => void, onshow: (body: () => void) => void, reload: () => boolean}} Environment
 *  `page`: the address of the application; `root`: that of the server's HTTP interface, two folders above;
 *  `keepShell`: whether the application can be loaded without the server; `reload`: false if it was loaded just now */

/** @returns {Environment} */
export function browser() {
  const page = new URL('../', import.meta.url);
  const parts = page.pathname.split('/');
  /** @type {import('../keep/unsent.js').Clock} */
  const clock = { now: () => performance.now(), date: () => new Date(), later: (body, milliseconds) => setTimeout(body, milliseconds) };
  const randomHex = () => [...crypto.getRandomValues(new Uint8Array(16))].map((each) => each.toString(16).padStart(2, '0')).join('');
  return {
    page, root: new URL('../../', page), build: parts[parts.length - 3] === 'app' ? parts[parts.length - 2] : '', program: 'stickies web',
    fetch: (...given) => fetch(...given), location, clock, randomHex,
    replaceFragment: (hash) => history.replaceState(history.state, '', `${location.pathname}${location.search}${hash}`),
    connect: (options) => new Connection(options), undoScope: () => undoScope(randomHex),
    openStorage: () => openStorage(globalThis.indexedDB, 'stickies'),
    openTabs: () => openTabs(navigator.locks, (name) => new BroadcastChannel(name), clock.later),
    isPersistent: async () => await navigator.storage?.persisted?.() ?? false,
    persist: async () => await navigator.storage?.persist?.().catch(() => false) ?? false,
    keepShell: () => keepShell(page), isOnline: () => navigator.onLine,
    onhide: (body) => { addEventListener('pagehide', body); document.addEventListener('visibilitychange', () => { if (document.hidden) body(); }); },
    onshow: (body) => document.addEventListener('visibilitychange', () => { if (!document.hidden) body(); }),
    reload,
  };
}

/** The undo stack of this tab, which a reload continues.
 * The numbers of groups begin at the clock's time, so that they are greater than the numbers of earlier loads.
 * @param {() => string} randomHex @returns {[string, number]} */
function undoScope(randomHex) {
  let scope = idText(randomHex());
  try {
    const known = sessionStorage.getItem('stickies-undo');
    if (known && /^[a-hj-kmnp-s][0-9a-hjkmnp-tv-z]{25}$/.test(known)) scope = known;
    sessionStorage.setItem('stickies-undo', scope);
  } catch {
    // A browser that refuses storage: the stack ends with the page.
  }
  // Not the clock's time alone: it may have been set back since the last load.
  return [scope, Number.parseInt(randomHex().slice(0, 12), 16)];
}

/** Loads the page again, unless it did so a moment ago. */
function reload() {
  const name = 'stickies-reloaded';
  try {
    const last = Number(sessionStorage.getItem(name));
    // A clock that was set back must not prevent it forever.
    if (Math.abs(Date.now() - last) < 10_000) return false;
    sessionStorage.setItem(name, String(Date.now()));
  } catch {
    return false;
  }
  location.reload();
  return true;
}

/** Registers the worker that keeps the application's files, and removes workers of older builds.
 * @param {URL} page @returns {Promise<boolean>} whether the worker has the files: over plain HTTP a browser has no workers */
async function keepShell(page) {
  const { serviceWorker } = navigator;
  if (!serviceWorker) return false;
  try {
    const script = new URL('sw.js', page).href;
    const { trustedTypes } = /** @type {any} */ (globalThis);
    // The page's policy allows this one script address and no other.
    const policy = trustedTypes?.createPolicy('app-worker', {
      createScriptURL: (/** @type {string} */ url) => {
        if (url !== script) throw new TypeError('not the address of the worker');
        return url;
      },
    });
    const registration = await serviceWorker.register(policy ? policy.createScriptURL(script) : script, { scope: new URL('../../', page).pathname });
    return await isActive(registration);
  } catch {
    return false;
  }
}

/** Whether the newest worker of a registration has all files; a full disk prevents it.
 * @param {ServiceWorkerRegistration} registration */
async function isActive({ installing, waiting, active }) {
  const worker = installing ?? waiting ?? active;
  while (worker && worker.state !== 'activated' && worker.state !== 'redundant') {
    await new Promise((resolve) => worker.addEventListener('statechange', resolve, { once: true }));
  }
  return worker?.state === 'activated';
}
