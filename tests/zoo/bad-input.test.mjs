// SPDX-License-Identifier: Apache-2.0
// The program on bad input: it ends with status 1 (2 for wrong usage) and a sentence that names what was found, and leaves nothing behind.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { deflateSync } from 'node:zlib';
import { afterAll, beforeAll, describe, test } from 'vitest';

import { initializersOf, modelProto } from './protobuf.mjs';
import { outputsOf } from './runtime.mjs';
import { npyBytes, sharedFolder } from './samples.mjs';

const root = path.resolve(import.meta.dirname, '../..');
const program = path.join(root, 'build/native/bin/tersor');
const demo = readFileSync(path.join(root, 'web/public/demo/model.onnx'));

// ------------------------------------------------------------------------------------------------------- files of the test

let folder;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'tersor-bad-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const at = (name) => path.join(folder, name);
function put(name, bytes) {
  mkdirSync(path.dirname(at(name)), { recursive: true });
  writeFileSync(at(name), bytes);
  return at(name);
}
const floats = (count, value = (k) => Math.sin(k)) => Float32Array.from({ length: count }, (_, k) => value(k));
const putArray = (name, data, shape) => put(name, npyBytes(data, shape));

const FLOAT = 1;

/** y = Relu(x * w + b) for x of 1x8 and y of 1x4; `changes` replace parts of the graph. */
const layer = (changes = {}) =>
  modelProto(13, {
    nodes: [
      { op: 'Gemm', inputs: ['x', 'w', 'b'], outputs: ['h'] },
      { op: 'Relu', inputs: ['h'], outputs: ['y'] },
    ],
    constants: { w: { dims: [8, 4], data: floats(32) }, b: { dims: [4], data: floats(4) } },
    inputs: { x: [FLOAT, [1, 8]] },
    outputs: { y: [FLOAT, [1, 4]] },
    ...changes,
  });
const layerWith = (w, b = { dims: [4], data: floats(4) }) => layer({ constants: w ? { w, b } : { b } });

const good = () => put('good.onnx', layer());
const samples = () => putArray('x.npy', floats(16), [2, 8]);

/** A model of a picture of 3 x 8 x 8. */
const pictureModel = () =>
  put(
    'picture.onnx',
    modelProto(13, {
      nodes: [{ op: 'Conv', inputs: ['x', 'w'], outputs: ['y'] }],
      constants: { w: { dims: [4, 3, 1, 1], data: floats(12) } },
      inputs: { x: [FLOAT, [1, 3, 8, 8]] },
      outputs: { y: [FLOAT, [1, 4, 8, 8]] },
    }),
  );

function crc32(bytes) {
  let sum = ~0;
  for (const byte of bytes) {
    sum ^= byte;
    for (let bit = 0; bit < 8; ++bit) sum = sum & 1 ? (sum >>> 1) ^ 0xedb88320 : sum >>> 1;
  }
  return ~sum >>> 0;
}

function pngChunk(type, data) {
  const chunk = Buffer.concat([Buffer.alloc(4), Buffer.from(type, 'latin1'), data, Buffer.alloc(4)]);
  chunk.writeUInt32BE(data.length);
  chunk.writeUInt32BE(crc32(chunk.subarray(4, 8 + data.length)), 8 + data.length);
  return chunk;
}

/** An RGB picture whose header claims this size, with black rows for 8 x 8. */
function png(width, height) {
  const header = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 8, 2, 0, 0, 0]);
  header.writeUInt32BE(width);
  header.writeUInt32BE(height, 4);
  const signature = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');
  const rows = deflateSync(Buffer.alloc(8 * 25));
  return Buffer.concat([
    signature,
    pngChunk('IHDR', header),
    pngChunk('IDAT', rows),
    pngChunk('IEND', Buffer.alloc(0)),
  ]);
}

// ------------------------------------------------------------------------------------------------------------ what is seen

const run = (...args) => spawnSync(program, args, { encoding: 'utf8', timeout: 60_000 });

/** Status and text of a call that must fail, and leave no file at `out.onnx` or beside it. */
function failure(status, args) {
  const result = run(...args);
  assert.equal(result.signal, null, `${args.join(' ')} died of ${result.signal}`);
  assert.equal(result.status, status, `${args.join(' ')}: ${result.stderr}`);
  assert(!existsSync(at('out.onnx')), 'an output was written');
  assert.deepEqual(
    readdirSync(folder).filter((name) => name.includes('.tmp')),
    [],
  );
  assert.doesNotMatch(result.stderr, /internal check|bug in Tersor/);
  return result.stderr;
}

