// SPDX-License-Identifier: Apache-2.0
// Every file that a model may be shipped as: ONNX Runtime opens it, and is as near to the float model as its row says.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { test } from 'vitest';

import { exactSums } from '../cpu.mjs';
import { outputsOf, tersor, withFolder } from './runtime.mjs';
import { sharedFolder, zooSamples } from './samples.mjs';

const here = existsSync(path.join(sharedFolder, 'zoo'));
if (!here) console.log('skipped: variants (TERSOR_SHARED is not here)');

const given = 32; // every second one calibrates, the others judge

/** Signal to noise over the first output of the samples, in dB. */
async function decibels(file, wanted, inputs) {
  let [signal, noise] = [0, 0];
  for (const [k, input] of inputs.entries()) {
    const [got] = Object.values(await outputsOf(file, input, { options: exactSums }));
    wanted[k].forEach((x, at) => ((signal += x * x), (noise += (x - got.data[at]) ** 2)));
  }
  return 10 * Math.log10(signal / noise);
}

const models = ['cifar10-resnet20', 'mlperf-kws-dscnn'];

test.skipIf(!here).each(models)('%s: each row of variants.json is what its file gives', (id) =>
  withFolder(async (folder) => {
    const samples = zooSamples(sharedFolder, id, given);
    const model = path.join(sharedFolder, 'zoo', id, 'model.onnx');
    tersor('variants', model, '--data', samples.folder, '-o', folder);
    const { variants } = JSON.parse(readFileSync(path.join(folder, 'variants.json'), 'utf8'));
    assert.deepEqual(
      variants.map(({ dtype }) => dtype),
      ['fp32', 'fp16', 'q8', 'int8', 'uint8', 'q4', 'q4_int8', 'q4f16'],
    );
    const others = samples.list.filter((_, k) => k % 2 === 1);
    const inputs = others.map(({ data, shape }) => ({ input: { type: 'float32', dims: shape, data } }));
    const wanted = [];
    for (const input of inputs) wanted.push(Object.values(await outputsOf(model, input))[0].data);
    for (const { dtype, file, size_bytes, comparison, held_aside, verdict } of variants.slice(1)) {
      const there = path.join(folder, file);
      assert.equal(statSync(there).size, size_bytes);
      const found = await decibels(there, wanted, inputs);
      const row = comparison.output_sqnr_db;
      assert.equal(comparison.samples, others.length);
      assert.equal(held_aside, true);
      assert.match(verdict.usability, /^(usable|usable with care|not worth it|not usable)$/);
      // float16 is computed in float32 there, and integers as the row says
      const isTrue = dtype === 'fp16' ? found > row - 0.5 : Math.abs(found - row) < 0.5;
      assert.ok(isTrue, `${dtype}: ${found} dB, its row ${row}`);
    }
    const bytes = Object.fromEntries(variants.map(({ dtype, size_bytes }) => [dtype, size_bytes]));
    assert.ok(bytes.fp16 < 0.56 * bytes.fp32 && bytes.q4f16 < bytes.q4 && bytes.q4 < bytes.q8);
  }),
);
