// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/tensor/tensor.h"

namespace tersor::onnx {

/// Bytes of a file and what keeps them alive. Tensors alias them, so that weights are held once.
struct Source {
  std::shared_ptr<const void> owner;
  std::span<const std::byte> bytes;

  static Source of(std::vector<std::byte> bytes) {
    auto held = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
    const std::span<const std::byte> view(*held);
    return {std::move(held), view};
  }
};

/// Whether a tensor's bytes are some of a file's.
inline bool lies_in(std::span<const std::byte> file, const Tensor& tensor) {
  if (tensor.byte_count() == 0) return false;
  const std::less<const std::byte*> before;
  const std::byte* begin = tensor.bytes().data();
  return !before(begin, file.data()) && before(begin, file.data() + file.size());
}

/// Finds the file that a model keeps weights in, by the name written in the model: a relative path with `/` and without
/// `..`. Asked once per name. Throws Error kIo when the file is not there.
using ExternalData = std::function<Source(const std::string& location)>;

}  // namespace tersor::onnx
