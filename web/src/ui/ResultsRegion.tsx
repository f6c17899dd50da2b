// SPDX-License-Identifier: Apache-2.0

import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { EvaluationResult, Report, SamplePreview } from 'tersor';

import { isForX64 } from '../job/advice';
import { dismiss, leaveOutBadSamples, leaveOutLabels } from '../job/load';
import { platformTitle } from '../job/platform';
import { applyAdvice, showMapping } from '../job/apply_advice';
import { currentStop, goOnAnyway, quantize } from '../job/quantize';
import { allowMismatch } from '../job/recipe';
import type { OrderExample } from '../job/reorder';
import { titleOf } from '../job/settings';
import {
  atStart,
  calibrationCount,
  engine,
  evaluationCount,
  measured,
  missing,
  model,
  reading,
  recipe,
  result,
  resultIsOld,
  run,
  runNote,
  runProblem,
  running,
  samples,
  unreadable,
  view,
  type Run,
  type StageId,
} from '../job/state';
import {
  about,
  count,
  counted,
  decibels,
  duration,
  halfWidth,
  outputDecibels,
  percent,
  percentFigure,
  size,
  thin,
} from '../numbers';
import { AdviceList } from './AdviceList';
import { Answer, ViewSwitch } from './Answer';
import { BlockHead } from './BlockHead';
import { ChosenBits } from './ChosenBits';
import { Contest } from './Contest';
import { ChangeLine, ComparisonTable, Intervals, overlapSentence } from './ComparisonTable';
import { LookSwitch } from './Configurations';
import { Downloads } from './Downloads';
import { DrawnOutputs } from './DrawnOutputs';
import { chooseFolder } from './files';
import { NoteSign } from './Icons';
import { Layers } from './Layers';
import { LinkButton } from './LinkButton';
import { QuantizeButton } from './MainButton';
import { Note, ProblemCard } from './Note';
import { Pictures } from './Pictures';
import { Pixels } from './Pixels';
import { Region } from './Region';
import { stageFigure, Stages } from './Stages';
import { StaysFloat } from './StaysFloat';
import { Tradeoff } from './Tradeoff';
import { Training } from './Training';
import { Variants } from './Variants';
import { Verdict, VerdictReasons, WorstLayers } from './Verdict';
import { Verify } from './Verify';
import { WeightsAlone } from './WeightsAlone';
import { useMedia } from './width';

function Progress(props: { readonly run: Run }) {
  const { run: now } = props;
  const share = Math.floor(100 * now.share);
  const gone = (now.now - now.startedAt) / 1000;
  const left = now.secondsLeft === null ? '' : `, about ${about(now.secondsLeft)} left`;
  const stage = now.stages.find(({ state }) => state === 'running');
  return (
    <div class="progress">
      <b>
        {share}
        {thin}%
      </b>
      <div
        class="progress-track"
        role="progressbar"
        aria-label="Quantizing"
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={share}
      >
        <svg width="100%" height="6" aria-hidden="true">
          <rect width={`${100 * now.share}%`} height="6" />
        </svg>
      </div>
      <span>
        {duration(gone)} gone{left}
      </span>
      {stage && <span class="progress-stage">{[stage.title, stageFigure(stage)].filter(Boolean).join(', ')}</span>}
    </div>
  );
}

/** Whose arithmetic the figures are of, and how far that is the platform's. */
function arithmetic({ platform, runtime }: Report): string {
  if (platform.name.startsWith('weight-only')) return 'Figures are of rounded weights in float arithmetic.';
  if (isForX64(platform.name)) return `Int8 figures use ONNX Runtime’s own integer arithmetic, ${runtime}.`;
  return `Figures are of these integers in ONNX Runtime’s arithmetic, ${runtime}; ${platformTitle(platform.name)} may round otherwise.`;
}

function Sentence() {
  if (run.value) return <Progress run={run.value} />;
  const done = result.value;
  if (currentStop()) return <>Stopped after float accuracy: the cause lies before quantization.</>;
  if (runNote.value !== '') return <>{runNote.value}</>;
  if (done && resultIsOld.value) return <>Settings have changed; the figures below are from before.</>;
  if (done?.pending) return <>The new file is ready; its figures are from before until they are measured.</>;
  if (done) {
    return (
      <span class="job-done">
        Done in {duration(done.seconds)}. {view.value === 'everything' && arithmetic(done.quantized.report)}
      </span>
    );
  }
  if (atStart.value) return <>Float beside int8: accuracy with its interval, size, error by layer, downloads.</>;
  if (reading.value > 0) return <>Reading …</>;
  if (missing.value !== '')
    return (
      <>
        {missing.value}
        <WeightsAlone />
      </>
    );
  return (
    <>
      Ready: {counted(calibrationCount.value, 'sample calibrates', 'samples calibrate')},{' '}
      {counted(evaluationCount.value, 'evaluates', 'evaluate')}.
    </>
  );
}

