// SPDX-License-Identifier: Apache-2.0

import type { GraphNode, GraphView } from 'tersor';
import { expect, it } from 'vitest';

import { drawnOf, knownOf, paintOf, shortName, timeOf } from '../src/graph/drawn';
import { layOut, type LayoutRequest } from '../src/graph/layout';
import { inOrder } from '../src/graph/order';
import { worstChannels } from '../src/ui/Channels';

const node = (op: string, inputs: string[], output: string, more: Partial<GraphNode> = {}): GraphNode => ({
  name: `${op}_${output}`,
  op,
  domain: '',
  detail: '',
  inputs,
  outputs: [output],
  shape: [1, 4],
  support: 'integer',
  reason: '',
  joined: null,
  weights_n_bits: null,
  activation_n_bits: 8,
  float_ms: 1,
  ...more,
});

const view = (nodes: GraphNode[], output: string): GraphView => ({
  inputs: [{ name: 'x', shape: [1, 4] }],
  outputs: [{ name: output, shape: [1, 4] }],
  nodes,
  folded: 0,
  runtime: 'ONNX Runtime',
  machine: '',
});

it('draws what is computed as one as one node, unless every node is wanted', () => {
  const known = view(
    [node('Conv', ['x'], 'a'), node('Relu', ['a'], 'b', { joined: 0 }), node('Add', ['b', 'x'], 'y')],
    'y',
  );
  const whole = drawnOf(known, true);
  expect(whole.nodes.map(({ title }) => title)).toEqual(['x', 'Conv + Relu', 'Add', 'y']);
  expect(whole.edges).toEqual([
    [0, 1],
    [1, 2],
    [0, 2],
    [2, 3],
  ]);
  expect(drawnOf(known, false).nodes.map(({ title }) => title)).toEqual(['x', 'Conv', 'Relu', 'Add', 'y']);
});

it('does not join what would have to wait for itself', () => {
  const circle = view(
    [node('Conv', ['x'], 'a'), node('Sigmoid', ['a'], 's'), node('Mul', ['a', 's'], 'y', { joined: 0 })],
    'y',
  );
  expect(drawnOf(circle, true).nodes.map(({ title }) => title)).toEqual(['x', 'Conv', 'Sigmoid', 'Mul', 'y']);
});

it('has the time of the runtime where there is a result, else that of the float model', () => {
  const known = view([node('Conv', ['x'], 'a'), node('Relu', ['a'], 'y', { joined: 0, float_ms: 0.5 })], 'y');
  const [, conv] = drawnOf(known, true).nodes;
  if (!conv) throw new Error('a node is missing');
  expect(timeOf(conv, knownOf(known, [], []))).toBe(1.5);
  const after = knownOf(known, [], [{ op: 'QLinearConv', outputs: ['y'], milliseconds: 0.25 }]);
  expect(timeOf(conv, after)).toBe(0.25);
  expect(paintOf(conv, 'time', after)).toEqual({ step: 4, figure: '0.25\u202fms', dashed: false });
  expect(paintOf(conv, 'bits', after).figure).toBe('a8');
});

it('leaves the type away that exporters write at the end of a name', () => {
  expect(shortName('/model/block1/conv/Conv', 'Conv')).toBe('block1/conv');
  expect(shortName('Conv_12', 'Conv')).toBe('Conv_12');
});

function chain(count: number, skips: readonly (readonly [number, number])[]): LayoutRequest {
  const boxes = Array.from({ length: count }, () => ({ width: 100, height: 40 }));
  return { boxes, edges: [...boxes.slice(1).map((_, k) => [k, k + 1] as const), ...skips] };
}

it('lays every node below those that it reads, and no two on each other', () => {
  const blocks = Array.from({ length: 20 }, (_, k) => [4 * k, 4 * k + 4] as const);
  const requests = [
    chain(90, blocks),
    chain(90, [...blocks, [2, 80], [10, 70]]),
    // long ways past all the rest
    chain(900, [
      [5, 890],
      [100, 800],
      [200, 700],
    ]),
  ];
  for (const request of requests) {
    const { x, y, paths } = layOut(request);
    for (const [from, to] of request.edges) expect(y[to]).toBeGreaterThan((y[from] ?? 0) + 39);
    const places = [...x.keys()].sort((a, b) => (y[a] ?? 0) - (y[b] ?? 0));
    places.forEach((k, at) => {
      for (const other of places.slice(at + 1, at + 8)) {
        const apart = Math.abs((x[k] ?? 0) - (x[other] ?? 0)) >= 100 || Math.abs((y[k] ?? 0) - (y[other] ?? 0)) >= 40;
        expect(apart).toBe(true);
      }
    });
    expect(paths.every((path) => path.length >= 4)).toBe(true);
  }
});

it('puts nodes in order whatever the order they come in', () => {
  const order = inOrder(4, [
    [3, 0],
    [0, 2],
    [2, 1],
  ]);
  expect(order).toEqual([3, 0, 2, 1]);
});

it('names the channels that lose most first', () => {
  const channels = [40, null, 12, 30].map((sqnr_db) => ({ largest: 1, sqnr_db }));
  expect(worstChannels(channels)).toEqual([2, 3, 0]);
});
