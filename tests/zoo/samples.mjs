// SPDX-License-Identifier: Apache-2.0
// Calibration and evaluation samples of the zoo's labelled models, made from the zoo's raw data as .npy files. The two never share a
// sample. `node tests/zoo/samples.mjs [--out DIR] [MODEL...]` writes, for each model,
//
//   DIR/<model>/calib/0000.npy ...   one calibration sample each, batch 1
//   DIR/<model>/eval_x.npy           all evaluation samples along axis 0
//   DIR/<model>/eval_y.npy           their labels; for the anomaly detector one for each recording
//   DIR/<model>/meta.json            counts, metric, label groups
import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.resolve(import.meta.dirname, '../..');

export const sharedFolder = process.env.TERSOR_SHARED ?? path.join(root, '../shared');

// ------------------------------------------------------------------------------------------------------------ .npy files

const types = {
  '<f4': Float32Array,
  '<f8': Float64Array,
  '|i1': Int8Array,
  '|u1': Uint8Array,
  '<i4': Int32Array,
  '<u4': Uint32Array,
  '<i8': BigInt64Array,
};

/** The bytes that numpy.save writes for this array. */
export function npyBytes(data, shape) {
  const type = Object.keys(types).find((key) => data instanceof types[key]);
  const dims = shape.length === 1 ? `${shape[0]},` : shape.join(', ');
  let header = `{'descr': '${type}', 'fortran_order': False, 'shape': (${dims}), }`;
  // numpy leaves room for the first dimension to grow to 21 digits, then fills up to a multiple of 64.
  if (shape.length > 0) header += ' '.repeat(21 - String(shape[0]).length);
  header += `${' '.repeat(63 - ((10 + header.length) % 64))}\n`;
  const start = Buffer.from([0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 1, 0, header.length & 255, header.length >> 8]);
  return Buffer.concat([
    start,
    Buffer.from(header, 'latin1'),
    Buffer.from(data.buffer, data.byteOffset, data.byteLength),
  ]);
}

/** Array and shape of a .npy file in C order. */
export function readNpy(bytes) {
  const length = bytes[6] === 1 ? bytes.readUInt16LE(8) : bytes.readUInt32LE(8);
  const start = bytes[6] === 1 ? 10 : 12;
  const header = bytes.toString('latin1', start, start + length);
  const type = /'descr': '([^']+)'/.exec(header)[1];
  const shape = /'shape': \(([^)]*)\)/
    .exec(header)[1]
    .split(',')
    .filter((dim) => dim.trim() !== '')
    .map(Number);
  if (!types[type] || /'fortran_order': True/.test(header))
    throw new Error(`A .npy file of type ${type} is not read here.`);
  const data = bytes.subarray(start + length);
  // A copy starts aligned.
  return { shape, data: new types[type](new Uint8Array(data).buffer) };
}

// ------------------------------------------------------------------------------------------------- the zoo's raw data

/** Rows of `size` values, converted to float32 by `convert(value, position in the row)`. */
class Rows {
  constructor(values, size, convert) {
    Object.assign(this, { values, size, convert, count: values.length / size });
  }

  row(index) {
    const result = new Float32Array(this.size);
    const start = index * this.size;
    for (let i = 0; i < this.size; ++i) result[i] = this.convert(this.values[start + i], i);
    return result;
  }
}

const range = (from, to) => Array.from({ length: to - from }, (_, i) => from + i);
const without = (count, taken) => range(0, count).filter((i) => !new Set(taken).has(i));
const labelsOf = (values) => BigInt64Array.from(values, BigInt);

function raw(shared, name, Type) {
  const bytes = readFileSync(path.join(shared, 'zoo/data/dev', name));
  return new Type(new Uint8Array(bytes).buffer);
}

/** Where the value at NCHW position `i` of a picture stands in NHWC order. */
const fromNhwc = (channels, area) => (i) => (i % area) * channels + Math.floor(i / area);

/** (value - mean) / deviation. */
const affine = (mean, deviation) => (value) => (value - mean) / deviation;

