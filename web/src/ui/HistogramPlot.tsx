// SPDX-License-Identifier: Apache-2.0
//
// The values of one tensor: kept in ink, lost striped on a wash, the two cuts as lines with their values.

import { useId } from 'preact/hooks';
import type { LayerRow } from 'tersor';

import { count, niceStep, range, value } from '../numbers';
import { TableHead } from './TableHead';

const top = 44;
const base = 214;

/** Room beside the plot; what stands under it shares it, so that a mark stands under the value it means. */
export interface Gutters {
  readonly left: number;
  readonly right: number;
}

export const narrowGutters: Gutters = { left: 64, right: 24 };

/** How values lie along the plot. */
export interface Axis {
  readonly low: number;
  readonly high: number;
  readonly left: number;
  readonly width: number;
}

export function along(axis: Axis, x: number): number {
  return axis.left + (axis.width * (x - axis.low)) / (axis.high - axis.low || 1);
}

/** From the lowest to the highest of bins, cut and marks, so that it stays where it is while a cut is dragged. */
export function axisOf(row: LayerRow, marks: readonly number[], width: number, gutters: Gutters): Axis {
  const bins = binsOf(row);
  const all = [bins[0]?.from ?? 0, bins.at(-1)?.to ?? 1, ...(row.range ?? []), ...marks];
  const [low, high] = [Math.min(...all), Math.max(...all)];
  return { low, high, left: gutters.left, width: Math.max(80, width - gutters.left - gutters.right) };
}

interface Bin {
  readonly from: number;
  readonly to: number;
  readonly n: number;
  readonly lost: boolean;
}

/** Bins from the first filled to the last filled, and the cuts even where they lie outside. */
export function binsOf(row: Pick<LayerRow, 'histogram' | 'range'>): Bin[] {
  const histogram = row.histogram;
  if (!histogram) return [];
  const first = histogram.counts.findIndex((n) => n > 0);
  const last = histogram.counts.findLastIndex((n) => n > 0);
  if (first < 0) return [];
  return histogram.counts.slice(first, last + 1).map((n, k) => {
    const from = histogram.lower + (first + k) * histogram.bin_width;
    const to = from + histogram.bin_width;
    const lost = row.range !== null && (to <= row.range[0] || from >= row.range[1]);
    return { from, to, n, lost };
  });
}

function multiples(from: number, to: number, step: number): number[] {
  const found: number[] = [];
  for (let k = Math.ceil(from / step); k * step <= to * (1 + 1e-12); ++k) found.push(k * step);
  return found;
}

/** Powers of ten for a logarithmic axis, round steps for a linear one. */
function countTicks(most: number, linear: boolean): number[] {
  if (linear) return multiples(0, most, niceStep(most, 4));
  const ticks: number[] = [];
  for (let n = 1; n <= most; n *= 10) ticks.push(n);
  return ticks;
}

function sentence(row: LayerRow, bins: readonly Bin[]): string {
  const all = range(bins[0]?.from, bins.at(-1)?.to);
  if (!row.range) return `Values from ${all}; this tensor stays float.`;
  return `Values from ${all}; kept ${range(row.range[0], row.range[1])}; ${count(row.lost)} of ${count(row.values)} values lost.`;
}

function Cut(props: { readonly x: number }) {
  return (
    <g class="cut">
      <path class="cut-line" d={`M${props.x} 28V${base}`} />
      <path class="cut-foot" d={`M${props.x - 5} ${base + 7}h10l-5 -7z`} />
    </g>
  );
}

interface HistogramProps {
  readonly row: LayerRow;
  readonly linear: boolean;
  readonly axis: Axis;
  /** Of the whole. */
  readonly width: number;
  /** Other values to mark at the foot. */
  readonly marks?: readonly number[];
}

/** The handles of the cuts are elements of their own, above it. */
export function HistogramPlot(props: HistogramProps) {
  const stripes = useId();
  const { row, linear, axis, width } = props;
  const { left } = axis;
  const plot = axis.width;
  const bins = binsOf(row);
  const most = Math.max(1, ...bins.map((bin) => bin.n));
  const cuts = row.range;
  const span = axis.high - axis.low || 1;
  const at = (x: number) => along(axis, x);
  // half a decade below 1, so that a single value still has a bar
  const tall = (n: number) => (linear ? n / most : (Math.log10(n) + 0.5) / (Math.log10(most) + 0.5));
  const up = (n: number) => base - (base - top) * Math.max(0, Math.min(1, tall(n)));
  const step = niceStep(span, Math.max(4, plot / 80));
  return (
    <svg class="histogram" width={width} height="244" role="img" aria-label={sentence(row, bins)}>
      <defs>
        <pattern id={stripes} width="4" height="4" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
          <rect class="stripe" width="2" height="4" />
        </pattern>
      </defs>
      {cuts && (
        <>
          <rect class="wash" x={left} y={top} width={Math.max(0, at(cuts[0]) - left)} height={base - top} />
          <rect
            class="wash"
            x={at(cuts[1])}
            y={top}
            width={Math.max(0, left + plot - at(cuts[1]))}
            height={base - top}
          />
        </>
      )}
      {countTicks(most, linear).map((n) => (
        <g key={n}>
          <path class="grid" d={`M${left} ${up(n)}h${plot}`} />
          <text class="tick" x={left - 8} y={up(n) + 4} text-anchor="end">
            {count(n)}
          </text>
        </g>
      ))}
      <text class="tick" x={left - 8} y={top - 6} text-anchor="end">
        count
      </text>
      {bins.map(
        (bin) =>
          bin.n > 0 && (
            <rect
              key={bin.from}
              class={bin.lost ? '' : 'plot-bar'}
              fill={bin.lost ? `url(#${stripes})` : undefined}
              x={at(bin.from)}
              y={up(bin.n)}
              width={Math.max(0.75, ((at(bin.to) - at(bin.from)) * 4) / 5)}
              height={base - up(bin.n)}
            />
          ),
      )}
      <path class="baseline" d={`M${left} ${base}h${plot}`} />
      {(props.marks ?? []).map((x, k) => (
        <path key={k} class="method-tick" d={`M${at(x)} ${base - 7}v7`} />
      ))}
      {multiples(axis.low, axis.high, step).map((x) => (
        <g key={x}>
          <path class="baseline" d={`M${at(x)} ${base}v4`} />
          <text class="tick" x={at(x)} y={base + 20} text-anchor="middle">
            {axisText(x, step)}
          </text>
        </g>
      ))}
      {cuts && (
        <>
          <Cut x={at(cuts[0])} />
          <Cut x={at(cuts[1])} />
        </>
      )}
    </svg>
  );
}

function axisText(x: number, step: number): string {
  const digits = Math.max(0, Math.ceil(-Math.log10(step) - 1e-9));
  if (digits > 4) return value(x);
  const text = x.toFixed(digits);
  return (Number(text) === 0 ? text.replace('-', '') : text).replace('-', '−');
}

/** The same numbers as a table. */
export function histogramTable(row: LayerRow) {
  const bins = binsOf(row).filter((bin) => bin.n > 0);
  return (
    <div class="table-twin" tabIndex={0} role="group" aria-label="Histogram as a table">
      <table class="figures">
        <TableHead of={['From', 'To', ['Values', 'right'], 'Kept']} />
        <tbody>
          {bins.map((bin) => (
            <tr key={bin.from}>
              <th scope="row">{value(bin.from)}</th>
              <td>{value(bin.to)}</td>
              <td class="right">{count(bin.n)}</td>
              <td>{bin.lost ? 'lost' : 'kept'}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
