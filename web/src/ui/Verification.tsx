// SPDX-License-Identifier: Apache-2.0
//
// What onnxruntime-web made of the files, in this very browser. Loaded when the button is pressed.

import { cancelVerify, verified, verify, verifying, verifyProblem, type Checked } from '../job/verify';
import { result } from '../job/state';
import { count, counted, milliseconds, percent, times } from '../numbers';
import { LinkButton } from './LinkButton';
import { ProblemCard } from './Note';

/** Up to here only the order differs in which the runtime adds floats. */
const lastDigits = 1e-5;

export function outputs({ differing, values, apart }: Checked): string {
  if (differing === 0) return `all ${count(values)} values to the last bit`;
  const equal = `${count(values - differing)} of ${count(values)} values to the last bit`;
  if (apart < lastDigits) return `${equal}, the others but for the last digits of float sums`;
  return `${equal}, the others within ${percent(apart, 3)} of the largest`;
}

/** `ratio`: float's time divided by int8's. */
function speed(ratio: number): string {
  if (ratio > 0.95 && ratio < 1.05) return ', about as fast';
  return ratio >= 1 ? `, ${times(ratio)} as fast` : `, which is ${times(1 / ratio)} slower`;
}

function Facts({ shown }: { readonly shown: Checked }) {
  const { samples, of, int8Same, floatSame } = shown;
  const both = shown.times;
  return (
    <>
      <dl class="facts">
        <div>
          <dt>Outputs as in our preview of it</dt>
          <dd>{outputs(shown)}</dd>
        </div>
        {[['Int8', int8Same] as const, ['Float', floatSame] as const].map(
          ([whose, same]) =>
            same !== null && (
              <div key={whose}>
                <dt>{whose} answers as above</dt>
                <dd>
                  {count(same)} of {counted(samples, 'sample')}
                </dd>
              </div>
            ),
        )}
        {both && (
          <div>
            <dt>Time of one run, one thread</dt>
            <dd>
              {both.float !== null && `float ${milliseconds(both.float)}, `}int8 {milliseconds(both.int8)}
              {both.float !== null && speed(both.float / both.int8)}
            </dd>
          </div>
        )}
      </dl>
      {shown.floatFault !== '' && <p class="soft">{shown.floatFault}</p>}
      <p class="soft">
        {shown.runtime}
        {samples < of ? `, ${count(samples)} of ${count(of)} samples` : `, ${counted(samples, 'sample')}`}
        {both ? `; times are medians of ${both.rounds} rounds on one sample.` : '.'}
      </p>
    </>
  );
}

export { verified, verify, verifying };

export function Verification() {
  const shown = verified.value?.quantized === result.value?.quantized ? verified.value : null;
  const problem = verifyProblem.value;
  return (
    <>
      {problem && <ProblemCard problem={problem} onDismiss={() => (verifyProblem.value = null)} />}
      {shown && shown.samples > 0 && <Facts shown={shown} />}
      {verifying.value !== null && (
        <div class="actions">
          <span class="soft" role="status">
            {verifying.value} …
          </span>
          <LinkButton onClick={cancelVerify}>Cancel verifying</LinkButton>
        </div>
      )}
    </>
  );
}
