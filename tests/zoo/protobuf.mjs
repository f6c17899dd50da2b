// SPDX-License-Identifier: Apache-2.0
// Just enough of protobuf to read the tensors of ONNX test sets and to write small ONNX models field by field.

// --------------------------------------------------------------------------------------------------------------- reading

function* fields(bytes) {
  let at = 0;
  const varint = () => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[at++];
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return value;
    }
  };
  while (at < bytes.length) {
    const key = Number(varint());
    const [tag, wire] = [key >> 3, key & 7];
    if (wire === 0) yield { tag, value: varint() };
    else {
      const size = wire === 2 ? Number(varint()) : wire === 5 ? 4 : 8;
      yield { tag, wire, value: bytes.subarray(at, at + size) };
      at += size;
    }
  }
}

// ONNX element type: ONNX Runtime's name, array type
const elements = {
  1: ['float32', Float32Array],
  2: ['uint8', Uint8Array],
  3: ['int8', Int8Array],
  4: ['uint16', Uint16Array],
  5: ['int16', Int16Array],
  6: ['int32', Int32Array],
  7: ['int64', BigInt64Array],
  9: ['bool', Uint8Array],
  10: ['float16', Uint16Array],
  11: ['float64', Float64Array],
  12: ['uint32', Uint32Array],
  13: ['uint64', BigUint64Array],
};

const copy = (bytes) => new Uint8Array(bytes).buffer;

/** An encoded TensorProto with raw data, or floats: {type, dims, data}. */
export function readTensor(bytes) {
  const dims = [];
  let type = 0;
  let raw = new Uint8Array();
  for (const field of fields(bytes)) {
    if (field.tag === 1 && field.wire === 2) throw new Error('packed dims are not read here');
    if (field.tag === 1) dims.push(Number(field.value));
    if (field.tag === 2) type = Number(field.value);
    if (field.tag === 9 || (field.tag === 4 && field.wire === 2)) raw = field.value;
  }
  if (!elements[type]) throw new Error(`element type ${type} is not read here`);
  const [name, Kind] = elements[type];
  const data = new Kind(copy(raw));
  if (data.length !== dims.reduce((product, dim) => product * dim, 1))
    throw new Error('the data of this tensor is not read here');
  return { type: name, dims, data };
}

/** The initializers with raw data of an encoded model: {name, type, dims, data} each. */
export function initializersOf(model) {
  const inside = (bytes, tag) => [...fields(bytes)].filter((field) => field.tag === tag).map((field) => field.value);
  return inside(inside(model, 7)[0], 5).map((bytes) => ({
    name: Buffer.from(inside(bytes, 8)[0]).toString(),
    ...readTensor(bytes),
  }));
}

// --------------------------------------------------------------------------------------------------------------- writing

function varint(value) {
  const bytes = [];
  let rest = BigInt.asUintN(64, BigInt(value));
  for (; rest > 127n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128);
  return Buffer.from([...bytes, Number(rest)]);
}

const int = (tag, value) => Buffer.concat([varint(tag << 3), varint(value)]);
const block = (tag, bytes) => Buffer.concat([varint((tag << 3) | 2), varint(bytes.length), bytes]);
const text = (tag, value) => block(tag, Buffer.from(value));
const float = (tag, value) => {
  const bytes = Buffer.alloc(4);
  bytes.writeFloatLE(value);
  return Buffer.concat([varint((tag << 3) | 5), bytes]);
};

const typeNumber = (data) =>
  Number(Object.keys(elements).find((key) => key !== '9' && key !== '10' && data instanceof elements[key][1]));

/** {dims, data}; `type` where the array does not tell it (float16), `location` in place of data for weights in another file. */
export function tensorProto(name, { dims, data, type = data ? typeNumber(data) : 1, location }) {
  const content = location
    ? [block(13, Buffer.concat([text(1, 'location'), text(2, location)])), int(14, 1)]
    : [block(9, Buffer.from(data.buffer, data.byteOffset, data.byteLength))];
  return Buffer.concat([...dims.map((dim) => int(1, dim)), int(2, type), text(8, name), ...content]);
}

