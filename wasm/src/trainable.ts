// SPDX-License-Identifier: Apache-2.0
//
// The classes of trainable_infrastructure as values, and the quantizers that they describe, which compute in the caller's
// own core: `tersor.trainableQuantizer({ identifier: 'LSQ', config: new TrainableQuantizerWeightsConfig({ ... }) })`.

import { jsonOf, valueOf, type Core } from './core.js';
import { describedByDefaults } from './described.js';
import { TersorError } from './error.js';
import type { QuantizationMethod } from './requirements.js';

export const QuantizationTarget = { Weights: 'Weights', Activation: 'Activation' } as const;
export type QuantizationTarget = (typeof QuantizationTarget)[keyof typeof QuantizationTarget];

/** Variables that stand for weights, and those of the quantizer. */
export const VariableGroup = { WEIGHTS: 'WEIGHTS', QPARAMS: 'QPARAMS' } as const;
export type VariableGroup = (typeof VariableGroup)[keyof typeof VariableGroup];

/** The documents' name of a key: `{ [THRESHOLD]: 2.0 }`. */
export const THRESHOLD = 'threshold';

/** One number for the tensor, or one for each channel. */
export type PerChannel = number | readonly number[];

/** Where a quantizer starts; what is left out follows from the values that it is initialized with. */
export interface TrainableQuantizationParams {
  /** Above 0; UNIFORM takes it as both ends. */
  readonly threshold?: PerChannel | null | undefined;
  readonly range_min?: PerChannel | null | undefined;
  readonly range_max?: PerChannel | null | undefined;
  readonly lut_values?: PerChannel | null | undefined;
  /** Activations: whether values below 0 have codes; null: where there are such values. */
  readonly is_signed?: boolean | null | undefined;
  readonly narrow_range?: boolean | undefined;
}

export interface TrainableQuantizerCandidateConfig {
  readonly n_bits?: number | undefined;
  readonly quantization_params?: TrainableQuantizationParams | undefined;
}
export const TrainableQuantizerCandidateConfig = describedByDefaults<TrainableQuantizerCandidateConfig>();

export interface TrainableQuantizerWeightsConfig {
  readonly weights_quantization_method: QuantizationMethod;
  /** 2 to 16. */
  readonly weights_n_bits?: number | undefined;
  readonly weights_quantization_params?: TrainableQuantizationParams | undefined;
  readonly enable_weights_quantization?: boolean | undefined;
  /** Below 0 it counts from the end. */
  readonly weights_channels_axis?: number | undefined;
  readonly weights_per_channel_threshold?: boolean | undefined;
  readonly min_threshold?: number | undefined;
  readonly weights_quantization_candidates?: readonly TrainableQuantizerCandidateConfig[] | null | undefined;
}
export const TrainableQuantizerWeightsConfig = class {
  constructor(members: TrainableQuantizerWeightsConfig) {
    Object.assign(this, members);
  }
} as new (members: TrainableQuantizerWeightsConfig) => TrainableQuantizerWeightsConfig;

export interface TrainableQuantizerActivationConfig {
  readonly activation_quantization_method: QuantizationMethod;
  /** 2 to 16. */
  readonly activation_n_bits?: number | undefined;
  readonly activation_quantization_params?: TrainableQuantizationParams | undefined;
  readonly enable_activation_quantization?: boolean | undefined;
  readonly min_threshold?: number | undefined;
  readonly activation_quantization_candidates?: readonly TrainableQuantizerCandidateConfig[] | null | undefined;
}
export const TrainableQuantizerActivationConfig = class {
  constructor(members: TrainableQuantizerActivationConfig) {
    Object.assign(this, members);
  }
} as new (members: TrainableQuantizerActivationConfig) => TrainableQuantizerActivationConfig;

export type TrainableQuantizerConfig = TrainableQuantizerWeightsConfig | TrainableQuantizerActivationConfig;

/** What training changes. Values may be written; quantizers add to gradients, and who steps sets them back to 0. */
export interface Variable {
  readonly name: string;
  readonly group: VariableGroup;
  readonly value: Float32Array;
  readonly gradient: Float32Array;
  readonly is_trainable: boolean;
}

/** A quantizer of inference, such as WeightsSymmetricInferableQuantizer with its arguments. */
export interface InferableQuantizerData {
  readonly class_name: string;
  readonly config: Readonly<Record<string, unknown>>;
}

