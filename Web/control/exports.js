// A board as a text: Markdown to read, and JSON Lines that `stickies import` reads.

/** @typedef {import('./live.js').Note} Note */
/** @typedef {{id: string, name: string}} Named */
/** @typedef {{id: string, from: string, to: string, label: string}} Link */

/** Notes as people read them: from top to bottom, and from left to right within a row.
 * @param {Iterable<Note>} notes */
function inOrder(notes) {
  return [...notes].sort((a, b) => a.y - b.y || a.x - b.x || (a.id < b.id ? -1 : 1));
}

/** The board as one Markdown document: a section for each note, with its number, color and tags in a comment.
 * @param {string} name @param {Iterable<Note>} notes */
export function markdown(name, notes) {
  const sections = inOrder(notes).map((note) => {
    const about = [`#${note.number}`.replace('#+', '+'), note.color, ...note.tags.map((tag) => tag.name)].join(' · ');
    // A comment ends at its first "--" with some readers.
    return `<!-- ${about.replace(/--/g, '- -').replace(/[\n\r>]/g, ' ')} -->\n\n${note.text.replace(/\n*$/, '')}\n`;
  });
  return [`# ${name.replace(/[\n\r]/g, ' ')}\n`, ...sections].join('\n---\n\n').replace('\n---\n\n', '\n');
}

/** The board as JSON Lines, as `stickies export` prints them: objects before those that refer to them.
 * @param {Named & {color?: string}} board @param {Iterable<Note>} notes @param {Iterable<Link>} links */
export function jsonLines(board, notes, links) {
  const list = inOrder(notes);
  /** @type {Map<string, object>} */
  const tags = new Map();
  for (const note of list) {
    for (const { id, name } of note.tags) tags.set(id, { id, entity: 'Tag', name });
  }
  const ids = new Set(list.map((note) => note.id));
  const lines = [
    { id: board.id, entity: 'Board', name: board.name, color: board.color ?? 'gray' }, ...tags.values(), ...list.map(plain),
    ...[...links].filter(({ from, to }) => ids.has(from) && ids.has(to)).map(({ id, from, to, label }) => (
      { id, entity: 'Link', from, label, to })),
  ];
  return lines.map((each) => `${JSON.stringify(each)}\n`).join('');
}

/** @param {Note} note */
function plain(note) {
  const { id, board, collapsed, color, createdAt, height, locked, number, origin, pinned, text, updatedAt, width, x, y, z } = note;
  return {
    id, entity: 'Note', board, collapsed, color, created: createdAt?.toISOString() ?? null, height, locked,
    number: typeof number === 'number' ? number : null, origin, pinned, tags: note.tags.map((tag) => tag.id), text,
    updated: updatedAt?.toISOString() ?? null, width, x, y, z,
  };
}
