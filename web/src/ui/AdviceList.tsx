// SPDX-License-Identifier: Apache-2.0
//
// Advice: a sentence with this run's numbers, what it gains as far as that can be computed, why, and a button that applies it.

import { useEffect } from 'preact/hooks';

import type { Advice } from '../job/advice';
import { applyAdvice, changedBy, currentAdvice, gainText } from '../job/apply_advice';
import { askEffect, effectOf } from '../job/effects';
import { result, running } from '../job/state';
import { BlockHead } from './BlockHead';
import { chooseFolder } from './files';
import { LinkButton } from './LinkButton';

/** A job that took longer is not made again for advice that nobody asked for. */
const quickSeconds = 20;
/** Effects that are computed unasked. */
const askedUnasked = 2;

/** What is known of an advice's gain; null: it gains nothing, or nobody can say. */
function gainOf(advice: Advice): { readonly text: string; readonly ask?: () => void } | null {
  const change = changedBy(advice);
  if (!change) return { text: '' };
  const effect = effectOf(change);
  if (effect === undefined) return { text: '', ask: () => void askEffect(change) };
  if (effect === 'waiting') return { text: 'What it gains is being computed.' };
  const text = effect && gainText(advice, effect);
  return text === null ? null : { text };
}

export function AdviceList() {
  const found = currentAdvice();
  const list = found.flatMap((advice) => {
    const gain = gainOf(advice);
    return gain ? [{ advice, gain }] : [];
  });
  const done = result.value;
  const isQuick = !running.value && (done?.seconds ?? Infinity) <= quickSeconds;
  useEffect(() => {
    if (!isQuick) return;
    for (const advice of found.slice(0, askedUnasked)) {
      const change = changedBy(advice);
      if (change) void askEffect(change);
    }
  }, [isQuick, done?.quantized, found.map(({ id }) => id).join()]);
  if (list.length === 0) return null;
  return (
    <div class="block advice" data-testid="advice">
      <BlockHead title="Advice" note="each can be undone" />
      <ol>
        {list.map(({ advice, gain }, k) => (
          <li key={advice.id} data-advice={advice.id}>
            <div>
              <p>{advice.sentence}</p>
              {gain.text !== '' && <p class="soft">{gain.text}</p>}
              {gain.ask && (
                <LinkButton disabled={running.value} onClick={gain.ask}>
                  Compute what it gains
                </LinkButton>
              )}
              <details>
                <summary>Why</summary>
                <p class="soft">{advice.reason}</p>
              </details>
            </div>
            <button
              type="button"
              class={`button ${k === 0 ? 'likely' : ''}`}
              disabled={running.value}
              onClick={() => void applyAdvice(advice, chooseFolder)}
            >
              {advice.word}
            </button>
          </li>
        ))}
      </ol>
    </div>
  );
}
