// SPDX-License-Identifier: Apache-2.0
//
// The histogram with cuts that are dragged with mouse, finger or keys, what comes of a cut while it moves, and every method
// as a row under the values it would choose.

import { useSignal } from '@preact/signals';
import { useEffect, useId, useMemo, useRef } from 'preact/hooks';
import type { LayerRow, RangeFigures, RangeRow, RangeStudy } from 'tersor';

import { cutOverride, handCut, setCut, type Cut } from '../job/cuts';
import { askEffect, effectOf, isGain, type Effect } from '../job/effects';
import { choiceText } from '../job/settings';
import { result, running } from '../job/state';
import { count, decibels, none, range, value } from '../numbers';
import { along, axisOf, HistogramPlot, narrowGutters, type Axis, type Gutters } from './HistogramPlot';
import { LinkButton } from './LinkButton';
import { useWidth } from './width';

/** The longest name of a method, in bold, ends before the lines begin. */
const wideGutters: Gutters = { left: 204, right: 148 };
/** Widths from which the rows of methods have room beside the plot. */
const wideFrom = 620;

/** What the panel shows while a cut moves, and until the model was made anew with it. */
export interface Draft {
  readonly cut: Cut;
  readonly figures: RangeFigures | null;
}

export interface Study {
  readonly study: RangeStudy;
  readonly chosen: RangeRow;
  /** Of the range in force. */
  readonly now: RangeFigures;
}

function rangeRowOf(row: LayerRow): RangeRow | null {
  const found = result.value?.quantized.report.ranges.find(({ tensor }) => tensor === row.output);
  return found && found.scale.length === 1 ? found : null;
}

/** Null until the core has answered, or where nothing is known of the tensor. */
export function useStudy(row: LayerRow): Study | null {
  const found = useSignal<{ of: LayerRow; study: Study } | null>(null);
  useEffect(() => {
    const made = result.value?.quantized;
    const chosen = rangeRowOf(row);
    if (!made || !chosen || !row.range || !row.histogram) return undefined;
    let open: RangeStudy | null = null;
    let over = false;
    const question = {
      tensor: row.output,
      method: chosen.method,
      n_bits: chosen.n_bits,
      is_signed: chosen.method !== 'UNIFORM' && chosen.range[0] < 0,
    };
    void (async () => {
      try {
        open = await made.studyRange(question);
        const now = await open.at(...chosen.range);
        if (!over) found.value = { of: row, study: { study: open, chosen, now } };
        else open.close();
      } catch {
        // the result was closed, or its statistics say nothing of this tensor: the histogram stands without handles
      }
    })();
    return () => {
      over = true;
      open?.close();
    };
  }, [row]);
  return found.value?.of === row ? found.value.study : null;
}

interface HandleProps {
  readonly side: 0 | 1;
  readonly cut: Cut;
  readonly lost: number;
  readonly axis: Axis;
  readonly width: number;
  readonly step: number;
  readonly disabled: string;
  readonly move: (side: 0 | 1, to: number, by: 'pointer' | 'key') => void;
  readonly end: () => void;
}

const handleWidth = 66;

