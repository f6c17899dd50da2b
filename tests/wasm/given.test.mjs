// SPDX-License-Identifier: Apache-2.0
//
// What calls take: models and samples in every form come to the same, and what is wrong is an error of the caller's, with a place,
// that costs no worker.
import { readFileSync, writeFileSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { runInNewContext } from 'node:vm';
import { deflateSync, crc32 } from 'node:zlib';
import { Tensor } from 'onnxruntime-node';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';

import { Tersor, TersorError } from '../../wasm/dist/index.js';
import { perceptron, smallProduct, waves } from '../zoo/protobuf.mjs';
import { demo, demoFiles, emptyFolder } from './jobs.mjs';
import { openPage } from './page/open.mjs';

const folder = emptyFolder('given');
const { preprocessing } = demo;
let tersor, model, product;
beforeAll(async () => {
  tersor = await Tersor.create({ workers: 2 });
  model = await tersor.open(demo.model);
  product = await tersor.open(smallProduct());
}, 60_000);
afterAll(() => tersor?.close());

const made = async (opened, samples, options = {}) => {
  const quantized = await opened.quantize({ samples, ...options });
  quantized.close();
  return { bytes: Buffer.from(quantized.model).toString('base64'), data: quantized.recipe.data_set };
};

describe('pictures', () => {
  const files = demoFiles()
    .filter(({ path: name }) => name.endsWith('.png'))
    .filter((_, k) => k % 40 === 0)
    .sort((a, b) => (a.path < b.path ? -1 : 1));
  const options = { preprocessing };
  let expected;
  beforeAll(async () => {
    for (const { path: name, data } of files) {
      mkdirSync(path.dirname(path.join(folder, 'pictures', name)), { recursive: true });
      writeFileSync(path.join(folder, 'pictures', name), data);
    }
    expected = await made(model, files, options);
    expect(expected.data.samples).toBe(files.length);
  });
  async function* streamed() {
    yield* files;
  }
  const forms = {
    'a folder': () => path.join(folder, 'pictures'),
    'a folder with a slash': () => `${path.join(folder, 'pictures')}/`,
    'paths of files': () => files.map(({ path: name }) => path.join(folder, 'pictures', name)),
    Blobs: () => files.map(({ data }) => new Blob([data])),
    Files: () => files.map(({ path: name, data }) => new File([data], name)),
    'an ArrayBuffer each': () =>
      files.map(({ path: name, data }) => ({ path: name, data: new Uint8Array(data).buffer })),
    'an iterable of files': () => new Set(files),
    'files that stream in': () => streamed(),
  };
  test.each(Object.entries(forms))('%s', async (_, form) => {
    expect(await made(model, form(), options)).toEqual(expected);
  });

  test('pixels are the picture that a PNG file of them is', async () => {
    const pixels = [0, 1, 2].map((k) =>
      Uint8ClampedArray.from({ length: 48 * 48 * 4 }, (_, i) => (i % 4 === 3 ? 255 : (i * 37 + k * 11) % 256)),
    );
    const images = pixels.map((data) => ({ width: 48, height: 48, data }));
    const pngs = pixels.map((data, k) => ({ path: `${k}.png`, data: pngOfRgb(48, 48, data) }));
    expect(await made(model, images, options)).toEqual(await made(model, pngs, options));
    expect(await made(model, images[0], options)).toEqual(await made(model, [pngs[0]], options));

    const opened = await openPage();
    try {
      const inPage = await opened.page.evaluate(
        async ({ bytes, rgba, given }) => {
          const engine = await window.Tersor.create({ workers: 1, locateFile: (name) => `/dist/${name}` });
          const network = await engine.open(new Blob([new Uint8Array(bytes)]));
          const samples = rgba.map((data) => new ImageData(new Uint8ClampedArray(data), 48, 48));
          const quantized = await network.quantize({ samples, ...given });
          engine.close();
          return Array.from(quantized.model);
        },
        { bytes: Array.from(readFileSync(demo.model)), rgba: pixels.map((data) => Array.from(data)), given: options },
      );
      expect(Buffer.from(inPage).toString('base64')).toBe((await made(model, images, options)).bytes);
      expect(opened.complaints).toEqual([]);
    } finally {
      await opened.close();
    }
  });
});

/** A PNG of three channels, as other programs write it. */
function pngOfRgb(width, height, rgba) {
  const chunk = (type, content) => {
    const body = Buffer.concat([Buffer.from(type), content]);
    const [size, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
    size.writeUInt32BE(content.length);
    sum.writeUInt32BE(crc32(body));
    return Buffer.concat([size, body, sum]);
  };
  const head = Buffer.from([0, 0, 0, width, 0, 0, 0, height, 8, 2, 0, 0, 0]);
  const rows = Array.from({ length: height }, (_, y) => [
    0,
    ...[...rgba.slice(4 * width * y, 4 * width * (y + 1))].filter((_, i) => i % 4 !== 3),
  ]);
  const parts = [
    chunk('IHDR', head),
    chunk('IDAT', deflateSync(Buffer.from(rows.flat()))),
    chunk('IEND', Buffer.alloc(0)),
  ];
  return Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), ...parts]);
}

