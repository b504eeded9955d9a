// The board as an SVG or PNG picture. The text is laid out by the browser's measure of each line.

import { arrow, union } from './geometry.js';
import { frameOf, textSize } from './note.js';
import { parse, plainTitle } from './markdown.js';
import { palette } from './overview.js';
import { svg } from './dom.js';

/** @typedef {import('./types').Note} Note */

const fontFamily = 'Inter, system-ui, sans-serif', padding = 16, border = 48;
const sizes = { small: 15, medium: 18, large: 24 };

/** The picture of some notes.
 * @param {Note[]} notes @returns {SVGElement} */
export function boardPicture(notes) {
  const sorted = [...notes].sort((a, b) => a.z - b.z), frames = new Map(sorted.map((n) => [n.id, frameOf(n)]));
  const all = union(frames.values()) ?? { x: 0, y: 0, width: 200, height: 200 }, shades = palette();
  const style = getComputedStyle(document.documentElement);
  const view = [all.x - border, all.y - border, all.width + 2 * border, all.height + 2 * border];
  const picture = svg('svg', {
    xmlns: 'http://www.w3.org/2000/svg', viewBox: view.join(' '), width: view[2], height: view[3], 'font-family': fontFamily,
  }, svg('rect', { x: view[0], y: view[1], width: view[2], height: view[3], fill: style.getPropertyValue('--ground').trim() }));
  for (const note of sorted) {
    for (const link of note.links) {
      const from = frames.get(note.id), to = frames.get(link.to);
      if (!from || !to) continue;
      const { d, middle } = arrow(from, to), stroke = style.getPropertyValue('--arrow').trim();
      picture.append(svg('path', { d, fill: 'none', stroke, 'stroke-width': 2 }));
      if (link.label) picture.append(text(link.label, middle.x, middle.y - 6, 13, 400, stroke, 'middle'));
    }
  }
  const context = document.createElement('canvas').getContext('2d');
  for (const note of sorted) {
    const frame = frameOf(note), shade = shades[note.color] ?? shades.yellow;
    picture.append(svg('rect', { ...frame, rx: 4, fill: shade.paper, stroke: shade.ink, 'stroke-opacity': 0.12 }));
    const size = sizes[textSize(note)], step = size * 1.4;
    let y = frame.y + padding + size;
    for (const line of context ? lines(note, frame.width - 2 * padding, size, context) : []) {
      if (y > frame.y + frame.height - 12) break;
      picture.append(text(line.text, frame.x + padding + line.indent, y, size, line.bold ? 600 : 400, shade.ink));
      y += step;
    }
  }
  return picture;
}

/** @param {string} content @param {number} x @param {number} y @param {number} size @param {number} weight
 * @param {string} fill @param {string} anchor */
function text(content, x, y, size, weight, fill, anchor = 'start') {
  const node = svg('text', { x, y, 'font-size': size, 'font-weight': weight, fill, 'text-anchor': anchor });
  node.textContent = content;
  return node;
}

/** The lines of a note that fit a width.
 * @param {Note} note @param {number} width @param {number} size
 * @param {CanvasRenderingContext2D} context */
function lines(note, width, size, context) {
  const found = [], source = (note.collapsed ? plainTitle(note.text) : note.text).slice(0, 4000).split('\n');
  for (const [i, raw] of source.entries()) {
    const block = parse(raw)[0], item = block?.kind === 'list' ? block.items[0] : null;
    const mark = item ? (item.done === null ? '•  ' : item.done ? '☑  ' : '☐  ') : '';
    const bold = block?.kind === 'heading' || (i === 0 && source.length > 1);
    context.font = `${bold ? 600 : 400} ${size}px ${fontFamily}`;
    const indent = (raw.length - raw.trimStart().length) * size / 3;
    let line = mark;
    for (const word of plainTitle(raw).split(' ')) {
      const longer = line && line !== mark ? line + ' ' + word : line + word;
      if (line !== mark && context.measureText(longer).width > width - indent) found.push({ text: line, indent, bold }), (line = word);
      else line = longer;
    }
    found.push({ text: line, indent, bold });
  }
  return found;
}

/** The picture as a file.
 * @param {Note[]} notes */
export const svgBlob = (notes) => new Blob([new XMLSerializer().serializeToString(boardPicture(notes))], { type: 'image/svg+xml' });

/** The picture as pixels: two per point, and fewer on boards that no canvas can hold.
 * @param {Note[]} notes
 * @returns {Promise<Blob>} */
export async function pngBlob(notes) {
  const image = new Image(), url = URL.createObjectURL(svgBlob(notes));
  try {
    image.src = url;
    await image.decode();
    const scale = Math.min(2, 12_000 / Math.max(image.width, image.height), Math.sqrt(60e6 / (image.width * image.height)));
    const canvas = document.createElement('canvas');
    canvas.width = Math.ceil(image.width * scale), canvas.height = Math.ceil(image.height * scale);
    canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise((resolve, reject) => canvas.toBlob((blob) => blob ? resolve(blob) : reject(new Error('the picture is too large')), 'image/png'));
  } finally { URL.revokeObjectURL(url); }
}
