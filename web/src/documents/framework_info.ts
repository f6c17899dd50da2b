// SPDX-License-Identifier: Apache-2.0

import type { QuantizeOptions } from 'tersor';

import { claimsOf, quick, type Json } from './shown';

const { claims, shows } = claimsOf('framework_info');
export { claims };

const infos: Json = {
  kernel_ops: ['Conv'],
  activation_ops: ['Relu', 'Clip'],
  no_quantization_ops: ['Flatten'],
  kernel_channels_mapping: { Conv: [0, 1] },
};

const anyPlatform = { platform: 'any', config: quick } as const;
const informed = (frameworkInfo: Json): QuantizeOptions => ({ ...anyPlatform, frameworkInfo });

function known(sentence: string, change: Json, base: Json = infos): void {
  shows(sentence, informed(base), informed({ ...base, ...change }));
}

shows(
  'The following API can be used to pass MCT framework-related information to use when optimizing the network',
  anyPlatform,
  informed(infos),
);
known(
  'A class to wrap all information about a specific framework the library needs to quantize a model. Specifically, FrameworkInfo holds lists of layers by how they should be quantized, and multiple mappings such as layer to it kernel channels indices, and a layer to its min/max values, etc.',
  { kernel_channels_mapping: { Conv: [null, 1] }, layer_min_max_mapping: { Relu: [0, 20] } },
  infos,
);
known(
  'The layers lists are divided into three groups: kernel_ops: Layers that have coefficients and need to get quantized (e.g., Conv2D, Dense, etc.) activation_ops:',
  { kernel_ops: ['Conv2D', 'Dense'] },
  { ...infos, kernel_ops: ['Conv2D'] },
);
known(
  'Layers that their outputs should get quantized (e.g., Add, ReLU, etc.) no_quantization_ops:Layers that should not get quantized (e.g., Reshape, Transpose, etc.)',
  { activation_ops: ['Add', 'ReLU'], no_quantization_ops: ['Reshape', 'Transpose'] },
  { ...infos, activation_ops: [] },
);
known('kernel_ops (list) – A list of operators that are in the kernel_ops group.', { kernel_ops: ['Conv', 'Gemm'] });
known('activation_ops (list) – A list of operators that are in the activation_ops group.', {
  activation_ops: ['Relu'],
});
known('no_quantization_ops (list) – A list of operators that are in the no_quantization_ops group.', {
  no_quantization_ops: ['Clip'],
  activation_ops: ['Relu'],
});
known(
  'activation_quantizer_mapping (Dict[QuantizationMethod, Callable]) – A dictionary mapping from QuantizationMethod to a quantization function.',
  { activation_quantizer_mapping: { UNIFORM: 'POWER_OF_TWO' } },
);
known(
  'weights_quantizer_mapping (Dict[QuantizationMethod, Callable]) – A dictionary mapping from QuantizationMethod to a quantization function.',
  { weights_quantizer_mapping: { SYMMETRIC: 'POWER_OF_TWO' } },
);
known(
  'kernel_channels_mapping (DefaultDict) – Dictionary from a layer to a tuple of its kernel in/out channels indices.',
  { kernel_channels_mapping: { Conv: [null, 1] } },
);
known(
  'activation_min_max_mapping (Dict[str, tuple]) – Dictionary from an activation function to its min/max output values.',
  { activation_min_max_mapping: { relu: [0, 20] } },
);
known('layer_min_max_mapping (Dict[Any, tuple]) – Dictionary from a layer to its min/max output values.', {
  layer_min_max_mapping: { Relu: [0, 20] },
});
const convolutions = { kernel_ops: ['Conv2D'], activation_ops: [], no_quantization_ops: [] };
known(
  'When quantizing a Keras model, if we want to quantize the kernels of Conv2D layers only, we can set, and we know it’s kernel out/in channel indices are (3, 2) respectivly:',
  { kernel_channels_mapping: { Conv2D: [3, 2] } },
  { ...convolutions, kernel_channels_mapping: { Conv2D: [null, 2] } },
);
const document = { ...convolutions, kernel_channels_mapping: { Conv2D: [3, 2] } };
shows(
  'Then, we can create a FrameworkInfo object: >>> FrameworkInfo(kernel_ops, [], [], kernel_channels_mapping, {}, {}) and pass it to keras_post_training_quantization()',
  anyPlatform,
  informed(document),
);
known(
  'To quantize the activations of ReLU, we can create a new FrameworkInfo instance:',
  { activation_ops: ['ReLU'] },
  document,
);
known(
  'If we don’t want to quantize a layer (e.g. Reshape), we can add it to the no_no_quantization_ops list:',
  { activation_ops: ['ReLU'], no_quantization_ops: ['Reshape', 'Add'] },
  { ...document, activation_ops: ['ReLU', 'Add'] },
);
known(
  'If an activation layer (tf.keras.layers.Activation) should be quantized and we know it’s min/max outputs range in advanced, we can add it to activation_min_max_mapping for saving the statistics collection time.',
  { activation_min_max_mapping: { relu: [0, 1] } },
  { ...document, activation_ops: ['ReLU'] },
);
known(
  'If a layer’s activations should be quantized and we know it’s min/max outputs range in advanced, we can add it to layer_min_max_mapping for saving the statistics collection time.',
  { layer_min_max_mapping: { ReLU: [0, 1] } },
  { ...document, activation_ops: ['ReLU'] },
);