/** Float accuracy at chance level says that preprocessing or labels are wrong, before quantization is blamed. */
function FloatNote(props: { readonly float: EvaluationResult }) {
  const { value, chance, interval, count: n } = props.float;
  if (value === null || chance === null || !interval || interval.lower > chance) return null;
  return (
    <Note kind="caution">
      <p>
        <b>
          Float accuracy is {percent(value)}, chance is {percent(chance, 0)}
        </b>{' '}
        (n = {count(n)}). Preprocessing or the order of labels is wrong; quantization is not the problem.
      </p>
    </Note>
  );
}

/** Pictures whose answers say what their folders stand for, for the reader to check. */
function OrderCheck({ examples }: { readonly examples: readonly OrderExample[] }) {
  const shown = useSignal<readonly SamplePreview[]>([]);
  useEffect(() => {
    const [open, set] = [model.value, samples.value];
    let over = false;
    if (open && set)
      void Promise.all(examples.map(({ sample }) => open.handle.previewSample(set.files, sample, {}))).then(
        (found) => !over && (shown.value = found),
        () => undefined, // what cannot be decoded is told where all samples are read
      );
    return () => {
      over = true;
    };
  }, [examples]);
  return (
    <ul class="order-check">
      {examples.map(({ folder, output }, k) => {
        const picture = shown.value[k]?.picture;
        return (
          <li key={folder}>
            {picture && <Pixels raster={picture} label={`A sample of the folder ${folder}`} />}
            <span>
              {folder} <span class="soft">is output {output}</span>
            </span>
          </li>
        );
      })}
    </ul>
  );
}

/** Float accuracy comes first; where it cannot be right, nothing is quantized until the reader has said so. */
function FloatStopCard() {
  const stop = currentStop();
  const card = useRef<HTMLDivElement>(null);
  useEffect(() => card.current?.scrollIntoView({ block: 'nearest' }), [stop]);
  if (!stop) return null;
  const { advice, float } = stop;
  const apply = async () => {
    await applyAdvice(advice, chooseFolder);
    const isDone = advice.change.kind !== 'samples' && advice.change.kind !== 'show-mapping';
    if (isDone && !result.value) await quantize();
  };
  return (
    <div ref={card} class="note note-stop" role="alert" data-testid="float-stop" data-advice={advice.id}>
      <NoteSign kind="stop" />
      <div class="note-text">
        <p class="stop-figure">
          <span class="readout">
            {percentFigure(float.value ?? 0)}
            <span class="unit">{thin}%</span>
          </span>{' '}
          <span class="soft">
            float accuracy, n = {count(float.count)}
            {float.interval && `, ${halfWidth(float.interval.lower, float.interval.upper)}`}
          </span>
        </p>
        <p class="problem-message">{advice.sentence}</p>
        <p>{advice.reason}</p>
        {advice.change.kind === 'label-order' && <OrderCheck examples={advice.change.order.examples} />}
        <div class="actions">
          <button type="button" class="button filled" onClick={() => void apply()}>
            {advice.word}
          </button>
          <button type="button" class="button" onClick={goOnAnyway}>
            Go on anyway
          </button>
          {advice.id === 'labels-reordered' && advice.change.kind === 'label-order' && (
            <LinkButton onClick={showMapping}>Say what the folders are</LinkButton>
          )}
          {['at-chance', 'unmapped-classes', 'labels-reordered'].includes(advice.id) && (
            <button
              type="button"
              class="button"
              onClick={() => {
                leaveOutLabels();
                void quantize();
              }}
            >
              Go on without labels
            </button>
          )}
        </div>
      </div>
    </div>
  );
}

function RunProblem() {
  const problem = runProblem.value;
  if (!problem) return null;
  const opened = recipe.value;
  const mismatch = problem.code === 'mismatch' && opened !== null && !opened.allowMismatch;
  const bad = unreadable.value;
  return (
    <ProblemCard problem={problem} onDismiss={() => dismiss('results')}>
      {bad.length > 0 && (
        <button type="button" class="button filled" onClick={() => void leaveOutBadSamples()}>
          Leave out {bad[0]}
        </button>
      )}
      {mismatch && (
        <button
          type="button"
          class="button filled"
          onClick={() => {
            allowMismatch();
            void quantize();
          }}
        >
          Go on anyway
        </button>
      )}
    </ProblemCard>
  );
}

/** What a stage that can be left out gained on the samples held aside, in dB, and the setting that leaves it out. */
function worthOf(id: StageId, trial: Report['trial']): string {
  const rows = trial?.tried.filter(({ taken, change }) => (id === 'correct' ? change.endsWith('=ANALYTIC') : taken));
  if (!trial?.held || !rows || !(id === 'choose' || (id === 'correct' && rows[0]?.taken === false))) return '';
  const gained = rows.reduce((sum, row) => sum + Math.abs(row.after_db - row.before_db), 0);
  return `: ${decibels(gained)}; ${rows[0] && id === 'correct' ? rows[0].change : 'holdout=false'} leaves it out`;
}

