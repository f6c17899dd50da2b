// SPDX-License-Identifier: Apache-2.0

import { describe, expect, it } from 'vitest';

import { asDataSet, baseName, comparePaths, ending, sortArrivals, stem, type Arrival } from '../src/job/intake';

const files = (...paths: string[]): Arrival[] => paths.map((path) => ({ path, data: new Blob([path]) }));
const paths = (list: readonly Arrival[]) => list.map((arrival) => arrival.path);

describe('sorting what was dropped', () => {
  it('tells models, recipes, archives, samples, labels and other files apart, in any order', () => {
    const sorted = sortArrivals(
      files(
        'd/cat/1.PNG',
        'net.onnx',
        'x.npy',
        'r.json',
        's.zip',
        'labels.csv',
        'eval_y.npy',
        'net.onnx.data',
        'm.tflite',
        't/input_0.pb',
      ),
    );
    expect(paths(sorted.models)).toEqual(['net.onnx', 'm.tflite']);
    expect(paths(sorted.recipes)).toEqual(['r.json']);
    expect(paths(sorted.archives)).toEqual(['s.zip']);
    expect(paths(sorted.samples)).toEqual(['d/cat/1.PNG', 'x.npy', 't/input_0.pb']);
    expect(paths(sorted.labels)).toEqual(['labels.csv', 'eval_y.npy']);
    expect(paths(sorted.others)).toEqual(['net.onnx.data']);
  });

  it('leaves hidden files and readmes out', () => {
    const sorted = sortArrivals(files('.DS_Store', '__MACOSX/a.png', 'README.md', 'd/.git/x.png', 'notes.txt'));
    const { ignored, texts, ...others } = sorted;
    expect(Object.values(others).flat()).toEqual([]);
    expect(paths(ignored)).toEqual(['README.md']);
    expect(paths(texts)).toEqual(['notes.txt']);
  });

  it('leaves out what lies beside a transformer, and keeps its tokenizer, texts and recipes', () => {
    const folder = 'tokenizer.json tokenizer_config.json config.json vocab.txt merges.txt net.tersor.json'.split(' ');
    const sorted = sortArrivals(files(...folder, 'reviews.jsonl', 'labels.txt', 'license.txt'));
    expect(paths(sorted.tokenizers)).toEqual(['tokenizer.json', 'tokenizer_config.json']);
    expect(paths(sorted.texts)).toEqual(['reviews.jsonl']);
    expect(paths(sorted.recipes)).toEqual(['net.tersor.json']);
    expect(paths(sorted.labels)).toEqual(['labels.txt']);
    expect(sorted.ignored).toEqual([]);
    expect(paths(sortArrivals(files('config.json', 'vocab.txt')).recipes)).toEqual(['config.json']);
  });

  it('does not take a class folder that ends in y for labels', () => {
    expect(paths(sortArrivals(files('toy/1.npy', 'boy.npy')).samples)).toEqual(['toy/1.npy', 'boy.npy']);
  });
});

describe('a data set', () => {
  it('is named for the one folder that was dropped, whose subfolders are the classes', () => {
    const set = asDataSet(files('cifar/cat/1.png', 'cifar/dog/2.png'), null);
    expect(set.name).toBe('cifar');
    expect(paths(set.files)).toEqual(['cat/1.png', 'dog/2.png']);
  });

  it('keeps a single class', () => {
    expect(paths(asDataSet(files('cifar/cat/1.png', 'cifar/cat/2.png'), null).files)).toEqual([
      'cat/1.png',
      'cat/2.png',
    ]);
  });

  it('keeps folders that were dropped side by side as classes', () => {
    expect(paths(asDataSet(files('cat/1.png', 'dog/2.png'), null).files)).toEqual(['cat/1.png', 'dog/2.png']);
  });

  it('opens a job folder down to its samples', () => {
    const set = asDataSet(files('job/samples/cat/1.png', 'job/samples/dog/1.png'), null);
    expect(set.name).toBe('samples');
    expect(paths(set.files)).toEqual(['cat/1.png', 'dog/1.png']);
  });

  it('takes the top folder off an archive only when there are folders below it', () => {
    expect(paths(asDataSet(files('cat/1.png', 'cat/2.png'), 'pets').files)).toEqual(['cat/1.png', 'cat/2.png']);
    const set = asDataSet(files('pets/cat/1.png', 'pets/dog/2.png'), 'download');
    expect(set.name).toBe('download');
    expect(paths(set.files)).toEqual(['cat/1.png', 'dog/2.png']);
  });

  it('keeps the folder of a test set, which is one sample', () => {
    expect(paths(asDataSet(files('test_data_set_0/input_0.pb'), null).files)).toEqual(['test_data_set_0/input_0.pb']);
  });

  it('orders paths by their bytes', () => {
    const names = ['b', 'a/2', 'a-b/1', 'é', 'z', '\u{1f600}', '\uffee', 'a/10'];
    expect(names.sort(comparePaths)).toEqual(['a-b/1', 'a/10', 'a/2', 'b', 'z', 'é', '\uffee', '\u{1f600}']);
  });
});

