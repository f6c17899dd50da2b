// SPDX-License-Identifier: Apache-2.0
//
// What the file takes, as prices have it or as it was timed, and the button that times it in the site's own runtime.

import { signal } from '@preact/signals';

import { loadPart } from '../job/parts';
import { quantize } from '../job/quantize';
import { runtime } from '../job/runtime';
import { result, resultIsOld, running, tradeoffRun } from '../job/state';
import { LinkButton } from './LinkButton';

const failed = signal(false);

async function timeHere(): Promise<void> {
  const part = await loadPart(() => import('../job/verify'));
  failed.value = part === null;
  if (part) await quantize({ regionsStay: true, timer: part.timerFor });
}

export function Time() {
  const shown = result.value;
  if (!shown) return null;
  const { time } = shown.quantized.report;
  const waits = shown.pending !== null || running.value || tradeoffRun.value !== null || resultIsOld.value;
  return (
    <div class="time" data-testid="time">
      {time && <p class="soft">{time.sentence}</p>}
      {runtime && !waits && shown.format === 'onnx' && (
        <p class="soft">
          <LinkButton onClick={() => void timeHere()}>{time?.measured ? 'Time it again' : 'Time it here'}</LinkButton>
          {failed.value
            ? ' This part of the page could not be loaded: there is no network, and it was not stored.'
            : ` runs the float model and the files that “Prefer” may mean in ${runtime.name}, one thread, and takes the fastest that is as accurate.`}
        </p>
      )}
    </div>
  );
}
