// SPDX-License-Identifier: Apache-2.0
// Help, the manual page and completions, which come from one table of options.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'vitest';

import { withFolder } from '../zoo/runtime.mjs';
import { run } from './job.mjs';

const commands = [
  'inspect',
  'calibrate',
  'merge',
  'sweep',
  'quantize',
  'tune',
  'run',
  'evaluate',
  'compare',
  'check',
  'tradeoff',
  'variants',
  'platforms',
  'config',
  'convert',
  'help',
];
const longOptions = (command) =>
  [...run(command, '--help').stdout.matchAll(/^ +(?:-\w,)?--([a-z-]+)/gm)].map(([, name]) => name);

test('without a word the program says what it does, with its exit statuses', () => {
  const alone = run();
  assert.equal(alone.status, 0);
  assert.equal(alone.stdout, run('--help').stdout);
  assert.equal(alone.stdout, run('help').stdout);
  assert.match(alone.stdout, /Exit status:\n {2}0 {2}done\n {2}1 .*\n {2}2 .*usage/);
});

test('help for a command is what its --help prints, and a wrong name is wrong usage', () => {
  for (const command of commands) {
    const { status, stdout } = run('help', command);
    assert.equal(status, 0);
    assert.equal(stdout, run(command, '--help').stdout);
    assert.match(stdout, new RegExp(`Usage: tersor ${command} `));
  }
  const wrong = run('help', 'quantise');
  assert.equal(wrong.status, 2);
  assert.match(wrong.stderr, /There is no subcommand "quantise"\. Did you mean "quantize"\?/);
  assert.equal(run('help', '--completion', 'tcsh').status, 2);
});

/** The options of a command: the name of each, the kind of its value and what is said of it. */
const optionsOf = (command) => {
  const [, text] = run(command, '--help').stdout.split(/^Options:\n/m);
  const joined = text.replace(/\n {20,}(?=\S)/g, ' ');
  return [...joined.matchAll(/^ +(?:-\w,)?--([a-z-]+(?:,--[a-z-]+)*)(.*)$/gm)].flatMap(([, names, rest]) =>
    names.split(',--').map((name) => ({ name, rest })),
  );
};

test.each(commands)('%s: every number has its default, and two examples show options that are there', (command) => {
  for (const { name, rest } of optionsOf(command)) {
    if (/^ (INT|FLOAT)/.test(rest) && !rest.includes('REQUIRED')) assert.match(rest, /default/, `--${name}${rest}`);
  }
  const [, shown] = run(command, '--help').stdout.split('Examples:\n');
  const examples = shown.trim().split('\n');
  assert(examples.length >= 2, shown);
  for (const example of examples) {
    const [program, subcommand, ...rest] = example.trim().split(' > ')[0].split(' ');
    assert.equal(program, 'tersor');
    const known = optionsOf(subcommand).map(({ name }) => name);
    rest.forEach((word, k) => {
      if (word.startsWith('--')) assert(known.includes(word.slice(2)), `${example}: ${word}`);
      if (word === '--config') assert.match(rest[k + 1], /\.json$/, example);
      if (word === '--set') assert.match(rest[k + 1], /^\w+=/, example);
    });
  }
});

describe.each([
  ['manual page', ['--manual'], (option) => `\\-\\-${option.replaceAll('-', '\\-')}`],
  ['bash', ['--completion', 'bash'], (option) => `--${option}`],
  ['zsh', ['--completion', 'zsh'], (option) => `--${option}[`],
  ['fish', ['--completion', 'fish'], (option) => `-l ${option}`],
])('%s', (_, words, form) => {
  test('every option of every command', () => {
    const { status, stdout } = run('help', ...words);
    assert.equal(status, 0);
    for (const command of commands) {
      assert(stdout.includes(command), command);
      const options = longOptions(command);
      assert(options.length > 0);
      for (const option of options) assert(stdout.includes(form(option)), `${command} --${option}`);
    }
  });
});

const fields = JSON.parse(run('config', '--defaults').stdout);
const platforms = JSON.parse(run('platforms', '--json').stdout).map(({ name }) => name);
test.each([
  ['bash', /--set\) words='(.*)'/, /--explain\) words='(.*)'/, /1:\*:platforms\) words='(.*)'/],
  ['zsh', /--set\[.*compadd -S "" -- (.*)\}'/, /--explain\[.*:\((.*)\)'/, /':name:\((any .*)\)'/],
  ['fish', /from quantize' -l set -x -a '(.*?)'/, / -l explain -x -a '(.*?)'/, /from platforms' -f -a '(.*)'/],
])('%s knows every field and every platform', (shell, set, explain, platform) => {
  const { stdout } = run('help', '--completion', shell);
  const words = (pattern) => pattern.exec(stdout)[1].split(' ');
  assert.deepEqual(words(explain), Object.keys(fields));
  assert.deepEqual(
    words(set),
    Object.keys(fields).map((name) => `${name}=`),
  );
  assert.deepEqual(words(platform), [...new Set(platforms)]);
});

test('bash completes commands, options and words, and leaves files to itself', () =>
  withFolder((folder) => {
    const script = path.join(folder, 'completion');
    writeFileSync(script, run('help', '--completion', 'bash').stdout);
    const completed = (...line) => {
      const set = `source "$0"; COMP_WORDS=(tersor "$@"); COMP_CWORD=$#; _tersor; printf '%s\\n' "\${COMPREPLY[@]}"`;
      const { stdout, stderr } = spawnSync('bash', ['-c', set, script, ...line], { encoding: 'utf8' });
      assert.equal(stderr, '');
      return stdout.trim().split('\n');
    };
    assert.deepEqual(completed('quan'), ['quantize']);
    assert.deepEqual(completed('help', 'cal'), ['calibrate']);
    assert.deepEqual(completed('quantize', 'model.onnx', '--save'), ['--save-recipe']);
    assert.deepEqual(completed('quantize', '--prefer', 'acc'), ['accuracy']);
    assert.deepEqual(completed('quantize', '--platform', 'tensor'), ['tensorrt']);
    assert.deepEqual(completed('quantize', 'mod'), ['']);
    assert.deepEqual(completed('platforms', 'tflite-m'), ['tflite-micro-16x8', 'tflite-micro']);
    assert.deepEqual(completed('platforms', '--js'), ['--json']);
    assert.deepEqual(completed('quantize', 'model.onnx', '--set', 'weights_n'), ['weights_n_bits=']);
    assert.deepEqual(completed('config', '--explain', 'weights_n'), ['weights_n_bits']);
  }));