describe('names', () => {
  it('have a base, a stem and an ending', () => {
    const parts = (path: string) => [baseName(path), stem(path), ending(path)];
    expect(parts('a/b.c/net.v2.ONNX')).toEqual(['net.v2.ONNX', 'net.v2', 'onnx']);
    expect(parts('net')).toEqual(['net', 'net', '']);
    expect(parts('a.b/.hidden')).toEqual(['.hidden', '.hidden', '']);
  });

  it('tell labels by their last word and a table’s ending', () => {
    const labels = 'labels.csv label.txt targets.npy target.txt y.npy train_y.npy my-labels.csv'.split(' ');
    const others = 'labels.png xlabels.csv labels2.csv y2.npy'.split(' ');
    expect(paths(sortArrivals(files(...labels, ...others)).labels)).toEqual(labels);
  });

  it('tell tensors of a test from models in other formats', () => {
    const sorted = sortArrivals(files('a/input_0.pb', 'output_12.pb', 'frozen.pb', 'my_input_0.pb'));
    expect(paths(sorted.samples)).toEqual(['a/input_0.pb', 'output_12.pb']);
    expect(paths(sorted.others)).toEqual(['frozen.pb', 'my_input_0.pb']);
  });

  it('are ordered as their bytes in UTF-8 are', () => {
    const sign = (a: string, b: string) => Math.sign(comparePaths(a, b));
    expect([sign('a', 'b'), sign('b', 'a'), sign('a', 'a'), sign('a', 'ab'), sign('ab', 'a')]).toEqual([
      -1, 1, 0, -1, 1,
    ]);
    // surrogates stand for larger numbers than all other units, and are ordered among each other
    expect(sign('\u{10000}', '\ue000')).toBe(1);
    expect(sign('\ue000', '\u{10000}')).toBe(-1);
    expect(sign('\ud7ff', '\u{10000}')).toBe(-1);
    expect(sign('\u{10000}', '\u{10001}')).toBe(-1);
    expect(sign('x\udfff', 'x\ue000')).toBe(1);
    expect(sign('x\ud800', 'x\ue000')).toBe(1);
  });
});

describe('the name of a data set', () => {
  const named = (container: string | null, ...of: string[]) => {
    const { name, source, files: left } = asDataSet(files(...of), container);
    return [name, source, paths(left)];
  };

  it('is the file where there is one, "samples" where there are several, and the archive’s', () => {
    expect(named(null, 'a.png')).toEqual(['a.png', 'a.png', ['a.png']]);
    expect(named(null, 'a.png', 'b.png')).toEqual(['samples', 'samples', ['a.png', 'b.png']]);
    expect(named(null, 'set/a.png')).toEqual(['set', 'set', ['a.png']]);
    expect(named('pets', 'a.png')).toEqual(['pets', 'pets.zip', ['a.png']]);
    expect(named('pets', 'x/cat/a.png', 'x/dog/b.png')).toEqual(['pets', 'pets.zip', ['cat/a.png', 'dog/b.png']]);
    expect(named(null)).toEqual(['samples', 'samples', []]);
  });

  it('takes no folder for shared whose name only begins alike', () => {
    expect(named(null, 'cat/a.png', 'cats/b.png')).toEqual(['samples', 'samples', ['cat/a.png', 'cats/b.png']]);
    expect(named(null, '/a.png', '/b.png')[2]).toEqual(['a.png', 'b.png']);
  });
});
