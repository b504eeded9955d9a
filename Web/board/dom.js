// Elements, icons, dialogs, short messages and the live region. Text always becomes a text node.

/** @typedef {Record<string, any>} Attributes */

/** Creates an element. An attribute `on…` with a function is a listener, `class` and `data-…` are attributes, and every
 * other name is set as a property.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag @param {Attributes|null} [attributes] @param {(Node|string|null|undefined|false)[]} children
 * @returns {HTMLElementTagNameMap[K]} */
export function h(tag, attributes, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith('on')) node.addEventListener(name.slice(2), value);
    else if (name === 'class' || name === 'role' || name.includes('-')) node.setAttribute(name, String(value));
    else /** @type {any} */ (node)[name] = value;
  }
  for (const child of children) if (child || child === '') node.append(child);
  return node;
}

const svgNamespace = 'http://www.w3.org/2000/svg';

/** Creates an SVG element.
 * @param {string} tag @param {Record<string, string|number>} attributes
 * @param {Node[]} children */
export function svg(tag, attributes, ...children) {
  const node = /** @type {SVGElement} */ (document.createElementNS(svgNamespace, tag));
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, String(value));
  node.append(...children);
  return node;
}

/** The icons: paths of 24 by 24 points. */
const paths = {
  add: 'M12 5v14M5 12h14', minus: 'M5 12h14', close: 'M6 6l12 12M18 6 6 18', check: 'm5 12.5 4.5 4.5L19 7.5',
  menu: 'M4 7h16M4 12h16M4 17h16', more: 'M4.4 12a.6.6 0 1 0 1.2 0 .6.6 0 1 0-1.2 0M11.4 12a.6.6 0 1 0 1.2 0 .6.6 0 1 0-1.2 0M18.4 12a.6.6 0 1 0 1.2 0 .6.6 0 1 0-1.2 0',
  search: 'M17.5 11a6.5 6.5 0 1 1-13 0 6.5 6.5 0 0 1 13 0ZM20.5 20.5 16 16',
  undo: 'M9 14 4 9l5-5M4 9h10.5a5.5 5.5 0 0 1 0 11H11', redo: 'm15 14 5-5-5-5M20 9H9.5a5.5 5.5 0 0 0 0 11H13',
  trash: 'M4 7h16M10 11v6M14 11v6M6 7l1 13h10l1-13M9 7V4h6v3', pin: 'M12 16v5M8.5 3h7l-1 7 3.5 6H6l3.5-6-1-7Z',
  lock: 'M6 11h12v9H6zM8.5 11V8a3.5 3.5 0 0 1 7 0v3', tag: 'M4 4h8l8.5 8.5-8 8L4 12V4ZM8.5 8.5h.01',
  link: 'm9 15 6-6M11 6.5l1.7-1.7a4.5 4.5 0 0 1 6.4 6.4L17.4 13M13 17.5l-1.7 1.7a4.5 4.5 0 0 1-6.4-6.4L6.6 11',
  list: 'M9 6h11M9 12h11M9 18h11M4.5 6h.01M4.5 12h.01M4.5 18h.01',
  board: 'M4 4h7v7H4zM13.5 4H20v10h-6.5zM4 13.5h7V20H4zM13.5 16.5H20V20h-6.5z',
  history: 'M3.5 12a8.5 8.5 0 1 0 2.6-6.1L3.5 8.2M3.5 3.5v4.7h4.7M12 7.5V12l3 2',
  fit: 'M4 9V4h5M20 9V4h-5M4 15v5h5M20 15v5h-5', share: 'M12 15V3.5M8 7l4-4 4 4M5 12v8.5h14V12',
  filter: 'M4 5h16l-6.2 7.3V19l-3.6-1.8v-4.9L4 5Z', copy: 'M9 9h11v11H9zM6 15H4V4h11v2',
  raise: 'M12 19V5M6 11l6-6 6 6', lower: 'M12 5v14M6 13l6 6 6-6', collapse: 'm7 14.5 5-5 5 5',
  expand: 'm7 9.5 5 5 5-5', warning: 'M12 4 2.5 20h19L12 4ZM12 10v4.5M12 17.3h.01',
  info: 'M12 11v6M12 7.3h.01M21 12a9 9 0 1 1-18 0 9 9 0 0 1 18 0Z',
  help: 'M9.3 9.2a2.8 2.8 0 1 1 4.2 2.4c-1 .6-1.5 1.2-1.5 2.4M12 17.3h.01M21 12a9 9 0 1 1-18 0 9 9 0 0 1 18 0Z',
  download: 'M12 4v12M7 11l5 5 5-5M5 20h14', print: 'M7 9V4h10v5M7 17H4V9h16v8h-3M7 14h10v6H7z',
  map: 'M9 4 3.5 6v14L9 18l6 2 5.5-2V4L15 6 9 4ZM9 4v14M15 6v14', left: 'M14.5 5.5 8 12l6.5 6.5',
  right: 'M9.5 5.5 16 12l-6.5 6.5', align: 'M4 3.5v17M8 7h12v4H8zM8 14h7v4H8z', edit: 'm4 20 1-4.5L16 4.5l3.5 3.5-11 11L4 20Z',
  hidden: 'M4 4l16 16M9.5 5.9A9.6 9.6 0 0 1 12 5.5c6 0 9.5 6.5 9.5 6.5a16 16 0 0 1-3 3.8M6.3 7.5A15 15 0 0 0 2.5 12S6 18.5 12 18.5c1.5 0 2.800-.4 4-1',
};

