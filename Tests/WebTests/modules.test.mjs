// The page names all modules that it needs, so that a browser requests them at once and not import by import.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';

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

test('the board has few modules, and each is loaded', () => {
  const folders = readdirSync(web, { withFileTypes: true }).filter((each) => each.isDirectory()).map(({ name }) => name);
  const modules = folders.flatMap((folder) => readdirSync(new URL(folder, web)).filter((name) => name.endsWith('.js')).map((name) => `${folder}/${name}`));
  assert.deepEqual(modules.sort(), [...closure('board/app.js', [now, late])].sort());
  assert.ok(modules.length <= 25, `${modules.length} modules`);
  const described = [...readFileSync(new URL('README.md', web), 'utf8').matchAll(/^\| `(\w+\.js)` \|/gm)].map(([, name]) => name);
  assert.deepEqual(described.sort(), modules.map((path) => path.split('/')[1]).sort());
});

test('a first visit transfers at most 150 kB', () => {
  const folder = mkdtempSync(join(tmpdir(), 'web-'));
  try {
    const output = join(folder, 'files.swift');
    execFileSync(fileURLToPath(new URL('../scripts/embed-web', web)), [fileURLToPath(web), output]);
    /** What a response transfers besides the file, in bytes. */
    const head = 300;
    const page = readFileSync(new URL('index.html', web), 'utf8');
    const needed = new Set(['index.html', ...[...page.matchAll(/(?:href|src)="([a-z][^"]*)"/g)].map(([, path]) => path)]);
    needed.delete('icon-192.png'); // Only a home screen needs it.
    let total = 0;
    for (const line of readFileSync(output, 'utf8').split('\n')) {
      const [path, , plain, gzip] = line.trim().split(' ');
      if (needed.delete(path)) total += head + Buffer.from(gzip === '-' ? plain : gzip, 'base64').length;
    }
    assert.deepEqual([...needed], []);
    assert.ok(total <= 150_000, `${total} bytes`);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('no module makes HTML from text', () => {
  const all = closure('board/app.js', [now, late]);
  assert.ok(all.has('board/dialogs.js') && all.size > closure('board/app.js').size);
  for (const path of all) {
    const source = readFileSync(new URL(path, web), 'utf8');
    assert.doesNotMatch(source, /\b(innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|eval|new Function)\b/, path);
  }
});
