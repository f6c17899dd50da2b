// SPDX-License-Identifier: Apache-2.0
//
// The graph of the open model on a canvas: dragged, zoomed, searched, walked along its edges with the arrow keys. Loaded when
// it is first looked at; the layout is computed in a worker.

import { useComputed, useSignal } from '@preact/signals';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { ComponentChildren } from 'preact';

import { lookForParts } from '../job/parts';
import { followGraph, graph, graphProblem, runtimeNodes } from '../job/graph';
import { announcement, openLayer, result } from '../job/state';
import { count, counted, decibels, percent } from '../numbers';
import { Search } from '../ui/Icons';
import { ProblemCard } from '../ui/Note';
import { singleKeys } from '../ui/Dialogs';
import {
  drawnOf,
  knownOf,
  legendOf,
  paintOf,
  rowOf,
  timeOf,
  shortTime,
  type ColourBy,
  type Drawn,
  type DrawnNode,
  type Known,
} from './drawn';
import { GraphTable } from './GraphTable';
import type { LayoutAnswer } from './layout';
import { NodeCard } from './NodeCard';
import {
  atStart,
  centredOn,
  coloursOf,
  drawOverview,
  drawScene,
  fitted,
  neighbourOf,
  nodeAt,
  sceneOf,
  within,
  type Camera,
  type Colours,
  type Frame,
  type Scene,
} from './scene';

const overviewBox = { width: 76, height: 132 };

/** Lays the graph out in a worker, which ends when the answer is there or nobody waits for it. */
function useLayout(drawn: Drawn | null): { readonly laid: LayoutAnswer | null; readonly failed: boolean } {
  const [answer, setAnswer] = useState<{ of: Drawn; laid: LayoutAnswer | null } | null>(null);
  useEffect(() => {
    if (!drawn) return undefined;
    const worker = new Worker(new URL('./layout.worker.ts', import.meta.url), { type: 'module', name: 'layout' });
    worker.addEventListener('message', (event: MessageEvent<LayoutAnswer>) => {
      setAnswer({ of: drawn, laid: event.data });
      worker.terminate();
    });
    worker.addEventListener('error', (event) => {
      event.preventDefault();
      void lookForParts();
      setAnswer({ of: drawn, laid: null });
      worker.terminate();
    });
    worker.postMessage({ boxes: drawn.nodes.map(({ width, height }) => ({ width, height })), edges: drawn.edges });
    return () => worker.terminate();
  }, [drawn]);
  const mine = answer?.of === drawn ? answer : null;
  return { laid: mine?.laid ?? null, failed: mine !== null && mine.laid === null };
}

/** What a screen reader hears of a node. */
function spoken(node: DrawnNode, scene: Scene, k: number, known: Known): string {
  if (node.kind !== 'node') return `${node.kind} ${node.title}`;
  const row = rowOf(node, known);
  const time = timeOf(node, known);
  const figures = [
    paintOf(node, 'runtime', known).figure,
    row ? `${percent(row.error_share, 1)} of the error, ${decibels(row.isolated_sqnr_db)} alone` : '',
    time === null ? '' : `about ${shortTime(time)}`,
  ];
  const ways = `${counted(scene.before[k]?.length ?? 0, 'edge')} in, ${counted(scene.next[k]?.length ?? 0, 'edge')} out`;
  return [`${node.title}, ${node.short}`, ...figures, ways].filter(Boolean).join('; ');
}

function matches(node: DrawnNode, text: string): boolean {
  const wanted = text.trim().toLowerCase();
  return wanted !== '' && [node.name, node.title, ...node.outputs].some((one) => one.toLowerCase().includes(wanted));
}

interface PointerPlace {
  readonly x: number;
  readonly y: number;
}

export interface GraphViewProps {
  /** Of the search field, where "/" looks for it. */
  readonly searchId: string;
  /** What stands left of the tools: the tabs. */
  readonly head?: ComponentChildren;
  /** Panel of the open layer, where there is one. */
  readonly panel?: ComponentChildren;
}

