// SPDX-License-Identifier: Apache-2.0
//
// Weights by output channel, the worst of them by name.

import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { LayerRow, WeightChannels } from 'tersor';

import * as state from '../job/state';
import { count, decibels, times, value } from '../numbers';
import { BlockHead } from './BlockHead';
import { useWidth } from './width';

/** Channels that are named. */
const named = 3;

function useChannels(row: LayerRow): WeightChannels | null {
  const found = useSignal<{ of: LayerRow; channels: WeightChannels } | null>(null);
  useEffect(() => {
    let over = false;
    state.model.value?.handle.weightChannels(row.name, state.settings.value).then(
      (channels) => {
        if (!over && channels.channels.length > 0) found.value = { of: row, channels };
      },
      () => undefined, // a layer without a name of its own: its largest weights are known all the same
    );
    return () => {
      over = true;
    };
  }, [row]);
  return found.value?.of === row ? found.value.channels : null;
}

/** The channels that lose most of themselves, the worst first. */
export function worstChannels(channels: WeightChannels['channels'], most = named): number[] {
  return channels
    .flatMap(({ sqnr_db }, k) => (sqnr_db === null ? [] : [{ k, sqnr_db }]))
    .sort((a, b) => a.sqnr_db - b.sqnr_db)
    .slice(0, most)
    .map(({ k }) => k);
}

export function Channels(props: { readonly row: LayerRow }) {
  const [frame, total] = useWidth<HTMLDivElement>(688);
  const known = useChannels(props.row);
  // as they are quantized, BatchNormalization folded in; without an answer as the file has them
  const largest = known ? known.channels.map((channel) => channel.largest) : (props.row.weight_max ?? []);
  if (largest.length === 0) return null;
  const most = Math.max(...largest);
  const least = Math.min(...largest);
  if (!(most > 0)) return <p class="soft">All weights are 0.</p>;
  const width = Math.max(80, total - 48);
  const bar = width / largest.length;
  const between = least > 0 ? `${times(most / least)} between them` : 'some channels are all 0';
  const worst = known ? worstChannels(known.channels) : [];
  const bits = known?.n_bits ?? null;
  return (
    <div class="block">
      <BlockHead title="Weights by channel" note={`${count(largest.length)} channels, largest value; ${between}`} />
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
              class={worst.includes(k) ? 'worst-bar' : 'plot-bar'}
              x={48 + k * bar}
              y={110 - (100 * x) / most}
              width={Math.max(0.5, bar * (largest.length > 200 ? 1 : 0.8))}
              height={(100 * x) / most}
            />
          ))}
          {worst.map((k) => (
            <path key={k} class="worst-mark" d={`M${48 + (k + 0.4) * bar - 4} 120h8l-4 -7z`} />
          ))}
          <text class="tick" x="48" y="130">
            channel 0
          </text>
          <text class="tick" x={48 + width} y="130" text-anchor="end">
            {largest.length - 1}
          </text>
        </svg>
      </div>
      <p class="soft-2 worst-channels">
        {worst.length > 0 && known && (
          <>
            {worst.length === 1 ? 'Channel' : 'Worst channels'}{' '}
            {worst
              .map(
                (k) => `${k} (${decibels(known.channels[k]?.sqnr_db)}, largest ${value(known.channels[k]?.largest)})`,
              )
              .join(', ')}
            : weights at {bits} bits, {known.per_channel ? 'a scale for each channel' : 'one scale for all channels'}.
          </>
        )}
      </p>
    </div>
  );
}
