// The messages of the server: Replica+Receive.swift and Replica+ResumeValidation.swift.
import { slotsOf } from '../context/edits.js';
import * as following from './following.js';

/** @typedef {import('./replica.js').Replica} Replica */

const codes = new Set(['conflict', 'invalid', 'denied', 'unique', 'notFound', 'malformed', 'limit', 'pruned',
  'unavailable', 'notAllowed', 'cancelled']);

/**
 * A code of a newer server counts as `unavailable`; its message still explains the refusal.
 * @param {string} code
 */
const knownCode = (code) => (codes.has(code) ? code : code ? 'unavailable' : 'malformed');

/**
 * Handles a message.
 * @param {Replica} replica
 * @param {import('./replica.js').WireMessage} message
 */
export function receive(replica, { request: number, kind, body: received }) {
  const { open, actions, identity } = replica;
  if (replica.timer.recordMessage()) actions.push({ type: 'silence', isSilent: false });
  const body = kind === 'refused' ? { ...received, code: knownCode(received.code) } : received;
  if (kind === 'close') return close(replica, body);
  const purpose = open.purposes.get(number);
  const query = purpose?.query ?? 0;
  switch (kind) {
    case 'delta': return following.receiveDelta(replica, body);
    case 'advance': return following.receiveAdvance(replica, body.revision, body.fingerprint);
    case 'reset': return following.receiveReset(replica, body.query);
    case 'rights':
      actions.push({ type: 'rights', grants: body.grants });
      return;
    case 'presence':
      actions.push({ type: 'presence', presence: body });
      return;
  }
  switch (`${purpose?.kind} ${kind}`) {
    case 'hello welcome':
      open.close(number);
      return receiveWelcome(replica, body);
    case 'save committed':
      replica.resume.record(stateOf(replica, body.result));
      return receiveOutcome(replica, number, { type: 'saved', id: /** @type {any} */ (purpose?.id), saved: body });
    case 'save refused':
      return receiveOutcome(replica, number, { type: 'saved', id: /** @type {any} */ (purpose?.id), refusal: body });
    case 'subscribe refused':
      open.close(number);
      return following.receiveRefusal(replica, query, body);
    case 'subscribe subscribed':
      // The query is no longer followed: ignore further answers to its subscription, such as a reset.
      if (!replica.queries.has(query)) open.close(number);
      return following.receiveSubscribed(replica, query, number, body);
    case 'moveWindow subscribed': return following.receiveMovedAsReload(replica, body.query, query, number);
    case 'moveWindow windowMoved': return following.receiveMoved(replica, body, query, number);
    case 'moveWindow refused':
      open.close(number);
      replica.queries.get(query)?.cancelMove();
      return;
    case 'subscribe chunk': return following.receiveChunk(replica, body, query, number);
    case 'confirmation followed':
      open.close(number);
      return receiveConfirmation(replica, purpose?.revision ?? 0, true);
    case 'confirmation refused':
      open.close(number);
      // `unavailable` does not answer the question: ask again on the next connection.
      if (body.code === 'unavailable') actions.push({ type: 'disconnect', refusal: body });
      else receiveConfirmation(replica, purpose?.revision ?? 0, false);
      return;
    case 'ping pong':
      open.close(number);
      // The server names a revision only after it has sent everything up to it.
      if (replica.subscriptions.areAnswered && !replica.staged.length && body.head.revision > 0) {
        following.advanceResults(replica, body.head);
      }
      return;
  }
  if (purpose?.kind !== 'request' && purpose?.kind !== 'batch') return;
  const request = purpose.request ?? 0;
  if (kind === 'refused') {
    if (purpose.kind === 'batch') identity.finishBatch(request);
    open.close(number, request);
    actions.push({ type: 'refused', request, refusal: body });
    return;
  }
  const awaitsMore = kind === 'exportHead' || (['chunk', 'log', 'differences'].includes(kind) && !body.last);
  const isLast = purpose.kind === 'batch' ? kind !== 'progress' : !awaitsMore;
  if (purpose.kind === 'batch' && isLast) identity.finishBatch(request);
  if (kind === 'chunk' && body.last) replica.resume.record(body.at);
  if (kind === 'committed') replica.resume.record(stateOf(replica, body.result));
  if (isLast) open.close(number, request);
  actions.push({ type: 'reply', request, kind, body, isLast });
}

