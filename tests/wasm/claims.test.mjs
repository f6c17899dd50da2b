// SPDX-License-Identifier: Apache-2.0
//
// The sentences of the page "The documents", by the package alone: each holds on the demo network, and is the documents'.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { unzipSync } from 'fflate';
import { afterAll, beforeAll, expect, test } from 'vitest';

import * as tersor from '../../wasm/dist/index.js';
import { claims } from '../../web/src/documents/claims.ts';
import { calibrated, trainedOn, withCelu } from '../../web/src/documents/shown.ts';
import { comparePaths } from '../../web/src/job/intake.ts';
import { sharedFolder } from '../zoo/samples.mjs';

let bench, engine;
beforeAll(async () => {
  engine = await tersor.Tersor.create({ workers: 1 });
  const demo = path.resolve(import.meta.dirname, '../../web/public/demo');
  const file = readFileSync(path.join(demo, 'model.onnx'));
  const models = [await engine.open(file), await engine.open(withCelu(file))];
  const { preprocessing } = JSON.parse(readFileSync(path.join(demo, 'demo.json'), 'utf8'));
  const samples = Object.entries(unzipSync(readFileSync(path.join(demo, 'samples.zip'))))
    .map(([path, data]) => ({ path, data }))
    .sort((a, b) => comparePaths(a.path, b.path));
  const known = new Map();
  bench = {
    tersor,
    whole: () => Promise.resolve(engine),
    quantize(options, { celu = false, key = JSON.stringify([options, celu]) } = {}) {
      if (!known.has(key)) {
        const selection = { part: 'calibration', count: options.config?.gradient_ptq_config ? trainedOn : calibrated };
        known.set(key, models[Number(celu)].quantize({ samples, preprocessing, selection, ...options }));
      }
      return known.get(key);
    },
  };
}, 60_000);
afterAll(() => engine?.close());

test.each(claims.map((one) => [`${one.document}: ${one.sentence.slice(0, 70)}`, one]))('%s', async (_, { show }) => {
  expect(await show(bench)).toMatch(/(differ|became|back|refused).*\.$/);
});

/** Lines of the documents that say nothing to be shown. */
const silent = [
  /^(- )?class \w+\.|^tfmot\.|^View source/, // signatures
  /^(>>>|def |class My|return |layer\.|from |#|Trainable\w+Config\(|\w+=)/, // code, which tests of its own run
  /^(Example|Examples|For example|Args|Returns|Parameters)\b.*:$/,
  /^(layer layer being|quantize_\w+ List of|List of 2-tuples)/, // what an argument is called
  /^(For a full example, see|More filters and usage|This diagram|Now, (I|we) will|We start by explaining)/,
  /^This is an experimental API|^Both components are provided by/,
  /^This method is invoked by the quantization code when/,
];
const documents = path.join(sharedFolder, 'requirements');
test.skipIf(!existsSync(documents))(
  'every sentence is of its document, and those that say what can be shown are all there',
  () => {
    const said = new Map();
    for (const { document, sentence } of claims) {
      expect(said.get(document)?.includes(sentence), `twice: ${sentence}`).not.toBe(true);
      said.set(document, [...(said.get(document) ?? []), sentence]);
    }
    const straight = (text) => text.replaceAll('’', "'").replace(/\s+/g, ' ').trim();
    const lacking = [];
    for (const file of readdirSync(documents)) {
      const document = file.replace(/\.txt$/, '');
      const text = readFileSync(path.join(documents, file), 'utf8');
      const known = (said.get(document) ?? []).map(straight);
      for (const sentence of known) expect(straight(text), document).toContain(sentence);
      const sentences = text.split('\n').flatMap((line) => straight(line).split(/(?<=[.:]) (?=[A-Z])/));
      for (const sentence of sentences)
        if (sentence.split(' ').length > 3 && !silent.some((one) => one.test(sentence)))
          if (!known.some((one) => one.includes(sentence.replace(/^[•.] ?/, ''))))
            lacking.push(`${document}: ${sentence}`);
    }
    expect(lacking).toEqual([]);
  },
);
