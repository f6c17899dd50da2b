// SPDX-License-Identifier: Apache-2.0
//
// How recordings become tensors: the sample rate that they must have, and the length that they are brought to; and what fills inputs
// of the model which samples do not hold.

import type { Preprocessing, SampleInput } from 'tersor';

import { setPreprocessing } from '../job/load';
import { asksLength, engine, model, preprocessing, samplesInfo } from '../job/state';
import { BlockHead } from './BlockHead';
import { NumberField, Select } from './fields';

/** What is in force, or what a change starts from. */
function inForce(): Preprocessing | undefined {
  return preprocessing.value ?? engine.value?.preprocessingPreset('raw');
}

/** How many values an input of one sequence takes, by its shape; null where it does not say. */
function lengthOfInput(): number | null {
  const name = samplesInfo.value?.inputs.find(({ from }) => from === 'samples')?.name;
  const inputs = model.value?.handle.info.inputs ?? [];
  const dims = (inputs.find((input) => input.name === name) ?? inputs[0])?.shape?.slice(1) ?? [];
  const long = dims.filter((dim) => dim !== 1);
  return long.length === 1 && typeof long[0] === 'number' ? long[0] : null;
}

export function RecordingForm() {
  const value = inForce();
  if (!value) return null;
  const keepsState = samplesInfo.value?.inputs.some(({ from }) => from === 'state') === true;
  const length = lengthOfInput();
  return (
    <div class="block">
      <BlockHead title="Recordings" note="channels averaged, −1 … 1" />
      <div class="form">
        <NumberField
          label="Sample rate, Hz"
          value={value.rate ?? null}
          whole
          nullable
          minimum={1}
          placeholder="any"
          onEnter={(rate) => void setPreprocessing({ ...value, rate: rate ?? undefined })}
        />
        <div class="recording-length">
          <NumberField
            label="Length, values"
            value={value.length ?? null}
            whole
            nullable
            minimum={1}
            placeholder={asksLength.value ? 'a number' : length === null ? 'as it is' : `${length}, as the model takes`}
            onEnter={(entered) => void setPreprocessing({ ...value, length: entered ?? undefined })}
          />
        </div>
        <Select
          label="Longer recordings"
          value={String(value.windows ?? keepsState)}
          choices={[
            { value: 'false', text: 'are cropped at the end' },
            { value: 'true', text: 'are cut into pieces, one sample each' },
          ]}
          onChoose={(cut) => void setPreprocessing({ ...value, windows: cut === 'true' })}
        />
        <p class="form-wide soft">Shorter ones are padded with zeros; nothing is resampled.</p>
      </div>
    </div>
  );
}

/** States and numbers beside what the samples hold. */
export function InputsForm({ inputs }: { readonly inputs: readonly SampleInput[] }) {
  const value = inForce();
  const others = inputs.filter(({ from }) => from !== 'samples');
  if (!value || others.length === 0) return null;
  const enter = (name: string, number: number | null) => {
    const { [name]: _before, ...rest } = value.inputs ?? {};
    void setPreprocessing({ ...value, inputs: number === null ? rest : { ...rest, [name]: number } });
  };
  return (
    <div class="block inputs-form">
      <BlockHead title="Other inputs" note="the same in every sample" />
      <div class="form">
        {others.map(({ name, from }) => (
          <div key={name} class={from === 'asked' ? 'asked' : ''}>
            <NumberField
              label={from === 'asked' ? `${name}, needed` : name}
              value={value.inputs?.[name] ?? null}
              nullable={from !== 'asked'}
              placeholder={from === 'asked' ? 'a number' : '0, a state starts so'}
              onEnter={(number) => enter(name, number)}
            />
          </div>
        ))}
      </div>
    </div>
  );
}
