// SPDX-License-Identifier: Apache-2.0
// What the system refuses: threads, memory.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'vitest';

import { withFolder } from '../zoo/runtime.mjs';
import { run, shell, writeJob } from './job.mjs';

test('where threads cannot be made, those that are there do the work', () =>
  withFolder((folder) => {
    const rows = Array.from({ length: 128 }, (_, k) => [k, -k, k / 3, 1].join(','));
    const { model, samples } = writeJob(folder, rows);
    const file = (name) => path.join(folder, name);
    assert.equal(run('quantize', model, '--data', samples, '-o', file('all.onnx')).status, 0);
    // Stacks of 64 threads alone take more than this.
    const command = 'ulimit -v 300000; "$0" quantize "$1" --data "$2" -o "$3" --threads 64';
    const { status, stderr } = shell(command, model, samples, file('few.onnx'));
    assert.equal(status, 0, stderr);
    assert(readFileSync(file('few.onnx')).equals(readFileSync(file('all.onnx'))));
  }));
