// The page names all modules that it needs, so that a browser requests them at once and not import by import.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';

const web = new URL('../../Web/', import.meta.url);

/** The paths of the modules that a module needs, itself included. */
function closure(path, found = new Set()) {
  if (found.has(path)) return found;
  found.add(path);
  const source = readFileSync(new URL(path, web), 'utf8');
  for (const [, name] of source.matchAll(/^(?:import|export)\b[^;'"]*?from '(\.[^']+)'|^import '(\.[^']+)'/gm)) {
    closure(new URL(name, new URL(path, web)).pathname.slice(web.pathname.length), found);
  }
  return found;
}

test('the page requests all of its modules at once', () => {
  const page = readFileSync(new URL('index.html', web), 'utf8');
  const listed = [...page.matchAll(/<link rel="modulepreload" href="([^"]+)">/g)].map(([, path]) => path).sort();
  assert.deepEqual(listed, [...closure('board/app.js')].filter((path) => path !== 'board/app.js').sort());
});

test('no module makes HTML from text', () => {
  for (const path of closure('board/app.js')) {
    const source = readFileSync(new URL(path, web), 'utf8');
    assert.doesNotMatch(source, /\b(innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|eval|new Function)\b/, path);
  }
});
