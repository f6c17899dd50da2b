// SPDX-License-Identifier: Apache-2.0

import { useEffect, useRef, useState } from 'preact/hooks';
import type { LayerRow } from 'tersor';

import { openLayer } from '../job/state';
import { KeepFloat } from './KeepFloat';
import { count, decibels, range, scale, times, value } from '../numbers';
import { Close } from './Icons';
import { HistogramPlot, histogramTable } from './HistogramPlot';
import { closeLayer, revealPanel } from './layer';
import { Neighbours } from './Neighbours';
import { useWidth } from './width';

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

function Weights(props: { readonly largest: readonly number[] }) {
  const [frame, total] = useWidth<HTMLDivElement>(688);
  const { largest } = props;
  const most = Math.max(...largest);
  const least = Math.min(...largest);
  if (!(most > 0)) return <p class="soft">All weights are 0.</p>;
  const width = Math.max(80, total - 48);
  const bar = width / largest.length;
  const between = least > 0 ? `${times(most / least)} between them` : 'some channels are all 0';
  return (
    <div class="block">
      <div class="block-head">
        <h3>Weights by channel</h3>
        <span class="soft">
          {count(largest.length)} channels, largest value; {between}
        </span>
      </div>
      <div class="plot" ref={frame}>
        <svg
          class="weights"
          width={total}
          height="132"
          role="img"
          aria-label={`Largest absolute weight of ${largest.length} channels, from ${value(least)} to ${value(most)}`}
        >
          {[0, 0.5, 1].map((part) => (
            <g key={part}>
              <path class="grid" d={`M48 ${110 - 100 * part}h${width}`} />
              <text class="tick" x="42" y={114 - 100 * part} text-anchor="end">
                {value(most * part)}
              </text>
            </g>
          ))}
          {largest.map((x, k) => (
            <rect
              key={k}
              class="plot-bar"
              x={48 + k * bar}
              y={110 - (100 * x) / most}
              width={Math.max(0.5, bar * (largest.length > 200 ? 1 : 0.8))}
              height={(100 * x) / most}
            />
          ))}
          <text class="tick" x="48" y="128">
            channel 0
          </text>
          <text class="tick" x={48 + width} y="128" text-anchor="end">
            {largest.length - 1}
          </text>
        </svg>
      </div>
    </div>
  );
}

function Values(props: { readonly row: LayerRow }) {
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
          <button type="button" class="link" aria-pressed={table} onClick={() => setTable(!table)}>
            {table ? 'Show as plot' : 'Show as table'}
          </button>
          <button type="button" class="link" aria-pressed={linear} onClick={() => setLinear(!linear)}>
            {linear ? 'Log count' : 'Linear count'}
          </button>
        </span>
      </div>
      {table ? histogramTable(props.row) : <HistogramPlot row={props.row} linear={linear} />}
    </div>
  );
}

export function LayerPanel(props: { readonly row: LayerRow; readonly rows: readonly LayerRow[] }) {
  const { row, rows } = props;
  const back = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    // on narrow pages the panel takes the list's place
    if (back.current?.offsetParent) revealPanel();
  }, []);
  const at = rows.findIndex((other) => other.output === row.output);
  const go = (to: number) => {
    const next = rows[to];
    if (next) openLayer.value = next.output;
  };
  return (
    <div class="panel" tabIndex={-1} role="group" aria-labelledby="panel-title">
      <button type="button" ref={back} class="link panel-back" onClick={closeLayer}>
        Layers ›
      </button>
      <div class="panel-head">
        <div>
          <h4 id="panel-title">{row.name}</h4>
          <span class="soft">
            {row.op} {row.detail}
          </span>
        </div>
        <span class="pair">
          <Neighbours what="layer" at={at} last={rows.length - 1} go={go} />
          <button type="button" class="ghost" aria-label="Close the layer" onClick={closeLayer}>
            <Close />
          </button>
        </span>
      </div>
      <dl class="panel-facts">
        <Fact term="Cut" value={row.range ? range(row.range[0], row.range[1]) : 'stays float'} />
        <Fact term="Scale" value={scale(row.scale)} />
        <Fact term="Zero point" value={row.zero_point === null ? '–' : count(row.zero_point)} more={row.type} />
        <Fact term="Lost outside" value={count(row.lost)} more={`of ${count(row.values)}`} loss={row.lost > 0} />
        <Fact term="Error alone" value={decibels(row.isolated_sqnr_db)} />
        <Fact term="Accumulated" value={decibels(row.accumulated_sqnr_db)} />
      </dl>
      <div class="panel-float">
        <KeepFloat name={row.name} isFloat={row.range === null} />
      </div>
      <Values key={row.output} row={row} />
      {row.weight_max && row.weight_max.length > 0 && <Weights largest={row.weight_max} />}
    </div>
  );
}