/** The four fields of the error of a call with --json. */
function fault(...args) {
  const error = JSON.parse(failure(1, [...args, '--json']));
  assert.deepEqual(Object.keys(error), ['code', 'message', 'place', 'hint']);
  for (const text of Object.values(error)) assert.equal(typeof text, 'string');
  assert.match(error.message, /^\S.*\.$/s);
  return error;
}

/** The words of a failing `tersor quantize` to out.onnx. */
const refused = (model, ...args) => failure(1, ['quantize', model, '-o', at('out.onnx'), ...args]);
const refusedData = (model, data, ...args) => refused(model, '--data', data, ...args);

// ------------------------------------------------------------------------------------------------------------------ models

const strangers = {
  'a TFLite model': [Buffer.from('\x1c\0\0\0TFL3\x14\0\x20\0', 'latin1'), /TensorFlow Lite/],
  'a zip archive': [Buffer.from('PK\x03\x04\x14\0\0\0\x08\0', 'latin1'), /zip archive/],
  'a web page': ['<!DOCTYPE html><html><body>Not found</body></html>', /web page \(HTML\)/],
  'a Git LFS pointer': [
    `version https://git-lfs.github.com/spec/v1\noid sha256:${'0'.repeat(64)}\nsize 12\n`,
    /Git LFS/,
  ],
  'an empty file': ['', /empty/],
};

for (const [name, [bytes, words]] of Object.entries(strangers))
  test(`${name} in place of a model is called what it is`, () => {
    const model = put('stranger.onnx', bytes);
    const error = fault('inspect', model);
    assert.equal(error.code, 'invalid_model');
    assert.match(error.message, words);
    assert.equal(error.place, model);
    assert.notEqual(error.hint, '');
    assert.match(refusedData(model, samples()), words);
    assert.match(failure(1, ['convert', model, '-o', at('out.onnx')]), words);
  });

/** Lengths of prefixes: each of the first 64, then `count` that are spread evenly. */
function prefixes(total, count) {
  const lengths = new Set(Array.from({ length: Math.min(64, total) }, (_, k) => k));
  for (let k = 0; k < count; ++k) lengths.add(64 + Math.floor(((total - 65) * k) / (count - 1)));
  return [...lengths];
}

/** Status, signal and text of `tersor inspect FILE --json`, without waiting in line. */
const inspected = (file) =>
  new Promise((resolve) => {
    const child = spawn(program, ['inspect', file, '--json'], { stdio: ['ignore', 'ignore', 'pipe'] });
    let text = '';
    child.stderr.on('data', (bytes) => (text += bytes));
    child.on('close', (status, signal) => resolve({ status, signal, text }));
  });

async function refusesPrefixes(bytes, name) {
  const lengths = prefixes(bytes.length, 40);
  assert(lengths.length >= 100 && Math.max(...lengths) === bytes.length - 1);
  const one = async (length) => {
    const file = put(`${name}-${length}.onnx`, bytes.subarray(0, length));
    const { status, signal, text } = await inspected(file);
    assert.equal(signal, null, `the first ${length} bytes: ${signal}`);
    assert.equal(status, 1, `the first ${length} bytes were taken for a model`);
    assert.equal(JSON.parse(text).code, 'invalid_model', `the first ${length} bytes: ${text}`);
    rmSync(file);
  };
  for (let k = 0; k < lengths.length; k += 4) await Promise.all(lengths.slice(k, k + 4).map(one));
}

test('a model that is cut short anywhere is refused', () => refusesPrefixes(demo, 'demo'));

for (const id of ['mnist-cntk', 'hand-keypoint-mlp', 'mlperf-kws-dscnn']) {
  const model = path.join(sharedFolder, 'zoo', id, 'model.onnx');
  if (!existsSync(model)) console.log(`skipped: ${id} cut short (TERSOR_SHARED is not here)`);
  test.skipIf(!existsSync(model))(`${id} cut short anywhere is refused`, () =>
    refusesPrefixes(readFileSync(model), id),
  );
}

