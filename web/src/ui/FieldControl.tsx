// SPDX-License-Identifier: Apache-2.0
//
// The control of one field of QuantizationConfig, by its type.

import type { FieldDescription, FieldValue, ResourceUtilization } from 'tersor';

import { setObjectField } from '../job/overrides';
import { choiceText } from '../job/settings';
import { NumberField, Select, Switch } from './fields';
import { JsonField } from './JsonField';

/** What null means: the platform chooses bits, quantizers and the like; a number that may be absent is off. */
export function nullText(field: FieldDescription): string {
  return field.type === 'number' ? 'off' : 'platform default';
}

/** Bytes in kB, which is what models for devices are counted in. */
const budgets: readonly (readonly [keyof ResourceUtilization, string, number])[] = [
  ['weights_memory', 'Weights, kB', 1e3],
  ['activation_memory', 'Activations at once, kB', 1e3],
  ['total_memory', 'Both together, kB', 1e3],
  ['bops', 'Bit operations, millions', 1e6],
];

/** One number for each budget; an empty one restricts nothing. */
function BudgetControl(props: {
  readonly value: ResourceUtilization | null;
  readonly onChoose: (value: FieldValue) => void;
}) {
  const value = props.value ?? {};
  const set = (name: keyof ResourceUtilization, amount: number | null) => {
    const next = { ...value, [name]: amount };
    const none = budgets.every(([budget]) => next[budget] == null);
    props.onChoose(none ? null : next);
  };
  return (
    <>
      {budgets.map(([name, label, unit]) => (
        <NumberField
          key={name}
          label={label}
          value={value[name] == null ? null : value[name] / unit}
          minimum={0}
          nullable
          placeholder="no limit"
          onEnter={(amount) => set(name, amount === null ? null : amount * unit)}
        />
      ))}
    </>
  );
}

interface FieldControlProps {
  readonly field: FieldDescription;
  readonly title: string;
  readonly value: FieldValue;
  readonly onChoose: (value: FieldValue) => void;
  readonly hideLabel?: boolean;
}

export function FieldControl({ field, title, value, onChoose, hideLabel = false }: FieldControlProps) {
  if (field.type === 'bool' && !field.nullable && hideLabel) {
    return <Switch label={title} value={value === true} onChoose={onChoose} />;
  }
  if (field.name === 'target_resource_utilization') {
    return <BudgetControl value={value as ResourceUtilization | null} onChoose={onChoose} />;
  }
  if (field.type === 'object') {
    return (
      <JsonField
        label={`${title}, as JSON`}
        value={value}
        placeholder={
          field.members ? '{ "num_of_images": 32 }' : field.choices ? '{ "y": "boxes" }' : '{ "Add": ["Add"] }'
        }
        take={(text) => setObjectField(field, text)}
      />
    );
  }
  const values = field.type === 'bool' ? [true, false] : field.choices;
  if (values !== null) {
    const all = field.nullable ? [null, ...values] : values;
    const text = (one: FieldValue) => (typeof one === 'boolean' ? (one ? 'on' : 'off') : choiceText(String(one)));
    return (
      <Select
        label={title}
        hideLabel={hideLabel}
        value={String(value)}
        choices={all.map((one) => ({ value: String(one), text: one === null ? nullText(field) : text(one) }))}
        onChoose={(chosen) => onChoose(all.find((one) => String(one) === chosen) ?? null)}
      />
    );
  }
  // a default that nobody wants to read digit by digit
  const isTiny =
    typeof field.default === 'number' && field.default !== 0 && value === field.default && field.default < 1e-6;
  return (
    <NumberField
      label={title}
      hideLabel={hideLabel}
      value={typeof value === 'number' && !isTiny ? value : null}
      minimum={field.minimum}
      maximum={field.maximum}
      whole={field.type === 'int'}
      nullable={field.nullable || isTiny}
      placeholder={isTiny ? `about ${Number(field.default).toPrecision(1)}` : field.nullable ? nullText(field) : ''}
      onEnter={(entered) => onChoose(entered === null && isTiny ? field.default : entered)}
    />
  );
}
