// SPDX-License-Identifier: Apache-2.0
//
// The package's command in Node beside the native program: the same words in, the same files, output and exit status out.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

import { writeJob } from '../cli/job.mjs';
import { demo, emptyFolder, program, root } from './jobs.mjs';

const command = path.join(root, 'wasm/bin.mjs');
const samples = path.join(root, 'web/public/demo/samples.zip');
const folder = emptyFolder('command');

const run = (file, args, options = {}) => {
  const { status, stdout, stderr } = spawnSync(file, args, { cwd: folder, encoding: 'utf8', ...options });
  return { status, stdout, stderr };
};
const both = (args, options) => [run(program, args, options), run(command, args, options)];

test('quantize writes the same model, recipe and report', () => {
  const files = [program, command].map((file, k) => {
    const made = ['out.onnx', 'recipe.json', 'report.json'].map((name) => path.join(folder, `${k}-${name}`));
    const [model, recipe, report] = made;
    const args = ['quantize', demo.model, '--data', samples, '-o', model, '--save-recipe', recipe, '--report', report];
    expect(run(file, [...args, '--limit', '20', '--quiet'])).toEqual({ status: 0, stdout: '', stderr: '' });
    // the engine lays out its memory for the machine it runs on
    return made.map((name) => readFileSync(name, 'latin1').replace(/"calibration_bytes": \d+/, ''));
  });
  expect(files[1].map((text, k) => text.length > 100 && text === files[0][k])).toEqual([true, true, true]);
});

const { model } = writeJob(folder);
for (const args of [
  ['--version'],
  ['--help'],
  ['quantize', '--help'],
  ['platforms'],
  ['help', '--manual'],
  ['config', '--defaults'],
  ['evaluate', demo.model, '--data', samples, '--limit', '10'],
  ['inspect', model, '--json'],
  ['quantize', model, '--data', 'samples.csv', '-o', 'other/out.onnx'],
  ['quantize', model, '--dta', 'samples.csv'],
  ['inspect', 'nothing.onnx'],
]) {
  test(`tersor ${args.map((one) => path.basename(one)).join(' ')}`, () => {
    const [natively, inNode] = both(args);
    expect(inNode).toEqual(natively);
    expect((natively.stdout + natively.stderr).length).toBeGreaterThan(10);
  });
}

test('a model comes through a pipe, and a reader that leaves ends the command without a word', () => {
  const [natively, inNode] = [program, command].map((file) =>
    run('bash', ['-c', 'cat "$1" | "$0" inspect /dev/stdin --json', file, model]),
  );
  expect(natively.status).toBe(0);
  expect(inNode).toEqual(natively);
  const through = [program, command].map((file) => {
    const out = path.join(folder, 'through.onnx');
    const script = 'cat "$1" | "$0" quantize - --data samples.csv -o - --quiet > "$2"';
    expect(run('bash', ['-c', script, file, model, out])).toEqual({ status: 0, stdout: '', stderr: '' });
    return readFileSync(out);
  });
  expect(through[0].length).toBeGreaterThan(100);
  expect(through[1].equals(through[0])).toBe(true);
  const left = run('bash', ['-c', '"$0" config --schema | head -n 1 > /dev/null; echo ${PIPESTATUS[0]}', command]);
  expect(left.stderr).toBe('');
  expect(['0\n', '141\n']).toContain(left.stdout);
});
