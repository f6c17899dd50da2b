// SPDX-License-Identifier: Apache-2.0
//
// What npm packs: nothing is missing, nothing is too much, and publint and "Are the types wrong?" find nothing.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { beforeAll, expect, test } from 'vitest';

import { install, packageFiles, tools } from './installed.mjs';

let installed;
beforeAll(() => {
  installed = install('package');
});
const text = (name) => readFileSync(path.join(installed.place, name), 'utf8');
const run = (tool, ...args) => {
  const { status, stdout, stderr } = spawnSync(path.join(tools, '.bin', tool), args, { encoding: 'utf8' });
  return { status, said: stripVTControlCharacters(stdout + stderr) };
};

test('license and notices of all that is compiled in', () => {
  expect(text('LICENSE')).toMatch(/Apache License\s+Version 2\.0/);
  const notices = text('THIRD_PARTY_NOTICES.txt');
  for (const holder of [
    'Niels Lohmann',
    'protozero',
    'Google LLC',
    'Henry Schreiner',
    'The Emscripten Authors',
    'Rich Felker',
    'LLVM',
  ])
    expect(notices).toContain(holder);
  expect(packageFiles(installed.place).license).toBe('Apache-2.0');
});

test('it takes at most 9 MB of a disk, the program as WebAssembly among it', () => {
  const files = readdirSync(installed.place, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
  const bytes = files.reduce((sum, { parentPath, name }) => sum + statSync(path.join(parentPath, name)).size, 0);
  expect(bytes).toBeLessThan(9e6);
});

test('publint', () => {
  const { status, said } = run('publint', 'run', installed.place, '--strict', '--pack', 'false');
  expect(said).toContain('All good!');
  expect(status).toBe(0);
});

test('are the types wrong?', () => {
  // What is no module for TypeScript is left out, and what is for bundlers alone, as none resolves the way of node10. Node
  // requires modules from 20.19 on, which the tool does not know of.
  const files = ['light', 'worker.js', 'worker.mjs', 'tersor.wasm', 'tersor-light.wasm'];
  const { status, said } = run(
    'attw',
    installed.archive,
    '--exclude-entrypoints',
    ...files,
    '--ignore-rules',
    'cjs-resolves-to-esm',
  );
  expect(said).toContain('No problems found');
  expect(said).toMatch(/node10 +│ 🟢/);
  expect(status).toBe(0);
});
