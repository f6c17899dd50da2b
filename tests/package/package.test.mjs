// SPDX-License-Identifier: Apache-2.0
//
// The packages of the program that ./scripts/package made: it runs where there is libc and nothing else.
import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { beforeAll, expect, test } from 'vitest';

import { program } from '../cli/job.mjs';

const root = path.resolve(import.meta.dirname, '../..');
const packages = path.join(root, 'build/packages');
const work = path.join(root, 'build/package-tests');
const demo = path.join(root, 'web/public/demo');
const run = (file, ...args) => execFileSync(file, args, { encoding: 'utf8' });

let deb, archive, unpacked;
beforeAll(() => {
  if (!existsSync(packages)) throw new Error(`${packages} is not there: run ./scripts/package`);
  const named = (end) =>
    path.join(
      packages,
      readdirSync(packages).find((name) => name.endsWith(end)),
    );
  [deb, archive, unpacked] = [named('.deb'), named('.tar.xz'), path.join(work, 'unpacked')];
  rmSync(work, { recursive: true, force: true });
  mkdirSync(unpacked, { recursive: true });
  run('tar', '-xf', archive, '-C', unpacked, '--strip-components=1');
});

const hasLintian = spawnSync('lintian', ['--version']).status === 0;
const beside = [
  'bin/tersor',
  'share/bash-completion/completions/tersor',
  'share/doc/tersor/THIRD_PARTY_NOTICES.txt',
  'share/doc/tersor/copyright',
  'share/doc/tersor/sbom.cdx.json',
  'share/fish/vendor_completions.d/tersor.fish',
  'share/man/man1/tersor.1.gz',
  'share/zsh/vendor-completions/_tersor',
];

test('the .deb needs libc alone, and holds program, manual page, completions and notices', () => {
  expect(run('dpkg-deb', '-f', deb, 'Depends').trim()).toMatch(/^libc6 \(>= [\d.]+\)$/);
  expect(`tersor ${run('dpkg-deb', '-f', deb, 'Version')}`).toBe(run(program, '--version'));
  const files = run('dpkg-deb', '-c', deb);
  const names = [...files.matchAll(/^-.* \.\/usr\/(.*)$/gm)].map(([, name]) => name);
  expect(names.sort()).toEqual([...beside, 'share/doc/tersor/changelog.gz'].sort());
});

test.skipIf(!hasLintian)('lintian, where it is here, finds no error in the .deb', () => {
  const { stdout, status } = spawnSync('lintian', ['--fail-on', 'error', deb], { encoding: 'utf8' });
  expect(stdout.match(/^E:.*/gm) ?? []).toEqual([]);
  expect(status).toBe(0);
});

test('the archive holds the same, made by this program', () => {
  const names = readdirSync(unpacked, { recursive: true, withFileTypes: true })
    .filter((one) => one.isFile())
    .map((one) => path.relative(unpacked, path.join(one.parentPath, one.name)));
  expect(names.sort()).toEqual(beside);
  const text = (name) => readFileSync(path.join(unpacked, name), 'utf8');
  const manual = gunzipSync(readFileSync(path.join(unpacked, 'share/man/man1/tersor.1.gz'))).toString();
  expect(manual).toBe(run(program, 'help', '--manual'));
  expect(text('share/zsh/vendor-completions/_tersor')).toBe(run(program, 'help', '--completion', 'zsh'));
  for (const holder of ['Niels Lohmann', 'protozero', 'Google LLC', 'Henry Schreiner', 'GCC RUNTIME LIBRARY EXCEPTION'])
    expect(text('share/doc/tersor/THIRD_PARTY_NOTICES.txt').toUpperCase()).toContain(holder.toUpperCase());
});

test('in a root folder with libc and nothing else it quantizes to the same bytes', () => {
  const there = path.join(work, 'root');
  const bring = (from, to) => {
    mkdirSync(path.dirname(path.join(there, to)), { recursive: true });
    copyFileSync(from, path.join(there, to));
  };
  bring(path.join(unpacked, 'bin/tersor'), 'tersor');
  const libraries = [...run('ldd', path.join(unpacked, 'bin/tersor')).matchAll(/(\/\S+) \(0x/g)].map(
    ([, file]) => file,
  );
  expect(libraries.map((file) => path.basename(file).replace(/^ld-linux.*/, 'the loader')).sort()).toEqual([
    'libc.so.6',
    'libm.so.6',
    'the loader',
  ]);
  for (const file of libraries) bring(file, file);
  for (const name of ['model.onnx', 'samples.zip']) bring(path.join(demo, name), name);
  const inside = process.getuid() === 0 ? ['chroot', there] : ['unshare', '--map-root-user', `--root=${there}`];
  const quantize = ['quantize', '/model.onnx', '--data', '/samples.zip', '--limit', '32', '--quiet', '-o', '/out.onnx'];
  run(...inside, '/tersor', ...quantize);
  const expected = path.join(work, 'expected.onnx');
  run(
    program,
    'quantize',
    `${demo}/model.onnx`,
    '--data',
    `${demo}/samples.zip`,
    '--limit',
    '32',
    '--quiet',
    '-o',
    expected,
  );
  expect(readFileSync(path.join(there, 'out.onnx')).equals(readFileSync(expected))).toBe(true);
});

const image = 'debian:12-slim';
const engine = ['podman', 'docker'].find((name) => {
  try {
    // its base has been fetched by somebody: this test asks no registry
    return run(name, 'image', 'inspect', image) !== '';
  } catch {
    return false;
  }
});
test.skipIf(!engine)(`the Containerfile, where ${image} is here`, { timeout: 300_000 }, () => {
  run(engine, 'build', '--tag', 'tersor-test', root);
  expect(run(engine, 'run', '--rm', 'tersor-test', '--version')).toBe(run(program, '--version'));
});