const broken = {
  'a cycle': [
    () =>
      layer({
        nodes: [
          { op: 'Add', inputs: ['x', 'two'], outputs: ['one'] },
          { op: 'Relu', inputs: ['one'], outputs: ['two'] },
          { op: 'Gemm', inputs: ['two', 'w', 'b'], outputs: ['y'] },
        ],
      }),
    'invalid_model',
    /cycle/,
    /graph\.node\[0\]/,
  ],
  'a missing initializer': [() => layerWith(null), 'invalid_model', /"w"/, /graph\.node\[0\]/],
  'weights in a file that is missing': [
    () => layerWith({ dims: [8, 4], location: 'weights.bin' }),
    'io',
    /"weights\.bin".*No such file/,
    /graph\.initializer\[0\] "w"/,
  ],
  'weights outside its folder': [
    () => layerWith({ dims: [8, 4], location: '../weights.bin' }),
    'invalid_model',
    /"\.\.\/weights\.bin", outside/,
    /"w"/,
  ],
  'fewer weights than its shape needs': [
    () => layerWith({ dims: [8, 5], data: floats(32) }),
    'invalid_model',
    /8x5 needs 160 bytes, found 128/,
    /"w"/,
  ],
  'a shape beyond any memory': [
    () => layerWith({ dims: [2 ** 32, 2 ** 32, 16], data: floats(32) }),
    'invalid_model',
    /4294967296x4294967296x16/,
    /"w"/,
  ],
  'a negative dimension': [() => layerWith({ dims: [-8, -4], data: floats(32) }), 'invalid_model', /-8/, /"w"/],
};

for (const [name, [make, code, message, place]] of Object.entries(broken))
  test(`a model with ${name} is refused`, () => {
    const model = put('broken.onnx', make());
    const error = fault('inspect', model);
    assert.equal(error.code, code);
    assert.match(error.message, message);
    assert.match(error.place, place);
    assert.match(refusedData(model, samples()), message);
  });

test('a tensor that the model computes beyond all memory is refused', () => {
  const grow = BigInt64Array.from([2n ** 40n, 1n, 8n]);
  const nodes = [
    { op: 'Expand', inputs: ['x', 'shape'], outputs: ['h'] },
    { op: 'MatMul', inputs: ['h', 'w'], outputs: ['y'] },
  ];
  const constants = { w: { dims: [8, 4], data: floats(32) }, shape: { dims: [3], data: grow } };
  const model = put('grow.onnx', layer({ nodes, constants, outputs: { y: [FLOAT, null] } }));
  assert.match(refusedData(model, samples()), /\(Expand\).* needs \d+ MiB.* limit is \d+ MiB/);
});

test('a quantized model and one without work are told apart', () => {
  const twice = at('once.onnx');
  assert.equal(run('quantize', good(), '--data', samples(), '-o', twice).status, 0);
  assert.match(refusedData(twice, samples()), /quantized already/);
  const idle = layer({
    nodes: [{ op: 'Relu', inputs: ['x'], outputs: ['y'] }],
    constants: {},
    outputs: { y: [FLOAT, [1, 8]] },
  });
  assert.match(refusedData(put('idle.onnx', idle), samples()), /nothing to quantize: the model has no Conv/);
});

test('weights that are not finite are named', () => {
  for (const [value, word] of [
    [NaN, 'nan'],
    [Infinity, 'inf'],
  ]) {
    const model = put('diverged.onnx', layerWith({ dims: [8, 4], data: floats(32, (k) => (k === 9 ? value : 1)) }));
    assert.match(refusedData(model, samples()), new RegExp(`"w": A weight is not finite: ${word}\\.`));
  }
});

// ----------------------------------------------------------------------------------------------------------------- samples

