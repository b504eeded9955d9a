// Repairing an edit that the server has refused, or that lost to another one.

/** Makes a parked edit again over the present state: the user's value wins. A text whose note was deleted becomes a new
 * note.
 * @param {import('./session.js').Session} session @param {string} key
 * @param {import('./live.js').LiveBoard | undefined} board the board that is shown */
export function retry(session, key, board) {
  const { unsent, graph } = session;
  const found = session.conflicts.find((each) => each.key === key);
  if (!found || !unsent) return;
  if (found.kind !== 'deleted' || found.mine === null) return unsent.retry(Number(key), graph.revision);
  if (found.property !== 'text' || typeof found.mine !== 'string' || !board || !('insert' in board)) {
    return session.notice('the note was deleted, so there is nothing to change; restore it from the history');
  }
  const { insert } = /** @type {import('./board.js').Board} */ (board);
  if (insert.call(board, { text: found.mine }) === '') return;
  session.notice('your text is a new note now');
  session.discard(key);
}
