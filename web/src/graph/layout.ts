// SPDX-License-Identifier: Apache-2.0
//
// Where the nodes of a graph stand: layers from top to bottom. A network is mostly chains and blocks, and what lays graphs
// out takes time that grows much faster than their number. So the graph is cut where everything runs through one node, and a
// chain counts as one tall node.

import { Graph, layout } from '@dagrejs/dagre';

import { inOrder } from './order';

export interface Box {
  readonly width: number;
  readonly height: number;
}

/** Edges are pairs of places in the list of boxes. */
export interface LayoutRequest {
  readonly boxes: readonly Box[];
  readonly edges: readonly (readonly [number, number])[];
}

/** Centres, and for every edge the x and y of its points, one after the other. */
export interface LayoutAnswer {
  readonly x: Float64Array;
  readonly y: Float64Array;
  readonly paths: readonly Float64Array[];
}

/** Pixels between ranks and between neighbours. */
const rankGap = 30;
const nodeGap = 24;

/** Places in `order` that no edge passes by. */
export function waists(order: readonly number[], edges: LayoutRequest['edges']): number[] {
  const place = new Array<number>(order.length);
  order.forEach((k, at) => (place[k] = at));
  const change = new Array<number>(order.length + 1).fill(0);
  for (const [from, to] of edges) {
    const a = Math.min(place[from] ?? 0, place[to] ?? 0);
    const b = Math.max(place[from] ?? 0, place[to] ?? 0);
    change[a + 1] = (change[a + 1] ?? 0) + 1;
    change[b] = (change[b] ?? 0) - 1;
  }
  const found: number[] = [];
  let passing = 0;
  for (let at = 0; at < order.length; ++at) {
    passing += change[at] ?? 0;
    if (passing === 0) found.push(at);
  }
  return found;
}

interface Chain {
  readonly members: number[];
  readonly width: number;
  readonly height: number;
}

/** Maximal runs of nodes with one edge in and one edge out between them. */
function chainsOf(places: readonly number[], edges: LayoutRequest['edges'], boxes: readonly Box[]): Chain[] {
  const into = new Map<number, number[]>();
  const out = new Map<number, number[]>();
  for (const [from, to] of edges) {
    out.set(from, [...(out.get(from) ?? []), to]);
    into.set(to, [...(into.get(to) ?? []), from]);
  }
  const follower = (k: number): number | null => {
    const to = out.get(k);
    return to?.length === 1 && into.get(to[0] ?? -1)?.length === 1 ? (to[0] ?? null) : null;
  };
  const follows = new Set(places.flatMap((k) => follower(k) ?? []));
  const chains: Chain[] = [];
  for (const head of places) {
    if (follows.has(head)) continue;
    const members = [head];
    for (let next = follower(head); next !== null; next = follower(next)) members.push(next);
    const width = Math.max(...members.map((k) => boxes[k]?.width ?? 0));
    const height = members.reduce((sum, k) => sum + (boxes[k]?.height ?? 0) + rankGap, -rankGap);
    chains.push({ members, width, height });
  }
  return chains;
}

interface Placed {
  readonly x: number;
  readonly y: number;
}

interface Piece {
  /** Centres of the chains. */
  readonly centres: readonly Placed[];
  /** Points between the ends of each edge between chains. */
  readonly bends: readonly (readonly Placed[])[];
}

function byLibrary(chains: readonly Chain[], between: LayoutRequest['edges'], hidden: LayoutRequest['edges']): Piece {
  const graph = new Graph({ multigraph: true });
  graph.setGraph({ rankdir: 'TB', nodesep: nodeGap, ranksep: rankGap, edgesep: 14, ranker: 'tight-tree' });
  chains.forEach(({ width, height }, k) => graph.setNode(String(k), { width, height }));
  between.forEach(([from, to], k) => graph.setEdge(String(from), String(to), {}, String(k)));
  hidden.forEach(([from, to], k) => graph.setEdge(String(from), String(to), { weight: 0 }, `hidden${k}`));
  layout(graph);
  const centres = chains.map((_, k) => {
    const { x, y } = graph.node(String(k)) as Placed;
    return { x, y };
  });
  const bends = between.map(([from, to], k) => {
    const { points } = graph.edge(String(from), String(to), String(k)) as { points: Placed[] };
    return points.slice(1, -1).map(({ x, y }) => ({ x, y }));
  });
  return { centres, bends };
}