export function GraphView(props: GraphViewProps) {
  followGraph();
  const whole = useSignal(true);
  const chosenColour = useSignal<ColourBy | null>(null);
  const search = useSignal('');
  const asTable = useSignal(false);
  const view = graph.value;
  const layers = result.value?.comparison.layers;
  const drawn = useMemo(() => (view ? drawnOf(view, whole.value) : null), [view, whole.value]);
  const known = useMemo(
    () => (view ? knownOf(view, layers ?? [], runtimeNodes.value) : null),
    [view, layers, runtimeNodes.value],
  );
  const by = chosenColour.value ?? (layers ? 'error' : 'runtime');
  const { laid, failed } = useLayout(drawn);
  const scene = useMemo(() => {
    if (!drawn || !laid || !known) return null;
    return sceneOf(
      drawn,
      laid,
      drawn.nodes.map((node) => paintOf(node, by, known)),
    );
  }, [drawn, laid, known, by]);
  const selected = useSignal<number | null>(null);
  const selectedName = useRef<string | null>(null);
  // another layout has other places: the node that was chosen stays chosen
  useLayoutEffect(() => {
    if (!drawn) return;
    const at = drawn.nodes.findIndex(({ name, kind }) => kind === 'node' && name === selectedName.current);
    selected.value = at >= 0 ? at : null;
  }, [drawn]);
  const found = useComputed(() => new Set(drawn?.nodes.flatMap((node, k) => (matches(node, search.value) ? [k] : []))));

  const colours: readonly { readonly by: ColourBy; readonly text: string; readonly there: boolean }[] = [
    { by: 'error', text: 'Error', there: layers !== undefined },
    { by: 'bits', text: 'Bits', there: true },
    { by: 'runtime', text: 'Runtime', there: true },
    { by: 'time', text: 'Time', there: (known?.milliseconds ?? 0) > 0 },
  ];
  const move = useRef<{ to: (k: number) => void; zoom: (factor: number) => void; fit: () => void } | null>(null);
  const select = (k: number | null, open: boolean) => {
    const node = k === null ? undefined : drawn?.nodes[k];
    selected.value = k;
    selectedName.current = node?.kind === 'node' ? node.name : null;
    if (!node || k === null || !scene || !known) return;
    announcement.value = spoken(node, scene, k, known);
    const row = rowOf(node, known);
    if (open || openLayer.value !== null) openLayer.value = row?.output ?? null;
  };
  const goToMatch = (back: boolean) => {
    const all = [...found.value];
    if (all.length === 0) return;
    const at = all.indexOf(selected.value ?? -1);
    const next = all[(at + (back ? -1 : 1) + all.length) % all.length] ?? all[0] ?? 0;
    select(next, false);
    move.current?.to(next);
  };

  const matchesText =
    search.value.trim() === ''
      ? ''
      : found.value.size === 0
        ? `No node is called “${search.value}”.`
        : `${counted(found.value.size, 'node')} found; Enter goes to the next.`;
  const shownNode = selected.value === null ? undefined : drawn?.nodes[selected.value];
  const fused = view && drawn ? view.nodes.length - drawn.nodes.filter(({ kind }) => kind === 'node').length : 0;
  return (
    <div class={props.panel ? 'graph-block with-layer' : 'graph-block'}>
      <div class="tab-bar">
        {props.head}
        <div class="layer-tools">
          <fieldset class="switch">
            <legend class="visually-hidden">Colour by</legend>
            {colours
              .filter(({ there }) => there)
              .map((one) => (
                <label key={one.by} class={by === one.by ? 'chosen' : ''}>
                  <input
                    type="radio"
                    name={`${props.searchId}-colour`}
                    checked={by === one.by}
                    onChange={() => (chosenColour.value = one.by)}
                  />
                  {one.text}
                </label>
              ))}
          </fieldset>
          <div class="search">
            <Search />
            <input
              id={props.searchId}
              type="search"
              placeholder="Find a node"
              aria-label="Find a node"
              value={search.value}
              onInput={(event) => {
                search.value = event.currentTarget.value;
                const [first] = found.value;
                if (first !== undefined) move.current?.to(first);
              }}
              onKeyDown={(event) => {
                if (event.key === 'Enter') {
                  event.preventDefault();
                  goToMatch(event.shiftKey);
                } else if (event.key === 'Escape' && search.value !== '') {
                  event.preventDefault();
                  search.value = '';
                }
              }}
            />
            {singleKeys.value === 'on' && <kbd aria-hidden="true">/</kbd>}
          </div>
        </div>
      </div>
      <p class="graph-found soft" role="status">
        {matchesText}
      </p>
      <div class="graph-area">
        <div class="graph-main">
          {graphProblem.value && <ProblemCard problem={graphProblem.value} />}
          {failed && <p class="soft-2">The layout of this graph failed; the table has all of it.</p>}
          {(asTable.value || failed) && drawn && known ? (
            <GraphTable
              drawn={drawn}
              known={known}
              by={by}
              found={search.value === '' ? null : found.value}
              select={select}
            />
          ) : scene && known ? (
            <Canvas
              scene={scene}
              selected={selected.value}
              found={found.value}
              move={move}
              label={`Graph of the model: ${counted(view?.nodes.length ?? 0, 'node')}. Arrow keys walk along the edges, Enter opens the layer, plus and minus zoom.`}
              select={select}
              searchId={props.searchId}
            />
          ) : (
            !graphProblem.value && (
              <div class="graph-window waiting">
                <p class="soft-2">
                  {drawn ? `Laying out ${counted(drawn.nodes.length, 'node')} …` : 'Reading the graph …'}
                </p>
              </div>
            )
          )}
          <div class="graph-foot">
            <ul class="legend" aria-label={`Colours: ${colours.find((one) => one.by === by)?.text ?? ''}`}>
              <li class="soft">
                {by === 'error'
                  ? 'Share of output error'
                  : by === 'time'
                    ? 'Share of the time'
                    : by === 'bits'
                      ? 'Fewest bits'
                      : 'Runs as'}
              </li>
              {legendOf(by).map((entry) => (
                <li key={entry.text}>
                  <i class={`swatch ramp-${entry.step} ${entry.dashed ? 'dashed' : ''}`} aria-hidden="true" />
                  {entry.text}
                </li>
              ))}
            </ul>
            <p class="soft">
              {view && (
                <>
                  {counted(view.nodes.length, 'node')}
                  {view.folded > 0 && `, ${count(view.folded)} more computed beforehand`}
                  {whole.value && fused > 0 && `, ${count(fused)} drawn with the one before it`}.{' '}
                  {by === 'time' && view.runtime !== '' && `Expected in ${view.runtime} (${view.machine}). `}
                </>
              )}
              {(fused > 0 || !whole.value) && (
                <button type="button" class="link" onClick={() => (whole.value = !whole.value)}>
                  {whole.value ? 'Show every node' : 'Join what runs as one'}
                </button>
              )}{' '}
              <button type="button" class="link" onClick={() => (asTable.value = !asTable.value)}>
                {asTable.value ? 'Show as graph' : 'Show as table'}
              </button>
            </p>
          </div>
          {shownNode && known && !props.panel && (
            <NodeCard node={shownNode} known={known} close={() => select(null, false)} />
          )}
        </div>
        {props.panel}
      </div>
    </div>
  );
}

