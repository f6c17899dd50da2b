// SPDX-License-Identifier: Apache-2.0
// Every command line that the README, the documents and the examples of --help show is run, in the order of each text, in a folder that
// holds what they name.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { zipSync } from 'fflate';
import { describe, test } from 'vitest';

import { npy } from '../browser/files.mjs';
import { demo, demoFiles, root } from '../wasm/jobs.mjs';
import { withFolder } from '../zoo/runtime.mjs';
import { program, run } from './job.mjs';

const hasParallel = /GNU/.test(spawnSync('parallel', ['--version'], { encoding: 'utf8' }).stdout ?? '');
const documents = ['README.md', 'wasm/README.md', 'python/README.md', 'platforms/README.md'].concat(
  readdirSync(path.join(root, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
);

/** Lines that are commands: indented, without what a reader is to put in their place. */
function commandsIn(text) {
  return text
    .split('\n')
    .map((line) => /^ {4}((?:npx |parallel .*)?tersor .*?)(?: {2,}#.*)?$/.exec(line)?.[1])
    .filter((line) => line !== undefined && !/\[|\bMODEL\b|\bFILE\b/.test(line));
}

/** The model of the demo under all names, some of its pictures, and arrays of its input's shape. */
function prepare(folder) {
  const at = (name) => path.join(folder, name);
  for (const name of ['model.onnx', 'old.onnx']) copyFileSync(demo.model, at(name));
  for (const data of ['samples', 'pictures'])
    for (const { path: name, data: bytes } of demoFiles().filter(
      (file, k) => file.path.endsWith('.png') && k % 10 === 0,
    )) {
      mkdirSync(path.dirname(at(`${data}/${name}`)), { recursive: true });
      writeFileSync(at(`${data}/${name}`), bytes);
    }
  const count = 24;
  const values = Float32Array.from({ length: count * 3 * 48 * 48 }, (_, k) => Math.sin(k * 0.37) * Math.cos(k * 0.011));
  const array = npy(values, [count, 3, 48, 48]);
  for (const name of ['x.npy', 'samples.npy']) writeFileSync(at(name), array);
  writeFileSync(at('x.npz'), zipSync({ 'image.npy': array }));
  writeFileSync(
    at('y.npy'),
    npy(
      Int32Array.from({ length: count }, (_, k) => k % 16),
      [count],
    ),
  );
  const settings = ['--data', at('pictures')];
  for (const k of [1, 2])
    assert.equal(
      run('calibrate', at('model.onnx'), ...settings, '--shard', `${k}/2`, '-o', at(`part${k}.tstats`)).status,
      0,
    );
  assert.equal(run('quantize', at('model.onnx'), ...settings, '-o', at('model.int8.onnx')).status, 0);
}

/** As the shell of a reader runs it, but for minutes of training, a runtime that may be missing, and places outside of the folder. */
function asRun(line) {
  let text = line
    .replace(/^npx /, '')
    .replace(' --measure', '')
    .replace(/--minutes \d+/, '--minutes 0.01')
    .replace(/--epochs \d+/, '--epochs 1');
  text = text
    .replace('/etc/bash_completion.d/', './completion-')
    .replace(/^parallel(.*) tersor /, `parallel$1 "${program}" `);
  // Two processes that wait for each other.
  const isHalf = text.includes('--shard 1/2 --folder') && !text.includes('2/2');
  return isHalf ? `${text.replace('1/2', '2/2')} & ${text}` : text;
}

function runAll(folder, lines) {
  for (const line of lines) {
    if (line.startsWith('parallel') && !hasParallel) continue;
    const shell = `tersor() { "${program}" "$@"; }; ${asRun(line)}`;
    const { status, stderr } = spawnSync('bash', ['-c', shell], { cwd: folder, encoding: 'utf8', timeout: 120_000 });
    assert.equal(status, 0, `${line}\n${stderr}`);
  }
}

/** Lines that belong together: one that ends with & and the next. */
function joined(lines) {
  return lines.flatMap((line, k) => {
    if (lines[k - 1]?.endsWith('&')) return [];
    return line.endsWith('&') ? [`${line} ${lines[k + 1]}`] : [line];
  });
}

const isRoom = (name) =>
  readdirSync(path.join(root, 'core')).some((wing) => existsSync(path.join(root, 'core', wing, name)));

describe('documents', () => {
  for (const name of documents) {
    const lines = joined(commandsIn(readFileSync(path.join(root, name), 'utf8')));
    if (lines.length === 0) continue;
    test(`${name}: ${lines.length}`, () =>
      withFolder((folder) => {
        prepare(folder);
        if (name === 'docs/scale.md')
          for (const k of [1, 2])
            runAll(folder, [`tersor calibrate model.onnx --data samples/ --shard ${k}/2 -o part${k}.tstats`]);
        runAll(folder, lines);
      }));
  }
});

test('the examples of --help', () =>
  withFolder((folder) => {
    prepare(folder);
    const names = [...run('--help').stdout.matchAll(/^ {2}([a-z]+) {2,}/gm)].map(([, name]) => name);
    assert(names.includes('quantize') && names.includes('sweep'));
    for (const name of names) {
      const [, shown] = run(name, '--help').stdout.split('Examples:\n');
      runAll(
        folder,
        shown
          .trim()
          .split('\n')
          .map((line) => line.trim()),
      );
    }
  }));

/** What developers run builds for minutes; that the script, its options, the preset, the target and the folder exist is looked up. */
describe('commands of developers', () => {
  const text = (name) => readFileSync(path.join(root, name), 'utf8');
  const presets = JSON.parse(text('CMakePresets.json')).configurePresets.map(({ name }) => name);
  const sources = ['scripts/build', 'tests/bench/main.mjs', 'tests/bench/runtimes.py', 'scripts/screenshots.mjs'];
  const checks = [
    [
      /^(?:node )?(?:\.\/)?(scripts\/\S+)(.*)$/,
      ([, script, rest]) => {
        const known = [script, ...sources].map(text).join('\n');
        for (const [option] of rest.matchAll(/--[a-z-]+/g))
          assert(known.includes(option), `${script} has no ${option}`);
      },
    ],
    [
      /^cmake --preset (\S+)(?: -D(\w+)=\S+)?(?: && ninja -C build\/(\S+)(.*))?$/,
      ([, preset, option, folder, targets]) => {
        assert(presets.includes(preset), `no preset ${preset}`);
        assert(option === undefined || text('CMakeLists.txt').includes(option), `no option ${option}`);
        assert.equal(folder ?? preset, preset);
        for (const target of targets?.trim().split(/\s+/).filter(Boolean) ?? [])
          assert(text('tests/fuzz/CMakeLists.txt').includes(target));
      },
    ],
    [
      /^ctest --preset (\S+) -R (\S+)$/,
      ([, preset, room]) => {
        assert(presets.includes(preset), `no preset ${preset}`);
        assert(isRoom(room), `no room ${room}`);
      },
    ],
    [
      /^(?:nice )?build\/(\S+?)\/bin\/(\S+) (.*)$/,
      ([, preset, binary, rest]) => {
        assert(presets.includes(preset), `no preset ${preset}`);
        const named = binary.startsWith('fuzz_') ? 'tests/fuzz/CMakeLists.txt' : 'tests/vectors/CMakeLists.txt';
        assert(
          text(named).includes(binary) || text('tests/CMakeLists.txt').includes(binary),
          `nothing builds ${binary}`,
        );
        for (const [, folder] of rest.matchAll(/\s(tests\/\S+)/g))
          assert(existsSync(path.join(root, folder)), `no ${folder}`);
      },
    ],
  ];

  for (const name of ['README.md', 'CONTRIBUTING.md', 'docs/hosting.md', 'docs/performance.md', 'docs/runtimes.md'])
    test(name, () => {
      const lines = text(name)
        .split('\n')
        .map((line) => /^ {4}((?:\.\/scripts|node|cmake|ctest|nice|build)[ /].*?)(?: {2,}#.*)?$/.exec(line)?.[1])
        .filter((line) => line !== undefined);
      for (const line of lines) {
        const found = checks.map(([form, check]) => [form.exec(line), check]).find(([match]) => match);
        assert(found, `nobody knows: ${line}`);
        found[1](found[0]);
      }
      if (name === 'CONTRIBUTING.md') assert(lines.length > 8);
    });
});

test('the prose of the documents has lines of at most 120 columns', () => {
  for (const name of [...documents, 'CONTRIBUTING.md', 'CHANGELOG.md']) {
    let code = false;
    readFileSync(path.join(root, name), 'utf8')
      .split('\n')
      .forEach((line, k) => {
        if (line.startsWith('```')) code = !code;
        if (!code && !/^(\||<| {4})/.test(line)) assert(line.length <= 120, `${name}, line ${k + 1}`);
      });
  }
});