describe('samples', () => {
  test('that are not there', () => {
    mkdirSync(at('empty'), { recursive: true });
    assert.match(refusedData(good(), at('empty')), /There are no samples here/);
    assert.match(refusedData(good(), at('none')), /none: There is no such file or folder/);
  });

  test('of another shape: both shapes are told', () => {
    const text = refusedData(good(), putArray('wide.npy', floats(14), [2, 7]));
    assert.match(text, /"wide\.npy": The shape is 2x7, the input "x" takes 1x8\.\n.*shape of the input/);
  });

  test('with NaN or infinity: the sample and the place are named', () => {
    const bad = (position, value) => floats(16, (k) => (k === position ? value : 1));
    const nan = putArray('nan.npy', bad(11, NaN), [2, 8]);
    const where = /samples\[1\] "nan\.0001": The value at \[0, 3\] of the input "x" is not a number/;
    assert.match(refusedData(good(), nan), where);
    assert.match(failure(1, ['calibrate', good(), '--data', nan, '-o', at('out.onnx')]), where);
    const infinite = putArray('inf.npy', bad(3, -Infinity), [2, 8]);
    assert.match(refusedData(good(), infinite), /samples\[0\] "inf\.0000": .*\[0, 3\].*infinite/);
  });

  test('in damaged arrays', () => {
    const cut = npyBytes(floats(16), [2, 8]).subarray(0, 150);
    assert.match(refusedData(good(), put('cut.npy', cut)), /"cut\.npy": .*2x8 needs 64 bytes and 22 are there/);
    assert.match(refusedData(good(), put('text.npy', 'hello')), /"text\.npy": The file is named \.npy/);
    assert.match(refusedData(good(), put('cut.npz', strangers['a zip archive'][0])), /"cut\.npz": .*cut short/);
  });

  test('in pictures that cannot be decoded', () => {
    const model = pictureModel();
    const with_unit = (name, bytes) => refusedData(model, put(name, bytes), '--preprocessing', 'unit');
    assert.match(with_unit('cut.png', png(8, 8).subarray(0, 50)), /"cut": The PNG picture is damaged: it is cut short/);
    assert.match(with_unit('text.png', 'hello'), /"text\.png": The file is named \.png/);
    assert.match(
      with_unit('cut.jpg', Buffer.from([255, 216, 255, 224, 0, 16])),
      /"cut\.jpg": The JPEG picture is damaged/,
    );
    assert.match(with_unit('large.png', png(100_000, 100_000)), /"large\.png": The picture is 100000 x 100000 pixels/);
    assert.match(refusedData(good(), put('fine.png', png(8, 8))), /"fine\.png": The input "x" takes 1x8.*no picture/);
    // The picture itself is fine.
    assert.equal(
      run('quantize', model, '--data', at('fine.png'), '--preprocessing', 'unit', '-o', at('fine.onnx')).status,
      0,
    );
  });

  test('that lack one of several inputs', () => {
    const two = layer({
      nodes: [
        { op: 'Add', inputs: ['x', 'z'], outputs: ['h'] },
        { op: 'MatMul', inputs: ['h', 'w'], outputs: ['y'] },
      ],
      inputs: { x: [FLOAT, [1, 8]], z: [FLOAT, [1, 8]] },
    });
    const text = refusedData(put('two.onnx', two), samples());
    assert.match(text, /"x\.npy": .*2 inputs: "x", "z"\.\n.*\.npz/);
  });

  test('with unreadable preprocessing', () => {
    const data = put('fine.png', png(8, 8));
    assert.match(refusedData(pictureModel(), data, '--preprocessing', 'mean'), /presets imagenet, unit/);
    const file = put('scale.json', '{"scale": "x"}');
    assert.match(refusedData(pictureModel(), data, '--preprocessing', file), /scale: Found "x" where a number/);
  });
});

// ------------------------------------------------------------------------------------------------------------------ labels

test('labels whose count or range is wrong are refused', () => {
  const label = (text) => fault('evaluate', good(), '--data', samples(), '--labels', put('labels.csv', text));
  for (const [text, message] of [
    ['', /0 labels for 2 samples/],
    ['0\n', /1 labels for 2 samples: the first without one is "x\.0001"/],
    ['0\n1\n2\n', /3 labels for 2 samples/],
    ['0\n4\n', /label is 4, .* classes 0 to 3/],
    ['0\n-1\n', /"x\.0001" is -1/],
    ['0\nq\n', /"q" is neither a whole number nor a class name/],
    ['0\n1.5\n', /"1\.5"/],
  ]) {
    const error = label(text);
    assert.equal(error.code, 'invalid_labels', text);
    assert.match(error.message, message);
    assert.notEqual(error.place, '');
    assert.notEqual(error.hint, '');
  }
  assert.equal(fault('evaluate', good(), '--data', samples()).code, 'invalid_labels');
  assert.equal(fault('evaluate', good(), '--data', samples(), '--labels', at('none.csv')).code, 'io');
});

// ------------------------------------------------------------------------------------------------------ files of other runs

