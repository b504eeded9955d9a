// The Markdown of notes. The oracle test beside it compares the supported part with markdown-it.
import assert from 'node:assert/strict';
import test from 'node:test';
import { isSafe, parse, plainTitle, targets } from '../../Web/board/markdown.js';
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
  for (const text of ['- [ ] a\n- [x] b', 'x\n\n1. [ ] a\n   - [X] b', '> - [ ] a', '- [ ] a\n\t- [ ] b\n\t\t- [x]\tc', '>\t- [ ] a', '- [ ] a\r\n\t- [x] b']) {
    const boxes = [];
    const walk = (blocks) => blocks.forEach((b) => (b.items ?? []).forEach((i) => { if (i.done !== null) boxes.push(i.at); walk(i.blocks); }) ?? (b.blocks && walk(b.blocks)));
    walk(parse(text)), parse(text).forEach((b) => b.blocks && walk(b.blocks));
    assert.ok(boxes.length);
    for (const at of boxes) assert.match(text.slice(at - 1, at + 2), /^\[[ xX]\]$/, text);
  }
});

test('a menu has the tasks and the links of a text', () => {
  const text = '# [a *b*](http://c)\n- [x] one `two`\n\t- [ ] https://d.e\n\n> - [ ]\n> - [ ] *[f](mailto:g@h.i)* `[j](http://k)`';
  const { tasks, links } = targets(text);
  assert.deepEqual(tasks.map(({ done, name }) => [done, name]), [[true, 'one two'], [false, 'https://d.e'], [false, 'f [j](http://k)']]);
  for (const { at } of tasks) assert.match(text.slice(at - 1, at + 2), /^\[[ xX]\]$/);
  assert.deepEqual(links, [{ href: 'http://c', name: 'a b' }, { href: 'https://d.e', name: 'https://d.e' }, { href: 'mailto:g@h.i', name: 'f' }]);
  assert.deepEqual(targets('[a](javascript:b)'), { tasks: [], links: [] });
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
  const many = (part, count = 3000) => part.repeat(count);
  const texts = ['*a', '_', '[', '`', '[a](', '> ', '- ', '**a*', '<https://', '*a_b', '*a ', '[a](b)', '[h '].map((part) => many(part));
  texts.push(many('[') + 'a' + many('](http://b)'), many('*a ') + many('a* '), many('[', 9000) + many(']', 9000),
    `# ${many(' ')}\u2028`, `~~~${many(' ', 9000)}\``, `[a](${many(' ', 9000)}x`, `a${many(' ', 9000)}b\nc`, `${many('`', 9000)}\n${many('`', 8999)}`);
  for (const text of texts) {
    const started = process.cpuUsage().user;
    parse(text), plainTitle(text);
    assert.ok(process.cpuUsage().user - started < 3e5, `${text.slice(0, 20)} takes too long`);
  }
});

test('a link around a link is none, and an address in a label ends with it', () => {
  assert.equal(html('[a [b](http://c) d](http://e)'), '<p>[a <a href="http://c">b</a> d](http://e)</p>');
  assert.equal(html('[a *[b](http://c)* d](http://e)'), '<p>[a <em><a href="http://c">b</a></em> d](http://e)</p>');
  assert.equal(html('[a [b] `]` \\] c](http://d) e]'), '<p><a href="http://d">a [b] <code>]</code> ] c</a> e]</p>');
  assert.equal(html('*a [b* c](http://d)*'), '<p><em>a <a href="http://d">b* c</a></em></p>');
  assert.equal(html('[https://a.b/c](https://d.e)'), '<p><a href="https://d.e">https://a.b/c</a></p>');
  assert.equal(html('[see https://a.b.]'), '<p>[see <a href="https://a.b">https://a.b</a>.]</p>');
});

test('headings lose the marks at their end', () => {
  assert.equal(html('## a # b ##  '), '<h2>a # b</h2>');
  assert.equal(html('# a#\n#\n# ##'), '<h1>a#</h1><h1></h1><h1></h1>');
  assert.equal(plainTitle('#\ta\t#'), 'a');
});

test('emphasis is nested at most twelve times', () => {
  const depth = (text) => Math.max(0, ...[...html(text).matchAll(/(?:<em>a )+/g)].map(([run]) => run.length / 6));
  assert.equal(depth('*a '.repeat(5) + 'a* '.repeat(5)), 5);
  assert.equal(depth('*a '.repeat(500) + 'a* '.repeat(500)), 12);
});

test('titles have no marks', () => {
  assert.equal(plainTitle('\n\n## **Beans** `x`\nrest'), 'Beans x');
  assert.equal(plainTitle('- [ ] call [Ann](https://a.b)'), 'call Ann');
  assert.equal(plainTitle(''), '');
});
