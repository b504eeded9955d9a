// A little Markdown: headings, lists, tasks, quotes, code, emphasis and links. Text becomes a tree, and the tree becomes
// DOM nodes; no HTML is parsed anywhere. Lines stay lines, as in a note on paper. Not supported, so shown as written:
// HTML, images, tables, reference links, setext headings, and code by indentation.

/** A line without what belongs to its containers, with spaces for tabs: the units of `source` behind the first `column`
 * ones. `at` is the offset of the source in the text.
 * @typedef {{text: string, source: string, column: number, at: number}} Line */
/** @typedef {string | {kind: 'em'|'strong'|'del'|'a', children: Inline[], href?: string} | {kind: 'code', text: string}
 *   | {kind: 'br'}} Inline */
/** @typedef {{kind: 'p', children: Inline[]} | {kind: 'heading', level: number, children: Inline[]}
 *   | {kind: 'code', text: string} | {kind: 'quote', blocks: Block[]} | {kind: 'rule'}
 *   | {kind: 'list', start: number|null, items: Item[]}} Block */
/** An item of a list. For a task, `at` is the offset of the letter between its brackets.
 * @typedef {{done: boolean|null, at: number, blocks: Block[]}} Item */

// Each takes a time that grows with the line: in none can two repetitions match the same letters.
const heading = /^ {0,3}(#{1,6})(?:[ \t]+|$)/;
const fence = /^( {0,3})(`{3,}|~{3,})[^`]*$/;
const rule = /^ {0,3}([-*_])[ \t]*(?:\1[ \t]*){2,}$/;
const marker = /^( {0,3})([-*+]|(\d{1,9})([.)]))(?:( {1,4})(?! )|( )|$)/;
const quote = /^ {0,3}> ?/;
const task = /^\[([ xX])\][ \t]+(?=\S)/;
/** The deepest nesting of blocks, and of emphasis. Browsers fail on nodes that are nested thousands of times. */
const deepest = 12;
/** A tab as it is shown. */
const tab = '    ';

/** The blocks of a text.
 * @param {string} text @returns {Block[]} */
export function parse(text) {
  let at = 0;
  const lines = text.split('\n').map((line) => {
    const entry = { text: line.replace(/\r$/, '').replaceAll('\t', tab), source: line, column: 0, at };
    at += line.length + 1;
    return entry;
  });
  return blocks(lines, 0);
}

/** @param {Line} line @param {number} count @returns {Line} */
const cut = (line, count) => ({ ...line, text: line.text.slice(count), column: line.column + count });

/** The offset in the text of the first unit of a line.
 * @param {Line} line */
function offset({ source, column, at }) {
  let count = 0;
  for (let reached = 0; reached < column; count++) reached += source[count] === '\t' ? tab.length : 1;
  return at + count;
}

const indentation = (/** @type {string} */ text) => text.length - text.trimStart().length;
const isBlank = (/** @type {Line} */ line) => !line.text.trim();

/** @param {Line[]} lines @param {number} depth @returns {Block[]} */
function blocks(lines, depth) {
  /** @type {Block[]} */
  const found = [];
  /** @type {string[]} */
  let paragraph = [];
  const end = () => {
    if (paragraph.length) found.push({ kind: 'p', children: inline(paragraph.join('\n').trimEnd()) });
    paragraph = [];
  };
  for (let i = 0; i < lines.length;) {
    const line = lines[i];
    if (isBlank(line)) { end(), i++; continue; }
    let match = heading.exec(line.text);
    if (match) {
      end(), found.push({ kind: 'heading', level: match[1].length, children: inline(headingText(line.text, match)) });
      i++;
    } else if ((match = fence.exec(line.text))) {
      end(), i = fenced(lines, i, match, found);
    } else if (rule.test(line.text)) {
      end(), found.push({ kind: 'rule' }), i++;
    } else if (quote.test(line.text) && depth < deepest) {
      end(), i = quoted(lines, i, depth, found);
    } else if ((match = marker.exec(line.text)) && depth < deepest && !(paragraph.length && interrupts(match, line))) {
      end(), i = list(lines, i, depth, found);
    } else paragraph.push(line.text.trimStart()), i++;
  }
  end();
  return found;
}

/** The text of a heading, without the marks at its end.
 * @param {string} line @param {RegExpExecArray} match */