describe('statistics and recipes', () => {
  let other;
  beforeAll(() => {
    other = put('other.onnx', layerWith({ dims: [8, 4], data: floats(32, Math.cos) }));
    const made = [
      ['calibrate', good(), '--data', samples(), '-o', at('good.tstats')],
      ['calibrate', other, '--data', samples(), '-o', at('other.tstats')],
      ['quantize', good(), '--data', samples(), '-o', at('made.onnx'), '--save-recipe', at('recipe.json')],
    ];
    for (const args of made) assert.equal(run(...args).status, 0, args.join(' '));
  });

  test('of another model', () => {
    assert.match(refused(other, '--stats', at('good.tstats')), /belong to another model: found SHA-256 .* expected/);
    assert.match(refusedData(other, samples(), '--recipe', at('recipe.json')), /recipe was made for another model/);
    const merged = refused(good(), '--stats', at('good.tstats'), '--stats', at('other.tstats'));
    assert.match(merged, /other\.tstats: .*belong to another model/);
  });

  test('of other samples, or of the same ones twice', () => {
    const cosines = putArray('cosines.npy', floats(16, Math.cos), [2, 8]);
    assert.match(refusedData(good(), cosines, '--recipe', at('recipe.json')), /recipe was made with other samples/);
    assert.match(
      refused(good(), '--stats', at('good.tstats'), '--stats', at('good.tstats')),
      /Sample 0 was counted in both/,
    );
  });

  test('that are cut short or something else', () => {
    const whole = readFileSync(at('good.tstats'));
    for (const length of [0, 1, 8, 32, whole.length >> 1, whole.length - 1]) {
      const text = refused(good(), '--stats', put('cut.tstats', whole.subarray(0, length)));
      assert.match(text, /cut\.tstats/, `the first ${length} bytes`);
    }
    for (const text of ['{}', '{"a":', '[]', ''])
      assert.match(refusedData(good(), samples(), '--recipe', put('no.json', text)), /no\.json: /, text);
  });
});

// ------------------------------------------------------------------------------------------------ constant and tiny values

/** The file is read by ONNX Runtime, gives finite numbers, and its scales are finite and positive. */
async function isSound(file, data) {
  const scales = initializersOf(readFileSync(file)).filter(({ name }) => name.includes('scale'));
  assert(scales.length >= 2, 'scales of the input and of the weights');
  for (const { name, data: values } of scales)
    for (const value of values) assert(value > 0 && Number.isFinite(value), `${name} is ${value}`);
  const { y } = await outputsOf(file, { x: { type: 'float32', dims: [1, 8], data } });
  assert.equal(y.data.length, 4);
  for (const value of y.data) assert(Number.isFinite(value), `an output is ${value}`);
}

for (const value of [0, 1, -1e-30, 1e-45, 1e30])
  test(`samples that are ${value} throughout give a file that runs`, async () => {
    const data = putArray('constant.npy', new Float32Array(16).fill(value), [2, 8]);
    const result = run('quantize', good(), '--data', data, '-o', at('constant.onnx'));
    assert.equal(result.status, 0, result.stderr);
    await isSound(at('constant.onnx'), new Float32Array(8).fill(value));
  });

const weights = {
  'all zero': floats(32, () => 0),
  'all one': floats(32, () => 1),
  'all denormal': floats(32, () => 1e-45),
  'zero in one channel': floats(32, (k) => (k % 4 === 2 ? 0 : Math.sin(k))),
};
for (const [name, data] of Object.entries(weights))
  test(`weights that are ${name} give a file that runs`, async () => {
    const model = put('flat.onnx', layerWith({ dims: [8, 4], data }, { dims: [4], data: floats(4, () => 0) }));
    const result = run('quantize', model, '--data', samples(), '-o', at('flat-int8.onnx'));
    assert.equal(result.status, 0, result.stderr);
    await isSound(at('flat-int8.onnx'), floats(8));
  });

// --------------------------------------------------------------------------------------------------- outputs that cannot be

