// Undo and redo. The steps are the server's: they survive reloads, and undo only what the user did. A step of which
// nothing has been sent is withdrawn here.

import { idHex } from '../keep/intents.js';

/** @typedef {import('./board.js').Gesture} Gesture */

export class Steps {
  /** The id of this tab's stack, as text. */
  scope;
  #session;
  #group;
  /** @type {{undo?: any, redo?: any}} */
  #state = {};
  /** The newest restore, until the next edit: it is undone by its revision.
   * @type {number | null} */
  #restored = null;
  /** The groups of steps without an effect: undo and redo go on to the next one.
   * @type {Set<number>} */
  #ignored = new Set();
  #isAsking = false;

  /** @param {import('./session.js').Session} session @param {string} scope
   * @param {number} group groups are numbered from the one after this; it was never used in this scope */
  constructor(session, scope, group) {
    this.#session = session;
    this.scope = scope;
    this.#group = group;
  }

  /** @param {string} name @returns {Gesture} */
  gesture(name) {
    this.#group += 1;
    return { group: this.#group, name };
  }

  /** @param {Gesture} gesture */
  end(gesture) { gesture.group = this.gesture('').group; }

  /** A step has no effect: what it made, it has removed.
   * @param {Gesture} gesture */
  ignore({ group }) { this.#ignored.add(group); }

  /** The undo group of an edit.
   * @param {Gesture} gesture */
  undo({ group, name }) {
    this.#restored = null;
    return { scope: this.scope, group, name };
  }

  get canUndo() { return this.#restored !== null || Boolean(this.#state.undo) || this.#session.unsentSteps > 0; }
  get canRedo() { return Boolean(this.#state.redo); }

  /** Asks the server what undo and redo would do now. */
  async refresh() {
    if (this.#isAsking || !this.#session.isLive) return;
    this.#isAsking = true;
    try {
      const { undo, redo } = await this.#session.connection.undoState(idHex(this.scope));
      const isNew = Boolean(undo) !== Boolean(this.#state.undo) || Boolean(redo) !== Boolean(this.#state.redo);
      this.#state = { undo, redo };
      if (isNew) this.#session.announce();
    } catch {
      // The connection was lost; the next one asks again.
    } finally {
      this.#isAsking = false;
    }
  }

  /** @param {boolean} isRedo @returns {Promise<string>} a sentence that says what was done */
  async run(isRedo) {
    const { unsent, connection } = this.#session;
    if (!this.#session.user.canWrite) return 'you can read this board, but not change it';
    if (!isRedo && unsent) {
      const step = unsent.withdraw();
      if (step) return `Undone: ${step.name}`;
    }
    if (!this.#session.isLive || !unsent) return `${isRedo ? 'redo' : 'undo'} needs the server`;
    const restored = isRedo ? null : this.#restored;
    try {
      return await unsent.after(async () => {
        const scope = idHex(this.scope);
        const next = async () => (await connection.undoState(scope))[isRedo ? 'redo' : 'undo'];
        let step = await next();
        for (; restored === null && this.#ignored.has(Number(step?.group?.group)); step = await next()) await connection.undo({ scope, redo: isRedo });
        const { conflicts } = await connection.undo(restored === null ? { scope, redo: isRedo } : { revision: restored });
        this.#restored = null;
        const name = restored === null ? step?.group?.name : 'Restore';
        const stays = conflicts.length > 0 ? '; later changes by others stay' : '';
        return `${isRedo ? 'Redone' : 'Undone'}${name ? `: ${name}` : ''}${stays}`;
      });
    } catch (error) {
      const { code, message } = /** @type {{code?: string, message: string}} */ (error);
      return code === 'notFound' ? `nothing to ${isRedo ? 'redo' : 'undo'}` : message;
    } finally {
      this.refresh();
    }
  }

  /** Restores objects on the server, after the edits made so far.
   * @param {{revision?: number, id: {id: string, entity: string}, contents?: boolean}} state */
  async restore(state) {
    const { unsent, connection } = this.#session;
    if (!unsent || !this.#session.isLive) throw new Error('restoring needs the server');
    const { revision, conflicts } = await unsent.after(() => connection.restore(state));
    this.#restored = revision;
    if (conflicts.length > 0) this.#session.notice('restored; a part of it no longer exists');
    this.#session.announce();
  }
}
