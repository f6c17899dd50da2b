// SPDX-License-Identifier: Apache-2.0
//
// A file of quantized weights and nothing else needs no sample: it can be had before there are any, without figures.

import { computed, signal } from '@preact/signals';

import { fileNames } from '../job/command';
import { problemOf } from '../job/problem';
import { say } from '../job/say';
import { config, coverage, frameworkInfo, model, overrides, platform, runProblem, samples } from '../job/state';
import { size } from '../numbers';
import { download } from './copy';
import { LinkButton } from './LinkButton';

/** Every operator computes in float, so that no range of an activation is wanted. */
const needsNoSamples = computed(
  () =>
    model.value !== null &&
    samples.value === null &&
    coverage.value !== null &&
    coverage.value.rows.every(({ support }) => support !== 'integer'),
);

const isBusy = signal(false);

async function saveWithoutSamples(): Promise<void> {
  const open = model.value;
  if (!open || isBusy.value) return;
  isBusy.value = true;
  try {
    const made = await open.handle.quantize({
      platform: platform.value,
      config: config.value,
      overrides: overrides.value,
      frameworkInfo: frameworkInfo.value,
    });
    const name = fileNames(open.name).model;
    download(made.model as Uint8Array<ArrayBuffer>, name, 'application/octet-stream');
    say(`${name} saved, ${size(made.model.length)}; its error is not measured.`);
    made.close();
  } catch (error) {
    runProblem.value = problemOf(error);
  } finally {
    isBusy.value = false;
  }
}

export function WeightsAlone() {
  if (!needsNoSamples.value) return null;
  return (
    <>
      {' '}
      Weights alone are quantized, so it also works without:{' '}
      <LinkButton aria-disabled={isBusy.value} onClick={() => void saveWithoutSamples()}>
        Save the file unmeasured
      </LinkButton>
    </>
  );
}
