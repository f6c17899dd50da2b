// SPDX-License-Identifier: Apache-2.0
//
// The graph as a table: every node with what it reads, in the order of the graph.

import { counted } from '../numbers';
import { useRowWindow } from '../ui/rows';
import { TableHead } from '../ui/TableHead';
import { paintOf, rowOf, shortTime, supportOf, timeOf, type ColourBy, type Drawn, type Known } from './drawn';

interface GraphTableProps {
  readonly drawn: Drawn;
  readonly known: Known;
  readonly by: ColourBy;
  /** Those to show; null: all. */
  readonly found: ReadonlySet<number> | null;
  readonly select: (k: number, open: boolean) => void;
}

export function GraphTable({ drawn, known, by, found, select }: GraphTableProps) {
  const places = drawn.nodes.flatMap(({ kind }, k) => (kind === 'node' && (found === null || found.has(k)) ? [k] : []));
  const before = new Map<number, number[]>();
  for (const [from, to] of drawn.edges) before.set(to, [...(before.get(to) ?? []), from]);
  const shown = useRowWindow(places.length);
  const spacer = (height: number, key: string) =>
    height > 0 && (
      <tr key={key} aria-hidden="true">
        <td colSpan={5} class="spacer" style={{ height: `${height}px` }} />
      </tr>
    );
  return (
    <div class="graph-table" tabIndex={0} role="group" aria-label="Graph as a table">
      <table class="layers" aria-rowcount={places.length}>
        <caption class="visually-hidden">{counted(places.length, 'node')} in the order of the graph</caption>
        <TableHead
          of={[
            'Node',
            'Operator',
            'Reads',
            'Runs as',
            [by === 'error' ? 'Share of error' : by === 'bits' ? 'Bits' : 'Time', 'right'],
          ]}
        />
        <tbody ref={shown.body}>
          {spacer(shown.from * shown.height, 'above')}
          {places.slice(shown.from, shown.to).map((k) => {
            const node = drawn.nodes[k];
            if (!node) return null;
            const figure = by === 'runtime' ? shortTime(timeOf(node, known)) : paintOf(node, by, known).figure;
            return (
              <tr key={k} onClick={() => select(k, true)}>
                <th scope="row">
                  <button type="button" class="layer-name" title={node.name} onClick={() => select(k, true)}>
                    {node.short}
                  </button>
                </th>
                <td>{node.title}</td>
                <td class="soft">{(before.get(k) ?? []).map((from) => drawn.nodes[from]?.short).join(', ')}</td>
                <td>{supportOf(node, known)}</td>
                <td class="right">{figure || (rowOf(node, known) ? '' : '–')}</td>
              </tr>
            );
          })}
          {spacer((places.length - shown.to) * shown.height, 'below')}
        </tbody>
      </table>
    </div>
  );
}
