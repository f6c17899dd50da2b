// SPDX-License-Identifier: Apache-2.0
//
// The graph of the open model, on a canvas or as a table: coloured, searched, its nodes chosen. Loaded when it is first looked
// at; the layout is computed in a worker.

import { useComputed, useSignal, type Signal } from '@preact/signals';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { ComponentChildren } from 'preact';
import type { GraphView as View } from 'tersor';

import { lookForParts } from '../job/parts';
import { followGraph, graph, graphProblem, runtimeNodes } from '../job/graph';
import { announcement, openLayer, result } from '../job/state';
import { count, counted, decibels, percent } from '../numbers';
import { Search } from '../ui/Icons';
import { LinkButton } from '../ui/LinkButton';
import { ProblemCard } from '../ui/Note';
import { singleKeys } from '../ui/single_keys';
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
import { GraphCanvas } from './GraphCanvas';
import { GraphTable } from './GraphTable';
import type { LayoutAnswer } from './layout';
import type { Lens } from './lens';
import { NodeCard } from './NodeCard';
import { sceneOf, type Scene } from './scene';

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

export interface GraphViewProps {
  /** Of the search field, where "/" looks for it. */
  readonly searchId: string;
  /** What stands left of the tools: the tabs. */
  readonly head?: ComponentChildren;
  /** Panel of the open layer, where there is one. */
  readonly panel?: ComponentChildren;
}

const colourings: Readonly<Record<ColourBy, { readonly text: string; readonly legend: string }>> = {
  error: { text: 'Error', legend: 'Share of output error' },
  bits: { text: 'Bits', legend: 'Fewest bits' },
  runtime: { text: 'Runtime', legend: 'Runs as' },
  time: { text: 'Time', legend: 'Share of the time' },
};

/** The graph as it is drawn; null are parts that are not there yet. */
function usePicture(whole: boolean, chosen: ColourBy | null) {
  const view = graph.value;
  const layers = result.value?.comparison.layers;
  const drawn = useMemo(() => (view ? drawnOf(view, whole) : null), [view, whole]);
  const known = useMemo(
    () => (view ? knownOf(view, layers ?? [], runtimeNodes.value) : null),
    [view, layers, runtimeNodes.value],
  );
  const by = chosen ?? (layers ? 'error' : 'runtime');
  const { laid, failed } = useLayout(drawn);
  const scene = useMemo(() => {
    if (!drawn || !laid || !known) return null;
    return sceneOf(
      drawn,
      laid,
      drawn.nodes.map((node) => paintOf(node, by, known)),
    );
  }, [drawn, laid, known, by]);
  const isThere = { error: layers !== undefined, bits: true, runtime: true, time: (known?.milliseconds ?? 0) > 0 };
  const colours = (Object.keys(colourings) as ColourBy[]).filter((one) => isThere[one]);
  return { view, drawn, known, by, colours, scene, failed };
}

/** The chosen node; another layout has other places: the node that was chosen stays chosen. */
function useSelected(drawn: Drawn | null) {
  const selected = useSignal<number | null>(null);
  const name = useRef<string | null>(null);
  useLayoutEffect(() => {
    if (!drawn) return;
    const at = drawn.nodes.findIndex((node) => node.kind === 'node' && node.name === name.current);
    selected.value = at >= 0 ? at : null;
  }, [drawn]);
  const choose = (k: number | null): DrawnNode | undefined => {
    const node = k === null ? undefined : drawn?.nodes[k];
    selected.value = k;
    name.current = node?.kind === 'node' ? node.name : null;
    return node;
  };
  return { selected: selected.value, choose };
}

function ColourSwitch(props: {
  readonly name: string;
  readonly colours: readonly ColourBy[];
  readonly by: ColourBy;
  readonly choose: (by: ColourBy) => void;
}) {
  return (
    <fieldset class="switch">
      <legend class="visually-hidden">Colour by</legend>
      {props.colours.map((one) => (
        <label key={one} class={props.by === one ? 'chosen' : ''}>
          <input type="radio" name={props.name} checked={props.by === one} onChange={() => props.choose(one)} />
          {colourings[one].text}
        </label>
      ))}
    </fieldset>
  );
}

function SearchField(props: {
  readonly id: string;
  readonly text: string;
  readonly enter: (text: string) => void;
  readonly next: (back: boolean) => void;
}) {
  const key = (event: KeyboardEvent) => {
    if (event.key === 'Enter') props.next(event.shiftKey);
    else if (event.key === 'Escape' && props.text !== '') props.enter('');
    else return;
    event.preventDefault();
  };
  return (
    <div class="search">
      <Search />
      <input
        id={props.id}
        type="search"
        placeholder="Find a node"
        aria-label="Find a node"
        value={props.text}
        onInput={(event) => props.enter(event.currentTarget.value)}
        onKeyDown={key}
      />
      {singleKeys.value === 'on' && <kbd aria-hidden="true">/</kbd>}
    </div>
  );
}