describe('tensors', () => {
  const rows = [
    [1, 2, 3, 4],
    [-1, 0.5, 2, 0],
    [0, 0, 1, 1],
  ];
  const name = () => product.info.inputs[0].name;
  const halfOf = { 0: 0, 0.5: 0x3800, 1: 0x3c00, 2: 0x4000, 3: 0x4200, 4: 0x4400, '-1': 0xbc00 };
  const forms = {
    "ONNX Runtime's": (row) => new Tensor('float32', Float32Array.from(row), [1, 4]),
    'its float16': (row) => ({ type: 'float16', dims: [1, 4], data: Uint16Array.from(row, (value) => halfOf[value]) }),
    'with a shape': (row) => ({ data: Float64Array.from(row), shape: [1, 4] }),
  };
  test.each(Object.entries(forms))('%s', async (_, form) => {
    const expected = await made(
      product,
      rows.map((row) => ({ [name()]: Float32Array.from(row) })),
    );
    const list = rows.map((row) => ({ [name()]: form(row) }));
    expect(await made(product, list)).toEqual(expected);
    async function* stream() {
      yield* list;
    }
    expect(await made(product, stream())).toEqual(expected);
    expect((await product.inspectSamples(stream())).count).toBe(3);
  });
});

test('a model by path, relative path, address and view', async () => {
  const bytes = readFileSync(demo.model);
  const shared = new Uint8Array(new SharedArrayBuffer(bytes.length));
  shared.set(bytes);
  for (const source of [
    demo.model,
    path.relative(process.cwd(), demo.model),
    new URL(`file://${demo.model}`).href,
    shared,
  ]) {
    const opened = await tersor.open(source);
    expect(opened.info).toEqual(model.info);
    opened.close();
  }
});

test('bytes of another context, as of a frame, Electron or Jest', async () => {
  const foreign = (bytes) => runInNewContext('new Uint8Array(given)', { given: [...bytes] });
  expect(foreign([1]) instanceof Uint8Array).toBe(false);
  const opened = await tersor.open(foreign(smallProduct()));
  const table = new TextEncoder().encode('a,b,c,d\n1,2,3,4\n2,3,4,5\n');
  const [own, other] = [table, foreign(table).buffer].map((data) => [{ path: 'x.csv', data }]);
  expect((await made(opened, other)).bytes).toBe((await made(product, own)).bytes);
});

