// SPDX-License-Identifier: Apache-2.0

import { lazy } from './lazy';

const useHelp = lazy('help', () => import('../help/Help'));

export function LazyHelp() {
  const { module, failed, waiting } = useHelp();
  if (module) return <module.Help />;
  return <p class={failed ? '' : 'soft'}>{waiting}</p>;
}