/** Plain rows, for what the library cannot do. */
function inRows(chains: readonly Chain[], between: LayoutRequest['edges']): Piece {
  const rank = new Array<number>(chains.length).fill(0);
  for (const k of inOrder(chains.length, between))
    for (const [from, to] of between) if (from === k) rank[to] = Math.max(rank[to] ?? 0, (rank[k] ?? 0) + 1);
  const rows: number[][] = [];
  rank.forEach((r, k) => (rows[r] ??= []).push(k));
  const centres: Placed[] = [];
  let y = 0;
  for (const row of rows) {
    const tall = Math.max(0, ...(row ?? []).map((k) => chains[k]?.height ?? 0));
    let x = 0;
    for (const k of row ?? []) {
      const width = chains[k]?.width ?? 0;
      centres[k] = { x: x + width / 2, y: y + tall / 2 };
      x += width + nodeGap;
    }
    y += tall + rankGap;
  }
  return { centres, bends: between.map(() => []) };
}

/** What the library lays out at most, in chains: beyond it takes minutes. */
const mostChains = 600;

/** Pieces that were laid out: networks repeat their blocks. */
type Known = Map<string, Piece>;

function pieceOf(
  known: Known,
  chains: readonly Chain[],
  between: LayoutRequest['edges'],
  hidden: LayoutRequest['edges'],
): Piece {
  const like = JSON.stringify([chains.map(({ width, height }) => [width, height]), between, hidden]);
  const before = known.get(like);
  if (before) return before;
  let piece: Piece;
  try {
    piece = chains.length > mostChains ? inRows(chains, between) : byLibrary(chains, between, hidden);
  } catch (error) {
    // it descends once for every rank, and a stack ends
    if (!(error instanceof RangeError)) throw error;
    piece = inRows(chains, between);
  }
  known.set(like, piece);
  return piece;
}

/** Nodes between two waists that are laid out with all their edges. */
const wholeUpTo = 250;

/**
 * Long ways past many nodes, as U-Nets have them, would make one piece of all that they pass. Where that is large they run
 * beside the graph instead; every node keeps an edge by which it is reached.
 */
function longWays(order: readonly number[], edges: LayoutRequest['edges']): ReadonlySet<number> {
  const place = new Array<number>(order.length);
  order.forEach((k, at) => (place[k] = at));
  const span = edges.map(([from, to]) => (place[to] ?? 0) - (place[from] ?? 0));
  for (let longest = Infinity; ; longest = Math.min(longest / 2, order.length / 2)) {
    const into = new Map<number, number>();
    edges.forEach(([, to], k) => into.set(to, Math.min(into.get(to) ?? Infinity, span[k] ?? 0)));
    const beside = new Set(
      edges.flatMap(([, to], k) => ((span[k] ?? 0) > Math.max(longest, into.get(to) ?? 0) ? [k] : [])),
    );
    const cuts = [
      0,
      ...waists(
        order,
        edges.filter((_, k) => !beside.has(k)),
      ),
      order.length,
    ];
    const largest = Math.max(...cuts.map((at, k) => at - (cuts[k - 1] ?? 0)));
    if (largest <= wholeUpTo || longest < 16) return beside;
  }
}

