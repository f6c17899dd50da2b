// SPDX-License-Identifier: Apache-2.0

import type { LayerRow } from 'tersor';

import { lazy } from './lazy';

const useLayerPanel = lazy('layer', () => import('./LayerPanel'));

interface Props {
  readonly row: LayerRow;
  readonly rows: readonly LayerRow[];
  /** The last run left it in float. */
  readonly isGone: boolean;
}

export function LazyLayer({ row, rows, isGone }: Props) {
  const { module, waiting } = useLayerPanel();
  return (
    <div class="panel" tabIndex={-1} role="group" aria-labelledby="panel-title">
      {module ? (
        isGone ? (
          <module.GoneLayerPanel row={row} />
        ) : (
          <module.LayerPanel row={row} rows={rows} />
        )
      ) : (
        <p class="soft-2" id="panel-title">
          {waiting}
        </p>
      )}
    </div>
  );
}
