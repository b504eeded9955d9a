// The list of boards with the numbers of their notes, and their creation, renaming and deletion. The server decides these
// at once, because the name of a board is unique.

import { idHex, idOf } from '../keep/intents.js';

/** @typedef {{id: string, name: string, color: string, notes: number | null, isReadOnly: boolean, canRename: boolean, canDelete: boolean,
 *  canShare: boolean}} Entry
 *  `notes` is null while it is unknown */

const byName = new Intl.Collator(undefined, { numeric: true });
/** The least time between two counts, in milliseconds. */
const pause = 1000;

export class Boards {
  #session;
  /** @type {Map<string, number>} */
  #counts = new Map();
  /** The boards by name; null after a change.
   * @type {Entry[] | null} */
  #list = null;
  #isCounted = false;
  #isCounting = false;
  #due = 0;

  /** @param {import('./session.js').Session} session */
  constructor(session) { this.#session = session; }

  /** Call it after each change of the boards: sorting thousands of names takes longer than a frame. */
  invalidate() { this.#list = null; }

  /** The boards by name.
   * @param {() => Iterable<string>} ids @param {Iterable<import('./live.js').LiveBoard>} open @returns {Entry[]} */
  list(ids, open) {
    const list = this.#list ??= this.#read(ids());
    for (const board of open) {
      const entry = board.ready ? list.find((each) => each.id === board.id) : undefined;
      if (entry) entry.notes = board.total;
    }
    return list;
  }

  /** @param {Iterable<string>} ids */
  #read(ids) {
    const list = [...new Set(ids)].flatMap((id) => {
      const values = this.#session.overlay.values(`Board/${id}`);
      if (!values) return [];
      const known = this.#isCounted ? this.#counts.get(id) ?? 0 : null;
      const { rights } = this.#session;
      return [{
        id, name: String(values.name), color: values.color ?? 'gray', notes: known,
        canRename: !rights.refusalOfBoard('update', id, values.creator), canDelete: !rights.refusalOfBoard('delete', id, values.creator),
        canShare: rights.role(id) === 'owner', isReadOnly: Boolean(rights.refusal('insert', id)),
      }];
    });
    return list.sort((a, b) => byName.compare(a.name, b.name) || (a.id < b.id ? -1 : 1));
  }

  /** Counts the notes of all boards again.
   * @param {number} now @returns {Promise<boolean>} whether a number has changed */
  async count(now) {
    if (!this.#session.isLive || this.#isCounting || now < this.#due) return false;
    this.#isCounting = true;
    this.#due = now + pause;
    try {
      const { rows } = await this.#session.connection.fetch({
        entity: 'Note', result: 'rows', properties: 'board, @count', groupBy: 'board',
      });
      const counts = new Map(rows.map(([board, count]) => [String(board), Number(count)]));
      const isSame = this.#isCounted && counts.size === this.#counts.size && [...counts].every(([id, count]) => this.#counts.get(id) === count);
      this.#counts = counts;
      this.#isCounted = true;
      return !isSame;
    } catch {
      // The connection was lost; the list shows the old numbers.
      return false;
    } finally {
      this.#isCounting = false;
    }
  }

  /** @param {any} change @param {string} step for a menu, "Undo STEP" */
  async #commit(change, step) {
    const { unsent, steps, connection } = this.#session;
    if (!unsent || !this.#session.isLive) throw new Error('boards need the server; try again when it is back');
    const creator = change.kind === 'insert' ? null : this.#session.overlay.values(`Board/${change.id}`)?.creator;
    const refusal = this.#session.rights.refusalOfBoard(change.kind, change.kind === 'insert' ? '' : change.id, creator);
    if (refusal) throw new Error(refusal);
    const { group, name } = steps.gesture(step);
    const undo = { scope: idHex(steps.scope), group, name };
    // Behind the edits made so far, so that undo takes the steps in their order.
    const answer = await unsent.after(() => connection.commit({ policy: 'error', undo, changes: [change] }));
    steps.refresh();
    return answer;
  }

  /** @param {string} name @returns {Promise<string>} the id of the board */
  async create(name) {
    const values = { name: checked(name) };
    const { ids } = await this.#commit({ kind: 'insert', id: 'temporary 1', entity: 'Board', values }, 'New Board');
    return /** @type {string} */ (ids.get('temporary 1'));
  }

  /** @param {string} id @param {string} name */
  async rename(id, name) {
    const base = this.#session.overlay.base(`Board/${id}`) ?? 0;
    await this.#commit({ kind: 'update', id, entity: 'Board', base, values: { name: checked(name) } }, 'Rename Board');
  }

  /** Deletes a board with its notes; undo brings them back.
   * @param {string} id */
  async delete(id) {
    await this.#commit({ kind: 'delete', id: idOf(id), entity: 'Board', base: 0 }, 'Delete Board');
  }
}

/** @param {string} name @throws {Error} for a name that no board can have */
function checked(name) {
  const text = name.trim();
  const bytes = new TextEncoder().encode(text).length;
  if (bytes < 1 || bytes > 200) throw new Error('a board’s name has 1 to 200 bytes');
  return text;
}
