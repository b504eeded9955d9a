// The past of a board: its commits, its state at any revision, where a value comes from, and restoring.

import { change } from '../keep/intents.js';
import { makeNote } from './live.js';
import { differences } from './splices.js';

/** @typedef {import('./live.js').Note} Note */
/** @typedef {{revision: number, at: Date, author: string, summary: string, notes: string[]}} Entry  a commit: the ids of its notes */

/** The commits that are read at a time while those of this board are searched for. */
const batch = 100;
/** The most commits that are read for one page. */
const maximumRead = 2000;

export class Past {
  #session;
  #board;

  /** @param {import('./session.js').Session} session @param {import('./board.js').Board} board */
  constructor(session, board) {
    this.#session = session;
    this.#board = board;
  }

  get #connection() { return this.#session.connection; }

  /** The commits that touch the board, newest first.
   * @param {{limit?: number, before?: number}} [page] `before`: a revision
   * @returns {Promise<Entry[]>} fewer than `limit` at the beginning of history */
  async history(page = {}) {
    const { limit = 50, before } = page;
    /** @type {Entry[]} */
    const found = [];
    let through = before === undefined ? 0 : before - 1;
    for (let read = 0; read < maximumRead && found.length < limit && !(before !== undefined && through <= 0);) {
      const commits = await this.#connection.log({ through, limit: batch, entities: ['Note', 'Link', 'Board'], changes: 200 });
      for (const commit of commits) {
        const entry = this.#entry(commit);
        if (entry && found.length < limit) found.push(entry);
      }
      read += commits.length;
      if (commits.length < batch) break;
      through = Number(commits[commits.length - 1].revision) - 1;
      if (through <= 0) break;
    }
    return found;
  }

  /** @param {any} commit @returns {Entry | null} null for a commit of other boards */
  #entry(commit) {
    const notes = new Set();
    let isHere = Boolean(commit.unlisted);
    for (const { id, entity, object, edits } of commit.changes) {
      if (entity === 'Board' && id === this.#board.id) isHere = true;
      const values = object?.values ?? {};
      if (entity === 'Note' && (values.board === this.#board.id || this.#board.notes.has(id))) notes.add(id);
      if (entity === 'Link' && (this.#board.notes.has(values.from) || this.#board.notes.has(values.to))) isHere = true;
      // A note that was moved to another board was on this one.
      if (edits.some((/** @type {any} */ edit) => edit.property === 'board') && this.#board.notes.has(id)) isHere = true;
    }
    if (!isHere && notes.size === 0) return null;
    return {
      revision: Number(commit.revision), at: new Date(Number(commit.time) / 1000), author: commit.author,
      summary: summary(commit, notes.size), notes: /** @type {string[]} */ ([...notes]),
    };
  }

  /** The notes at a revision.
   * @param {number} revision @returns {Promise<Map<string, Note>>} */
  async at(revision) {
    const where = `board == "${this.#board.id}"`;
    const [notes, tags, links] = await Promise.all([
      this.#connection.fetch({ entity: 'Note', where, at: revision }), this.#connection.fetch({ entity: 'Tag', at: revision }),
      this.#connection.fetch({ entity: 'Link', where: `from.board == "${this.#board.id}"`, at: revision }),
    ]);
    const names = new Map(tags.objects.map(({ id, values }) => [id, values.name]));
    return new Map(notes.objects.map(({ id, values }) => [id, makeNote(id, values, {
      number: values.number, updatedBy: '', unsent: false,
      tags: (values.tags ?? []).flatMap((/** @type {string} */ tag) => names.has(tag) ? [{ id: tag, name: names.get(tag) }] : []),
      links: links.objects.filter((link) => link.values.from === id)
        .map((link) => ({ id: link.id, to: link.values.to, label: link.values.label })),
    })]));
  }

  /** The first and the last revision that `at` can read. */
  async reach() {
    const [status] = await this.#connection.request('status', {});
    return { from: Math.max(1, Number(status.oldest)), to: Number(status.head.revision) };
  }

  /** The newest revision at a time.
   * @param {Date} date */
  async revisionAt(date) { return Number((await this.#connection.revisionAt(date.getTime() * 1000)).revision); }

  /** The origin of a property's value.
   * @param {string} id @param {string} property */
  async why(id, property) {
    const origin = await this.#connection.valueOrigin({ id, entity: 'Note' }, property);
    return {
      value: origin.value, previous: origin.previous, revision: Number(origin.revision), at: new Date(Number(origin.time) / 1000),
      author: origin.author, kind: origin.kind,
      lost: origin.overwritten.map((/** @type {any} */ each) => ({ value: each.value, author: each.author, at: new Date(Number(each.time) / 1000) })),
    };
  }

  /** Gives notes the values that they had: present objects are restored in one step, deleted ones return.
   * @param {string[]} ids @param {number} revision */
  async restore(ids, revision) {
    const past = await this.at(revision);
    /** @type {import('../keep/intents.js').Change[]} */
    const changes = [];
    /** @type {string[]} */
    const deleted = [];
    const names = /** @type {(keyof Note)[]} */ (['color', 'x', 'y', 'width', 'height', 'z', 'collapsed', 'pinned', 'locked']);
    for (const id of ids) {
      const old = past.get(id);
      const note = this.#board.notes.get(id);
      if (!old) continue;
      if (!note) {
        deleted.push(id);
        continue;
      }
      const made = change('update', `Note/${id}`, this.#session.overlay.base(`Note/${id}`));
      for (const name of names) if (old[name] !== note[name]) made.set[name] = old[name];
      if (old.text !== note.text) made.texts.text = this.#session.overlay.textEdit(made.object, differences(note.text, old.text));
      const [before, now] = [old, note].map((each) => new Set(each.tags.map((tag) => tag.id)));
      const add = [...before].filter((tag) => !now.has(tag) && this.#session.objects.tags.has(tag)).map((tag) => `Tag/${tag}`);
      const remove = [...now].filter((tag) => !before.has(tag)).map((tag) => `Tag/${tag}`);
      if (add.length + remove.length > 0) made.members.tags = { add, remove };
      changes.push(made);
    }
    if (changes.length > 0) this.#session.add(changes, this.#session.steps.gesture('Restore'));
    for (const id of deleted) await this.#session.steps.restore({ id: { id, entity: 'Note' } });
  }

  /** Restores the board with its notes as of a revision. Notes made since stay.
   * @param {number} revision */
  async restoreBoard(revision) {
    await this.#session.steps.restore({ revision, id: { id: this.#board.id, entity: 'Board' }, contents: true });
  }
}

/** What a commit did, in a few words.
 * @param {any} commit @param {number} count the number of its notes */
function summary(commit, count) {
  const what = commit.undo?.name || deeds(commit.changes);
  const name = commit.undoes ? (commit.redoes ? `redid “${what}”` : `undid “${what}”`) : what;
  return count > 1 ? `${name} (${count} notes)` : name;
}

/** @param {any[]} changes */
function deeds(changes) {
  const kinds = new Set(changes.map((each) => each.kind));
  if (kinds.has('insert')) return 'added';
  if (kinds.has('revive')) return 'restored';
  if (kinds.has('delete')) return 'deleted';
  const properties = new Set(changes.flatMap((each) => each.edits.map((/** @type {any} */ edit) => edit.property)));
  if (properties.has('text')) return 'wrote';
  if (properties.has('x') || properties.has('y')) return 'moved';
  return properties.size > 0 ? `changed ${[...properties].slice(0, 3).join(', ')}` : 'changed';
}
