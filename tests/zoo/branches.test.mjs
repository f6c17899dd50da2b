// SPDX-License-Identifier: Apache-2.0
// A model whose work lies in the branches of an If: the branch that all samples take runs in integers, and the file gives in ONNX Runtime
// what the preview gives; the other branch gives what the float model gives, but for weights of 8 bits.
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import * as ort from 'onnxruntime-node';
import { test } from 'vitest';

import { exactSums } from '../cpu.mjs';
import { tersor } from './preview.mjs';
import { readNpy, sharedFolder } from './samples.mjs';

const shared = path.join(sharedFolder, 'unsolved/22-weights-inside-if');
const here = existsSync(shared);
if (!here) console.log('skipped: branches of an If (TERSOR_SHARED is not here)');

/** The arrays of a .npz file that is not compressed, by name. */
function readNpz(bytes) {
  const arrays = {};
  for (let at = 0; bytes.readUInt32LE(at) === 0x04034b50;) {
    const [name, extra] = [bytes.readUInt16LE(at + 26), bytes.readUInt16LE(at + 28)];
    const start = at + 30 + name + extra;
    // Sizes of 32 bits may stand in the extra field, as 64 bits.
    let size = bytes.readUInt32LE(at + 18);
    if (size === 0xffffffff) size = Number(bytes.readBigUInt64LE(at + 30 + name + 12));
    const file = bytes.toString('latin1', at + 30, at + 30 + name);
    arrays[file.replace(/\.npy$/, '')] = readNpy(bytes.subarray(start, start + size));
    at = start + size;
  }
  return arrays;
}

async function outputsOf(file, samples) {
  const session = await ort.InferenceSession.create(readFileSync(file), {
    intraOpNumThreads: 1,
    logSeverityLevel: 3,
    ...exactSums,
  });
  const types = { BigInt64Array: 'int64', Float32Array: 'float32', Int32Array: 'int32' };
  const results = [];
  for (const sample of samples) {
    const feed = {};
    for (const [name, { data, shape }] of Object.entries(sample))
      feed[name] = new ort.Tensor(types[data.constructor.name], data, shape);
    results.push((await session.run(feed))[session.outputNames[0]].data);
  }
  await session.release();
  return results;
}

function decibels(exact, value) {
  let [signal, noise] = [0, 1e-30];
  exact.forEach((row, i) => row.forEach((x, k) => ((signal += x * x), (noise += (x - value[i][k]) ** 2))));
  return 10 * Math.log10(signal / noise);
}

test.skipIf(!here)('the taken branch is quantized and gives what the preview gives, the other stays', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'branches-'));
  try {
    const [model, data] = [path.join(shared, 'model.onnx'), path.join(shared, 'data')];
    const [output, report, runs] = ['q.onnx', 'report.json', 'runs'].map((name) => path.join(folder, name));
    tersor('quantize', model, '--data', data, '--prefer', 'integers', '--report', report, '-o', output);
    const { diagnostics, coverage } = JSON.parse(readFileSync(report, 'utf8'));
    const note = diagnostics.find((one) => one.code === 'taken_branch').message;
    assert.match(note, /All samples take the (then|else)_branch/);
    assert.ok(coverage.integer_core_nodes > 0);
    tersor('run', output, '--data', data, '--output', runs);
    const samples = readdirSync(data)
      .sort()
      .map((name) => readNpz(readFileSync(path.join(data, name))));
    const theirs = await outputsOf(output, samples);
    const ours = readdirSync(runs)
      .sort()
      .map((name) => {
        const [first] = readdirSync(path.join(runs, name)).sort();
        return readNpy(readFileSync(path.join(runs, name, first))).data;
      });
    assert.equal(ours.length, theirs.length);
    assert.ok(decibels(ours, theirs) > 60, `${decibels(ours, theirs)} dB from the preview`);
    assert.ok(decibels(await outputsOf(model, samples), theirs) > 25);
    const elsewhere = samples.map((sample) => {
      const other = { ...sample };
      for (const [name, { data: values, shape }] of Object.entries(sample))
        if (values instanceof BigInt64Array)
          other[name] = { data: BigInt64Array.of(values[0] === 8000n ? 16000n : 8000n), shape };
      return other;
    });
    assert.ok(decibels(await outputsOf(model, elsewhere), await outputsOf(output, elsewhere)) > 30);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
