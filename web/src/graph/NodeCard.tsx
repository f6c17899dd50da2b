// SPDX-License-Identifier: Apache-2.0
//
// What is known of one node of the graph, and its switch.

import { openLayer } from '../job/state';
import { decibels, percent, range, shape } from '../numbers';
import { Close } from '../ui/Icons';
import { KeepFloat } from '../ui/KeepFloat';
import { paintOf, rowOf, runsAs, shortTime, supportOf, timeOf, type DrawnNode, type Known } from './drawn';

export function NodeCard(props: { readonly node: DrawnNode; readonly known: Known; readonly close: () => void }) {
  const { node, known } = props;
  const members = node.members.flatMap((k) => known.view.nodes[k] ?? []);
  const row = rowOf(node, known);
  const time = timeOf(node, known);
  const runs = runsAs(node, known);
  const ends = node.kind === 'input' ? known.view.inputs : known.view.outputs;
  const dims = node.kind === 'node' ? members.at(-1)?.shape : ends.find(({ name }) => name === node.name)?.shape;
  const inside = new Set(members.flatMap((member) => member.outputs));
  const reads = members.flatMap((member) => member.inputs).filter((value) => !inside.has(value));
  const reason = members.find((member) => member.reason !== '')?.reason ?? '';
  const facts: readonly (readonly [string, string])[] = [
    ['Shape', dims ? shape(dims) : ''],
    ['Weight', members.map((member) => member.detail).find(Boolean) ?? ''],
    ['Reads', reads.join(', ')],
    ['Makes', members.at(-1)?.outputs.join(', ') ?? ''],
    ['Share of error', row ? percent(row.error_share, 1) : ''],
    ['Alone', row ? decibels(row.isolated_sqnr_db) : ''],
    ['Cut', row?.range ? range(row.range[0], row.range[1]) : ''],
    [
      'Runs as',
      runs.length > 0
        ? runs.map((one) => one.op).join(' + ')
        : node.kind === 'node'
          ? paintOf(node, 'runtime', known).figure
          : '',
    ],
    ['Bits', node.kind === 'node' ? paintOf(node, 'bits', known).figure : ''],
    ['Expected time', time === null ? '' : shortTime(time)],
  ];
  return (
    <div class="node-card" role="group" aria-label={node.title}>
      <div class="block-head">
        <h4 title={node.name}>{node.kind === 'node' ? node.short : node.title}</h4>
        <button type="button" class="ghost" aria-label="Close the node" onClick={props.close}>
          <Close />
        </button>
      </div>
      <p class="soft">{node.kind === 'node' ? node.title : `${node.kind} of the model`}</p>
      <dl class="facts">
        {facts
          .filter(([, value]) => value !== '')
          .map(([term, value]) => (
            <div key={term}>
              <dt>{term}</dt>
              <dd>{value}</dd>
            </div>
          ))}
      </dl>
      {reason !== '' && <p class="soft">{reason}</p>}
      {node.kind === 'node' && <KeepFloat name={node.name} isFloat={supportOf(node, known) === 'float'} />}
      {row && (
        <button type="button" class="button" onClick={() => (openLayer.value = row.output)}>
          Open layer
        </button>
      )}
    </div>
  );
}
