// SPDX-License-Identifier: Apache-2.0
//
// Which bits each operator got within the budget, and what its other candidates would have cost.

import type { SearchedCandidate, SearchedOperator } from 'tersor';

import { result } from '../job/state';
import { counted, kilobytes, value } from '../numbers';
import { useFold } from './fold';

/** Rows shown before "Show all". */
const firstRows = 8;

function bits(n: number): string {
  return n === 32 ? 'float' : String(n);
}

/** Only what the operator's candidates differ in. */
function differs(operator: SearchedOperator, member: 'weights_n_bits' | 'activation_n_bits'): boolean {
  return operator.candidates.some((one) => one[member] !== operator.candidates[0]?.[member]);
}

function candidateText(operator: SearchedOperator, candidate: SearchedCandidate): string {
  const parts = [
    differs(operator, 'weights_n_bits') ? bits(candidate.weights_n_bits) : '',
    differs(operator, 'activation_n_bits') ? `output ${bits(candidate.activation_n_bits)}` : '',
  ];
  return parts.filter(Boolean).join(', ');
}

export function ChosenBits() {
  const report = result.value?.quantized.report;
  const chosen = report?.trial?.bits;
  const operators = chosen?.operators ?? [];
  const [shown, more] = useFold(operators, firstRows, 'operators');
  if (!report || !chosen || operators.length === 0) return null;
  const { taken } = chosen;
  return (
    <div class="block chosen-bits" data-testid="chosen-bits">
      <div class="block-head">
        <h3>Bits within the budget</h3>
        <span class="soft">
          {kilobytes(taken.weights_memory)} of weights, each of its own bits, in a file of{' '}
          {kilobytes(report.output.size_bytes)}; at most {kilobytes(taken.activation_memory)} of activations at once;
          measured on {counted(chosen.images, 'sample')}
        </span>
      </div>
      <table class="figures float-nodes">
        <caption class="visually-hidden">
          Bits chosen for each operator, and the error of each of its candidates
        </caption>
        <thead>
          <tr>
            <th scope="col">Operator</th>
            <th scope="col">Bits</th>
            <th scope="col">Sensitivity of each candidate</th>
          </tr>
        </thead>
        <tbody>
          {shown.map((operator) => {
            const own = operator.candidates[operator.chosen];
            return (
              <tr key={operator.node}>
                <th scope="row">
                  <span class="float-name">{operator.node}</span>
                  <span class="sub">{operator.op}</span>
                </th>
                <td>{own ? candidateText(operator, own) : ''}</td>
                <td class="float-reason">
                  {operator.candidates
                    .map((one) => `${candidateText(operator, one)}: ${value(one.sensitivity)}`)
                    .join(' · ')}
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
      {more}
    </div>
  );
}
