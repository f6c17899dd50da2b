// SPDX-License-Identifier: Apache-2.0
//
// Float and a configuration over the same picture, each on its side of a divider that is moved by mouse, finger or keys; and the slider
// over the samples, the worst first.

import { batch, signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';

import type { DrawnFigure, Which } from '../job/drawings';
import { followers, looksAt, parked } from '../job/state';
import { percent } from '../numbers';
import { Pixels } from './Pixels';

/** Float's part of the picture's width, in percent. */
const floatPart = signal(50);

function moveTo(part: number): void {
  batch(() => {
    floatPart.value = Math.min(100, Math.max(0, Math.round(part)));
    looksAt.value = 'all';
  });
}

/** What the reader looks at, for a part that follows it while it is on the page. */
export function useLooks() {
  useEffect(() => {
    ++followers.value;
    return () => --followers.value;
  }, []);
  return looksAt.value;
}

/** What float and configurations are called; there is no A where there is no B. */
export function nameOf(which: Which): string {
  return which === 'F' ? 'Float' : parked.value ? which : 'int8';
}

function Picture(props: { readonly index: number; readonly figure: DrawnFigure; readonly from?: number }) {
  const { index, figure, from } = props;
  const { raster, boxes, said } = figure;
  const { width, height } = raster;
  return (
    <div class="drawn-picture" style={from === undefined ? undefined : { clipPath: `inset(0 0 0 ${from}%)` }}>
      <Pixels raster={raster} label={`Sample ${index}, ${nameOf(figure.which)}: ${said}`} />
      {boxes.length > 0 && (
        <svg viewBox={`0 0 ${width} ${height}`} aria-hidden="true">
          {boxes.map(({ x1, y1, x2, y2, score, kind }) => (
            <g key={`${x1} ${y1} ${x2} ${y2} ${kind ?? ''}`}>
              <rect class="drawn-under" x={x1} y={y1} width={x2 - x1} height={y2 - y1} />
              <rect class="drawn-box" x={x1} y={y1} width={x2 - x1} height={y2 - y1}>
                <title>{`${kind === null ? '' : `class ${kind}, `}score ${percent(score, 0)}`}</title>
              </rect>
            </g>
          ))}
        </svg>
      )}
    </div>
  );
}

/** Whoever looks at float or at a configuration alone sees the whole of it. */
export function Divided(props: { readonly index: number; readonly float: DrawnFigure; readonly other: DrawnFigure }) {
  const { index, float, other } = props;
  const frame = useRef<HTMLDivElement>(null);
  const looks = useLooks();
  const part = looks === 'all' ? floatPart.value : looks === 'F' ? 100 : 0;
  const follow = ({ clientX }: PointerEvent) => {
    const { left = 0, width = 1 } = frame.current?.getBoundingClientRect() ?? {};
    moveTo((100 * (clientX - left)) / width);
  };
  const key = (event: KeyboardEvent) => {
    const step = event.shiftKey ? 1 : 5;
    const to: Readonly<Record<string, number>> = {
      ArrowLeft: part - step,
      ArrowDown: part - step,
      ArrowRight: part + step,
      ArrowUp: part + step,
      PageDown: part - 20,
      PageUp: part + 20,
      Home: 0,
      End: 100,
    };
    const wanted = to[event.key];
    if (wanted === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    moveTo(wanted);
  };
  return (
    <div
      ref={frame}
      class="divided"
      onPointerDown={(event) => {
        if (event.button !== 0) return;
        event.currentTarget.setPointerCapture(event.pointerId);
        follow(event);
      }}
      onPointerMove={(event) => event.currentTarget.hasPointerCapture(event.pointerId) && follow(event)}
    >
      <Picture index={index} figure={float} />
      <Picture index={index} figure={other} from={part} />
      <span class="divider" style={{ left: `${part}%` }} aria-hidden="true" />
      <div
        class="divider-grip"
        role="slider"
        tabIndex={0}
        aria-label={`Divider, ${nameOf(float.which)} on its left, ${nameOf(other.which)} on its right`}
        aria-orientation="horizontal"
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={part}
        aria-valuetext={`${part} % ${nameOf(float.which)}`}
        style={{ left: `clamp(14px, ${part}%, calc(100% - 14px))` }}
        onKeyDown={key}
      >
        <svg width="16" height="12" aria-hidden="true">
          <path d="M5 1L1 6l4 5M11 1l4 5-4 5" />
        </svg>
      </div>
    </div>
  );
}

/** Over samples of which the first differs most from float. */
export function WorstSlider(props: {
  readonly at: number;
  readonly of: number;
  readonly onMove: (at: number) => void;
}) {
  const { at, of, onMove } = props;
  if (of < 2) return null;
  const said = `${at + 1} of ${of}`;
  return (
    <label class="worst-slider">
      <span>Sample {said}, worst first</span>
      <input
        type="range"
        min="0"
        max={of - 1}
        value={at}
        aria-valuetext={said}
        onInput={(event) => onMove(Number(event.currentTarget.value))}
      />
    </label>
  );
}
