// SPDX-License-Identifier: Apache-2.0
// A small job for the program: a model and samples of it.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';

import { smallProduct } from '../zoo/protobuf.mjs';

export const program = path.resolve(import.meta.dirname, '../../build/native/bin/tersor');
export const run = (...args) => spawnSync(program, args, { encoding: 'utf8' });
/** What a shell makes of a command in which "$0" is the program and "$1", "$2", ... are the arguments. */
export const shell = (command, ...args) => spawnSync('bash', ['-c', command, program, ...args], { encoding: 'utf8' });

/** A small product and a table of samples beside it. */
export function writeJob(folder, rows = ['a,b,c,d', '1,2,3,4', '-1,0.5,2,0', '0,0,1,1']) {
  const model = path.join(folder, 'model.onnx');
  writeFileSync(model, smallProduct());
  const samples = path.join(folder, 'samples.csv');
  writeFileSync(samples, `${rows.join('\n')}\n`);
  return { model, samples };
}
