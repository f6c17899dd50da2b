// SPDX-License-Identifier: Apache-2.0

import { beforeEach, expect, it, vi } from 'vitest';

import { undoKind, undoLabel } from '../src/job/history';
import { leaveOutLabels } from '../src/job/load';
import * as state from '../src/job/state';
import { discardTraining, train, trainingStep } from '../src/job/training';
import { openPets } from './helpers';

beforeEach(openPets);

it('makes epochs of minutes, towards the labels where asked', async () => {
  state.fields.value = { gradient_ptq_config: { regularization_factor: 2, n_epochs: 1, most_steps: 9 } };
  const timed: boolean[] = [];
  const stop = state.trainingTimed.subscribe((now) => timed.push(now));
  await train(5, false);
  stop();
  expect(timed).toEqual([false, true, false]);
  expect(state.fields.value['gradient_ptq_config']).toEqual({
    ...{ regularization_factor: 2, n_epochs: 20, label_weight: 0, most_steps: null },
  });
  expect([undoLabel.value, undoKind.value]).toEqual(['Training of 20 epochs', trainingStep]);
  await train(5, true);
  expect(state.fields.value['gradient_ptq_config']).toMatchObject({ label_weight: 0.5 });
  expect(undoLabel.value).toBe('Training of 20 epochs with labels');
  leaveOutLabels();
  await train(5, true);
  expect(state.fields.value['gradient_ptq_config']).toMatchObject({ label_weight: 0 });
  discardTraining();
  expect(state.fields.value).toEqual({ gradient_ptq_config: null });
});

it('does nothing while something is missing or another job runs, and says what went wrong', async () => {
  const handle = state.model.value?.handle;
  if (!handle) throw new Error('no model');
  const asked = vi.spyOn(handle, 'trainingEpochs').mockRejectedValue(new Error('no gradient'));
  state.run.value = {} as state.Run;
  await train(5, false);
  state.run.value = null;
  expect(asked).not.toHaveBeenCalled();
  await train(5, false);
  expect(state.trainingProblem.value?.message).toBe('no gradient');
  expect(state.trainingTimed.value).toBe(false);
  expect(state.fields.value).toEqual({});
  const set = state.samples.value;
  state.samples.value = null;
  await train(5, false);
  state.samples.value = set;
  expect(asked).toHaveBeenCalledTimes(1);
});
