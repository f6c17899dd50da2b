// SPDX-License-Identifier: Apache-2.0
//
// The drop zone, which is also the file button. Its drawing is an illustration made of a formula: the values of a layer, the
// two cuts, the steps between them and what is lost outside.

import { useId } from 'preact/hooks';

import { counted } from '../numbers';
import { reading } from '../job/state';
import { dragged } from './drag';
import { filesInputId, takeFiles } from './files';
import { useWidth } from './width';

const bins = 120;
const lowest = -11;
const width = 20 / bins;
const lowerCut = -6.8;
const upperCut = 6.1;

/** Height of a bin, 0 to 1: a bell on a logarithmic scale with a few far values. */
function height(bin: number): number {
  const x = lowest + (bin + 0.5) * width;
  const bell = 1 - ((x + 0.5) / 7.2) ** 2;
  const grain = ((bin * 7919) % 17) / 17;
  if (bell > 0.12) return bell - 0.04 * grain * (1 - bell);
  return grain > 0.55 ? 0.06 + 0.09 * grain : 0;
}

const heights = Array.from({ length: bins }, (_, bin) => height(bin));

const top = 44;
const base = 216;

type Along = (x: number) => number;

function stepLine(along: Along): string {
  const steps = 16;
  const points: string[] = [];
  for (let step = 0; step < steps; ++step) {
    const from = lowerCut + ((upperCut - lowerCut) * step) / steps;
    const to = lowerCut + ((upperCut - lowerCut) * (step + 1)) / steps;
    const middle = (from + to) / 2;
    const y = base - Math.max(0.06, 1 - ((middle + 0.5) / 7.2) ** 2) * (base - top);
    points.push(`${along(from).toFixed(1)},${y.toFixed(1)}`, `${along(to).toFixed(1)},${y.toFixed(1)}`);
  }
  return `M${points.join('L')}`;
}

function Cut(props: { readonly x: number; readonly word: string }) {
  const { x } = props;
  return (
    <g class="cut">
      <path class="cut-line" d={`M${x} 30V${base}`} />
      <rect class="cut-handle" x={x - 33} y="6" width="66" height="24" rx="3" />
      <text class="cut-text" x={x} y="23" text-anchor="middle">
        {props.word}
      </text>
    </g>
  );
}

function Drawing() {
  const stripes = useId();
  const [frame, total] = useWidth<HTMLDivElement>(700);
  const bar = total / bins;
  const along: Along = (x) => ((x - lowest) / 20) * total;
  return (
    <div class="plate-drawing" ref={frame}>
      <svg width={total} height="246" aria-hidden="true">
        <defs>
          <pattern id={stripes} width="4" height="4" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
            <rect class="stripe" width="2" height="4" />
          </pattern>
        </defs>
        {heights.map((h, bin) => {
          const lost = lowest + bin * width < lowerCut || lowest + (bin + 1) * width > upperCut;
          const y = base - h * (base - top);
          return (
            h > 0 && (
              <rect
                key={bin}
                class={lost ? '' : 'kept'}
                fill={lost ? `url(#${stripes})` : undefined}
                x={bin * bar}
                y={y}
                width={bar * 0.8}
                height={base - y}
              />
            )
          );
        })}
        <path class="steps" d={stepLine(along)} />
        <path class="baseline" d={`M0 ${base}H${total}`} />
        {[-10, -5, 0, 5].map((x) => (
          <g key={x}>
            <path class="baseline" d={`M${along(x)} ${base}v4`} />
            <text class="tick" x={along(x)} y="236" text-anchor="middle">
              {String(x).replace('-', '−')}
            </text>
          </g>
        ))}
        <Cut x={along(lowerCut)} word="cut" />
        <Cut x={along(upperCut)} word="cut" />
      </svg>
    </div>
  );
}

export function Plate() {
  const items = dragged.value;
  const over = items !== null;
  const head = over ? (
    <>
      <span class="plate-title">{items > 0 ? `Let go to add ${counted(items, 'item')}` : 'Let go to add them'}</span>
      <p class="plate-help">They are read in this tab and stay in it. Folders open with all their subfolders.</p>
    </>
  ) : (
    <>
      <label class="plate-title" for={filesInputId}>
        Model and samples
      </label>
      <p class="plate-help" id="plate-help">
        {reading.value > 0
          ? 'Reading …'
          : 'Drop them anywhere on this page, in any order: .onnx or .tflite, folders of pictures, .npy, .npz, .pb, .zip or a recipe.'}
      </p>
    </>
  );
  return (
    <div class={over ? 'plate over' : 'plate'}>
      <div class="plate-head">
        <div>{head}</div>
        {!over && (
          <span class="button plate-button" aria-hidden="true">
            Choose files
          </span>
        )}
      </div>
      <Drawing />
      <p class="plate-caption">
        An illustration: the values of one layer, log count. Between the cuts 256 steps; outside, lost.
      </p>
      <input
        id={filesInputId}
        class="plate-input"
        type="file"
        multiple
        aria-describedby={over ? undefined : 'plate-help'}
        aria-label={over ? 'Model and samples' : undefined}
        onChange={takeFiles}
        onKeyDown={(event) => {
          // the browser itself opens a file input with the space bar only
          if (event.key !== 'Enter' || event.ctrlKey || event.metaKey) return;
          event.preventDefault();
          event.currentTarget.click();
        }}
      />
    </div>
  );
}
