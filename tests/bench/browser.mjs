// SPDX-License-Identifier: Apache-2.0
// The float engine against onnxruntime-web in one page of Chromium, one thread each; what watching all tensors costs, and
// the integer simulation against the float engine.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';

import { npyBytes } from '../zoo/samples.mjs';
import { withPages } from './pages.mjs';
import { geometricMean, row } from './rows.mjs';
import { sample } from './sample.mjs';

const bars = { 'mobilenet-v1': 1.2, 'mobilenet-v2': 1.7, 'resnet-18': 1.2, 'resnet-50': 1.2 };

/** At most 20 % and 5 % more. */
const observingBars = { 'mobilenet-v2': 1 / 1.2, 'resnet-50': 1 / 1.05 };

/** Writes nets/NAME-int8.onnx, calibrated on two samples. */
function quantizeNet(root, nets, name) {
  const data = path.join(nets, 'samples.npy');
  writeFileSync(data, npyBytes(sample(2 * 3 * 224 * 224), [2, 3, 224, 224]));
  const file = (of) => path.join(nets, `${of}.onnx`);
  const args = ['quantize', file(name), '--data', data, '-o', file(`${name}-int8`)];
  const { status, stderr } = spawnSync(path.join(root, 'build/native/bin/tersor'), args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
}

/** What part of the core's peak so many multiplications in that time are. */
export function shareOfPeak(macs, milliseconds, peak) {
  const reached = (2 * macs) / milliseconds / 1e6;
  return `${reached.toFixed(0)} GFLOP/s, ${((100 * reached) / peak).toFixed(0)} % of the core's ${peak.toFixed(0)}`;
}

export async function benchBrowser({ root, nets, names, rounds, report }) {
  return withPages({ root, nets }, async (pages) => {
    const rows = [];
    const add = (one) => (rows.push(one), report(one));
    const ask = (call, options) =>
      pages.with('engine_page.mjs', (page) => page.evaluate(([name, given]) => window[name](given), [call, options]));
    const peak = await ask('peak', null);
    const url = (name) => `/nets/${name}.onnx`;
    for (const name of names) {
      const { ours, theirs, apart, macs } = await ask('measure', { model: url(name), rounds });
      if (!(apart < 1e-4)) throw new Error(`${name}: outputs are ${apart} of their range apart`);
      const one = row(`float ${name}, Chromium, against onnxruntime-web`, ours, theirs, bars[name]);
      add({ ...one, note: shareOfPeak(macs, one.ours, peak) });
    }
    add(geometricMean(`float, Chromium, ${names.length} networks`, rows, 1.5));
    for (const [name, most] of Object.entries(observingBars).filter(([one]) => names.includes(one))) {
      const model = url(name);
      const both = { ours: { model, mode: 'observe' }, theirs: { model, mode: 'float' }, rounds };
      const { ours, theirs } = await ask('compareModes', both);
      add(row(`observing all tensors of ${name}, Chromium, against not`, ours, theirs, most));
    }
    if (names.includes('mobilenet-v2')) {
      quantizeNet(root, nets, 'mobilenet-v2');
      const { ours, theirs } = await ask('compareModes', {
        ours: { model: url('mobilenet-v2-int8'), mode: 'simulate' },
        theirs: { model: url('mobilenet-v2'), mode: 'float' },
        rounds,
      });
      add(row('integer simulation of mobilenet-v2, Chromium, against float', ours, theirs, 1.5));
    }
    return rows;
  });
}
