// SPDX-License-Identifier: Apache-2.0
//
// A setting that is a JSON object: it counts when the field is left and the engine takes it; what it refuses stays in the field.

import { useState } from 'preact/hooks';

import type { Problem } from '../job/problem';
import { TextArea } from './fields';
import { ProblemCard } from './Note';

interface JsonFieldProps {
  readonly label: string;
  /** Null and undefined are shown as nothing. */
  readonly value: unknown;
  readonly placeholder: string;
  readonly take: (text: string) => Promise<Problem | null>;
}

export function JsonField({ label, value, placeholder, take }: JsonFieldProps) {
  const [draft, setDraft] = useState<string | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const enter = async (text: string) => {
    const refused = await take(text);
    setProblem(refused);
    if (!refused) setDraft(null);
  };
  return (
    <>
      <TextArea
        label={label}
        value={draft ?? (value ? JSON.stringify(value, null, 2) : '')}
        placeholder={placeholder}
        wrong={problem !== null}
        onType={setDraft}
        onEnter={(text) => void enter(text)}
      />
      {problem && <ProblemCard problem={problem} onDismiss={() => setProblem(null)} />}
    </>
  );
}
