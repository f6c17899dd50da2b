// SPDX-License-Identifier: Apache-2.0
// Runs in the page: the float engine and onnxruntime-web on one model, in turns, one thread each; or the engine against
// itself in two ways of running. Both are given arrays of JavaScript and give such.
import * as ort from '/ort/ort.wasm.min.mjs';

import createEngine from '/engine/bench_engine.mjs';

import { inTurns } from '/bench/in_turns.mjs';
import { integers, sample } from '/bench/sample.mjs';

ort.env.wasm.numThreads = 1;
ort.env.wasm.wasmPaths = '/ort/';
ort.env.logLevel = 'error';

const modes = { float: 0, observe: 1, simulate: 2 };

/** ONNX's numbers of the element types that models of the benches have. */
const types = {
  float32: [1, Float32Array],
  uint8: [2, Uint8Array],
  int8: [3, Int8Array],
  int32: [6, Int32Array],
  int64: [7, BigInt64Array],
  bool: [9, Uint8Array],
};

const fetchBytes = async (url) => new Uint8Array(await (await fetch(url)).arrayBuffer());

/** The engine in WebAssembly with one model. */
class Engine {
  static async load(bytes, mode) {
    const core = await createEngine();
    const at = core._malloc(bytes.length);
    core.HEAPU8.set(bytes, at);
    const self = Object.assign(new Engine(), { core, given: [] });
    if (!core._bench_load(at, bytes.length, modes[mode])) throw new Error(`the engine refused: ${self.#error()}`);
    return self;
  }

  #error() {
    const text = new Uint8Array(this.core.HEAPU8.buffer, this.core._bench_error());
    return new TextDecoder().decode(text.slice(0, text.indexOf(0)));
  }

  /** Makes room for inputs of these types and shapes, in the graph's order. */
  expect(inputs) {
    const { core } = this;
    this.given = inputs.map(({ type, dims, data }) => {
      const at = core._malloc(8 * dims.length);
      new BigInt64Array(core.HEAPU8.buffer, at, dims.length).set(dims.map(BigInt));
      const room = core._bench_add_input(types[type][0], at, dims.length);
      core._free(at);
      return { room, bytes: new Uint8Array(data.buffer, data.byteOffset, data.byteLength) };
    });
  }

  run() {
    const { core } = this;
    for (const { room, bytes } of this.given) core.HEAPU8.set(bytes, room);
    if (!core._bench_run()) throw new Error(`the engine could not run: ${this.#error()}`);
  }

  outputs() {
    const { core } = this;
    return Array.from({ length: core._bench_outputs() }, (_, k) => {
      const [, Type] = Object.values(types).find(([number]) => number === core._bench_output_type(k));
      const at = core._bench_output(k);
      return new Type(core.HEAPU8.slice(at, at + core._bench_output_bytes(k)).buffer);
    });
  }
}

/** Values for an input: a sample (.npy of float32), one value, or seeded ones. Dimensions that are left open become 1. */
async function valuesOf({ type, shape, isTensor }, { dims, value }, npy) {
  if (!isTensor) throw new Error('an input is no tensor');
  dims ??= shape.map((dim) => (typeof dim === 'number' ? dim : 1));
  const length = dims.reduce((a, b) => a * b, 1);
  const [, Type] = types[type];
  if (npy) {
    const file = await fetchBytes(npy);
    return { type, dims, data: new Float32Array(file.slice(10 + file[8] + 256 * file[9]).buffer) };
  }
  if (value !== undefined) return { type, dims, data: Type.from([Type === BigInt64Array ? BigInt(value) : value]) };
  return { type, dims, data: type === 'float32' ? sample(length) : integers(Type, length) };
}

/** How far two outputs lie apart, in parts of the wanted one's range (with 0 in it, at least 0.001); of integers, whether they differ. */
function distance(got, wanted) {
  if (got.length !== wanted.length) return Infinity;
  if (!(wanted instanceof Float32Array)) return got.every((value, k) => value === wanted[k]) ? 0 : Infinity;
  let [low, high, most] = [0, 0, 0];
  wanted.forEach((value, k) => {
    [low, high, most] = [Math.min(low, value), Math.max(high, value), Math.max(most, Math.abs(value - got[k]))];
  });
  return most === 0 ? 0 : most / Math.max(high - low, 1e-3);
}

/**
 * Milliseconds of both by round, how far the outputs lie apart, and the multiplications of one run. `inputs` gives shapes
 * and values by name where the model leaves them open; `npy` is the sample of a model with one input.
 */
async function measure({ model, inputs = {}, npy = null, rounds }) {
  const bytes = await fetchBytes(model);
  const session = await ort.InferenceSession.create(bytes, { executionProviders: ['wasm'], logSeverityLevel: 3 });
  const given = await Promise.all(session.inputMetadata.map((port) => valuesOf(port, inputs[port.name] ?? {}, npy)));
  const feeds = () =>
    Object.fromEntries(
      given.map(({ type, dims, data }, k) => [session.inputNames[k], new ort.Tensor(type, data, dims)]),
    );

  const engine = await Engine.load(bytes, 'float');
  engine.expect(given);
  let got, wanted;
  const milliseconds = await inTurns(
    {
      ours: () => {
        engine.run();
        got = engine.outputs();
      },
      theirs: async () => {
        wanted = await session.run(feeds());
      },
    },
    rounds,
  );
  const apart = Math.max(...session.outputNames.map((name, k) => distance(got[k], wanted[name].data)));
  await session.release();
  return { ...milliseconds, apart, macs: engine.core._bench_macs() };
}

/** Two models (or one) in two modes, on the sample that the engine makes. */
async function compareModes({ ours, theirs, rounds }) {
  const load = async ({ model, mode }) => Engine.load(await fetchBytes(model), mode);
  const [mine, other] = [await load(ours), await load(theirs)];
  return inTurns({ ours: () => mine.run(), theirs: () => other.run() }, rounds);
}

/** Multiplications and additions that one core does in a second, in 10^9. */
async function peak() {
  const core = await createEngine();
  return Math.max(...Array.from({ length: 5 }, () => core._bench_peak(50)));
}

Object.assign(window, { measure, compareModes, peak, ready: true });
