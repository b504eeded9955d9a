// The browser's storage: unsent edits, and copies of the boards that were seen last. Unsent edits must not be lost;
// copies can be deleted at any time. A key is a list, and the beginning of such a list is a prefix.

/** @typedef {(string | number)[]} Key */
/** @typedef {{put?: [Key, unknown][], remove?: Key[], ifPresent?: Key[], isStrict?: boolean}} Change
 *  All of a change or nothing is stored. Nothing is if a key of `ifPresent` is missing: another tab has taken it.
 *  `isStrict`: on the disk before the promise resolves, not only with the browser. */
/** @typedef {{change: (change: Change) => Promise<boolean>, list: (prefix: Key) => Promise<[Key, any][]>, close: () => void}} Storage
 *  `change` resolves with false if a key of `ifPresent` was missing */

/** Opens the storage of this browser.
 * @param {IDBFactory | undefined} factory @param {string} name @returns {Promise<Storage>}
 * @throws if the browser has none, or refuses it */
export async function openStorage(factory, name) {
  if (!factory) throw new Error('this browser has no storage for programs');
  const request = factory.open(name, 1);
  request.onupgradeneeded = () => { request.result.createObjectStore('entries'); };
  const database = /** @type {IDBDatabase} */ (await done(request));
  // A later version of the program needs the database without this one.
  database.onversionchange = () => database.close();
  return {
    close: () => database.close(),
    change: ({ put = [], remove = [], ifPresent = [], isStrict = false }) => new Promise((resolve, reject) => {
      const transaction = database.transaction('entries', 'readwrite', { durability: isStrict ? 'strict' : 'relaxed' });
      const entries = transaction.objectStore('entries');
      let isTaken = false;
      const write = () => {
        for (const key of remove) entries.delete(key);
        for (const [key, value] of put) entries.put(value, key);
      };
      let left = ifPresent.length;
      if (left === 0) write();
      for (const key of ifPresent) {
        const count = entries.count(key);
        count.onsuccess = () => {
          if (count.result === 0) isTaken = true;
          left -= 1;
          if (left === 0 && !isTaken) write();
        };
      }
      transaction.oncomplete = () => resolve(!isTaken);
      transaction.onabort = () => reject(transaction.error ?? new Error('the browser has refused to store it'));
    }),
    list: async (prefix) => {
      const entries = database.transaction('entries', 'readonly').objectStore('entries');
      // Lists compare element by element, and a list is above every string and number.
      const range = factoryRange(prefix);
      const [keys, values] = await Promise.all([done(entries.getAllKeys(range)), done(entries.getAll(range))]);
      return /** @type {Key[]} */ (keys).map((key, index) => [key, /** @type {unknown[]} */ (values)[index]]);
    },
  };
}

/** @param {Key} prefix */
const factoryRange = (prefix) => IDBKeyRange.bound(prefix, [...prefix, []]);

/** @param {IDBRequest | IDBOpenDBRequest} request @returns {Promise<unknown>} */
function done(request) {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
    if ('onblocked' in request) request.onblocked = () => reject(new Error('another tab holds the storage of an older version'));
  });
}

/** A storage in memory, for a browser without one. Its contents are lost with the page.
 * @param {Map<string, unknown>} [entries] @returns {Storage} */
export function memoryStorage(entries = new Map()) {
  const starts = (/** @type {Key} */ key, /** @type {Key} */ prefix) => prefix.every((each, index) => key[index] === each);
  return {
    close: () => {},
    change: async ({ put = [], remove = [], ifPresent = [] }) => {
      if (ifPresent.some((key) => !entries.has(JSON.stringify(key)))) return false;
      for (const key of remove) entries.delete(JSON.stringify(key));
      for (const [key, value] of put) entries.set(JSON.stringify(key), structuredClone(value));
      return true;
    },
    list: async (prefix) => {
      const found = [...entries].map(([key, value]) => /** @type {[Key, any]} */ ([JSON.parse(key), structuredClone(value)]));
      return found.filter(([key]) => starts(key, prefix)).sort(([a], [b]) => compare(a, b));
    },
  };
}

/** @param {Key} a @param {Key} b */
function compare(a, b) {
  for (let index = 0; index < Math.min(a.length, b.length); index += 1) {
    if (a[index] !== b[index]) return a[index] < b[index] ? -1 : 1;
  }
  return a.length - b.length;
}
