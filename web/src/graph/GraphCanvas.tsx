// SPDX-License-Identifier: Apache-2.0
//
// The window of the graph: dragged and zoomed with mouse and fingers, walked along its edges with the arrow keys.

import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';

import { singleKeys } from '../ui/single_keys';
import { Lens, overviewBox, type Shown } from './lens';
import { neighbourOf, nodeAt, type Scene } from './scene';

type Select = (k: number | null, open: boolean) => void;

interface CanvasProps extends Shown {
  /** Is given the lens, which others may move. */
  readonly lens: { current: Lens | null };
  readonly label: string;
  readonly select: Select;
  readonly searchId: string;
}

/** The lens follows size, theme and wheel while the window is there. */
function watch(lens: Lens, host: HTMLElement): () => void {
  const observer = new ResizeObserver(() => lens.resize({ width: host.clientWidth, height: host.clientHeight }));
  observer.observe(host);
  const theme = new MutationObserver(lens.recolour);
  theme.observe(document.documentElement, { attributes: true, attributeFilter: ['data-theme'] });
  const queries = ['(prefers-color-scheme: dark)', '(forced-colors: active)'].map((query) => matchMedia(query));
  for (const query of queries) query.addEventListener('change', lens.recolour);
  void document.fonts.ready.then(lens.recolour);

  // the wheel belongs to the page until the graph has the focus; a pinch on a touch pad comes with Control
  const wheel = (event: WheelEvent) => {
    if (!event.ctrlKey && !event.metaKey && !host.contains(document.activeElement)) return;
    event.preventDefault();
    const place = host.getBoundingClientRect();
    const lines = event.deltaMode === 1 ? 16 : 1;
    const step = Math.max(-80, Math.min(80, event.deltaY * lines));
    lens.zoom(Math.exp(-step * (event.ctrlKey ? 0.01 : 0.003)), event.clientX - place.left, event.clientY - place.top);
  };
  host.addEventListener('wheel', wheel, { passive: false });
  return () => {
    observer.disconnect();
    theme.disconnect();
    for (const query of queries) query.removeEventListener('change', lens.recolour);
    host.removeEventListener('wheel', wheel);
    lens.close();
  };
}

interface Place {
  readonly x: number;
  readonly y: number;
}

/** Pixels that a pointer may travel in a click. */
const mostOfClick = 6;

