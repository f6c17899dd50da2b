// SPDX-License-Identifier: Apache-2.0
// The scripts of docs/scale: the bytes of one process.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { test } from 'vitest';

import { withFolder } from '../zoo/runtime.mjs';
import { program, run, writeJob } from './job.mjs';

const scripts = path.resolve(import.meta.dirname, '../../docs/scale');
const rows = Array.from({ length: 11 }, (_, k) => [0, 1, 2, 3].map((j) => ((k * 7 + j * 5) % 13) - 6).join(','));
const env = { ...process.env, TERSOR: program };
const hasParallel = /GNU/.test(spawnSync('parallel', ['--version'], { encoding: 'utf8' }).stdout ?? '');

/** What one process makes of a model and samples. */
function alone(folder) {
  const { model, samples } = writeJob(folder, rows);
  const out = path.join(folder, 'alone.onnx');
  const { status, stderr } = run('quantize', model, '--data', samples, '-o', out);
  assert.equal(status, 0, stderr);
  return { model, samples, expected: readFileSync(out) };
}

test('the tasks of a Slurm array', () =>
  withFolder((folder) => {
    const { model, samples, expected } = alone(folder);
    const parts = path.join(folder, 'parts');
    for (const task of [3, 1, 2]) {
      const more = { SLURM_ARRAY_TASK_ID: String(task), SLURM_ARRAY_TASK_COUNT: '3' };
      const { status, stderr } = spawnSync('sh', [path.join(scripts, 'slurm.sh'), model, samples, parts], {
        encoding: 'utf8',
        env: { ...env, ...more },
      });
      assert.equal(status, 0, stderr);
    }
    const out = path.join(folder, 'out.onnx');
    const files = readdirSync(parts).map((one) => path.join(parts, one));
    assert.equal(files.length, 3);
    const { status, stderr } = run('quantize', model, '--stats', ...files, '--data', samples, '-o', out);
    assert.equal(status, 0, stderr);
    assert(readFileSync(out).equals(expected));
  }));

test.skipIf(!hasParallel)('GNU parallel', () =>
  withFolder((folder) => {
    const { model, samples, expected } = alone(folder);
    const out = path.join(folder, 'out.onnx');
    const cwd = path.join(folder, 'work');
    mkdirSync(cwd);
    const { status, stderr } = spawnSync('sh', [path.join(scripts, 'parallel.sh'), model, samples, out, '4', '-j2'], {
      encoding: 'utf8',
      env,
      cwd,
    });
    assert.equal(status, 0, stderr);
    assert(readFileSync(out).equals(expected));
    assert.deepEqual(readdirSync(cwd), []);
  }),
);
