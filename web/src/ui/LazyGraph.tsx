// SPDX-License-Identifier: Apache-2.0

import type { GraphViewProps } from '../graph/GraphView';
import { lazy } from './lazy';

const useGraph = lazy('graph', () => import('../graph/GraphView'));

export function LazyGraph(props: GraphViewProps) {
  const { module, waiting } = useGraph();
  if (module) return <module.GraphView {...props} />;
  return (
    <div class="graph-block">
      <div class="tab-bar">{props.head}</div>
      <div class="graph-window waiting">
        <p class="soft-2">{waiting}</p>
      </div>
    </div>
  );
}
