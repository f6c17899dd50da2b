// SPDX-License-Identifier: Apache-2.0
//
// Advice: a sentence with this run's numbers, why, and a button that applies it.

import { applyAdvice, currentAdvice } from '../job/apply_advice';
import { running } from '../job/state';
import { BlockHead } from './BlockHead';
import { chooseFolder } from './files';

export function AdviceList() {
  const list = currentAdvice();
  if (list.length === 0) return null;
  return (
    <div class="block advice" data-testid="advice">
      <BlockHead title="Advice" note="each can be undone" />
      <ol>
        {list.map((one, k) => (
          <li key={one.id} data-advice={one.id}>
            <div>
              <p>{one.sentence}</p>
              <details>
                <summary>Why</summary>
                <p class="soft">{one.reason}</p>
              </details>
            </div>
            <button
              type="button"
              class={`button ${k === 0 ? 'likely' : ''}`}
              disabled={running.value}
              onClick={() => void applyAdvice(one, chooseFolder)}
            >
              {one.word}
            </button>
          </li>
        ))}
      </ol>
    </div>
  );
}
