// SPDX-License-Identifier: Apache-2.0
// `tersor quantize` against quantize_static of ONNX Runtime's Python package, whole processes, one thread, on the labelled
// models of the zoo: the same work (extremes, nothing corrected), and ours as it is by default; on two larger ones the same
// work; on networks as large as people's, with 100 samples of 224 x 224, ours by default. TERSOR_PYTHON names a Python that has onnx and onnxruntime (and pillow, which the larger ones' samples are made with).
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { labelledModels, makeSamples, npyBytes, sharedFolder } from '../zoo/samples.mjs';
import { randomNumbers } from './nets.mjs';
import { failure, geometricMean, row } from './rows.mjs';

/** Whose weights quantize_static cannot take per channel: it stumbles over a bias there. */
const perTensor = ['mnist-cntk'];

/** Beside the labelled ones: at least so many times as fast at the same work. Their samples are made by a script of the zoo. */
const larger = { 'yolox-nano-416': 5, 'kwt-1': 5 };

/** Of seeded weights (nets.mjs): a job by default is at least so many times as fast. */
const networks = { 'mobilenet-v2': 1.5, 'resnet-18': 1.5, 'resnet-50': 1.5 };
const networkSamples = 100;

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
  {
    title: 'by default',
    settings: [],
    options: [],
    bars: { time: 3, least: 0, memory: 1 },
    models: [...labelledModels, ...Object.keys(networks)],
  },
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

/** Calls `make` with the folder where it is not there; a run that is cut short leaves none. */
function made(folder, make) {
  if (existsSync(folder)) return;
  const beside = `${folder}.${process.pid}.tmp`;
  mkdirSync(path.dirname(folder), { recursive: true });
  make(beside);
  renameSync(beside, folder);
}

/** A picture's numbers: as smooth as pictures are, in four sizes of patches. */
function picture(random) {
  const side = 224;
  const values = new Float32Array(3 * side * side);
  for (const [cells, spread] of [
    [4, 2],
    [14, 1],
    [56, 0.6],
    [224, 0.3],
  ]) {
    const patches = Float32Array.from({ length: 3 * cells * cells }, () => (random() * 2 - 1) * spread);
    for (let c = 0; c < 3; ++c)
      for (let y = 0; y < side; ++y)
        for (let x = 0; x < side; ++x) {
          const patch = (c * cells + Math.floor((y * cells) / side)) * cells + Math.floor((x * cells) / side);
          values[(c * side + y) * side + x] += patches[patch];
        }
  }
  return values;
}

/** The folder of a model's calibration samples, made where it is not there. */
function calibrationSamples(python, root, id) {
  if (id in networks) {
    const folder = path.join(root, 'build/bench/samples-224');
    made(folder, (beside) => {
      const random = randomNumbers(224);
      mkdirSync(beside);
      for (let k = 0; k < networkSamples; ++k)
        writeFileSync(
          path.join(beside, `${String(k).padStart(4, '0')}.npy`),
          npyBytes(picture(random), [1, 3, 224, 224]),
        );
    });
    return folder;
  }
  if (labelledModels.includes(id)) return path.join(makeSamples(sharedFolder, id), 'calib');
  const folder = path.join(root, 'build/zoo-samples', id);
  made(folder, (beside) => {
    const script = path.join(sharedFolder, 'anchors/make_samples.py');
    execFileSync(python, [script, '--model-id', id, '--out', beside, '--zoo', path.join(sharedFolder, 'zoo')], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  });
  return path.join(folder, 'calib');
}

/** The two whole processes that do the work. */
function commandsFor(id, { settings, options }, python, { root, nets: folder }) {
  const model = id in networks ? path.join(folder, `${id}.onnx`) : path.join(sharedFolder, 'zoo', id, 'model.onnx');
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
  const rounds = Math.min(options.rounds, id in larger || id in networks ? 3 : 7) + 1;
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
    row(name, milliseconds(ours), milliseconds(theirs), larger[id] ?? networks[id] ?? bars.least),
    row(`memory of ${name}`, megabytes(ours), megabytes(theirs), 1, { unit: 'MB' }),
  ];
}

function benchWay(way, python, options) {
  const { title, bars, models } = way;
  const rows = [];
  const labelled = { times: [], sizes: [] };
  for (const id of models.filter((one) => options.models(one) && (!(one in networks) || options.names.includes(one)))) {
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
