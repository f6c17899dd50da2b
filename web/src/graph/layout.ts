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
function waists(order: readonly number[], edges: LayoutRequest['edges']): number[] {
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

/** An edge between two nodes; `number`: its place in the request. */
interface Edge {
  readonly number: number;
  readonly from: number;
  readonly to: number;
}

/** The edges of each piece; `ends`: where pieces end in the order. */
function edgesByPiece(order: readonly number[], ends: readonly number[], edges: readonly Edge[]): Edge[][] {
  const place = new Array<number>(order.length);
  order.forEach((k, at) => (place[k] = at));
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
  const pieces: Edge[][] = ends.map(() => []);
  for (const edge of edges) pieces[pieceAt(Math.max(place[edge.from] ?? 0, place[edge.to] ?? 0))]?.push(edge);
  return pieces;
}

/** Centres and paths as they come about, piece by piece. */
class Sheet implements LayoutAnswer {
  readonly x: Float64Array;
  readonly y: Float64Array;
  readonly paths: Float64Array[];
  readonly #boxes: readonly Box[];
  readonly #known: Known = new Map();

  constructor({ boxes, edges }: LayoutRequest) {
    this.#boxes = boxes;
    this.x = new Float64Array(boxes.length);
    this.y = new Float64Array(boxes.length);
    this.paths = edges.map(() => new Float64Array(0));
  }

  /** The members of a chain below each other. */
  #put(chain: Chain | undefined, centre: Placed | undefined, dx: number, dy: number): void {
    if (!chain || !centre) return;
    let top = centre.y + dy - chain.height / 2;
    for (const k of chain.members) {
      const height = this.#boxes[k]?.height ?? 0;
      this.x[k] = centre.x + dx;
      this.y[k] = top + height / 2;
      top += height + rankGap;
    }
  }

  #connect({ number, from, to }: Edge, bends: readonly Placed[], dx: number, dy: number): void {
    const [x, y] = [this.x, this.y];
    const points = [x[from] ?? 0, (y[from] ?? 0) + (this.#boxes[from]?.height ?? 0) / 2];
    for (const bend of bends) points.push(bend.x + dx, bend.y + dy);
    points.push(x[to] ?? 0, (y[to] ?? 0) - (this.#boxes[to]?.height ?? 0) / 2);
    this.paths[number] = Float64Array.from(points);
  }

  /** Lays a piece out; the node that it shares with the one before stays where that one has put it. */
  layPiece(members: readonly number[], edges: readonly Edge[], isFirst: boolean, isLast: boolean): void {
    const pairs = edges.map(({ from, to }) => [from, to] as const);
    const chains = chainsOf(members, pairs, this.#boxes);
    const chainOf = new Map(chains.flatMap((chain, c) => chain.members.map((k) => [k, c] as const)));
    const chainAt = (k: number | undefined) => chainOf.get(k ?? 0) ?? 0;
    const [within, across]: [Edge[], Edge[]] = [[], []];
    for (const edge of edges) (chainAt(edge.from) === chainAt(edge.to) ? within : across).push(edge);
    const between = across.map(({ from, to }) => [chainAt(from), chainAt(to)] as const);
    // what begins or ends inside of a piece stays inside of it
    const [first, last] = [chainAt(members[0]), chainAt(members.at(-1))];
    const reached = new Set(between.map(([, to]) => to));
    const left = new Set(between.map(([from]) => from));
    const hidden: (readonly [number, number])[] = chains.flatMap((_, c) => [
      ...(!isFirst && c !== first && !reached.has(c) ? [[first, c] as const] : []),
      ...(!isLast && c !== last && !left.has(c) ? [[c, last] as const] : []),
    ]);
    const laid = pieceOf(this.#known, chains, between, hidden);
    const joint = members[0] ?? 0;
    const before = { x: this.x[joint] ?? 0, y: this.y[joint] ?? 0 };
    this.#put(chains[first], laid.centres[first], 0, 0);
    const dx = isFirst ? 0 : before.x - (this.x[joint] ?? 0);
    const dy = isFirst ? 0 : before.y - (this.y[joint] ?? 0);
    chains.forEach((chain, c) => this.#put(chain, laid.centres[c], dx, dy));
    across.forEach((edge, k) => this.#connect(edge, laid.bends[k] ?? [], dx, dy));
    for (const edge of within) this.#connect(edge, [], dx, dy);
  }

  /** These edges run right of the graph, in lanes. */
  layBeside(edges: readonly Edge[]): void {
    const right = Math.max(0, ...this.#boxes.map(({ width }, k) => (this.x[k] ?? 0) + width / 2));
    edges.forEach(({ number, from, to }, lane) => {
      const out = right + 16 + 10 * (lane % 12);
      const side = (k: number) => [(this.x[k] ?? 0) + (this.#boxes[k]?.width ?? 0) / 2, this.y[k] ?? 0] as const;
      const [a, b] = [side(from), side(to)];
      this.paths[number] = Float64Array.from([...a, out, a[1], out, b[1], ...b]);
    });
  }
}

export function layOut(request: LayoutRequest): LayoutAnswer {
  const sheet = new Sheet(request);
  const order = inOrder(request.boxes.length, request.edges);
  const aside = longWays(order, request.edges);
  const edges = request.edges.map(([from, to], number): Edge => ({ number, from, to }));
  const kept = edges.filter(({ number }) => !aside.has(number));
  const pairs = kept.map(({ from, to }) => [from, to] as const);
  const ends = [...waists(order, pairs).filter((at) => at > 0 && at < order.length - 1), order.length - 1];
  const pieces = edgesByPiece(order, ends, kept);
  ends.forEach((end, piece) => {
    const members = order.slice(ends[piece - 1] ?? 0, end + 1);
    sheet.layPiece(members, pieces[piece] ?? [], piece === 0, piece === ends.length - 1);
  });
  sheet.layBeside([...aside].flatMap((number) => edges[number] ?? []));
  return { x: sheet.x, y: sheet.y, paths: sheet.paths };
}
