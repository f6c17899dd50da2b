// SPDX-License-Identifier: Apache-2.0
//
// What others wrote is named, with version and licence, in every artefact that was built: by the list of what was linked.
import { unzipSync } from 'fflate';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

import { artefacts, thirdParty } from '../../scripts/notices.mjs';

const root = path.resolve(import.meta.dirname, '../..');
const at = (...parts) => path.join(root, ...parts);
const names = (artefact) => artefacts[artefact]().map(({ name }) => name);

test('every library that a room names is in the list of each artefact that the room is in', () => {
  const files = readdirSync(at('core'), { recursive: true }).filter((file) => file.endsWith('CMakeLists.txt'));
  const used = { core: new Set(), cli: new Set() };
  for (const file of files) {
    const text = readFileSync(at('core', file), 'utf8').replace(/#.*/g, '');
    const found = [...text.matchAll(/THIRD_PARTY ([\w ]+)|third_party_(\w+)/g)].flatMap(([, listed, one]) =>
      (listed ?? one).trim().split(/\s+/),
    );
    for (const one of found) used[file.startsWith('doors/cli') ? 'cli' : 'core'].add(one);
  }
  expect(used.core.size).toBeGreaterThan(2);
  const packagesOf = (libraries) => [...libraries].map((one) => thirdParty[one].name);
  for (const artefact of ['program', 'package', 'page', 'wheel'])
    expect(names(artefact)).toEqual(expect.arrayContaining(packagesOf(used.core)));
  for (const artefact of ['program', 'package'])
    expect(names(artefact)).toEqual(expect.arrayContaining(packagesOf(used.cli)));
});

const inWheel = (name) => {
  const folder = at('build/python/dist');
  const wheel = readdirSync(folder).find((file) => file.endsWith('.whl'));
  return Buffer.from(unzipSync(readFileSync(path.join(folder, wheel)))[`tersor/${name}`]).toString();
};
const inFolder = (folder) => (name) => readFileSync(at(folder, name), 'utf8');
const musl = ['Rich Felker', 'The Emscripten Authors'];
const page = [...musl, 'Jason Miller', 'Preact', 'Chris Pettitt', 'Arjun Barrett', 'IBM'];
test.each([
  ['program', 'build/native/bin/tersor', inFolder('build/native/share/doc/tersor'), ['Henry Schreiner', 'GCC RUNTIME']],
  ['package', 'wasm/dist/index.js', inFolder('wasm'), [...musl, 'Henry Schreiner']],
  ['page', 'web/dist/index.html', inFolder('web/dist'), page],
  ['wheel', 'build/python/dist/built', inWheel, ['Wenzel Jakob', 'GCC RUNTIME']],
])('%s', (artefact, made, read, holders) => {
  if (!existsSync(at(made))) throw new Error(`${made} is not there: run ./scripts/build and ./scripts/build python`);
  const text = read('THIRD_PARTY_NOTICES.txt');
  for (const holder of ['Niels Lohmann', 'protozero', 'Google LLC', ...holders])
    expect(text.toUpperCase()).toContain(holder.toUpperCase());
  const bill = JSON.parse(read('sbom.cdx.json'));
  expect(bill).toMatchObject({ bomFormat: 'CycloneDX', metadata: { component: { name: 'tersor' } } });
  expect(bill.components.map(({ name }) => name)).toEqual(expect.arrayContaining(names(artefact)));
  for (const { name, version, licenses, purl } of bill.components) {
    expect(text).toContain(`\n${name} ${version}: `);
    expect(purl).toMatch(/^pkg:(deb|npm|pypi)\//);
    expect(licenses).toHaveLength(1);
  }
});
