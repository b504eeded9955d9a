// The other people on the board: their names, their cursors, the notes in which they write, and the person that the view
// follows.

import { caretIn } from './carets.js';
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
