// SPDX-License-Identifier: Apache-2.0
//
// The files that "Prefer" was decided between.

import { result } from '../job/state';
import { choiceText } from '../job/settings';
import { counted, decibels, kilobytes, milliseconds } from '../numbers';
import { BlockHead } from './BlockHead';
import { TableHead } from './TableHead';

export function Contest() {
  const trial = result.value?.quantized.report.trial;
  if (!trial || trial.contestants.length === 0) return null;
  return (
    <div class="block" data-testid="contest">
      <BlockHead title="What was preferred" note={`files compared on ${counted(trial.held, 'sample')} held aside`} />
      <table class="figures float-nodes">
        <caption class="visually-hidden">Size, expected time and error of each file that was compared</caption>
        <TableHead of={['Begins as', 'Size', 'Expected time', 'SQNR']} />
        <tbody>
          {trial.contestants.map((one) => (
            <tr key={one.prefer}>
              <th scope="row">
                {choiceText(one.prefer)}
                {one.taken && <span class="sub">taken</span>}
              </th>
              <td>{kilobytes(one.size_bytes)}</td>
              <td>{milliseconds(one.quantized_ms)}</td>
              <td>{one.sqnr_db === null ? 'ruled out by size or time' : decibels(one.sqnr_db)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
