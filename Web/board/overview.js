// Notes as plain rectangles of paper: the map in the corner, and the layer that shows thousands of notes at a small scale.

import { clamp, union, visible } from './geometry.js';
import { colors } from './note.js';

/** @typedef {import('./geometry.js').Rect & {id: string, color: string, lines: number}} Paper */

/** The colors of the papers and of their ink, as the style sheet defines them. */
export function palette() {
  const style = getComputedStyle(document.documentElement);
  return Object.fromEntries(colors.map((name) => [name, {
    paper: style.getPropertyValue(`--${name}`).trim(), ink: style.getPropertyValue(`--${name}-ink`).trim(),
  }]));
}

/** Paints papers color by color, so that the context's state seldom changes.
 * @param {CanvasRenderingContext2D} context @param {Paper[]} papers @param {number} scale pixels per point
 * @param {import('./geometry.js').Point} origin the point of the board at the canvas's corner
 * @param {ReturnType<typeof palette>} shades @param {boolean} withLines */
function paint(context, papers, scale, origin, shades, withLines) {
  for (const p of papers) {
    const x = (p.x - origin.x) * scale, y = (p.y - origin.y) * scale, width = p.width * scale, height = p.height * scale;
    const shade = shades[p.color] ?? shades.yellow;
    context.fillStyle = shade.paper;
    context.fillRect(x, y, Math.max(1.5, width - 1), Math.max(1.5, height - 1));
    if (!withLines || width < 12) continue;
    context.globalAlpha = 0.32, context.fillStyle = shade.ink;
    const step = 21 * scale, count = Math.min(p.lines, Math.floor((height - 20 * scale) / step));
    for (let i = 0; i < count; i++) {
      const part = i + 1 === p.lines ? 0.45 : 0.82 - ((p.x + i * 37) % 5) / 20;
      context.fillRect(x + 16 * scale, y + (18 * scale) + i * step, (width - 32 * scale) * part, Math.max(1, 7 * scale));
    }
    context.globalAlpha = 1;
  }
}

/** The layer of papers behind the list. It covers more than the view, and moves with the board until the view leaves it. */
export class FarLayer {
  /** @type {import('./geometry.js').Rect|null} */
  #covered = null; #scale = 0;

  /** @param {HTMLCanvasElement} canvas */
  constructor(canvas) { this.canvas = canvas; }

  clear() {
    if (!this.#covered) return;
    this.#covered = null, this.canvas.hidden = true;
  }

  /** Whether the layer was painted for another scale.
   * @param {number} scale */
  isBlurred(scale) { return this.#covered !== null && Math.abs(scale / this.#scale - 1) > 0.02; }

  /** Whether the layer must be painted again.
   * @param {import('./geometry.js').Rect} view
   * @param {number} scale */
  isStale(view, scale) {
    const c = this.#covered;
    return !c || view.x < c.x || view.y < c.y || view.x + view.width > c.x + c.width
      || view.y + view.height > c.y + c.height || scale > this.#scale * 1.6 || scale < this.#scale / 2.5;
  }

  /** @param {import('./geometry.js').Rect} covered @param {number} scale @param {Paper[]} papers */
  paint(covered, scale, papers) {
    const { canvas } = this, wanted = Math.min(devicePixelRatio, 2) * scale;
    const limit = Math.sqrt(9e6 / (covered.width * covered.height * wanted * wanted));
    const drawn = wanted * Math.min(1, limit);
    canvas.width = Math.ceil(covered.width * drawn), canvas.height = Math.ceil(covered.height * drawn);
    canvas.hidden = false;
    canvas.style.transform = `translate(${covered.x}px, ${covered.y}px) scale(${1 / drawn})`;
    const context = canvas.getContext('2d');
    if (context) paint(context, papers, drawn, covered, palette(), papers.length < 4000);
    this.#covered = covered, this.#scale = scale;
  }
}

/** The map of the whole board with a frame around the view. A click or drag moves the view. */
export class Overview {
  /** @type {Paper[]} */
  #papers = [];
  /** @type {import('./geometry.js').Rect|null} */
  #bounds = null;
  #version = -1; #base = document.createElement('canvas');

  /** @param {HTMLCanvasElement} canvas @param {(center: import('./geometry.js').Point) => void} onmove */
  constructor(canvas, onmove) {
    this.canvas = canvas;
    this.origin = { x: 0, y: 0 }, this.scale = 1;
    const move = (/** @type {PointerEvent} */ event) => {
      const box = canvas.getBoundingClientRect();
      onmove({ x: (event.clientX - box.x) / this.scale + this.origin.x, y: (event.clientY - box.y) / this.scale + this.origin.y });
    };
    canvas.addEventListener('pointerdown', (event) => { canvas.setPointerCapture(event.pointerId), move(event); });
    canvas.addEventListener('pointermove', (event) => { if (event.buttons) move(event); });
  }

  /** Draws the map. The papers are painted again only after a change of the notes or of the part that the map shows.
   * @param {() => Paper[]} papers @param {number} version of the notes @param {import('./geometry.js').Camera} camera
   * @param {{width: number, height: number}} size of the view */
  paint(papers, version, camera, size) {
    const { canvas } = this, ratio = Math.min(2, devicePixelRatio), { clientWidth: width, clientHeight: height } = canvas;
    const context = canvas.getContext('2d'), view = visible(camera, size.width, size.height);
    if (!width || !context) return;
    if (version !== this.#version) this.#papers = papers(), this.#bounds = union(this.#papers);
    const all = union(this.#bounds ? [this.#bounds, view] : [view]) ?? view;
    const scale = clamp(Math.min((width - 16) / all.width, (height - 16) / all.height), 0, 1);
    const origin = { x: all.x + all.width / 2 - width / 2 / scale, y: all.y + all.height / 2 - height / 2 / scale };
    const isSame = version === this.#version && scale === this.scale && origin.x === this.origin.x && origin.y === this.origin.y;
    this.scale = scale, this.origin = origin, this.#version = version;
    if (!isSame) {
      this.#base.width = canvas.width = width * ratio, this.#base.height = canvas.height = height * ratio;
      const base = this.#base.getContext('2d');
      if (base) paint(base, this.#papers, scale * ratio, origin, palette(), false);
    }
    context.clearRect(0, 0, canvas.width, canvas.height), context.drawImage(this.#base, 0, 0);
    context.lineWidth = 1.5 * ratio;
    context.strokeStyle = getComputedStyle(canvas).getPropertyValue('--accent');
    context.strokeRect((view.x - origin.x) * scale * ratio, (view.y - origin.y) * scale * ratio,
      view.width * scale * ratio, view.height * scale * ratio);
  }
}
