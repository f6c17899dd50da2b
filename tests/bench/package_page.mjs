// SPDX-License-Identifier: Apache-2.0
// Runs in the page: the npm package with N workers, against itself with fewer and against onnxruntime-web with two threads.
import * as ort from '/ort/ort.wasm.min.mjs';
import { Tersor } from '/package/index.js';

import { inTurns } from '/bench/in_turns.mjs';
import { decodedByBrowser, photographs } from '/bench/photographs.mjs';
import { sample } from '/bench/sample.mjs';

ort.env.wasm.numThreads = 2;
ort.env.wasm.wasmPaths = '/ort/';

const dims = [1, 3, 224, 224];

const values = sample(dims.reduce((a, b) => a * b, 1));

/** Samples that all differ, one at a time, in the same memory as a camera's. */
async function* samplesOf(count) {
  for (let k = 0; k < count; ++k) {
    values[k] += 1;
    yield { input: { data: values, shape: dims } };
    values[k] -= 1;
  }
}

/** Statistics of all tensors alone; what else the default tries and measures on samples are other passes. */
const statisticsAlone = { config: { effort: 0, holdout: false, weights_bias_correction: false } };

async function opened(model, workers) {
  const tersor = await Tersor.create({ workers });
  const handle = await tersor.open(new URL(model, location.href));
  const calibrate = (given) =>
    Array.isArray(given)
      ? handle.calibrate(given, { ...statisticsAlone, preprocessing: 'imagenet' })
      : handle.calibrate(samplesOf(given), statisticsAlone);
  return { tersor, handle, calibrate };
}

/** Milliseconds by round: calibrating with 2 workers, and running the same samples in 2 threads of onnxruntime-web. */
async function calibrateAgainstThreads({ model, samples, rounds }) {
  const { tersor, calibrate } = await opened(model, 2);
  const bytes = new Uint8Array(await (await fetch(model)).arrayBuffer());
  const session = await ort.InferenceSession.create(bytes, { executionProviders: ['wasm'] });
  const theirs = async () => {
    for await (const { input } of samplesOf(samples))
      await session.run({ [session.inputNames[0]]: new ort.Tensor('float32', input.data, dims) });
  };
  const milliseconds = await inTurns({ ours: () => calibrate(samples), theirs }, rounds, { warm: 1, pause: 100 });
  await session.release();
  tersor.close();
  return milliseconds;
}

/** Milliseconds by round: the same calibration with 2 workers and with 1, on tensors or on photographs. */
async function calibrateWithOneAndTwo({ model, samples, asPhotographs, rounds }) {
  const [two, one] = [await opened(model, 2), await opened(model, 1)];
  const given = asPhotographs ? await photographs(samples, 500, 375) : samples;
  const runs = { ours: () => two.calibrate(given), theirs: () => one.calibrate(given) };
  const milliseconds = await inTurns(runs, rounds, { warm: 1, pause: 100 });
  for (const { tersor } of [one, two]) tersor.close();
  return milliseconds;
}

/** Milliseconds of a whole job by default, from the opened model to the file's bytes. */
async function wholeJob({ model, samples, workers }) {
  const { tersor, handle } = await opened(model, workers);
  const begun = performance.now();
  await handle.quantize({ samples: samplesOf(samples) });
  const milliseconds = performance.now() - begun;
  tersor.close();
  return milliseconds;
}

/** Milliseconds by round: calibrating on photographs, and decoding them with the browser's decoder and canvas. */
async function readPictures({ model, count, width, height, rounds }) {
  const { tersor, calibrate } = await opened(model, 1);
  const files = await photographs(count, width, height);
  const theirs = async () => {
    for (const file of files) await decodedByBrowser(file);
  };
  const milliseconds = await inTurns({ ours: () => calibrate(files), theirs }, rounds, { warm: 2, pause: 50 });
  tersor.close();
  return milliseconds;
}

/** The engine with one worker, kept for the calls below. */
let kept = null;
async function start() {
  kept = { tersor: await Tersor.create({ workers: 1 }) };
}

/** Opens the file that was chosen in the page; the milliseconds. */
async function openChosen() {
  const begin = performance.now();
  kept.model = await kept.tersor.open(document.querySelector('input').files[0]);
  return performance.now() - begin;
}

function closeModel() {
  kept.model.close();
  kept.model = null;
}

const calibrateOpened = async (count) => (await kept.model.calibrate(samplesOf(count), statisticsAlone)).sampleCount;

Object.assign(window, {
  calibrateAgainstThreads,
  calibrateWithOneAndTwo,
  readPictures,
  wholeJob,
  start,
  openChosen,
  closeModel,
  calibrateOpened,
  isolated: crossOriginIsolated,
  ready: true,
});
