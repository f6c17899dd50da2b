// SPDX-License-Identifier: Apache-2.0
//
// Every type that crosses the edge of the package `tersor`. Types only: nothing here exists at run time, so the page, the
// workers and the tests may all import it freely.
//
// Two spellings meet here. Functions and options of the package are camelCase. Everything that also exists as JSON (model
// information, configuration, recipe, report) is the core's JSON unchanged, in snake_case, so that the page, the report
// and the native program print the same keys.

export type {
  GradientPTQConfig,
  IgnoredScope,
  MixedPrecisionQuantizationConfig,
  QuantizationConfig,
  ResourceUtilization,
} from './quantization_config.js';
export type * from './requirements.js';
export type * from './types/errors.js';
export type * from './types/host.js';
export type * from './types/progress.js';
export type * from './types/samples.js';
export type * from './types/model.js';
export type * from './types/layers.js';
export type * from './types/settings.js';
export type * from './types/evaluation.js';
export type * from './types/report.js';
export type * from './types/classes.js';
