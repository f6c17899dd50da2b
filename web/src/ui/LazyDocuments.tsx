// SPDX-License-Identifier: Apache-2.0

import { lazy } from './lazy';

const useDocuments = lazy('documents', () => import('../documents/Documents'));

export function LazyDocuments() {
  const { module, failed, waiting } = useDocuments();
  if (module) return <module.Documents />;
  return <p class={failed ? '' : 'soft'}>{waiting}</p>;
}
