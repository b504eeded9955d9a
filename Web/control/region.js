// What a board follows on the server: all its notes and links, or of a large board the uppermost notes around what the
// user sees. A new region replaces the old one when it has arrived; one is being loaded at a time.

/** @typedef {{x: number, y: number, width: number, height: number}} Area */

/** Boards with more notes than this are followed in parts. */
export const maximumNotes = 10_000;
/** The most notes of a part, the uppermost ones; the limit of a window. */
const partLimit = 1000;
/** The most notes that are followed wherever they are, because the user works on them. */
const maximumInUse = 100;

export class Region {
  isReady = false;
  isPart = false;
  /** The number of the board's notes, if it is followed in parts. */
  total = 0;
  #session;
  #board;
  #onload;
  /** @type {import('../net/connection.js').Query | null} */
  #notes = null;
  /** @type {import('../net/connection.js').Query | null} */
  #links = null;
  /** @type {Area | null} */
  #covered = null;
  /** @type {Area | null} */
  #wanted = null;
  #isLoading = false;
  #isClosed = false;
  #limit = partLimit;
  #inUse;

  /** @param {import('./session.js').Session} session @param {string} board
   * @param {() => void} onload called when a first result, or that of another region, has arrived
   * @param {() => string[]} inUse the notes that the user works on */
  constructor(session, board, onload, inUse) {
    this.#session = session;
    this.#board = board;
    this.#onload = onload;
    this.#inUse = inUse;
    this.#open();
  }

  /** The ids that the queries have. */
  get ids() { return { notes: this.#notes?.ids ?? [], links: this.#links?.ids ?? [] }; }

  get #where() { return `board == "${this.#board}"`; }

  async #open() {
    await this.#session.connected;
    if (this.#isClosed) return;
    try {
      const { count } = await this.#session.connection.fetch({ entity: 'Note', where: this.#where, result: 'count' });
      if (this.#isClosed) return;
      this.total = count;
      this.isPart = count > maximumNotes;
      if (this.isPart) this.#load(this.#wanted ?? { x: 0, y: 0, width: 1600, height: 1000 });
      else this.#follow(this.#where, `from.board == "${this.#board}"`, undefined);
    } catch (error) {
      this.#fail(error);
    }
  }

  /** @param {unknown} error */
  #fail(error) {
    if (this.#isClosed) return;
    const { code, message } = /** @type {{code?: string, message?: string}} */ (error);
    if (code !== 'unavailable') this.#session.notice(`the board can't be loaded: ${message}`);
    this.#isLoading = false;
    // Lost with the connection, or the store is busy: tried again.
    this.#session.later(() => { if (!this.isReady) this.#open(); }, code === 'unavailable' ? 500 : 10_000);
  }

  /** @param {string} notes @param {string} links @param {Area | undefined} area */
  async #follow(notes, links, area) {
    const { connection } = this.#session;
    const window = area ? { window: { sort: '-z', offset: 0, limit: this.#limit } } : {};
    const queries = [connection.subscribe({ entity: 'Note', where: notes, ...window }), connection.subscribe({ entity: 'Link', where: links })];
    try {
      await Promise.all(queries.map((each) => each.ready));
    } catch (error) {
      for (const each of queries) each.close();
      // The rows of a window arrive in one message: with long texts only fewer fit.
      const { code } = /** @type {{code?: string}} */ (error);
      if (area && code === 'limit' && this.#limit > 1 && !this.#isClosed) {
        this.#limit = Math.floor(this.#limit / 2);
        return this.#load(this.#wanted ?? area);
      }
      return this.#fail(error);
    }
    if (this.#isClosed) {
      for (const each of queries) each.close();
      return;
    }
    const old = [this.#notes, this.#links];
    [this.#notes, this.#links] = queries;
    this.#covered = area ?? null;
    this.isReady = true;
    this.#isLoading = false;
    for (const each of old) each?.close();
    this.#onload();
    if (this.#wanted && area) this.look(this.#wanted);
  }

  /** Follows the visible area if it is not in memory.
   * @param {Area} area in points */
  look(area) {
    this.#wanted = area;
    if (!this.isPart || this.#isLoading || this.#isClosed || serves(this.#covered, area)) return;
    this.#load(area);
  }

  /** @param {Area} seen */
  #load({ x, y, width, height }) {
    this.#isLoading = true;
    const area = { x: x - width, y: y - height, width: 3 * width, height: 3 * height };
    const within = (/** @type {string} */ path) => [
      `${path}x < ${area.x + area.width}`, `${path}x + ${path}width > ${area.x}`,
      `${path}y < ${area.y + area.height}`, `${path}y + ${path}height > ${area.y}`,
    ].join(' AND ');
    const used = this.#inUse().slice(0, maximumInUse).map((id) => `"${id}"`).join(', ');
    const place = used ? `(${within('')} OR id IN {${used}})` : within('');
    this.#follow(`${this.#where} AND ${place}`, `from.board == "${this.#board}" AND ${within('from.')}`, area);
  }

  close() {
    this.#isClosed = true;
    this.#notes?.close();
    this.#links?.close();
  }
}

/** Whether a region contains the visible area and a quarter of a screen around it.
 * @param {Area | null} covered @param {Area} seen */
function serves(covered, seen) {
  if (!covered) return false;
  const [dx, dy] = [seen.width / 4, seen.height / 4];
  return covered.x <= seen.x - dx && covered.x + covered.width >= seen.x + seen.width + dx
    && covered.y <= seen.y - dy && covered.y + covered.height >= seen.y + seen.height + dy;
}
