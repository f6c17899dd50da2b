// SPDX-License-Identifier: Apache-2.0
// The program's edge: exit status, errors as text and JSON, and files that are written whole or not at all.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import path from 'node:path';
import { test } from 'vitest';

import { weightedModel } from '../zoo/protobuf.mjs';
import { withFolder } from '../zoo/runtime.mjs';
import { npyBytes } from '../zoo/samples.mjs';
import { program, run, shell } from './job.mjs';

/** y = x + w with 2000 weights. */
function writeModel(folder) {
  const model = path.join(folder, 'model.onnx');
  const w = { dims: [2000], data: Float32Array.from({ length: 2000 }, (_, k) => k / 7) };
  writeFileSync(model, weightedModel('Add', w, [1, 2000], [1, 2000]));
  return model;
}

test('help and version end with 0, wrong usage with 2', () => {
  assert.match(run('--version').stdout, /^tersor \d+\.\d+\.\d+\n$/);
  for (const args of [['--help'], ['inspect', '--help'], ['convert', '--help']]) {
    const { status, stdout } = run(...args);
    assert.equal(status, 0);
    assert.match(stdout, /Usage/);
  }
  for (const args of [
    ['inspect'],
    ['nothing'],
    ['inspect', 'a', '--what'],
    ['convert', 'a', '-o', 'b', '--opset', '5'],
  ]) {
    assert.equal(run(...args).status, 2, args.join(' '));
    const { status, stderr } = run(...args, '--json');
    const error = JSON.parse(stderr);
    assert.deepEqual([status, error.code, error.place], [2, 'invalid_argument', 'command line'], args.join(' '));
    assert.match(error.message + error.hint, /\S.*--help/);
  }
});

test('an error is explained in words, and as its four fields on --json', () =>
  withFolder(async (folder) => {
    const page = path.join(folder, 'page.onnx');
    writeFileSync(page, '<!DOCTYPE html><html><body>Not found</body></html>');
    const words = run('inspect', page);
    assert.equal(words.status, 1);
    assert.match(words.stderr, /error: .*page\.onnx: This is not an ONNX model; it looks like a web page \(HTML\)\./);
    const json = run('inspect', page, '--json');
    assert.equal(json.status, 1);
    const error = JSON.parse(json.stderr);
    assert.deepEqual(Object.keys(error), ['code', 'message', 'place', 'hint']);
    assert.equal(error.code, 'invalid_model');
    assert.equal(JSON.parse(run('inspect', path.join(folder, 'none'), '--json').stderr).code, 'io');
    assert.match(run('inspect', folder).stderr, /folder/);
  }));

test('what cannot be written is said, and nothing is left behind', () =>
  withFolder(async (folder) => {
    const model = writeModel(folder);
    const full = run('convert', model, '-o', '/dev/full');
    assert.equal(full.status, 1);
    assert.match(full.stderr, /No space left.*\n.*disk is full/);
    assert.match(run('convert', model, '-o', path.join(folder, 'no/such/out.onnx')).stderr, /cannot be written/);
    assert.match(run('convert', model, '-o', folder).stderr, /folder/);
    // A limit on the size of files, in blocks of 512 bytes, stands in for a disk that fills up.
    const out = path.join(folder, 'out.onnx');
    writeFileSync(out, 'old');
    const limited = spawnSync(
      'sh',
      ['-c', `ulimit -f 8; trap '' XFSZ; exec "$0" "$@"`, program, 'convert', model, '-o', out],
      {
        encoding: 'utf8',
      },
    );
    assert.equal(limited.status, 1);
    assert.match(limited.stderr, /could not be written completely/);
    assert.equal(readFileSync(out, 'utf8'), 'old');
    assert.deepEqual(readdirSync(folder).sort(), ['model.onnx', 'out.onnx']);
  }));

test('a file is replaced through its link, with its permissions', () =>
  withFolder(async (folder) => {
    const model = writeModel(folder);
    mkdirSync(path.join(folder, 'real'));
    const real = path.join(folder, 'real/out.onnx');
    const link = path.join(folder, 'link.onnx');
    writeFileSync(real, 'old');
    chmodSync(real, 0o600);
    symlinkSync(real, link);
    assert.equal(run('convert', model, '-o', link).status, 0);
    assert(lstatSync(link).isSymbolicLink());
    assert.equal(statSync(real).mode & 0o777, 0o600);
    const written = readFileSync(real);
    assert(written.length > 8000);
    // What is no regular file is written directly.
    const piped = spawnSync('sh', ['-c', '"$0" convert "$1" -o /dev/stdout | wc -c', program, model], {
      encoding: 'utf8',
    });
    assert(Number(piped.stdout) > written.length);
  }));

