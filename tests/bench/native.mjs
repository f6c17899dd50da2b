// SPDX-License-Identifier: Apache-2.0
// The float engine, natively, against onnxruntime-node, one thread each. Ours runs in a process of its own that waits
// while the other runs.
import { spawn } from 'node:child_process';
import path from 'node:path';
import { createInterface } from 'node:readline';

import * as ort from 'onnxruntime-node';

import { row } from './rows.mjs';
import { sample } from './sample.mjs';

function startEngine(root, model) {
  const child = spawn(path.join(root, 'build/native/bin/bench_engine'), [model], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    async run() {
      child.stdin.write('run\n');
      const { value, done } = await lines.next();
      if (done) throw new Error(`the engine ended on ${model}`);
      return Number(value);
    },
    stop: () => child.stdin.end(),
  };
}

export async function benchNative({ root, nets, names, rounds, bars, report }) {
  const rows = [];
  for (const name of names) {
    const model = path.join(nets, `${name}.onnx`);
    const engine = startEngine(root, model);
    const session = await ort.InferenceSession.create(model, { intraOpNumThreads: 1, interOpNumThreads: 1 });
    const feeds = { [session.inputNames[0]]: new ort.Tensor('float32', sample(3 * 224 * 224), [1, 3, 224, 224]) };
    const ours = [];
    const theirs = [];
    for (let k = -2; k < rounds; ++k) {
      const own = await engine.run();
      const start = performance.now();
      await session.run(feeds);
      if (k >= 0) (ours.push(own), theirs.push(performance.now() - start));
    }
    engine.stop();
    await session.release();
    rows.push(row(`float ${name}, native, against onnxruntime-node`, ours, theirs, bars[name]));
    report(rows.at(-1));
  }
  return rows;
}
