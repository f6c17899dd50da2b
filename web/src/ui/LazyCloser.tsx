// SPDX-License-Identifier: Apache-2.0

import { signal } from '@preact/signals';

import { agreementOf } from '../job/answers';
import { result } from '../job/state';
import { lazy } from './lazy';
import { LinkButton } from './LinkButton';

const useCloser = lazy('classes', () => import('./Closer'));
/** The reader asked for it, so that a job by itself makes no request. */
const isOpen = signal(false);

interface Props {
  /** A sample; null goes through those that were evaluated. */
  readonly number: number | null;
}

function Opened({ number }: Props) {
  const { module, waiting } = useCloser();
  return module ? <module.Closer number={number} /> : <p class="soft">{waiting}</p>;
}

/** The likeliest classes of samples, where outputs are classes. */
export function LazyCloser({ number }: Props) {
  const done = result.value;
  if (!done || !agreementOf(done)) return null;
  if (isOpen.value) return <Opened number={number} />;
  return <LinkButton onClick={() => (isOpen.value = true)}>Compare the likeliest classes</LinkButton>;
}
