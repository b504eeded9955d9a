// The page names all modules that it needs, so that a browser requests them at once and not import by import.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';

const web = new URL('../../Web/', import.meta.url);

const now = /^(?:import|export)\b[^;'"]*?from '(\.[^']+)'|^import '(\.[^']+)'/gm;
/** Modules that are loaded when a person opens what they show. The worker keeps them, too. */
const late = /\bawait import\('(\.[^']+)'\)/g;

/** The paths of the modules that a module needs, itself included. */
function closure(path, patterns = [now], found = new Set()) {
  if (found.has(path)) return found;
  found.add(path);
  const source = readFileSync(new URL(path, web), 'utf8');
  for (const [, ...names] of patterns.flatMap((pattern) => [...source.matchAll(pattern)])) {
    const name = names.find((each) => each !== undefined);
    closure(new URL(name, new URL(path, web)).pathname.slice(web.pathname.length), patterns, found);
  }
  return found;
}

test('the page requests all of its modules at once', () => {
  const page = readFileSync(new URL('index.html', web), 'utf8');
  const listed = [...page.matchAll(/<link rel="modulepreload" href="([^"]+)">/g)].map(([, path]) => path).sort();
  assert.deepEqual(listed, [...closure('board/app.js')].filter((path) => path !== 'board/app.js').sort());
});

test('no module makes HTML from text', () => {
  const all = closure('board/app.js', [now, late]);
  assert.ok(all.has('board/sharing.js') && all.size > closure('board/app.js').size);
  for (const path of all) {
    const source = readFileSync(new URL(path, web), 'utf8');
    assert.doesNotMatch(source, /\b(innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|eval|new Function)\b/, path);
  }
});
