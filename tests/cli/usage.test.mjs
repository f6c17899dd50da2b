// SPDX-License-Identifier: Apache-2.0
// What the command line says of a slip.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'vitest';

import { modelProto } from '../zoo/protobuf.mjs';
import { withFolder } from '../zoo/runtime.mjs';
import { run, writeJob } from './job.mjs';

test('an empty value is wrong usage', () =>
  withFolder(async (folder) => {
    const { model, samples } = writeJob(folder);
    const out = path.join(folder, 'out.onnx');
    const quantize = (...args) => run('quantize', model, '--data', samples, '-o', out, ...args);
    for (const option of ['--config', '--platform', '--recipe', '--report', '--save-recipe', '--preset', '--stats']) {
      for (const args of [[option, ''], [`${option}=`]]) {
        const { status, stderr } = quantize(...args);
        assert.equal(status, 2, args[0]);
        assert(stderr.startsWith(`${option}: `), stderr);
      }
    }
    assert.match(run('evaluate', model, '--data', samples, '--labels', '').stderr, /--labels: needs a value/);
    assert.match(run('platforms', '').stderr, /NAME: needs a value/);
    assert.match(run('config', '--explain', '').stderr, /--explain: needs a value/);
    assert(!existsSync(out));
  }));

test('an option without a value, given twice or beside one that it excludes is told in a sentence', () => {
  for (const [args, words] of [
    [['--config'], '--config: needs a value.'],
    [['--limit', '3', '--limit', '4'], '--limit: is given more than once; give it once.'],
    [['--json', '--quiet'], '--json: does not go together with --quiet; give one of them.'],
    [['--accuracy', '-1'], '--accuracy: Found "-1" where a number of 0 or more is expected.'],
    [['--limit', '-1'], '--limit: Found "-1" where a whole number of 0 or more is expected.'],
  ]) {
    const { status, stderr, stdout } = run('quantize', 'm.onnx', '--data', 'x', '-o', 'y', ...args);
    assert.equal(status, 2);
    assert((stderr + stdout).includes(words.replaceAll('"', args[0] === '--json' ? '\\"' : '"')), stderr + stdout);
  }
  const { stderr } = run('evaluate', 'm.onnx', '--data', 'x', '--metric', 'best');
  assert.match(stderr, /^--metric: Found "best" where one of these is expected: top1, top5/);
});

test('what is not there is named, with what is near', () =>
  withFolder((folder) => {
    const { model, samples } = writeJob(folder);
    const quantize = (...args) => run('quantize', model, '--data', samples, '-o', path.join(folder, 'o'), ...args);
    for (const [{ status, stderr }, words, wanted] of [
      [quantize('--treads', '3'), 'There is no option "--treads". Did you mean "--threads"?', 2],
      [quantize('--treads=3', 'x', '--y'), 'There is no option "--treads". Did you mean "--threads"?', 2],
      [quantize('--xyzzy', 'x'), 'There is no option "--xyzzy".\n', 2],
      [quantize('one', 'two'), 'There is no place for the argument "one".', 2],
      [run('quantise', model), 'There is no subcommand "quantise". Did you mean "quantize"?', 2],
      [run('config', '--shema'), 'There is no option "--shema". Did you mean "--schema"?', 2],
      [quantize('--platform', 'ort-cpuu'), 'Did you mean "ort-cpu"? Use one of', 1],
      [quantize('--platform', 'imx50@v1'), 'Did you mean "imx500"? Use one of', 1],
      [quantize('--preprocessing', 'imagnet'), 'Did you mean "imagenet"? Give a JSON file', 1],
    ]) {
      assert(stderr.includes(words), stderr);
      assert.equal(status, wanted);
    }
  }));

test('an option without effect is said to have none', () =>
  withFolder((folder) => {
    const { model, samples } = writeJob(folder);
    const out = path.join(folder, 'out.onnx');
    const quantize = (...args) => run('quantize', model, '--data', samples, '-o', out, ...args);
    assert.match(quantize('--preprocessing', 'unit').stderr, /^note: --preprocessing: it has no effect on these/);
    assert.equal(quantize('--preprocessing', 'unit', '--json').stderr, '');
    const evaluate = ['evaluate', model, '--data', samples, '--metric', 'answers', '--labels', samples];
    assert.match(run(...evaluate).stderr, /^note: --labels: they are not used/);
    assert.match(run('quantize', '--help').stdout, /spread evenly; default 0: all/);
    for (const option of [
      ['--limit', '3'],
      ['--preprocessing', 'unit'],
    ]) {
      const { status, stderr } = run('quantize', model, '--stats', 's.tstats', '-o', out, ...option);
      assert.equal(status, 2);
      assert(stderr.includes(`${option[0]}: needs --data beside it.`), stderr);
    }
  }));

