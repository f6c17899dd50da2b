// SPDX-License-Identifier: Apache-2.0
//
// How recordings become tensors: the sample rate that they must have, and the length that they are brought to.

import { setPreprocessing } from '../job/load';
import { engine, preprocessing } from '../job/state';
import { NumberField } from './fields';

export function RecordingForm() {
  const value = preprocessing.value ?? engine.value?.preprocessingPreset('raw');
  if (!value) return null;
  return (
    <div class="block">
      <div class="block-head">
        <h3>Recordings</h3>
        <span class="soft">channels averaged, −1 … 1</span>
      </div>
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
        <NumberField
          label="Length, values"
          value={value.length ?? null}
          whole
          nullable
          minimum={1}
          placeholder="as it is"
          onEnter={(length) => void setPreprocessing({ ...value, length: length ?? undefined })}
        />
        <p class="form-wide soft">Longer recordings are cropped at the end, shorter ones padded with zeros.</p>
      </div>
    </div>
  );
}
