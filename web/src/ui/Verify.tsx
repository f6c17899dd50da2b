// SPDX-License-Identifier: Apache-2.0
//
// The button that verifies a result in the site's copy of onnxruntime-web; what does so is fetched when it is pressed.

import { signal } from '@preact/signals';

import { loadPart } from '../job/parts';
import { gather } from '../job/inputs';
import { runtime } from '../job/runtime';
import { result, running, tradeoffRun } from '../job/state';
import { size } from '../numbers';
import { BlockHead } from './BlockHead';

const part = signal<typeof import('./Verification') | null>(null);
const failed = signal(false);

async function start(): Promise<void> {
  failed.value = false;
  part.value ??= await loadPart(() => import('./Verification'));
  const inputs = gather();
  if (part.value && inputs) await part.value.verify(inputs);
  failed.value = part.value === null;
}

export function Verify() {
  const shown = result.value;
  if (!shown || !runtime || shown.format !== 'onnx') return null;
  const loaded = part.value;
  const waits = shown.pending !== null || running.value || tradeoffRun.value !== null;
  return (
    <div class="block verify" data-testid="verify">
      <BlockHead title="Verify" note={`in ${runtime.name}`} />
      {loaded && <loaded.Verification />}
      {!loaded?.verifying.value && (
        <>
          <button type="button" class="button download" disabled={waits} onClick={() => void start()}>
            <span>{loaded?.verified.value ? 'Verify again' : 'Verify in this browser'}</span>
            {!loaded && (
              <span class="button-fact" aria-hidden="true">
                {size(runtime.bytes)}, once
              </span>
            )}
          </button>
          {!loaded && (
            <p class="soft">
              {failed.value
                ? 'This part of the page could not be loaded: there is no network, and it was not stored. Try again.'
                : 'Runs the float and the int8 file on the evaluated samples, compares with our preview, and times both.'}
            </p>
          )}
        </>
      )}
    </div>
  );
}
