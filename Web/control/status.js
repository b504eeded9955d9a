// The status that the user sees. It is always true: it is computed from the present state, and announced when that
// changes.

/** @typedef {'connecting' | 'live' | 'reconnecting' | 'offline' | 'readOnly' | 'notAllowed' | 'signedOut' | 'outdated'} Kind */
/** @typedef {'durable' | 'evictable' | 'none'} Keeps  how the browser keeps unsent edits */
/** @typedef {{kind: Kind, unsent: number, parked: number, message: string, keeps: Keeps, update: boolean, reloadsOffline: boolean}} Status */
/** @typedef {{connection: string, isRefused: 'notAllowed' | 'outdated' | null, refusal: string, isSignedOut: boolean, canWrite: boolean,
 *  wasLive: boolean, lostFor: number, isOnline: boolean, unsent: number, parked: number, keeps: Keeps, update: boolean,
 *  reloadsOffline: boolean}} Facts
 *  `lostFor`: milliseconds since the connection was lost or first tried */

/** The time after which a lost connection is called offline, in milliseconds. */
export const patience = 8000;

/** @param {Facts} facts @returns {Status} */
export function statusOf(facts) {
  const { unsent, parked, keeps, update, reloadsOffline } = facts;
  const kind = kindOf(facts);
  return { kind, unsent, parked, keeps, update, reloadsOffline, message: message(kind, facts) };
}

/** @param {Facts} facts @returns {Kind} */
function kindOf({ connection, isRefused, isSignedOut, canWrite, wasLive, lostFor, isOnline }) {
  if (isSignedOut) return 'signedOut';
  if (isRefused) return isRefused;
  if (connection === 'live') return canWrite ? 'live' : 'readOnly';
  if (!isOnline || lostFor >= patience) return 'offline';
  return wasLive ? 'reconnecting' : 'connecting';
}

/** @param {Kind} kind @param {Facts} facts */
function message(kind, facts) {
  const { parked } = facts;
  const refused = parked > 0 ? `; ${parked === 1 ? '1 edit was' : `${parked} edits were`} refused, and can be repaired` : '';
  return `${sentence(kind, facts)}${kind === 'signedOut' || kind === 'notAllowed' ? '' : refused}`;
}

/** @param {Kind} kind @param {Facts} facts */
function sentence(kind, { unsent, keeps, refusal, update }) {
  const edits = unsent === 1 ? '1 edit' : `${unsent} edits`;
  const kept = keeps === 'none' ? 'kept in this page only, so leave it open' : keeps === 'durable'
    ? 'kept in this browser' : 'kept in this browser, which may remove them if its disk is full';
  const waiting = unsent > 0 ? `; ${edits} ${kept}` : '';
  switch (kind) {
    case 'connecting': return `connecting${waiting}`;
    case 'live':
      if (unsent > 0) return keeps === 'none' ? `sending ${edits}; this browser can’t keep them, so leave the page open` : `sending ${edits}`;
      return update ? 'live; reload the page for the new version' : 'live';
    case 'reconnecting': return `reconnecting${waiting}`;
    case 'offline': return `the server can’t be reached${waiting}`;
    case 'readOnly': return 'you can read this board, but not change it';
    case 'notAllowed': return refusal || 'you are not allowed to see this';
    case 'signedOut': return `signed out${unsent > 0 ? `; ${edits} ${unsent === 1 ? 'stays' : 'stay'} here until you sign in again` : ''}. Open a share link, or sign in with the link that this command prints: stickies login --browser`;
    case 'outdated': return 'this page is older than the server; reload it';
    default: return kind;
  }
}
