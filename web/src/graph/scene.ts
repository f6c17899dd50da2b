// SPDX-License-Identifier: Apache-2.0
//
// Draws a laid out graph on a canvas: what lies in the window, texts never under 11 pixels.

import type { Drawn, Paint } from './drawn';
import type { LayoutAnswer } from './layout';

/** What of the graph is seen: scale, and the point of the graph in the window's upper left corner. */
export interface Camera {
  readonly x: number;
  readonly y: number;
  readonly scale: number;
}

export interface Frame {
  readonly width: number;
  readonly height: number;
}

interface Extent {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

export interface Scene {
  readonly drawn: Drawn;
  readonly laid: LayoutAnswer;
  readonly paints: readonly Paint[];
  readonly extent: Extent;
  readonly next: readonly (readonly number[])[];
  readonly before: readonly (readonly number[])[];
}

const leastScale = 0.02;
const mostScale = 3;

export function sceneOf(drawn: Drawn, laid: LayoutAnswer, paints: readonly Paint[]): Scene {
  const extent = { left: 0, top: 0, right: 1, bottom: 1 };
  drawn.nodes.forEach(({ width, height }, k) => {
    const [x, y] = [laid.x[k] ?? 0, laid.y[k] ?? 0];
    extent.left = Math.min(extent.left, x - width / 2);
    extent.top = Math.min(extent.top, y - height / 2);
    extent.right = Math.max(extent.right, x + width / 2);
    extent.bottom = Math.max(extent.bottom, y + height / 2);
  });
  for (const path of laid.paths) {
    for (let k = 0; k < path.length; k += 2) {
      extent.left = Math.min(extent.left, path[k] ?? 0);
      extent.right = Math.max(extent.right, path[k] ?? 0);
    }
  }
  const next: number[][] = drawn.nodes.map(() => []);
  const before: number[][] = drawn.nodes.map(() => []);
  for (const [from, to] of drawn.edges) {
    next[from]?.push(to);
    before[to]?.push(from);
  }
  return { drawn, laid, paints, extent, next, before };
}

/** Colours of the page as the canvas takes them; read anew where the theme changes. */
export interface Colours {
  readonly paper: string;
  readonly ink: string;
  readonly soft: string;
  readonly edge: string;
  readonly line: string;
  readonly loss: string;
  readonly ramp: readonly string[];
  readonly rampText: readonly string[];
  readonly font: string;
}

export function coloursOf(host: HTMLElement): Colours {
  const probe = document.createElement('span');
  probe.hidden = true;
  host.append(probe);
  const forced = matchMedia('(forced-colors: active)').matches;
  const read = (name: string, instead: string) => {
    probe.style.color = forced ? instead : `var(--${name})`;
    return getComputedStyle(probe).color;
  };
  const colours = {
    paper: read('paper', 'Canvas'),
    ink: read('ink', 'CanvasText'),
    soft: read('ink-3', 'CanvasText'),
    edge: read('edge', 'CanvasText'),
    line: read('plot-soft', 'CanvasText'),
    loss: read('loss', 'Highlight'),
    ramp: [0, 1, 2, 3, 4].map((k) => read(`ramp-${k}`, 'Canvas')),
    rampText: [0, 1, 2, 3, 4].map((k) => read(`ramp-${k}-text`, 'CanvasText')),
    font: getComputedStyle(host).fontFamily,
  };
  probe.remove();
  return colours;
}

/** A text shortened in its middle part until it fits. */
class Texts {
  readonly #known = new Map<string, string>();