interface CanvasProps {
  readonly scene: Scene;
  readonly selected: number | null;
  readonly found: ReadonlySet<number>;
  readonly move: { current: { to: (k: number) => void; zoom: (factor: number) => void; fit: () => void } | null };
  readonly label: string;
  readonly select: (k: number | null, open: boolean) => void;
  readonly searchId: string;
}

function sized(canvas: HTMLCanvasElement, { width, height }: Frame): CanvasRenderingContext2D | null {
  const ratio = devicePixelRatio || 1;
  const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== w || canvas.height !== h) {
    canvas.width = w;
    canvas.height = h;
  }
  const context = canvas.getContext('2d', { alpha: false });
  context?.setTransform(ratio, 0, 0, ratio, 0, 0);
  return context;
}

function Canvas(props: CanvasProps) {
  const host = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const small = useRef<HTMLCanvasElement>(null);
  const now = useRef<{
    camera: Camera | null;
    frame: Frame;
    colours: Colours | null;
    props: CanvasProps;
    asked: number;
    layout: Scene['laid'] | null;
  }>({ camera: null, frame: { width: 0, height: 0 }, colours: null, props, asked: 0, layout: null });
  now.current.props = props;

  const paint = () => {
    const state = now.current;
    state.asked = 0;
    if (!host.current || !canvas.current || !small.current || state.frame.width === 0) return;
    const { scene, selected, found } = state.props;
    if (state.layout !== scene.laid || !state.camera) {
      state.camera = selected === null ? atStart(scene, state.frame) : centredOn(scene, selected, state.frame, 1);
      state.layout = scene.laid;
    }
    state.colours ??= coloursOf(host.current);
    const context = sized(canvas.current, state.frame);
    const overview = sized(small.current, overviewBox);
    const focused = document.activeElement === host.current;
    if (context) drawScene(context, scene, state.camera, state.frame, state.colours, { selected, found, focused });
    if (overview) drawOverview(overview, scene, state.camera, state.frame, overviewBox, state.colours);
  };
  const ask = () => {
    now.current.asked ||= requestAnimationFrame(paint);
  };
  const look = (camera: Camera) => {
    now.current.camera = within(camera, now.current.props.scene.extent, now.current.frame);
    ask();
  };
  /** `x`, `y`: the point of the window that stays where it is. */
  const zoom = (factor: number, x = now.current.frame.width / 2, y = now.current.frame.height / 2) => {
    const { camera } = now.current;
    if (!camera) return;
    const { scale } = within(
      { ...camera, scale: camera.scale * factor },
      now.current.props.scene.extent,
      now.current.frame,
    );
    look({ scale, x: camera.x + x / camera.scale - x / scale, y: camera.y + y / camera.scale - y / scale });
  };
  const to = (k: number) => {
    const { camera, frame, props: current } = now.current;
    if (!camera) return;
    const [x, y] = [current.scene.laid.x[k] ?? 0, current.scene.laid.y[k] ?? 0];
    const scale = Math.max(camera.scale, 0.85);
    const inside =
      scale === camera.scale &&
      Math.abs(x - camera.x - frame.width / scale / 2) < frame.width / scale / 2 - 110 &&
      Math.abs(y - camera.y - frame.height / scale / 2) < frame.height / scale / 2 - 50;
    if (inside) ask();
    else look(centredOn(current.scene, k, frame, scale));
  };
  const fit = () => look(fitted(now.current.props.scene, now.current.frame));
  props.move.current = { to, zoom, fit };

  useLayoutEffect(ask, [props.scene, props.selected, props.found]);
  useLayoutEffect(() => {
    const element = host.current;
    if (!element) return undefined;
    const observer = new ResizeObserver(() => {
      const { frame: before, camera } = now.current;
      const frame = { width: element.clientWidth, height: element.clientHeight };
      if (frame.width === 0) return;
      now.current.frame = frame;
      // what stood in the middle stays there
      if (camera && before.width > 0) {
        const x = camera.x + (before.width - frame.width) / 2 / camera.scale;
        now.current.camera = within({ ...camera, x }, now.current.props.scene.extent, frame);
      }
      paint();
    });
    observer.observe(element);
    const repaint = () => {
      now.current.colours = null;
      ask();
    };
    const theme = new MutationObserver(repaint);
    theme.observe(document.documentElement, { attributes: true, attributeFilter: ['data-theme'] });
    const queries = ['(prefers-color-scheme: dark)', '(forced-colors: active)'].map((query) => matchMedia(query));
    for (const query of queries) query.addEventListener('change', repaint);
    void document.fonts.ready.then(repaint);

    // the wheel belongs to the page until the graph has the focus; a pinch on a touch pad comes with Control
    const wheel = (event: WheelEvent) => {
      if (!event.ctrlKey && !event.metaKey && !element.contains(document.activeElement)) return;
      event.preventDefault();
      const place = element.getBoundingClientRect();
      const lines = event.deltaMode === 1 ? 16 : 1;
      const step = Math.max(-80, Math.min(80, event.deltaY * lines));
      zoom(Math.exp(-step * (event.ctrlKey ? 0.01 : 0.003)), event.clientX - place.left, event.clientY - place.top);
    };
    element.addEventListener('wheel', wheel, { passive: false });
    return () => {
      observer.disconnect();
      theme.disconnect();
      for (const query of queries) query.removeEventListener('change', repaint);
      element.removeEventListener('wheel', wheel);
      cancelAnimationFrame(now.current.asked);
    };
  }, []);

  const pointers = useRef(new Map<number, PointerPlace>());
  const travelled = useRef(0);
  const placeOf = (event: PointerEvent): PointerPlace => {
    const place = host.current?.getBoundingClientRect();
    return { x: event.clientX - (place?.left ?? 0), y: event.clientY - (place?.top ?? 0) };
  };
  const down = (event: PointerEvent) => {
    if (event.button !== 0 && event.pointerType === 'mouse') return;
    pointers.current.set(event.pointerId, placeOf(event));
    if (pointers.current.size === 1) travelled.current = 0;
    (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
  };
  const drag = (event: PointerEvent) => {
    const before = pointers.current.get(event.pointerId);
    const { camera } = now.current;
    if (!before || !camera) return;
    const after = placeOf(event);
    pointers.current.set(event.pointerId, after);
    travelled.current += Math.abs(after.x - before.x) + Math.abs(after.y - before.y);
    const others = [...pointers.current].filter(([id]) => id !== event.pointerId).map(([, place]) => place);
    const [other] = others;
    if (!other) {
      look({
        ...camera,
        x: camera.x - (after.x - before.x) / camera.scale,
        y: camera.y - (after.y - before.y) / camera.scale,
      });
      return;
    }
    const span = (a: PointerPlace) => Math.hypot(a.x - other.x, a.y - other.y) || 1;
    zoom(span(after) / span(before), (after.x + other.x) / 2, (after.y + other.y) / 2);
  };
  const up = (event: PointerEvent) => {
    const last = pointers.current.get(event.pointerId);
    pointers.current.delete(event.pointerId);
    const { camera } = now.current;
    if (!last || !camera || event.type === 'pointercancel' || travelled.current > 6 || pointers.current.size > 0)
      return;
    props.select(nodeAt(props.scene, camera.x + last.x / camera.scale, camera.y + last.y / camera.scale), true);
  };

  const key = (event: KeyboardEvent) => {
    if (event.altKey || event.metaKey || event.ctrlKey) return;
    const { scene, selected, select } = props;
    const go = (k: number | null | undefined) => {
      if (k === null || k === undefined) return;
      select(k, false);
      to(k);
    };
    const first = () => scene.drawn.nodes.findIndex(({ kind }) => kind === 'node');
    const { camera, frame } = now.current;
    const pan = (x: number, y: number) => {
      if (camera)
        look({
          ...camera,
          x: camera.x + (x * frame.width) / 4 / camera.scale,
          y: camera.y + (y * frame.height) / 4 / camera.scale,
        });
    };
    const keys: Readonly<Record<string, () => void>> = {
      ArrowDown: () => (event.shiftKey ? pan(0, 1) : go(selected === null ? first() : scene.next[selected]?.[0])),
      ArrowUp: () => (event.shiftKey ? pan(0, -1) : go(selected === null ? first() : scene.before[selected]?.[0])),
      ArrowLeft: () =>
        event.shiftKey ? pan(-1, 0) : go(selected === null ? first() : neighbourOf(scene, selected, -1)),
      ArrowRight: () =>
        event.shiftKey ? pan(1, 0) : go(selected === null ? first() : neighbourOf(scene, selected, 1)),
      Home: () => go(0),
      End: () => go(scene.drawn.nodes.length - 1),
      Enter: () => select(selected, true),
      '+': () => zoom(1.25),
      '=': () => zoom(1.25),
      '-': () => zoom(0.8),
      '0': fit,
      '/': () => document.getElementById(props.searchId)?.focus(),
    };
    const act = keys[event.key];
    if (!act || (event.key === '/' && singleKeys.value !== 'on')) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  };
  const jump = (event: PointerEvent) => {
    if (event.buttons === 0) return;
    const place = (event.currentTarget as HTMLElement).getBoundingClientRect();
    const { extent } = props.scene;
    const { camera, frame } = now.current;
    if (!camera) return;
    const x = extent.left + ((event.clientX - place.left) / place.width) * (extent.right - extent.left);
    const y = extent.top + ((event.clientY - place.top) / place.height) * (extent.bottom - extent.top);
    look({ ...camera, x: x - frame.width / camera.scale / 2, y: y - frame.height / camera.scale / 2 });
  };

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
        onPointerDown={down}
        onPointerMove={drag}
        onPointerUp={up}
        onPointerCancel={up}
        onKeyDown={key}
        onFocus={ask}
        onBlur={ask}
      >
        <canvas ref={canvas} class="graph-canvas" aria-hidden="true" />
      </div>
      <canvas
        ref={small}
        class="graph-overview"
        width={overviewBox.width}
        height={overviewBox.height}
        aria-hidden="true"
        onPointerDown={jump}
        onPointerMove={jump}
      />
      <div class="graph-zoom" role="group" aria-label="Zoom">
        <button type="button" class="ghost" aria-label="Smaller" onClick={() => zoom(0.7)}>
          −
        </button>
        <button type="button" class="ghost" onClick={fit}>
          Fit
        </button>
        <button type="button" class="ghost" aria-label="Larger" onClick={() => zoom(1.4)}>
          +
        </button>
      </div>
    </div>
  );
}
