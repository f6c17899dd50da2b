// SPDX-License-Identifier: Apache-2.0
// The four networks of the benchmarks as ONNX files with seeded weights: MobileNetV1, MobileNetV2, ResNet-18 and ResNet-50 at 224 x 224 with
// batch normalization folded. Speed does not depend on what the weights are, only on the shapes.
//
//   node tests/bench/nets.mjs FOLDER      writes FOLDER/<name>.onnx
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

// ---- protobuf's wire format, as much of it as a model needs

const varint = (value) => {
  const bytes = [];
  let rest = BigInt.asUintN(64, BigInt(value));
  do {
    const low = Number(rest & 127n);
    rest >>= 7n;
    bytes.push(rest > 0n ? low | 128 : low);
  } while (rest > 0n);
  return Buffer.from(bytes);
};
const integer = (field, value) => Buffer.concat([varint(field << 3), varint(value)]);
const bytes = (field, value) => Buffer.concat([varint((field << 3) | 2), varint(value.length), value]);
const text = (field, value) => bytes(field, Buffer.from(value, 'utf8'));
const message = (field, ...parts) => bytes(field, Buffer.concat(parts));

const FLOAT = 1;
const tensorType = (dims) =>
  message(
    2,
    message(
      1,
      integer(1, FLOAT),
      message(2, ...dims.map((dim) => message(1, typeof dim === 'number' ? integer(1, dim) : text(2, dim)))),
    ),
  );

// ---- a graph builder

/** Mulberry32: the same numbers on every machine. */
export const randomNumbers = (seed) => () => {
  seed = (seed + 0x6d2b79f5) | 0;
  let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
};

class Net {
  constructor(seed) {
    this.random = randomNumbers(seed);
    this.nodes = [];
    this.initializers = [];
    this.count = 0;
  }

  constant(name, dims, spread) {
    const values = new Float32Array(dims.reduce((a, b) => a * b, 1));
    for (let i = 0; i < values.length; ++i) values[i] = (this.random() * 2 - 1) * spread;
    this.initializers.push(
      message(
        5,
        ...dims.map((dim) => integer(1, dim)),
        integer(2, FLOAT),
        text(8, name),
        bytes(9, Buffer.from(values.buffer)),
      ),
    );
    return name;
  }

  node(op, inputs, attributes = {}) {
    const name = `${op.toLowerCase()}_${++this.count}`;
    const encoded = Object.entries(attributes).map(([key, value]) =>
      Array.isArray(value)
        ? message(5, text(1, key), ...value.map((one) => integer(8, one)), integer(20, 7))
        : message(5, text(1, key), integer(3, value), integer(20, 2)),
    );
    this.nodes.push(
      message(
        1,
        ...inputs.map((input) => text(1, input)),
        text(2, `${name}_out`),
        text(3, name),
        text(4, op),
        ...encoded,
      ),
    );
    return `${name}_out`;
  }

  conv(x, from, to, kernel, stride = 1, group = 1) {
    const pad = (kernel - 1) >> 1;
    // Uniform with He's variance, so that values neither vanish nor explode through the layers.
    const weight = this.constant(
      `w${this.count}`,
      [to, from / group, kernel, kernel],
      Math.sqrt(6 / ((from / group) * kernel * kernel)),
    );
    const bias = this.constant(`b${this.count}`, [to], 0.05);
    return this.node('Conv', [x, weight, bias], {
      kernel_shape: [kernel, kernel],
      strides: [stride, stride],
      pads: [pad, pad, pad, pad],
      group,
    });
  }

  relu(x) {
    return this.node('Relu', [x]);
  }

  relu6(x) {
    if (!this.bounds) {
      const scalar = (name, value) => {
        this.initializers.push(
          message(5, integer(2, FLOAT), text(8, name), bytes(9, Buffer.from(new Float32Array([value]).buffer))),
        );
        return name;
      };
      this.bounds = [scalar('low', 0), scalar('high', 6)];
    }
    return this.node('Clip', [x, ...this.bounds]);
  }

  classifier(x, channels, classes = 1000) {
    const pooled = this.node('Flatten', [this.node('GlobalAveragePool', [x])], { axis: 1 });
    const weight = this.constant('classifier_w', [classes, channels], Math.sqrt(3 / channels));
    const bias = this.constant('classifier_b', [classes], 0.05);
    return this.node('Gemm', [pooled, weight, bias], { transB: 1 });
  }

