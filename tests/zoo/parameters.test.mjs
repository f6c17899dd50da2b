// SPDX-License-Identifier: Apache-2.0
// Each of the 19 parameters of the requirement document, changed alone on ResNet20: the file differs where it must, and the recipe
// says what was changed.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, test } from 'vitest';

import { makeSamples, sharedFolder } from './samples.mjs';

const program = path.resolve(import.meta.dirname, '../../build/native/bin/tersor');
const model = path.join(sharedFolder, 'zoo/cifar10-resnet20/model.onnx');
const here = existsSync(model);
if (!here) console.log('skipped: parameters on ResNet20 (TERSOR_SHARED is not here)');

/** Enough for channels to be equalized. */
const sampleCount = 32;
let folder, samples;

const run = (...args) => spawnSync(program, args, { encoding: 'utf8' });
const { properties } = JSON.parse(run('config', '--schema').stdout);

/** The platform (ort-cpu where none is named) and the value that is set; `equal`: why the file must be the same on this network. */
const changes = {
  activation_threshold_method: { to: 'MSE' },
  weights_threshold_method: { to: 'MSE' },
  activation_quantization_method: { to: 'SYMMETRIC' },
  weights_quantization_method: { to: 'POWER_OF_TWO' },
  activation_n_bits: { platform: 'qnn', to: 16 },
  weights_n_bits: { platform: 'imx500', to: 4 },
  relu_unbound_correction: { to: true, equal: 'no Relu of it has a bound' },
  weights_bias_correction: { to: false },
  weights_per_channel_threshold: { to: false },
  input_scaling: { platform: 'imx500', to: true },
  enable_weights_quantization: { to: false },
  enable_activation_quantization: { to: false },
  shift_negative_activation_correction: { to: true, equal: 'only Relu stands between its layers, nothing is negative' },
  activation_channel_equalization: { to: false },
  z_threshold: { to: 4 },
  min_threshold: { to: 1 },
  l_p_value: { to: 6 },
  shift_negative_ratio: { to: 0.5, equal: 'nothing is shifted' },
  shift_negative_threshold_recalculation: { to: true, equal: 'nothing is shifted' },
};

/** The file without the digest of its recipe, which every setting changes, and the recipe. */
function quantize(platform, ...sets) {
  const made = path.join(folder, 'made.onnx');
  const recipe = path.join(folder, 'recipe.json');
  const given = sets.flatMap((one) => ['--set', one]);
  const result = run(
    'quantize',
    model,
    '--data',
    samples,
    '--platform',
    platform,
    '--save-recipe',
    recipe,
    '-o',
    made,
    ...given,
  );
  if (result.status !== 0) return { refused: result.stderr };
  const text = readFileSync(made, 'latin1').replace(/(tersor\.recipe_sha256[^]{2})[0-9a-f]{64}/, '$1');
  return { text, config: JSON.parse(readFileSync(recipe, 'utf8')).quantization_config };
}

describe.skipIf(!here)('ResNet20', () => {
  const plain = new Map();

  beforeAll(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'tersor-parameters-'));
    samples = path.join(folder, 'samples');
    mkdirSync(samples);
    const all = path.join(makeSamples(sharedFolder, 'cifar10-resnet20'), 'calib');
    for (const name of readdirSync(all).sort().slice(0, sampleCount))
      copyFileSync(path.join(all, name), path.join(samples, name));
    for (const platform of ['ort-cpu', 'imx500', 'qnn']) plain.set(platform, quantize(platform));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test('the same settings give the same file', () => {
    assert.equal(quantize('ort-cpu').text, plain.get('ort-cpu').text);
  });

  test('a setting that cannot matter changes the recipe alone', () => {
    const made = quantize('ort-cpu', 'split_scales=false'); // there is no Swish
    assert.equal(made.config.split_scales, false);
    assert.equal(made.text, plain.get('ort-cpu').text);
  });

  test('an operator set that stands for nothing leaves its operators in float; its own list changes nothing', () => {
    const made = quantize('ort-cpu', 'custom_tpc_opset_to_layer={"Add": []}');
    assert.deepEqual(made.config.custom_tpc_opset_to_layer, { Add: [] });
    assert.notEqual(made.text, plain.get('ort-cpu').text);
    const same = quantize('ort-cpu', 'custom_tpc_opset_to_layer={"Add": ["Add"]}');
    assert.equal(same.text, plain.get('ort-cpu').text);
  });

  test('the parameters are the first 19 of the configuration', () => {
    assert.deepEqual(Object.keys(changes), Object.keys(properties).slice(0, 19));
  });

  test.each(Object.entries(changes))('%s', (field, { platform = 'ort-cpu', to, equal }) => {
    const made = quantize(platform, `${field}=${to}`);
    if ('const' in properties[field]) {
      assert.match(made.refused, new RegExp(`${field} is .*, but`));
      return;
    }
    assert.equal(made.refused, undefined);
    const before = plain.get(platform);
    assert.deepEqual(made.config, { ...before.config, [field]: to });
    assert.equal(made.text === before.text, equal !== undefined, equal ?? 'the file is the same');
  });
});