/** @typedef {keyof typeof paths} Icon */

/** @param {Icon} name */
export function icon(name) {
  return svg('svg', { viewBox: '0 0 24 24', class: 'icon', 'aria-hidden': 'true' }, svg('path', { d: paths[name] }));
}

/** A button with an icon; its name is its label and its tooltip.
 * @param {Icon} name @param {string} label
 * @param {(event: MouseEvent) => void} onclick @param {Attributes} [more] */
export const iconButton = (name, label, onclick, more) =>
  h('button', { type: 'button', class: 'icon-button', 'aria-label': label, title: label, onclick, ...more }, icon(name));

/** The element of index.html with an id.
 * @param {string} id */
export function byID(id) {
  const node = document.getElementById(id);
  if (!node) throw new Error(`index.html has no element "${id}"`);
  return node;
}

let spoken = 0, waiting = '', timer = 0;

/** Lets screen readers speak a sentence, at most one every 5 s: the newest wins.
 * @param {string} sentence */
export function announce(sentence) {
  waiting = sentence;
  if (timer) return;
  timer = window.setTimeout(() => {
    spoken = performance.now(), timer = 0;
    byID('live').textContent = waiting;
  }, Math.max(50, spoken + 5000 - performance.now()));
}

let toastTimer = 0;

/** Shows a sentence at the bottom for a few seconds, with an action.
 * @param {string} sentence
 * @param {string} [action] @param {() => void} [run] */
export function toast(sentence, action, run) {
  const box = byID('toast');
  const button = action && h('button', { type: 'button', onclick: () => { box.hidden = true, run?.(); } }, action);
  box.replaceChildren(h('span', null, sentence), ...(button ? [button] : []));
  box.hidden = false;
  announce(sentence);
  clearTimeout(toastTimer);
  toastTimer = window.setTimeout(() => { if (!box.contains(document.activeElement)) box.hidden = true; }, 6000);
}

/** Shows a dialog and returns it. The element that had the focus gets it back.
 * @param {string} title
 * @param {Attributes} attributes @param {(Node|string|null|false)[]} content */
export function dialog(title, attributes, ...content) {
  const previous = /** @type {HTMLElement|null} */ (document.activeElement);
  /** @type {HTMLDialogElement} */
  const node = h('dialog', { 'aria-label': title, ...attributes },
    h('header', null, h('h2', { tabIndex: -1, autofocus: true }, title), iconButton('close', 'Close', () => node.close())), ...content);
  node.addEventListener('click', (event) => { if (event.target === node) node.close(); });
  node.addEventListener('close', () => {
    node.remove();
    if (document.activeElement === document.body) previous?.focus({ preventScroll: true });
  });
  document.body.append(node);
  node.showModal();
  return node;
}