  model(output) {
    const graph = message(
      7,
      ...this.nodes,
      text(2, 'net'),
      ...this.initializers,
      message(11, text(1, 'input'), tensorType(['N', 3, 224, 224])),
      message(12, text(1, output), tensorType(['N', 1000])),
    );
    return Buffer.concat([integer(1, 8), text(2, 'tersor-bench'), graph, message(8, text(1, ''), integer(2, 13))]);
  }
}

// ---- the networks

function mobilenetV1() {
  const net = new Net(1);
  let x = net.relu(net.conv('input', 3, 32, 3, 2));
  let from = 32;
  for (const [to, stride] of [
    [64, 1],
    [128, 2],
    [128, 1],
    [256, 2],
    [256, 1],
    [512, 2],
    [512, 1],
    [512, 1],
    [512, 1],
    [512, 1],
    [512, 1],
    [1024, 2],
    [1024, 1],
  ]) {
    x = net.relu(net.conv(x, from, from, 3, stride, from));
    x = net.relu(net.conv(x, from, to, 1));
    from = to;
  }
  return net.model(net.classifier(x, 1024));
}

function mobilenetV2() {
  const net = new Net(2);
  let x = net.relu6(net.conv('input', 3, 32, 3, 2));
  let from = 32;
  for (const [expand, to, repeats, first] of [
    [1, 16, 1, 1],
    [6, 24, 2, 2],
    [6, 32, 3, 2],
    [6, 64, 4, 2],
    [6, 96, 3, 1],
    [6, 160, 3, 2],
    [6, 320, 1, 1],
  ])
    for (let i = 0; i < repeats; ++i) {
      const stride = i === 0 ? first : 1;
      const hidden = from * expand;
      let y = expand === 1 ? x : net.relu6(net.conv(x, from, hidden, 1));
      y = net.relu6(net.conv(y, hidden, hidden, 3, stride, hidden));
      y = net.conv(y, hidden, to, 1);
      x = stride === 1 && from === to ? net.node('Add', [x, y]) : y;
      from = to;
    }
  x = net.relu6(net.conv(x, 320, 1280, 1));
  return net.model(net.classifier(x, 1280));
}

function resnet(seed, blocks, bottleneck) {
  const net = new Net(seed);
  let x = net.relu(net.conv('input', 3, 64, 7, 2));
  x = net.node('MaxPool', [x], { kernel_shape: [3, 3], strides: [2, 2], pads: [1, 1, 1, 1] });
  let from = 64;
  blocks.forEach((repeats, stage) => {
    const width = 64 << stage;
    const to = bottleneck ? width * 4 : width;
    for (let i = 0; i < repeats; ++i) {
      const stride = i === 0 && stage > 0 ? 2 : 1;
      let y;
      if (bottleneck) {
        y = net.relu(net.conv(x, from, width, 1));
        y = net.relu(net.conv(y, width, width, 3, stride));
        y = net.conv(y, width, to, 1);
      } else {
        y = net.relu(net.conv(x, from, width, 3, stride));
        y = net.conv(y, width, to, 3);
      }
      const shortcut = stride === 1 && from === to ? x : net.conv(x, from, to, 1, stride);
      x = net.relu(net.node('Add', [y, shortcut]));
      from = to;
    }
  });
  return net.model(net.classifier(x, from));
}

/** Hardly any work for a sample beside reading it. */
export function poolingAlone() {
  const net = new Net(3);
  return net.model(net.classifier('input', 3));
}

export const nets = {
  'mobilenet-v1': mobilenetV1,
  'mobilenet-v2': mobilenetV2,
  'resnet-18': () => resnet(18, [2, 2, 2, 2], false),
  'resnet-50': () => resnet(50, [3, 4, 6, 3], true),
};

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const folder = process.argv[2];
  if (!folder) {
    console.error('usage: node tests/bench/nets.mjs FOLDER');
    process.exit(2);
  }
  mkdirSync(folder, { recursive: true });
  for (const [name, make] of Object.entries(nets)) writeFileSync(path.join(folder, `${name}.onnx`), make());
}
