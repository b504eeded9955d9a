// Repairing an edit that the server has refused, or that lost to another one.

import { change } from '../keep/intents.js';
import { apply, differences, rebase } from './splices.js';

/** @typedef {import('./session.js').Session} Session */
/** @typedef {import('./live.js').LiveBoard} LiveBoard */

/** The properties for which a user can write a value that is neither of the two. */
const texts = ['text', 'name', 'label'];

/** Adds to each conflict what its repair begins with: of a text the present one, and the one with both edits.
 * @template {{property: string | null, kind: string, entity: string, note: string, mine: any, theirs: any}} C
 * @param {Session} session @param {C} conflict
 * @param {import('../keep/intents.js').TextEdit | undefined} edit the edit, if it is that of a text
 * @returns {C & {merged: string | null}} `merged` is null where there is nothing to merge */
export function withMerge(session, conflict, edit) {
  const { property, kind, entity, note, mine } = conflict;
  const present = session.overlay.values(`${entity}/${note}`);
  if (!texts.includes(String(property)) || typeof mine !== 'string' || kind === 'deleted' || !present) return { ...conflict, merged: null };
  const theirs = typeof conflict.theirs === 'string' ? conflict.theirs : String(present[String(property)] ?? '');
  if (!edit) return { ...conflict, theirs, merged: mine };
  return { ...conflict, theirs, merged: apply(rebase(edit.splices, differences(edit.before, theirs)), theirs) };
}

/** Makes a parked edit again over the present state: the user's value wins. A text whose note was deleted becomes a new
 * note.
 * @param {Session} session @param {string} key
 * @param {LiveBoard | undefined} board the board that is shown */
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

/** Sets a value that the user has written with both in view, in place of a parked edit.
 * @param {Session} session @param {string} key @param {string} value */
export function resolve(session, key, value) {
  const found = session.conflicts.find((each) => each.key === key);
  if (!found?.property || found.merged === null) return;
  const { overlay, steps } = session, object = `${found.entity}/${found.note}`, present = overlay.values(object);
  if (!present) return session.notice('the object was deleted meanwhile; copy your text, and make a new note');
  const made = change('update', object, overlay.base(object));
  if (found.property !== 'text') made.set[found.property] = value;
  else if (value !== present.text) made.texts.text = overlay.textEdit(object, differences(String(present.text), value));
  if (Object.keys(made.set).length + Object.keys(made.texts).length > 0) session.add([made], steps.gesture('Merge'));
  session.discard(key);
}