/** Asks for a line of text; null if the dialog was closed.
 * @param {string} title @param {string} label
 * @param {string} value @param {string} action @param {string[]} [suggestions] @returns {Promise<string|null>} */
export function ask(title, label, value, action, suggestions = []) {
  return new Promise((resolve) => {
    const input = h('input', { value, maxLength: 200, required: true, dir: 'auto', autocomplete: 'off', id: 'answer' });
    const choices = h('datalist', { id: 'choices' }, ...suggestions.map((s) => h('option', { value: s })));
    if (suggestions.length) input.setAttribute('list', 'choices');
    let answer = /** @type {string|null} */ (null);
    const form = h('form', {
      onsubmit: (/** @type {Event} */ event) => { event.preventDefault(), (answer = input.value.trim() || null), node.close(); },
    }, h('label', { htmlFor: 'answer' }, label), input, choices,
    h('div', { class: 'actions' }, h('button', { class: 'primary' }, action)));
    const node = dialog(title, { class: 'small' }, form);
    node.addEventListener('close', () => resolve(answer));
    input.focus(), input.select();
  });
}

/** Asks before something is done that cannot be undone here.
 * @param {string} title @param {string} text
 * @param {string} action @returns {Promise<boolean>} */
export function confirmed(title, text, action) {
  return new Promise((resolve) => {
    let answer = false;
    const node = dialog(title, { class: 'small' }, h('p', null, text), h('div', { class: 'actions' },
      h('button', { type: 'button', onclick: () => node.close() }, 'Cancel'),
      h('button', { type: 'button', class: 'danger', onclick: () => { answer = true, node.close(); } }, action)));
    node.addEventListener('close', () => resolve(answer));
  });
}

/** @typedef {{name: string, keys?: string, icon?: Icon, run: () => void, checked?: boolean, danger?: boolean,
 *   swatch?: string, refusal?: string} | null} MenuItem a command, or a line between groups; `refusal`: why it is not allowed */

/** Shows a menu beside a point or an element; the arrow keys move in it.
 * @param {string} label
 * @param {MenuItem[]} items @param {{x: number, y: number} | Element} place @param {string} [look] a further class */
