// SPDX-License-Identifier: Apache-2.0

import type { QuantizeOptions } from 'tersor';
import type * as Package from 'tersor';

import { claimsOf, count, differing, quick, refuse, refused, withoutMetadata, type Bench, type Json } from './shown';

const { claims, shows, tells } = claimsOf('quantize_config');
export { claims };

/** The document's example with other answers. */
const asked = (answers: Json) => ({
  platform: 'any',
  config: quick,
  overrides: [
    {
      name: 'classifier',
      quantize_config: {
        class_name: 'LayerQuantizeConfig',
        config: { weights: {}, activation: null, outputs: [], ...answers },
      },
    },
  ],
});
const kernel = { kernel: 'LastValueQuantizer' };
function layer(sentence: string, answers: Json, base: Json = {}): void {
  shows(sentence, asked(base) as QuantizeOptions, asked({ ...base, ...answers }) as QuantizeOptions);
}
layer(
  'ABC interface for Keras layers to express how they should be quantized.',
  { weights: kernel },
  { outputs: ['MovingAverageQuantizer'] },
);
layer(
  'QuantizeConfig encapsulates all the information needed by the quantization code to quantize a layer. It specifies what parts of a layer should be quantized and how they should be quantized.',
  { weights: kernel, outputs: ['MovingAverageQuantizer'] },
  { weights: kernel },
);
layer(
  'It can be used to precisely control the quantization behavior of a layer.',
  { weights: { kernel: { class_name: 'LastValueQuantizer', config: { num_bits: 5 } } } },
  { weights: kernel },
);
layer('Return weights to be quantized along with their quantizers.', { weights: kernel });
layer(
  'Return activations to be quantized along with their quantizers.',
  { activation: 'MovingAverageQuantizer' },
  { weights: kernel },
);
layer(
  'Returns the quantizer used to quantize the outputs from a layer.',
  { outputs: ['MovingAverageQuantizer'] },
  { weights: kernel },
);
const fewer = { class_name: 'MovingAverageQuantizer', config: { num_bits: 4 } };
layer(
  'This function tells the quantize code which activations within a layer should be quantized, and how. The activations are the activation attributes in a layer, and the quantizers are Quantizer instances.',
  { activation: fewer },
  { activation: 'MovingAverageQuantizer' },
);
layer('Each tuple is a keras activation and an associated quantizer.', { activation: fewer });
layer(
  "For certain layers, we may want to quantize the outputs tensors returned by the layer's call function. This allows us to quantize those output tensors.",
  { outputs: [fewer] },
  { outputs: ['MovingAverageQuantizer'] },
);
layer(
  'This function should return a list of quantizers. In most cases, a layer outputs only a single tensor so it should only have one quantizer. Return an empty list for if no quantization operation is desired on the results of the layer.',
  { outputs: [] },
  { weights: kernel, outputs: ['MovingAverageQuantizer'] },
);
layer('List of Quantizers to be used to quantize the resulting tensors from a layer.', { outputs: [fewer] });
layer(
  'This function tells the quantize code which weights within a layer should be quantized, and how. The weights are the TF variables in a layer and the quantizers are Quantizer instances.',
  { weights: { kernel: { class_name: 'LastValueQuantizer', config: { symmetric: false } } } },
  { weights: { kernel: { class_name: 'LastValueQuantizer', config: { symmetric: true } } } },
);
layer('Each tuple is a weight tensor and an associated quantizer.', {
  weights: { kernel: { class_name: 'LastValueQuantizer', config: { num_bits: 4, per_axis: true } } },
});
layer(
  'The framework provides default behavior for each layer, but this can be used to override it.',
  { weights: { kernel: { class_name: 'LastValueQuantizer', config: { num_bits: 4 } } } },
  { weights: kernel },
);

/** The demo network with the document's class for its last layer; what the class was asked, and with which weights. */
async function withClass(bench: Bench, changed: Partial<Package.QuantizeConfig> = {}) {
  const { tersor } = bench;
  const put: number[] = [];
  class MyDenseQuantizeConfig implements Package.QuantizeConfig {
    get_weights_and_quantizers(one: Package.Layer) {
      return [[one.kernel, new tersor.LastValueQuantizer()]] as const;
    }
    get_activations_and_quantizers(one: Package.Layer) {
      return [[one.activation, new tersor.MovingAverageQuantizer()]] as const;
    }
    set_quantize_weights(one: Package.Layer, quantize_weights: readonly Package.LayerWeight[]) {
      if (!quantize_weights[0]) throw refuse('there are no weights.');
      one.kernel = quantize_weights[0];
      put.push(one.kernel.data.length);
    }
    set_quantize_activations(one: Package.Layer, quantize_activations: readonly Package.LayerActivation[]) {
      if (!quantize_activations[0]) throw refuse('there is no activation.');
      one.activation = quantize_activations[0];
      put.push(1);
    }
    get_output_quantizers() {
      return [];
    }
    get_config() {
      return {};
    }
  }
  const quantize_config = Object.assign(new MyDenseQuantizeConfig(), changed);
  const asked = { platform: 'any', config: quick, overrides: [{ name: 'classifier', quantize_config }] };
  const made = await bench.quantize(asked, { key: `class ${performance.now()}` });
  if (made.recipe.overrides.length !== 1) throw refuse('the recipe lacks the answers.');
  return { made, put };
}

tells('Create QuantizeConfig for a Dense layer:', async (bench) => {
  const plain = await bench.quantize({ platform: 'any', config: quick });
  const { made } = await withClass(bench);
  const bytes = differing(withoutMetadata(plain.model), withoutMetadata(made.model));
  if (bytes === 0) throw refuse('the file is that without it.');
  return `${count(bytes)} bytes differ from the file without it.`;
});
tells('Returns the config used to serialize QuantizeConfig.', async (bench) => {
  const { made } = await withClass(bench);
  const again = await bench.quantize({ platform: 'any', config: quick, overrides: made.recipe.overrides });
  if (differing(made.model, again.model) > 0) throw refuse('what the recipe holds gives another file.');
  return 'The recipe holds what the class answered, and gives all bytes back.';
});
tells('Replace the weights in the layer with quantized weights.', async (bench) => {
  const { put } = await withClass(bench);
  return `${count(put[0] ?? 0)} weights were put back, and the recipe holds the answers.`;
});
tells(
  'This method is invoked by the quantization code to replace the weights within a layer with quantized weights. It is responsible for ensuring that the weights within a layer are properly replaced.',
  (bench) => refused(() => withClass(bench, { set_quantize_weights: () => undefined })),
);
tells('Replace the activations in the layer with quantized activations.', async (bench) => {
  const { put } = await withClass(bench);
  return `${put[1] ?? 0} activation was put back, and the recipe holds the answers.`;
});
tells(
  'This method is invoked by the quantization code to replace the activations within a layer with quantized activations. It is responsible for ensuring that the activations within a layer are properly replaced.',
  (bench) => refused(() => withClass(bench, { set_quantize_activations: () => undefined })),
);
