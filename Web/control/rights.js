// What the user may do, by its roles on everything and on single boards: the judgement of BoardRights.swift, for the rules
// of the notes' model. Commands that the server would refuse are disabled; the server judges each change anyway.

/** @typedef {'reader' | 'commenter' | 'editor' | 'owner'} Role */
/** @typedef {{role: string, scope?: string | null}} Grant  without a scope: on everything */
/** @typedef {'insert' | 'update' | 'delete'} Operation */

const order = ['reader', 'commenter', 'editor', 'owner'];

/** @param {string | null} one @param {string | null} other */
const stronger = (one, other) => (order.indexOf(one ?? '') >= order.indexOf(other ?? '') ? one : other);

export class Rights {
  /** The user's id: what the creator of its own objects is.
   * @type {string} */
  user;
  /** @type {Grant[]} */
  grants;
  /** The role on everything; null for none.
   * @type {string | null} */
  everywhere = null;
  /** @type {Map<string, string>} */
  #boards = new Map();

  /** @param {string} user @param {Grant[]} grants none if the user may do everything */
  constructor(user, grants) {
    this.user = user;
    this.grants = grants.filter(({ role }) => order.includes(role)).map(({ role, scope }) => (scope ? { role, scope } : { role }));
    if (grants.length === 0) this.everywhere = 'owner';
    for (const { role, scope } of this.grants) {
      if (scope) this.#boards.set(scope, String(stronger(this.#boards.get(scope) ?? null, role)));
      else this.everywhere = stronger(this.everywhere, role);
    }
  }

  /** The role on a board, and on its notes and links; null for none.
   * @param {string} board */
  role(board) { return stronger(this.everywhere, this.#boards.get(board) ?? null); }

  /** The strongest role anywhere; null for none. */
  get strongest() { return [...this.#boards.values()].reduce((/** @type {string | null} */ a, b) => stronger(a, b), this.everywhere); }

  /** Whether the user may change something anywhere. */
  get canWrite() { return isAtLeast(this.strongest, 'commenter'); }

  /** Why the user may not make a note or a link on a board, or change or delete one; '' if nothing speaks against it.
   * @param {Operation} operation @param {string} board @param {string | null} [creator] of the object; null for a new one
   * @param {string} [name] of the object, such as "note 7" */
  refusal(operation, board, creator = null, name = 'this') {
    const role = this.role(board);
    if (role === null) return 'you have no role on this board: ask an owner for one';
    if (role === 'reader') return 'you can read this board, but not change it: your role here is reader';
    const isOwn = operation === 'insert' || creator === null || creator === this.user;
    if (role !== 'commenter' || isOwn) return '';
    return `${name} is someone else’s: your role here is commenter, which ${operation === 'delete' ? 'deletes' : 'changes'} only your own`;
  }

  /** Why the user may not make a board, or rename or delete one.
   * @param {Operation} operation @param {string} [board] @param {string | null} [creator] */
  refusalOfBoard(operation, board = '', creator = null) {
    const role = operation === 'insert' ? this.everywhere : this.role(board);
    const isOwn = creator !== null && creator === this.user;
    if (operation === 'insert') return isAtLeast(role, 'commenter') ? '' : 'you can’t make boards: that needs a role on everything';
    if (operation === 'update') return isAtLeast(role, 'editor') || (role === 'commenter' && isOwn) ? '' : 'your role on this board doesn’t let you rename it';
    const isAllowed = role === 'owner' || (isOwn && isAtLeast(role, 'commenter'));
    return isAllowed ? '' : 'only an owner and the person who made a board can delete it';
  }
}

/** @param {string | null} role @param {Role} least */
function isAtLeast(role, least) { return order.indexOf(role ?? '') >= order.indexOf(least); }
