// SPDX-License-Identifier: Apache-2.0
//
// Bits and methods of one operator, and what the runtime runs it as.

import { useSignal } from '@preact/signals';
import type { FieldValue, LayerRow } from 'tersor';

import { followGraph, graph, runtimeNodes } from '../job/graph';
import { operatorField, setOperatorField } from '../job/cuts';
import { operatorRows } from '../job/overrides';
import { choiceText, type FormRow } from '../job/settings';
import { listedOverrides } from '../job/state';
import { fixed, none, thin } from '../numbers';
import { BlockHead } from './BlockHead';
import { Select } from './fields';
import { KeepFloat } from './KeepFloat';

/** Microseconds below a tenth of a millisecond. */
function time(milliseconds: number | null | undefined): string {
  if (milliseconds == null) return none;
  if (milliseconds < 0.1) return `${fixed(1000 * milliseconds, 1)}${thin}µs`;
  return `${fixed(milliseconds, 2)}${thin}ms`;
}

/** What the runtime makes of the layer, and what that takes. */
export function RunsAs(props: { readonly row: LayerRow }) {
  followGraph();
  const { row } = props;
  const view = graph.value;
  const node = runtimeNodes.value.find(({ outputs }) => outputs.includes(row.output));
  const index = view?.nodes.findIndex(({ outputs }) => outputs.includes(row.output)) ?? -1;
  if (!node || !view || index < 0) return <p class="runs-as" />;
  // what is computed with it in float: from its first operator to this output
  const members = [view.nodes[index]];
  for (let front = view.nodes[index]?.joined; front != null; front = view.nodes[front]?.joined)
    members.unshift(view.nodes[front]);
  const float = members.reduce((sum, member) => sum + (member?.float_ms ?? 0), 0);
  const known = node.milliseconds !== null && members.every((member) => member?.float_ms != null);
  const reason = members.find((member) => member && member.reason !== '')?.reason ?? '';
  return (
    <p class="runs-as">
      Runs as <b>{node.op}</b>
      {known && (
        <>
          {' '}
          in about <b>{time(node.milliseconds)}</b>, in float {time(float)}{' '}
          <span class="soft">
            ({view.runtime}, {view.machine})
          </span>
        </>
      )}
      .{reason !== '' && <> {reason}</>}
    </p>
  );
}

const wanted = ['activation_n_bits', 'activation_quantization_method', 'weights_n_bits', 'weights_quantization_method'];

function valueOf(text: string, row: FormRow): FieldValue | undefined {
  if (text === '') return undefined;
  return (
    row.field.choices?.find((choice) => String(choice) === text) ?? (row.field.type === 'int' ? Number(text) : text)
  );
}

function choicesOf(row: FormRow): readonly (string | number)[] {
  return row.field.choices ?? (row.field.type === 'int' ? [16, 8, 7, 6, 5, 4, 3, 2] : []);
}

export function OperatorSettings(props: { readonly row: LayerRow }) {
  const { row } = props;
  const problem = useSignal('');
  const set = listedOverrides.value;
  if (row.op === 'Input') return null;
  const fields = operatorRows().filter(
    ({ field }) => wanted.includes(field.name) && (row.weight_max !== null || !field.name.startsWith('weights_')),
  );
  const choose = async (form: FormRow, text: string) => {
    problem.value = '';
    const refused = await setOperatorField(row.name, form.field, valueOf(text, form));
    problem.value = refused ? `${refused.message} ${refused.hint}` : '';
  };
  const changes = fields.filter(({ field }) => operatorField(row.name, field) !== undefined).length;
  return (
    <div class="block">
      <BlockHead
        title="This operator"
        note={changes > 0 || set.some(({ name }) => name === row.name) ? 'set by you' : 'as all others'}
      />
      <div class="operator-settings">
        <KeepFloat name={row.name} isFloat={row.range === null} />
        {fields.map((form) => {
          const mine = operatorField(row.name, form.field);
          return (
            <Select
              key={form.field.name}
              label={form.title}
              value={mine === undefined ? '' : String(mine)}
              choices={[
                { value: '', text: 'as all others' },
                ...choicesOf(form).map((choice) => ({ value: String(choice), text: choiceText(choice) })),
              ]}
              onChoose={(text) => void choose(form, text)}
            />
          );
        })}
      </div>
      {problem.value !== '' && (
        <p class="field-wrong" role="alert">
          ✕ {problem.value}
        </p>
      )}
    </div>
  );
}
