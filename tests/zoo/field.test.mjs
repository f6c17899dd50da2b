// SPDX-License-Identifier: Apache-2.0
// The small models of the field folder, rebuilt from what people reported: each gives a file that ONNX Runtime opens, or is refused with a
// sentence that says where, on platforms of every placement.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'vitest';

import { run } from '../cli/job.mjs';
import { withFolder } from './runtime.mjs';
import { sharedFolder } from './samples.mjs';

const ort = await import('onnxruntime-node');
const field = path.join(sharedFolder, 'field');
const here = existsSync(field);
if (!here) console.log('skipped: field cases (TERSOR_SHARED is not here)');

const platforms = ['ort-cpu', 'ort-cpu-s8s8', 'qnn', 'tflite', 'imx500', 'weight-only-int8'];

/** What is refused, with what the sentence must say. */
const refused = {
  '12b-ort-optimized-file-message': /FusedConv[^]*optimizer/,
  '16-maxpool-without-first-output': /first output of MaxPool/,
  '17-batch-zero-hint': /no elements/,
};

const samplesOf = (folder) =>
  ['model_data', 'model.npy', 'pictures', 'data']
    .map((name) => path.join(folder, name))
    .find((name) => existsSync(name));

async function assertOpens(file) {
  const session = await ort.InferenceSession.create(readFileSync(file), { intraOpNumThreads: 1, logSeverityLevel: 4 });
  await session.release();
}

describe('field cases', () => {
  const cases = here ? readdirSync(field).filter((name) => existsSync(path.join(field, name, 'model.onnx'))) : [];
  for (const name of cases) {
    const folder = path.join(field, name);
    const samples = samplesOf(folder);
    if (!samples) continue;
    test(name, () =>
      withFolder(async (work) => {
        for (const platform of platforms) {
          const output = path.join(work, `${platform}.onnx`);
          const report = path.join(work, 'report.json');
          const args = ['--data', samples, '--platform', platform, '-o', output, '--report', report];
          const { status, signal, stderr } = run('quantize', path.join(folder, 'model.onnx'), ...args);
          assert.equal(signal, null, `${platform}: ${stderr}`);
          assert.doesNotMatch(stderr, /bug in Tersor|internal/, platform);
          if (refused[name]) {
            assert.equal(status, 1, platform);
            assert.match(stderr, refused[name], platform);
            continue;
          }
          assert.equal(status, 0, `${platform}: ${stderr}`);
          await assertOpens(output);
        }
      }),
    );
  }
});
