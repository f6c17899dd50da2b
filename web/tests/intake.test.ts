// SPDX-License-Identifier: Apache-2.0

import { describe, expect, it } from 'vitest';

import { asDataSet, comparePaths, sortArrivals, type Arrival } from '../src/job/intake';

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
    expect(paths(sorted.models)).toEqual(['net.onnx']);
    expect(paths(sorted.recipes)).toEqual(['r.json']);
    expect(paths(sorted.archives)).toEqual(['s.zip']);
    expect(paths(sorted.samples)).toEqual(['d/cat/1.PNG', 'x.npy', 't/input_0.pb']);
    expect(paths(sorted.labels)).toEqual(['labels.csv', 'eval_y.npy']);
    expect(paths(sorted.others)).toEqual(['net.onnx.data', 'm.tflite']);
  });

  it('leaves hidden files and readmes out', () => {
    const sorted = sortArrivals(files('.DS_Store', '__MACOSX/a.png', 'README.md', 'd/.git/x.png', 'notes.txt'));
    const { ignored, ...others } = sorted;
    expect(Object.values(others).flat()).toEqual([]);
    expect(paths(ignored)).toEqual(['README.md', 'notes.txt']);
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
