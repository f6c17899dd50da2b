// SPDX-License-Identifier: Apache-2.0
//
// Training rounding, biases and ranges on the samples: a budget in minutes becomes a number of epochs in the settings, and
// the job runs with them.

import { stepAndSay } from './history';
import { problemOf } from './problem';
import { gather } from './inputs';
import { changed } from './coverage';
import * as state from './state';

export const trainingStep = 'training';

/** What the labels count in the loss where they are to be used. */
const labelWeight = 0.5;

type Training = { readonly n_epochs: number; readonly label_weight: number };

function setTraining(words: string, config: Training | null): void {
  stepAndSay(
    words,
    () => {
      const before = state.config.value.gradient_ptq_config ?? null;
      const next = config && { ...before, ...config, most_steps: null };
      state.fields.value = { ...state.fields.value, gradient_ptq_config: next } as typeof state.fields.value;
    },
    trainingStep,
  );
  changed();
}

/** Trains for about so many minutes, towards the labels too where asked; does nothing while something is missing or another
 * job runs. */
export async function train(minutes: number, withLabels: boolean): Promise<void> {
  const inputs = gather();
  if (!state.canQuantize.value || !inputs) return;
  state.trainingProblem.value = null;
  state.trainingTimed.value = true;
  try {
    const epochs = await inputs.model.handle.trainingEpochs(minutes, {
      ...inputs.preprocessing,
      ...inputs.settings,
      labels: inputs.labels ?? undefined,
      samples: inputs.set.files,
      selection: inputs.calibration,
    });
    const label_weight = withLabels && inputs.labels !== null ? labelWeight : 0;
    const words = label_weight > 0 ? ' with labels' : '';
    setTraining(`Training of ${epochs} epochs${words}`, { n_epochs: epochs, label_weight });
  } catch (error) {
    state.trainingProblem.value = problemOf(error);
  } finally {
    state.trainingTimed.value = false;
  }
}

/** Goes back to the untuned model. */
export function discardTraining(): void {
  setTraining('No training', null);
}