function Legend({ by }: { readonly by: ColourBy }) {
  return (
    <ul class="legend" aria-label={`Colours: ${colourings[by].text}`}>
      <li class="soft">{colourings[by].legend}</li>
      {legendOf(by).map((entry) => (
        <li key={entry.text}>
          <i class={`swatch ramp-${entry.step} ${entry.dashed ? 'dashed' : ''}`} aria-hidden="true" />
          {entry.text}
        </li>
      ))}
    </ul>
  );
}

/** How much of the graph is drawn, and how. */
function Counts(props: {
  readonly view: View | null;
  readonly drawn: Drawn | null;
  readonly by: ColourBy;
  readonly whole: Signal<boolean>;
  readonly asTable: Signal<boolean>;
}) {
  const { view, drawn, whole, asTable } = props;
  const fused = view && drawn ? view.nodes.length - drawn.nodes.filter(({ kind }) => kind === 'node').length : 0;
  return (
    <p class="soft">
      {view && (
        <>
          {counted(view.nodes.length, 'node')}
          {view.folded > 0 && `, ${count(view.folded)} more computed beforehand`}
          {whole.value && fused > 0 && `, ${count(fused)} drawn with the one before it`}.{' '}
          {props.by === 'time' && view.runtime !== '' && `Expected in ${view.runtime} (${view.machine}). `}
        </>
      )}
      {(fused > 0 || !whole.value) && (
        <LinkButton onClick={() => (whole.value = !whole.value)}>
          {whole.value ? 'Show every node' : 'Join what runs as one'}
        </LinkButton>
      )}{' '}
      <LinkButton onClick={() => (asTable.value = !asTable.value)}>
        {asTable.value ? 'Show as graph' : 'Show as table'}
      </LinkButton>
    </p>
  );
}

export function GraphView(props: GraphViewProps) {
  followGraph();
  const whole = useSignal(true);
  const chosenColour = useSignal<ColourBy | null>(null);
  const search = useSignal('');
  const asTable = useSignal(false);
  const { view, drawn, known, by, colours, scene, failed } = usePicture(whole.value, chosenColour.value);
  const { selected, choose } = useSelected(drawn);
  const found = useComputed(() => new Set(drawn?.nodes.flatMap((node, k) => (matches(node, search.value) ? [k] : []))));
  const lens = useRef<Lens | null>(null);
  const select = (k: number | null, open: boolean) => {
    const node = choose(k);
    if (!node || k === null || !scene || !known) return;
    announcement.value = spoken(node, scene, k, known);
    if (open || openLayer.value !== null) openLayer.value = rowOf(node, known)?.output ?? null;
  };
  const goToMatch = (back: boolean) => {
    const all = [...found.value];
    if (all.length === 0) return;
    const at = all.indexOf(selected ?? -1);
    const next = all[(at + (back ? -1 : 1) + all.length) % all.length] ?? all[0] ?? 0;
    select(next, false);
    lens.current?.to(next);
  };
  const enter = (text: string) => {
    search.value = text;
    const [first] = found.value;
    if (first !== undefined) lens.current?.to(first);
  };
  // asked of a graph that is there, or the search would be followed no more
  const foundText = () =>
    found.value.size === 0
      ? `No node is called “${search.value}”.`
      : `${counted(found.value.size, 'node')} found; Enter goes to the next.`;
  const node = selected === null ? undefined : drawn?.nodes[selected];
  return (
    <div class={props.panel ? 'graph-block with-layer' : 'graph-block'}>
      <div class="tab-bar">
        {props.head}
        <div class="layer-tools">
          <ColourSwitch
            name={`${props.searchId}-colour`}
            colours={colours}
            by={by}
            choose={(one) => (chosenColour.value = one)}
          />
          <SearchField id={props.searchId} text={search.value} enter={enter} next={goToMatch} />
        </div>
      </div>
      <p class="graph-found soft" role="status">
        {search.value.trim() !== '' && foundText()}
      </p>
      <div class="graph-area">
        <div class="graph-main">
          {graphProblem.value && <ProblemCard problem={graphProblem.value} />}
          {failed && <p class="soft-2">The layout of this graph failed; the table has all of it.</p>}
          {(asTable.value || failed) && drawn && known ? (
            <GraphTable {...{ drawn, known, by, select }} found={search.value === '' ? null : found.value} />
          ) : scene && known ? (
            <GraphCanvas
              {...{ scene, selected, lens, select }}
              found={found.value}
              label={`Graph of the model: ${counted(view?.nodes.length ?? 0, 'node')}. Arrow keys walk along the edges, Enter opens the layer, plus and minus zoom.`}
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
            <Legend by={by} />
            <Counts {...{ view, drawn, by, whole, asTable }} />
          </div>
          {node && known && !props.panel && <NodeCard node={node} known={known} close={() => select(null, false)} />}
        </div>
        {props.panel}
      </div>
    </div>
  );
}
