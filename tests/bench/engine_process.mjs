// SPDX-License-Identifier: Apache-2.0
// The native engine (tests/bench/engine.cpp) in processes of its own that wait to be asked for runs.
import { spawn } from 'node:child_process';
import path from 'node:path';
import { createInterface } from 'node:readline';

import { inTurns } from './in_turns.mjs';
import { median } from './rows.mjs';

export const engineProgram = (root) => path.join(root, 'build/native/bin/bench_engine');

/** `mode`: float, observe or simulate. */
export async function startEngine(program, model, mode = 'float') {
  const child = spawn(program, [model, mode], { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const answer = async () => {
    const { value, done } = await lines.next();
    if (done) throw new Error(`the engine ended on ${model}`);
    return Number(value);
  };
  return {
    macs: await answer(),
    run() {
      child.stdin.write('run\n');
      return answer();
    },
    stop: () => child.stdin.end(),
  };
}

/** How many times what one process does in a while two do that share nothing: what this machine leaves of a second core. */
export async function twoAgainstOne(program, model, mode, { runs, rounds }) {
  const engines = [await startEngine(program, model, mode), await startEngine(program, model, mode)];
  const many = async (engine) => {
    for (let k = 0; k < runs; ++k) await engine.run();
  };
  try {
    const runsOf = { one: () => many(engines[0]), two: () => Promise.all(engines.map(many)) };
    const { one, two } = await inTurns(runsOf, rounds, { warm: 1 });
    return median(one.map((alone, k) => (2 * alone) / two[k]));
  } finally {
    for (const engine of engines) engine.stop();
  }
}
