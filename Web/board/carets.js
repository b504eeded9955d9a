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
export function caretIn(view, offset, scale) {
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
