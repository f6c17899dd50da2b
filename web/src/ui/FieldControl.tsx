// SPDX-License-Identifier: Apache-2.0
//
// The control of one field of QuantizationConfig, by its type.

import type { FieldDescription, FieldValue } from 'tersor';

import { setObjectField } from '../job/overrides';
import { choiceText } from '../job/settings';
import { NumberField, Select, Switch } from './fields';
import { JsonField } from './JsonField';

/** What null means: the platform chooses bits, quantizers and the like; a number that may be absent is off. */
export function nullText(field: FieldDescription): string {
  return field.type === 'number' ? 'off' : 'as the platform says';
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
  if (field.type === 'object') {
    return (
      <JsonField
        label={`${title}, as JSON`}
        value={value}
        placeholder={'{ "Add": ["Add", "Sub"] }'}
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
  return (
    <NumberField
      label={title}
      hideLabel={hideLabel}
      value={typeof value === 'number' ? value : null}
      minimum={field.minimum}
      maximum={field.maximum}
      whole={field.type === 'int'}
      nullable={field.nullable}
      placeholder={field.nullable ? nullText(field) : ''}
      onEnter={onChoose}
    />
  );
}
