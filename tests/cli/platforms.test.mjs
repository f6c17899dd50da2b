// SPDX-License-Identifier: Apache-2.0
// tersor platforms: the list, the effective configuration of one, and files of one's own.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'vitest';

import { withFolder } from '../zoo/runtime.mjs';

const program = path.resolve(import.meta.dirname, '../../build/native/bin/tersor');
const run = (...args) => spawnSync(program, ['platforms', ...args], { encoding: 'utf8' });

test('the list names every platform, and tables by their own number', () => {
  const all = JSON.parse(run('--json').stdout);
  const labels = all.map((one) => `${one.name}@v${one.version}`);
  for (const name of ['imx500@v4', 'ort-cpu@v1', 'qnnpack@v1', 'tflite@v1', 'weight-only-int4@v1'])
    assert.ok(labels.includes(name), name);
  assert.equal(all.find((one) => one.name === 'imx500' && one.version === 3).table, '4.1');
  assert.match(run().stdout, /imx500@v3 \(table 4\.1\)/);
});

test('the effective configuration says what each operator set gets, and what a setting leaves', () => {
  const of = (set, ...args) => {
    const answer = JSON.parse(run(...args, '--json').stdout);
    return answer.effective.find((one) => one.operator_set === set);
  };
  const conv = of('Conv', 'imx500@4.1');
  assert.deepEqual(conv.operators, ['Conv']);
  assert.equal(conv.candidates, 6);
  assert.equal(conv.config.attr_weights_configs_mapping.kernel_attr.weights_n_bits, 8);
  assert.equal(of('Conv', 'imx500@4.1', '--set', 'weights_n_bits=2').candidates, 2);
  const refused = run('imx500@4.1', '--set', 'weights_n_bits=3');
  assert.equal(refused.status, 1);
  assert.match(refused.stderr, /operator sets? "Conv".* with weights_n_bits = 3; it can be 8, 4, 2/);
});

test('what --json prints of a platform is a platform file', () =>
  withFolder(async (folder) => {
    const file = path.join(folder, 'mine.json');
    for (const name of ['imx500', 'ort-cpu', 'any', 'weight-only-int4']) {
      const printed = run(name, '--json').stdout;
      writeFileSync(file, printed);
      assert.equal(run(file, '--json').stdout, printed, name);
    }
  }));

test('a capabilities file of the toolkit is read, and a wrong one told with its path', () =>
  withFolder(async (folder) => {
    const file = path.join(folder, 'tpc.json');
    const op = { activation_quantization_method: 0, activation_n_bits: 8, signedness: 0 };
    const options = { quantization_configurations: [op], base_config: null };
    const tpc = { default_qco: options, operator_set: [{ name: 'Conv', qc_options: options, type: 'OperatorsSet' }] };
    writeFileSync(file, JSON.stringify({ ...tpc, name: 'mine', SCHEMA_VERSION: 1 }));
    assert.match(run(file).stdout, /^mine@v1/);
    writeFileSync(file, JSON.stringify({ ...tpc, speed: 1, SCHEMA_VERSION: 2 }));
    assert.match(run(file).stderr, /There is no field "speed" here/);
  }));
