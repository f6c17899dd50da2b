// SPDX-License-Identifier: Apache-2.0
//
// FrameworkInfo as JSON: it counts when the field is left and the engine takes it; what it refuses stays in the field.

import { useState } from 'preact/hooks';

import { setFrameworkInfo } from '../job/overrides';
import type { Problem } from '../job/problem';
import { frameworkInfo, model } from '../job/state';
import { TextArea } from './fields';
import { ProblemCard } from './Note';

export function FrameworkInfoForm() {
  const [draft, setDraft] = useState<string | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const info = frameworkInfo.value;
  const enter = async (text: string) => {
    const refused = await setFrameworkInfo(text);
    setProblem(refused);
    if (!refused) setDraft(null);
  };
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
        <TextArea
          label="FrameworkInfo as JSON; empty: the defaults"
          value={draft ?? (info ? JSON.stringify(info, null, 2) : '')}
          placeholder={'{ "no_quantization_ops": ["Softmax"] }'}
          wrong={problem !== null}
          onType={setDraft}
          onEnter={(text) => void enter(text)}
        />
      ) : (
        <p class="soft">
          {info ? <code>{JSON.stringify(info)}</code> : 'Open a model: what is entered is tried on it.'}
        </p>
      )}
      {problem && <ProblemCard problem={problem} onDismiss={() => setProblem(null)} />}
    </div>
  );
}