function attribute(name, value) {
  const parts = [text(1, name)];
  const add = (type, ...encoded) => Buffer.concat([...parts, ...encoded, int(20, type)]);
  if (typeof value === 'string') return add(3, text(4, value));
  if (typeof value === 'number') return add(2, int(3, value));
  if (value instanceof Float32Array) return add(6, ...[...value].map((one) => float(7, one)));
  if (Array.isArray(value)) return add(7, ...value.map((one) => int(8, one)));
  if ('float' in value) return add(1, float(2, value.float));
  if ('graph' in value) return add(5, block(6, value.graph));
  throw new Error('unknown kind of attribute');
}

function nodeProto({ op, domain, inputs = [], outputs, attributes = {} }) {
  return Buffer.concat([
    ...inputs.map((name) => text(1, name)),
    ...outputs.map((name) => text(2, name)),
    text(4, op),
    ...(domain ? [text(7, domain)] : []),
    ...Object.entries(attributes).map(([name, value]) => block(5, attribute(name, value))),
  ]);
}

function valueInfo(name, type, dims) {
  const shape = dims && block(2, Buffer.concat(dims.map((dim) => block(1, int(1, dim)))));
  return Buffer.concat([text(1, name), block(2, block(1, Buffer.concat([int(1, type), ...(shape ? [shape] : [])])))]);
}

/** GraphProto: nodes; constants {name: tensor}; inputs and outputs {name: [element type, dims or null]}. */
export function graphProto({ nodes, constants = {}, inputs = {}, outputs }) {
  return Buffer.concat([
    ...nodes.map((node) => block(1, nodeProto(node))),
    text(2, 'graph'),
    ...Object.entries(constants).map(([name, tensor]) => block(5, tensorProto(name, tensor))),
    ...Object.entries(inputs).map(([name, [type, dims]]) => block(11, valueInfo(name, type, dims))),
    ...Object.entries(outputs).map(([name, [type, dims]]) => block(12, valueInfo(name, type, dims))),
  ]);
}

/** Further operator sets in `domains`: {domain: version}. */
export function modelProto(opset, graph, { domains = {}, irVersion = 4 } = {}) {
  const sets = Object.entries({ '': opset, ...domains });
  return Buffer.concat([
    int(1, irVersion),
    block(7, graphProto(graph)),
    ...sets.map(([domain, version]) => block(8, Buffer.concat([text(1, domain), int(2, version)]))),
  ]);
}

/** y = op(x, w), `x` and `y` being shapes. */
export function weightedModel(op, w, x, y) {
  return modelProto(13, {
    nodes: [{ op, inputs: ['x', 'w'], outputs: ['y'] }],
    constants: { w },
    inputs: { x: [1, x] },
    outputs: { y: [1, y] },
  });
}

/** y = x · w, four values in and two out. */
export function smallProduct() {
  const w = { dims: [4, 2], data: Float32Array.from({ length: 8 }, (_, k) => k / 7 - 0.5) };
  return weightedModel('MatMul', w, [1, 4], [1, 2]);
}

/** `count` floats from -1 to 1, others for each seed. */
export const waves = (seed, count) => Float32Array.from({ length: count }, (_, k) => Math.sin(seed + 1.7 * k));

/** Two products with a Relu between them: `batch` rows of six values in, of three classes out. */
export function perceptron(batch) {
  return modelProto(13, {
    nodes: [
      { op: 'MatMul', inputs: ['x', 'w'], outputs: ['h'] },
      { op: 'Relu', inputs: ['h'], outputs: ['r'] },
      { op: 'MatMul', inputs: ['r', 'v'], outputs: ['y'] },
    ],
    constants: { w: { dims: [6, 8], data: waves(1, 48) }, v: { dims: [8, 3], data: waves(2, 24) } },
    inputs: { x: [1, [batch, 6]] },
    outputs: { y: [1, [batch, 3]] },
  });
}
