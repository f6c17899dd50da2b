// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "core/onnx/external_files.h"
#include "core/onnx/source.h"
#include "core/tensor/tensor.h"

namespace tersor::onnx {

struct NamedTensor {
  std::string name;
  std::string doc;
  Tensor tensor;
};

/// Reads an encoded TensorProto. Raw, external, and packed float or double data alias their file, whose bytes `model`
/// keeps alive; other forms are decoded once. Errors have no place but the tensor's name.
NamedTensor read_tensor(std::string_view message, const Source& model, ExternalFiles& external);

/// Reads an encoded SparseTensorProto as the dense tensor it stands for. Error kUnsupportedModel when that would have
/// more than 2 GiB.
NamedTensor read_sparse_tensor(std::string_view message, const Source& model, ExternalFiles& external);

}  // namespace tersor::onnx
