// SPDX-License-Identifier: Apache-2.0
//
// In which order a model has the classes, found from its answers: folders that sort otherwise than the outputs give every
// sample a wrong label.

/** A label and what the model answered; an answer below 0 is none. */
export interface LabelledAnswer {
  readonly label: number;
  readonly answer: number;
}

export interface LabelOrder {
  /** The output of each label that is there. */
  readonly outputs: ReadonlyMap<number, number>;
  /** Right answers with these labels. */
  readonly correct: number;
  /** Right answers where each half of the samples is counted in the order that the other half gives. */
  readonly heldCorrect: number;
  /** Right answers with the labels as they are. */
  readonly before: number;
  readonly count: number;
}

const fewest = 16;
const fewestEach = 4;

/** Wilson's score interval (1927) of a share of which `correct` of `count` were seen, at 95 %. */
export function wilson(correct: number, count: number): { readonly lower: number; readonly upper: number } {
  if (count === 0) return { lower: 0, upper: 1 };
  const z = 1.959963984540054;
  const share = correct / count;
  const middle = share + (z * z) / (2 * count);
  const half = z * Math.sqrt((share * (1 - share)) / count + (z * z) / (4 * count * count));
  const whole = 1 + (z * z) / count;
  return { lower: (middle - half) / whole, upper: (middle + half) / whole };
}

/**
 * The column of each row, all of them different, whose gains have the largest sum; there are at least as many columns as rows.
 * Exact, by shortest augmenting paths: H. W. Kuhn, The Hungarian method for the assignment problem, 1955.
 */
export function bestAssignment(gains: readonly (readonly number[])[]): number[] {
  const rows = gains.length;
  const columns = gains[0]?.length ?? 0;
  // number 0 of each is none, so that lists are one longer than there are rows or columns
  const rowPrice = new Float64Array(rows + 1);
  const columnPrice = new Float64Array(columns + 1);
  const rowOf = new Int32Array(columns + 1);
  const way = new Int32Array(columns + 1);
  const at = (list: Float64Array | Int32Array, k: number) => list[k] ?? 0;
  for (let row = 1; row <= rows; ++row) {
    const least = new Float64Array(columns + 1).fill(Infinity);
    const isDone = new Set<number>();
    rowOf[0] = row;
    let end = 0;
    while (at(rowOf, end) !== 0) {
      isDone.add(end);
      const from = at(rowOf, end);
      let [step, next] = [Infinity, 0];
      for (let column = 1; column <= columns; ++column) {
        if (isDone.has(column)) continue;
        const cost = -(gains[from - 1]?.[column - 1] ?? 0) - at(rowPrice, from) - at(columnPrice, column);
        if (cost < at(least, column)) [least[column], way[column]] = [cost, end];
        if (at(least, column) < step) [step, next] = [at(least, column), column];
      }
      for (let column = 0; column <= columns; ++column) {
        if (isDone.has(column)) {
          rowPrice[at(rowOf, column)] = at(rowPrice, at(rowOf, column)) + step;
          columnPrice[column] = at(columnPrice, column) - step;
        } else least[column] = at(least, column) - step;
      }
      end = next;
    }
    for (; end !== 0; end = at(way, end)) rowOf[end] = at(rowOf, at(way, end));
  }
  const result = Array.from({ length: rows }, () => 0);
  rowOf.forEach((row, column) => {
    if (column > 0 && row > 0) result[row - 1] = column - 1;
  });
  return result;
}

/** How often each label got each answer. */
function countsOf(answers: readonly LabelledAnswer[]): Map<number, Map<number, number>> {
  const counts = new Map<number, Map<number, number>>();
  for (const { label, answer } of answers) {
    const row = counts.get(label) ?? new Map<number, number>();
    counts.set(label, row);
    if (answer >= 0) row.set(answer, (row.get(answer) ?? 0) + 1);
  }
  return counts;
}

/** The output of each label that is there; of equally good orders one that keeps more labels as they are. */
function orderOf(answers: readonly LabelledAnswer[]): Map<number, number> {
  const counts = countsOf(answers);
  const labels = [...counts.keys()];
  const outputs = [...new Set([...labels, ...[...counts.values()].flatMap((row) => [...row.keys()])])];
  const gains = labels.map((label) =>
    outputs.map((output) => (counts.get(label)?.get(output) ?? 0) * (labels.length + 1) + (label === output ? 1 : 0)),
  );
  const columns = bestAssignment(gains);
  return new Map(labels.map((label, row) => [label, outputs[columns[row] ?? 0] ?? label]));
}

function countRight(answers: readonly LabelledAnswer[], outputs: ReadonlyMap<number, number>): number {
  return answers.filter(({ label, answer }) => answer >= 0 && answer === (outputs.get(label) ?? label)).length;
}

/** Every second sample of each label, from the first or from the second on. */
function halves(answers: readonly LabelledAnswer[]): readonly [LabelledAnswer[], LabelledAnswer[]] {
  const seen = new Map<number, number>();
  const parts: [LabelledAnswer[], LabelledAnswer[]] = [[], []];
  for (const one of answers) {
    const before = seen.get(one.label) ?? 0;
    seen.set(one.label, before + 1);
    (before % 2 === 0 ? parts[0] : parts[1]).push(one);
  }
  return parts;
}

/**
 * The order of the labels with the most right answers, where it is significantly better than the one that stands: the 95 %
 * interval of its `heldCorrect` lies above that of the right answers as they are. Null with fewer than 4 samples for each label,
 * or 16 in all.
 */
export function findLabelOrder(answers: readonly LabelledAnswer[]): LabelOrder | null {
  const counts = countsOf(answers);
  const count = answers.length;
  if (counts.size < 2 || count < Math.max(fewest, fewestEach * counts.size)) return null;
  const before = countRight(answers, new Map());
  const isBetter = (right: number) => wilson(right, count).lower > wilson(before, count).upper;
  // no order has more right answers than where every label has its most frequent one
  const most = [...counts.values()].reduce((sum, row) => sum + Math.max(0, ...row.values()), 0);
  if (!isBetter(most)) return null;
  const [first, second] = halves(answers);
  const heldCorrect = countRight(second, orderOf(first)) + countRight(first, orderOf(second));
  if (!isBetter(heldCorrect)) return null;
  const outputs = orderOf(answers);
  return { outputs, correct: countRight(answers, outputs), heldCorrect, before, count };
}
