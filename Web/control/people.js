// The other sessions: who they are, where they are, and what they edit. The form is the terminal's (BoardPresence), so
// that both see each other; a reader ignores members that it does not know, and forms of a later version.

/** @typedef {{x: number, y: number}} Point */
/** @typedef {{x: number, y: number, width: number, height: number}} Area */
/** @typedef {{session: number, name: string, author: string, board: string, color: string, cursor: Point | null, note: string | null,
 *  caret: number | null, view: Area | null}} Person */

/** Colors of people, distinct from each other and from the papers; the same as the terminal's. */
export const colors = ['#D6336C', '#1C7ED6', '#2F9E44', '#E8590C', '#7048E8', '#0C8599', '#C2A000', '#9C36B5'];

/** The least time between two presence messages, in milliseconds. */
export const interval = 50;

/** Sends the own place at a limited rate, and holds those of the others. */
export class Presence {
  /** The other people, on all boards.
   * @type {Person[]} */
  people = [];
  #send;
  #clock;
  /** @type {{board: string, cursor?: Point | null, note?: string | null, caret?: number | null, view?: Area | null} | null} */
  #place = null;
  #sent = '';
  #due = 0;
  #isWaiting = false;
  #color = 0;
  /** @type {{session: number, author: string, state: any}[]} */
  #others = [];

  /** @param {(state: object) => void} send @param {import('../keep/unsent.js').Clock} clock */
  constructor(send, clock) {
    this.#send = send;
    this.#clock = clock;
  }

  /** Begins again on a new connection, whose sessions do not know this one.
   * @param {string} author */
  reset(author) {
    this.#color = colorOf(author);
    this.#sent = '';
    this.#flush();
  }

  /** @param {{board: string, cursor?: Point | null, note?: string | null, caret?: number | null, view?: Area | null} | null} place */
  set(place) {
    this.#place = place;
    this.#flush();
  }

  #flush() {
    if (!this.#place || this.#isWaiting) return;
    // If nobody else is connected, only the board and the note are sent, for the next person who connects.
    const { cursor, caret, view, ...rest } = this.#place;
    const state = toState({ ...(this.#others.length > 0 ? this.#place : rest), color: this.#color });
    const text = JSON.stringify(state);
    if (text === this.#sent) return;
    const now = this.#clock.now();
    if (now < this.#due) {
      this.#isWaiting = true;
      this.#clock.later(() => {
        this.#isWaiting = false;
        this.#flush();
      }, this.#due - now);
      return;
    }
    this.#due = now + interval;
    this.#sent = text;
    this.#send(state);
  }

  /** Takes over the presences of the other sessions.
   * @param {{session: number, author: string, state: any}[]} list @param {number} session the own number */
  receive(list, session) {
    const known = new Set(this.#others.map((each) => each.session));
    // A new session has not received the own place.
    if (list.some((each) => !known.has(each.session))) this.#sent = '';
    this.#others = list;
    this.#color = yielded(this.#color, session, list);
    this.people = list.flatMap((each) => fromState(each) ?? []);
    this.#flush();
  }
}

/** The number of the color that an author begins with, so that most people have the same one every day.
 * @param {string} author */
export function colorOf(author) {
  let sum = 0;
  for (const byte of new TextEncoder().encode(author)) sum = (sum * 31 + byte) & 0xFFFF;
  return sum % colors.length;
}

/** The own color after others have chosen theirs: the later session takes another one, as long as one is free.
 * @param {number} own @param {number} session this session's number; later sessions have higher ones
 * @param {{session: number, author: string, state: any}[]} others */
export function yielded(own, session, others) {
  const number = (/** @type {{author: string, state: any}} */ each) => chosen(each.state) ?? colorOf(each.author);
  const isTaken = others.some((each) => number(each) === own && (each.session < session || chosen(each.state) === null));
  if (!isTaken) return own;
  const taken = new Set(others.map(number));
  for (let step = 1; step < colors.length; step += 1) {
    const next = (own + step) % colors.length;
    if (!taken.has(next)) return next;
  }
  return own;
}

/** @param {any} state */
function chosen(state) {
  const color = state?.color;
  return Number.isInteger(color) && color >= 0 && color < colors.length ? /** @type {number} */ (color) : null;
}

/** The message with the own place.
 * @param {{board: string, cursor?: Point | null, note?: string | null, caret?: number | null, view?: Area | null, color: number}} own */
export function toState({ board, cursor, note, caret, view, color }) {
  const round = (/** @type {number} */ value) => Math.round(value * 10) / 10;
  return {
    v: 1, board, ...(cursor ? { x: round(cursor.x), y: round(cursor.y) } : {}), ...(note ? { edits: note } : {}), color,
    ...(note && Number.isInteger(caret) ? { caret } : {}),
    ...(view ? { view: [view.x, view.y, view.width, view.height].map(round) } : {}),
  };
}

/** A person from a message; null for another form.
 * @param {{session: number, author: string, state: any}} presence @returns {Person | null} */
export function fromState({ session, author, state }) {
  if (state === null || typeof state !== 'object' || state.v !== 1 || !isID(state.board)) return null;
  const { x, y, edits, caret, view } = state;
  const isView = Array.isArray(view) && view.length === 4 && view.every(Number.isFinite) && view[2] > 0 && view[3] > 0;
  return {
    session, author, name: author.split('@')[0] || author, board: state.board, color: colors[chosen(state) ?? colorOf(author)],
    cursor: Number.isFinite(x) && Number.isFinite(y) ? { x, y } : null, note: isID(edits) ? edits : null,
    caret: isID(edits) && Number.isInteger(caret) && caret >= 0 ? caret : null,
    view: isView ? { x: view[0], y: view[1], width: view[2], height: view[3] } : null,
  };
}

/** @param {unknown} value @returns {value is string} */
export const isID = (value) => typeof value === 'string' && /^[a-hj-kmnp-s][0-9a-hjkmnp-tv-z]{25}$/.test(value);