describe("callers' errors", () => {
  const file = { path: 'a.npy', data: new Uint8Array(3) };
  const tensor = { data: new Float32Array(4), shape: [1, 4] };
  const input = () => product.info.inputs[0].name;
  const wrongs = {
    'no samples': [() => product.calibrate(null), 'samples'],
    'a number for samples': [() => product.calibrate(5), 'samples'],
    'one sample that is no list': [() => product.calibrate({ [input()]: tensor }), 'samples'],
    'an array for samples': [() => product.calibrate(new Float32Array(4)), 'samples'],
    'a folder that is not there': [() => product.calibrate('/nowhere/at/all'), 'samples'],
    'a path that is not there': [() => product.calibrate(['/nowhere.png']), 'samples[0]'],
    'a file without data': [() => product.calibrate([{ path: 'a.png', data: null }]), 'samples[0].data'],
    'a file with a text': [() => product.calibrate([file, { path: 'a.png', data: 'text' }]), 'samples[1].data'],
    'a tensor among files': [() => product.calibrate([file, { [input()]: tensor }]), 'samples[1]'],
    'null among files': [() => product.calibrate([file, null]), 'samples[1]'],
    'numbers for a tensor': [() => product.calibrate([{ [input()]: [1, 2, 3, 4] }]), 'samples[0]'],
    'null for a sample': [() => product.calibrate([null]), 'samples[0]'],
    'a typed array for a sample': [() => product.calibrate([new Float32Array(4)]), 'samples[0]'],
    'a shape of words': [() => product.calibrate([{ [input()]: { ...tensor, shape: ['a'] } }]), 'samples[0]'],
    'a shape that is a number': [() => product.calibrate([{ [input()]: { ...tensor, shape: 4 } }]), 'samples[0]'],
    'no shape': [() => product.calibrate([{ [input()]: { data: tensor.data } }]), 'samples[0]'],
    'another shape': [() => product.calibrate([{ [input()]: { ...tensor, shape: [2, 3] } }]), 'samples[0]'],
    'a DataView': [() => product.calibrate([{ [input()]: new DataView(new ArrayBuffer(16)) }]), 'samples[0]'],
    'another input': [() => product.calibrate([{ other: tensor }]), 'samples[0]'],
    'a tensor on another device': [
      () =>
        product.calibrate([
          {
            [input()]: {
              dims: [1, 4],
              get data() {
                throw new Error('The data is not on CPU.');
              },
            },
          },
        ]),
      'samples[0]',
    ],
    'pixels of another size': [() => model.calibrate([{ width: 3, height: 3, data: new Uint8Array(4) }]), 'samples[0]'],
    'a source that is nothing': [() => tersor.open(null), 'source'],
    'a model that is not there': [() => tersor.open('/nowhere.onnx'), '/nowhere.onnx'],
    'options that are a number': [() => product.calibrate([], 5), 'options'],
    'options that are null': [() => tersor.open(smallProduct(), null), 'options'],
    'an option that is not there': [() => product.calibrate([], { preprocesing: 'unit' }), 'options'],
    'a signal that is none': [() => product.calibrate([], { signal: {} }), 'options.signal'],
    'progress that is no function': [() => product.calibrate([], { onProgress: 'log' }), 'options.onProgress'],
    'a part that is none': [() => product.calibrate([file], { selection: { part: 'half' } }), 'options.selection.part'],
    'a count that is a word': [
      () => product.calibrate([file], { selection: { part: 'calibration', count: 'all' } }),
      'options.selection.count',
    ],
    'external data that is an object': [
      () => tersor.open(smallProduct(), { externalData: {} }),
      'options.externalData',
    ],
    'a preset that is a number': [() => product.coverage({ preset: 5 }), ''],
    'a platform that is a number': [() => product.coverage({ platform: 5 }), ''],
    'a configuration that is a text': [() => product.coverage({ config: 'weights_n_bits' }), ''],
    'a preprocessing that is a number': [() => model.inspectSamples([file], { preprocessing: 5 }), ''],
    'labels that are a word': [() => product.evaluate([{ [input()]: tensor }], 'folder'), 'labels'],
    'labels that are a number': [() => product.evaluate([{ [input()]: tensor }], 5), 'labels'],
    'labels of words': [() => product.evaluate([{ [input()]: tensor }], ['cat']), ''],
    'a metric that is a number': [() => product.evaluate([{ [input()]: tensor }], null, { metric: 5 }), ''],
    'a group of nothing': [() => product.evaluate([{ [input()]: tensor }], null, { group: 0 }), 'options.group'],
    'a runtime that is a number': [() => product.evaluate([{ [input()]: tensor }], null, { runtime: 5 }), ''],
    'an index that is a word': [() => product.previewSample([{ [input()]: tensor }], 'first'), 'index'],
    'an index beyond the last': [() => product.previewSample([{ [input()]: tensor }], 7), 'samples'],
    'statistics that are a number': [() => product.quantize({ statistics: 5 }), ''],
    'statistics of no bytes': [() => product.quantize({ statistics: { bytes: 'text' } }), ''],
    'a recipe that is a text': [() => product.quantize({ samples: [{ [input()]: tensor }], recipe: 'recipe' }), ''],
    'overrides that are an object': [() => product.coverage({ overrides: {} }), 'options.overrides'],
    'a platform name that is a number': [async () => tersor.getTargetPlatformCapabilities(5), ''],
    'a platform text that is an object': [async () => tersor.readPlatform({}), ''],
    'settings that are a number': [() => tersor.readSettings(5), ''],
    'a preset name that is a number': [async () => tersor.preprocessingPreset(5), ''],
  };
  test.each(Object.entries(wrongs))('%s', async (_, [call, place]) => {
    const error = await (async () => call())().then(
      () => null,
      (thrown) => thrown,
    );
    expect(error).toBeInstanceOf(TersorError);
    expect({ place: error.place, code: error.code }).toEqual({
      place: expect.stringContaining(place),
      code: expect.not.stringMatching(/worker_died|internal/),
    });
    expect(error.place).not.toBe('');
    expect((await product.nodes()).length).toBeGreaterThan(0);
  });

  test('what a function of the caller throws comes out of the call', async () => {
    const onProgress = () => {
      throw new RangeError('mine');
    };
    await expect(product.calibrate([{ [input()]: tensor }], { onProgress })).rejects.toThrow('mine');
  });
});

