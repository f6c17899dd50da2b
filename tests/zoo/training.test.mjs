// SPDX-License-Identifier: Apache-2.0
// Training on real models: outputs that no gradient has seen are nearer to the float model's, ONNX Runtime runs the file as the preview
// does, a checkpoint goes on to the same bytes, and a recipe makes the file again.
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, test } from 'vitest';

import { run } from '../cli/job.mjs';
import { assertPreviewed } from './preview.mjs';
import { tersor } from './runtime.mjs';
import { sharedFolder, zooSamples } from './samples.mjs';

const here = existsSync(path.join(sharedFolder, 'zoo'));
if (!here) console.log('skipped: training (TERSOR_SHARED is not here)');
const modelOf = (name) => path.join(sharedFolder, 'zoo', name, 'model.onnx');

let folder = '';
beforeAll(() => (folder = mkdtempSync(path.join(tmpdir(), 'training-'))));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const bits = ['--platform', 'any', '--set', 'weights_n_bits=3'];

function tuned(name, ...options) {
  const output = path.join(folder, `${name}.onnx`);
  const { calibration } = zooSamples(sharedFolder, name, 64);
  const text = tersor('tune', modelOf(name), '--data', calibration, ...bits, ...options, '--json', '-o', output);
  return { output, bytes: readFileSync(output), ...JSON.parse(text) };
}

describe.skipIf(!here)('training', () => {
  test('with 3 bits the outputs of DS-CNN are nearer to those of the float model on samples held aside', async () => {
    const { output, training } = tuned('mlperf-kws-dscnn', '--epochs', '20');
    assert.ok(training.taken);
    assert.ok(training.after_db > training.before_db + 0.5, JSON.stringify(training));
    await assertPreviewed(output, zooSamples(sharedFolder, 'mlperf-kws-dscnn', 4), 'weights trained with 3 bits');
  });

  test('a checkpoint goes on to the same bytes, and the recipe makes them again', () => {
    const state = path.join(folder, 'state.bin'),
      recipe = path.join(folder, 'recipe.json');
    const whole = tuned('mlperf-ic-resnet8', '--epochs', '2', '--save-recipe', recipe);
    tuned('mlperf-ic-resnet8', '--epochs', '2', '--checkpoint', state, '--threads', '1');
    assert.ok(tuned('mlperf-ic-resnet8', '--epochs', '2', '--resume', state).bytes.equals(whole.bytes));
    const { calibration } = zooSamples(sharedFolder, 'mlperf-ic-resnet8', 64);
    const again = path.join(folder, 'again.onnx');
    tersor('quantize', modelOf('mlperf-ic-resnet8'), '--data', calibration, '--recipe', recipe, '-o', again);
    assert.ok(readFileSync(again).equals(whole.bytes));
    const { status, stderr } = run(
      'tune',
      modelOf('mlperf-ic-resnet8'),
      '--data',
      calibration,
      ...bits,
      '--epochs',
      '3',
      '--resume',
      state,
      '-o',
      again,
    );
    assert.notEqual(status, 0);
    assert.match(stderr, /another training/u);
  });
});