test('the platform of the command line wins over that of a recipe', () =>
  withFolder((folder) => {
    const { model, samples } = writeJob(folder);
    const at = (name) => path.join(folder, name);
    const quantize = (...args) => run('quantize', model, '--data', samples, '-o', at('out.onnx'), ...args);
    assert.equal(quantize('--save-recipe', at('recipe')).status, 0);
    const other = quantize('--recipe', at('recipe'), '--platform', 'ort-cpu-avx2', '--save-recipe', at('again'));
    assert.equal(other.status, 0, other.stderr);
    const recipe = JSON.parse(readFileSync(at('again'), 'utf8'));
    assert.equal(recipe.platform.name, 'ort-cpu-avx2');
    recipe.platform.digest = recipe.platform.digest.replace(/./, (digit) => (digit === '0' ? '1' : '0'));
    writeFileSync(at('again'), JSON.stringify(recipe));
    const content = quantize('--recipe', at('again'), '--platform', 'ort-cpu-avx2');
    assert.match(content.stderr, /The platform ort-cpu-avx2@v1 has other content than when the recipe was made\./);
  }));

test('what is remarkable about the file is said where it is quantized', () =>
  withFolder((folder) => {
    const { samples } = writeJob(folder);
    const model = path.join(folder, 'newer.onnx');
    const w = { dims: [4, 2], data: new Float32Array(8).fill(0.5) };
    const nodes = [{ op: 'MatMul', inputs: ['x', 'w'], outputs: ['y'] }];
    const graph = { nodes, constants: { w }, inputs: { x: [1, [1, 4]] }, outputs: { y: [1, [1, 2]] } };
    writeFileSync(model, modelProto(30, graph));
    const warning = run('inspect', model)
      .stdout.split('\n')
      .find((line) => line.startsWith('warning: '));
    assert.match(warning, /30/);
    const quantize = (...args) =>
      run('quantize', model, '--data', samples, '-o', path.join(folder, 'out.onnx'), ...args);
    // before the work, as some remarks are a reason to export the model anew
    assert(quantize().stderr.includes(`${warning.slice('warning: '.length)}\n`));
    assert.match(JSON.parse(quantize('--json').stdout).warnings[0].message, /30/);
  }));

test('control characters of names reach no terminal', () =>
  withFolder((folder) => {
    const at = (name) => path.join(folder, name);
    const nodes = [{ op: 'MatMul', inputs: ['x\x1b[31m', 'w'], outputs: ['y\x1b]0;t\x07'] }];
    const w = { dims: [4, 3], data: Float32Array.from({ length: 12 }, (_, k) => Math.sin(k)) };
    const inputs = { 'x\x1b[31m': [1, [1, 4]] };
    writeFileSync(
      at('m.onnx'),
      modelProto(13, { nodes, constants: { w }, inputs, outputs: { 'y\x1b]0;t\x07': [1, [1, 3]] } }),
    );
    writeFileSync(at('x.csv'), '1,2,3,4\n4,3,2,1\n0,1,0,-1\n');
    const data = ['--data', at('x.csv')];
    for (const args of [
      ['inspect', at('m.onnx')],
      ['inspect', at('m.onnx'), '--graph'],
      ['quantize', at('m.onnx'), ...data, '-o', at('q.onnx'), '--verbose'],
      ['compare', at('m.onnx'), at('q.onnx'), ...data],
      ['evaluate', at('q.onnx'), ...data, '--metric', 'answers', '--reference', at('m.onnx')],
    ]) {
      const { status, stdout, stderr } = run(...args);
      assert.equal(status, 0, stderr);
      // eslint-disable-next-line no-control-regex
      assert.doesNotMatch(stdout + stderr, /[\x00-\x08\x0b-\x1f\x7f]/, args[0]);
    }
    assert.match(run('inspect', at('m.onnx')).stdout, /x\\x1b\[31m/);
  }));
