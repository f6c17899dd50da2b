// SPDX-License-Identifier: Apache-2.0
// The float engine, natively, against onnxruntime-node, one thread each. Ours runs in a process of its own that waits
// while the other runs.
import { execFileSync } from 'node:child_process';
import path from 'node:path';

import * as ort from 'onnxruntime-node';

import { shareOfPeak } from './browser.mjs';
import { engineProgram, startEngine } from './engine_process.mjs';
import { row } from './rows.mjs';
import { sample } from './sample.mjs';

const bars = { 'mobilenet-v1': 0.6, 'mobilenet-v2': 0.8, 'resnet-18': 0.6, 'resnet-50': 0.6 };

export async function benchNative({ root, nets, names, rounds, report }) {
  const program = engineProgram(root);
  const [separate, fused] = execFileSync(program, ['peak'], { encoding: 'utf8' }).split(' ').map(Number);
  const rows = [];
  for (const name of names) {
    const model = path.join(nets, `${name}.onnx`);
    const engine = await startEngine(program, model);
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
    const one = row(`float ${name}, native, against onnxruntime-node`, ours, theirs, bars[name]);
    const note = `${shareOfPeak(engine.macs, one.ours, separate)} (products and sums apart; fused, which is not used: ${fused.toFixed(0)})`;
    rows.push({ ...one, note });
    report(rows.at(-1));
  }
  return rows;
}
