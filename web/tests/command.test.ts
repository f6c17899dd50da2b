// SPDX-License-Identifier: Apache-2.0

import { expect, it } from 'vitest';

import { commandLine, quoted } from '../src/job/command';

it('names recipe and output after the model', () => {
  expect(commandLine({ modelName: 'resnet20.onnx', dataName: 'cifar10', platformFile: null })).toBe(
    'tersor quantize resnet20.onnx --data cifar10 --recipe resnet20.tersor.json -o resnet20.int8.onnx',
  );
});

it('quotes words as a shell reads them', () => {
  expect(quoted('my model.onnx')).toBe("'my model.onnx'");
  expect(quoted("it's")).toBe(`'it'\\''s'`);
  expect(quoted('a/b-c_1.onnx')).toBe('a/b-c_1.onnx');
});

it('keeps names from being taken for options', () => {
  expect(commandLine({ modelName: '-o.onnx', dataName: '-d', platformFile: null })).toBe(
    'tersor quantize ./-o.onnx --data ./-d --recipe ./-o.tersor.json -o ./-o.int8.onnx',
  );
});
