// SPDX-License-Identifier: Apache-2.0
#include "core/trainable/quantizer_mark.h"

#include <algorithm>

#include "core/base/error.h"

namespace tersor::trainable {

namespace {

std::string listed(const std::vector<const QuantizerMark*>& marks) {
  std::vector<std::string> texts;
  for (const QuantizerMark* one : marks) texts.push_back(one->text());
  return joined(texts);
}

bool fits(const QuantizerMark& mark, QuantizationTarget target, quant::QuantizationMethod method,
          const std::string& identifier) {
  const auto& methods = mark.quantization_method;
  return mark.quantization_target == target && mark.identifier == identifier &&
         std::find(methods.begin(), methods.end(), method) != methods.end();
}

}  // namespace

std::string QuantizerMark::text() const {
  std::vector<std::string> methods;
  for (const quant::QuantizationMethod one : quantization_method) methods.emplace_back(enum_word(one));
  return class_name + " (" + std::string(enum_word(quantization_target)) + "; " + joined(methods) + "; " + identifier +
         ")";
}

void check(const QuantizerMark& mark) {
  const char* missing = mark.class_name.empty()            ? "class name"
                        : mark.quantization_method.empty() ? "quantization method"
                        : mark.identifier.empty()          ? "identifier"
                                                           : nullptr;
  if (missing == nullptr) return;
  throw Error(ErrorCode::kInvalidConfig,
              "The mark of the quantizer \"" + mark.class_name + "\" has no " + missing + ".", missing,
              "A mark names class, target (Weights or Activation), methods and identifier.");
}

const QuantizerMark& select(const std::vector<const QuantizerMark*>& marks, QuantizationTarget target,
                            quant::QuantizationMethod method, const std::string& identifier) {
  std::vector<const QuantizerMark*> found;
  for (const QuantizerMark* one : marks)
    if (fits(*one, target, method, identifier)) found.push_back(one);
  if (found.size() == 1) return *found[0];
  const std::string wanted =
      std::string(enum_word(target)) + ", " + std::string(enum_word(method)) + " and " + identifier;
  if (found.empty())
    throw Error(ErrorCode::kInvalidConfig, "There is no quantizer for " + wanted + ".", "",
                "There are: " + listed(marks) + ".");
  throw Error(ErrorCode::kInvalidConfig,
              "There are " + std::to_string(found.size()) + " quantizers for " + wanted +
                  ", and one is expected: " + listed(found) + ".",
              "", "Give one of them another identifier.");
}

}  // namespace tersor::trainable
