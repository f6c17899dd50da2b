// SPDX-License-Identifier: Apache-2.0
// calibrate --shard and merge: the same bytes for any partition, order and grouping.
import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { test } from 'vitest';

import { modelProto, tensorProto } from '../zoo/protobuf.mjs';
import { withFolder } from '../zoo/runtime.mjs';
import { program, run, writeJob } from './job.mjs';

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
    // What is tried on samples held aside takes all of them at once.
    const settings = ['--set', 'weights_bias_correction=false', '--set', 'holdout=false'];
    const common = ['calibrate', model, '--data', data, ...settings];
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

test('the second pass of several processes at once has the bytes of one', () =>
  withFolder(async (folder) => {
    const model = path.join(folder, 'model.onnx');
    const data = path.join(folder, 'data');
    writeModel(model);
    writeSamples(data, 23);
    const file = (name) => path.join(folder, name);
    tersor('calibrate', model, '--data', data, '-o', file('all.tstats'));
    tersor('quantize', model, '--data', data, '-o', file('all.onnx'));
    const expected = ['all.tstats', 'all.onnx'].map((name) => readFileSync(file(name)));
    const next = chance(9);
    for (const shards of [1, 4, 16, 50]) {
      const parts = [];
      for (let k = 1; k <= 3; ++k) {
        parts.push(file(`${shards}-${k}.tstats`));
        tersor('calibrate', model, '--data', data, '--shard', `${k}/3`, '-o', parts.at(-1));
      }
      const sweep = (k) => [
        ...['sweep', model, '--stats', ...parts.slice(k % 3), ...parts.slice(0, k % 3), '--data', data],
        ...['--shard', `${k}/${shards}`, '--folder', file(`meet-${shards}`), '-o', file(`swept-${k}.tstats`)],
        ...['--threads', String(1 + next(2))],
      ];
      if (shards === 4) {
        // One alone waits in vain, and goes on where it was.
        const { status, stderr } = run(...sweep(2), '--wait', '1');
        assert.equal(status, 1);
        assert.match(stderr, /Part 1 of 4 has not come within 1 seconds\./);
        assert(!existsSync(file('swept-2.tstats')));
      }
      const numbers = Array.from({ length: shards }, (_, k) => k + 1);
      await Promise.all(numbers.map((k) => promisify(execFile)(program, sweep(k))));
      for (const k of numbers) assert(readFileSync(file(`swept-${k}.tstats`)).equals(expected[0]), `${k} of ${shards}`);
      tersor('quantize', model, '--stats', file(`swept-${shards}.tstats`), '-o', file('swept.onnx'));
      assert(readFileSync(file('swept.onnx')).equals(expected[1]), `${shards} shards`);
    }
  }));

test('parts of different data sets are not put together', () =>
  withFolder((folder) => {
    const { model, samples } = writeJob(folder);
    const file = (name) => path.join(folder, name);
    const calibrate = (data, shard, name) => {
      const { status, stderr } = run('calibrate', model, '--data', data, '--shard', shard, '-o', file(name));
      assert.equal(status, 0, stderr);
    };
    calibrate(samples, '1/2', 'a');
    calibrate(samples, '2/2', 'b');
    writeFileSync(file('larger.csv'), '7,7,7,7\n1,2,3,4\n5,5,5,5\n3,3,3,3\n');
    calibrate(file('larger.csv'), '2/2', 'larger');
    writeFileSync(file('other.csv'), '9,9,9,9\n1,2,3,4\n5,5,5,5\n');
    calibrate(file('other.csv'), '1/2', 'other');
    for (const [parts, words] of [
      [['a', 'larger'], /larger: This is of a data set of 4 samples, ".*a" of one of 3\./],
      [['b', 'a', 'other'], /other: Sample 0 is another one in the files before it, from ".*b" on\./],
    ]) {
      for (const args of [
        ['merge', ...parts.map(file), '-o', file('all')],
        ['quantize', model, '--stats', ...parts.map(file), '-o', file('out.onnx')],
      ]) {
        const { status, stderr } = run(...args);
        assert.equal(status, 1);
        assert.match(stderr, words);
      }
    }
    assert(!existsSync(file('all')) && !existsSync(file('out.onnx')));
  }));

test('samples beside statistics are compared on as those that calibration has seen or not, by what they are', () =>
  withFolder((folder) => {
    const { model, samples } = writeJob(folder);
    const file = (name) => path.join(folder, name);
    assert.equal(run('calibrate', model, '--data', samples, '-o', file('all')).status, 0);
    writeFileSync(file('other.csv'), '9,1,2,3\n0,2,3,4\n5,5,5,5\n');
    writeFileSync(file('some.csv'), '0,0,1,1\n9,1,2,3\n1,2,3,4\n');
    const quantize = (data, ...args) =>
      run('quantize', model, '--stats', file('all'), '--data', data, '-o', file('out.onnx'), ...args);
    for (const [data, words] of [
      [samples, / 3 samples.*seen by calibration too\./],
      [file('other.csv'), / 3 samples.*held aside from calibration\./],
      [file('some.csv'), / 1 sample\b.*held aside from calibration\./],
    ])
      assert.match(quantize(data, '--report', file('report.json')).stdout, words);
    assert.match(quantize(file('other.csv')).stderr, /note: --data: it is not used/);
    assert.equal(run('calibrate', model, '--data', samples, '--shard', '1/2', '-o', file('part')).status, 0);
    const analytic = ['--set', 'weights_bias_correction_method=ANALYTIC', '--effort', '0'];
    const part = ['quantize', model, '--stats', file('part'), '-o', file('out.onnx'), ...analytic];
    const refused = run(...part);
    assert.equal(refused.status, 1);
    assert.match(
      refused.stderr,
      /^error: --stats: These are 2 of the 3 samples of the calibration: parts .* missing\./,
    );
    assert.match(refused.stderr, /--anyway/);
    const taken = run(...part, '--anyway');
    assert.match(taken.stdout, /; 2 of 3 samples;/, taken.stderr);
    assert.match(taken.stderr, /^warning: --stats: These are 2 of the 3 samples/m);
  }));
