// SPDX-License-Identifier: Apache-2.0
// --measure: the program takes the fastest of its files that are as accurate, as a Python with onnxruntime says.
import assert from 'node:assert/strict';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, test } from 'vitest';

import { npy } from '../browser/files.mjs';
import { perceptron, waves } from '../zoo/protobuf.mjs';
import { withFolder } from '../zoo/runtime.mjs';
import { run } from './job.mjs';

afterEach(() => delete process.env.TERSOR_PYTHON);

/** A model and samples of it. */
function job(folder, samples = 24) {
  const at = (name) => path.join(folder, name);
  writeFileSync(at('model.onnx'), perceptron(1));
  writeFileSync(at('rows.npy'), npy(waves(3, 6 * samples), [samples, 6]));
  return [at('model.onnx'), '--data', at('rows.npy'), '-o', at('made.onnx'), '--save-recipe', at('recipe.json')];
}

/** In place of a Python: 8 ms for the float model and 2 for each other file; `script`: what it does instead. */
function standIn(folder, script = '') {
  const python = path.join(folder, 'python');
  const counted =
    'n=$(ls "$2"/*.onnx | wc -l); printf \'{"runtime": "a runtime 1.0", "threads": 1, "milliseconds": [8\'';
  const rest = 'for k in $(seq 2 $n); do printf ", 2"; done; printf "]}"';
  writeFileSync(python, `#!/bin/sh\n[ "$1" = -c ] && exit 0\n${script}\ntest -s "$2/0.npy" && ${counted}; ${rest}\n`);
  chmodSync(python, 0o755);
  process.env.TERSOR_PYTHON = python;
}

test('what was measured stands in place of the forecast, and the recipe repeats the file', () =>
  withFolder((folder) => {
    standIn(folder);
    const files = job(folder);
    const report = path.join(folder, 'report.json');
    const { status, stdout, stderr } = run('quantize', ...files, '--measure', '--report', report);
    assert.equal(status, 0, stderr);
    assert.match(
      stdout,
      /It runs 4\.00 times as fast as the float model in a runtime 1\.0 \(measured, one thread\): 2 ms/,
    );
    assert.doesNotMatch(stdout, /expected to run/);
    const { time } = JSON.parse(readFileSync(report, 'utf8'));
    assert.equal(time.measured, true);
    assert.equal(time.timed[0].prefer, 'BALANCED');
    const made = readFileSync(path.join(folder, 'made.onnx'));
    const [model, , data] = files;
    const again = path.join(folder, 'again.onnx');
    delete process.env.TERSOR_PYTHON;
    run('quantize', model, '--data', data, '--recipe', path.join(folder, 'recipe.json'), '-o', again);
    assert(made.equals(readFileSync(again)));
    standIn(folder);
    assert.equal(JSON.parse(run('quantize', ...files, '--measure', '--json').stdout).time.measured, true);
  }));

test('where there is one file, that is said', () =>
  withFolder((folder) => {
    standIn(folder);
    assert.match(run('quantize', ...job(folder, 4), '--measure').stdout, /There was no other file to choose\./);
  }));

test('a Python without the runtime, one that fails, and a job without samples are said', () =>
  withFolder((folder) => {
    process.env.TERSOR_PYTHON = path.join(folder, 'nowhere');
    const none = run('quantize', ...job(folder), '--measure');
    assert.equal(none.status, 1);
    assert.match(none.stderr, /has no onnxruntime[^]*pip install onnxruntime/);
    standIn(folder, 'echo "no such kernel" >&2; exit 3');
    const failed = run('quantize', ...job(folder, 4), '--measure');
    assert.equal(failed.status, 1);
    assert.match(failed.stderr, /could not time the files: no such kernel/);
    standIn(folder);
    const [model, , , ...output] = job(folder);
    const without = run('quantize', model, ...output, '--platform', 'weight-only-int8', '--measure');
    assert.equal(without.status, 1);
    assert.match(without.stderr, /measure runs the models: give samples/);
    assert.equal(run('quantize', ...job(folder), '--measure', '--sqnr', '20').status, 2);
  }));
