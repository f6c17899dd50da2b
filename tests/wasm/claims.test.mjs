// SPDX-License-Identifier: Apache-2.0
//
// The sentences of the page "The documents", by the package alone: each holds on the demo network, and is the documents'.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';

import * as tersor from '../../wasm/dist/index.js';
import { claims } from '../../web/src/documents/claims.ts';
import { sharedFolder } from '../zoo/samples.mjs';

let bench, engine, model;
beforeAll(async () => {
  engine = await tersor.Tersor.create({ workers: 1 });
  model = await engine.open(readFileSync(path.resolve(import.meta.dirname, '../../web/public/demo/model.onnx')));
  const samples = Array.from({ length: 4 }, (_, k) => ({
    image: Float32Array.from({ length: 3 * 48 * 48 }, (_, i) => 3 * Math.sin(0.37 * i * (k + 1)) ** 3),
  }));
  const known = new Map();
  bench = {
    tersor,
    whole: () => Promise.resolve(engine),
    quantize(options, key = JSON.stringify(options)) {
      if (!known.has(key)) known.set(key, model.quantize({ samples, ...options }));
      return known.get(key);
    },
  };
}, 60_000);
afterAll(() => engine?.close());

test.each(claims.map((one) => [`${one.document}: ${one.sentence.slice(0, 70)}`, one]))('%s', async (_, { show }) => {
  expect(await show(bench)).toMatch(/(differ|became|back).*\.$/);
});

const documents = path.join(sharedFolder, 'requirements');
test.skipIf(!existsSync(documents))('every sentence is of its document, and every parameter there has one', () => {
  const said = new Map();
  for (const { document, sentence } of claims) {
    expect(said.get(document)?.includes(sentence), `twice: ${sentence}`).not.toBe(true);
    said.set(document, [...(said.get(document) ?? []), sentence]);
  }
  const straight = (text) => text.replaceAll('’', "'").replace(/\s+/g, ' ');
  const lacking = [];
  for (const file of readdirSync(documents)) {
    const document = file.replace(/\.txt$/, '');
    const text = straight(readFileSync(path.join(documents, file), 'utf8'));
    for (const sentence of said.get(document) ?? []) expect(text, document).toContain(straight(sentence));
    for (const [sentence] of text.matchAll(/(?<=^| |• )\*{0,2}\w+ \([\w[\], ]+\) – .*?\./g))
      if (!(said.get(document) ?? []).some((one) => straight(one) === sentence.trim())) lacking.push(sentence);
  }
  expect([...new Set(lacking)].sort()).toEqual([]);
});