/** What the result cost: the time of each stage, and the memory. */
function Cost() {
  const done = result.value;
  if (!done) return null;
  const passes = done.stages.filter(({ id, total }) => id !== 'open' && id !== 'write' && total > 0);
  const memory = done.quantized.report.coverage.calibration_bytes;
  const workers = engine.value?.workers ?? 1;
  return (
    <div class="block cost">
      <BlockHead title="Cost" note={`${duration(done.seconds)} in all`} />
      <dl class="facts">
        {passes.map((stage) => (
          <div key={stage.id}>
            <dt>{stage.title}</dt>
            <dd>
              {stage.seconds > 0
                ? `${duration(stage.seconds)}, ${percent(stage.seconds / done.seconds)}${worthOf(stage.id, done.quantized.report.trial)}`
                : 'kept from before'}
            </dd>
          </div>
        ))}
        {memory !== null && (
          <div>
            <dt>Memory</dt>
            <dd>
              about {size(memory * workers)} in {counted(workers, 'worker')}
            </dd>
          </div>
        )}
      </dl>
    </div>
  );
}

/** WebKit interprets no SIMD: it compiles such functions when they are first called, and once more while they run. */
const compilesLate = /AppleWebKit\/\S+ \(KHTML, like Gecko\) Version\//.test(navigator.userAgent);

/** Only this follows every step of a run; the tables beside it are drawn when a figure changes. */
function RunStages() {
  if (!run.value) return null;
  return (
    <>
      <Stages run={run.value} />
      {compilesLate && !result.value && (
        <p class="soft">
          This browser compiles the engine while it is first used; later runs in this tab are several times as fast.
        </p>
      )}
    </>
  );
}

/** What the recipe changed in this model by itself. */
function Corrections() {
  const steps = result.value?.quantized.report.corrections ?? [];
  if (steps.length === 0) return null;
  return (
    <div class="block corrections">
      <BlockHead title="Corrected" />
      {steps.map((step) => (
        <div key={step.name} class="correction">
          <p>
            {titleOf(step.name)} <span class="soft">{counted(step.places, 'place')}</span>
          </p>
          <p class="soft">{step.gained}</p>
        </div>
      ))}
    </div>
  );
}

/** All there is. */
function Everything() {
  const done = result.value;
  const float = done?.float ?? (running.value ? measured.value.float : null);
  // what cannot be used leads to what is likely to help
  const isBad = done?.quantized.report.verdict?.usability === 'not usable';
  // beside the table there is no room for the stages: they stand where the verdict will be, while there is none
  const isNarrow = useMedia('(max-width: 63.94em)');
  const hasStagesFirst = isNarrow && running.value && !done?.quantized.report.verdict;
  return (
    <>
      <div class="results-top">
        <div class="results-main">
          {hasStagesFirst ? <RunStages /> : <Verdict />}
          {isBad && <AdviceList />}
          <div class="comparison-block">
            <LookSwitch />
            <ComparisonTable />
            <ChangeLine />
          </div>
          <div class="results-aside">
            {float?.interval && (
              <>
                <p class="soft aside-title">95{thin}% interval, %</p>
                <Intervals float={float} />
              </>
            )}
            {done ? (
              <p class="soft">
                {overlapSentence(done.float, done.int8)}{' '}
                {done.float.interval &&
                  done.comparison.output_sqnr_db !== null &&
                  `SQNR is the sharper figure: ${outputDecibels(done.comparison)}.`}
              </p>
            ) : (
              <p class="soft">Float comes first: it shows that samples and labels fit the model.</p>
            )}
          </div>
          {float && !done && <FloatNote float={float} />}
          {!isBad && <AdviceList />}
          <WorstLayers />
          <ChosenBits />
          <Contest />
          <Tradeoff />
          <Variants />
          <Training />
          <StaysFloat />
        </div>
        <div class="results-side">
          {running.value && !hasStagesFirst && <RunStages />}
          {(!running.value || done?.pending) && <Downloads />}
          <Verify />
          {done && !running.value && (
            <>
              <Cost />
              <Corrections />
            </>
          )}
        </div>
      </div>
      <Layers />
      <Pictures />
      <DrawnOutputs />
    </>
  );
}

/** Where it comes from: causes, the samples that changed, and what would help. */
function Why() {
  const done = result.value;
  return (
    <>
      <Answer />
      {done && (
        <>
          <AdviceList />
          <WorstLayers />
          <div class="block why-reasons">
            <BlockHead title="What decided" />
            <VerdictReasons />
          </div>
          <Pictures />
          <DrawnOutputs />
        </>
      )}
    </>
  );
}

function Body() {
  const isWhole = view.value === 'everything';
  return (
    <>
      <div class="view-line">
        <ViewSwitch />
      </div>
      {!isWhole && <RunStages />}
      {view.value === 'answer' ? <Answer /> : isWhole ? <Everything /> : <Why />}
    </>
  );
}

export function ResultsRegion() {
  const body = running.value || result.value !== null;
  return (
    <Region
      id="results"
      number={4}
      title="Results"
      sentence={<Sentence />}
      action={<QuantizeButton class="in-page" />}
      always={
        runProblem.value || body || currentStop() ? (
          <>
            <RunProblem />
            <FloatStopCard />
            {body && <Body />}
          </>
        ) : undefined
      }
    />
  );
}
