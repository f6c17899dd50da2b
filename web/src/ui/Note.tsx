// SPDX-License-Identifier: Apache-2.0
//
// Remarks from calm to stop, and the card of an error: message, place, hint, Copy details.

import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

import { details, type Problem } from '../job/problem';
import { engine, model } from '../job/state';
import { copy } from './copy';
import { NoteSign, type NoteKind } from './Icons';
import { LinkButton } from './LinkButton';

export function Note(props: { readonly kind: NoteKind; readonly children: ComponentChildren }) {
  return (
    <div class={`note note-${props.kind}`}>
      <NoteSign kind={props.kind} />
      <div class="note-text">{props.children}</div>
    </div>
  );
}

interface ProblemCardProps {
  readonly problem: Problem;
  /** Buttons that repair it; the first is the likely fix. */
  readonly children?: ComponentChildren;
  readonly onDismiss?: (() => void) | undefined;
}

export function ProblemCard({ problem, children, onDismiss }: ProblemCardProps) {
  const card = useRef<HTMLDivElement>(null);
  useEffect(() => card.current?.scrollIntoView({ block: 'nearest' }), [problem]);
  // an error that lists several faults has each on a line of its own
  const [sentence, ...faults] = problem.message.split('\n');
  const facts = {
    version: engine.value?.version ?? '',
    model: model.value?.name ?? '',
    browser: navigator.userAgent,
  };
  return (
    <div ref={card} class="note note-stop" role="alert">
      <NoteSign kind="stop" />
      <div class="note-text">
        <p class="problem-message">{sentence}</p>
        {faults.length > 0 && (
          <ul class="faults">
            {faults.map((fault) => (
              <li key={fault}>{fault}</li>
            ))}
          </ul>
        )}
        {problem.hint !== '' && <p>{problem.hint}</p>}
        {problem.place !== '' && <p class="problem-place">{problem.place}</p>}
        <div class="actions">
          {children}
          <LinkButton onClick={() => copy(details(problem, facts), 'Details copied.')}>Copy details</LinkButton>
          {onDismiss && <LinkButton onClick={onDismiss}>Dismiss</LinkButton>}
        </div>
      </div>
    </div>
  );
}
