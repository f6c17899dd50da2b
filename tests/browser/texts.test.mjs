// SPDX-License-Identifier: Apache-2.0
//
// Texts as samples: with the model's tokenizer, in whatever order they come, and as the program takes them.

import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

import { reader, residual } from './networks.mjs';
import {
  button,
  downloaded,
  expectQuiet,
  give,
  openPage,
  pixelsTooWide,
  region,
  root,
  untilCanQuantize,
  untilMeasured,
  useSite,
  viewports,
} from './site.mjs';

const site = useSite();
const program = join(root, 'build/native/bin/tersor');

const words = [
  '[PAD]',
  '[UNK]',
  '[CLS]',
  '[SEP]',
  ...'rain wind sun snow falls blows shines here there now'.split(' '),
  '##s',
];
const special = (id, content) => ({
  id,
  content,
  special: true,
  single_word: false,
  lstrip: false,
  rstrip: false,
  normalized: false,
});
const tokenizer = {
  version: '1.0',
  truncation: null,
  padding: null,
  added_tokens: [0, 1, 2, 3].map((id) => special(id, words[id])),
  normalizer: {
    type: 'BertNormalizer',
    clean_text: true,
    handle_chinese_chars: true,
    strip_accents: null,
    lowercase: true,
  },
  pre_tokenizer: { type: 'BertPreTokenizer' },
  post_processor: {
    type: 'TemplateProcessing',
    single: [
      { SpecialToken: { id: '[CLS]', type_id: 0 } },
      { Sequence: { id: 'A', type_id: 0 } },
      { SpecialToken: { id: '[SEP]', type_id: 0 } },
    ],
    pair: [],
    special_tokens: {
      '[CLS]': { id: '[CLS]', ids: [2], tokens: ['[CLS]'] },
      '[SEP]': { id: '[SEP]', ids: [3], tokens: ['[SEP]'] },
    },
  },
  decoder: { type: 'WordPiece', prefix: '##', cleanup: true },
  model: {
    type: 'WordPiece',
    unk_token: '[UNK]',
    continuing_subword_prefix: '##',
    max_input_chars_per_word: 100,
    vocab: Object.fromEntries(words.map((word, id) => [word, id])),
  },
};
const json = (value) => Buffer.from(JSON.stringify(value));
const config = ['tokenizer_config.json', json({ model_max_length: 8, pad_token: '[PAD]' })];
const [nouns, verbs, places] = [words.slice(4, 8), words.slice(8, 11), words.slice(11, 14)];
const sentences = nouns.flatMap((noun) => verbs.flatMap((verb) => places.map((place) => `${noun} ${verb} ${place}`)));
const model = ['reader.onnx', reader(words.length, ['attention_mask'])];
const said = (page, text) => page.getByText(text).first().waitFor();

describe.each(viewports)('$width pixels', (viewport) => {
  it('become token ids when texts, model and tokenizer are there, and the program makes the same file of them', async () => {
    const visit = await openPage(site, { viewport, acceptDownloads: true });
    const { page, context } = visit;
    const samples = region(page, 'Samples');
    const long = `${'rain '.repeat(20)}falls`;
    await give(page, ['weather.txt', Buffer.from([...sentences, '', long].join('\n'))]);
    await said(page, 'weather.txt waits for its model.');
    await give(page, model);
    await said(page, 'weather.txt becomes samples with the model’s tokenizer.json: bring it too.');
    await give(page, ['tokenizer.json', json(tokenizer)], config, ['config.json', json({ hidden_size: 16 })]);
    await samples.getByText('37 texts became token ids with the model’s tokenizer; 1 was cut to 8 tokens.').waitFor();
    await samples.getByText('rain falls here').waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
    await untilCanQuantize(page);
    const archive = await downloaded(page, 'Save them for the program');
    await button(page, 'Quantize').click();
    await untilMeasured(page);
    const [made, recipe] = [await downloaded(page, /^Download model/), await downloaded(page, /^Download recipe/)];
    expect(await pixelsTooWide(page)).toBe(0);
    await expectQuiet(visit);
    await context.close();

    const folder = await mkdtemp(join(tmpdir(), 'tersor-texts-'));
    const file = (name) => join(folder, name);
    await writeFile(file('reader.onnx'), model[1]);
    await writeFile(file('weather.txt.zip'), archive.bytes);
    await writeFile(file('recipe.json'), recipe.bytes);
    const options = ['--data', file('weather.txt.zip'), '--recipe', file('recipe.json'), '-o', file('out.onnx')];
    execFileSync(program, ['quantize', file('reader.onnx'), ...options], { stdio: 'ignore' });
    expect(Buffer.compare(await readFile(file('out.onnx')), made.bytes)).toBe(0);
    await rm(folder, { recursive: true });
  });
});

it('bring labels in .jsonl, and say which line has no text, which tokenizer is none, and which model takes none', async () => {
  const visit = await openPage(site);
  const { page, context } = visit;
  const samples = region(page, 'Samples');
  const lines = sentences.map((text, k) => JSON.stringify({ text, label: k % 2 }));
  await give(page, model, ['tokenizer.json', json(tokenizer)], ['reviews.jsonl', Buffer.from(lines.join('\n'))]);
  await samples.getByText('Labels from an array beside the samples.').waitFor();
  await samples.getByText('36 texts became token ids').waitFor();
  await give(page, ['bad.jsonl', Buffer.from(`${lines[0]}\n{"title": "none"}`)]);
  await page.getByRole('alert').getByText('Line 2 of bad.jsonl has no text. A line of .jsonl is a string').waitFor();
  await samples.getByText('36 texts became token ids').waitFor();
  await give(page, ['tokenizer.json', Buffer.from('{"model"')], ['more.txt', Buffer.from('rain')]);
  await page.getByRole('alert').getByText('tokenizer.json is no JSON').waitFor();
  await give(page, ['residual.onnx', residual(2)], ['notes.txt', Buffer.from('rain')]);
  await said(page, /^notes\.txt is neither a model nor samples/);
  await expectQuiet(visit);
  await context.close();
});
