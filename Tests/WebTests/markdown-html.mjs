// Writes the tree of board/markdown.js as HTML, for comparisons only. As a program: one JSON text per line in, one HTML out.
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { parse } from '../../Web/board/markdown.js';

const escape = (text) => text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;').replace(/"/g, '&quot;');
const tags = { em: 'em', strong: 'strong', del: 's' };

const inline = (nodes) => nodes.map((n) => typeof n === 'string' ? escape(n) : n.kind === 'br' ? '<br>'
  : n.kind === 'code' ? `<code>${escape(n.text)}</code>` : n.kind === 'a' ? `<a href="${escape(n.href)}">${inline(n.children)}</a>`
    : `<${tags[n.kind]}>${inline(n.children)}</${tags[n.kind]}>`).join('');

const item = ({ done, blocks: inside }) => `<li>${done === null ? '' : done ? '[x] ' : '[ ] '}${inside.map((b) => b.kind === 'p' ? inline(b.children) : block(b)).join('')}</li>`;

function block(b) {
  switch (b.kind) {
    case 'p': return `<p>${inline(b.children)}</p>`;
    case 'heading': return `<h${b.level}>${inline(b.children)}</h${b.level}>`;
    case 'code': return `<pre><code>${escape(b.text)}</code></pre>`;
    case 'rule': return '<hr>';
    case 'quote': return `<blockquote>${b.blocks.map(block).join('')}</blockquote>`;
    case 'list': return b.start === null ? `<ul>${b.items.map(item).join('')}</ul>`
      : `<ol${b.start === 1 ? '' : ` start="${b.start}"`}>${b.items.map(item).join('')}</ol>`;
  }
}

/** The HTML of a text. @param {string} text */
export const html = (text) => parse(text).map(block).join('');

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  for await (const line of createInterface({ input: process.stdin })) console.log(JSON.stringify(html(JSON.parse(line))));
}
