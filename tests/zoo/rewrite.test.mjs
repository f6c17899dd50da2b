// SPDX-License-Identifier: Apache-2.0
// Every model of the zoo and every conformance case is read, validated and written back so that ONNX Runtime gives equal outputs; those of
// opset 7 to 12 also after raising them to 13.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'vitest';

import { readTensor } from './protobuf.mjs';
import { assertEqualOutputs, converted, outputsOf, randomInputs, tersor, withFolder, zooInputs } from './runtime.mjs';
import { sharedFolder } from './samples.mjs';

const zoo = path.join(sharedFolder, 'zoo');
const cases = path.join(sharedFolder, 'onnx-node-tests');

const zooModels = existsSync(path.join(zoo, 'index.json'))
  ? JSON.parse(readFileSync(path.join(zoo, 'index.json'), 'utf8')).models.flatMap(({ id, files }) =>
      Object.keys(files)
        .filter((file) => file.endsWith('.onnx'))
        .map((file) => `${id}/${file}`),
    )
  : [];

describe.skipIf(zooModels.length === 0)('zoo models written back', () => {
  test.each(zooModels)('%s', (name) =>
    withFolder(async (folder) => {
      const model = path.join(zoo, name);
      const info = JSON.parse(tersor('inspect', model, '--json'));
      const inputs = randomInputs(info, zooInputs[name]);
      const output = converted(model, folder);
      assertEqualOutputs(await outputsOf(output, inputs), await outputsOf(model, inputs));
      if (info.opset >= 13) return;
      const raised = converted(model, folder, '--opset', '13');
      assert.equal(JSON.parse(tersor('inspect', raised, '--json')).opset, 13);
      assertEqualOutputs(
        await outputsOf(raised, inputs, { optimize: false }),
        await outputsOf(model, inputs, { optimize: false }),
      );
    }),
  );
});

function inputsOfCase(name, info) {
  const folder = path.join(cases, name, 'test_data_set_0');
  return Object.fromEntries(
    info.inputs.map((input, k) => [input.name, readTensor(readFileSync(path.join(folder, `input_${k}.pb`)))]),
  );
}

/** Outputs, or the sentence of a runtime that does not take the model. */
async function outputsOrRefusal(model, inputs) {
  try {
    return { outputs: await outputsOf(model, inputs) };
  } catch (error) {
    return { refusal: String(error.message) };
  }
}

describe.skipIf(!existsSync(cases))('conformance cases written back', () => {
  const index = existsSync(cases) ? JSON.parse(readFileSync(path.join(cases, 'index.json'), 'utf8')).cases : [];
  const groups = [...new Set(index.map((one) => one.group))].sort();
  test('all are in the index', () => {
    assert.equal(readdirSync(cases).filter((name) => name.startsWith('test_')).length, index.length);
  });

  let compared = 0;
  test.each(groups)('%s', (group) =>
    withFolder(async (folder) => {
      for (const { case: name, opset } of index.filter((one) => one.group === group)) {
        const model = path.join(cases, name, 'model.onnx');
        const info = JSON.parse(tersor('inspect', model, '--json'));
        assert.equal(info.opset, opset, name);
        const inputs = inputsOfCase(name, info);
        const output = converted(model, folder);
        const wanted = await outputsOrRefusal(model, inputs);
        const got = await outputsOrRefusal(output, inputs);
        if (wanted.outputs) {
          assert(got.outputs, `${name}: ${got.refusal}`);
          assertEqualOutputs(got.outputs, wanted.outputs);
          ++compared;
        } else {
          assert(got.refusal, `${name}: the runtime refuses the original only`);
          // Then at least nothing is lost: writing again gives the same file.
          const first = readFileSync(output);
          assert(readFileSync(converted(model, folder)).equals(first), name);
        }
        if (opset < 13 && wanted.outputs) {
          const raised = converted(model, folder, '--opset', '13');
          assertEqualOutputs(await outputsOf(raised, inputs), wanted.outputs);
        }
      }
    }),
  );
  test('the runtime took nearly all of them', () => {
    assert(compared > 0.9 * index.length, `only ${compared} of ${index.length}`);
  });
});
