// SPDX-License-Identifier: Apache-2.0
// The word of the verdict is that of samples that calibration has not seen: of 64 pairs of a labelled model and a platform, the word
// that `quantize` says of 32 samples and the word of 64 others agree on 60.
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, test } from 'vitest';

import { inWholeSuite } from '../suite.mjs';
import { tersor } from './preview.mjs';
import { labelledModels, sharedFolder, zooSamples } from './samples.mjs';

const here = existsSync(path.join(sharedFolder, 'zoo'));
if (!here) console.log('skipped: verdicts on the labelled models (TERSOR_SHARED is not here)');

const platforms = ['ort-cpu', 'ort-web', 'imx500', 'tflite', 'qnnpack', 'openvino', 'tensorrt', 'qnn'];
/** Bytes and speed are the same on all samples: such a file's word is at best that. */
const notWorthIt = 'not worth it';

let folder = '';
beforeAll(() => (folder = mkdtempSync(path.join(tmpdir(), 'verdict-'))));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function words(id, platform) {
  const samples = zooSamples(sharedFolder, id, 64);
  const model = path.join(sharedFolder, 'zoo', id, 'model.onnx');
  const output = path.join(folder, 'quantized.onnx');
  const settings = ['--limit', '32', '--platform', platform, '--classes', '--allow-larger-file'];
  const said = tersor('quantize', model, '--data', samples.calibration, ...settings, '--json', '-o', output);
  const found = tersor('compare', model, output, '--data', samples.folder, '--classes', '--json');
  const [{ verdict }, unseen] = [JSON.parse(said), JSON.parse(found).verdict];
  return { id, platform, said: verdict, unseen };
}

const agree = ({ said, unseen }) =>
  said.usability === unseen.usability || (said.usability === notWorthIt && unseen.usability !== 'not usable');

test.skipIf(!here)('the verdict has the word of unseen samples on 60 of 64 pairs of model and platform', () => {
  const pairs = labelledModels.flatMap((id) => platforms.map((platform) => words(id, platform)));
  const apart = pairs.filter((pair) => !agree(pair));
  const text = apart.map(
    ({ id, platform, said, unseen }) => `${id} for ${platform}: ${said.reason} / ${unseen.reason}`,
  );
  console.log(`${pairs.length - apart.length} of ${pairs.length} verdicts agree\n${text.join('\n')}`);
  assert.ok(pairs.length - apart.length >= 60, text.join('\n'));
});
