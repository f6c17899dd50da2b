// SPDX-License-Identifier: Apache-2.0
//
// The one button of a state: Quantize, Cancel while running, and Quantize again when settings changed. It stands at the end of
// the Results line, on the phone in the dock; a media query leaves only one of the two in the accessibility tree.

import { cancel, quantize } from '../job/quantize';
import { canQuantize, missing, result, resultIsOld, run, showsAnswer } from '../job/state';

/** Quantize and Cancel take each other's place, where the second click of a double click is meant for neither. */
function once(act: () => void) {
  return ({ detail }: MouseEvent) => {
    if (detail < 2) act();
  };
}

/** Starts the job and brings its progress into view where the page is long. */
export function startQuantize(): void {
  if (!canQuantize.value) return;
  void quantize();
  requestAnimationFrame(() => {
    const region = document.querySelector('.region-results');
    const top = region?.getBoundingClientRect().top ?? 0;
    if (top < 0 || top > 0.6 * innerHeight) region?.scrollIntoView({ block: 'start' });
  });
}

export function QuantizeButton(props: { readonly class?: string }) {
  const place = props.class ?? '';
  if (run.value) {
    return (
      <button type="button" class={`button main-button ${place}`} onClick={once(cancel)}>
        Cancel
      </button>
    );
  }
  // what was just made need not be made again
  if (showsAnswer.value && !resultIsOld.value) return null;
  const waiting = !canQuantize.value;
  const kind = waiting ? 'waiting' : result.value === null || resultIsOld.value ? 'filled' : '';
  return (
    <button
      type="button"
      class={`button main-button ${kind} ${place}`}
      aria-disabled={waiting}
      title={waiting ? missing.value || 'Reading …' : undefined}
      onClick={once(startQuantize)}
    >
      Quantize
    </button>
  );
}
