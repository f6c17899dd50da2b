// SPDX-License-Identifier: Apache-2.0
// A hyphen in place of a path: standard input and standard output.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { openSync, readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { test } from 'vitest';

import { withFolder } from '../zoo/runtime.mjs';
import { program, run, shell, writeJob } from './job.mjs';

test('a model comes in and the result goes out, alone, by pipe or by redirection', () =>
  withFolder((folder) => {
    const { model, samples } = writeJob(folder);
    const at = (name) => path.join(folder, name);
    const told = run('quantize', model, '--data', samples, '-o', at('expected.onnx'));
    assert.equal(told.status, 0);
    const expected = readFileSync(at('expected.onnx'));
    const piped = shell('cat "$1" | "$0" quantize - --data "$2" -o - | cat > "$3"', model, samples, at('piped.onnx'));
    assert(readFileSync(at('piped.onnx')).equals(expected));
    // what is printed goes to standard error, in the same words
    const lines = (text) =>
      text
        .replaceAll(at('expected.onnx'), '-')
        .replace(/cost: .*/, '')
        .trim();
    assert.equal(lines(piped.stderr), lines(told.stderr + told.stdout));
    const redirected = spawnSync(program, ['quantize', '-', '--data', samples, '-o', '-', '--quiet'], {
      stdio: [openSync(model, 'r'), openSync(at('redirected.onnx'), 'w'), 'pipe'],
      encoding: 'utf8',
    });
    assert.deepEqual([redirected.status, redirected.stderr], [0, '']);
    assert(readFileSync(at('redirected.onnx')).equals(expected));
    assert(!readdirSync(folder).some((name) => name.startsWith('-') || name.endsWith('.tmp')));
  }));

test('statistics and converted models go out, too', () =>
  withFolder((folder) => {
    const { model, samples } = writeJob(folder);
    const at = (name) => path.join(folder, name);
    const both = (...args) => {
      assert.equal(run(...args, '-o', at('file')).status, 0);
      const { status } = shell('"$0" "${@:2}" -o - > "$1" 2> /dev/null', at('stream'), ...args);
      assert.equal(status, 0);
      assert(readFileSync(at('stream')).equals(readFileSync(at('file'))), args[0]);
    };
    both('calibrate', model, '--data', samples);
    both('convert', model, '--opset', '17');
    const external = run('convert', model, '--external', '-o', '-');
    assert.equal(external.status, 1);
    assert.match(external.stderr, /beside the model need a model that is a file/);
  }));

test('an input without end or two files on one output are refused', () =>
  withFolder((folder) => {
    const { model, samples } = writeJob(folder);
    const twice = run('quantize', model, '--data', samples, '-o', '-', '--report', '-');
    assert.equal(twice.status, 2);
    assert.match(twice.stderr, /"-" is to be written twice/);
    const nothing = shell('"$0" inspect - < /dev/null');
    assert.equal(nothing.status, 1);
    assert.match(nothing.stderr, /^error: -: /);
  }));
