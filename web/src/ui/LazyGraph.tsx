// SPDX-License-Identifier: Apache-2.0
//
// The graph's code is fetched when somebody looks at it for the first time.

import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';

import type { GraphViewProps } from '../graph/GraphView';
import { loadPart } from '../job/parts';

type Module = typeof import('../graph/GraphView');

const loaded = signal<Module | null>(null);
const failed = signal(false);

async function load(): Promise<void> {
  failed.value = false;
  loaded.value ??= await loadPart(() => import('../graph/GraphView'));
  failed.value = loaded.value === null;
}

export function LazyGraph(props: GraphViewProps) {
  useEffect(() => void load(), []);
  const module = loaded.value;
  if (module) return <module.GraphView {...props} />;
  return (
    <div class="graph-block">
      <div class="tab-bar">{props.head}</div>
      <div class="graph-window waiting">
        {failed.value ? (
          <p class="soft-2">
            The graph could not be loaded.{' '}
            <button type="button" class="link" onClick={() => void load()}>
              Try again
            </button>
          </p>
        ) : (
          <p class="soft-2">Loading the graph …</p>
        )}
      </div>
    </div>
  );
}
