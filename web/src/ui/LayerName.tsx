// SPDX-License-Identifier: Apache-2.0

import type { LayerRow } from 'tersor';

import { openLayer } from '../job/state';
import { shortName } from '../numbers';
import { revealPanel } from './layer';
import { LinkButton } from './LinkButton';

/** The head of a layer's row, which opens the layer's panel. */
export function LayerName({ row }: { readonly row: Pick<LayerRow, 'output' | 'name' | 'op'> }) {
  const open = () => {
    openLayer.value = row.output;
    requestAnimationFrame(revealPanel);
  };
  return (
    <th scope="row">
      <LinkButton title={row.name} onClick={open}>
        {shortName(row.name)}
      </LinkButton>
      <span class="sub">{row.op}</span>
    </th>
  );
}
