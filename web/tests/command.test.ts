// SPDX-License-Identifier: Apache-2.0

import { expect, it } from 'vitest';

import { commandLine, fileNames, javaScript, quoted } from '../src/job/command';

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

it('names the file of a platform that the reader brought', () => {
  expect(commandLine({ modelName: 'net.onnx', dataName: 'pets.zip', platformFile: 'my chip.json' })).toBe(
    "tersor quantize net.onnx --data pets.zip --platform 'my chip.json' --recipe net.tersor.json -o net.int8.onnx",
  );
});

it('writes the same as a module for Node', () => {
  const plain = javaScript({ modelName: "it's\\net.onnx", dataName: 'pets', platformFile: null });
  expect(plain).toContain(`tersor.open('it\\'s\\\\net.onnx')`);
  expect(plain).toContain("  samples: 'pets',\n");
  expect(plain).not.toContain('platform');
  expect(plain).not.toContain('unpacked');
  const own = javaScript({ modelName: 'net.onnx', dataName: 'pets.zip', platformFile: 'chip.json' });
  expect(own).toContain("  samples: 'pets', // pets.zip, unpacked\n");
  expect(own).toContain("platform: tersor.readPlatform(await readFile('chip.json', 'utf8')),");
  expect(own).toContain("await writeFile('net.int8.onnx', result.model);");
});

it('names the files that are downloaded', () => {
  expect(fileNames('folder/net.v2.onnx')).toEqual({
    model: 'net.v2.int8.onnx',
    recipe: 'net.v2.tersor.json',
    report: 'net.v2.report.json',
  });
});

it('names a file for TensorFlow Lite, and asks for it', () => {
  const made = { modelName: 'net.onnx', dataName: 'pets', platformFile: null, format: 'tflite' } as const;
  expect(fileNames('net.onnx', 'tflite').model).toBe('net.int8.tflite');
  expect(commandLine(made)).toMatch(/ -o net\.int8\.tflite$/);
  expect(javaScript(made)).toMatch(/ {2}format: 'tflite',\n\}\);\nawait writeFile\('net\.int8\.tflite'/);
});
