// The Markdown of notes. The oracle test beside it compares the supported part with markdown-it.
import assert from 'node:assert/strict';
import test from 'node:test';
import { isSafe, parse, plainTitle } from '../../Web/board/markdown.js';
import { html } from './markdown-html.mjs';
import { hostile } from './fake/boards.js';
import { random } from './geometry.test.mjs';

test('blocks and inline marks', () => {
  assert.equal(html('# A *b*\n\ntext `c`'), '<h1>A <em>b</em></h1><p>text <code>c</code></p>');
  assert.equal(html('a **b *c* d** ~~e~~'), '<p>a <strong>b <em>c</em> d</strong> <s>e</s></p>');
  assert.equal(html('one\ntwo'), '<p>one<br>two</p>');
  assert.equal(html('- a\n  - b\n- c'), '<ul><li>a<ul><li>b</li></ul></li><li>c</li></ul>');
  assert.equal(html('3. a\n4. b'), '<ol start="3"><li>a</li><li>b</li></ol>');
  assert.equal(html('> a\n> b\n\nc'), '<blockquote><p>a<br>b</p></blockquote><p>c</p>');
  assert.equal(html('```js\nlet a = 1 < 2\n```'), '<pre><code>let a = 1 &lt; 2</code></pre>');
  assert.equal(html('[a **b**](https://c.d/e)'), '<p><a href="https://c.d/e">a <strong>b</strong></a></p>');
});

test('a task knows the offset of its box', () => {
  for (const text of ['- [ ] a\n- [x] b', 'x\n\n1. [ ] a\n   - [X] b', '> - [ ] a']) {
    const boxes = [];
    const walk = (blocks) => blocks.forEach((b) => (b.items ?? []).forEach((i) => { if (i.done !== null) boxes.push(i.at); walk(i.blocks); }) ?? (b.blocks && walk(b.blocks)));
    walk(parse(text)), parse(text).forEach((b) => b.blocks && walk(b.blocks));
    assert.ok(boxes.length);
    for (const at of boxes) assert.match(text.slice(at - 1, at + 2), /^\[[ xX]\]$/, text);
  }
});

test('only the web and mail can be linked', () => {
  for (const url of ['javascript:alert(1)', 'data:text/html,x', 'file:///etc', ' javascript:x', 'vbscript:x', '//a.b', 'https:', 'https://a b']) assert.equal(isSafe(url), false, url);
  for (const url of ['https://a.b', 'http://a', 'mailto:a@b.c']) assert.equal(isSafe(url), true, url);
  for (const text of hostile) {
    const seen = JSON.stringify(parse(text)).match(/"href":"[^"]*"/g) ?? [];
    for (const href of seen) assert.match(href, /^"href":"(https?:\/\/|mailto:)/);
  }
});

test('any text is parsed in time that grows with its length, without an exception', () => {
  const next = random(2), parts = ['*', '**', '_', '~~', '`', '``', '[', ']', '(', ')', '<', '>', '#', '- ', '1. ', '> ', '\n', '\n\n', '  ', '\t', '```', '[ ] ', 'a', 'https://a.b', '\\', '😀', 'ا', '---'];
  for (let i = 0; i < 3000; i++) parse(Array.from({ length: Math.floor(next() * 40) }, () => parts[Math.floor(next() * parts.length)]).join(''));
  for (const part of ['*a', '_', '[', '`', '[a](', '> ', '- ', '**a*', '<https://', '*a_b']) {
    const started = process.cpuUsage().user;
    parse(part.repeat(3000));
    assert.ok(process.cpuUsage().user - started < 3e6, `${part} takes too long`);
  }
});

test('titles have no marks', () => {
  assert.equal(plainTitle('\n\n## **Beans** `x`\nrest'), 'Beans x');
  assert.equal(plainTitle('- [ ] call [Ann](https://a.b)'), 'call Ann');
  assert.equal(plainTitle(''), '');
});
