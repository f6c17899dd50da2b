// SPDX-License-Identifier: Apache-2.0
// `tersor config`, and --json on the commands that make files.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'vitest';

import { withFolder } from '../zoo/runtime.mjs';
import { run, writeJob } from './job.mjs';

test('schema and defaults agree, and the defaults are a configuration', () =>
  withFolder((folder) => {
    const schema = JSON.parse(run('config', '--schema').stdout);
    const defaults = JSON.parse(run('config', '--defaults').stdout);
    assert.deepEqual(Object.keys(schema.properties), Object.keys(defaults));
    for (const [name, value] of Object.entries(defaults)) assert.deepEqual(schema.properties[name].default, value);
    const { model, samples } = writeJob(folder);
    const file = path.join(folder, 'config.json');
    writeFileSync(file, JSON.stringify(defaults));
    const made = path.join(folder, 'out.onnx');
    assert.equal(run('quantize', model, '--data', samples, '--config', file, '-o', made).status, 0);
  }));

test('a field is explained, a wrong one named, and two questions at once are wrong usage', () => {
  const explained = run('config', '--explain', 'weights_n_bits');
  assert.equal(explained.status, 0);
  assert.match(explained.stdout, /Bits of a weight.*\n.*int\n.*2.* to 16.*\n[^]*in ORT +weight_type/);
  const wrong = run('config', '--explain', 'bits');
  assert.equal(wrong.status, 1);
  assert.match(wrong.stderr, /"bits" is not a field.*\n.*weights_n_bits/);
  assert.equal(run('config').status, 2);
  assert.equal(run('config', '--schema', '--defaults').status, 2);
});

test('the preset is the defaults of the document, a field goes over it, and another name is refused', () =>
  withFolder((folder) => {
    const preset = JSON.parse(run('config', '--defaults', '--preset', 'requirements').stdout);
    const { activation_threshold_method, weights_threshold_method, l_p_value, activation_channel_equalization } =
      preset;
    assert.deepEqual(
      { activation_threshold_method, weights_threshold_method, l_p_value, activation_channel_equalization },
      {
        activation_threshold_method: 'MSE',
        weights_threshold_method: 'MSE',
        l_p_value: 2,
        activation_channel_equalization: false,
      },
    );
    const { model, samples } = writeJob(folder);
    const recipe = path.join(folder, 'recipe.json');
    const quantize = (...args) =>
      run('quantize', model, '--data', samples, '-o', path.join(folder, 'out.onnx'), '--save-recipe', recipe, ...args);
    const used = (...args) => {
      assert.equal(quantize(...args).stderr, '');
      return JSON.parse(readFileSync(recipe, 'utf8')).quantization_config;
    };
    assert.deepEqual(used('--preset', 'requirements'), preset);
    const changed = used('--preset', 'requirements', '--set', 'z_threshold=5');
    assert.deepEqual(changed, { ...preset, z_threshold: 5 });
    const wrong = quantize('--preset', 'mine');
    assert.equal(wrong.status, 1);
    assert.match(wrong.stderr, /There is no preset "mine"[^]*requirements/);
    assert.equal(run('config', '--schema', '--preset', 'requirements').status, 2);
  }));

test('quantize, calibrate and run answer in JSON, and so do their errors', () =>
  withFolder((folder) => {
    const { model, samples } = writeJob(folder);
    const at = (name) => path.join(folder, name);
    const answer = (...args) => {
      const { status, stdout, stderr } = run(...args, '--json');
      assert.equal(stderr, '');
      assert.equal(status, 0);
      return JSON.parse(stdout);
    };
    const made = answer('quantize', model, '--data', samples, '-o', at('out.onnx'));
    assert.equal(made.samples, 3);
    assert.equal(made.in_integers + made.in_integers_with_float_result + made.in_float.length > 0, true);
    const stages = ({ cost }) => Object.keys(cost.stages);
    assert.deepEqual(stages(made), ['calibrate', 'correct', 'write', 'compare']);
    const spent = Object.values(made.cost.stages).reduce((sum, seconds) => sum + seconds, 0);
    assert(spent > 0 && spent <= made.cost.seconds, `${spent} of ${made.cost.seconds} s`);
    assert.equal(answer('calibrate', model, '--data', samples, '-o', at('s.tstats')).samples, 3);
    assert.deepEqual(stages(answer('quantize', model, '--stats', at('s.tstats'), '-o', at('out.onnx'))), ['write']);
    const outputs = answer('run', model, '--data', samples, '--output', at('outputs'));
    assert.deepEqual(outputs.folders, ['samples.0000', 'samples.0001', 'samples.0002']);
    assert.deepEqual(outputs.files, ['y']);

    writeFileSync(samples, '1,2,3\n');
    for (const args of [
      ['quantize', model, '--data', samples, '-o', at('out.onnx')],
      ['calibrate', model, '--data', samples, '-o', at('s.tstats')],
      ['run', model, '--data', samples, '--output', at('outputs')],
    ]) {
      const { status, stdout, stderr } = run(...args, '--json');
      assert.equal(status, 1);
      assert.equal(stdout, '');
      const error = JSON.parse(stderr);
      assert.deepEqual(Object.keys(error), ['code', 'message', 'place', 'hint']);
      assert.equal(error.code, 'invalid_samples');
    }
  }));
