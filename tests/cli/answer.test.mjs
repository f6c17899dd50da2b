// SPDX-License-Identifier: Apache-2.0
// What quantize prints without --report: the verdict first, right answers where there are labels, and for --quiet nothing.
import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'vitest';

import { npy } from '../browser/files.mjs';
import { colours } from '../browser/networks.mjs';
import { perceptron, waves } from '../zoo/protobuf.mjs';
import { withFolder } from '../zoo/runtime.mjs';
import { run } from './job.mjs';

/** A model of three classes with twelve samples and labels of them. */
function job(folder, labels = [0, 1, 2]) {
  const at = (name) => path.join(folder, name);
  writeFileSync(at('model.onnx'), perceptron(1));
  writeFileSync(at('rows.npy'), npy(waves(3, 6 * 12), [12, 6]));
  writeFileSync(at('labels.txt'), Array.from({ length: 12 }, (_, k) => labels[k % labels.length]).join('\n'));
  return [at('model.onnx'), '--data', at('rows.npy'), '-o', at('made.onnx')];
}

test('the verdict comes first, with the figures that decided and their count', () =>
  withFolder((folder) => {
    const { status, stdout, stderr } = run('quantize', ...job(folder));
    assert.equal(status, 0, stderr);
    assert.match(stdout.split('\n')[0], /^not worth it: The file has .* SQNR \d+\.\d dB on 12 samples/);
    assert.match(stdout.split('\n')[1], /made\.onnx: .* kB, was/);
    assert.equal(run('quantize', ...job(folder), '--quiet').stdout, '');
    const { verdict } = JSON.parse(run('quantize', ...job(folder), '--json').stdout);
    assert.equal(stdout.split('\n')[0], `${verdict.usability}: ${verdict.reason}`);
  }));

test('with labels, right answers of both models are counted', () =>
  withFolder((folder) => {
    const { stdout, stderr } = run('quantize', ...job(folder), '--labels', path.join(folder, 'labels.txt'));
    assert.match(stdout.split('\n')[0], /On your labels \d.* % against \d.* % in float \(12 samples\)\./);
    assert.doesNotMatch(stderr, /labels/);
  }));

test('labels that the outputs have no scores of are said, and the file is there', () =>
  withFolder((folder) => {
    const given = job(folder, [0, 7]);
    const { status, stdout, stderr } = run('quantize', ...given, '--labels', path.join(folder, 'labels.txt'));
    assert.equal(status, 0, stderr);
    assert.match(stderr, /note: labels: Right answers are not counted\. The label is 7, .* the classes 0 to 2\./);
    assert.match(stdout.split('\n')[0], /^not worth it: /);
    assert(existsSync(path.join(folder, 'made.onnx')));
  }));

test('a file of little use is called that, with the layers that make its error', () =>
  withFolder((folder) => {
    const at = (name) => path.join(folder, name);
    writeFileSync(at('model.onnx'), colours());
    writeFileSync(at('x.npy'), npy(waves(9, 8 * 192), [8, 3, 8, 8]));
    const settings = ['weights_n_bits=2', 'weights_quantization_method=LUT_POT_QUANTIZER', 'activation_n_bits=2'];
    const { stdout, stderr } = run(
      ...['quantize', at('model.onnx'), '--data', at('x.npy'), '-o', at('made.onnx'), '--platform', 'any'],
      ...settings.flatMap((one) => ['--set', one]),
    );
    assert.match(stdout.split('\n')[0], /^(not usable|usable with care): .* dB/, stderr);
    assert.match(stdout, /much of the error: /);
  }));

test('the verdict is the same with a report and without one', () =>
  withFolder((folder) => {
    const at = (name) => path.join(folder, name);
    writeFileSync(at('model.onnx'), colours());
    writeFileSync(at('x.npy'), npy(waves(9, 80 * 192), [80, 3, 8, 8]));
    for (const bits of [8, 3]) {
      const verdict = (...more) => {
        const settings = ['--platform', 'any', '--set', `weights_n_bits=${bits}`, '--set', `activation_n_bits=${bits}`];
        const all = [at('model.onnx'), '--data', at('x.npy'), '-o', at('made.onnx'), ...settings, '--json', ...more];
        return JSON.parse(run('quantize', ...all).stdout).verdict;
      };
      const without = verdict();
      assert.match(without.reason, / 64 samples/);
      assert(without.worst_layers.length > 0);
      assert.deepEqual(without, verdict('--report', at('report.json')));
    }
  }));

test('--accuracy judges on every labelled sample that calibration has not seen, and says by what figures it is met', () =>
  withFolder((folder) => {
    const at = (name) => path.join(folder, name);
    const count = 700;
    const rows = waves(3, count * 6);
    writeFileSync(at('model.onnx'), perceptron(1));
    writeFileSync(at('rows.npy'), npy(rows, [count, 6]));
    writeFileSync(at('labels.txt'), Array.from({ length: count }, (_, k) => k % 3).join('\n'));
    const given = [at('model.onnx'), '--data', at('rows.npy'), '--labels', at('labels.txt'), '-o', at('made.onnx')];
    const { stdout, stderr } = run('quantize', ...given, '--accuracy', '50', '--platform', 'any');
    const [verdict, aim] = stdout.split('\n');
    assert.match(verdict, /On your labels .* \(572 samples\)\./, stderr);
    assert.match(aim, /^The aim of at most 50 points less is met: [\d.]+ % right answers .* on 572 samples\.$/);
  }));
