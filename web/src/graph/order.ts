// SPDX-License-Identifier: Apache-2.0

/** Places in an order in which every edge goes forward; those of a circle, which no model has, come last. */
export function inOrder(count: number, edges: readonly (readonly [number, number])[]): number[] {
  const missing = new Array<number>(count).fill(0);
  const next: number[][] = Array.from({ length: count }, () => []);
  for (const [from, to] of edges) {
    next[from]?.push(to);
    missing[to] = (missing[to] ?? 0) + 1;
  }
  const order = missing.flatMap((n, k) => (n === 0 ? [k] : []));
  const seen = new Set(order);
  for (let at = 0; at < order.length; ++at) {
    for (const to of next[order[at] ?? 0] ?? []) {
      missing[to] = (missing[to] ?? 0) - 1;
      if (missing[to] !== 0) continue;
      order.push(to);
      seen.add(to);
    }
  }
  for (let k = 0; k < count; ++k) if (!seen.has(k)) order.push(k);
  return order;
}
