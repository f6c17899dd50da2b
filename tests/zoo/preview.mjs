// SPDX-License-Identifier: Apache-2.0
// The exact preview against the real runtimes: outputs of `tersor run` equal onnxruntime-node's (x64) and onnxruntime-web's (wasm) byte for
// byte. x64 is asserted on CPUs with VNNI only: elsewhere the runtime saturates.
//
// Where operators stay float in the runtime and are sums (the preview says which), the runtime rounds in ways of its own: there
// nearly all values are asserted, or, after such an operator at the very end, all values to a few units of float32.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import * as ortNode from 'onnxruntime-node';

import { hasVnni } from '../cpu.mjs';
import { readNpy } from './samples.mjs';

export const program = path.resolve(import.meta.dirname, '../../build/native/bin/tersor');
/** Where a runtime's own float rounding decides: the share of values that may differ, or how far all may, as a part of the range. */
const inexactShare = 0.05;
const inexactDistance = 1e-5;

export const tersor = (...args) => execFileSync(program, args, { encoding: 'utf8', maxBuffer: 1 << 28 });

/** The first output of each sample. */
function ours(model, data, runtime) {
  const folder = mkdtempSync(path.join(tmpdir(), 'tersor-exact-'));
  try {
    tersor('run', model, '--data', data, '--output', folder, '--runtime', runtime);
    return readdirSync(folder)
      .sort()
      .map((sample) => {
        const [first] = readdirSync(path.join(folder, sample)).sort();
        return readNpy(readFileSync(path.join(folder, sample, first))).data;
      });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function theirs(ort, model, samples) {
  const session = await ort.InferenceSession.create(readFileSync(model), {
    intraOpNumThreads: 1,
    logSeverityLevel: 3,
    executionProviders: [ort === ortNode ? 'cpu' : 'wasm'],
  });
  const results = [];
  for (const sample of samples) {
    const feed = { [session.inputNames[0]]: new ort.Tensor('float32', sample.data, sample.shape) };
    results.push((await session.run(feed))[session.outputNames[0]].data);
  }
  await session.release();
  return results;
}

/** Operators whose float sums the runtime takes in its own order; the model is compared with itself, computed in float. */
function floatSums(model, data, runtime) {
  const text = tersor('compare', model, model, '--data', data, '--limit', '1', '--runtime', runtime, '--json');
  return JSON.parse(text).stays_float.filter((node) => !node.exact);
}

function assertEqual(got, wanted, inexact, what, distance) {
  assert.equal(got.length, wanted.length, `${what}: number of samples`);
  let differing = 0;
  let values = 0;
  let largest = 0;
  let range = 0;
  wanted.forEach((output, i) =>
    output.forEach((value, k) => {
      ++values;
      range = Math.max(range, Math.abs(Number(value)));
      if (Object.is(got[i][k], value)) return;
      ++differing;
      largest = Math.max(largest, Math.abs(Number(got[i][k]) - Number(value)));
    }),
  );
  const difference = `${what}: ${differing} of ${values} values differ, by ${largest} of ${range} at most`;
  if (inexact.length === 0) return assert.equal(differing, 0, difference);
  console.log(`${difference}; float in ${inexact.map((node) => `${node.name} (${node.op})`).join(', ')}`);
  const close = largest <= distance * range;
  assert.ok(close || differing <= values * inexactShare, difference);
}

/**
 * The preview of `model` against the runtimes on the samples of `zooSamples`; `distance`: how far values may differ, as a part of the
 * range, where the runtime's own float rounding decides.
 */
export async function assertPreviewed(
  model,
  samples,
  what,
  { runtimes = ['x64', 'wasm'], distance = inexactDistance } = {},
) {
  for (const runtime of runtimes) {
    const ort = runtime === 'x64' ? ortNode : await import('onnxruntime-web/wasm');
    if (runtime === 'wasm') ort.env.wasm.numThreads = 1;
    if (runtime === 'x64' && !hasVnni) {
      console.log(`skipped: ${what}, x64 (this CPU has no VNNI)`);
      continue;
    }
    const inexact = floatSums(model, samples.folder, runtime);
    const wanted = await theirs(ort, model, samples.list);
    assertEqual(ours(model, samples.folder, runtime), wanted, inexact, `${what}, ${runtime}`, distance);
  }
}
