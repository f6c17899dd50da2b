// SPDX-License-Identifier: Apache-2.0
//
// The operators that stay float: each with its reason, and a switch.

import type { FloatNode } from 'tersor';

import { keepFloat, result } from '../job/state';
import { counted, shortName } from '../numbers';
import { BlockHead } from './BlockHead';
import { useFold } from './fold';
import { KeepFloat } from './KeepFloat';
import { TableHead } from './TableHead';

/** Rows shown before "Show all". */
const firstRows = 8;

/** Those that the reader set, and then those that stay float by themselves. */
function rowsOf(stay: readonly FloatNode[]): FloatNode[] {
  const set = Object.entries(keepFloat.value).map(([name, isFloat]) => {
    const known = stay.find((node) => node.name === name);
    return known ?? { name, op: '', reason: isFloat ? 'Kept in float by you.' : 'Wanted in integers by you.' };
  });
  return [...set, ...stay.filter((node) => !(node.name in keepFloat.value))];
}

export function StaysFloat() {
  const done = result.value;
  const rows = done ? rowsOf(done.quantized.report.coverage.stays_float) : [];
  const [shown, more] = useFold(rows, firstRows, 'operators');
  if (!done) return null;
  return (
    <div class="block stays-float">
      <BlockHead
        title="Stays float"
        note={rows.length === 0 ? 'nothing: every operator runs as an integer' : counted(rows.length, 'operator')}
      />
      {rows.length > 0 && (
        <table class="figures float-nodes">
          <caption class="visually-hidden">Operators that stay float, and why</caption>
          <TableHead of={['Operator', 'Why', 'Keep in float']} />
          <tbody>
            {shown.map((node, k) => (
              <tr key={`${node.name}.${k}`}>
                <th scope="row">
                  <span class="float-name" title={node.name}>
                    {shortName(node.name || node.op)}
                  </span>
                  {node.name !== '' && node.op !== '' && <span class="sub">{node.op}</span>}
                </th>
                <td class="float-reason">{node.reason}</td>
                <td>{node.name === '' ? '–' : <KeepFloat name={node.name} isFloat hideLabel />}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {more}
    </div>
  );
}
