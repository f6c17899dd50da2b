// SPDX-License-Identifier: Apache-2.0
// The exact preview of the vendors' quantized models and of our own, on a hundred samples each.
import { existsSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'vitest';

import { assertPreviewed, tersor } from './preview.mjs';
import { labelledModels, sharedFolder, zooSamples } from './samples.mjs';

const root = path.resolve(import.meta.dirname, '../..');
const count = 100;

const twins = {
  'mlperf-ic-resnet8': 'int8-qdq.onnx',
  'mlperf-kws-dscnn': 'int8-qdq.onnx',
  'mlperf-vww-mobilenetv1': 'int8-qdq.onnx',
  'mlperf-ad-autoencoder': 'int8-qdq.onnx',
  'imagenet-mobilenetv1-025-224': 'uint8-qdq.onnx',
};

describe.each(labelledModels)('%s', (id) => {
  const zoo = path.join(sharedFolder, 'zoo', id);
  const here = existsSync(zoo);
  if (!here) console.log(`skipped: ${id} (TERSOR_SHARED is not here)`);
  const reference = path.join(zoo, 'model.onnx');

  test.skipIf(!here || !twins[id])("the vendor's quantized model gives the runtime's bytes", async () => {
    await assertPreviewed(path.join(zoo, twins[id]), zooSamples(sharedFolder, id, count), `${id} by its vendor`);
  });

  test.skipIf(!here)("our quantized model gives the runtime's bytes", async () => {
    const folder = path.join(root, 'build/zoo-quantized');
    mkdirSync(folder, { recursive: true });
    const samples = zooSamples(sharedFolder, id, count);
    const output = path.join(folder, `${id}.onnx`);
    tersor('quantize', reference, '--data', samples.calibration, '-o', output, '--prefer', 'integers');
    await assertPreviewed(output, samples, `${id} by Tersor`);
  });
});
