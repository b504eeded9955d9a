// The objects behind the boards: tags, what unsent edits need of the server, and which new objects were made here.

import { entityOf, idOf, isTemporary } from '../keep/intents.js';

/** @typedef {import('./overlay.js').Stored} Stored */

export class Objects {
  /** The names of the tags, by id.
   * @type {Map<string, string>} */
  tags = new Map();
  /** Notes that were read because an unsent edit needs them, while no board shows them.
   * @type {Map<string, Stored | undefined>} */
  fetched = new Map();
  #session;
  /** @type {Map<string, number>} */
  #provisional = new Map();

  /** @param {import('./session.js').Session} session */
  constructor(session) { this.#session = session; }

  /** Whether an intent's texts are known as the server has them; reads those that are not.
   * @param {import('../keep/intents.js').Intent} intent */
  isReady(intent) {
    let isReady = true;
    for (const { kind, object, texts, set, base } of intent.changes) {
      // A text is sent when the composition has ended, because it must not be rebased before.
      if (this.#session.overlay.isComposed(object) && ('text' in texts || 'text' in set)) return false;
      if (kind !== 'update' || Object.keys(texts).length === 0) continue;
      this.#session.overlay.rebase(object);
      const change = intent.changes.find((each) => each.object === object);
      if (Object.values(change?.texts ?? {}).every((edit) => edit.base !== undefined)) continue;
      isReady = false;
      const id = idOf(object);
      if (this.#session.graph.get(id) || isTemporary(id) || this.fetched.has(id)) continue;
      this.fetched.set(id, undefined);
      this.#fetchNote(id, base ?? 1);
    }
    return isReady;
  }

  /** @param {string} id @param {number} base */
  async #fetchNote(id, base) {
    try {
      const { objects } = await this.#session.connection.fetch({ entity: 'Note', where: `id == "${id}"` });
      if (objects[0]) this.fetched.set(id, objects[0]);
      // The server reports that it is deleted.
      else for (const intent of this.#session.unsent?.queue.of(`Note/${id}`) ?? []) {
        for (const change of intent.changes) for (const edit of Object.values(change.texts)) edit.base ??= base;
      }
      this.#session.unsent?.pump();
      // Stays only until the edit has left.
      this.#session.later(() => this.fetched.delete(id), 10_000);
    } catch {
      this.fetched.delete(id);
      this.#session.later(() => this.#session.pump(), 1000);
    }
  }

  /** @param {import('../keep/intents.js').Intent} intent */
  isVisible({ revision = 0, changes }) {
    if (this.#session.graph.revision >= revision) return true;
    return changes.every(({ kind, object }) => {
      const stored = this.#session.graph.get(idOf(object));
      return kind === 'delete' ? !stored : kind === 'update' ? !stored || stored.revision >= revision : Boolean(stored);
    });
  }

  /** Whether an object that has just arrived equals one whose insert has no answer yet.
   * @param {string} object */
  isTwin(object) {
    const stored = this.#session.graph.get(idOf(object));
    if (!stored || !this.#session.unsent) return false;
    return this.#session.unsent.queue.entries.some((intent) => intent.state === 'left' && intent.changes.some((change) => {
      if (change.kind !== 'insert' || entityOf(change.object) !== entityOf(object)) return false;
      return Object.entries(change.set).every(([name, value]) => {
        const mine = typeof value === 'string' && value.startsWith('Board/') ? idOf(value) : value;
        return Array.isArray(value) || isTemporary(String(value)) || stored.values[name] === mine || typeof stored.values[name] === 'object'
          || (typeof value === 'string' && value.endsWith(`/${stored.values[name]}`));
      });
    }));
  }

  /** @param {Set<string>} ids */
  readTags(ids) {
    for (const id of ids) {
      const name = this.#session.overlay.values(`Tag/${id}`)?.name;
      if (name === undefined) this.tags.delete(id);
      else this.tags.set(id, name);
    }
  }

  /** The tags of these ids, each name once, in order.
   * @param {string[]} ids */
  tagsOf(ids) {
    /** @type {Map<string, {id: string, name: string}>} */
    const found = new Map();
    for (const id of ids) {
      const name = this.tags.get(id) ?? this.#session.overlay.values(`Tag/${id}`)?.name;
      if (name !== undefined && (!found.has(name) || !isTemporary(id))) found.set(name, { id, name });
    }
    return [...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** The id of the tag with a name.
   * @param {string} name */
  tagNamed(name) {
    for (const [id, each] of this.tags) if (each === name) return id;
    return undefined;
  }

  /** The name of a note until the server gives it a number: +1, +2.
   * @param {string} object */
  provisionalNumber(object) {
    let number = this.#provisional.get(object);
    if (number === undefined) this.#provisional.set(object, number = this.#provisional.size + 1);
    return `+${number}`;
  }
}
