// SPDX-License-Identifier: Apache-2.0
//
// What a training did to each layer: how near its output was to float before, and how near it is now, most changed first.

import type { Comparison } from 'tersor';

import { decibels, fixed } from '../numbers';
import { useFold } from './fold';
import { LayerName } from './LayerName';
import { TableHead } from './TableHead';

/** Rows shown before "Show all". */
const firstRows = 6;

interface Row {
  readonly output: string;
  readonly name: string;
  readonly op: string;
  readonly before: number;
  readonly now: number;
}

/** Layers that are exact before or now have no change in dB. */
function changedLayers(before: Comparison, after: Comparison): Row[] {
  const known = new Map(before.layers.map((row) => [row.output, row.accumulated_sqnr_db]));
  return after.layers
    .flatMap(({ output, name, op, accumulated_sqnr_db: now }) => {
      const was = known.get(output) ?? null;
      return was === null || now === null ? [] : [{ output, name, op, before: was, now }];
    })
    .sort((a, b) => Math.abs(b.now - b.before) - Math.abs(a.now - a.before));
}

/** The column head has the unit. */
function change({ before, now }: Row): string {
  const by = now - before;
  const text = fixed(Math.abs(by), 1);
  return text === '0.0' ? '0.0' : `${by > 0 ? '+' : '−'}${text}`;
}

export function TrainedLayers({ before, after }: { readonly before: Comparison; readonly after: Comparison }) {
  const rows = changedLayers(before, after);
  const [shown, more] = useFold(rows, firstRows, 'layers');
  if (rows.length === 0) return null;
  return (
    <>
      <table class="figures trained-layers">
        <caption class="visually-hidden">Layers before and after the training, most changed first</caption>
        <TableHead
          of={['Layer’s output against float', ['Before', 'right'], ['After', 'right'], ['Change, dB', 'right']]}
        />
        <tbody>
          {shown.map((row) => (
            <tr key={row.output}>
              <LayerName row={row} />
              <td class="right">{decibels(row.before)}</td>
              <td class="right">{decibels(row.now)}</td>
              <td class="right">{change(row)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {more}
    </>
  );
}