describe('a fixed batch', () => {
  const rows = Array.from({ length: 10 }, (_, k) => ({ x: { data: waves(k, 6), dims: [1, 6] } }));
  const labels = rows.map((_, k) => k % 3);

  test('rows fill it, and counts, answers and chance are those of batch 1', async () => {
    const found = [];
    for (const batch of [1, 4]) {
      const opened = await tersor.open(perceptron(batch));
      const { bytes: _, ...evaluated } = { ...(await opened.evaluate(rows, labels)) };
      const quantized = await opened.quantize({ samples: rows });
      const { samples, output_sqnr_db } = await quantized.compare(rows);
      const int8 = await quantized.evaluate(rows, labels);
      found.push({ evaluated, samples, output_sqnr_db, answers: int8.answers, count: int8.count });
      quantized.close();
      opened.close();
    }
    expect(found[0].evaluated.count).toBe(10);
    expect(found[0].evaluated.chance).toBeCloseTo(1 / 3);
    expect(found[1]).toEqual(found[0]);
  });

  test('a data set says how many rows each sample fills', async () => {
    const opened = await tersor.open(perceptron(4));
    const csv = new TextEncoder().encode('1,2,3,4,5,6\n6,5,4,3,2,1\n');
    expect(await opened.inspectSamples([{ path: 'rows.csv', data: csv }])).toMatchObject({ count: 2, batch: 4 });
    opened.close();
  });
});

test('weights alone are quantized without samples', async () => {
  const made = await product.quantize({ platform: 'weight-only-int8', config: { allow_larger_file: true } });
  expect(made.report.samples.calibration).toBe(0);
  expect(made.model.length).toBeGreaterThan(0);
  made.close();
});

test('a policy that forbids WebAssembly is called that', async () => {
  const compile = vi
    .spyOn(WebAssembly, 'compile')
    .mockRejectedValue(
      new WebAssembly.CompileError(
        "WebAssembly.compile(): Compiling or instantiating WebAssembly module violates the following Content Security policy directive because 'unsafe-eval' is not an allowed source of script",
      ),
    );
  try {
    const error = await Tersor.create({ workers: 1, wasmBinary: new Uint8Array(8) }).catch((thrown) => thrown);
    expect(error).toMatchObject({
      code: 'io',
      message: "The page's Content-Security-Policy forbids WebAssembly.",
      hint: expect.stringContaining("'wasm-unsafe-eval' to script-src"),
    });
  } finally {
    compile.mockRestore();
  }
});
