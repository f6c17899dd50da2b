// SPDX-License-Identifier: Apache-2.0
//
// What is drawn of a graph: its nodes, those that the runtime computes as one as one, and what colour and figure each has.

import type { GraphNode, GraphView, LayerRow, RuntimeNode } from 'tersor';

import { count, fixed, none, percent, thin } from '../numbers';
import { inOrder } from './order';

export interface DrawnNode {
  readonly kind: 'node' | 'input' | 'output';
  /** Places in the view's nodes, in the order of the graph. */
  readonly members: readonly number[];
  /** Operators, joined by "+". */
  readonly title: string;
  /** As overrides name it. */
  readonly name: string;
  /** The end of the name. */
  readonly short: string;
  readonly outputs: readonly string[];
  readonly width: number;
  readonly height: number;
}

export interface Drawn {
  readonly nodes: readonly DrawnNode[];
  readonly edges: readonly (readonly [number, number])[];
}

const nodeBox = { width: 172, height: 46 };
const endBox = { width: 132, height: 30 };

/** "block1/conv" of "/model/block1/conv/Conv": exporters put the operator's type last. */
export function shortName(name: string, op: string): string {
  const parts = name.split(/[/:]/).filter((part) => part !== '');
  if (parts.length > 1 && new RegExp(`^${op}(_\\d+)?$`).test(parts.at(-1) ?? '')) parts.pop();
  return parts.slice(-2).join('/') || name;
}

/** The place of the first node that this one is computed with. */
function rootOf(nodes: readonly GraphNode[], index: number): number {
  let at = index;
  for (let steps = 0; steps < nodes.length; ++steps) {
    const front = nodes[at]?.joined;
    if (front == null) return at;
    at = front;
  }
  return index;
}

/** `whole`: fused operators as one; else every node by itself. */
export function drawnOf(view: GraphView, whole: boolean): Drawn {
  const drawn = joined(view, whole);
  // operators that are computed together never wait for each other
  return whole && hasCircle(drawn) ? joined(view, false) : drawn;
}

function hasCircle({ nodes, edges }: Drawn): boolean {
  const place = new Array<number>(nodes.length);
  inOrder(nodes.length, edges).forEach((k, at) => (place[k] = at));
  return edges.some(([from, to]) => (place[from] ?? 0) > (place[to] ?? 0));
}

function joined(view: GraphView, whole: boolean): Drawn {
  const nodes: DrawnNode[] = [];
  const maker = new Map<string, number>();
  for (const end of view.inputs) {
    maker.set(end.name, nodes.length);
    nodes.push({
      kind: 'input',
      members: [],
      title: end.name,
      name: end.name,
      short: end.name,
      outputs: [end.name],
      ...endBox,
    });
  }
  const groups = new Map<number, number[]>();
  view.nodes.forEach((_, k) => {
    const root = whole ? rootOf(view.nodes, k) : k;
    const members = groups.get(root);
    if (members) members.push(k);
    else groups.set(root, [k]);
  });
  for (const members of groups.values()) {
    const all = members.flatMap((k) => view.nodes[k] ?? []);
    const [first] = all;
    if (!first) continue;
    const outputs = all.flatMap((node) => node.outputs);
    for (const output of outputs) maker.set(output, nodes.length);
    nodes.push({
      kind: 'node',
      members,
      title: all.map((node) => node.op).join(' + '),
      name: first.name,
      short: shortName(first.name, first.op),
      outputs,
      ...nodeBox,
    });
  }
  for (const end of view.outputs) {
    nodes.push({
      kind: 'output',
      members: [],
      title: end.name,
      name: end.name,
      short: end.name,
      outputs: [],
      ...endBox,
    });
  }
  const edges: (readonly [number, number])[] = [];
  nodes.forEach((node, to) => {
    const reads = node.kind === 'output' ? [node.name] : node.members.flatMap((k) => view.nodes[k]?.inputs ?? []);
    const from = new Set(reads.flatMap((value) => maker.get(value) ?? []));
    from.delete(to);
    for (const one of from) edges.push([one, to]);
  });
  return { nodes, edges };
}

// ----------------------------------------------------------------------------------------------------------- colours

export type ColourBy = 'error' | 'bits' | 'runtime' | 'time';

export interface Known {
  readonly view: GraphView;
  readonly layers: ReadonlyMap<string, LayerRow>;
  readonly runtime: ReadonlyMap<string, RuntimeNode>;
  /** Of all runtime nodes, or of the float model's before there is a result. */
  readonly milliseconds: number;
}

export function knownOf(view: GraphView, layers: readonly LayerRow[], runtime: readonly RuntimeNode[]): Known {
  const byOutput = new Map<string, RuntimeNode>();
  let milliseconds = 0;
  for (const node of runtime) {
    milliseconds += node.milliseconds ?? 0;
    // a quantizer's result has the name of what it quantizes; what computes that stands before it
    for (const output of node.outputs) if (!byOutput.has(output)) byOutput.set(output, node);
  }
  if (runtime.length === 0) milliseconds = view.nodes.reduce((sum, node) => sum + (node.float_ms ?? 0), 0);
  return { view, layers: new Map(layers.map((row) => [row.output, row])), runtime: byOutput, milliseconds };
}

