// SPDX-License-Identifier: Apache-2.0
// The word of the verdict is that of samples that calibration has not seen: of 64 pairs of a labelled model and a platform, the word
// that `quantize` says and the word of 64 samples that it was not given agree on 60.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, test } from 'vitest';

import { tersor } from './preview.mjs';
import { labelledModels, npyBytes, sharedFolder, zooSamples } from './samples.mjs';

const here = existsSync(path.join(sharedFolder, 'zoo'));
if (!here) console.log('skipped: verdicts on the labelled models (TERSOR_SHARED is not here)');

const platforms = ['ort-cpu', 'ort-web', 'imx500', 'tflite', 'qnnpack', 'openvino', 'tensorrt', 'qnn'];
/** Bytes and speed are the same on all samples: such a file's word is at best that. */
const notWorthIt = 'not worth it';

let folder = '';
beforeAll(() => (folder = mkdtempSync(path.join(tmpdir(), 'verdict-'))));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The samples after the first 64, which stay unseen: 32 calibrate, 64 are compared. */
function given(id) {
  const data = path.join(folder, id);
  if (existsSync(data)) return data;
  mkdirSync(data);
  zooSamples(sharedFolder, id, 160)
    .list.slice(64)
    .forEach((sample, i) => writeFileSync(path.join(data, `${i + 100}.npy`), npyBytes(sample.data, sample.shape)));
  return data;
}

function words(id, platform) {
  const model = path.join(sharedFolder, 'zoo', id, 'model.onnx');
  const output = path.join(folder, 'quantized.onnx');
  const settings = ['--limit', '32', '--platform', platform, '--classes', '--allow-larger-file'];
  const said = tersor('quantize', model, '--data', given(id), ...settings, '--json', '-o', output);
  const others = zooSamples(sharedFolder, id, 64).folder;
  const found = tersor('compare', model, output, '--data', others, '--classes', '--json');
  const [{ verdict }, unseen] = [JSON.parse(said), JSON.parse(found).verdict];
  return { id, platform, said: verdict, unseen };
}

const agree = ({ said, unseen }) =>
  said.usability === unseen.usability || (said.usability === notWorthIt && unseen.usability !== 'not usable');

test.skipIf(!here || process.env.TERSOR_SUITE === 'short')(
  'the verdict has the word of unseen samples on 60 of 64 pairs of model and platform',
  () => {
    const pairs = labelledModels.flatMap((id) => platforms.map((platform) => words(id, platform)));
    const apart = pairs.filter((pair) => !agree(pair));
    const text = apart.map(
      ({ id, platform, said, unseen }) => `${id} for ${platform}: ${said.reason} / ${unseen.reason}`,
    );
    console.log(`${pairs.length - apart.length} of ${pairs.length} verdicts agree\n${text.join('\n')}`);
    assert.ok(pairs.length - apart.length >= 60, text.join('\n'));
  },
);
