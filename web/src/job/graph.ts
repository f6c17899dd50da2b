// SPDX-License-Identifier: Apache-2.0
//
// The open model's graph, with what the platform makes of each node, and what the runtime runs of the result.

import { effect, signal } from '@preact/signals';
import type { GraphView, QuantizedResult, RuntimeNode } from 'tersor';

import { isAbort, problemOf, type Problem } from './problem';
import * as state from './state';

export const graph = signal<GraphView | null>(null);
export const graphProblem = signal<Problem | null>(null);
/** Of the result that is shown; empty before there is one. */
export const runtimeNodes = signal<readonly RuntimeNode[]>([]);

let asked = 0;

async function findGraph(): Promise<void> {
  const mine = ++asked;
  const open = state.model.value;
  const settings = state.settings.value;
  if (!open) {
    graph.value = null;
    return;
  }
  try {
    const found = await open.handle.graph(settings);
    if (mine !== asked) return;
    graph.value = found;
    graphProblem.value = null;
  } catch (error) {
    if (mine !== asked || isAbort(error)) return;
    graph.value = null;
    graphProblem.value = problemOf(error);
  }
}

let of: QuantizedResult | null = null;

async function findRuntimeNodes(made: QuantizedResult | null): Promise<void> {
  of = made;
  if (!made) {
    runtimeNodes.value = [];
    return;
  }
  try {
    const found = await made.runtimeNodes();
    if (of === made) runtimeNodes.value = found;
  } catch {
    // the result was closed meanwhile; without an answer nothing is said of the runtime
    if (of === made) runtimeNodes.value = [];
  }
}

/** From the first use on both follow model, settings and result. */
export const followGraph: () => void = (() => {
  let follows = false;
  return () => {
    if (follows) return;
    follows = true;
    effect(() => void findGraph());
    effect(() => void findRuntimeNodes(state.result.value?.quantized ?? null));
  };
})();
