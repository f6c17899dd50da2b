// SPDX-License-Identifier: Apache-2.0
//
// How quantization works, in ten short sections. Every picture is of the bundled model, computed by the core in this tab.

import type { ComponentChildren } from 'preact';
import { useSignal } from '@preact/signals';
import { useEffect, useId } from 'preact/hooks';
import type { RangeFigures, Report } from 'tersor';

import { problemOf } from '../job/problem';
import { choiceText } from '../job/settings';
import { engine } from '../job/state';
import { count, counted, decibels, fixed, halfWidth, percent, scale, shortName, size, thin, value } from '../numbers';
import { axisOf, HistogramPlot, narrowGutters } from '../ui/HistogramPlot';
import { useWidth } from '../ui/width';
import { lesson, type Lesson } from './lesson';

interface BarRow {
  readonly name: string;
  /** Its length, against the longest. */
  readonly x: number;
  readonly text: string;
}

function Bars(props: { readonly caption: string; readonly rows: readonly BarRow[] }) {
  const most = Math.max(1e-9, ...props.rows.map(({ x }) => x));
  return (
    <table class="figures help-bars">
      <caption>{props.caption}</caption>
      <tbody>
        {props.rows.map(({ name, x, text }) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td>
              <svg width="100%" height="10" aria-hidden="true">
                <rect class="bar-ink" width={`${(100 * Math.max(0, x)) / most}%`} height="10" />
              </svg>
            </td>
            <td class="right">{text}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** The values of one layer, cut where the reader wants it. */
function CutPicture({ known }: { readonly known: Lesson }) {
  const id = useId();
  const [frame, width] = useWidth<HTMLDivElement>(560);
  const study = known.studies[0]?.study;
  const [low, high] = known.layer.range ?? [0, 1];
  const cut = useSignal(high);
  const figures = useSignal<RangeFigures | null>(null);
  const reach = Math.max(high, ...(study?.choices.map((one) => one.figures.high) ?? []));
  useEffect(() => {
    void study?.at(low, cut.value).then((found) => (figures.value = found));
  }, [cut.value]);
  const now = figures.value;
  const row = { ...known.layer, range: [low, cut.value] as const };
  return (
    <div class="help-picture" ref={frame}>
      <HistogramPlot
        row={row}
        linear={false}
        axis={axisOf({ ...row, range: [low, reach] }, [], width, narrowGutters)}
        width={width}
      />
      <label for={id}>Cut at {value(cut.value)}</label>
      <input
        id={id}
        type="range"
        min={reach / 20}
        max={reach}
        step={reach / 200}
        value={cut.value}
        onInput={(event) => (cut.value = Number(event.currentTarget.value))}
      />
      <p class="soft" data-testid="help-cut">
        {now
          ? `A step of ${scale(now.scale)}; ${count(now.lost)} of ${count(now.values)} values are cut off; ${decibels(now.sqnr_db)} are left.`
          : 'The core computes …'}
      </p>
    </div>
  );
}

const supports = [
  ['integer', 'integer kernel'],
  ['fused', 'fused into the layer before'],
  ['moves', 'moves bytes, keeps int8'],
  ['float', 'stays float'],
  ['folded', 'computed beforehand'],
] as const;

function coverageRows({ coverage }: Report): BarRow[] {
  return supports.flatMap(([support, name]) => {
    const nodes = coverage.rows.filter((row) => row.support === support).reduce((sum, row) => sum + row.nodes, 0);
    return nodes === 0 ? [] : [{ name, x: nodes, text: counted(nodes, 'node') }];
  });
}

function worst(channels: Lesson['channels']): number {
  return Math.min(...channels.channels.map(({ sqnr_db }) => sqnr_db ?? Infinity));
}

interface Section {
  readonly title: string;
  readonly body: (known: Lesson) => ComponentChildren;
}

const sections: readonly Section[] = [
  {
    title: 'Steps in place of numbers',
    body: ({ layer, studies }) => (
      <>
        <p>
          A float has 24 bits of precision; an int8 is one of 256 steps. A tensor is stored as the numbers of its steps,
          with one scale: value = scale × (step − zero point). Every bit less halves the steps and costs about 6{thin}
          dB.
        </p>
        <Bars
          caption={`Signal to noise of ${shortName(layer.name)} by bits`}
          rows={studies.map(({ bits, chosen }) => ({
            name: `${bits} bits`,
            x: chosen.sqnr_db ?? 0,
            text: `${decibels(chosen.sqnr_db)}, step ${scale(chosen.scale)}`,
          }))}
        />
      </>
    ),
  },
  {
    title: 'Calibration',
    body: ({ report, layer, studies }) => (
      <>
        <p>
          Weights are known; activations are not, before the model runs. So it runs in float on some of your samples and
          counts which values occur. Here: {counted(report.samples.calibration, 'picture')},{' '}
          {count(studies[0]?.chosen.values)} values of {shortName(layer.name)}, {layer.op}. A hundred samples like the
          ones that the model will meet are enough.
        </p>
      </>
    ),
  },
  {
    title: 'Where to cut',
    body: (known) => (
      <>
        <p>
          A wide range cuts nothing off and has large steps; a narrow one has small steps and cuts the largest values
          off. Move the cut and see both.
        </p>
        <CutPicture known={known} />
      </>
    ),
  },
  {
    title: 'Methods',
    body: ({ layer, studies }) => (
      <>
        <p>
          A method says what to lose: none of the extremes (no clipping, MinMax), the least mean square (MSE), the least
          change of the distribution (KL, Entropy), a share of the values (Percentile). The differences are often small;
          with outliers or few bits they are not.
        </p>
        <Bars
          caption={`Signal to noise of ${shortName(layer.name)} with 4 bits, by method`}
          rows={(studies.find(({ bits }) => bits === 4)?.study.choices ?? []).map(({ method, figures }) => ({
            name: choiceText(method),
            x: figures.sqnr_db ?? 0,
            text: decibels(figures.sqnr_db),
          }))}
        />
      </>
    ),
  },
  {
    title: 'A scale for each channel',
    body: ({ layer, channels, shared }) => (
      <>
        <p>
          The channels of a weight are often of unlike size. With one scale for all, the small ones round to nothing;
          with one each, none does, at no cost in the runtime.
        </p>
        <Bars
          caption={`The worst channel of ${shortName(layer.name)}’s weights`}
          rows={[
            { name: 'one scale for all', x: worst(shared), text: decibels(worst(shared)) },
            { name: 'one for each channel', x: worst(channels), text: decibels(worst(channels)) },
          ]}
        />
      </>
    ),
  },
  {
    title: 'Rounding and biases',
    body: ({ report }) => (
      <>
        <p>
          The nearest integer is not the best one: errors of neighbours can make up for each other on what the samples
          show. What rounding shifts in the mean of a channel is put back into its bias.
        </p>
        <ul class="help-list">
          {report.corrections.slice(0, 3).map((one) => (
            <li key={one.name} class="soft">
              {one.gained}
            </li>
          ))}
        </ul>
      </>
    ),
  },
  {
    title: 'What runs in integers',
    body: ({ report }) => (
      <>
        <p>
          The runtime decides. It has integer kernels for some operators; others move bytes, are fused into the one
          before, or stay float with a conversion on either side, which takes time.
        </p>
        <Bars caption="Nodes of the bundled model on ONNX Runtime CPU" rows={coverageRows(report)} />
      </>
    ),
  },
  {
    title: 'Where the error comes from',
    body: ({ comparison }) => (
      <>
        <p>
          Each layer is quantized alone, all others in float, and the error at the output is its share. A layer that
          makes most of it can be kept in float, or get more bits.
        </p>
        <Bars
          caption="Share of the output error"
          rows={mostError(comparison).map((row) => ({
            name: shortName(row.name),
            x: row.error_share,
            text: percent(row.error_share, 1),
          }))}
        />
      </>
    ),
  },
  {
    title: 'Measuring',
    body: ({ float, int8, comparison }) => (
      <>
        <p>
          On samples that calibration has not seen: accuracy where there are labels, with its 95{thin}% interval, and
          how far the outputs are from float (SQNR), which tells two files apart with fewer samples.
        </p>
        <Bars
          caption={`Top-1 accuracy, n = ${count(float.count)}, ${halfWidth(float.interval?.lower, float.interval?.upper)} points`}
          rows={[
            { name: 'float', x: float.value ?? 0, text: percent(float.value) },
            { name: 'int8', x: int8.value ?? 0, text: percent(int8.value) },
          ]}
        />
        <p class="soft">
          Output SQNR {decibels(comparison.output_sqnr_db)} on {counted(comparison.samples, 'sample')}.
        </p>
      </>
    ),
  },
  {
    title: 'The file',
    body: ({ report }) => (
      <>
        <p>
          An ONNX file of ordinary operators with QuantizeLinear and DequantizeLinear between them, which runtimes turn
          into integer kernels. The recipe holds every setting: the page, the command line and the packages make the
          same bytes of it.
        </p>
        <Bars
          caption="Size of the file"
          rows={[
            { name: 'float', x: report.model.size_bytes, text: size(report.model.size_bytes) },
            { name: 'int8', x: report.output.size_bytes, text: size(report.output.size_bytes) },
          ]}
        />
        <p class="soft">
          {fixed(report.model.size_bytes / report.output.size_bytes, 1)} times smaller; sha256{' '}
          {report.output.sha256.slice(0, 16)}… on every machine.
        </p>
      </>
    ),
  },
];

function mostError({ layers }: Lesson['comparison']): Lesson['comparison']['layers'] {
  return layers
    .filter((row) => row.range !== null)
    .toSorted((a, b) => b.error_share - a.error_share)
    .slice(0, 6);
}

export function Help() {
  const started = engine.value;
  const known = useSignal<Lesson | null>(null);
  const problem = useSignal('');
  useEffect(() => {
    if (!started) return;
    lesson(started).then(
      (made) => (known.value = made),
      (error: unknown) => (problem.value = problemOf(error).message),
    );
  }, [started]);
  const found = known.value;
  return (
    <>
      <p>
        Tersor makes a float ONNX model run in 8-bit integers. The pictures are of the bundled model, computed now and
        here.
      </p>
      {found ? (
        sections.map(({ title, body }, k) => (
          <section key={title} class="help-section">
            <h3>
              {k + 1}. {title}
            </h3>
            {body(found)}
          </section>
        ))
      ) : (
        <p class="soft help-waiting" role="status">
          {problem.value || 'The core quantizes the bundled model, a few seconds …'}
        </p>
      )}
    </>
  );
}