/** One pointer drags, two zoom, a click chooses a node. */
function usePointers(lens: Lens, select: Select) {
  const pointers = useRef(new Map<number, Place>()).current;
  const travelled = useRef(0);
  const placeOf = (event: PointerEvent): Place => {
    const place = (event.currentTarget as HTMLElement).getBoundingClientRect();
    return { x: event.clientX - place.left, y: event.clientY - place.top };
  };
  const down = (event: PointerEvent) => {
    if (event.button !== 0 && event.pointerType === 'mouse') return;
    pointers.set(event.pointerId, placeOf(event));
    if (pointers.size === 1) travelled.current = 0;
    (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
  };
  const drag = (event: PointerEvent) => {
    const before = pointers.get(event.pointerId);
    if (!before || !lens.camera) return;
    const after = placeOf(event);
    pointers.set(event.pointerId, after);
    travelled.current += Math.abs(after.x - before.x) + Math.abs(after.y - before.y);
    const other = [...pointers].find(([id]) => id !== event.pointerId)?.[1];
    if (!other) {
      lens.pan(before.x - after.x, before.y - after.y);
      return;
    }
    const span = (a: Place) => Math.hypot(a.x - other.x, a.y - other.y) || 1;
    lens.zoom(span(after) / span(before), (after.x + other.x) / 2, (after.y + other.y) / 2);
  };
  const up = (event: PointerEvent) => {
    const last = pointers.get(event.pointerId);
    pointers.delete(event.pointerId);
    const { camera, shown } = lens;
    const isClick = event.type !== 'pointercancel' && travelled.current <= mostOfClick && pointers.size === 0;
    if (!last || !camera || !isClick) return;
    select(nodeAt(shown.scene, camera.x + last.x / camera.scale, camera.y + last.y / camera.scale), true);
  };
  return { onPointerDown: down, onPointerMove: drag, onPointerUp: up, onPointerCancel: up };
}

/** The direction in which it moves the window with Shift, and without from which node to which. */
interface Arrow {
  readonly x: number;
  readonly y: number;
  readonly from: (scene: Scene, k: number) => number | null;
}

const arrows: Readonly<Record<string, Arrow>> = {
  ArrowDown: { x: 0, y: 1, from: ({ next }, k) => next[k]?.[0] ?? null },
  ArrowUp: { x: 0, y: -1, from: ({ before }, k) => before[k]?.[0] ?? null },
  ArrowLeft: { x: -1, y: 0, from: (scene, k) => neighbourOf(scene, k, -1) },
  ArrowRight: { x: 1, y: 0, from: (scene, k) => neighbourOf(scene, k, 1) },
};

function onKey(event: KeyboardEvent, lens: Lens, { scene, selected, select, searchId }: CanvasProps): void {
  if (event.altKey || event.metaKey || event.ctrlKey) return;
  const go = (k: number | null) => {
    if (k === null) return;
    select(k, false);
    lens.to(k);
  };
  const walk = ({ x, y, from }: Arrow) => {
    if (event.shiftKey) lens.page(x / 4, y / 4);
    else go(selected === null ? scene.drawn.nodes.findIndex(({ kind }) => kind === 'node') : from(scene, selected));
  };
  const keys: Readonly<Record<string, () => void>> = {
    Home: () => go(0),
    End: () => go(scene.drawn.nodes.length - 1),
    Enter: () => select(selected, true),
    '+': () => lens.zoom(1.25),
    '=': () => lens.zoom(1.25),
    '-': () => lens.zoom(0.8),
    '0': lens.fit,
    '/': () => document.getElementById(searchId)?.focus(),
  };
  const arrow = arrows[event.key];
  const act = arrow ? () => walk(arrow) : keys[event.key];
  if (!act || (event.key === '/' && singleKeys.value !== 'on')) return;
  event.preventDefault();
  event.stopPropagation();
  act();
}

/** All of the graph in small, with the window in it, which is dragged there. */
function jump(event: PointerEvent, lens: Lens): void {
  if (event.buttons === 0) return;
  const place = (event.currentTarget as HTMLElement).getBoundingClientRect();
  lens.jump((event.clientX - place.left) / place.width, (event.clientY - place.top) / place.height);
}

export function GraphCanvas(props: CanvasProps) {
  const host = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const overview = useRef<HTMLCanvasElement>(null);
  const lens = useMemo(() => new Lens(props), []);
  lens.shown = props;
  props.lens.current = lens;
  useLayoutEffect(lens.ask, [props.scene, props.selected, props.found]);
  useLayoutEffect(() => {
    if (!host.current || !canvas.current || !overview.current) return undefined;
    lens.surface = { host: host.current, canvas: canvas.current, overview: overview.current };
    return watch(lens, host.current);
  }, []);
  return (
    <div class="graph-window">
      <div
        ref={host}
        id={`${props.searchId}-window`}
        class="graph-surface"
        role="application"
        aria-roledescription="graph"
        aria-label={props.label}
        tabIndex={0}
        {...usePointers(lens, props.select)}
        onKeyDown={(event) => onKey(event, lens, props)}
        onFocus={lens.ask}
        onBlur={lens.ask}
      >
        <canvas ref={canvas} class="graph-canvas" aria-hidden="true" />
      </div>
      <canvas
        ref={overview}
        class="graph-overview"
        width={overviewBox.width}
        height={overviewBox.height}
        aria-hidden="true"
        onPointerDown={(event) => jump(event, lens)}
        onPointerMove={(event) => jump(event, lens)}
      />
      <div class="graph-zoom" role="group" aria-label="Zoom">
        <button type="button" class="ghost" aria-label="Smaller" onClick={() => lens.zoom(0.7)}>
          −
        </button>
        <button type="button" class="ghost" onClick={lens.fit}>
          Fit
        </button>
        <button type="button" class="ghost" aria-label="Larger" onClick={() => lens.zoom(1.4)}>
          +
        </button>
      </div>
    </div>
  );
}