function headingText(line, match) {
  const text = line.slice(match[0].length).trimEnd();
  let end = text.length;
  while (text[end - 1] === '#') end--;
  return end === 0 || ' \t'.includes(text[end - 1]) ? text.slice(0, end).trimEnd() : text;
}

/** Whether a marker may not end a paragraph: an empty item, or a number other than 1.
 * @param {RegExpExecArray} match @param {Line} line */
const interrupts = (match, line) => match[0].length >= line.text.trimEnd().length || (match[3] ?? '1') !== '1';

/** @param {Line[]} lines @param {number} i @param {RegExpExecArray} match @param {Block[]} found */
function fenced(lines, i, match, found) {
  const code = [], closing = new RegExp(`^ {0,3}\\${match[2][0]}{${match[2].length},}\\s*$`);
  for (i++; i < lines.length && !closing.test(lines[i].text); i++) {
    code.push(lines[i].text.slice(Math.min(match[1].length, indentation(lines[i].text))));
  }
  found.push({ kind: 'code', text: code.join('\n') });
  return i + 1;
}

/** @param {Line[]} lines @param {number} i @param {number} depth @param {Block[]} found */
function quoted(lines, i, depth, found) {
  const inside = [];
  let text = false;
  for (; i < lines.length && !isBlank(lines[i]); i++) {
    const match = quote.exec(lines[i].text);
    if (!match && !(text && isLazy(lines[i].text))) break;
    inside.push(match ? cut(lines[i], match[0].length) : lines[i]);
    text = lastIsText(inside[inside.length - 1].text);
  }
  found.push({ kind: 'quote', blocks: blocks(inside, depth + 1) });
  return i;
}

/** Whether a line without its container's prefix continues the paragraph above it.
 * @param {string} text */
function isLazy(text) {
  return text.trim() !== '' && !heading.test(text) && !fence.test(text) && !rule.test(text) && !quote.test(text)
    && !marker.test(text);
}

/** @param {Line[]} lines @param {number} i @param {number} depth @param {Block[]} found */
function list(lines, i, depth, found) {
  const first = /** @type {RegExpExecArray} */ (marker.exec(lines[i].text));
  const kind = first[4] ?? first[2];
  /** @type {Item[]} */
  const items = [];
  while (i < lines.length) {
    const match = marker.exec(lines[i].text);
    if (!match || (match[4] ?? match[2]) !== kind || rule.test(lines[i].text)) break;
    const space = match[5]?.length ?? 1;
    const width = match[1].length + match[2].length + space;
    let line = cut(lines[i], Math.min(width, lines[i].text.length)), text = lastIsText(line.text);
    let fencedBy = fence.exec(line.text)?.[2] ?? '';
    const box = task.exec(line.text), at = box ? offset(line) + 1 : -1;
    if (box) line = cut(line, box[0].length);
    const inside = [line], isEmpty = isBlank(line) && !box;
    for (i++; i < lines.length; i++) {
      const next = lines[i];
      if (isBlank(next)) {
        if (isEmpty && inside.length === 1) break;
        inside.push({ ...next, text: '' }), (text = false);
      } else if (indentation(next.text) >= width) {
        const part = cut(next, width), edge = fence.exec(part.text)?.[2] ?? '';
        if (edge) fencedBy = fencedBy && edge.startsWith(fencedBy) ? '' : fencedBy || edge;
        inside.push(part), (text = !fencedBy && lastIsText(part.text));
      } else if (text && isLazy(next.text)) inside.push(next);
      else break;
    }
    while (inside.length && isBlank(inside[inside.length - 1])) inside.pop();
    items.push({ done: box ? box[1] !== ' ' : null, at, blocks: blocks(inside, depth + 1) });
  }
  found.push({ kind: 'list', start: first[3] === undefined ? null : Number(first[3]), items });
  return i;
}

/** Whether the text of a container's line can be continued: that of its innermost item counts.
 * @param {string} text */
function lastIsText(text) {
  for (let depth = 0; depth < deepest; depth++) {
    const match = marker.exec(text.trimStart()) ?? quote.exec(text.trimStart());
    if (!match) break;
    text = text.trimStart().slice(match[0].length);
  }
  return isLazy(text.trimStart());
}

/** A run of delimiters that may open or close emphasis.
 * @typedef {{mark: string, count: number, whole: number, opens: boolean, closes: boolean, node: number}} Run */

