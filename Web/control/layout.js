// Places for new notes, and their order in the pile.

/** @typedef {{x: number, y: number, width: number, height: number}} Frame */

/** The space between two notes, in points. */
export const gap = 24;
/** Notes beyond this coordinate are ignored: new notes beside them could not share a screen with any other. */
const farthest = 1e9;

/** Frames for new notes: a grid beside the board's notes, in columns, somewhat wider than high. None overlaps another.
 * The grid is the terminal's (NoteLayout).
 * @param {{width: number, height: number}[]} sizes @param {Iterable<Frame>} occupied @returns {Frame[]} */
export function frames(sizes, occupied) {
  let [left, top, isEmpty] = [-Infinity, Infinity, true];
  for (const { x, y, width } of occupied) {
    if (!(Math.abs(x) < farthest && Math.abs(y) < farthest && width < farthest)) continue;
    isEmpty = false;
    left = Math.max(left, x + width + gap);
    top = Math.min(top, y);
  }
  if (isEmpty) [left, top] = [0, 0];
  let [area, tallest] = [0, 0];
  for (const { width, height } of sizes) {
    area += (width + gap) * (height + gap);
    tallest = Math.max(tallest, height);
  }
  const limit = top + Math.max(tallest, Math.sqrt(area / 1.5));
  let [x, y, column] = [left, top, 0];
  return sizes.map(({ width, height }) => {
    if (y > top && y + height > limit) [x, y, column] = [x + column + gap, top, 0];
    const frame = { x, y, width, height };
    y += height + gap;
    column = Math.max(column, width);
    return frame;
  });
}

/** The frame itself, or the nearest one to its right and below that no note has at exactly that corner.
 * @param {Frame} frame @param {Iterable<Frame>} occupied @returns {Frame} */
export function beside(frame, occupied) {
  const corners = new Set([...occupied].map(({ x, y }) => `${x} ${y}`));
  let { x, y } = frame;
  while (corners.has(`${x} ${y}`)) [x, y] = [x + 16, y + 16];
  return { ...frame, x, y };
}

/** The `z` that puts notes above all others, or below; null if they are there. The order among them stays.
 * @param {{id: string, z: number}[]} moved @param {Iterable<{id: string, z: number}>} all @param {boolean} isUp
 * @returns {Map<string, number> | null} */
export function piled(moved, all, isUp) {
  const ids = new Set(moved.map((each) => each.id));
  let edge = isUp ? -Infinity : Infinity;
  for (const { id, z } of all) if (!ids.has(id)) edge = isUp ? Math.max(edge, z) : Math.min(edge, z);
  if (!Number.isFinite(edge) || moved.every(({ z }) => isUp ? z > edge : z < edge)) return null;
  const sorted = [...moved].sort((a, b) => a.z - b.z || (a.id < b.id ? -1 : 1));
  return new Map(sorted.map(({ id }, index) => [id, isUp ? edge + 1 + index : edge - sorted.length + index]));
}