/**
 * The state after a commit.
 * @param {Replica} replica
 * @param {any} result
 * @returns {import('./resume.js').Token}
 */
function stateOf({ store }, { revision, fingerprint }) { return { store, revision, fingerprint }; }

/**
 * Passes on the outcome of a save, which is no longer pending.
 * @param {Replica} replica
 * @param {number} number
 * @param {import('./replica.js').ReplicaAction & { type: 'saved' }} action
 */
function receiveOutcome(replica, number, action) {
  replica.open.close(number);
  replica.forget(action.id);
  replica.actions.push(action);
}

/**
 * @param {Replica} replica
 * @param {any} body
 */
function close(replica, body) {
  const refusal = { code: codes.has(body.code) ? body.code : 'unavailable', message: body.message };
  // A server that shuts down comes back; one that rejects this client will not change its decision.
  replica.actions.push({ type: refusal.code === 'unavailable' ? 'disconnect' : 'rejected', refusal });
}

/**
 * @param {Replica} replica
 * @param {any} welcome
 */
function receiveWelcome(replica, welcome) {
  replica.state = 'resuming';
  replica.head = welcome.head.revision;
  replica.hasDiverged = false;
  replica.timer.setHeartbeat(welcome.heartbeatMilliseconds);
  replica.identity.connect(welcome.lastSequence);
  replica.store = welcome.head.store;
  replica.slots = slotsOf(welcome.entities);
  replica.actions.push({ type: 'welcomed', welcome });
  // Must come first: the server answers it before it commits a save.
  beginResumeValidation(replica, welcome.head);
  for (const query of sortedKeys(replica.queries)) following.subscribe(replica, query);
  if (!replica.queries.size && replica.subscriptions.areAnswered) finishResumeValidation(replica);
}

/**
 * The keys in ascending order.
 * @param {Map<number, any>} map
 */
export function sortedKeys(map) { return [...map.keys()].sort((a, b) => a - b); }

/**
 * Asks the store for the changes after the newest state, unless the subscription of a query names it. The store refuses
 * if it does not know that state.
 * @param {Replica} replica
 * @param {import('./resume.js').Token} head
 */
function beginResumeValidation(replica, head) {
  replica.resume.connect(head);
  const token = replica.resume.unconfirmedToken;
  // Every store knows the state of revision 0.
  if (!token || token.revision <= 0) return;
  const named = replica.newestOfQueries;
  if (!named || named.revision < token.revision) requestConfirmation(replica, token);
}

/**
 * @param {Replica} replica
 * @param {import('./resume.js').Token} token
 */
function requestConfirmation(replica, token) {
  replica.subscriptions.unanswered++;
  replica.send('changes', { follow: { since: token, limit: 1 } }, { kind: 'confirmation', revision: token.revision });
}

/**
 * Handles the answer to whether the store knows the newest state.
 * @param {Replica} replica
 * @param {number} revision
 * @param {boolean} isKnown
 */
function receiveConfirmation(replica, revision, isKnown) {
  replica.resume.recordAnswer(revision, isKnown);
  following.finishSubscribing(replica, true);
}

/**
 * Decides whether the held state is valid, once the store has answered for every state in question.
 * @param {Replica} replica
 */
export function finishResumeValidation(replica) {
  if (replica.resume.isDenied) return diverge(replica);
  const token = replica.resume.openToken;
  if (token) {
    // The query that would have confirmed the state was refused, or is no longer followed.
    requestConfirmation(replica, token);
    return;
  }
  replica.resume.confirm();
}

/**
 * Handles a store that is not the one of this side's newest state, or was restored to an earlier one. Held objects
 * can't be distinguished from those of states that the store never reached, so all queries are reloaded.
 * @param {Replica} replica
 */
function diverge(replica) {
  replica.resume.discardUnconfirmed();
  replica.publishedRevision = 0;
  if (replica.state === 'resuming') replica.hasDiverged = true;
  for (const save of replica.pending) save.isOutdated = true;
  replica.actions.push({ type: 'diverged' });
  for (const query of sortedKeys(replica.queries)) following.reloadAfterDivergence(replica, query);
}
