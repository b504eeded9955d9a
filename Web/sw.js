// @ts-check
/// <reference lib="webworker" />
// The service worker that caches the application's files, so that the board can be loaded while the server can't be
// reached. It caches only files of `app/BUILD/` and nothing of `v1`, so no data of the server passes through it or
// stays in it. Without the worker, only a reload without the server fails.
//
// Each build has its own address and never changes, so a cached file is never stale. Pages are loaded from the network
// first: a server with a newer build redirects to it, and the page of that build registers its own worker, which
// removes the older files.

const worker = /** @type {ServiceWorkerGlobalScope} */ (/** @type {unknown} */ (self));
/** The root of the server's HTTP interface, which is the scope of the worker. */
const root = new URL(worker.registration.scope);
/** The time after which a page is loaded from the cache although the server may still answer, in milliseconds. */
const patience = 3000;
/** The maximum number of files of a build, against mistakes. */
const maximumFiles = 200;

/** The folder of a file of the application; null for any other address.
 * @param {string | URL} address */
function folder(address) {
  const url = new URL(address, root);
  if (url.origin !== root.origin || !url.pathname.startsWith(`${root.pathname}app/`)) return null;
  const [build] = url.pathname.slice(`${root.pathname}app/`.length).split('/');
  return build ? new URL(`app/${build}/`, root).href : null;
}

/** The addresses of the application that a file names.
 * @param {string} text @param {string} address @param {string} type @returns {string[]} */
function links(text, address, type) {
  // The screenshots of the manifest are shown only during an installation, which needs the server.
  if (type.includes('manifest')) return (JSON.parse(text).icons ?? []).map((/** @type {{src: string}} */ { src }) => new URL(src, address).href);
  const pattern = type.includes('html') ? /(?:src|href)="([^"#]+)"/g
    // Comments name modules too, for their types.
    : type.includes('javascript') ? /^(?:import|export)\b[^'";]*?\bfrom\s*'([^']+)'|^import\s*'([^']+)'|\bawait import\(\s*'([^']+)'/gm
      : type.includes('css') ? /url\(["']?([^"')]+)/g : null;
  if (!pattern) return [];
  const found = [...text.matchAll(pattern)].map((match) => match[1] ?? match[2] ?? match[3]);
  return found.filter((each) => !each.startsWith('data:')).map((each) => new URL(each, address).href);
}

/** Loads the page and all files that it names, directly or through others, into a cache of its build.
 * @param {string} start */
async function keep(start) {
  const page = await fetch(start, { cache: 'reload' });
  const base = folder(page.url);
  if (!page.ok || !base) throw new Error('the server has no application here');
  const seen = new Set([base]);
  /** @type {[string, Response][]} */
  const files = [[base, page]];
  for (let index = 0; index < files.length; index += 1) {
    const [address, response] = files[index];
    const text = await response.clone().text();
    for (const link of links(text, response.url || address, response.headers.get('Content-Type') ?? '')) {
      if (seen.has(link) || folder(link) !== base || seen.size >= maximumFiles) continue;
      seen.add(link);
      const found = await fetch(link);
      // Without an icon the board works, without a module it does not.
      if (found.ok) files.push([link, found]);
      else if (/\.(js|css)$/.test(link)) throw new Error(`${link} is missing`);
    }
  }
  const cache = await caches.open(base);
  try {
    for (const [address, response] of files) await cache.put(address, clean(response));
  } catch (error) {
    // The disk is full. A page that lacks modules would be worse than none.
    await caches.delete(base);
    throw error;
  }
  // A page that was redirected belongs to the newer build; files of others are not needed any longer.
  for (const name of await caches.keys()) if (name.startsWith(`${root.href}app/`) && name !== base) await caches.delete(name);
}

/** A response without the mark of a redirection, which browsers refuse for pages.
 * @param {Response} response */
function clean(response) {
  const { status, statusText, headers } = response;
  return response.redirected ? new Response(response.body, { status, statusText, headers }) : response;
}

worker.addEventListener('install', (event) => {
  event.waitUntil(keep(new URL('./', worker.location.href).href).then(() => worker.skipWaiting()));
});

worker.addEventListener('activate', (event) => { event.waitUntil(worker.clients.claim()); });

worker.addEventListener('fetch', (event) => {
  const { request } = event;
  if (request.method !== 'GET') return;
  const isEntrance = request.mode === 'navigate' && new URL(request.url).href.split(/[?#]/)[0] === root.href;
  if (!isEntrance && !folder(request.url)) return;
  event.respondWith(request.mode === 'navigate' ? page(request) : file(request));
});

/** The server's page, or the cached one if the server does not answer.
 * @param {Request} request */
async function page(request) {
  const late = new Promise((resolve) => { setTimeout(resolve, patience); });
  const online = fetch(request).catch(() => undefined);
  const answer = /** @type {Response | undefined} */ (await Promise.race([online, late]));
  if (answer && (answer.ok || answer.type === 'opaqueredirect' || answer.status < 500)) return answer;
  const [base] = (await caches.keys()).filter((name) => name.startsWith(`${root.href}app/`));
  const kept = base && await (await caches.open(base)).match(base);
  if (!kept) return await online ?? Response.error();
  // The page's relative addresses are those of its own build.
  return request.url.split(/[?#]/)[0] === base ? kept : Response.redirect(base, 302);
}

/** The cached file, or else the server's.
 * @param {Request} request */
async function file(request) {
  const kept = await caches.match(request, { ignoreSearch: true });
  return kept ?? fetch(request);
}
