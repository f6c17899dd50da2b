// SPDX-License-Identifier: Apache-2.0
// What the command line says of a slip.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { test } from 'vitest';

import { withFolder } from '../zoo/runtime.mjs';
import { run, writeJob } from './job.mjs';

test('an empty value is wrong usage', () =>
  withFolder(async (folder) => {
    const { model, samples } = writeJob(folder);
    const out = path.join(folder, 'out.onnx');
    const quantize = (...args) => run('quantize', model, '--data', samples, '-o', out, ...args);
    for (const option of ['--config', '--platform', '--recipe', '--report', '--save-recipe', '--preset', '--stats']) {
      for (const args of [[option, ''], [`${option}=`]]) {
        const { status, stderr } = quantize(...args);
        assert.equal(status, 2, args[0]);
        assert(stderr.startsWith(`${option}: `), stderr);
      }
    }
    assert.match(run('evaluate', model, '--data', samples, '--labels', '').stderr, /--labels: needs a value/);
    assert.match(run('platforms', '').stderr, /NAME: needs a value/);
    assert.match(run('config', '--explain', '').stderr, /--explain: needs a value/);
    assert(!existsSync(out));
  }));
