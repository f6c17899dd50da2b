// SPDX-License-Identifier: Apache-2.0
//
// Training: a budget in minutes, loss and error while it runs, and what it came to, which can be kept or discarded.

import { useSignal } from '@preact/signals';

import { stopTraining } from '../job/quantize';
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
} from '../job/state';
import { discardTraining, train } from '../job/training';
import { count, decibels, duration, fixed, size } from '../numbers';
import { ProblemCard } from './Note';
import { useWidth } from './width';

const height = 72;

/** Bytes that the first training loads; 0 where the page has all in it. */
const firstLoad = Number(document.querySelector<HTMLMetaElement>('meta[name="tersor-training"]')?.content ?? 0);

/** The loss over the steps. */
function Losses() {
  const [box, width] = useWidth<HTMLDivElement>(480);
  const steps = training.value;
  const last = steps.at(-1);
  if (!last || steps.length < 2) return <div ref={box} class="training-plot" style={`height: ${height}px`} />;
  const most = Math.max(...steps.map(({ loss }) => loss));
  const points = steps.map(
    ({ step, loss }) =>
      `${fixed((step / last.steps) * width, 1)},${fixed(height - 4 - ((height - 8) * loss) / (most || 1), 1)}`,
  );
  return (
    <div ref={box} class="training-plot">
      <svg
        width={width}
        height={height}
        role="img"
        aria-label={`Loss ${last.loss.toPrecision(3)} after ${last.step} steps`}
      >
        <polyline class="tradeoff-line" points={points.join(' ')} />
      </svg>
    </div>
  );
}

function Running() {
  const last = training.value.at(-1);
  const stage = run.value?.stages.find(({ id }) => id === 'train');
  const left = last && stage && last.step > 0 ? (stage.seconds * (last.steps - last.step)) / last.step : null;
  return (
    <>
      <Losses />
      <p class="soft" aria-live="off">
        {last
          ? `Step ${count(last.step)} of ${count(last.steps)}, loss ${last.loss.toPrecision(3)}; on samples held aside ` +
            `${decibels(last.before_db)} before, ${decibels(last.best_db)} at best` +
            (last.best_right === null
              ? ''
              : `, ${count(last.best_right)} of ${count(last.held)} answers right, ${count(last.before_right)} before`) +
            (left === null ? '' : `; ${duration(left)} left`)
          : 'Getting ready'}
      </p>
      {trainingMemory.value !== null && (
        <p class="soft">{`Training takes at most ${size(trainingMemory.value)} of memory in each worker.`}</p>
      )}
      <div class="actions">
        <button type="button" class="link" onClick={stopTraining}>
          Stop and keep the best
        </button>
      </div>
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
  const budget = Number(minutes.value.replace(',', '.'));
  const fits = Number.isFinite(budget) && budget > 0 && budget <= 600;
  return (
    <div class="block training" data-testid="training">
      <div class="block-head">
        <h3>Training</h3>
        <span class="soft">rounding, biases and ranges learn from the float model</span>
      </div>
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
              : ` With labels, ${count(came.after_right)} of these answers are right, before ${count(came.before_right)}.`)}
        </p>
      )}
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
          <button
            type="button"
            class="link"
            disabled={!fits || !canQuantize.value || running.value || trainingTimed.value}
            onClick={() => void train(budget, withLabels.value)}
          >
            {trainingTimed.value ? 'Timing some steps' : came ? 'Train again' : 'Train'}
          </button>
          {came && (
            <button type="button" class="link" disabled={running.value} onClick={discardTraining}>
              Discard the training
            </button>
          )}
        </div>
      )}
    </div>
  );
}
