// SPDX-License-Identifier: Apache-2.0
//
// Layers as a list and as a graph.

import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';

type LayerTab = 'layers' | 'graph';

export const layerTab = signal<LayerTab>('layers');

const titles: Readonly<Record<LayerTab, string>> = { layers: 'Layers', graph: 'Graph' };

/** `children`: after the chosen one's title. */
export function LayerTabs(props: { readonly children?: ComponentChildren }) {
  const move = (event: KeyboardEvent) => {
    if (event.key !== 'ArrowLeft' && event.key !== 'ArrowRight') return;
    event.preventDefault();
    layerTab.value = layerTab.value === 'layers' ? 'graph' : 'layers';
    setTimeout(() => document.getElementById(`tab-${layerTab.value}`)?.focus(), 0);
  };
  return (
    <div class="tabs" role="tablist" aria-label="Layers">
      {(Object.keys(titles) as LayerTab[]).map((tab) => (
        <button
          key={tab}
          type="button"
          role="tab"
          id={`tab-${tab}`}
          class={layerTab.value === tab ? 'tab chosen' : 'tab'}
          aria-selected={layerTab.value === tab}
          tabIndex={layerTab.value === tab ? 0 : -1}
          onKeyDown={move}
          onClick={() => (layerTab.value = tab)}
        >
          {titles[tab]} {layerTab.value === tab && props.children}
        </button>
      ))}
    </div>
  );
}