function Handle(props: HandleProps) {
  const { side, cut, axis, width, step, move } = props;
  const x = along(axis, cut[side]);
  const middle = Math.min(Math.max(x, handleWidth / 2 + 1), width - handleWidth / 2 - 1);
  const grip = useRef(0);
  const to = (event: PointerEvent) => {
    const place = (event.currentTarget as HTMLElement).parentElement?.getBoundingClientRect();
    const pixels = event.clientX - (place?.left ?? 0) - grip.current;
    return axis.low + ((pixels - axis.left) / axis.width) * (axis.high - axis.low);
  };
  const key = (event: KeyboardEvent) => {
    const steps = event.shiftKey ? 10 : 1;
    const target: Readonly<Record<string, number>> = {
      ArrowLeft: cut[side] - steps * step,
      ArrowDown: cut[side] - steps * step,
      ArrowRight: cut[side] + steps * step,
      ArrowUp: cut[side] + steps * step,
      Home: side === 0 ? axis.low : axis.high,
      End: side === 0 ? axis.low : axis.high,
    };
    const wanted = target[event.key];
    if (wanted === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    move(side, wanted, 'key');
  };
  const words = side === 0 ? 'lower' : 'upper';
  const fixed = props.disabled !== '';
  return (
    <div
      class={fixed ? 'cut-grip fixed' : 'cut-grip'}
      role="slider"
      tabIndex={0}
      aria-label={side === 0 ? 'Lower cut' : 'Upper cut'}
      aria-orientation="horizontal"
      aria-disabled={fixed}
      aria-valuemin={axis.low}
      aria-valuemax={axis.high}
      aria-valuenow={cut[side]}
      aria-valuetext={`${words} cut ${value(cut[side])}, ${count(props.lost)} values lost`}
      title={props.disabled || undefined}
      style={{ left: `${middle - handleWidth / 2}px` }}
      onKeyDown={fixed ? undefined : key}
      onPointerDown={(event) => {
        if (fixed) return;
        const element = event.currentTarget;
        element.setPointerCapture(event.pointerId);
        element.focus();
        const place = element.parentElement?.getBoundingClientRect();
        grip.current = event.clientX - (place?.left ?? 0) - x;
        event.preventDefault();
      }}
      onPointerMove={(event) => {
        if (!fixed && event.currentTarget.hasPointerCapture(event.pointerId)) move(side, to(event), 'pointer');
      }}
      onPointerUp={() => props.end()}
      onPointerCancel={() => props.end()}
      onBlur={() => props.end()}
    >
      {value(cut[side])}
    </div>
  );
}

function same(a: Cut, b: Cut, step: number): boolean {
  return Math.abs(a[0] - b[0]) <= step && Math.abs(a[1] - b[1]) <= step;
}

interface MethodsProps {
  readonly row: LayerRow;
  readonly study: Study;
  readonly axis: Axis;
  readonly width: number;
  readonly wide: boolean;
  readonly draft: Draft | null;
  readonly choose: (cut: Cut) => void;
  readonly disabled: boolean;
}

const orts: Readonly<Record<string, string>> = {
  NOCLIPPING: 'No clipping (MinMax)',
  Entropy: 'Entropy',
  Percentile: 'Percentile',
  Distribution: 'Distribution',
  MovingAverage: 'Moving average',
};

/** The methods of ONNX Runtime's calibrators. */
const ofRuntime = new Set(['NOCLIPPING', 'Entropy', 'Percentile', 'Distribution', 'MovingAverage']);

function Methods(props: MethodsProps) {
  const name = useId();
  const { row, study, axis, wide } = props;
  const cut = props.draft?.cut ?? row.range;
  const hand = handCut(row.name) !== null || props.draft !== null;
  const step = study.now.scale;
  const setting = result.value?.quantized.recipe.quantization_config.activation_threshold_method;
  const { choices } = study.study;
  const current = cut
    ? (choices.find(({ method, figures }) => method === setting && same([figures.low, figures.high], cut, step)) ??
      choices.find(({ figures }) => same([figures.low, figures.high], cut, step)))
    : undefined;
  const bits = study.chosen.n_bits;
  const changeOf = ({ low, high }: RangeFigures) => ({ overrides: [cutOverride(row, bits, [low, high])] });
  const effects = choices.map(({ figures }) => effectOf(changeOf(figures)));
  const atOutput = effects.map((effect) => (effect && effect !== 'waiting' ? effect : null));
  const best = bestOf(atOutput);
  const ppm = (figures: RangeFigures) => (figures.values > 0 ? (1e6 * figures.lost) / figures.values : 0);
  return (
    <fieldset class={wide ? 'methods wide' : 'methods'}>
      <legend>
        Method for this layer <span class="soft">{wide ? '' : 'range, '}lost in parts per million, SQNR in dB</span>
      </legend>
      {hand && !current && cut && (
        <label class="method chosen">
          <input type="radio" name={name} checked disabled={props.disabled} />
          <span class="method-name">By hand</span>
          <span class="method-range">{range(cut[0], cut[1])}</span>
          <span class="method-lost">{props.draft?.figures ? count(ppm(props.draft.figures)) : none}</span>
          <b class="method-db">
            {props.draft?.figures ? decibels(props.draft.figures.sqnr_db).replace(/\s*dB$/, '') : none}
          </b>
        </label>
      )}
      {choices.map(({ method, figures }, k) => {
        const chosen = current?.method === method;
        const [from, to] = [along(axis, figures.low), along(axis, figures.high)];
        return (
          <label key={method} class={chosen ? 'method chosen' : 'method'}>
            <input
              type="radio"
              name={name}
              checked={chosen}
              disabled={props.disabled}
              onChange={() => props.choose([figures.low, figures.high])}
            />
            <span class="method-name">
              {orts[method] ?? choiceText(method)}
              {ofRuntime.has(method) && <abbr title="ONNX Runtime’s calibrator"> ORT</abbr>}
            </span>
            {wide && (
              <svg class="method-line" width={props.width} height="20" aria-hidden="true">
                <path class="grid" d={`M${axis.left} 10h${axis.width}`} />
                <path class="reach" d={`M${from} 10H${to}M${from} 5v10M${to} 5v10`} />
                <text class="tick" x={from - 5} y="14" text-anchor="end">
                  {from - axis.left > 56 ? value(figures.low) : ''}
                </text>
                <text class="tick" x={to + 5} y="14">
                  {axis.left + axis.width - to > 40 ? value(figures.high) : ''}
                </text>
              </svg>
            )}
            <span class={wide ? 'visually-hidden' : 'method-range'}>{range(figures.low, figures.high)}</span>
            <span class="method-lost">{count(ppm(figures))}</span>
            <b class="method-db">{decibels(figures.sqnr_db).replace(/\s*dB$/, '')}</b>
            {atOutput[k] && (
              <span class={best === k ? 'method-output best' : 'method-output'}>
                output: {outputFigure(atOutput[k])}
              </span>
            )}
          </label>
        );
      })}
      <TriedAtOutput
        effects={effects}
        ask={props.disabled ? null : () => choices.forEach(({ figures }) => void askEffect(changeOf(figures)))}
      />
    </fieldset>
  );
}

/** What the figures of the output are, or the button that has them computed. */
function TriedAtOutput(props: {
  readonly effects: readonly ReturnType<typeof effectOf>[];
  readonly ask: (() => void) | null;
}) {
  const { effects, ask } = props;
  const isKnown = effects.some((effect) => effect && effect !== 'waiting');
  return (
    <p class="soft">
      {isKnown && 'Bold is what improves the output of the whole model most, and no row where none does.'}
      {!isKnown && effects.includes('waiting') && 'Each is being tried on the output of the whole model.'}
      {!isKnown && !effects.includes('waiting') && ask && (
        <LinkButton disabled={running.value} onClick={ask}>
          Try each on the output of the whole model
        </LinkButton>
      )}
    </p>
  );
}

/** Answers, or decibels of the output. */
function outputFigure({ after }: Effect): string {
  return after.same === null ? decibels(after.sqnr) : `${after.same} of ${after.count}, ${decibels(after.sqnr)}`;
}

/** The one of which the output gains most; -1 where none does. */
function bestOf(effects: readonly (Effect | null)[]): number {
  return effects.reduce((kept, one, k) => {
    if (!one || !isGain(one)) return kept;
    const other = effects[kept];
    return !other || isGain({ before: other.after, after: one.after }) ? k : kept;
  }, -1);
}

interface CutPlotProps {
  readonly row: LayerRow;
  readonly linear: boolean;
  readonly study: Study | null;
  readonly draft: Draft | null;
  readonly setDraft: (draft: Draft | null) => void;
}

/** How long after the last key the model is made anew. */
const restMilliseconds = 700;
/** A pointer that never lets go has forgotten the cut. */
const mostDragMilliseconds = 60_000;

/** The cut with one side moved; null where nothing would be left. `even`: the other side follows, with the sign turned. */
function moved(before: Cut, side: 0 | 1, to: number, least: number, even: boolean): Cut | null {
  let cut: Cut = side === 0 ? [Math.min(to, 0), before[1]] : [before[0], Math.max(to, 0)];
  if (even && before[0] < 0) {
    const far = Math.max(side === 0 ? -to : to, least);
    cut = [-far, far];
  }
  return cut[1] - cut[0] < least ? null : cut;
}

/** A cut on its way: the draft follows at once, the model when the reader lets go or rests. */
function useCut({ row, study, draft, setDraft }: CutPlotProps, axis: Axis) {
  const live = useRef<{ draft: Draft | null; busy: boolean; timer: ReturnType<typeof setTimeout> | undefined }>({
    draft: null,
    busy: false,
    timer: undefined,
  }).current;
  live.draft = draft;
  useEffect(() => () => clearTimeout(live.timer), []);

  /** One question at a time: the answer of the last place counts. */
  const ask = async () => {
    if (live.busy || !study) return;
    live.busy = true;
    try {
      for (;;) {
        const asked = live.draft;
        if (!asked) return;
        const figures = await study.study.at(...asked.cut);
        const later = live.draft;
        if (!later) return;
        live.draft = { cut: later.cut, figures };
        setDraft(live.draft);
        if (later.cut[0] === asked.cut[0] && later.cut[1] === asked.cut[1]) return;
      }
    } catch {
      // the study ended with its result; what is shown stays until the new one is there
    } finally {
      live.busy = false;
    }
  };
  const commit = (cut: Cut) => {
    clearTimeout(live.timer);
    live.timer = undefined;
    if (study) setCut(row, study.chosen.n_bits, cut);
  };
  const take = (cut: Cut) => {
    live.draft = { cut, figures: live.draft?.figures ?? null };
    setDraft(live.draft);
    void ask();
  };
  return {
    choose(cut: Cut) {
      take(cut);
      commit(cut);
    },
    move(side: 0 | 1, wanted: number, by: 'pointer' | 'key') {
      const before = live.draft?.cut ?? row.range;
      if (!study || !before) return;
      const to = Math.min(axis.high, Math.max(axis.low, wanted));
      const cut = moved(before, side, to, study.now.scale, study.chosen.method !== 'UNIFORM');
      if (!cut) return;
      take(cut);
      clearTimeout(live.timer);
      live.timer = setTimeout(() => commit(cut), by === 'key' ? restMilliseconds : mostDragMilliseconds);
    },
    end() {
      const cut = live.draft?.cut;
      if (cut && live.timer !== undefined) commit(cut);
    },
  };
}

export function CutPlot(props: CutPlotProps) {
  const { row, study, draft, setDraft } = props;
  const [frame, width] = useWidth<HTMLDivElement>(720);
  const wide = width >= wideFrom;
  const marks = useMemo(
    () => (study ? study.study.choices.flatMap(({ figures }) => [figures.low, figures.high]) : []),
    [study],
  );
  // room for the methods is kept before they are known
  const expected = study !== null || (rangeRowOf(row) !== null && row.range !== null);
  const axis = axisOf(row, marks, width, wide && expected ? wideGutters : narrowGutters);
  const shown = draft ? { ...row, range: draft.cut, lost: draft.figures?.lost ?? row.lost } : row;
  const { choose, move, end } = useCut(props, axis);
  const disabled = row.op === 'Input' ? 'The range of an input follows the settings of the whole model.' : '';
  const letSettingsChoose = () => {
    setDraft(null);
    if (study) setCut(row, study.chosen.n_bits, null);
  };
  return (
    <>
      <div class="plot cut-plot" ref={frame}>
        <HistogramPlot row={shown} linear={props.linear} axis={axis} width={width} marks={wide ? [] : marks} />
        {shown.range &&
          ([0, 1] as const).map((side) => (
            <Handle
              key={side}
              {...{ side, axis, width, move, end }}
              cut={shown.range ?? [0, 0]}
              lost={shown.lost}
              step={study?.now.scale ?? row.scale ?? 0}
              disabled={study ? disabled : disabled || 'Wait for the figures of this layer.'}
            />
          ))}
      </div>
      {!study && expected && <div class="methods-to-come" />}
      {study && (
        <>
          <Methods {...{ row, study, axis, width, wide, draft, choose }} disabled={disabled !== ''} />
          <p class="soft">
            {disabled ||
              'The first figure is the SQNR of this tensor by its range alone. Drag a cut, or focus it and use the arrow keys; figures follow at once, and the model is made anew when you let go.'}{' '}
            {handCut(row.name) && <LinkButton onClick={letSettingsChoose}>Let the settings choose</LinkButton>}
          </p>
        </>
      )}
    </>
  );
}
