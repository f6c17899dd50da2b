// SPDX-License-Identifier: Apache-2.0
// `tersor quantize` against quantize_static of ONNX Runtime's Python package, whole processes, one thread, on the labelled
// models of the zoo: the same work (extremes, nothing corrected), and ours as it is by default; on two larger ones the same
// work. TERSOR_PYTHON names a Python that has onnx and onnxruntime (and pillow, which the larger ones' samples are made with).
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync } from 'node:fs';
import path from 'node:path';

import { labelledModels, makeSamples, sharedFolder } from '../zoo/samples.mjs';
import { failure, geometricMean, row } from './rows.mjs';

/** Whose weights quantize_static cannot take per channel: it stumbles over a bias there. */
const perTensor = ['mnist-cntk'];

/** Beside the labelled ones: at least so many times as fast at the same work. Their samples are made by a script of the zoo. */
const larger = { 'yolox-nano-416': 5, 'kwt-1': 5 };

const off = [
  ...['weights_bias_correction', 'activation_channel_equalization', 'split_scales', 'keep_float_automatically'],
  'holdout',
];
const ways = [
  {
    title: 'the same work',
    settings: [
      'activation_error_method=NOCLIPPING',
      'weights_error_method=NOCLIPPING',
      ...off.map((one) => `${one}=false`),
      'effort=0',
    ],
    // quantize_static says nothing of what it made.
    options: ['--quiet'],
    bars: { time: 8, least: 3, memory: 4 },
    models: [...labelledModels, ...Object.keys(larger)],
  },
  { title: 'by default', settings: [], options: [], bars: { time: 3, least: 0, memory: 1 }, models: labelledModels },
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

/** The folder of a model's calibration samples, made where it is not there. */
function calibrationSamples(python, root, id) {
  if (labelledModels.includes(id)) return path.join(makeSamples(sharedFolder, id), 'calib');
  const folder = path.join(root, 'build/zoo-samples', id);
  if (!existsSync(folder)) {
    const beside = `${folder}.${process.pid}.tmp`;
    mkdirSync(path.dirname(folder), { recursive: true });
    const script = path.join(sharedFolder, 'anchors/make_samples.py');
    execFileSync(python, [script, '--model-id', id, '--out', beside, '--zoo', path.join(sharedFolder, 'zoo')], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    renameSync(beside, folder);
  }
  return path.join(folder, 'calib');
}

/** The two whole processes that do the work. */
function commandsFor(id, { settings, options }, python, { root, nets: folder }) {
  const model = path.join(sharedFolder, 'zoo', id, 'model.onnx');
  const samples = calibrationSamples(python, root, id);
  const out = (who) => path.join(folder, `${id}.${who}.onnx`);
  const program = path.join(root, 'build/native/bin/tersor');
  const set = settings.flatMap((one) => ['--set', one]);
  const script = path.join(root, 'tests/bench/quantize_static.py');
  return [
    [program, 'quantize', model, '--data', samples, '-o', out('ours'), '--threads', '1', ...options, ...set],
    [python, script, model, samples, out('theirs'), ...(perTensor.includes(id) ? ['--per-tensor'] : [])],
  ];
}

/** Rows of time and of memory for one model. */
function benchModel(id, way, python, options) {
  const { title, bars } = way;
  const name = `quantize ${id}, ${title}, against quantize_static`;
  // Whole processes take long and differ little. The first round warms the disk's cache.
  const rounds = Math.min(options.rounds, id in larger ? 3 : 7) + 1;
  const script = path.join(options.root, 'tests/bench/whole_process.py');
  const child = spawnSync(python, [script, String(rounds)], {
    input: JSON.stringify(commandsFor(id, way, python, options)),
    encoding: 'utf8',
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  if (child.status !== 0) return [failure(name, 'a quantizer failed')];
  const [ours, theirs] = JSON.parse(child.stdout);
  const milliseconds = ({ seconds }) => seconds.slice(1).map((s) => s * 1000);
  const megabytes = ({ kilobytes }) => kilobytes.slice(1).map((k) => (k * 1024) / 1e6);
  return [
    row(name, milliseconds(ours), milliseconds(theirs), larger[id] ?? bars.least),
    row(`memory of ${name}`, megabytes(ours), megabytes(theirs), 1, { unit: 'MB' }),
  ];
}

function benchWay(way, python, options) {
  const { title, bars, models } = way;
  const rows = [];
  const labelled = { times: [], sizes: [] };
  for (const id of models.filter(options.models)) {
    const [time, size] = benchModel(id, way, python, options);
    for (const one of [time, size].filter(Boolean)) (rows.push(one), options.report(one));
    if (size && labelledModels.includes(id)) (labelled.times.push(time), labelled.sizes.push(size));
  }
  if (labelled.times.length === labelledModels.length) {
    const means = [
      geometricMean(`quantize, ${title}, labelled models`, labelled.times, bars.time),
      geometricMean(`memory of quantize, ${title}, labelled models`, labelled.sizes, bars.memory, { unit: 'MB' }),
    ];
    for (const one of means) (rows.push(one), options.report(one));
  }
  return rows;
}