const sets = {
  'mlperf-ic-resnet8': (shared) => cifar(shared, [32, 32, 3], (values) => new Rows(values, 3072, affine(0, 1))),

  'cifar10-resnet20': (shared) =>
    cifar(shared, [3, 32, 32], (values) => {
      const mean = [0.485, 0.456, 0.406];
      const deviation = [0.229, 0.224, 0.225];
      const place = fromNhwc(3, 1024);
      return {
        count: values.length / 3072,
        row(index) {
          const convert = (_, i) => {
            const channel = Math.floor(i / 1024);
            return (values[index * 3072 + place(i)] / 255 - mean[channel]) / deviation[channel];
          };
          return Float32Array.from({ length: 3072 }, convert);
        },
      };
    }),

  'mlperf-kws-dscnn': (shared) => {
    const rows = new Rows(raw(shared, 'kws01_x.i8', Int8Array), 490, (value) => (value - 83) * 0.5847029089927673);
    return splitAt(100, rows, raw(shared, 'kws01_y.u8', Uint8Array), [49, 10, 1]);
  },

  'mlperf-vww-mobilenetv1': (shared) => {
    const rows = new Rows(raw(shared, 'vww01_x.u8', Uint8Array), 96 * 96 * 3, affine(0, 255));
    return splitAt(100, rows, raw(shared, 'vww01_y.u8', Uint8Array), [96, 96, 3]);
  },

  // Windows of five frames of a recording, one frame further each time. A recording is one sample of the metric.
  'mlperf-ad-autoencoder': (shared) => {
    const values = raw(shared, 'ad01_x.f32', Float32Array);
    const labels = raw(shared, 'ad01_y.u8', Uint8Array);
    const [frames, frame, window, windows] = [200, 128, 640, 196];
    const at = (file, q) =>
      values.subarray(file * frames * frame + q * frame, file * frames * frame + q * frame + window);
    const calibrationFiles = range(0, labels.length)
      .filter((i) => labels[i] === 0)
      .slice(0, 8);
    const rest = without(labels.length, calibrationFiles);
    return {
      shape: [window],
      calibration: calibrationFiles.flatMap((file) =>
        range(0, 16).map((i) => at(file, Math.floor((i * windows) / 16))),
      ),
      evaluation: rest.flatMap((file) => range(0, windows).map((q) => at(file, q))),
      labels: labelsOf(rest.map((file) => labels[file])),
      metric: 'reconstruction-auc',
      group: windows,
    };
  },

  'mnist-cntk': (shared) => {
    const rows = (name) => new Rows(raw(shared, name, Uint8Array), 784, affine(0, 1));
    return halves(rows('mnist_calib_x.u8'), rows('mnist_x.u8'), raw(shared, 'mnist_y.u8', Uint8Array), [1, 28, 28]);
  },

  'imagenet-mobilenetv1-025-224': (shared) => {
    const rows = (name) => new Rows(raw(shared, name, Uint8Array), 224 * 224 * 3, affine(127.5, 127.5));
    // Output 0 of the model is "background".
    const labels = raw(shared, 'imagenet_a_y.u16', Uint16Array).map((label) => label + 1);
    return halves(rows('imagenet_calib_x.u8'), rows('imagenet_a_x.u8'), labels, [224, 224, 3]);
  },

  'hand-keypoint-mlp': (shared) => {
    const text = readFileSync(path.join(shared, 'zoo/data/dev/hand/keypoint.csv'), 'utf8');
    const lines = text
      .split(/\r?\n/)
      .filter((line) => line !== '')
      .map((line) => line.split(',').map(Number));
    const step = Math.floor(lines.length / 128);
    const taken = range(0, 128).map((i) => i * step);
    const rest = without(lines.length, taken);
    const row = (i) => Float32Array.from(lines[i].slice(1));
    return {
      shape: [42],
      calibration: taken.map(row),
      evaluation: rest.map(row),
      labels: labelsOf(rest.map((i) => lines[i][0])),
      metric: 'top1',
      group: 1,
    };
  },
};

function cifar(shared, shape, rows) {
  const calibration = rows(raw(shared, 'cifar10_calib_x.u8', Uint8Array));
  const evaluation = rows(raw(shared, 'cifar10_x.u8', Uint8Array));
  return halves(calibration, evaluation, raw(shared, 'cifar10_y.u8', Uint8Array), shape);
}