const punctuation = /[\p{P}\p{S}]/u;
const bare = /^https?:\/\/[^\s<>"'`]+[^\s<>"'`.,:;!?)\]}*_~]/;
/** The address of a link, behind its label. */
const destination = /^\(\s*(?!\s)(?:<([^<>\n]*)>|((?:[^\s()\\]|\\.|\([^\s()]*\))*))\s*\)/;

/** The inline nodes of a paragraph, in one pass: a link is made at the end of its label, from the nodes since its
 * bracket.
 * @param {string} text @returns {Inline[]} */
function inline(text) {
  /** @type {Inline[]} */
  const nodes = [];
  /** @type {Run[]} */
  const runs = [];
  /** The brackets that may open a label: their nodes, and the runs before them.
   * @type {{node: number, runs: number}[]} */
  let brackets = [];
  let plain = '', address = '', i = 0;
  /** @param {Inline} [node] */
  const push = (node) => {
    if (plain) nodes.push(plain);
    plain = '';
    if (node !== undefined) nodes.push(node);
  };
  while (i < text.length) {
    const c = text[i];
    if (c === '\\' && i + 1 < text.length && /[!-/:-@[-`{-~]/.test(text[i + 1])) (plain += text[i + 1]), (i += 2);
    else if (c === '\n') {
      plain = plain.endsWith('\\') ? plain.slice(0, -1) : plain.trimEnd();
      push({ kind: 'br' }), i++;
      while (text[i] === ' ') i++;
    } else if (c === '`') {
      const ticks = /** @type {RegExpExecArray} */ (/^`+/.exec(text.slice(i)))[0];
      const close = closingTicks(text, i + ticks.length, ticks.length);
      if (close < 0) (plain += ticks), (i += ticks.length);
      else {
        const code = text.slice(i + ticks.length, close).replace(/\n/g, ' ');
        push({ kind: 'code', text: /^ .*[^ ].* $|^ [^ ] $/.test(code) ? code.slice(1, -1) : code });
        i = close + ticks.length;
      }
    } else if (c === '[') {
      push(c), brackets.push({ node: nodes.length - 1, runs: runs.length }), i++;
    } else if (c === ']') {
      const bracket = brackets.pop(), target = bracket && text[i + 1] === '(' ? targetAt(text, i + 1) : null;
      if (!bracket || !target) { (plain += c), i++; continue; }
      push();
      const [, ...label] = nodes.splice(bracket.node), marks = runs.splice(bracket.runs);
      for (const run of marks) run.node -= bracket.node + 1;
      push({ kind: 'a', href: target.href, children: unlinked(emphasize(label, marks)) });
      // A link around a link is none.
      (brackets = []), (i = target.end);
    } else if (c === '<' && /^<(https?:\/\/|mailto:)[^\s<>]+>/.test(text.slice(i))) {
      const close = text.indexOf('>', i), url = text.slice(i + 1, close);
      push({ kind: 'a', href: url, children: [url] }), (i = close + 1);
    } else if (c === 'h' && !/\w/.test(text[i - 1] ?? '') && (address = addressAt(text, i, brackets.length > 0))) {
      push({ kind: 'a', href: address, children: [address] }), (i += address.length);
    } else if (c === '*' || c === '_' || c === '~') {
      const run = runAt(text, i);
      push(text.slice(i, i + run.whole)), (run.node = nodes.length - 1), runs.push(run);
      i += run.whole;
    } else (plain += c), i++;
  }
  push();
  return emphasize(nodes, runs);
}

/** The address that begins at an offset; '' for none. In a label it ends before a bracket.
 * @param {string} text @param {number} i @param {boolean} inLabel */
function addressAt(text, i, inLabel) {
  const found = bare.exec(text.slice(i, i + 2000))?.[0] ?? '';
  return inLabel ? bare.exec(found.split(/[[\]]/, 1)[0])?.[0] ?? '' : found;
}

/** @param {string} text @param {number} from @param {number} count */
function closingTicks(text, from, count) {
  for (let i = from; i < text.length;) {
    if (text[i] !== '`') { i++; continue; }
    let end = i;
    while (text[end] === '`') end++;
    if (end - i === count) return i;
    i = end;
  }
  return -1;
}

/** @param {string} text @param {number} i @returns {Run} */
function runAt(text, i) {
  let end = i;
  while (text[end] === text[i]) end++;
  const before = i ? /** @type {string} */ ([...text.slice(Math.max(0, i - 2), i)].pop()) : ' ';
  const after = end < text.length ? String.fromCodePoint(/** @type {number} */ (text.codePointAt(end))) : ' ';
  const space = /\s/, afterSpace = space.test(after), beforeSpace = space.test(before);
  const left = !afterSpace && (!punctuation.test(after) || beforeSpace || punctuation.test(before));
  const right = !beforeSpace && (!punctuation.test(before) || afterSpace || punctuation.test(after));
  const inWord = text[i] === '_', count = end - i, usable = text[i] !== '~' || count === 2;
  return {
    mark: text[i], count, whole: count, node: -1,
    opens: usable && left && (!inWord || !right || punctuation.test(before)),
    closes: usable && right && (!inWord || !left || punctuation.test(after)),
  };
}

/** Pairs the runs as CommonMark does, and nests the nodes between each pair.
 * @param {Inline[]} nodes
 * @param {Run[]} runs */
function emphasize(nodes, runs) {
  /** @type {(Inline|null)[]} */
  const work = [...nodes];
  /** How often each node is nested. */
  const depths = nodes.map(() => 0);
  for (let c = 0; c < runs.length; c++) {
    const closer = runs[c];
    while (closer.closes && closer.count) {
      let o = c - 1;
      for (; o >= 0; o--) {
        const r = runs[o];
        if (r.mark !== closer.mark || !r.opens || !r.count) continue;
        const odd = (r.closes || closer.opens) && (r.whole + closer.whole) % 3 === 0
          && (r.whole % 3 !== 0 || closer.whole % 3 !== 0);
        if (closer.mark === '~' || !odd) break;
      }
      if (o < 0) break;
      const opener = runs[o], size = closer.mark === '~' ? 2 : Math.min(2, opener.count, closer.count);
      const kind = closer.mark === '~' ? 'del' : size === 2 ? 'strong' : 'em';
      const children = [];
      let depth = 0;
      for (let n = opener.node + 1; n < closer.node; n++) depth = Math.max(depth, depths[n]);
      if (depth >= deepest) break;
      for (let n = opener.node + 1; n < closer.node; n++) {
        const node = work[n];
        if (node !== null && node !== '') children.push(node);
        work[n] = null, depths[n] = 0;
      }
      for (let k = o + 1; k < c; k++) runs[k].count = 0;
      opener.count -= size, closer.count -= size;
      work[opener.node] = opener.mark.repeat(opener.count), work[closer.node] = closer.mark.repeat(closer.count);
      // The new node stands between the rest of both runs: its place is the slot after the opener's.
      work[opener.node + 1] = { kind, children: merge(children) }, depths[opener.node + 1] = depth + 1;
    }
  }
  return merge(work);
}

/** Joins neighboring strings.
 * @param {(Inline|null)[]} nodes */
function merge(nodes) {
  /** @type {Inline[]} */
  const out = [];
  for (const node of nodes) {
    if (node === null || node === '') continue;
    const last = out[out.length - 1];
    if (typeof node === 'string' && typeof last === 'string') out[out.length - 1] = last + node;
    else out.push(node);
  }
  return out;
}

/** Whether an address may be followed: the web and mail, never a script.
 * @param {string} url */
export const isSafe = (url) => /^(?:https?:\/\/|mailto:)[^\s\u0000-\u001f]+$/i.test(url);

/** The address of a link in parentheses, and its end; null if there is none, or if it is not safe.
 * @param {string} text @param {number} i the offset of the parenthesis */
function targetAt(text, i) {
  const match = destination.exec(text.slice(i));
  const href = (match?.[1] ?? match?.[2] ?? '').replace(/\\([!-/:-@[-`{-~])/g, '$1');
  return match && isSafe(href) ? { href, end: i + match[0].length } : null;
}

/** The nodes with the text of links instead of links.
 * @param {Inline[]} nodes @returns {Inline[]} */
const unlinked = (nodes) => merge(nodes.flatMap((n) => typeof n === 'string' || !('children' in n) ? [n]
  : n.kind === 'a' ? unlinked(n.children) : [{ ...n, children: unlinked(n.children) }]));

/** The first line of a text without its marks, for titles.
 * @param {string} text */
export function plainTitle(text) {
  const line = text.split('\n', 60).find((l) => l.trim()) ?? '';
  const start = line.slice(0, 400), head = heading.exec(start), rest = head ? headingText(start, head) : start;
  const bared = rest.replace(marker, '').replace(quote, '').replace(task, '');
  return inline(bared).map(plainText).join('').trim();
}

/** @param {Inline} node @returns {string} */
const plainText = (node) => typeof node === 'string' ? node : node.kind === 'br' ? ' '
  : node.kind === 'code' ? node.text : node.children.map(plainText).join('');

/** The tasks and the links of a text, for menus.
 * @param {string} text */
export function targets(text) {
  /** @type {{at: number, done: boolean, name: string}[]} */
  const tasks = [];
  /** @type {{href: string, name: string}[]} */
  const links = [];
  /** @param {Inline[]} nodes */
  const read = (nodes) => {
    for (const node of nodes) {
      if (typeof node === 'string' || !('children' in node)) continue;
      if (node.kind === 'a') links.push({ href: node.href ?? '', name: plainText(node) });
      else read(node.children);
    }
  };
  /** @param {Block[]} list */
  const walk = (list) => {
    for (const block of list) {
      if ('children' in block) read(block.children);
      if (block.kind === 'quote') walk(block.blocks);
      if (block.kind !== 'list') continue;
      for (const { done, at, blocks: inside } of block.items) {
        const words = inside.find((each) => each.kind === 'p');
        if (done !== null) tasks.push({ at, done, name: words?.kind === 'p' ? words.children.map(plainText).join('') : '' });
        walk(inside);
      }
    }
  };
  walk(parse(text));
  return { tasks, links };
}

/** Builds the DOM nodes of a text.
 * @param {string} text
 * @param {(at: number, done: boolean) => void} [ontick] receives a task's offset and its new state; without it the
 *   tasks cannot be ticked */
export function render(text, ontick) {
  const fragment = document.createDocumentFragment();
  for (const block of parse(text)) fragment.append(blockNode(block, ontick));
  return fragment;
}

/** @param {string} tag @param {(Node|string)[]} children */
function element(tag, children) {
  const node = document.createElement(tag);
  node.append(...children);
  return node;
}

/** @param {Block} block @param {((at: number, done: boolean) => void)} [ontick] @returns {HTMLElement} */
function blockNode(block, ontick) {
  switch (block.kind) {
    case 'p': return element('p', block.children.map(inlineNode));
    // The board's own headings come first: a note's heading is a paragraph to the outline of the page.
    case 'heading': {
      const node = element('p', block.children.map(inlineNode));
      node.className = 'h' + Math.min(3, block.level);
      return node;
    }
    case 'code': return element('pre', [element('code', [block.text])]);
    case 'rule': return document.createElement('hr');
    case 'quote': return element('blockquote', block.blocks.map((b) => blockNode(b, ontick)));
    case 'list': {
      const node = document.createElement(block.start === null ? 'ul' : 'ol');
      if (block.start !== null && block.start !== 1) /** @type {HTMLOListElement} */ (node).start = block.start;
      node.append(...block.items.map((item) => itemNode(item, ontick)));
      return node;
    }
  }
}

/** @param {Item} item @param {((at: number, done: boolean) => void)} [ontick] */
function itemNode(item, ontick) {
  const node = element('li', item.blocks.map((b) => blockNode(b, ontick)));
  if (item.done === null) return node;
  node.className = item.done ? 'task done' : 'task';
  const box = document.createElement('input');
  box.type = 'checkbox', box.checked = item.done, box.disabled = !ontick, box.tabIndex = -1;
  box.setAttribute('aria-label', node.textContent?.slice(0, 200) || 'Task');
  box.addEventListener('change', () => ontick?.(item.at, box.checked));
  node.prepend(box);
  return node;
}

/** @param {Inline} node @returns {Node|string} */
function inlineNode(node) {
  if (typeof node === 'string') return node;
  if (node.kind === 'br') return document.createElement('br');
  if (node.kind === 'code') return element('code', [node.text]);
  const result = element(node.kind, node.children.map(inlineNode));
  if (node.kind === 'a') {
    const a = /** @type {HTMLAnchorElement} */ (result);
    a.href = node.href ?? '', a.target = '_blank', a.rel = 'noopener noreferrer', a.tabIndex = -1;
  }
  return result;
}