  fitted(context: CanvasRenderingContext2D, text: string, width: number, font: string): string {
    const key = `${font}|${Math.round(width)}|${text}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    let shown = text;
    if (context.measureText(text).width > width) {
      let [low, high] = [0, text.length];
      while (low < high) {
        const middle = Math.ceil((low + high) / 2);
        if (context.measureText(`${text.slice(0, middle)}…`).width <= width) low = middle;
        else high = middle - 1;
      }
      shown = low > 1 ? `${text.slice(0, low)}…` : '';
    }
    if (this.#known.size > 20_000) this.#known.clear();
    this.#known.set(key, shown);
    return shown;
  }
}

const texts = new Texts();

interface Marks {
  readonly selected: number | null;
  readonly found: ReadonlySet<number>;
  readonly focused: boolean;
}

function visible(extent: Extent, camera: Camera, frame: Frame): boolean {
  return (
    extent.right >= camera.x &&
    extent.left <= camera.x + frame.width / camera.scale &&
    extent.bottom >= camera.y &&
    extent.top <= camera.y + frame.height / camera.scale
  );
}

function edgeSeen(path: Float64Array, camera: Camera, frame: Frame): boolean {
  const extent = { left: Infinity, right: -Infinity, top: Infinity, bottom: -Infinity };
  for (let k = 0; k < path.length; k += 2) {
    const [x, y] = [path[k] ?? 0, path[k + 1] ?? 0];
    extent.left = Math.min(extent.left, x);
    extent.right = Math.max(extent.right, x);
    extent.top = Math.min(extent.top, y);
    extent.bottom = Math.max(extent.bottom, y);
  }
  return visible(extent, camera, frame);
}

/** Straight to the bends, round at them. */
function trace(context: CanvasRenderingContext2D, path: Float64Array, camera: Camera): void {
  const at = (k: number) =>
    [((path[k] ?? 0) - camera.x) * camera.scale, ((path[k + 1] ?? 0) - camera.y) * camera.scale] as const;
  context.moveTo(...at(0));
  for (let k = 2; k < path.length - 2; k += 2) {
    const [x, y] = at(k);
    const [nextX, nextY] = at(k + 2);
    context.quadraticCurveTo(x, y, (x + nextX) / 2, (y + nextY) / 2);
  }
  context.lineTo(...at(path.length - 2));
}

function tip(context: CanvasRenderingContext2D, path: Float64Array, camera: Camera): void {
  const size = Math.max(3, 5 * camera.scale);
  const x = ((path[path.length - 2] ?? 0) - camera.x) * camera.scale;
  const y = ((path[path.length - 1] ?? 0) - camera.y) * camera.scale;
  context.moveTo(x, y);
  context.lineTo(x - size * 0.7, y - size);
  context.lineTo(x + size * 0.7, y - size);
  context.closePath();
}

/** What is drawn, onto what, and how. */
interface Drawing {
  readonly context: CanvasRenderingContext2D;
  readonly scene: Scene;
  readonly camera: Camera;
  readonly frame: Frame;
  readonly colours: Colours;
  readonly marks: Marks;
}

/** A node that lies in the window, in its pixels. */
interface Box {
  readonly k: number;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

function drawEdges({ context, scene, camera, frame, colours, marks }: Drawing): void {
  const { drawn, laid } = scene;
  const seen = laid.paths.filter((path) => path.length > 0 && edgeSeen(path, camera, frame));
  context.lineWidth = 1;
  context.strokeStyle = colours.edge;
  context.beginPath();
  for (const path of seen) trace(context, path, camera);
  context.stroke();
  if (camera.scale > 0.3) {
    context.fillStyle = colours.edge;
    context.beginPath();
    for (const path of seen) tip(context, path, camera);
    context.fill();
  }
  if (marks.selected === null) return;
  context.lineWidth = 2;
  context.strokeStyle = colours.ink;
  context.beginPath();
  drawn.edges.forEach(([from, to], k) => {
    const path = laid.paths[k];
    if (path && path.length > 0 && (from === marks.selected || to === marks.selected)) trace(context, path, camera);
  });
  context.stroke();
}

function boxesSeen({ scene: { drawn, laid }, camera, frame }: Drawing): Box[] {
  const { scale } = camera;
  return drawn.nodes.flatMap(({ width, height }, k) => {
    const [x, y] = [(laid.x[k] ?? 0) - width / 2, (laid.y[k] ?? 0) - height / 2];
    if (!visible({ left: x, right: x + width, top: y, bottom: y + height }, camera, frame)) return [];
    const [left, top] = [(x - camera.x) * scale, (y - camera.y) * scale];
    return [{ k, x: left, y: top, width: width * scale, height: height * scale }];
  });
}

/** A line of two pixels around a box, so far from it. */
function ring(context: CanvasRenderingContext2D, box: Box, far: number, radius: number, colour: string): void {
  context.beginPath();
  context.roundRect(box.x - far, box.y - far, box.width + 2 * far, box.height + 2 * far, radius);
  context.lineWidth = 2;
  context.strokeStyle = colour;
  context.stroke();
}

function drawBox({ context, scene, colours, marks }: Drawing, box: Box): void {
  const end = scene.drawn.nodes[box.k]?.kind !== 'node';
  const paint = scene.paints[box.k];
  const selected = marks.selected === box.k;
  context.beginPath();
  context.roundRect(box.x, box.y, box.width, box.height, end ? box.height / 2 : 2);
  context.fillStyle = end ? colours.paper : (colours.ramp[paint?.step ?? 0] ?? colours.paper);
  context.fill();
  context.setLineDash(paint?.dashed && !selected ? [4, 3] : []);
  context.lineWidth = selected ? 2.5 : 1;
  context.strokeStyle =
    selected || end ? colours.ink : paint?.dashed || paint?.step === 0 ? colours.edge : colours.line;
  context.stroke();
  context.setLineDash([]);
  if (marks.found.has(box.k) && !selected) ring(context, box, 3, 4, colours.loss);
  if (selected && marks.focused) ring(context, box, 5, 5, colours.ink);
}

/** The title of each node, and where there is room for two lines its name and figure. */
function drawTexts({ context, scene: { drawn, paints }, camera: { scale }, colours }: Drawing, boxes: Box[]): void {
  const large = Math.max(11, Math.min(13 * scale, 26));
  const small = Math.max(11, Math.min(12 * scale, 24));
  const pad = 8 * Math.min(1.4, scale);
  const two = 46 * scale >= large + small + 6;
  const strong = `600 ${large}px ${colours.font}`;
  context.textBaseline = 'middle';
  context.font = strong;
  for (const { k, x, y, width, height } of boxes) {
    const node = drawn.nodes[k];
    if (!node || height < 14 || width < 34) continue;
    const centre = node.kind !== 'node';
    context.fillStyle = colours.rampText[centre ? 0 : (paints[k]?.step ?? 0)] ?? colours.ink;
    context.textAlign = centre ? 'center' : 'left';
    const text = texts.fitted(context, node.title, width - 2 * pad, strong);
    context.fillText(text, centre ? x + width / 2 : x + pad, centre || !two ? y + height / 2 : y + pad + large / 2 - 1);
  }
  if (!two) return;
  const plain = `400 ${small}px ${colours.font}`;
  context.font = plain;
  for (const { k, x, y, width, height } of boxes) {
    const node = drawn.nodes[k];
    const paint = paints[k];
    if (node?.kind !== 'node' || !paint) continue;
    context.fillStyle = colours.rampText[paint.step] ?? colours.ink;
    const line = y + height - pad - small / 2 + 1;
    const taken = paint.figure === '' ? 0 : context.measureText(paint.figure).width + pad;
    context.textAlign = 'left';
    context.fillText(texts.fitted(context, node.short, width - 2 * pad - taken, plain), x + pad, line);
    context.textAlign = 'right';
    context.fillText(paint.figure, x + width - pad, line);
  }
}

export function drawScene(drawing: Drawing): void {
  const { context, frame, colours } = drawing;
  context.clearRect(0, 0, frame.width, frame.height);
  context.fillStyle = colours.paper;
  context.fillRect(0, 0, frame.width, frame.height);
  drawEdges(drawing);
  const boxes = boxesSeen(drawing);
  for (const box of boxes) drawBox(drawing, box);
  drawTexts(drawing, boxes);
}

/** All of the graph in a small window: width and height each by their own scale, as networks are long and thin. */
export function drawOverview(
  context: CanvasRenderingContext2D,
  scene: Scene,
  camera: Camera,
  frame: Frame,
  small: Frame,
  colours: Colours,
): void {
  const { extent, drawn, laid, paints } = scene;
  const sx = small.width / (extent.right - extent.left);
  const sy = small.height / (extent.bottom - extent.top);
  context.clearRect(0, 0, small.width, small.height);
  context.fillStyle = colours.paper;
  context.fillRect(0, 0, small.width, small.height);
  drawn.nodes.forEach(({ width, height, kind }, k) => {
    if (kind !== 'node') return;
    const step = paints[k]?.step ?? 0;
    context.fillStyle = step === 0 ? colours.line : (colours.ramp[step] ?? colours.line);
    context.fillRect(
      ((laid.x[k] ?? 0) - width / 2 - extent.left) * sx,
      ((laid.y[k] ?? 0) - height / 2 - extent.top) * sy,
      Math.max(2, width * sx - 1),
      Math.max(1.5, height * sy),
    );
  });
  context.strokeStyle = colours.ink;
  context.lineWidth = 1.5;
  context.strokeRect(
    (camera.x - extent.left) * sx,
    (camera.y - extent.top) * sy,
    (frame.width / camera.scale) * sx,
    Math.max(3, (frame.height / camera.scale) * sy),
  );
}

export function nodeAt(scene: Scene, x: number, y: number): number | null {
  const { drawn, laid } = scene;
  for (let k = drawn.nodes.length - 1; k >= 0; --k) {
    const node = drawn.nodes[k];
    if (!node) continue;
    if (Math.abs(x - (laid.x[k] ?? 0)) <= node.width / 2 && Math.abs(y - (laid.y[k] ?? 0)) <= node.height / 2) return k;
  }
  return null;
}

/** The node that lies nearest on the same height, to the left (-1) or right (1). */
export function neighbourOf(scene: Scene, k: number, side: -1 | 1): number | null {
  const { drawn, laid } = scene;
  const [x, y] = [laid.x[k] ?? 0, laid.y[k] ?? 0];
  let best: number | null = null;
  let least = Infinity;
  drawn.nodes.forEach((_, other) => {
    const dx = side * ((laid.x[other] ?? 0) - x);
    const dy = Math.abs((laid.y[other] ?? 0) - y);
    if (dx <= 20 || dy > 200 || dx + 2 * dy >= least) return;
    best = other;
    least = dx + 2 * dy;
  });
  return best;
}

export function within(camera: Camera, extent: Extent, frame: Frame): Camera {
  const scale = Math.min(mostScale, Math.max(leastScale, camera.scale));
  // something of the graph stays in sight
  const margin = 60 / scale;
  const clamp = (value: number, low: number, high: number) => Math.min(Math.max(value, low), Math.max(low, high));
  return {
    scale,
    x: clamp(camera.x, extent.left - frame.width / scale + margin, extent.right - margin),
    y: clamp(camera.y, extent.top - frame.height / scale + margin, extent.bottom - margin),
  };
}

export function fitted(scene: Scene, frame: Frame): Camera {
  const { left, top, right, bottom } = scene.extent;
  const scale = Math.max(
    leastScale,
    Math.min(1, (frame.width - 32) / (right - left), (frame.height - 32) / (bottom - top)),
  );
  return {
    scale,
    x: (left + right) / 2 - frame.width / scale / 2,
    y: (top + bottom) / 2 - frame.height / scale / 2,
  };
}

/** Where reading begins: the first node at the top, at a size that can be read. */
export function atStart(scene: Scene, frame: Frame): Camera {
  const whole = fitted(scene, frame);
  if (whole.scale >= 0.85) return whole;
  return { scale: 1, x: (scene.laid.x[0] ?? 0) - frame.width / 2, y: scene.extent.top - 20 };
}

export function centredOn(scene: Scene, k: number, frame: Frame, scale: number): Camera {
  return {
    scale,
    x: (scene.laid.x[k] ?? 0) - frame.width / scale / 2,
    y: (scene.laid.y[k] ?? 0) - frame.height / scale / 2,
  };
}
