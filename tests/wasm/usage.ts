// SPDX-License-Identifier: Apache-2.0
//
// Checked by tsc, never run: the package as a caller's types see it, the wrong uses included.
import { Tensor as RuntimeTensor } from 'onnxruntime-node';
import {
  LastValueQuantizer,
  MovingAverageQuantizer,
  QuantizationConfig,
  QuantizationMethod,
  Tersor,
  TersorError,
  TrainableQuantizerWeightsConfig,
  VariableGroup,
  type BaseTrainableQuantizer,
  type Layer,
  type LayerActivation,
  type LayerWeight,
  type Model,
  type Progress,
  type QuantizeConfig,
  type SampleFile,
  type Statistics,
} from 'tersor';

class MyDenseQuantizeConfig implements QuantizeConfig {
  get_weights_and_quantizers(layer: Layer) {
    return [[layer.kernel, new LastValueQuantizer()] as const];
  }
  get_activations_and_quantizers(layer: Layer) {
    return [[layer.activation, new MovingAverageQuantizer({ num_bits: 8 })] as const];
  }
  set_quantize_weights(layer: Layer, quantize_weights: readonly LayerWeight[]) {
    if (quantize_weights[0]) layer.kernel = quantize_weights[0];
  }
  set_quantize_activations(layer: Layer, quantize_activations: readonly LayerActivation[]) {
    if (quantize_activations[0]) layer.activation = quantize_activations[0];
  }
  get_output_quantizers() {
    return [];
  }
  get_config() {
    return {};
  }
}

export async function use(bytes: Uint8Array, file: File, pictures: readonly SampleFile[]): Promise<Uint8Array> {
  const tersor = await Tersor.create({
    workers: 'auto',
    wasmBinary: new ArrayBuffer(8),
    locateFile: (name) => `/x/${name}`,
  });
  await tersor.open(file, { externalData: new Map([['weights.bin', new Blob([])]]) });
  const model: Model = await tersor.open(bytes, { signal: AbortSignal.timeout(1000) });
  const shape: readonly (number | string)[] | null | undefined = model.info.inputs[0]?.shape;
  const report = (progress: Progress): number => progress.done / progress.total;
  const statistics: Statistics = await model.calibrate(pictures, {
    platform: 'ort-cpu',
    config: { weights_bias_correction: false, activation_threshold_method: 'MSE' },
    preprocessing: 'imagenet',
    selection: { part: 'calibration', count: 128 },
    onProgress: report,
  });
  await model.calibrate([{ x: new Float32Array(4) }, { x: { data: new Uint8Array(4), shape: [1, 4] } }]);
  await model.calibrate(
    (async function* () {
      yield { x: new Float32Array(4) };
    })(),
  );
  const quantized = await model.quantize({ statistics });
  const { value, interval } = await quantized.evaluate(pictures, 'folders', { metric: 'top5' });
  const lower: number | undefined = interval?.lower;
  await quantized.evaluate(pictures, [0, 1, 2]);
  const comparison = await quantized.compare(pictures, { limit: 64, runtime: 'wasm' });
  for await (const { inputs, outputs } of quantized.run(pictures, { limit: 1, runtime: 'wasm' })) {
    const types: string[] = [...inputs, ...outputs].map(({ type }) => type);
    types.sort();
  }
  const decibels: number | null | undefined = comparison.layers[0]?.isolated_sqnr_db;

  await model.quantize({ statistics, overrides: [{ name: 'dense', quantize_config: new MyDenseQuantizeConfig() }] });
  // @ts-expect-error neither data nor the six methods
  await model.quantize({ statistics, overrides: [{ name: 'dense', quantize_config: { set_quantize_weights: 1 } }] });
  // @ts-expect-error a metric that there is not
  await model.evaluate(pictures, null, { metric: 'top3' });
  // names that are values and types
  const asked: QuantizationConfig = new QuantizationConfig({
    weights_quantization_method: QuantizationMethod.SYMMETRIC_UNIFORM,
  });
  await model.calibrate('pictures', { config: asked });
  // @ts-expect-error a method that there is not
  void new TrainableQuantizerWeightsConfig({ weights_quantization_method: 'SYMETRIC' });
  const quantizer: BaseTrainableQuantizer = tersor.trainableQuantizer({
    identifier: 'LSQ',
    config: new TrainableQuantizerWeightsConfig({ weights_quantization_method: QuantizationMethod.UNIFORM }),
  });
  for (const { value, gradient } of quantizer.get_trainable_variables(VariableGroup.QPARAMS))
    value[0] = (value[0] ?? 0) - (gradient[0] ?? 0);
  await model.calibrate('pictures');
  await model.calibrate(['pictures/a.png', new Blob([bytes as BlobPart]), new ImageData(48, 48), file]);
  await model.calibrate([{ input: new RuntimeTensor('float32', new Float32Array(4), [1, 4]) }]);
  async function* streamed(): AsyncGenerator<SampleFile> {
    yield* pictures;
  }
  await model.calibrate(streamed());
  await tersor.open('model.onnx');
  // @ts-expect-error samples are no number
  await model.calibrate(5);
  // @ts-expect-error the worker count is a number or 'auto'
  await Tersor.create({ workers: 'many' });
  // @ts-expect-error an opened model cannot be changed
  model.info = null;

  try {
    tersor.getTargetPlatformCapabilities('nowhere', 1);
  } catch (error) {
    if (error instanceof TersorError) console.log(error.code, error.place, error.hint, shape, value, lower, decibels);
  }
  model.close();
  tersor.close();
  return quantized.model;
}
