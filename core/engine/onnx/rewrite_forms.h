// SPDX-License-Identifier: Apache-2.0
// Forms in which exporters write what can be run and quantized as something plainer. A model is rewritten when it is
// opened to be run; files that are only converted or looked at keep their form.
#pragma once

#include "core/graph/graph.h"

namespace tersor::onnx {

/// All of the below, in an order in which each finds what it needs, and operator sets before 7 raised to 7. A second
/// call changes nothing. Errors of convert_to_opset().
void rewrite_forms(Model& model);

/// Floats of 16 bits (float16 and bfloat16) become float32: constants, casts, declared types, in subgraphs too. Inputs
/// and outputs that the file has in 16 bits are named in Model::narrow, and restore_edges() gives them their type
/// again.
void widen_floats(Model& model);

/// Last nodes that make names of classes, texts or maps of a result (ZipMap, LabelEncoder, a choice among texts) are
/// moved to Model::tails, and what they read becomes the output.
void cut_tails(Model& model);

/// The model as a file has it: with Casts after the inputs and before the outputs that Model::narrow names, and with
/// its tails.
Model restore_edges(Model model);
/// Its part of that.
void restore_tails(Model& model);

/// Sequences of tensors that are known before a run (SplitToSequence, SequenceConstruct, SequenceInsert, SequenceAt,
/// SequenceLength, ConcatFromSequence) become Split, Slice, Gather and Concat.
void rewrite_sequences(Model& model);

/// Scaler, Normalizer and ArrayFeatureExtractor of ai.onnx.ml become ONNX's own arithmetic.
void rewrite_ml_operators(Model& model);

}  // namespace tersor::onnx
