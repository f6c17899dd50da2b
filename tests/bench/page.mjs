// SPDX-License-Identifier: Apache-2.0
// Runs in the page: the float engine and onnxruntime-web on one model, in turns, one thread each; or the engine against
// itself in two ways of running.
import * as ort from '/ort/ort.wasm.min.mjs';

import createEngine from '/engine/bench_engine.mjs';

import { sample } from '/bench/sample.mjs';

ort.env.wasm.numThreads = 1;
ort.env.wasm.wasmPaths = '/ort/';

const modes = { float: 0, observe: 1, simulate: 2 };

/** A way to run a model of /nets: as floats, with all statistics of a calibration, or in integer kernels. */
async function load(name, mode) {
  const bytes = new Uint8Array(await (await fetch(`/nets/${name}.onnx`)).arrayBuffer());
  const engine = await createEngine();
  const at = engine._malloc(bytes.length);
  engine.HEAPU8.set(bytes, at);
  if (!engine._bench_load(at, bytes.length, modes[mode])) throw new Error(`the engine refused ${name}`);
  const run = () => {
    if (!engine._bench_run()) throw new Error(`the engine could not run ${name}`);
  };
  return { bytes, engine, run };
}

/** Milliseconds of each by round, in turns. */
async function inTurns(runs, rounds) {
  // The first runs are those of the browser's baseline compiler.
  for (let k = 0; k < 3; ++k) for (const run of Object.values(runs)) await run();
  const milliseconds = Object.fromEntries(Object.keys(runs).map((who) => [who, []]));
  for (let k = 0; k < rounds; ++k)
    for (const [who, run] of Object.entries(runs)) {
      const start = performance.now();
      await run();
      milliseconds[who].push(performance.now() - start);
    }
  return milliseconds;
}

/** Two models (or one) in two modes. */
async function compareModes(ours, theirs, rounds) {
  return inTurns({ ours: (await load(...ours)).run, theirs: (await load(...theirs)).run }, rounds);
}

/** Milliseconds of both by round, and how far the outputs lie apart in parts of their range. */
async function measure(name, rounds) {
  const { bytes, engine, run: ours } = await load(name, 'float');

  const session = await ort.InferenceSession.create(bytes, { executionProviders: ['wasm'] });
  const dims = [1, 3, 224, 224];
  const feeds = { [session.inputNames[0]]: new ort.Tensor('float32', sample(3 * 224 * 224), dims) };
  let outputs;
  const theirs = async () => {
    outputs = await session.run(feeds);
  };

  const milliseconds = await inTurns({ ours, theirs }, rounds);

  const wanted = outputs[session.outputNames[0]].data;
  const got = new Float32Array(engine.HEAPU8.buffer, engine._bench_output(), engine._bench_output_size());
  const range = Math.max(...wanted) - Math.min(...wanted);
  const apart =
    got.length === wanted.length ? Math.max(...wanted.map((y, k) => Math.abs(y - got[k]))) / range : Infinity;
  await session.release();
  return { ...milliseconds, apart };
}

Object.assign(window, { measure, compareModes });