test('weights in a file beside the model are found there, and named when they are missing', () =>
  withFolder(async (folder) => {
    const model = writeModel(folder);
    const out = path.join(folder, 'out.onnx');
    assert.equal(run('convert', model, '-o', out, '--external').status, 0);
    assert.equal(statSync(`${out}.data`).size, 8000);
    assert(statSync(out).size < 1000);
    const info = JSON.parse(run('inspect', out, '--json').stdout);
    assert.equal(info.parameters, 2000);
    assert.equal(info.size_bytes, statSync(out).size + 8000);
    const back = path.join(folder, 'back.onnx');
    assert.equal(run('convert', out, '-o', back).status, 0);
    const again = path.join(folder, 'again.onnx');
    assert.equal(run('convert', model, '-o', again).status, 0);
    assert(readFileSync(back).equals(readFileSync(again)));
    renameSync(`${out}.data`, `${out}.elsewhere`);
    const error = JSON.parse(run('inspect', out, '--json').stderr);
    assert.equal(error.code, 'io');
    assert.match(error.message, /out\.onnx\.data/);
    assert.match(error.hint, /beside the model/);
    writeFileSync(`${out}.data`, 'short');
    assert.match(run('inspect', out).stderr, /which has 5 bytes/);
  }));

test('weights outside of the folder of the model are not read through a link either', () =>
  withFolder(async (folder) => {
    const at = (name) => path.join(folder, name);
    for (const name of ['inside', 'blobs', 'linked']) mkdirSync(at(name));
    const model = at('inside/out.onnx');
    assert.equal(run('convert', writeModel(folder), '-o', model, '--external').status, 0);
    renameSync(`${model}.data`, at('blobs/weights'));
    symlinkSync('../blobs/weights', `${model}.data`);
    const refused = run('inspect', model);
    assert.equal(refused.status, 1);
    assert.match(refused.stderr, /A link leads out of the model's own folder, to ".*blobs\/weights"\./);
    // But where the model is a link to there as well, as in the caches of model hubs.
    renameSync(model, at('blobs/model'));
    symlinkSync('../blobs/model', at('linked/out.onnx'));
    symlinkSync('../blobs/weights', at('linked/out.onnx.data'));
    assert.equal(run('inspect', at('linked/out.onnx')).status, 0);
    // From within the folder, and through a link to a part of it.
    symlinkSync('weights', at('blobs/out.onnx.data'));
    assert.equal(spawnSync(program, ['inspect', 'model'], { cwd: at('blobs') }).status, 0);
    rmSync(at('blobs/out.onnx.data'));
    assert.equal(spawnSync('mkfifo', [at('blobs/out.onnx.data')]).status, 0);
    assert.match(run('inspect', at('blobs/model')).stderr, /This is a pipe or a device; a regular file is needed\./);
  }));

test('pipes are read, and what has no end or no writer is refused', () =>
  withFolder(async (folder) => {
    const { model, samples } = writeJob(folder);
    const at = (name) => path.join(folder, name);
    const plain = at('plain.onnx');
    const whole = '"$0" quantize <(cat "$1") --data "$2" --config <(sleep 0.1; echo \'{"z_threshold": 9}\') -o "$3"';
    const piped = shell(`${whole} --save-recipe "$4"`, plain, samples, at('out.onnx'), at('recipe'));
    assert.equal(piped.status, 0, piped.stderr);
    assert.equal(JSON.parse(readFileSync(at('recipe'), 'utf8')).quantization_config.z_threshold, 9);
    const stdin = shell('cat "$1" | "$0" inspect /dev/stdin --json', plain);
    assert.equal(JSON.parse(stdin.stdout).size_bytes, statSync(plain).size);

    const pipe = at('pipe');
    assert.equal(spawnSync('mkfifo', [pipe]).status, 0);
    const quantize = (...args) => run('quantize', model, '--data', samples, '-o', at('out.onnx'), ...args);
    for (const refused of [run('inspect', pipe), quantize('--config', pipe), run('merge', pipe, '-o', at('s'))])
      assert.match(refused.stderr, /pipe: This is a pipe, and nothing comes through it\./);
    for (const option of ['--config', '--platform', '--recipe', '--stats', '--preprocessing'])
      assert.match(quantize(option, '/dev/urandom').stderr, /\/dev\/urandom: This is a device/, option);
    assert.match(run('evaluate', model, '--data', samples, '--labels', '/dev/urandom').stderr, /This is a device/);
  }));

test('what is no file in a folder of samples is listed, or an error where its name says that it is a sample', () =>
  withFolder(async (folder) => {
    const { model, samples } = writeJob(folder);
    const at = (name) => path.join(samples, name);
    const quantize = () => run('quantize', model, '--data', samples, '-o', path.join(folder, 'out.onnx'));
    symlinkSync('nowhere', at('a link'));
    symlinkSync('loop', at('loop'));
    assert.equal(spawnSync('mkfifo', [at('pipe')]).status, 0);
    const listed = quantize();
    assert.equal(listed.status, 0);
    assert.match(listed.stderr, /skipped: a link \(a link that leads nowhere\)\n/);
    assert.match(listed.stderr, /skipped: loop \(a link that leads nowhere\)\n/);
    assert.match(listed.stderr, /skipped: pipe \(a pipe\)\n/);
    symlinkSync('nowhere', at('x.npy'));
    const refused = quantize();
    assert.equal(refused.status, 1);
    assert.match(refused.stderr, /x\.npy": The file is named \.npy and is a link that leads nowhere\./);
  }));

test('nothing that a job reads is written over', () =>
  withFolder(async (folder) => {
    const model = writeModel(folder);
    const before = readFileSync(model);
    const data = path.join(folder, 'data');
    mkdirSync(data);
    writeFileSync(path.join(data, '0.npy'), 'a sample');
    const quantize = (...args) => run('quantize', model, '--data', data, ...args);
    for (const args of [
      ['-o', model],
      ['-o', path.join(folder, 'data', '..', 'model.onnx')],
      ['-o', path.join(folder, 'out.onnx'), '--report', model],
      ['-o', path.join(data, '0.npy')],
    ]) {
      const refused = quantize(...args);
      assert.equal(refused.status, 2);
      assert.match(refused.stderr, /would be written over, and this job reads it/);
    }
    const tune = run('tune', model, '--data', data, '--checkpoint', model, '-o', path.join(folder, 'out.onnx'));
    assert.match(tune.stderr, /would be written over, and this job reads it/);
    assert.deepEqual(readFileSync(model), before);
    assert.equal(readFileSync(path.join(data, '0.npy'), 'utf8'), 'a sample');
  }));

/** y = x w, two samples of it, and its weights in a file beside it. */
function writeJob(folder) {
  const model = path.join(folder, 'job.onnx');
  const w = { dims: [400, 3], data: Float32Array.from({ length: 1200 }, (_, k) => ((k % 7) - 3) / 10) };
  writeFileSync(path.join(folder, 'plain.onnx'), weightedModel('MatMul', w, [1, 400], [1, 3]));
  assert.equal(run('convert', path.join(folder, 'plain.onnx'), '-o', model, '--external').status, 0);
  const samples = path.join(folder, 'samples');
  mkdirSync(samples);
  for (const k of [0, 1])
    writeFileSync(
      path.join(samples, `${k}.npy`),
      npyBytes(
        Float32Array.from({ length: 400 }, (_, i) => Math.sin(i + k)),
        [1, 400],
      ),
    );
  return { model, samples };
}

test('nothing that has been read is written over, whatever it was', () =>
  withFolder(async (folder) => {
    const { model, samples } = writeJob(folder);
    const weights = `${model}.data`;
    const sample = path.join(samples, '1.npy');
    const config = path.join(folder, 'config.json');
    writeFileSync(config, '{"z_threshold": 9}');
    const part = (k) => path.join(folder, `part${k}`);
    const calibrate = (...args) => run('calibrate', model, '--data', samples, '--config', config, ...args);
    for (const k of [1, 2]) assert.equal(calibrate('-o', part(k), '--shard', `${k}/2`).status, 0);
    const kept = [model, weights, sample, config, part(1)].map((file) => [file, readFileSync(file)]);
    for (const refused of [
      run('quantize', model, '--data', samples, '-o', weights),
      run('quantize', model, '--data', samples, '-o', path.join(folder, 'out.onnx'), '--report', weights),
      run('convert', model, '-o', weights),
      run('convert', model, '-o', model),
      run('convert', model, '-o', model, '--external'),
      run('merge', part(1), part(2), '-o', part(1)),
      ...[model, weights, sample, config].map((file) => calibrate('-o', file)),
    ]) {
      assert.equal(refused.status, 1);
      assert.match(refused.stderr, /This job reads the file that it is to write over\.\n +Give another name\./);
    }
    for (const [file, bytes] of kept) assert.deepEqual(readFileSync(file), bytes, file);
  }));

test('weights go over a file beside the model only together with its model', () =>
  withFolder(async (folder) => {
    const model = writeModel(folder);
    const out = path.join(folder, 'out.onnx');
    writeFileSync(`${out}.data`, 'of another');
    const refused = run('convert', model, '-o', out, '--external');
    assert.equal(refused.status, 1);
    assert.match(refused.stderr, /out\.onnx\.data: The weights would be written over this file/);
    assert.equal(readFileSync(`${out}.data`, 'utf8'), 'of another');
    rmSync(`${out}.data`);
    for (let round = 0; round < 2; ++round)
      assert.match(run('convert', model, '-o', out, '--external').stdout, /; weights in .*out\.onnx\.data\n/);
  }));

test('outputs are not written among the samples', () =>
  withFolder(async (folder) => {
    const { model, samples } = writeJob(folder);
    const before = readdirSync(samples, { recursive: true });
    for (const output of [samples, `${samples}/`, path.join(samples, 'new/outputs')]) {
      const refused = run('run', model, '--data', samples, '--output', output);
      assert.equal(refused.status, 1);
      assert.match(refused.stderr, /The outputs would lie among the samples/);
    }
    assert.deepEqual(readdirSync(samples, { recursive: true }), before);
    for (const output of [`${samples}-out`, folder])
      assert.equal(run('run', model, '--data', samples, '--output', output).status, 0);
  }));

test('a job writes all its files or none', () =>
  withFolder(async (folder) => {
    const { model, samples } = writeJob(folder);
    const before = readdirSync(folder);
    const quantize = (...args) =>
      run('quantize', model, '--data', samples, '-o', path.join(folder, 'out.onnx'), ...args);
    const twice = quantize('--report', `${folder}/./out.onnx`);
    assert.equal(twice.status, 2);
    assert.match(twice.stderr, /is to be written twice/);
    for (const args of [
      ['--report', '/dev/full'],
      ['--save-recipe', '/dev/full', '--report', path.join(folder, 'r.json')],
    ])
      assert.match(quantize(...args).stderr, /No space left on device/);
    assert.deepEqual(readdirSync(folder), before);
    const printed = quantize('--json', '--report', path.join(folder, 'r.json'));
    assert.equal(printed.status, 0);
    assert.equal(typeof JSON.parse(printed.stdout).verdict.reason, 'string');
  }));

test('a name that cannot be is refused in the same words everywhere, before any work', () =>
  withFolder(async (folder) => {
    const { model, samples } = writeJob(folder);
    const loop = path.join(folder, 'loop');
    symlinkSync(loop, loop);
    const part = path.join(folder, 'part');
    assert.equal(run('calibrate', model, '--data', samples, '-o', part).status, 0);
    for (const [name, reason] of [
      [path.join(folder, 'n'.repeat(300)), 'File name too long'],
      [path.join(folder, 'n'.repeat(250)), 'File name too long'],
      [loop, 'Too many levels of symbolic links'],
    ])
      for (const args of [
        ['quantize', model, '--data', samples],
        ['quantize', model, '--data', samples, '-o', path.join(folder, 'out.onnx'), '--report'],
        ['calibrate', model, '--data', samples],
        ['merge', part],
        ['convert', model],
      ]) {
        const refused = run(...args, ...(args.at(-1) === '--report' ? [] : ['-o']), name);
        assert.equal(refused.status, 1, args.join(' '));
        assert(refused.stderr.startsWith(`error: ${name}: The file cannot be written: ${reason}.`), refused.stderr);
      }
    assert(!existsSync(path.join(folder, 'out.onnx')));
    assert.match(run('platforms', `a.${'n'.repeat(300)}`).stderr, /^error: /);
  }));

test('a result that cannot be printed is an error', () =>
  withFolder(async (folder) => {
    const model = writeModel(folder);
    for (const args of [['--version'], ['--help'], ['inspect', model], ['inspect', model, '--json']]) {
      const full = spawnSync('sh', ['-c', 'exec "$0" "$@" > /dev/full', program, ...args], { encoding: 'utf8' });
      assert.equal(full.status, 1, args.join(' '));
      assert.match(full.stderr, /What is printed could not be written completely/);
    }
  }));

/** The program, started, and what comes of it. */
function started(...args) {
  const child = spawn(program, args);
  let stderr = '';
  child.stderr.on('data', (data) => (stderr += data));
  return {
    child,
    ended: new Promise((resolve) => child.on('close', (status, signal) => resolve({ status, signal, stderr }))),
  };
}

/** Where a link leads; nowhere once it is gone. */
function readlink(link) {
  try {
    return readlinkSync(link);
  } catch {
    return '';
  }
}

const moment = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

test('a model that is changed while it is read is an error, and no file of other bytes', () =>
  withFolder(async (folder) => {
    const file = (name) => path.join(folder, name);
    const model = file('model.onnx');
    const changes = {
      shortened: () => truncateSync(model, 10),
      emptied: () => truncateSync(model, 0),
      rewritten: () => writeFileSync(model, readFileSync(model).fill(7, 1000)),
      lengthened: () => writeFileSync(model, Buffer.alloc(9), { flag: 'a' }),
      nothing: () => undefined,
    };
    writeFileSync(file('x.npy'), npyBytes(new Float32Array(4000).fill(1), [1, 4000]));
    const w = { dims: [4000, 2], data: Float32Array.from({ length: 8000 }, (_, k) => Math.sin(k)) };
    for (const [what, change] of Object.entries(changes)) {
      writeFileSync(model, weightedModel('MatMul', w, [1, 4000], [1, 2]));
      spawnSync('mkfifo', [file('config')]);
      const args = ['--data', file('x.npy'), '--config', file('config'), '-o', file('out.onnx'), '--threads', '2'];
      const { child, ended } = started('quantize', model, ...args);
      // the program reads its model, and then waits for somebody who writes its configuration
      const reads = () =>
        readdirSync(`/proc/${child.pid}/fd`).some((fd) => readlink(`/proc/${child.pid}/fd/${fd}`) === file('config'));
      for (let k = 0; k < 1000 && !reads(); ++k) await moment(2);
      change();
      const pipe = openSync(file('config'), constants.O_WRONLY | constants.O_NONBLOCK);
      writeSync(pipe, '{}');
      closeSync(pipe);
      const { status, signal, stderr } = await ended;
      assert.equal(signal, null, what);
      assert.equal(status, what === 'nothing' ? 0 : 1, `${what}: ${stderr}`);
      if (status === 1)
        assert.match(stderr, /model\.onnx: The file has changed while it was read\.\n +Start again/, what);
      assert.equal(existsSync(file('out.onnx')), what === 'nothing', what);
      rmSync(file('config'));
    }
    assert.deepEqual(readdirSync(folder).sort(), ['model.onnx', 'out.onnx', 'x.npy']);
  }));

test('what a killed process left behind is removed, and nothing else', () =>
  withFolder(async (folder) => {
    const model = writeModel(folder);
    const file = (name) => path.join(folder, name);
    const gone = spawnSync('true').pid;
    const left = `other.onnx.tersor-${gone}.tmp`;
    const kept = [
      `mine.onnx.tersor-${process.pid}.tmp`, // of a process that lives
      `locked.onnx.tersor-${gone}.tmp`, // written to from another machine
      `odd.tersor-${gone}x.tmp`,
      `odd.tersor-.tmp`,
      `odd.tersor-${gone}`,
    ];
    for (const name of [left, ...kept]) writeFileSync(file(name), '');
    mkdirSync(file(`folder.tersor-${gone}.tmp`));
    symlinkSync(model, file(`link.tersor-${gone}.tmp`));
    const holder = spawn('flock', [file(kept[1]), 'sleep', '60'], { stdio: 'ignore', detached: true });
    await moment(500);
    assert.equal(run('convert', model, '-o', file('out.onnx')).status, 0);
    process.kill(-holder.pid);
    const expected = ['model.onnx', 'out.onnx', ...kept, `folder.tersor-${gone}.tmp`, `link.tersor-${gone}.tmp`];
    assert.deepEqual(readdirSync(folder).sort(), expected.sort());
  }));
