// SPDX-License-Identifier: Apache-2.0

import type { EvaluationResult, Report } from 'tersor';

import { dismiss, leaveOutBadSamples } from '../job/load';
import { platformTitle } from '../job/platform';
import { quantize } from '../job/quantize';
import { titleOf } from '../job/settings';
import {
  atStart,
  calibrationCount,
  engine,
  evaluationCount,
  measured,
  missing,
  reading,
  recipe,
  result,
  resultIsOld,
  run,
  runNote,
  runProblem,
  running,
  unreadable,
  type Run,
} from '../job/state';
import { about, count, counted, outputDecibels, duration, percent, size, thin } from '../numbers';
import { AdviceList } from './AdviceList';
import { ChosenBits } from './ChosenBits';
import { ChangeLine, ComparisonTable, Intervals, overlapSentence } from './ComparisonTable';
import { LookSwitch } from './Configurations';
import { Downloads } from './Downloads';
import { Check } from './Icons';
import { Layers } from './Layers';
import { QuantizeButton } from './MainButton';
import { Note, ProblemCard } from './Note';
import { Pictures } from './Pictures';
import { Region } from './Region';
import { Stages } from './Stages';
import { StaysFloat } from './StaysFloat';
import { Tradeoff } from './Tradeoff';
import { Training } from './Training';
import { Verdict, WorstLayers } from './Verdict';

function Progress(props: { readonly run: Run }) {
  const { run: now } = props;
  const share = Math.floor(100 * now.share);
  const gone = (now.now - now.startedAt) / 1000;
  const left = now.secondsLeft === null ? '' : `, about ${about(now.secondsLeft)} left`;
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
    </div>
  );
}

/** Whose arithmetic the figures are of, and how far that is the platform's. */
function arithmetic({ platform, runtime }: Report): string {
  if (platform.name.startsWith('weight-only')) return 'Figures are of rounded weights in float arithmetic.';
  if (/^(ort-cpu|any$)/.test(platform.name))
    return `Int8 figures use ONNX Runtime’s own integer arithmetic, ${runtime}.`;
  return `Figures are of these integers in ONNX Runtime’s arithmetic, ${runtime}; ${platformTitle(platform.name)} may round otherwise.`;
}

function Sentence() {
  if (run.value) return <Progress run={run.value} />;
  const done = result.value;
  if (runNote.value !== '') return <>{runNote.value}</>;
  if (done && resultIsOld.value) return <>Settings have changed; the figures below are from before.</>;
  if (done?.pending) return <>The new file is ready; its figures are from before until they are measured.</>;
  if (done) {
    return (
      <span class="with-sign">
        <Check /> Done in {duration(done.seconds)}. {arithmetic(done.quantized.report)}
      </span>
    );
  }
  if (atStart.value) return <>Float beside int8: accuracy with its interval, size, error by layer, downloads.</>;
  if (reading.value > 0) return <>Reading …</>;
  if (missing.value !== '') return <>{missing.value}</>;
  return (
    <>
      Ready: {count(calibrationCount.value)} samples calibrate, {count(evaluationCount.value)} evaluate.
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
            recipe.value = { ...opened, allowMismatch: true };
            void quantize();
          }}
        >
          Go on anyway
        </button>
      )}
    </ProblemCard>
  );
}

/** What the result cost: runs of the model by stage, time, memory. */
function Cost() {
  const done = result.value;
  if (!done) return null;
  const passes = done.stages.filter((stage) => ['float', 'calibrate', 'int8', 'compare'].includes(stage.id));
  const memory = done.quantized.report.coverage.calibration_bytes;
  const workers = engine.value?.workers ?? 1;
  return (
    <div class="block cost">
      <div class="block-head">
        <h3>Cost</h3>
        <span class="soft">{duration(done.seconds)} in all</span>
      </div>
      <dl class="facts">
        {passes.map((stage) => (
          <div key={stage.id}>
            <dt>{stage.title}</dt>
            <dd>
              {stage.seconds > 0 ? `${counted(stage.total, 'sample')}, ${duration(stage.seconds)}` : 'kept from before'}
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

/** Only this follows every step of a run; the tables beside it are drawn when a figure changes. */
function RunStages() {
  return run.value && <Stages run={run.value} />;
}

/** What the recipe changed in this model by itself. */
function Corrections() {
  const steps = result.value?.quantized.report.corrections ?? [];
  if (steps.length === 0) return null;
  return (
    <div class="block corrections">
      <div class="block-head">
        <h3>Corrected</h3>
      </div>
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

function Body() {
  const done = result.value;
  const float = done?.float ?? (running.value ? measured.value.float : null);
  return (
    <>
      <div class="results-top">
        <div class="results-main">
          <Verdict />
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
                {done.float.interval && `SQNR is the sharper figure: ${outputDecibels(done.comparison)}.`}
              </p>
            ) : (
              <p class="soft">Float comes first: it shows that samples and labels fit the model.</p>
            )}
          </div>
          {float && !done && <FloatNote float={float} />}
          <AdviceList />
          <WorstLayers />
          <ChosenBits />
          <Tradeoff />
          <Training />
          <StaysFloat />
        </div>
        <div class="results-side">
          {running.value && <RunStages />}
          {(!running.value || done?.pending) && <Downloads />}
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
        runProblem.value || body ? (
          <>
            <RunProblem />
            {body && <Body />}
          </>
        ) : undefined
      }
    />
  );
}
