// SPDX-License-Identifier: Apache-2.0
// A model of a fixed batch of N is used with samples of one row as one of batch 1 is: the same counts, answers, outputs and figures.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'vitest';

import { npy } from '../browser/files.mjs';
import { perceptron, waves } from '../zoo/protobuf.mjs';
import { withFolder } from '../zoo/runtime.mjs';
import { run } from './job.mjs';

function done(...args) {
  const { status, stdout, stderr } = run(...args);
  assert.equal(status, 0, stderr);
  return stdout;
}

test('evaluate, run, compare and quantize --report count rows, the last and incomplete batch among them', () =>
  withFolder((folder) => {
    const at = (name) => path.join(folder, name);
    writeFileSync(at('rows.npy'), npy(waves(3, 6 * 10), [10, 6]));
    writeFileSync(at('labels.txt'), Array.from({ length: 10 }, (_, k) => k % 3).join('\n'));
    const [one, four] = [1, 4].map((batch) => {
      const model = at(`${batch}.onnx`);
      const made = at(`${batch}.int8.onnx`);
      writeFileSync(model, perceptron(batch));
      const data = ['--data', at('rows.npy')];
      const labels = ['--labels', at('labels.txt')];
      done('quantize', model, ...data, '-o', made, '--report', at(`${batch}.json`));
      const { comparison, samples } = JSON.parse(readFileSync(at(`${batch}.json`), 'utf8'));
      done('run', model, ...data, '--output', at(`out-${batch}`));
      return {
        evaluation: JSON.parse(done('evaluate', made, ...data, ...labels, '--reference', model, '--json')),
        comparison: [comparison.samples, comparison.output_sqnr_db, comparison.answers],
        samples,
        outputs: readdirSync(at(`out-${batch}`))
          .sort()
          .map((name) => [name, readFileSync(path.join(at(`out-${batch}`), name, 'y.npy'), 'latin1')]),
      };
    });
    assert.equal(one.evaluation.count, 10);
    assert.deepEqual(four, one);
  }));
