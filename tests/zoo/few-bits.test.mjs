// SPDX-License-Identifier: Apache-2.0
// 4-bit weights with 8-bit power-of-two activations, nothing tuned: at least what MCT reaches on the same models (its W4A8 runs), on
// samples that calibration has not seen.
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, test } from 'vitest';

import { tersor } from './preview.mjs';
import { sharedFolder, zooSamples } from './samples.mjs';

const peers = path.join(sharedFolder, 'anchors/peers.json');
const here = existsSync(peers);
if (!here) console.log('skipped: 4-bit weights (TERSOR_SHARED is not here)');

let folder = '';
beforeAll(() => (folder = mkdtempSync(path.join(tmpdir(), 'few-bits-'))));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

for (const id of ['cifar10-resnet20', 'mlperf-ic-resnet8', 'mlperf-kws-dscnn', 'mlperf-vww-mobilenetv1']) {
  test.skipIf(!here)(`${id}: 4-bit weights keep the SQNR of MCT's`, () => {
    const rows = JSON.parse(readFileSync(peers, 'utf8')).four_bit_weights_mct;
    const bar = rows.find((row) => row.model === id && row.config === 'W4A8').sqnr_db;
    const samples = zooSamples(sharedFolder, id, 100);
    const model = path.join(sharedFolder, 'zoo', id, 'model.onnx');
    const output = path.join(folder, 'w4.onnx');
    const settings = ['--platform', 'imx500', '--set', 'weights_n_bits=4'];
    tersor('quantize', model, '--data', samples.calibration, ...settings, '-o', output);
    const compared = JSON.parse(tersor('compare', model, output, '--data', samples.folder, '--json'));
    const sqnr = Math.min(...compared.outputs.map((one) => one.sqnr_db));
    assert.ok(sqnr >= bar, `${sqnr} dB, MCT ${bar} dB`);
  });
}