export function menu(label, items, place, look = '') {
  document.querySelector('.menu')?.remove();
  const previous = /** @type {HTMLElement|null} */ (document.activeElement);
  const close = (/** @type {boolean} */ back) => {
    node.remove(), document.removeEventListener('pointerdown', outside, true);
    if (back && previous?.isConnected) previous.focus({ preventScroll: true });
  };
  const outside = (/** @type {Event} */ event) => {
    if (!node.contains(/** @type {Node} */ (event.target))) close(false);
  };
  const node = h('div', { class: 'menu ' + look, role: 'menu', 'aria-label': label }, ...items.map((item) => item
    ? h('button', {
      type: 'button', role: item.checked === undefined ? 'menuitem' : 'menuitemcheckbox', tabIndex: -1,
      'aria-checked': item.checked === undefined ? null : String(item.checked), class: item.danger ? 'danger' : '',
      'aria-disabled': item.refusal ? 'true' : null, title: item.refusal ?? '',
      onclick: () => { close(true), item.run(); },
    }, item.swatch ? h('span', { class: 'swatch', 'data-color': item.swatch })
      : item.checked ? icon('check') : item.icon ? icon(item.icon) : h('span', { class: 'icon' }),
    h('span', { class: 'name' }, item.name), h('kbd', { 'aria-hidden': 'true' }, item.keys ?? ''))
    : h('div', { class: 'line', role: 'separator' })));
  const refusal = items.find((item) => item?.refusal)?.refusal;
  if (refusal) node.append(h('p', { class: 'refusal', role: 'none' }, refusal.charAt(0).toUpperCase() + refusal.slice(1)));
  const buttons = [...node.querySelectorAll('button')];
  node.addEventListener('keydown', (event) => {
    const at = buttons.indexOf(/** @type {HTMLButtonElement} */ (document.activeElement)), last = buttons.length - 1;
    const to = { ArrowDown: at === last ? 0 : at + 1, ArrowUp: at <= 0 ? last : at - 1, Home: 0, End: last }[event.key];
    if (to !== undefined) buttons[to].focus();
    else if (event.key === 'Escape' || event.key === 'Tab') close(true);
    else if (event.key.length === 1 && !event.ctrlKey && !event.metaKey && event.key !== ' ') {
      const letter = event.key.toLowerCase();
      [...buttons.slice(at + 1), ...buttons].find((b) => b.textContent?.toLowerCase().startsWith(letter))?.focus();
    } else return;
    event.preventDefault(), event.stopPropagation();
  });
  // The top layer lies above all bars, and above an open dialog.
  node.setAttribute('popover', 'manual');
  (document.querySelector('dialog[open]') ?? byID('main')).append(node);
  const layered = /** @type {any} */ (node);
  layered.showPopover?.();
  const box = place instanceof Element ? place.getBoundingClientRect() : { ...place, left: place.x, bottom: place.y, top: place.y };
  const below = box.bottom + 6 + node.offsetHeight <= innerHeight - 8;
  node.style.left = Math.max(8, Math.min(box.left, innerWidth - node.offsetWidth - 8)) + 'px';
  node.style.top = Math.max(8, below ? box.bottom + 6 : box.top - node.offsetHeight - 6) + 'px';
  document.addEventListener('pointerdown', outside, true);
  (buttons.find((b) => look && b.getAttribute('aria-checked') === 'true') ?? buttons[0])?.focus({ preventScroll: true });
  return node;
}

/** Saves text or a blob as a file.
 * @param {string} name @param {Blob|string} content @param {string} [type] */
export function save(name, content, type = 'text/plain') {
  const url = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
  h('a', { href: url, download: name.replace(/[\\/:*?"<>|\u0000-\u001f]+/g, '-').slice(0, 120) }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** Copies a text to the clipboard. Pages over plain HTTP have no clipboard of their own: they copy what is selected.
 * @param {string} text @returns {Promise<void>} rejects with a sentence if the browser does not let the page copy */
export async function copy(text) {
  try { return await navigator.clipboard.writeText(text); } catch { /* Not here, or not allowed. */ }
  const previous = /** @type {HTMLElement|null} */ (document.activeElement);
  const field = h('textarea', { class: 'copied', value: text, readOnly: true, 'aria-hidden': 'true', tabIndex: -1 });
  // Outside of an open dialog nothing can be selected.
  (document.querySelector('dialog[open]') ?? document.body).append(field);
  field.select();
  const isCopied = document.execCommand('copy');
  field.remove(), previous?.focus({ preventScroll: true });
  if (!isCopied) throw new Error('this browser does not let the page copy; select the text and copy it with the keyboard');
}

/** Calls a function once per frame, however often it is requested.
 * @param {() => void} run */
export function perFrame(run) {
  let requested = 0;
  return () => { requested ||= requestAnimationFrame(() => { requested = 0, run(); }); };
}

const relative = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto' });

/** A time as people say it: "5 minutes ago", or a date.
 * @param {Date|null} date */
export function ago(date) {
  if (!date) return 'not sent yet';
  const seconds = (date.getTime() - Date.now()) / 1000, size = Math.abs(seconds);
  if (size < 45) return 'just now';
  if (size < 3600) return relative.format(Math.round(seconds / 60), 'minute');
  if (size < 86400) return relative.format(Math.round(seconds / 3600), 'hour');
  if (size < 7 * 86400) return relative.format(Math.round(seconds / 86400), 'day');
  return date.toLocaleDateString(undefined, { year: 'numeric', month: 'short', day: 'numeric' });
}