/** What a trainable quantizer does. The core's are made by `trainableQuantizer`; one of your own has the same methods. */
export interface BaseTrainableQuantizer {
  /** Makes the variables for a tensor; a weight comes with all of its values, an activation with some or none. */
  initialize_quantization(values: Float32Array, shape: readonly number[], name: string): void;
  /** Quantized values, of the inputs' length. */
  call(inputs: Float32Array, training: boolean): Float32Array;
  /** Of a loss with the derivatives `by_output` at `inputs`: adds those by the variables, returns those by the inputs. */
  gradient(inputs: Float32Array, by_output: Float32Array): Float32Array;
  /** Null where quantization is not enabled. */
  convert2inferable(): InferableQuantizerData | null;
  get_trainable_variables(group: VariableGroup): readonly Variable[];
  /** `{ quantization_config, is_weights, is_activations, freeze_quant_params }`. */
  get_config(): Readonly<Record<string, unknown>>;
}
/** The documents have a base for each framework. */
export type BaseKerasTrainableQuantizer = BaseTrainableQuantizer;
export type BasePytorchTrainableQuantizer = BaseTrainableQuantizer;

/** Which class, and what it is made from: target and method are the config's. */
export interface TrainableQuantizerOptions {
  /** Default STE; there are LSQ and, of weights, SOFT (rounding that is learned). */
  readonly identifier?: string | undefined;
  readonly config: TrainableQuantizerConfig;
  readonly freeze_quant_params?: boolean | undefined;
}

/** The core's memory of a quantizer goes when nobody holds the quantizer any more. */
const dropped = new FinalizationRegistry<{ readonly core: Core; readonly id: number }>(({ core, id }) => {
  core.dropTrainable(id);
});

function floatsOf(value: Float32Array, what: string): Float32Array {
  if (value instanceof Float32Array) return value;
  throw new TersorError({ code: 'invalid_argument', message: `${what} are a Float32Array.`, place: what });
}

/** A quantizer of the core, with its variables on this side. */
export class CoreTrainableQuantizer implements BaseTrainableQuantizer {
  readonly #core: Core;
  readonly #id: number;
  readonly #config: string;
  #variables: readonly Variable[] = [];

  constructor(core: Core, options: TrainableQuantizerOptions) {
    const { identifier = 'STE', config, freeze_quant_params = false } = options;
    const given = {
      class_name: 'BaseTrainableQuantizer',
      identifier,
      config: { quantization_config: config, freeze_quant_params },
    };
    const { id, config: text } = valueOf(core.makeTrainable(JSON.stringify(given)));
    this.#core = core;
    this.#id = id;
    this.#config = text;
    dropped.register(this, { core, id });
  }

  initialize_quantization(values: Float32Array, shape: readonly number[], name: string): void {
    const made = valueOf(this.#core.initializeTrainable(this.#id, floatsOf(values, 'values'), shape, name));
    const info = JSON.parse(made.info) as readonly Pick<Variable, 'name' | 'group' | 'is_trainable'>[];
    this.#variables = info.map((one, k) => {
      const value = made.values[k] ?? new Float32Array(0);
      return { ...one, value, gradient: new Float32Array(value.length) };
    });
  }

  call(inputs: Float32Array, training: boolean): Float32Array {
    return valueOf(this.#core.callTrainable(this.#id, this.#values(), floatsOf(inputs, 'inputs'), training));
  }

  gradient(inputs: Float32Array, by_output: Float32Array): Float32Array {
    const [x, by] = [floatsOf(inputs, 'inputs'), floatsOf(by_output, 'by_output')];
    const { by_input, gradients } = valueOf(this.#core.gradientOfTrainable(this.#id, this.#values(), x, by));
    this.#variables.forEach(({ gradient }, k) => {
      gradients[k]?.forEach((more, i) => {
        gradient[i] = (gradient[i] ?? 0) + more;
      });
    });
    return by_input;
  }

  convert2inferable(): InferableQuantizerData | null {
    return jsonOf(this.#core.convertTrainable(this.#id, this.#values()));
  }

  get_trainable_variables(group: VariableGroup): readonly Variable[] {
    const numbers = jsonOf<readonly number[]>(this.#core.variablesOfTrainable(this.#id, group));
    return this.#variables.filter((_, k) => numbers.includes(k));
  }

  get_config(): Readonly<Record<string, unknown>> {
    return JSON.parse(this.#config) as Readonly<Record<string, unknown>>;
  }

  #values(): readonly Float32Array[] {
    return this.#variables.map(({ value }) => value);
  }
}
