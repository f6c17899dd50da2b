// SPDX-License-Identifier: Apache-2.0
// The program and ONNX Runtime side by side, for tests that rewrite models.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

// Lets the runtime open operator sets newer than its newest finished one.
process.env.ALLOW_RELEASED_ONNX_OPSET_ONLY = '0';
const ort = await import('onnxruntime-node');

const program = path.resolve(import.meta.dirname, '../../build/native/bin/tersor');

export const tersor = (...args) => execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });

/** What `use` makes of a folder that is there for it alone. */
export async function withFolder(use) {
  const folder = mkdtempSync(path.join(tmpdir(), 'tersor-'));
  try {
    return await use(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The model as `tersor convert` writes it. */
export function converted(model, folder, ...options) {
  const output = path.join(folder, 'converted.onnx');
  rmSync(output, { force: true });
  tersor('convert', model, '-o', output, ...options);
  assert(existsSync(output));
  return output;
}

/**
 * Outputs by name, in the newest runtime or in that given; inputs are {name: {type, dims, data}}. Without the runtime's own optimizations (`optimize` false) equal graphs give
 * equal bits, whatever it would have fused.
 */
export async function outputsOf(model, inputs, { optimize = true, runtime = ort, options = {} } = {}) {
  const session = await runtime.InferenceSession.create(readFileSync(model), {
    graphOptimizationLevel: optimize ? 'all' : 'disabled',
    intraOpNumThreads: 1,
    logSeverityLevel: 4,
    ...options,
  });
  try {
    const feed = {};
    for (const name of session.inputNames) {
      const { type, dims, data } = inputs[name];
      feed[name] = new runtime.Tensor(type, data, dims);
    }
    const outputs = {};
    for (const [name, value] of Object.entries(await session.run(feed)))
      outputs[name] = { type: value.type, dims: [...value.dims], data: value.data.slice() };
    return outputs;
  } finally {
    await session.release();
  }
}

const bits = (data) => Buffer.from(data.buffer, data.byteOffset, data.byteLength);

/** Same names, types, shapes and bits. */
export function assertEqualOutputs(got, wanted) {
  assert.deepEqual(Object.keys(got).sort(), Object.keys(wanted).sort());
  for (const [name, want] of Object.entries(wanted)) {
    assert.equal(got[name].type, want.type, name);
    assert.deepEqual(got[name].dims, want.dims, name);
    if (Array.isArray(want.data)) assert.deepEqual(got[name].data, want.data, name);
    else assert(bits(got[name].data).equals(bits(want.data)), `${name} differs`);
  }
}

/** Numbers from a fixed seed, in [-1, 1). */
export function random(seed = 1) {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 31 - 1;
  };
}

const arrays = { float32: Float32Array, int32: Int32Array, int64: BigInt64Array };

/** What `randomInputs` is told of zoo models: the voice detector takes 32 ms of sound, its state and the sampling rate. */
export const zooInputs = {
  'silero-vad-16k/model.onnx': { sizes: { input: [1, 512], state: [2, 1, 128], sr: [] }, values: { sr: 16000n } },
  'magika-v3-3/model.onnx': { values: { bytes: 65 } },
};

/** Inputs for what `tersor inspect` says of a model; free dimensions are 1, or as `sizes` says by input name. */
export function randomInputs(info, { sizes = {}, values = {}, seed = 1 } = {}) {
  const next = random(seed);
  const inputs = {};
  for (const { name, type, shape } of info.inputs) {
    const dims = sizes[name] ?? shape.map((dim) => (typeof dim === 'number' ? dim : 1));
    const count = dims.reduce((product, dim) => product * dim, 1);
    const data = new arrays[type](count);
    for (let k = 0; k < count; ++k) {
      const value = type === 'float32' ? next() : Math.floor((next() + 1) * 100);
      data[k] = values[name] ?? (type === 'int64' ? BigInt(value) : value);
    }
    inputs[name] = { type, dims, data };
  }
  return inputs;
}
