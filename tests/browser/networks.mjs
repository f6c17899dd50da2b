// SPDX-License-Identifier: Apache-2.0
//
// ONNX files of any number of nodes, written field by field.

function varint(value) {
  const bytes = [];
  for (let rest = BigInt(value); ; rest >>= 7n) {
    if (rest < 128n) return Buffer.from([...bytes, Number(rest)]);
    bytes.push(Number(rest & 127n) | 128);
  }
}

const number = (field, value) => Buffer.concat([varint(field << 3), varint(value)]);
const part = (field, content) => {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content;
  return Buffer.concat([varint((field << 3) | 2), varint(bytes.length), bytes]);
};
const node = (op, name, inputs, output) =>
  part(1, Buffer.concat([...inputs.map((input) => part(1, input)), part(2, output), part(3, name), part(4, op)]));
const value = (field, name, dims, type = 1) => {
  const shape = Buffer.concat(dims.map((dim) => part(1, typeof dim === 'string' ? part(2, dim) : number(1, dim))));
  return part(
    field,
    Buffer.concat([part(1, name), part(2, part(1, Buffer.concat([number(1, type), part(2, shape)])))]),
  );
};
const weight = (name, dims, values) =>
  part(
    5,
    Buffer.concat([
      ...dims.map((dim) => number(1, dim)),
      number(2, 1),
      part(8, name),
      part(9, Buffer.from(Float32Array.from(values).buffer)),
    ]),
  );

/**
 * x (1x4x4x4) through `blocks` of Conv, Relu, Conv and the Add of the block's input; every tenth block also adds what an early
 * one gave, past all that lies between, as U-Nets do. Four or five nodes a block.
 */
export function residual(blocks) {
  const channels = 4;
  const nodes = [];
  const weights = [];
  let last = 'x';
  const outputs = [];
  for (let k = 0; k < blocks; ++k) {
    const name = (what) => `block${k}/${what}`;
    for (const conv of ['conv1', 'conv2']) {
      const values = Array.from({ length: channels * channels }, (_, i) => Math.sin(1 + i + 17 * k) / channels);
      weights.push(weight(name(`${conv}.weight`), [channels, channels, 1, 1], values));
    }
    nodes.push(node('Conv', name('conv1'), [last, name('conv1.weight')], name('a')));
    nodes.push(node('Relu', name('relu'), [name('a')], name('b')));
    nodes.push(node('Conv', name('conv2'), [name('b'), name('conv2.weight')], name('c')));
    nodes.push(node('Add', name('add'), [name('c'), last], name('d')));
    last = name('d');
    outputs.push(last);
    if (k > blocks / 2 && k % 10 === 0) {
      nodes.push(node('Add', name('skip'), [last, outputs[blocks - k]], name('e')));
      last = name('e');
    }
  }
  const graph = Buffer.concat([
    ...nodes,
    part(2, 'residual'),
    ...weights,
    value(11, 'x', [1, channels, 4, 4]),
    value(12, last, [1, channels, 4, 4]),
  ]);
  return Buffer.concat([number(1, 8), part(7, graph), part(8, number(2, 13))]);
}

/**
 * Three classes by colour: the mean of each channel of x (Nx3x8x8), so that channel k is the answer of a picture that is brightest in
 * it. A 1x1 convolution before it gives the quantizer something to do.
 */
export function colours() {
  const identity = Array.from({ length: 9 }, (_, k) => (k % 4 === 0 ? 1 : 0.01));
  const graph = Buffer.concat([
    node('Conv', 'mix', ['x', 'mix.weight'], 'mixed'),
    node('GlobalAveragePool', 'mean', ['mixed'], 'means'),
    node('Flatten', 'flat', ['means'], 'scores'),
    part(2, 'colours'),
    weight('mix.weight', [3, 3, 1, 1], identity),
    value(11, 'x', [1, 3, 8, 8]),
    value(12, 'scores', [1, 3]),
  ]);
  return Buffer.concat([number(1, 8), part(7, graph), part(8, number(2, 13))]);
}

/**
 * A recording of any length (x), a state and the sample rate: a convolution's means, scaled and added to the state, which is carried
 * on. Names as long as exporters make them that join the paths of what they fused.
 */
