// The other people on the board: their names, their cursors, the notes in which they write, and the person that the view
// follows.

import { byID, h } from './dom.js';
import { fit } from './geometry.js';

/** @typedef {import('./types').Peer} Peer */

/** Milliseconds between two presences that are sent. */
const interval = 50;
const faces = 5;

export class People {
  areHidden = false;
  /** The session that the view follows.
   * @type {Peer['session']|null} */
  followed = null;
  /** @type {Map<Peer['session'], HTMLElement>} */
  #cursors = new Map();
  /** @type {Map<Peer['session'], HTMLElement>} */
  #flags = new Map();
  /** @type {Map<Peer['session'], HTMLElement>} */
  #carets = new Map();
  /** @type {Partial<Peer>} */
  #mine = {}; #timer = 0; #lastSent = 0; #shown = ''; #layer = byID('cursors');

  /** @param {import('./app.js').App} app @param {HTMLElement} bar the place of the faces */
  constructor(app, bar) { this.app = app, this.bar = bar; }

  /** @returns {Peer[]} */
  get peers() { return this.app.board?.presence ?? []; }
  get count() { return this.peers.length; }

  /** Tells the others where the pointer is; null if it is not on the board.
   * @param {import('./geometry.js').Point|null} cursor */
  cursor(cursor) {
    this.send({ cursor: cursor && !this.areHidden ? { x: Math.round(cursor.x), y: Math.round(cursor.y) } : null });
  }

