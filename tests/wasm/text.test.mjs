// SPDX-License-Identifier: Apache-2.0
//
// Texts as samples: lines of files, and what a tokenizer gives as the inputs of a model.

import { expect, test } from 'vitest';
import { readTexts, textSample } from 'tersor/text';

/** A token for each letter, 100 and its place in the alphabet, between 1 and 2 as BERT has them. */
const letters = {
  encode: (text) => {
    const ids = [1, ...[...text].map((letter) => 100 + letter.charCodeAt(0) - 97), 2];
    return { ids, attention_mask: ids.map(() => 1), token_type_ids: ids.map(() => 0) };
  },
};
const input = (name, shape = ['N', 'S'], type = 'int64') => ({ name, type, shape });
const bert = ['input_ids', 'attention_mask', 'token_type_ids'].map((name) => input(name));
const numbers = ({ data }) => Array.from(data, Number);

test('a line of .txt is a text, without blank ones, whatever ends the lines', () => {
  expect(readTexts('a.txt', '\uFEFFone\r\n\n  \ntwo \rthree')).toEqual({
    texts: ['one', 'two ', 'three'],
    labels: null,
  });
  expect(readTexts('a.txt', '{"text": "x"}').texts).toEqual(['{"text": "x"}']);
});

test('a line of .jsonl is a string or an object with a text, and labels count where all lines have one', () => {
  const lines = ['"one"', '{"sentence": "two", "label": 3}', '', '{"id": 7, "prompt": "three"}'];
  expect(readTexts('a.JSONL', lines.join('\n'))).toEqual({ texts: ['one', 'two', 'three'], labels: null });
  expect(readTexts('a.jsonl', '{"text":"a","label":1}\n{"text":"b","label":0}').labels).toEqual([1, 0]);
  expect(readTexts('a.jsonl', '').texts).toEqual([]);
  for (const bad of ['{"text": 5}', '5', 'null', '{"text": "a"', '[]'])
    expect(() => readTexts('a.jsonl', `"fine"\n${bad}`)).toThrow(
      expect.objectContaining({
        code: 'invalid_samples',
        message: 'Line 2 of a.jsonl has no text.',
        place: 'a.jsonl, line 2',
      }),
    );
});

test('the inputs of an encoder are filled by their names, in their types', () => {
  const { tensors, isCut } = textSample('abc', letters, [...bert, input('position_ids', ['N', 'S'], 'int32')]);
  expect(isCut).toBe(false);
  expect(Object.keys(tensors)).toEqual(['input_ids', 'attention_mask', 'token_type_ids', 'position_ids']);
  expect(tensors.input_ids).toEqual({ data: BigInt64Array.of(1n, 100n, 101n, 102n, 2n), shape: [1, 5] });
  expect(numbers(tensors.attention_mask)).toEqual([1, 1, 1, 1, 1]);
  expect(tensors.position_ids.data).toEqual(Int32Array.of(0, 1, 2, 3, 4));
  expect(numbers(textSample('a', letters, [input('tokens')]).tensors.tokens)).toEqual([1, 100, 2]);
});

test('long texts are cut before the special tokens at their end, and fixed inputs filled up', () => {
  const long = textSample('abcdefgh', letters, bert, { mostTokens: 4 });
  expect(long.isCut).toBe(true);
  expect(numbers(long.tensors.input_ids)).toEqual([1, 100, 101, 2]);
  const fixed = bert.map(({ name }) => input(name, [1, 6]));
  const short = textSample('ab', letters, fixed, { padId: 9 });
  expect(numbers(short.tensors.input_ids)).toEqual([1, 100, 101, 2, 9, 9]);
  expect(numbers(short.tensors.attention_mask)).toEqual([1, 1, 1, 1, 0, 0]);
  expect(numbers(textSample('abcdefgh', letters, fixed).tensors.input_ids)).toEqual([1, 100, 101, 102, 103, 2]);
  // a decoder's texts end without one
  const plain = { encode: (text) => ({ ids: [7, ...[...text].map((letter) => letter.charCodeAt(0))] }) };
  expect(numbers(textSample('abc', plain, [input('ids')], { mostTokens: 3 }).tensors.ids)).toEqual([7, 97, 98]);
});

test('the past of a decoder is left out', () => {
  const past = input('past_key_values.0.key', ['batch', 4, 'past', 8], 'float32');
  const { tensors } = textSample('ab', letters, [...bert, past]);
  expect(Object.keys(tensors)).toEqual(bert.map(({ name }) => name));
});

test('what no text gives is named', () => {
  const refused = (inputs) => {
    try {
      textSample('a', letters, inputs);
    } catch ({ code, message }) {
      return `${code}: ${message}`;
    }
    return null;
  };
  expect(refused([...bert, input('encoder_hidden_states', ['N', 'S', 8], 'float32')])).toBe(
    'invalid_samples: The model\'s input "encoder_hidden_states" is not made of a text.',
  );
  expect(refused([input('pixels', ['N', 3, 8, 8], 'float32')])).toMatch('"pixels" is not made of a text');
  expect(refused([input('input_ids', ['N', 'S'], 'uint8')])).toMatch('takes uint8, which token ids are not');
  const nothing = { encode: () => ({ ids: [] }) };
  expect(() => textSample('', nothing, bert)).toThrow('has no tokens');
});
