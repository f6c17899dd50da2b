// SPDX-License-Identifier: Apache-2.0
// `tersor quantize` against quantize_static of ONNX Runtime's Python package, whole processes, one thread, on the labelled
// models of the zoo: the same work (extremes, nothing corrected), and ours as it is by default. TERSOR_PYTHON names a Python that has onnx and onnxruntime.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';

import { labelledModels, makeSamples, sharedFolder } from '../zoo/samples.mjs';
import { geometricMean, row } from './rows.mjs';

/** Whose weights quantize_static cannot take per channel: it stumbles over a bias there. */
const perTensor = ['mnist-cntk'];

const off = ['weights_bias_correction', 'activation_channel_equalization', 'split_scales', 'keep_float_automatically'];
const ways = [
  {
    title: 'the same work',
    settings: [
      'activation_error_method=NOCLIPPING',
      'weights_error_method=NOCLIPPING',
      ...off.map((one) => `${one}=false`),
    ],
    bars: { time: 8, least: 3, memory: 4 },
  },
  { title: 'by default', settings: [], bars: { time: 1, least: 0, memory: 1 } },
];

export async function benchQuantize(options) {
  const python = process.env.TERSOR_PYTHON;
  if (!python) {
    console.log('skipped: quantize against quantize_static (TERSOR_PYTHON names no Python)');
    return [];
  }
  if (!existsSync(path.join(sharedFolder, 'zoo'))) {
    console.log('skipped: quantize against quantize_static (TERSOR_SHARED is not here)');
    return [];
  }
  return ways.flatMap((way) => benchWay(way, python, options));
}

function benchWay({ title, settings, bars }, python, { root, nets: folder, rounds, report }) {
  const here = path.join(root, 'tests/bench');
  const times = [];
  const sizes = [];
  const failures = [];
  for (const id of labelledModels) {
    const model = path.join(sharedFolder, 'zoo', id, 'model.onnx');
    const samples = path.join(makeSamples(sharedFolder, id), 'calib');
    const out = (who) => path.join(folder, `${id}.${who}.onnx`);
    const commands = [
      [
        path.join(root, 'build/native/bin/tersor'),
        'quantize',
        model,
        '--data',
        samples,
        '-o',
        out('ours'),
        '--threads',
        '1',
        ...settings.flatMap((one) => ['--set', one]),
      ],
      [
        python,
        path.join(here, 'quantize_static.py'),
        model,
        samples,
        out('theirs'),
        ...(perTensor.includes(id) ? ['--per-tensor'] : []),
      ],
    ];
    // The first round warms the disk's cache.
    const child = spawnSync(python, [path.join(here, 'whole_process.py'), String(rounds + 1)], {
      input: JSON.stringify(commands),
      encoding: 'utf8',
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    if (child.status !== 0) {
      failures.push({ name: `quantize ${id}: a quantizer failed`, ratio: 0, bar: 1, ours: 0, theirs: 0, spread: 0 });
      report(failures.at(-1));
      continue;
    }
    const [ours, theirs] = JSON.parse(child.stdout);
    const milliseconds = ({ seconds }) => seconds.slice(1).map((s) => s * 1000);
    const megabytes = ({ kilobytes }) => kilobytes.slice(1).map((k) => k / 1024);
    times.push(
      row(`quantize ${id}, ${title}, against quantize_static`, milliseconds(ours), milliseconds(theirs), bars.least),
    );
    sizes.push({
      ...row(`memory of quantize ${id}, ${title}, against quantize_static`, megabytes(ours), megabytes(theirs), 1),
      unit: 'MB',
    });
    report(times.at(-1));
    report(sizes.at(-1));
  }
  const means = [
    geometricMean(`quantize, ${title}, labelled models`, times, bars.time),
    { ...geometricMean(`memory of quantize, ${title}, labelled models`, sizes, bars.memory), unit: 'MB' },
  ];
  means.forEach(report);
  return [...times, ...sizes, ...means, ...failures];
}
