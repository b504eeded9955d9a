// Share links: an owner makes links with which people without an account read the board, sees who has opened them, and
// ends them.

import { ago, confirmed, dialog, h } from './dom.js';
import { reason } from './panels.js';

/** The choices for the end of a link, in days. */
const ends = [[1, 'after a day'], [7, 'after a week'], [30, 'after a month'], [365, 'after a year'], [0, 'never']];

/** Opens the dialog in which a board is shared.
 * @param {import('./app.js').App} app */
export function share(app) {
  const { board, session } = app;
  if (!board) return;
  const made = h('div', { class: 'made', hidden: true }), list = h('ul', { class: 'shares', 'aria-label': 'Links to this board' });
  const status = h('p', { class: 'summary', role: 'status' });
  const days = h('select', { id: 'end' }, ...ends.map(([value, name]) => h('option', { value: String(value), selected: value === 30 }, String(name))));
  const make = h('button', { class: 'primary' }, 'Make a link');

  /** Shows the links; the server knows them, so the dialog is not wrong for long after a change elsewhere. */
  const fill = async () => {
    const links = await session.shareLinks(board.id);
    list.replaceChildren(...links.map((link) => h('li', null,
      h('span', { class: 'words' }, h('b', { dir: 'auto' }, link.name), h('span', { class: 'rest' }, about(link))),
      h('button', { type: 'button', 'aria-label': `Remove ${link.name}`, onclick: () => remove(link) }, 'Remove'))));
    status.textContent = links.length ? '' : 'There are no links to this board.';
  };

  /** @param {import('./types').ShareLink} link */
  const remove = async (link) => {
    const text = `Browsers that opened “${link.name}” lose the board at once, and the link no longer works.`;
    if (await confirmed('Remove the link', text, 'Remove')) attempt(async () => { await session.removeShareLink(link.id), await fill(); });
  };

  /** @param {() => Promise<unknown>} run */
  const attempt = async (run) => {
    status.textContent = '';
    try { await run(); } catch (error) { status.textContent = sentence(reason(error)); }
  };

  const form = h('form', {
    onsubmit: (/** @type {Event} */ event) => {
      event.preventDefault(), (make.disabled = true);
      attempt(async () => { showLink(made, await session.shareLink(board.id, Number(days.value) || null)), await fill(); }).finally(() => { make.disabled = false; });
    },
  }, h('label', { htmlFor: 'end' }, 'The link ends'), h('div', { class: 'actions' }, days, make));
  const refusal = session.refusalOfSharing(board.id);
  if (refusal) return void dialog('Share', { class: 'small' }, h('p', null, sentence(refusal)));
  dialog('Share', { class: 'small share' },
    h('p', null, 'People with a link can read “', h('bdi', null, board.name), '”. They need no account, and can’t change anything.'), form, made, status, list);
  attempt(fill);
}

/** Shows a new link, selected, with a button that copies it. Only this answer of the server has it.
 * @param {HTMLElement} place @param {string} address */
function showLink(place, address) {
  const field = h('input', { readOnly: true, value: address, 'aria-label': 'Link' });
  const copy = h('button', {
    type: 'button', class: 'primary', onclick: async () => {
      field.select();
      await navigator.clipboard.writeText(address).then(() => { copy.textContent = 'Copied'; }, () => {});
    },
  }, 'Copy link');
  place.replaceChildren(h('p', null, 'Copy it now: it is not shown again.'), h('div', { class: 'actions' }, field, copy));
  place.hidden = false, field.focus(), field.select(), (field.scrollLeft = 0);
}

/** @param {import('./types').ShareLink} link */
function about({ role, expires, used }) {
  const end = expires ? `ends ${expires.toLocaleDateString(undefined, { year: 'numeric', month: 'short', day: 'numeric' })}` : 'never ends';
  return [role === 'reader' ? 'can read' : `is ${role}`, end, used ? `opened ${ago(used)}` : 'not opened yet'].join(' · ');
}

/** @param {string} text */
const sentence = (text) => text.charAt(0).toUpperCase() + text.slice(1);
