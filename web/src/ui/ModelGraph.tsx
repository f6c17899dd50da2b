// SPDX-License-Identifier: Apache-2.0
//
// The graph before anything was quantized, in the model's details.

import { signal } from '@preact/signals';

import { LazyGraph } from './LazyGraph';
import { LinkButton } from './LinkButton';

const shown = signal(false);

export const modelGraphSearchId = 'model-graph-search';

export function ModelGraph() {
  return (
    <div class="block model-graph">
      <LinkButton aria-expanded={shown.value} onClick={() => (shown.value = !shown.value)}>
        {shown.value ? 'Hide the graph' : 'Show the graph'}
      </LinkButton>
      {shown.value && <LazyGraph searchId={modelGraphSearchId} head={<h3 class="tab">Graph</h3>} />}
    </div>
  );
}
