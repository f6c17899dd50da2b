// SPDX-License-Identifier: Apache-2.0
// Runs in the page: two chains of one operator in onnxruntime-web, in turns, one thread.
import * as ort from '/ort/ort.wasm.min.mjs';

ort.env.wasm.numThreads = 1;
ort.env.wasm.wasmPaths = '/ort/';
ort.env.logLevel = 'error';

/** The page's clock counts in 5 microseconds: runs that are shorter than this are timed together. */
const leastMilliseconds = 0.5;
const leastRounds = 15;

const bytesOf = async (url) => (await fetch(url)).arrayBuffer();

/** { count: least seconds of a run } for the chains /nets/NAME-COUNT.onnx on the values of /nets/NAME.bin. */
async function measureChains({ name, shape, counts, seconds }) {
  const feeds = { x: new ort.Tensor('float32', new Float32Array(await bytesOf(`/nets/${name}.bin`)), shape) };
  const chains = [];
  for (const count of counts) {
    const bytes = new Uint8Array(await bytesOf(`/nets/${name}-${count}.onnx`));
    const session = await ort.InferenceSession.create(bytes, { executionProviders: ['wasm'], logSeverityLevel: 3 });
    const run = () => session.run(feeds);
    // The first runs are those of the browser's baseline compiler.
    const begin = performance.now();
    let runs = 0;
    for (; runs < 10 || performance.now() - begin < 30; ++runs) await run();
    const together = Math.max(1, Math.ceil((leastMilliseconds * runs) / (performance.now() - begin)));
    chains.push({ count, session, run, together, least: Infinity });
  }
  const until = performance.now() + seconds * 1000;
  for (let round = 0; round < leastRounds || performance.now() < until; ++round)
    for (const chain of chains) {
      const begin = performance.now();
      for (let k = 0; k < chain.together; ++k) await chain.run();
      chain.least = Math.min(chain.least, (performance.now() - begin) / chain.together);
    }
  for (const { session } of chains) await session.release();
  return Object.fromEntries(chains.map(({ count, least }) => [count, least / 1000]));
}

Object.assign(window, { measureChains, ready: true });
