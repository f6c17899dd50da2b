// SPDX-License-Identifier: Apache-2.0
//
// Training: a budget in minutes, loss and error while it runs, and what it came to, which can be kept or discarded.

import { useSignal } from '@preact/signals';
import type { TrainingProgress } from 'tersor';

import { stopTraining } from '../job/work';
import {
  canQuantize,
  labels,
  result,
  run,
  running,
  training,
  trainingMemory,
  trainingProblem,
  trainingTimed,
  untrained,
  type Result,
  type Untrained,
} from '../job/state';
import { discardTraining, train } from '../job/training';
import { count, decibels, duration, fixed, outputDecibels, percent, size } from '../numbers';
import { BlockHead } from './BlockHead';
import { LinkButton } from './LinkButton';
import { ProblemCard } from './Note';
import { TrainedLayers } from './TrainedLayers';
import { useWidth } from './width';

const height = 72;

/** Bytes that the first training loads; 0 where the page has all in it. */
const firstLoad = Number(document.querySelector<HTMLMetaElement>('meta[name="tersor-training"]')?.content ?? 0);

/** The loss over the steps, and the SQNR on the samples held aside each time it was measured. */
function Losses() {
  const [box, width] = useWidth<HTMLDivElement>(480);
  const steps = training.value;
  const last = steps.at(-1);
  if (!last || steps.length < 2) return <div ref={box} class="training-plot" style={`height: ${height}px`} />;
  const place = (step: number, share: number) =>
    [(step / last.steps) * (width - 8) + 4, height - 4 - (height - 8) * share] as const;
  const most = Math.max(...steps.map(({ loss }) => loss));
  const points = steps.map(({ step, loss }) =>
    place(step, loss / (most || 1))
      .map((x) => fixed(x, 1))
      .join(','),
  );
  const judged = steps.filter(({ last_db }, k) => k === 0 || last_db !== steps[k - 1]?.last_db);
  const [low, high] = [Math.min, Math.max].map((f) => f(...judged.map(({ last_db }) => last_db))) as [number, number];
  return (
    <div ref={box} class="training-plot">
      <svg
        width={width}
        height={height}
        role="img"
        aria-label={`Loss ${last.loss.toPrecision(3)} after ${last.step} steps, ${decibels(last.last_db)} on samples held aside`}
      >
        <polyline class="tradeoff-line" points={points.join(' ')} />
        {judged.map(({ step, last_db }) => {
          const [x, y] = place(step, high > low ? (last_db - low) / (high - low) : 0.5);
          return <circle class="training-point" key={step} cx={fixed(x, 1)} cy={fixed(y, 1)} r="3.5" />;
        })}
      </svg>
      <p class="soft">{`Line: loss. Dots: SQNR on samples held aside, ${decibels(low)} to ${decibels(high)}.`}</p>
    </div>
  );
}

/** How many of the answers on the samples held aside are right, or else the float model's. */
function answersOf(last: TrainingProgress): string {
  const of = count(last.held);
  if (last.before_right !== null)
    return `, ${count(last.last_right ?? last.best_right)} of ${of} answers right, ${count(last.before_right)} before`;
  if (last.before_same === null || last.last_same === null) return '';
  return `, ${count(last.last_same)} of ${of} answers as in float, ${count(last.before_same)} before`;
}

function Running() {
  const last = training.value.at(-1);
  const pace =
    last?.samples_per_second == null ? '' : `; ${count(Math.round(last.samples_per_second))} samples a second`;
  return (
    <>
      <Losses />
      <p class="soft" aria-live="off">
        {last
          ? `Step ${count(last.step)} of ${count(last.steps)}, loss ${last.loss.toPrecision(3)}; on samples held aside ` +
            `${decibels(last.before_db)} before, ${decibels(last.last_db)} now, ${decibels(last.best_db)} at best` +
            answersOf(last) +
            pace +
            (last.seconds_left === null ? '' : `, ${duration(last.seconds_left)} left`)
          : 'Getting ready'}
      </p>
      {trainingMemory.value !== null && (
        <p class="soft">{`Training takes at most ${size(trainingMemory.value)} of memory in each worker.`}</p>
      )}
      <div class="actions">
        <LinkButton onClick={stopTraining}>Stop and keep the best</LinkButton>
      </div>
    </>
  );
}