/** The row of what the node gives out at last. */
export function rowOf(node: DrawnNode, known: Known): LayerRow | null {
  for (let k = node.outputs.length - 1; k >= 0; --k) {
    const row = known.layers.get(node.outputs[k] ?? '');
    if (row) return row;
  }
  return null;
}

export function runsAs(node: DrawnNode, known: Known): readonly RuntimeNode[] {
  return [...new Set(node.outputs.flatMap((output) => known.runtime.get(output) ?? []))];
}

export function timeOf(node: DrawnNode, known: Known): number | null {
  const members = node.members.flatMap((k) => known.view.nodes[k] ?? []);
  const times =
    known.runtime.size > 0
      ? runsAs(node, known).map((one) => one.milliseconds)
      : members.map((member) => member.float_ms);
  const there = times.filter((time) => time !== null);
  return there.length > 0 ? there.reduce((sum, time) => sum + time, 0) : null;
}

/** "0.12 ms", "3.4 µs". */
export function shortTime(milliseconds: number | null): string {
  if (milliseconds === null) return none;
  if (milliseconds < 0.0005) return `0${thin}µs`;
  if (milliseconds < 0.1) return `${fixed(1000 * milliseconds, milliseconds < 0.01 ? 1 : 0)}${thin}µs`;
  return `${fixed(milliseconds, milliseconds < 10 ? 2 : 0)}${thin}ms`;
}

export interface Paint {
  /** Step of the ramp. */
  readonly step: 0 | 1 | 2 | 3 | 4;
  readonly figure: string;
  /** It runs in float. */
  readonly dashed: boolean;
}

const steps = [0.01, 0.03, 0.06, 0.15] as const;

function stepOf(share: number): Paint['step'] {
  return steps.filter((limit) => share >= limit).length as Paint['step'];
}

function bitsOf(
  node: DrawnNode,
  known: Known,
): { readonly weights: number | null; readonly activation: number | null } {
  const members = node.members.flatMap((k) => known.view.nodes[k] ?? []);
  const last = members.findLast((member) => member.activation_n_bits !== null);
  return {
    weights: members.find((member) => member.weights_n_bits !== null)?.weights_n_bits ?? null,
    activation: last?.activation_n_bits ?? null,
  };
}

export function supportOf(node: DrawnNode, known: Known): GraphNode['support'] {
  return known.view.nodes[node.members[0] ?? -1]?.support ?? 'float';
}

const supportFigures: Readonly<Record<string, string>> = {
  integer: 'integer',
  fused: 'integer',
  moves: 'moves',
  float: 'float',
  folded: 'folded',
};

export function paintOf(node: DrawnNode, by: ColourBy, known: Known): Paint {
  if (node.kind !== 'node') return { step: 0, figure: '', dashed: false };
  const support = supportOf(node, known);
  const dashed = support === 'float';
  if (by === 'error') {
    const row = rowOf(node, known);
    return { step: row ? stepOf(row.error_share) : 0, figure: row ? percent(row.error_share, 1) : '', dashed };
  }
  if (by === 'time') {
    const time = timeOf(node, known);
    const share = time !== null && known.milliseconds > 0 ? time / known.milliseconds : 0;
    return { step: stepOf(share), figure: time === null ? '' : shortTime(time), dashed };
  }
  if (by === 'bits') {
    const { weights, activation } = bitsOf(node, known);
    const figure = [weights === null ? '' : `w${count(weights)}`, activation === null ? '' : `a${count(activation)}`];
    const fewest = Math.min(weights ?? 32, activation ?? 32);
    const step = fewest >= 32 ? 0 : fewest > 8 ? 1 : fewest === 8 ? 2 : fewest > 3 ? 3 : 4;
    return { step, figure: figure.filter(Boolean).join(' ') || 'float', dashed };
  }
  return { step: dashed ? 0 : support === 'moves' ? 1 : 2, figure: supportFigures[support] ?? '', dashed };
}

interface LegendEntry {
  readonly step: Paint['step'];
  readonly dashed: boolean;
  readonly text: string;
}

export function legendOf(by: ColourBy): readonly LegendEntry[] {
  const entry = (step: Paint['step'], text: string, dashed = false): LegendEntry => ({ step, text, dashed });
  const percent = (range: string) => `${range}${thin}%`;
  const shares = [percent('under 1'), percent('1 – 3'), percent('3 – 6'), percent('6 – 15'), percent('over 15')];
  if (by === 'bits') {
    return [
      entry(1, 'over 8 bits'),
      entry(2, '8 bits'),
      entry(3, '4 to 7 bits'),
      entry(4, 'under 4 bits'),
      entry(0, 'float', true),
    ];
  }
  if (by === 'runtime')
    return [entry(2, 'integer kernel'), entry(1, 'moves bytes, keeps integers'), entry(0, 'float', true)];
  return [...shares.map((text, k) => entry(k as Paint['step'], text)), entry(0, 'runs in float', true)];
}
