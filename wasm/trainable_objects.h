// SPDX-License-Identifier: Apache-2.0
// Trainable quantizers that JavaScript holds by number. Its side keeps the values of their variables and gives them
// with every call, so that it may change them in between.
#pragma once

#include <emscripten/val.h>

#include <map>
#include <memory>
#include <string>

#include "core/trainable/base_trainable_quantizer.h"

namespace tersor::wasm {

class TrainableObjects {
 public:
  /// `text`: JSON as TrainableQuantizers::from_config() reads it. {id, config}, config being JSON.
  emscripten::val make(const std::string& text);
  void drop(int id) { all_.erase(id); }

  /// {info, values}: info is JSON of the variables without their values.
  emscripten::val initialize(int id, const emscripten::val& values, const emscripten::val& shape,
                             const std::string& name);
  /// `variables`: Float32Arrays of their values, in order.
  emscripten::val call(int id, const emscripten::val& variables, const emscripten::val& inputs, bool training);
  /// {by_input, gradients}.
  emscripten::val gradient(int id, const emscripten::val& variables, const emscripten::val& inputs,
                           const emscripten::val& by_output);
  /// JSON of the inferable quantizer; "null" where there is none.
  std::string convert(int id, const emscripten::val& variables);
  /// Reads what is trained of a group, for its checks: JSON list of the variables' numbers.
  std::string trainable(int id, const std::string& group);

 private:
  trainable::BaseTrainableQuantizer& quantizer(int id);
  trainable::BaseTrainableQuantizer& with_values(int id, const emscripten::val& variables);

  std::map<int, std::unique_ptr<trainable::BaseTrainableQuantizer>> all_;
  int next_ = 1;
};

}  // namespace tersor::wasm
