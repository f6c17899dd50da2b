// SPDX-License-Identifier: Apache-2.0

import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { LayerRow } from 'tersor';

import { openLayer } from '../job/state';
import { forecast } from '../job/cuts';
import { count, decibels, range, scale, value } from '../numbers';
import { Channels } from './Channels';
import { CutPlot, useStudy, type Draft, type Study } from './CutPlot';
import { Close } from './Icons';
import { histogramTable } from './HistogramPlot';
import { KeepFloat } from './KeepFloat';
import { closeLayer, revealPanel } from './layer';
import { LinkButton } from './LinkButton';
import { Neighbours } from './Neighbours';
import { OperatorSettings, RunsAs } from './OperatorSettings';

function Fact(props: {
  readonly term: string;
  readonly value: string;
  readonly more?: string;
  readonly loss?: boolean;
}) {
  return (
    <div>
      <dt>{props.term}</dt>
      <dd>
        <span class={props.loss ? 'loss' : ''}>{props.value}</span>
        {props.more && <span class="soft"> {props.more}</span>}
      </dd>
    </div>
  );
}

interface ValuesProps {
  readonly row: LayerRow;
  readonly study: Study | null;
  readonly draft: Draft | null;
  readonly setDraft: (draft: Draft | null) => void;
}

function Values(props: ValuesProps) {
  const [table, setTable] = useState(false);
  const [linear, setLinear] = useState(false);
  const { histogram } = props.row;
  if (!histogram || histogram.counts.length === 0)
    return <p class="soft">No histogram was collected for this tensor.</p>;
  const filled = histogram.counts.filter((n) => n > 0).length;
  if (filled <= 1 && props.row.values > 0) {
    const only = histogram.lower + (histogram.counts.findIndex((n) => n > 0) + 0.5) * histogram.bin_width;
    return (
      <p class="soft">
        All {count(props.row.values)} values lie at {value(histogram.bin_width === 0 ? histogram.lower : only)}.
      </p>
    );
  }
  return (
    <div class="block">
      <div class="block-head">
        <h3>
          Output values{' '}
          <span class="soft">
            {linear ? 'count' : 'log count'}, {count(histogram.counts.length)} bins of {value(histogram.bin_width)}
          </span>
        </h3>
        <span class="pair">
          <LinkButton aria-pressed={table} onClick={() => setTable(!table)}>
            {table ? 'Show as plot' : 'Show as table'}
          </LinkButton>
          <LinkButton aria-pressed={linear} onClick={() => setLinear(!linear)}>
            {linear ? 'Log count' : 'Linear count'}
          </LinkButton>
        </span>
      </div>
      {table ? histogramTable(props.row) : <CutPlot {...props} linear={linear} />}
    </div>
  );
}

/** What a dragged cut shows counts until the model was made anew with it. */
function useDraft(row: LayerRow): readonly [Draft | null, (draft: Draft | null) => void] {
  const [kept, setKept] = useState<{ of: LayerRow; draft: Draft | null } | null>(null);
  return [kept?.of === row ? kept.draft : null, (draft) => setKept({ of: row, draft })];
}

function PanelHead(props: { readonly row: LayerRow; readonly children?: ComponentChildren }) {
  const { row } = props;
  return (
    <div class="panel-head">
      <div>
        <h4 id="panel-title">{row.name}</h4>
        <span class="soft">
          {row.op} {row.detail}
        </span>
      </div>
      <span class="pair">
        {props.children}
        <button type="button" class="ghost" aria-label="Close the layer" onClick={closeLayer}>
          <Close />
        </button>
      </span>
    </div>
  );
}

/** In place of the panel of a layer that the last run left in float, so that the reader stays where the choice was made. */
export function GoneLayerPanel({ row }: { readonly row: LayerRow }) {
  return (
    <>
      <button type="button" class="link panel-back" onClick={closeLayer}>
        Layers ›
      </button>
      <PanelHead row={row} />
      <p class="soft-2">This operator runs in float now, so it has no quantized output to show.</p>
      <KeepFloat name={row.name} isFloat />
    </>
  );
}

export function LayerPanel(props: { readonly row: LayerRow; readonly rows: readonly LayerRow[] }) {
  const { row, rows } = props;
  const back = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    // on narrow pages the panel takes the list's place
    if (back.current?.offsetParent) revealPanel();
  }, []);
  const study = useStudy(row);
  const [draft, setDraft] = useDraft(row);
  const moved = draft?.figures && study ? { after: draft.figures.sqnr_db, before: study.now.sqnr_db } : null;
  const about = (measured: number | null) =>
    moved ? `about ${decibels(forecast(measured, moved.before, moved.after))}` : decibels(measured);
  const cut = draft?.cut ?? row.range;
  const at = rows.findIndex((other) => other.output === row.output);
  const go = (to: number) => {
    const next = rows[to];
    if (next) openLayer.value = next.output;
  };
  return (
    <>
      <button type="button" ref={back} class="link panel-back" onClick={closeLayer}>
        Layers ›
      </button>
      <PanelHead row={row}>
        <Neighbours what="layer" at={at} last={rows.length - 1} go={go} />
      </PanelHead>
      <dl class="panel-facts">
        <Fact term="Cut" value={cut ? range(cut[0], cut[1]) : 'stays float'} />
        <Fact term="Scale" value={scale(draft?.figures?.scale ?? row.scale)} />
        <Fact
          term="Zero point"
          value={
            row.zero_point === null
              ? '–'
              : count(draft?.figures && row.type.startsWith('u') ? draft.figures.zero_point : row.zero_point)
          }
          more={row.type}
        />
        <Fact
          term="Lost outside"
          value={count(draft?.figures?.lost ?? row.lost)}
          more={`of ${count(draft?.figures?.values ?? row.values)}`}
          loss={(draft?.figures?.lost ?? row.lost) > 0}
        />
        <Fact term="Error alone" value={about(row.isolated_sqnr_db)} />
        <Fact term="Accumulated" value={about(row.accumulated_sqnr_db)} />
      </dl>
      <RunsAs row={row} />
      <Values key={row.output} row={row} study={study} draft={draft} setDraft={setDraft} />
      <OperatorSettings key={`${row.output} settings`} row={row} />
      <Channels row={row} />
    </>
  );
}