  /** Sends a presence, at most one per interval; the newest values count.
   * @param {Partial<Peer>} part */
  send(part) {
    Object.assign(this.#mine, part);
    this.#timer ||= window.setTimeout(() => {
      this.#timer = 0, this.#lastSent = performance.now();
      const { x, y, width, height } = this.app.surface.visible();
      this.app.board?.setPresence({ ...this.#mine, view: { x, y, width, height } });
    }, Math.max(0, this.#lastSent + interval - performance.now()));
  }

  /** Forgets where the user was, on another board. */
  forget() { this.#mine = {}; }

  /** Shows the current presence. */
  refresh() {
    const { peers } = this, { surface } = this.app;
    const present = new Set(peers.map((p) => p.session));
    for (const map of [this.#cursors, this.#flags, this.#carets]) {
      for (const [session, node] of map) if (!present.has(session)) node.remove(), map.delete(session);
    }
    for (const peer of peers) this.#place(peer);
    const signature = peers.map((p) => `${p.session} ${p.name} ${p.color} ${p.note}`).join('\n') + this.followed;
    if (signature !== this.#shown) this.#shown = signature, this.#showFaces(peers), this.app.list.refresh();
    const leader = peers.find((p) => p.session === this.followed);
    if (this.followed !== null && !leader) return this.#followElsewhere(this.followed);
    if (leader?.view) surface.setCamera(fit(leader.view, surface.size, { top: 0, right: 0, bottom: 0, left: 0 }, 4), true);
  }

  /** The names of those who write in a note.
   * @param {string} note */
  writers(note) { return this.areHidden ? [] : this.peers.filter((p) => p.note === note).map((p) => p.name); }

  /** Shows the carets again, after other notes have elements, or other texts. */
  refreshCarets() { for (const peer of this.peers) this.#placeCaret(peer); }

  /** @param {Peer} peer */
  #placeCaret(peer) {
    const { surface } = this.app, view = peer.note === null || this.areHidden ? undefined : surface.views.get(peer.note);
    const frame = view && surface.frame(view.id), { scale } = surface.camera;
    const place = view && frame && peer.caret !== null && scale > 0.35 ? caretIn(view, peer.caret, scale) : null;
    let node = this.#carets.get(peer.session);
    if (!node && place) {
      node = h('div', { class: 'caret' }, h('span', { class: 'name', dir: 'auto' }, peer.name));
      this.#carets.set(peer.session, node), this.#layer.append(node);
    }
    if (!node) return;
    node.hidden = !place;
    if (!place || !frame) return;
    paint(node, peer.color);
    // The frame of the note names a single writer.
    node.classList.toggle('alone', this.peers.filter((p) => p.note === peer.note).length === 1);
    const transform = `translate(${frame.x + place.x}px, ${frame.y + place.y}px)`;
    // The name appears again with each move, and fades.
    if (node.style.transform && node.style.transform !== transform) node.getAnimations({ subtree: true }).forEach((each) => { each.currentTime = 0, each.play(); });
    node.style.transform = transform, node.style.height = place.height + 'px';
  }

  /** @param {Peer} peer */
  #place(peer) {
    this.#placeCaret(peer);
    const cursor = this.areHidden ? null : peer.cursor;
    let node = this.#cursors.get(peer.session);
    if (!node && cursor) {
      node = h('div', { class: 'cursor' }, h('div', { class: 'tip' }), h('span', { class: 'name', dir: 'auto' }, peer.name));
      this.#cursors.set(peer.session, node), this.#layer.append(node);
    }
    if (node) {
      node.hidden = !cursor, paint(node, peer.color);
      if (cursor) node.style.transform = `translate(${cursor.x}px, ${cursor.y}px)`;
    }
    const frame = peer.note === null || this.areHidden ? undefined : this.app.surface.frame(peer.note);
    let flag = this.#flags.get(peer.session);
    if (!flag && frame) {
      flag = h('div', { class: 'flag' }, h('span', { class: 'name', dir: 'auto' }, peer.name), h('i', null), h('i', null), h('i', null));
      this.#flags.set(peer.session, flag), this.#layer.append(flag);
    }
    if (!flag) return;
    flag.hidden = !frame, paint(flag, peer.color);
    if (!frame) return;
    flag.style.transform = `translate(${frame.x}px, ${frame.y}px)`;
    flag.style.width = frame.width + 'px', flag.style.height = frame.height + 'px';
  }

  /** @param {Peer[]} peers */
  #showFaces(peers) {
    const buttons = peers.slice(0, faces).map((peer) => {
      const isFollowed = peer.session === this.followed, label = `${isFollowed ? 'Stop following' : 'Follow'} ${peer.name}`;
      const button = h('button', {
        type: 'button', class: 'face', 'aria-pressed': String(isFollowed), 'aria-label': label, title: label,
        onclick: () => isFollowed ? this.stop() : this.follow(peer.session),
      }, initials(peer.name));
      paint(button, peer.color);
      return button;
    });
    if (peers.length > faces) buttons.push(h('button', { type: 'button', class: 'face more', onclick: () => this.followNext() }, '+' + (peers.length - faces)));
    this.bar.replaceChildren(...buttons);
  }

  /** @param {Peer['session']} session */
  follow(session) {
    const peer = this.peers.find((p) => p.session === session);
    if (!peer) return;
    this.followed = session;
    const frame = byID('overlay');
    frame.classList.add('following'), paint(frame, peer.color);
    this.app.report(`Following ${peer.name}`, 'Stop', () => this.stop());
    this.refresh();
  }

  /** The person whom the view follows has opened another board, or has left.
   * @param {Peer['session']} session */
  #followElsewhere(session) {
    const { app } = this, there = app.session.people?.find((p) => p.session === session)?.board;
    this.stop();
    if (!there || there === app.board?.id || !app.session.boards.some((b) => b.id === there)) return;
    app.openBoard(there), this.follow(session);
  }

  followNext() {
    const { peers } = this, at = peers.findIndex((p) => p.session === this.followed);
    if (peers.length) this.follow(peers[(at + 1) % peers.length].session);
  }

  stop() {
    if (this.followed === null) return;
    this.followed = null, byID('overlay').classList.remove('following');
    byID('toast').hidden = true, this.refresh();
  }

  toggleCursors() {
    this.areHidden = !this.areHidden;
    this.cursor(null), this.refresh();
    this.app.report(this.areHidden ? 'Cursors are hidden, yours too' : 'Cursors are visible');
  }
}

/** The first letters of two words.
 * @param {string} name */
const initials = (name) => name.split(/[\s._-]+/, 2).map((word) => [...word][0] ?? '').join('').toUpperCase() || '?';

/** Gives an element a person's color, and the ink that can be read on it.
 * @param {HTMLElement} node @param {string} color */
function paint(node, color) {
  const [r, g, b] = [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16) / 255);
  node.style.setProperty('--person', color);
  node.style.setProperty('--person-ink', 0.2126 * r ** 2.2 + 0.7152 * g ** 2.2 + 0.0722 * b ** 2.2 > 0.183 ? '#14120e' : '#fff');
}

// ---- Carets
//
// Where a caret of a note's text is on the screen: in the field, or in the rendered text, which lacks the marks of Markdown.

/** The place of a source text's offset in the text nodes that were rendered from it. Each node's text is looked up in the
 * source behind that of the node before it; between two nodes are marks.
 * @param {string[]} texts of the nodes, in order @param {string} source @param {number} offset in UTF-16 units
 * @returns {{node: number, at: number} | null} null without nodes */
export function placeOf(texts, source, offset) {
  let end = 0, last = null;
  for (const [node, text] of texts.entries()) {
    const found = source.indexOf(text, end), start = found < 0 ? end : found;
    // Behind marks, and before this node: at the end of the line that it belongs to.
    if (offset < start && last && !source.slice(end, offset).includes('\n')) return last;
    if (offset <= start + text.length) return { node, at: Math.max(0, Math.min(text.length, offset - start)) };
    end = start + text.length, last = { node, at: text.length };
  }
  return last;
}

/** The place of a caret in a note, in points from the note's corner.
 * @param {import('./note.js').NoteView} view @param {number} offset @param {number} scale of the surface
 * @returns {{x: number, y: number, height: number} | null} null where it can't be seen */
function caretIn(view, offset, scale) {
  const paper = view.element.getBoundingClientRect(), field = view.editor?.field;
  const box = field ? inField(field, offset) : inText(view, offset);
  if (!box || !scale) return null;
  const place = { x: (box.left - paper.left) / scale, y: (box.top - paper.top) / scale, height: box.height / scale };
  const isInside = place.y >= 0 && place.y + place.height <= view.note.height + 2 && place.x >= -2 && place.x <= view.note.width + 2;
  return isInside && !view.note.collapsed ? place : null;
}

/** @param {import('./note.js').NoteView} view @param {number} offset */
function inText(view, offset) {
  const walker = document.createTreeWalker(view.text, NodeFilter.SHOW_TEXT), nodes = [];
  for (let node = walker.nextNode(); node; node = walker.nextNode()) if (node.textContent?.trim()) nodes.push(node);
  const place = placeOf(nodes.map((node) => node.textContent ?? ''), view.note.text, offset);
  if (!place) return view.note.text.trim() ? null : startOf(view.text);
  const range = document.createRange();
  range.setStart(nodes[place.node], place.at), range.collapse(true);
  // A collapsed range at a line's end has no box in some engines: then the letter before it counts.
  const box = range.getBoundingClientRect();
  if (box.height || !place.at) return box.height ? box : startOf(view.text);
  range.setStart(nodes[place.node], place.at - 1);
  const letter = range.getBoundingClientRect();
  return { left: letter.right, top: letter.top, height: letter.height };
}

/** @param {Element} element */
function startOf(element) {
  const box = element.getBoundingClientRect(), style = getComputedStyle(element), zoom = box.width / (/** @type {HTMLElement} */ (element).offsetWidth || 1);
  return {
    left: box.left + Number.parseFloat(style.paddingLeft) * zoom, top: box.top + Number.parseFloat(style.paddingTop) * zoom,
    height: Number.parseFloat(style.lineHeight) * zoom || 18 * zoom,
  };
}

/** A field has no boxes of its letters: a copy of its text with the same style has.
 * @param {HTMLTextAreaElement} field @param {number} offset */
function inField(field, offset) {
  const copy = document.createElement('div'), text = document.createTextNode(field.value + '\u200b'), range = document.createRange();
  copy.className = 'editor copy', copy.dir = 'auto', copy.append(text);
  field.after(copy);
  copy.style.width = field.clientWidth + 'px';
  const start = Math.max(0, Math.min(field.value.length, offset));
  range.setStart(text, start), range.setEnd(text, start + 1);
  const own = copy.getBoundingClientRect(), box = range.getClientRects()[0] ?? range.getBoundingClientRect(), at = field.getBoundingClientRect();
  const zoom = at.width / (field.offsetWidth || 1);
  copy.remove();
  const top = at.top + (box.top - own.top) - field.scrollTop * zoom;
  return { left: at.left + (box.left - own.left), top, height: box.height };
}
