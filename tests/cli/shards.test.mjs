// SPDX-License-Identifier: Apache-2.0
// calibrate --shard and merge: the same bytes for any partition, order and grouping.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'vitest';

import { modelProto, tensorProto } from '../zoo/protobuf.mjs';
import { withFolder } from '../zoo/runtime.mjs';

const program = path.resolve(import.meta.dirname, '../../build/native/bin/tersor');
const tersor = (...args) => execFileSync(program, args.map(String), { stdio: ['ignore', 'ignore', 'pipe'] });

/** Numbers that are the same in every run. */
function chance(seed) {
  let state = seed;
  return (count) => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    return (state >>> 8) % count;
  };
}

/** y = Relu(x W) */
function writeModel(file) {
  const next = chance(5);
  const w = { dims: [12, 6], data: Float32Array.from({ length: 72 }, () => (next(2001) - 1000) / 700) };
  const graph = {
    nodes: [
      { op: 'MatMul', inputs: ['x', 'w'], outputs: ['h'] },
      { op: 'Relu', inputs: ['h'], outputs: ['y'] },
    ],
    constants: { w },
    inputs: { x: [1, [1, 12]] },
    outputs: { y: [1, [1, 6]] },
  };
  writeFileSync(file, modelProto(13, graph));
}

function writeSamples(folder, count) {
  const next = chance(11);
  for (let k = 0; k < count; ++k) {
    const sample = path.join(folder, `s${String(k).padStart(2, '0')}`);
    mkdirSync(sample, { recursive: true });
    const data = Float32Array.from({ length: 12 }, () => (next(2001) - 1000) * 2 ** (next(9) - 12));
    writeFileSync(path.join(sample, 'input_0.pb'), tensorProto('x', { dims: [1, 12], data }));
  }
}

test('merged shards have the same bytes for any partition, order and grouping', () =>
  withFolder((folder) => {
    const model = path.join(folder, 'model.onnx');
    const data = path.join(folder, 'data');
    writeModel(model);
    writeSamples(data, 23);
    const file = (name) => path.join(folder, `${name}.tstats`);
    const common = ['calibrate', model, '--data', data, '--set', 'weights_bias_correction=false'];
    tersor(...common, '-o', file('all'), '--threads', 1);
    const expected = readFileSync(file('all'));
    const next = chance(3);
    for (const shards of [1, 2, 5, 23, 30]) {
      let parts = [];
      for (let k = 1; k <= shards; ++k) {
        parts.push(file(`${shards}-${k}`));
        tersor(...common, '--shard', `${k}/${shards}`, '-o', parts.at(-1), '--threads', 1 + next(2));
      }
      for (let round = 0; parts.length > 1; ++round) {
        // Some of them, in some order, become one.
        for (let k = parts.length - 1; k > 0; --k) {
          const other = next(k + 1);
          [parts[k], parts[other]] = [parts[other], parts[k]];
        }
        const taken = parts.splice(0, Math.min(parts.length, 2 + next(4)));
        const made = file(`${shards}-merged-${round}`);
        tersor('merge', ...taken, '-o', made);
        parts = [...parts, made];
      }
      assert(readFileSync(parts[0]).equals(expected), `${shards} shards`);
    }
  }));
