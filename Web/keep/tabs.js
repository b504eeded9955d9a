// Which tabs of this browser are alive. Each tab holds a Web Lock with the name of its replica, which the browser
// releases when the tab ends, even if it crashes; another tab that waits for it takes over the unsent edits. Without
// locks (on plain HTTP), the tabs ask each other. A wrong answer does no harm: storage decides who sends.

/** @typedef {{hold: (name: string) => void, ended: (name: string, body: () => Promise<void>) => void, close: () => void}} Tabs */

/** The time within which a tab must answer, and the time until the next question, in milliseconds. */
const [patience, pause] = [500, 30_000];

/** @param {LockManager | undefined} locks
 * @param {(name: string) => BroadcastChannel} openChannel
 * @param {(body: () => void, milliseconds: number) => unknown} later @returns {Tabs} */
export function openTabs(locks, openChannel, later) {
  const end = new AbortController();
  if (locks) {
    return {
      hold: (name) => { hold(locks, name, end.signal); },
      ended: (name, body) => { locks.request(name, { signal: end.signal }, body).catch(() => {}); },
      close: () => end.abort(),
    };
  }
  const channel = openChannel('stickies-tabs');
  const held = new Set();
  /** @type {Map<string, () => void>} */
  const waiting = new Map();
  channel.onmessage = ({ data }) => {
    if (data?.ask && held.has(data.ask)) channel.postMessage({ alive: data.ask });
    if (data?.alive) waiting.get(data.alive)?.();
  };
  const ended = (/** @type {string} */ name, /** @type {() => Promise<void>} */ body) => {
    if (end.signal.aborted) return;
    let isAlive = false;
    waiting.set(name, () => { isAlive = true; });
    channel.postMessage({ ask: name });
    later(() => {
      waiting.delete(name);
      if (isAlive) later(() => ended(name, body), pause);
      else body();
    }, patience);
  };
  return { hold: (name) => { held.add(name); }, ended, close: () => { end.abort(); channel.close(); } };
}

/** @param {LockManager} locks @param {string} name @param {AbortSignal} signal */
function hold(locks, name, signal) {
  const untilEnd = () => new Promise((resolve) => { signal.addEventListener('abort', resolve); });
  locks.request(name, untilEnd).catch(() => {});
}
