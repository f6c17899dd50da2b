// SPDX-License-Identifier: Apache-2.0
// Every platform on every labelled model: a file that onnxruntime-node opens and runs as the preview says, or a refusal in a sentence.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, test } from 'vitest';

import { assertPreviewed, program, tersor } from './preview.mjs';
import { labelledModels, sharedFolder, zooSamples } from './samples.mjs';

const here = existsSync(path.join(sharedFolder, 'zoo'));
if (!here) console.log('skipped: platforms on the labelled models (TERSOR_SHARED is not here)');

const platforms = existsSync(program)
  ? JSON.parse(execFileSync(program, ['platforms', '--json'], { encoding: 'utf8' })).map(
      (one) => `${one.name}@v${one.version}`,
    )
  : [];

/**
 * Files for other hardware run mostly in float here: a code that falls to the other side early may move what follows so
 * far. MobileNet has 14 dB there: ONNX Runtime with and without its optimizations differs from itself by 0.08 in an
 * answer.
 */
const roundedApart = 0.15;

let folder = '';
beforeAll(() => (folder = mkdtempSync(path.join(tmpdir(), 'platforms-'))));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe.each(labelledModels)('%s', (id) => {
  test.skipIf(!here).each(platforms)('for %s', async (platform) => {
    const samples = zooSamples(sharedFolder, id, 3);
    const output = path.join(folder, 'quantized.onnx');
    const model = path.join(sharedFolder, 'zoo', id, 'model.onnx');
    try {
      tersor('quantize', model, '--data', samples.calibration, '--limit', '4', '--platform', platform, '-o', output);
    } catch (error) {
      assert.equal(error.status, 1, error.stderr);
      assert.match(error.stderr, /^error: .+\.$/m);
      return;
    }
    await assertPreviewed(output, samples, `${id} for ${platform}`, { runtimes: ['x64'], distance: roundedApart });
  });
});
