// SPDX-License-Identifier: Apache-2.0
#include "wasm/trainable_objects.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/json.h"
#include "core/trainable/trainable_quantizers.h"
#include "wasm/js_source.h"

namespace tersor::wasm {

using emscripten::val;
using trainable::BaseTrainableQuantizer;
using trainable::Variable;

namespace {

std::vector<float> floats(const val& array) {
  const samples::Bytes bytes = copied(array);
  const auto* first = reinterpret_cast<const float*>(bytes.view.data());
  return {first, first + bytes.view.size() / sizeof(float)};
}

val to_floats(const std::vector<float>& values) {
  return val(emscripten::typed_memory_view(values.size(), values.data())).call<val>("slice");
}

}  // namespace

BaseTrainableQuantizer& TrainableObjects::quantizer(int id) {
  const auto found = all_.find(id);
  TERSOR_CHECK(found != all_.end());
  return *found->second;
}

BaseTrainableQuantizer& TrainableObjects::with_values(int id, const val& variables) {
  BaseTrainableQuantizer& one = quantizer(id);
  size_t k = 0;
  for (Variable& variable : one.variables()) {
    std::vector<float> given = floats(variables[k++]);
    if (given.size() != variable.value.size())
      throw Error(ErrorCode::kInvalidArgument, "The variable \"" + variable.name + "\" has " +
                                                   std::to_string(variable.value.size()) + " values and came with " +
                                                   std::to_string(given.size()) + ".");
    variable.value = std::move(given);
    std::fill(variable.gradient.begin(), variable.gradient.end(), 0.0f);
  }
  return one;
}

val TrainableObjects::make(const std::string& text) {
  auto made = trainable::TrainableQuantizers().from_config(parse_json(text, "quantizer"), "");
  val answer = val::object();
  answer.set("id", next_);
  answer.set("config", to_text(made->get_config(), false));
  all_[next_++] = std::move(made);
  return answer;
}

val TrainableObjects::initialize(int id, const val& values, const val& shape, const std::string& name) {
  std::vector<int64_t> dims;
  for (const double dim : emscripten::vecFromJSArray<double>(shape)) dims.push_back(static_cast<int64_t>(dim));
  BaseTrainableQuantizer& one = quantizer(id);
  one.initialize_quantization(floats(values), dims, name);
  Json info = Json::array();
  val all = val::array();
  for (const Variable& variable : one.variables()) {
    info.push_back(
        {{"name", variable.name}, {"group", enum_word(variable.group)}, {"is_trainable", variable.is_trainable}});
    all.call<void>("push", to_floats(variable.value));
  }
  val answer = val::object();
  answer.set("info", to_text(info, false));
  answer.set("values", all);
  return answer;
}

val TrainableObjects::call(int id, const val& variables, const val& inputs, bool training) {
  std::vector<float> values = floats(inputs);
  with_values(id, variables).call(values, values, training);
  return to_floats(values);
}

val TrainableObjects::gradient(int id, const val& variables, const val& inputs, const val& by_output) {
  BaseTrainableQuantizer& one = with_values(id, variables);
  const std::vector<float> values = floats(inputs);
  std::vector<float> derivatives = floats(by_output);
  one.gradient(values, derivatives, derivatives);
  val gradients = val::array();
  for (const Variable& variable : one.variables()) gradients.call<void>("push", to_floats(variable.gradient));
  val answer = val::object();
  answer.set("by_input", to_floats(derivatives));
  answer.set("gradients", gradients);
  return answer;
}

std::string TrainableObjects::convert(int id, const val& variables) {
  const auto inferable = with_values(id, variables).convert2inferable();
  return inferable == nullptr ? "null" : to_text(trainable::to_json(*inferable), false);
}

std::string TrainableObjects::trainable(int id, const std::string& group) {
  BaseTrainableQuantizer& one = quantizer(id);
  const auto wanted = enum_from_word<trainable::VariableGroup>(group, "group");
  Json numbers = Json::array();
  const auto trained = one.get_trainable_variables(wanted);
  int number = 0;
  for (const Variable& variable : one.variables()) {
    if (std::find(trained.begin(), trained.end(), &variable) != trained.end()) numbers.push_back(number);
    ++number;
  }
  return to_text(numbers, false);
}

}  // namespace tersor::wasm
