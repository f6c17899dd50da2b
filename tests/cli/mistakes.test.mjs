// SPDX-License-Identifier: Apache-2.0
// What people do wrong with a terminal, and what the program says: mistakes.txt holds all of it, to be read aloud. With UPDATE_GOLDEN=1 the
// file is written anew.
import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'vitest';

import { npy } from '../browser/files.mjs';
import { modelProto } from '../zoo/protobuf.mjs';
import { withFolder } from '../zoo/runtime.mjs';
import { run, writeJob } from './job.mjs';

const golden = path.join(import.meta.dirname, 'mistakes.txt');

const tensor = (...dims) => ({
  dims,
  data: Float32Array.from({ length: dims.reduce((a, b) => a * b) }, (_, k) => (k % 7) / 7 - 0.5),
});
const model = (nodes, constants, input, output) =>
  modelProto(13, { nodes, constants, inputs: { x: [1, input] }, outputs: { y: [1, output] } });

/** Everything that the mistakes need, in a folder. */
function prepare(folder) {
  const at = (...names) => path.join(folder, ...names);
  const put = (name, content) => {
    mkdirSync(path.dirname(at(name)), { recursive: true });
    writeFileSync(at(name), content);
  };
  const job = writeJob(folder);
  copyFileSync(job.samples, at('table.csv'));
  const conv = [{ op: 'Conv', inputs: ['x', 'w'], outputs: ['y'] }];
  put('pictures.onnx', model(conv, { w: tensor(4, 3, 3, 3) }, [1, 3, 8, 8], [1, 4, 6, 6]));
  put(
    'ids.onnx',
    modelProto(13, {
      nodes: [
        { op: 'Gather', inputs: ['e', 'x'], outputs: ['r'] },
        { op: 'MatMul', inputs: ['r', 'w'], outputs: ['y'] },
      ],
      constants: { e: tensor(50, 4), w: tensor(4, 2) },
      inputs: { x: [6, [1, 3]] },
      outputs: { y: [1, [1, 3, 2]] },
    }),
  );
  put('network.tflite', Buffer.from('\x1c\0\0\0TFL3\x14\0\x20\0', 'latin1'));
  put('channels-last.npy', npy(new Float32Array(8 * 8 * 3), [8, 8, 3]));
  put('words.npy', npy(Int32Array.from([1, 2, 77]), [1, 3]));
  put('nan.npy', npy(Float32Array.from([1, NaN, 0, 0]), [1, 4]));
  put('photos/one.heic', Buffer.from('\0\0\0\x18ftypheic\0\0\0\0', 'latin1'));
  put('photos/two.webp', Buffer.from('RIFF\x20\0\0\0WEBPVP8 ', 'latin1'));
  put('config.json', '{"weights_n_bits": 8,}');
  put('labels.txt', '0\n1\n');
}

const mistakes = [
  ['a file of another tool', 'quantize', 'network.tflite', '--data', 'table.csv', '-o', 'out.onnx'],
  ['a model that is not there', 'quantize', 'modle.onnx', '--data', 'table.csv', '-o', 'out.onnx'],
  ['no samples named', 'quantize', 'model.onnx', '-o', 'out.onnx'],
  ['an option misspelled', 'quantize', 'model.onnx', '--data', 'table.csv', '--plattform', 'qnn', '-o', 'out.onnx'],
  ['a platform misspelled', 'quantize', 'model.onnx', '--data', 'table.csv', '--platform', 'openvno', '-o', 'out.onnx'],
  ['pictures of formats that are not read', 'quantize', 'pictures.onnx', '--data', 'photos', '-o', 'out.onnx'],
  ['channels at the wrong end', 'quantize', 'pictures.onnx', '--data', 'channels-last.npy', '-o', 'out.onnx'],
  ['an id outside of the vocabulary', 'quantize', 'ids.onnx', '--data', 'words.npy', '-o', 'out.onnx'],
  ['a sample that is not a number', 'quantize', 'model.onnx', '--data', 'nan.npy', '-o', 'out.onnx'],
  [
    'bits that the platform does not have',
    'quantize',
    'model.onnx',
    '--data',
    'table.csv',
    '--set',
    'weights_n_bits=5',
    '-o',
    'out.onnx',
  ],
  ['a comma too many', 'quantize', 'model.onnx', '--data', 'table.csv', '--config', 'config.json', '-o', 'out.onnx'],
  ['the output is the input', 'quantize', 'model.onnx', '--data', 'table.csv', '-o', 'model.onnx'],
  ['too few labels', 'evaluate', 'model.onnx', '--data', 'table.csv', '--labels', 'labels.txt'],
  ['a quantized model once more', 'quantize', 'out.onnx', '--data', 'table.csv', '-o', 'again.onnx'],
];

test("what is said to people's mistakes", () =>
  withFolder((folder) => {
    prepare(folder);
    const inFolder = (arg) => (/\.(onnx|tflite|csv|npy|json|txt)$|^photos$/.test(arg) ? path.join(folder, arg) : arg);
    run(
      'quantize',
      path.join(folder, 'model.onnx'),
      '--data',
      path.join(folder, 'table.csv'),
      '-o',
      path.join(folder, 'out.onnx'),
    );
    let all = '';
    for (const [title, ...args] of mistakes) {
      const { status, stderr, stdout } = run(...args.map(inFolder));
      assert(status === 1 || status === 2, `${title}: ${stdout}`);
      all += `# ${title}\n$ tersor ${args.join(' ')}\n${(stdout + stderr).replaceAll(`${folder}/`, '')}\n`;
    }
    if (process.env.UPDATE_GOLDEN) writeFileSync(golden, all);
    assert.equal(all, readFileSync(golden, 'utf8'));
  }));