/** Calibration and evaluation from files of their own; at most 128 to calibrate. */
function halves(calibration, evaluation, labels, shape) {
  return {
    shape,
    calibration: range(0, Math.min(128, calibration.count)).map((i) => calibration.row(i)),
    evaluation: range(0, evaluation.count).map((i) => evaluation.row(i)),
    labels: labelsOf(labels),
    metric: 'top1',
    group: 1,
  };
}

/** The first `count` calibrate, the rest is evaluated. */
function splitAt(count, rows, labels, shape) {
  return {
    shape,
    calibration: range(0, count).map((i) => rows.row(i)),
    evaluation: range(count, rows.count).map((i) => rows.row(i)),
    labels: labelsOf(labels.subarray(count)),
    metric: 'top1',
    group: 1,
  };
}

export const labelledModels = Object.keys(sets);

// ---------------------------------------------------------------------------------------------------------------- files

const joined = (rows) => {
  const all = new Float32Array(rows.length * rows[0].length);
  rows.forEach((row, i) => all.set(row, i * row.length));
  return all;
};
const fourDigits = (i) => String(i).padStart(4, '0');

/** Writes a folder in one step: it is complete, or not there. */
function writeFolder(folder, write) {
  if (existsSync(folder)) return;
  const beside = `${folder}.${process.pid}.tmp`;
  mkdirSync(beside, { recursive: true });
  try {
    write(beside);
    renameSync(beside, folder);
  } catch (error) {
    rmSync(beside, { recursive: true, force: true });
    // Where the folder is there now, another process was first.
    if (!existsSync(folder)) throw error;
  }
}

/** Makes the samples of a model unless they are there; gives their folder. */
export function makeSamples(shared, id, out = path.join(root, 'build/zoo-samples')) {
  const folder = path.join(out, id);
  writeFolder(folder, (target) => {
    const set = sets[id](shared);
    mkdirSync(path.join(target, 'calib'));
    set.calibration.forEach((row, i) =>
      writeFileSync(path.join(target, 'calib', `${fourDigits(i)}.npy`), npyBytes(row, [1, ...set.shape])),
    );
    writeFileSync(
      path.join(target, 'eval_x.npy'),
      npyBytes(joined(set.evaluation), [set.evaluation.length, ...set.shape]),
    );
    writeFileSync(path.join(target, 'eval_y.npy'), npyBytes(set.labels, [set.labels.length]));
    const meta = {
      model: id,
      metric: set.metric,
      group: set.group,
      calibration: set.calibration.length,
      evaluation: set.evaluation.length,
      labels: set.labels.length,
    };
    writeFileSync(path.join(target, 'meta.json'), `${JSON.stringify(meta, null, 2)}\n`);
  });
  return folder;
}

/**
 * The first `count` evaluation samples of a model: `folder` holds them as files, `list` as { data, shape } of batch 1, in the same order;
 * `calibration` is the folder with the calibration samples.
 */
export function zooSamples(shared, id, count) {
  const made = makeSamples(shared, id);
  const all = readNpy(readFileSync(path.join(made, 'eval_x.npy')));
  const size = all.data.length / all.shape[0];
  const shape = [1, ...all.shape.slice(1)];
  const list = range(0, Math.min(count, all.shape[0])).map((i) => ({
    data: all.data.slice(i * size, (i + 1) * size),
    shape,
  }));
  const folder = path.join(made, `first-${list.length}`);
  writeFolder(folder, (target) =>
    list.forEach((sample, i) => writeFileSync(path.join(target, `${fourDigits(i)}.npy`), npyBytes(sample.data, shape))),
  );
  return { folder, list, calibration: path.join(made, 'calib') };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  if (!existsSync(path.join(sharedFolder, 'zoo'))) {
    console.error(`The zoo is not in ${sharedFolder}: set TERSOR_SHARED to the folder that holds it.`);
    process.exit(1);
  }
  const words = process.argv.slice(2);
  const flag = words.indexOf('--out');
  const [out] = flag < 0 ? [path.join(root, 'build/zoo-samples')] : words.splice(flag, 2).slice(1);
  for (const id of words.length > 0 ? words : labelledModels) {
    const folder = makeSamples(sharedFolder, id, path.resolve(out));
    console.log(`${folder}: ${readdirSync(path.join(folder, 'calib')).length} to calibrate`);
  }
}