export function layOut(request: LayoutRequest): LayoutAnswer {
  const { boxes } = request;
  const x = new Float64Array(boxes.length);
  const y = new Float64Array(boxes.length);
  const paths: Float64Array[] = request.edges.map(() => new Float64Array(0));
  const known: Known = new Map();
  const order = inOrder(boxes.length, request.edges);
  const beside = longWays(order, request.edges);
  const kept = request.edges.flatMap((_, k) => (beside.has(k) ? [] : [k]));
  const edges = kept.map((k) => request.edges[k] ?? ([0, 0] as const));
  const cuts = waists(order, edges).filter((at) => at > 0 && at < order.length - 1);
  const ends = [...cuts, order.length - 1];
  const place = new Array<number>(boxes.length);
  order.forEach((k, at) => (place[k] = at));
  /** Edges by the piece that they lie in. */
  const pieceAt = (at: number) => {
    let low = 0;
    let high = ends.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((ends[middle] ?? 0) >= at) high = middle;
      else low = middle + 1;
    }
    return low;
  };
  const inside: number[][] = ends.map(() => []);
  edges.forEach(([from, to], k) => inside[pieceAt(Math.max(place[from] ?? 0, place[to] ?? 0))]?.push(k));

  let start = 0;
  ends.forEach((end, piece) => {
    const members = order.slice(start, end + 1);
    const numbers = inside[piece] ?? [];
    const own = numbers.map((k) => edges[k] ?? ([0, 0] as const));
    const chains = chainsOf(members, own, boxes);
    const chainOf = new Map<number, number>();
    chains.forEach((chain, c) => chain.members.forEach((k) => chainOf.set(k, c)));
    const between: (readonly [number, number])[] = [];
    const numberOf: number[] = [];
    own.forEach(([from, to], k) => {
      const [a, b] = [chainOf.get(from) ?? 0, chainOf.get(to) ?? 0];
      if (a === b) return;
      between.push([a, b]);
      numberOf.push(numbers[k] ?? 0);
    });
    // what begins or ends inside of a piece stays inside of it
    const first = chainOf.get(members[0] ?? 0) ?? 0;
    const last = chainOf.get(members.at(-1) ?? 0) ?? 0;
    const reached = new Set(between.map(([, to]) => to));
    const left = new Set(between.map(([from]) => from));
    const hidden: (readonly [number, number])[] = chains.flatMap((_, c) => [
      ...(piece > 0 && c !== first && !reached.has(c) ? [[first, c] as const] : []),
      ...(piece < ends.length - 1 && c !== last && !left.has(c) ? [[c, last] as const] : []),
    ]);
    const laid = pieceOf(known, chains, between, hidden);
    const put = (c: number, dx: number, dy: number) => {
      const chain = chains[c];
      const centre = laid.centres[c];
      if (!chain || !centre) return;
      let top = centre.y + dy - chain.height / 2;
      for (const k of chain.members) {
        const height = boxes[k]?.height ?? 0;
        x[k] = centre.x + dx;
        y[k] = top + height / 2;
        top += height + rankGap;
      }
    };
    // the node that two pieces share stays where the first has put it
    const joint = members[0] ?? 0;
    const before = { x: x[joint] ?? 0, y: y[joint] ?? 0 };
    put(first, 0, 0);
    const dx = piece === 0 ? 0 : before.x - (x[joint] ?? 0);
    const dy = piece === 0 ? 0 : before.y - (y[joint] ?? 0);
    chains.forEach((_, c) => put(c, dx, dy));
    const path = (number: number, bends: readonly Placed[]) => {
      const [from, to] = edges[number] ?? [0, 0];
      const points = [x[from] ?? 0, (y[from] ?? 0) + (boxes[from]?.height ?? 0) / 2];
      for (const bend of bends) points.push(bend.x + dx, bend.y + dy);
      points.push(x[to] ?? 0, (y[to] ?? 0) - (boxes[to]?.height ?? 0) / 2);
      paths[kept[number] ?? 0] = Float64Array.from(points);
    };
    numberOf.forEach((number, k) => path(number, laid.bends[k] ?? []));
    own.forEach(([from, to], k) => {
      if (chainOf.get(from) === chainOf.get(to)) path(numbers[k] ?? 0, []);
    });
    start = end;
  });
  const right = Math.max(0, ...boxes.map(({ width }, k) => (x[k] ?? 0) + width / 2));
  [...beside].forEach((number, lane) => {
    const [from, to] = request.edges[number] ?? [0, 0];
    const out = right + 16 + 10 * (lane % 12);
    const ends = [from, to].map((k) => [(x[k] ?? 0) + (boxes[k]?.width ?? 0) / 2, y[k] ?? 0] as const);
    const [a, b] = ends;
    if (a && b) paths[number] = Float64Array.from([...a, out, a[1], out, b[1], ...b]);
  });
  return { x, y, paths };
}
