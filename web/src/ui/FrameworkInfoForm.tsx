// SPDX-License-Identifier: Apache-2.0
//
// FrameworkInfo as JSON.

import { setFrameworkInfo } from '../job/overrides';
import { frameworkInfo, model } from '../job/state';
import { JsonField } from './JsonField';

export function FrameworkInfoForm() {
  const info = frameworkInfo.value;
  return (
    <div class="setting-more">
      <h4 class="setting-group-title">What is known of operators</h4>
      <p class="setting-meaning">
        Fields of FrameworkInfo in place of the defaults: operators whose kernel or output may be quantized, operators
        left alone, axes of channels, ranges of values.
      </p>
      <p class="setting-field">
        kernel_ops · activation_ops · no_quantization_ops · activation_quantizer_mapping · weights_quantizer_mapping ·
        kernel_channels_mapping · activation_min_max_mapping · layer_min_max_mapping
      </p>
      {model.value ? (
        <JsonField
          label="FrameworkInfo as JSON; empty: the defaults"
          value={info}
          placeholder={'{ "no_quantization_ops": ["Softmax"] }'}
          take={setFrameworkInfo}
        />
      ) : (
        <p class="soft">
          {info ? <code>{JSON.stringify(info)}</code> : 'Open a model: what is entered is tried on it.'}
        </p>
      )}
    </div>
  );
}
