// SPDX-License-Identifier: Apache-2.0
//
// Variants of the package: the bytes and the rows of the native program, with one worker, and with two of an engine that began
// light.
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { Tersor } from '../../wasm/dist/index.js';
import { demoFiles, emptyFolder, filesUnder, jobs, program } from './jobs.mjs';

const words = ['fp32', 'fp16', 'q8', 'int8', 'uint8', 'q4', 'q4_int8', 'q4f16'];
const count = 12;

let one, light;
beforeAll(async () => {
  one = await Tersor.create({ workers: 1 });
  light = await Tersor.create({ workers: 2, light: true });
}, 60_000);
afterAll(() => {
  one?.close();
  light?.close();
});

/** The program's files and rows, by dtype. */
function natively(job, folder, ...more) {
  const output = emptyFolder(`variants-${job.name}`);
  const file = path.join(emptyFolder(`variants-settings-${job.name}`), 'preprocessing.json');
  writeFileSync(file, JSON.stringify(job.preprocessing));
  const data = folder ? ['--data', folder, '--limit', String(count), ...more] : more;
  if (folder && job.preprocessing) data.push('--preprocessing', file);
  execFileSync(program, ['variants', job.model, ...data, '-o', output], { stdio: 'ignore' });
  const { variants } = JSON.parse(readFileSync(path.join(output, 'variants.json'), 'utf8'));
  return variants.map((row) => ({ ...row, bytes: readFileSync(path.join(output, row.file)) }));
}

async function ofPackage(engine, job, options) {
  const model = await engine.open(readFileSync(job.model));
  const rows = [];
  for await (const { model: bytes, ...row } of model.variants(options))
    rows.push({ ...row, bytes: Buffer.from(bytes) });
  model.close();
  return rows;
}

/** Some of a job's samples. */
function someSamples(job) {
  const [all, some] = [job.data(), emptyFolder(`variants-samples-${job.name}`)];
  const names = filesUnder(all).sort();
  const every = Math.ceil(names.length / 40);
  for (const name of names.filter((_, k) => k % every === 0)) {
    mkdirSync(path.dirname(path.join(some, name)), { recursive: true });
    copyFileSync(path.join(all, name), path.join(some, name));
  }
  return some;
}

function samplesOf(folder) {
  return filesUnder(folder).map((name) => ({ path: name, data: readFileSync(path.join(folder, name)) }));
}

describe('the rows and bytes of the program', () => {
  for (const job of jobs().filter(({ name }) => ['demo', 'mlperf-kws-dscnn'].includes(name))) {
    test.skipIf(job.missing !== '')(`${job.name}${job.missing && ` (skipped: ${job.missing})`}`, async () => {
      expect(existsSync(program), `${program} is not there: run scripts/build native`).toBe(true);
      const folder = someSamples(job);
      const wanted = natively(job, folder);
      expect(wanted.map(({ dtype }) => dtype)).toEqual(words);
      expect(new Set(wanted.map(({ bytes }) => bytes.toString('latin1'))).size).toBe(words.length);
      const samples = samplesOf(folder);
      const options = { samples, calibrationSamples: count };
      if (job.preprocessing) options.preprocessing = job.preprocessing;
      for (const engine of [one, light]) {
        for (const [k, row] of (await ofPackage(engine, job, options)).entries()) {
          expect(row.bytes.equals(wanted[k].bytes), row.dtype).toBe(true);
          expect({ ...row, bytes: null }).toEqual({ ...wanted[k], bytes: null });
        }
      }
    });
  }

  test('without samples nothing is judged, and what needs none is there', async () => {
    const job = jobs().find(({ name }) => name === 'demo');
    const wanted = natively(job, null);
    const rows = await ofPackage(one, job, {});
    expect(
      rows.map(({ dtype, bytes }) => [dtype, bytes.equals(wanted.find((row) => row.dtype === dtype).bytes)]),
    ).toEqual(words.map((dtype) => [dtype, true]));
    for (const { comparison, verdict, held_aside } of rows)
      expect([comparison, verdict, held_aside]).toEqual([null, null, false]);
    expect(rows.find(({ dtype }) => dtype === 'q8').platform).toBe('weight-only-int8');
  });
});

describe('a call', () => {
  const job = () => jobs().find(({ name }) => name === 'demo');

  test('makes what it is asked for, of samples that stream in, and judges on as many as it is told', async () => {
    const files = demoFiles().filter(({ path: name }) => name.endsWith('.png'));
    const model = await one.open(readFileSync(job().model));
    const pixels = [];
    for await (const { inputs } of model.run(files.slice(0, 9), { preprocessing: job().preprocessing })) {
      pixels.push(Object.fromEntries(inputs.map(({ name, data, shape }) => [name, { data, shape }])));
    }
    async function* stream() {
      for (const sample of pixels) yield sample;
    }
    const rows = [];
    for await (const row of model.variants({ samples: stream(), only: ['q8', 'fp16'], limit: 3 })) rows.push(row);
    expect(rows.map(({ dtype, comparison }) => [dtype, comparison.samples])).toEqual([
      ['fp16', 3],
      ['q8', 3],
    ]);
    model.close();
  });

  test('ends where it is told to, and says what it cannot take', async () => {
    const model = await one.open(readFileSync(job().model));
    const first = async (options) => (await model.variants(options).next()).value;
    await expect(first({ only: ['q9'] })).rejects.toMatchObject({ code: 'invalid_argument', place: 'options.only' });
    await expect(first({ limit: -1 })).rejects.toMatchObject({ code: 'invalid_argument', place: 'options.limit' });
    await expect(first({ data: [] })).rejects.toMatchObject({ code: 'invalid_argument', place: 'options' });
    await expect(first({ samples: [] })).rejects.toMatchObject({ code: 'invalid_samples' });
    const stop = new AbortController();
    const rows = model.variants({ samples: demoFiles(), signal: stop.signal });
    expect((await rows.next()).value.dtype).toBe('fp32');
    stop.abort();
    await expect(rows.next()).rejects.toMatchObject({ name: 'AbortError' });
    expect((await first({ only: ['q4'] })).dtype).toBe('q4');
    model.close();
  });
});