/** What training changed on the samples that evaluate, as a whole and layer by layer. */
function BeforeAfter({ done, before }: { readonly done: Result; readonly before: Untrained }) {
  const accuracy =
    done.int8.value === null || before.int8.value === null
      ? ''
      : `accuracy ${percent(before.int8.value)} before and ${percent(done.int8.value)} after, `;
  return (
    <>
      <p>
        {`On the ${count(done.int8.count)} samples that evaluate: ${accuracy}output SQNR ` +
          `${outputDecibels(before.comparison)} before and ${outputDecibels(done.comparison)} after.`}
      </p>
      {done.quantized.report.training?.taken && <TrainedLayers before={before.comparison} after={done.comparison} />}
    </>
  );
}

export function Training() {
  const minutes = useSignal('1');
  const withLabels = useSignal(false);
  if (!result.value) return null;
  const stage = run.value?.stages.find(({ id }) => id === 'train');
  const runs = stage?.state === 'running';
  const came = result.value.quantized.report.training;
  const isWhole = result.value.pending === null && untrained.value?.key === result.value.untrainedKey;
  const before = isWhole ? untrained.value : null;
  const budget = Number(minutes.value.replace(',', '.'));
  const fits = Number.isFinite(budget) && budget > 0 && budget <= 600;
  return (
    <div class="block training" data-testid="training">
      <BlockHead title="Training" note="rounding, biases and ranges learn from the float model" />
      {trainingProblem.value && (
        <ProblemCard problem={trainingProblem.value} onDismiss={() => (trainingProblem.value = null)} />
      )}
      {runs && <Running />}
      {!runs && came && (
        <p>
          {`On ${count(came.held)} samples held aside the outputs have ${decibels(came.after_db)}, before ` +
            `${decibels(came.before_db)}: ` +
            (came.taken ? 'the trained model is kept.' : 'training is not better, so the untuned model is kept.') +
            (came.after_right === null
              ? ''
              : ` ${count(came.after_right)} of these answers are right, before ${count(came.before_right)}.`)}
        </p>
      )}
      {!runs && came && before && <BeforeAfter done={result.value} before={before} />}
      {!runs && !came && firstLoad > 0 && (
        <p class="soft">{`The first training loads ${size(firstLoad)} more of this page, which stay in the browser.`}</p>
      )}
      {!runs && came?.frozen.map((sentence) => <p class="soft">{sentence}</p>)}
      {!runs && (
        <div class="actions">
          <div class={fits ? 'field text' : 'field text wrong'}>
            <label for="training-minutes">Minutes</label>
            <input
              id="training-minutes"
              type="text"
              inputMode="decimal"
              size={4}
              value={minutes.value}
              aria-invalid={!fits}
              onInput={(event) => (minutes.value = event.currentTarget.value)}
            />
          </div>
          {labels.value !== null && (
            <label class="check">
              <input
                type="checkbox"
                checked={withLabels.value}
                onChange={(event) => (withLabels.value = event.currentTarget.checked)}
              />{' '}
              Learn from the labels too
            </label>
          )}
          <LinkButton
            disabled={!fits || !canQuantize.value || running.value || trainingTimed.value}
            onClick={() => void train(budget, withLabels.value)}
          >
            {trainingTimed.value ? 'Timing some steps' : came ? 'Train again' : 'Train'}
          </LinkButton>
          {came && (
            <LinkButton disabled={running.value} onClick={discardTraining}>
              Discard the training
            </LinkButton>
          )}
        </div>
      )}
    </div>
  );
}
