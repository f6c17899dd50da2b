// SPDX-License-Identifier: Apache-2.0
//
// Controls of forms. A number is taken when it is complete and refused with a sentence when it does not fit.

import { useId, useState } from 'preact/hooks';
import type { ComponentChildren } from 'preact';

export interface Choice<T extends string> {
  readonly value: T;
  readonly text: string;
}

interface SelectProps<T extends string> {
  readonly id?: string;
  readonly label: ComponentChildren;
  readonly value: T;
  readonly choices: readonly Choice<T>[];
  readonly onChoose: (value: T) => void;
  readonly hideLabel?: boolean;
}

export function Select<T extends string>(props: SelectProps<T>) {
  const own = useId();
  const id = props.id ?? own;
  return (
    <div class="field">
      <label for={id} class={props.hideLabel ? 'visually-hidden' : ''}>
        {props.label}
      </label>
      <select id={id} value={props.value} onChange={(event) => props.onChoose(event.currentTarget.value as T)}>
        {props.choices.map((choice) => (
          <option key={choice.value} value={choice.value}>
            {choice.text}
          </option>
        ))}
      </select>
    </div>
  );
}

interface TextProps {
  readonly label: string;
  readonly value: string;
  readonly onType: (text: string) => void;
}

/** `list`: id of the datalist that completes it. */
export function TextField(props: TextProps & { readonly list: string }) {
  const id = useId();
  return (
    <div class="field text">
      <label for={id}>{props.label}</label>
      <input
        id={id}
        type="text"
        value={props.value}
        list={props.list}
        spellcheck={false}
        autocomplete="off"
        onInput={(event) => props.onType(event.currentTarget.value)}
      />
    </div>
  );
}

interface TextAreaProps extends TextProps {
  readonly placeholder: string;
  readonly wrong?: boolean;
  /** When the field is left after a change. */
  readonly onEnter?: (text: string) => void;
}

export function TextArea(props: TextAreaProps) {
  const id = useId();
  return (
    <div class={props.wrong ? 'field long wrong' : 'field long'}>
      <label for={id}>{props.label}</label>
      <textarea
        id={id}
        rows={4}
        value={props.value}
        placeholder={props.placeholder}
        spellcheck={false}
        aria-invalid={props.wrong === true}
        onInput={(event) => props.onType(event.currentTarget.value)}
        onChange={(event) => props.onEnter?.(event.currentTarget.value)}
      />
    </div>
  );
}

interface NumberFieldProps {
  readonly label: string;
  readonly value: number | null;
  readonly onEnter: (value: number | null) => void;
  readonly minimum?: number | null;
  readonly maximum?: number | null;
  readonly whole?: boolean;
  /** An empty field means null. */
  readonly nullable?: boolean;
  readonly hideLabel?: boolean;
  readonly placeholder?: string;
}

function refusal(text: string, props: NumberFieldProps): string {
  const value = Number(text);
  if (text.trim() === '') return props.nullable ? '' : 'A number is needed here.';
  if (!Number.isFinite(value)) return `“${text}” is not a number.`;
  if (props.whole && !Number.isInteger(value)) return `${text} is not a whole number.`;
  if (props.minimum != null && value < props.minimum) return `${text} is under ${props.minimum}.`;
  if (props.maximum != null && value > props.maximum) return `${text} is over ${props.maximum}.`;
  return '';
}

export function NumberField(props: NumberFieldProps) {
  const id = useId();
  const [draft, setDraft] = useState<string | null>(null);
  // what is being typed: kept while figures that arrive draw the form again
  const [typed, setTyped] = useState<string | null>(null);
  const shown = typed ?? draft ?? (props.value === null ? '' : String(props.value));
  const wrong = draft === null ? '' : refusal(draft, props);
  const take = (text: string) => {
    setTyped(null);
    if (refusal(text, props) !== '') {
      setDraft(text);
      return;
    }
    setDraft(null);
    props.onEnter(text.trim() === '' ? null : Number(text));
  };
  return (
    <div class={wrong ? 'field wrong' : 'field'}>
      <label for={id} class={props.hideLabel ? 'visually-hidden' : ''}>
        {props.label}
      </label>
      <input
        id={id}
        type="text"
        inputMode="decimal"
        value={shown}
        placeholder={props.placeholder}
        aria-invalid={wrong !== ''}
        aria-describedby={wrong ? `${id}-wrong` : undefined}
        onInput={(event) => setTyped(event.currentTarget.value)}
        onChange={(event) => take(event.currentTarget.value)}
        onBlur={() => setTyped(null)}
      />
      {wrong && (
        <p class="field-wrong" id={`${id}-wrong`}>
          ✕ {wrong}
        </p>
      )}
    </div>
  );
}

interface SwitchProps {
  readonly label: string;
  readonly value: boolean;
  readonly onChoose: (value: boolean) => void;
}

/** On and Off side by side, a radio group. */
export function Switch(props: SwitchProps) {
  const name = useId();
  return (
    <fieldset class="switch">
      <legend class="visually-hidden">{props.label}</legend>
      {([true, false] as const).map((value) => (
        <label key={String(value)} class={props.value === value ? 'chosen' : ''}>
          <input type="radio" name={name} checked={props.value === value} onChange={() => props.onChoose(value)} />
          {value ? 'On' : 'Off'}
        </label>
      ))}
    </fieldset>
  );
}
