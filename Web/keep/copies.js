// Copies of the boards that were seen last, so that a reload shows them while the server can't be reached. They can be
// deleted at any time, unlike unsent edits. A board that is too large has no copy.

/** @typedef {import('../control/overlay.js').Stored} Stored */
/** @typedef {{board: string, at: number, objects: Stored[]}} Copy */

/** The largest copy, in objects and in UTF-16 units of text. */
const maximum = { objects: 5000, text: 4_000_000 };
/** The most boards with a copy. */
const maximumBoards = 20;

export class Copies {
  /** @type {Map<string, Stored>} */
  #objects = new Map();
  /** @type {Map<string, string[]>} */
  #boards = new Map();
  #storage;
  #key;

  /** @param {import('./storage.js').Storage} storage @param {{store: string, user: string}} owner */
  constructor(storage, { store, user }) {
    this.#storage = storage;
    this.#key = ['seen', store, user];
  }

  /** Reads the copies. */
  async load() {
    /** @type {[import('./storage.js').Key, Copy][]} */
    let found = [];
    try {
      found = await this.#storage.list(this.#key);
    } catch {
      // Without copies, the board is empty until the server is back.
    }
    found.sort(([, a], [, b]) => (a.board === '' ? -1 : b.board === '' ? 1 : b.at - a.at));
    const old = found.splice(1 + maximumBoards);
    if (old.length > 0) this.#storage.change({ remove: old.map(([key]) => key) }).catch(() => {});
    for (const [, { board, objects }] of found) {
      this.#boards.set(board, objects.map((each) => each.id));
      for (const each of objects) this.#objects.set(each.id, each);
    }
  }

  /** @param {string} id */
  get(id) { return this.#objects.get(id); }

  /** The boards of the copied list. */
  get boards() { return this.#of('', 'Board'); }
  /** The copied tags. */
  get tags() { return this.#of('', 'Tag'); }

  /** @param {string} board @param {string} entity */
  #of(board, entity) { return (this.#boards.get(board) ?? []).filter((id) => this.#objects.get(id)?.entity === entity); }

  /** The copied notes and links of a board.
   * @param {string} board */
  ids(board) {
    return { notes: this.#of(board, 'Note'), links: this.#of(board, 'Link') };
  }

  /** Removes the copies of a board from memory, because the server's objects have arrived.
   * An empty id means boards and tags.
   * @param {string} board */
  drop(board) {
    for (const id of this.#boards.get(board) ?? []) this.#objects.delete(id);
    this.#boards.delete(board);
  }

  /** Forgets all copies in memory. */
  forget() {
    this.#objects.clear();
    this.#boards.clear();
  }

  /** Stores the copy of a board; without an id, that of the list of boards and of the tags.
   * @param {string} board @param {Stored[]} objects @param {number} at */
  async save(board, objects, at) {
    const size = objects.reduce((sum, each) => sum + (each.values.text?.length ?? 0), 0);
    const isTooLarge = objects.length > maximum.objects || size > maximum.text;
    const put = /** @type {[import('./storage.js').Key, Copy]} */ ([[...this.#key, board], { board, at, objects }]);
    try {
      if (isTooLarge) return void await this.#storage.change({ remove: [put[0]] });
      await this.#storage.change({ put: [put] });
    } catch {
      // The disk is full. The copy is removed to leave the space to unsent edits.
      await this.#storage.change({ remove: [put[0]] }).catch(() => {});
    }
  }

  /** Removes all copies, when the user signs out. */
  async clear() {
    const all = await this.#storage.list(this.#key).catch(() => []);
    await this.#storage.change({ remove: all.map(([key]) => key) }).catch(() => {});
    this.forget();
  }
}