export function listener() {
  const long = Array.from({ length: 6 }, (_, k) => `model_1/conv1d_${k}/BiasAdd/ReadVariableOp`).join(';');
  const graph = Buffer.concat([
    node('Conv', `${long};conv`, ['x', 'listen.weight'], 'heard'),
    node('GlobalAveragePool', `${long};pool`, ['heard'], 'means'),
    node('Flatten', `${long};flat`, ['means'], 'flat'),
    node('Mul', `${long};scale`, ['flat', 'rate'], 'scaled'),
    node('Add', `${long};carry`, ['scaled', 'state'], 'next'),
    node('Gemm', `${long};head`, ['next', 'head.weight'], 'y'),
    part(2, 'listener'),
    weight(
      'listen.weight',
      [4, 1, 5],
      Array.from({ length: 20 }, (_, k) => Math.sin(k)),
    ),
    weight(
      'head.weight',
      [4, 2],
      Array.from({ length: 8 }, (_, k) => Math.cos(k)),
    ),
    value(11, 'x', [1, 1, 'unk__7']),
    value(11, 'state', [1, 4]),
    value(11, 'rate', [1]),
    value(12, 'y', [1, 2]),
    value(12, 'next', [1, 4]),
  ]);
  return Buffer.concat([number(1, 8), part(7, graph), part(8, number(2, 13))]);
}

/** A convolution of a small picture to `first`, and the nodes that make `y` of it. */
function ofConvolution(name, first, ...others) {
  const graph = Buffer.concat([
    node('Conv', 'first', ['x', 'first.weight'], first),
    ...others,
    part(2, name),
    weight(
      'first.weight',
      [4, 3, 1, 1],
      Array.from({ length: 12 }, (_, k) => Math.sin(k)),
    ),
    value(11, 'x', [1, 3, 8, 8]),
    value(12, 'y', [1, 4, 8, 8]),
  ]);
  return Buffer.concat([number(1, 8), part(7, graph), part(8, number(2, 13))]);
}

/** A convolution, whose output is neither classes nor as large as a picture. */
export function maps() {
  return ofConvolution('maps', 'y');
}

/** A convolution, and after it an operator that no runtime knows. */
export function withOddOperator() {
  return ofConvolution('odd', 'a', node('Frobnicate', 'odd_one', ['a'], 'y'));
}

/** Two classes of a recording of 4000 values: how much of each of two filters is in it. */
export function words() {
  const graph = Buffer.concat([
    node('Conv', 'listen', ['x', 'listen.weight'], 'heard'),
    node('Relu', 'rectify', ['heard'], 'loud'),
    node('GlobalAveragePool', 'pool', ['loud'], 'means'),
    node('Flatten', 'flat', ['means'], 'flat'),
    node('Softmax', 'likely', ['flat'], 'scores'),
    part(2, 'words'),
    weight(
      'listen.weight',
      [2, 1, 7],
      Array.from({ length: 14 }, (_, k) => Math.sin(1 + 2 * k)),
    ),
    value(11, 'x', [1, 1, 4000]),
    value(12, 'scores', [1, 2]),
  ]);
  return Buffer.concat([number(1, 8), part(7, graph), part(8, number(2, 13))]);
}

/** The picture itself, made a little softer: an output that is a picture. */
export function softened() {
  const weights = Array.from({ length: 9 }, (_, k) => (k % 4 === 0 ? 0.8 : 0.1));
  const graph = Buffer.concat([
    node('Conv', 'soften', ['x', 'soften.weight'], 'y'),
    part(2, 'softened'),
    weight('soften.weight', [3, 3, 1, 1], weights),
    value(11, 'x', [1, 3, 32, 32]),
    value(12, 'y', [1, 3, 32, 32]),
  ]);
  return Buffer.concat([number(1, 8), part(7, graph), part(8, number(2, 13))]);
}

/** `input_ids` (int64, batch x tokens) through an embedding of 16, two MatMuls and a Relu; `inputs` are further ones that it leaves alone. */
export function reader(vocabulary, inputs = []) {
  const table = (rows, columns, phase) =>
    Array.from({ length: rows * columns }, (_, i) => Math.sin(1 + i * 1.7 + phase) / 2);
  const ids = (name) => value(11, name, ['batch', 'tokens'], 7);
  const nodes = [
    node('Gather', 'look', ['embedding', 'input_ids'], 'a'),
    node('MatMul', 'first', ['a', 'w1'], 'b'),
    node('Relu', 'relu', ['b'], 'c'),
    node('MatMul', 'second', ['c', 'w2'], 'hidden'),
  ];
  const weights = [
    weight('embedding', [vocabulary, 16], table(vocabulary, 16, 0)),
    weight('w1', [16, 64], table(16, 64, 5)),
    weight('w2', [64, 16], table(64, 16, 9)),
  ];
  const graph = [
    ...nodes,
    part(2, 'reader'),
    ...weights,
    ids('input_ids'),
    ...inputs.map(ids),
    value(12, 'hidden', ['batch', 'tokens', 16]),
  ];
  return Buffer.concat([number(1, 8), part(7, Buffer.concat(graph)), part(8, number(2, 17))]);
}