test('an output that cannot be written is refused before the work, and no other file is written', () => {
  const to = (...args) => ['quantize', good(), '--data', samples(), '-o', ...args];
  mkdirSync(at('taken'), { recursive: true });
  const missing = at('no/such/file');
  assert.match(failure(1, to(at('taken'))), /taken: This is a folder where a file is to be written/);
  assert.match(failure(1, to(missing)), /no\/such\/file: The file cannot be written: No such file or directory/);
  assert.match(failure(2, to('')), /--output: needs a value and got an empty one/);
  assert.match(failure(1, to('/dev/full')), /No space left/);
  assert.match(failure(1, to(at('out.onnx'), '--report', missing)), /no\/such\/file: /);
  assert.match(failure(1, to(at('out.onnx'), '--save-recipe', missing)), /no\/such\/file: /);
  assert.match(failure(2, to(at('out.onnx'), '--save-recipe', at('out.onnx'))), /out\.onnx" is to be written twice/);
  assert.match(failure(1, ['calibrate', good(), '--data', at('none'), '-o', missing]), /no\/such\/file: /);
  assert.match(failure(1, ['run', good(), '--data', samples(), '--output', good()]), /folder cannot be made/);
});

test('what was there stays as it was when the work fails', () => {
  const old = put('old.onnx', 'old');
  const nan = putArray(
    'nan.npy',
    floats(8, () => NaN),
    [1, 8],
  );
  assert.equal(run('quantize', good(), '--data', nan, '-o', old).status, 1);
  assert.equal(readFileSync(old, 'utf8'), 'old');
});

// ------------------------------------------------------------------------------------------------------------------- usage

test('wrong usage ends with 2 and names the argument', () => {
  const quantize = ['quantize', good(), '-o', at('out.onnx')];
  for (const [args, message] of [
    [['nothing'], /no subcommand "nothing"/],
    [['--nothing'], /no option "--nothing"/],
    [['quantize', good(), '--nothing'], /no option "--nothing"/],
    [[...quantize, '--data', samples(), '--nothing'], /--nothing/],
    [
      [...quantize, '--data', samples(), '--threads', '-1'],
      /--threads: Found "-1" where a whole number from 0 to 1024/,
    ],
    [[...quantize, '--data', samples(), '--limit', 'x'], /--limit: Found "x" where a whole number of 0 or more is/],
    [['evaluate', good(), '--data', samples(), '--metric', 'luck'], /--metric: Found "luck"/],
  ])
    assert.match(failure(2, args), message);
  // Weights alone need no samples, so this is no wrong usage of the program but of the platform.
  assert.match(failure(1, quantize), /There are no samples to calibrate with/);
});

test('a setting that does not exist, does not fit or does not act yet is refused with the field and the value', () => {
  for (const [setting, message] of [
    ['nothing=1', /no field "nothing" here\.\n.*config --schema/],
    ['nothing', /"nothing" is not of the form FIELD=VALUE/],
    ['=', /"=" is not of the form/],
    ['weights_n_bits=99', /config\.weights_n_bits: Found 99 where a whole number from 2 to 16/],
    ['weights_n_bits=x', /config\.weights_n_bits: Found "x" where a whole number/],
    ['weights_n_bits=4', /config\.weights_n_bits: .* = 4; it can be 8/],
    ['l_p_value=0', /config\.l_p_value: Found 0/],
    ['min_threshold=nan', /config\.min_threshold: Found "nan" where a number/],
    ['weights_bias_correction=maybe', /config\.weights_bias_correction: Found "maybe" where true or false/],
    ['weights_second_moment_correction=2', /config\.weights_second_moment_correction: Found 2 where true or false/],
    ['z_threshold=-3', /config\.z_threshold: Found -3(\.0)? where a number of at least 0/],
    ['weights_threshold_method=Entropy', /weights_threshold_method is Entropy.*\n.*NOCLIPPING, MSE/],
    ['activation_quantization_method=KMEANS', /"KMEANS" is not a quantization method/],
  ])
    assert.match(refusedData(good(), samples(), '--set', setting), message);
  const config = (text) => refusedData(good(), samples(), '--config', put('config.json', text));
  assert.match(config('{"weights_n_bits":'), /config\.json: This is not valid JSON: .*line 1/);
  assert.match(refusedData(good(), samples(), '--platform', 'abacus'), /no platform "abacus".*\n.*ort-cpu@v1/);
  assert.match(refusedData(good(), samples(), '--platform', 'ort-cpu@v9'), /"ort-cpu" of version 9/);
  assert.match(refusedData(good(), samples(), '--runtime', 'z80'), /--runtime: "z80" is not a runtime/);
  const shard = failure(1, ['calibrate', good(), '--data', samples(), '-o', at('out.onnx'), '--shard', '4/3']);
  assert.match(shard, /--shard: "4\/3" is no shard/);
});
