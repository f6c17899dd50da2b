// SPDX-License-Identifier: Apache-2.0

import type { GraphView, QuantizedResult, RuntimeNode } from 'tersor';
import { beforeEach, expect, it, vi } from 'vitest';

import { followGraph, graph, graphProblem, runtimeNodes } from '../src/job/graph';
import * as state from '../src/job/state';
import { openPets } from './helpers';

beforeEach(openPets);

/** Questions that are answered when the test says. */
function later<T>() {
  const asked: { readonly resolve: (answer: T) => void; readonly reject: (error: unknown) => void }[] = [];
  const ask = () => new Promise<T>((resolve, reject) => asked.push({ resolve, reject }));
  return { asked, ask };
}
const view = (machine: string) => ({ machine }) as GraphView;
const passed = () => new Promise((resolve) => setTimeout(resolve, 0));

it('shows the newest answer for model and settings, and why there is none', async () => {
  const handle = state.model.value?.handle;
  if (!handle) throw new Error('no model');
  const { asked, ask } = later<GraphView>();
  vi.spyOn(handle, 'graph').mockImplementation(ask);
  followGraph();
  followGraph();
  expect(asked).toHaveLength(1);
  asked[0]?.resolve(view('first'));
  await passed();
  expect(graph.value?.machine).toBe('first');
  for (const bits of [4, 3, 2]) state.fields.value = { weights_n_bits: bits };
  expect(asked).toHaveLength(4);
  asked[3]?.resolve(view('newest'));
  await passed();
  asked[1]?.resolve(view('late'));
  asked[2]?.reject(new Error('late'));
  await passed();
  expect([graph.value?.machine, graphProblem.value]).toEqual(['newest', null]);
  state.fields.value = { weights_n_bits: 5 };
  asked[4]?.reject(new DOMException('', 'AbortError'));
  await passed();
  expect([graph.value?.machine, graphProblem.value]).toEqual(['newest', null]);
  state.fields.value = { weights_n_bits: 6 };
  asked[5]?.reject(new Error('refused'));
  await passed();
  expect([graph.value, graphProblem.value?.message]).toEqual([null, 'refused']);
  state.fields.value = { weights_n_bits: 7 };
  asked[6]?.resolve(view('again'));
  await passed();
  expect([graph.value?.machine, graphProblem.value]).toEqual(['again', null]);
  state.model.value = null;
  await passed();
  expect(graph.value).toBeNull();
});

it('shows what the runtime runs of the result that is shown', async () => {
  followGraph();
  const { asked, ask } = later<readonly RuntimeNode[]>();
  const made = () => ({ quantized: { runtimeNodes: ask } as unknown as QuantizedResult }) as state.Result;
  const nodes = (op: string) => [{ op, outputs: [], milliseconds: 1 }];
  state.result.value = made();
  asked[0]?.resolve(nodes('first'));
  await passed();
  expect(runtimeNodes.value).toEqual(nodes('first'));
  state.result.value = made();
  state.result.value = made();
  asked[2]?.resolve(nodes('third'));
  await passed();
  asked[1]?.resolve(nodes('late'));
  await passed();
  expect(runtimeNodes.value).toEqual(nodes('third'));
  state.result.value = made();
  state.result.value = made();
  asked[4]?.resolve(nodes('fifth'));
  await passed();
  asked[3]?.reject(new Error('closed'));
  await passed();
  expect(runtimeNodes.value).toEqual(nodes('fifth'));
  state.result.value = made();
  asked[5]?.reject(new Error('closed'));
  await passed();
  expect(runtimeNodes.value).toEqual([]);
  state.result.value = null;
  expect(runtimeNodes.value).toEqual([]);
});
