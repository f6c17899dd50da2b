// SPDX-License-Identifier: Apache-2.0
#include "own_quantizers.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstring>

#include "core/base/error.h"
#include "core/base/json.h"

namespace tersor::python {

namespace nb = nanobind;

namespace {

using trainable::QuantizerMark;
using trainable::Variable;

/// Let go with the GIL, wherever that happens.
using Held = std::shared_ptr<nb::object>;
Held held(nb::object object) {
  return {new nb::object(std::move(object)), [](nb::object* one) {
            const nb::gil_scoped_acquire locked;
            delete one;
          }};
}

nb::bytes bytes_of_floats(std::span<const float> values) {
  return nb::bytes(values.data(), values.size_bytes());
}

nb::list bytes_of_variables(const std::deque<Variable>& variables) {
  nb::list list;
  for (const Variable& one : variables) list.append(bytes_of_floats(one.value));
  return list;
}

class PythonQuantizer : public trainable::BaseTrainableQuantizer {
 public:
  template <class Config>
  PythonQuantizer(std::shared_ptr<const QuantizerMark> mark, const Config& config, bool freeze, const nb::object& make)
      : BaseTrainableQuantizer(*mark, config, freeze), own_mark_(std::move(mark)) {
    adapter_ = held(make(to_text(tersor::to_json(config), false)));
  }

 private:
  nb::object ask(const char* method) const { return adapter_->attr(method); }

  void initialize(std::span<const float> values, const Shape& shape) override {
    const nb::gil_scoped_acquire locked;
    nb::list dims;
    for (const int64_t dim : shape.dims()) dims.append(dim);
    const nb::object made = ask("initialize")(bytes_of_floats(values), dims, name());
    for (const nb::handle one : made) {
      const auto [label, group, is_trained, value] =
          nb::cast<std::tuple<std::string, std::string, bool, nb::bytes>>(one);
      const auto* floats = static_cast<const float*>(value.data());
      add_variable(label, enum_from_word<trainable::VariableGroup>(group, "group"),
                   {floats, floats + value.size() / sizeof(float)}, is_trained);
    }
  }

  void quantize(std::span<const float> inputs, std::span<float> outputs, bool training) override {
    const nb::gil_scoped_acquire locked;
    take(ask("call")(bytes_of_floats(inputs), bytes_of_variables(variables()), training), outputs);
  }

  void differentiate(std::span<const float> inputs, std::span<const float> by_output,
                     std::span<float> by_input) override {
    const nb::gil_scoped_acquire locked;
    const nb::object found =
        ask("gradient")(bytes_of_floats(inputs), bytes_of_floats(by_output), bytes_of_variables(variables()));
    if (!by_input.empty()) take(found[0], by_input);
    size_t next = 0;
    for (Variable& one : variables()) {
      std::vector<float> gradient(one.value.size());
      take(found[1][next++], gradient);
      for (size_t i = 0; i < gradient.size(); ++i) one.gradient[i] += gradient[i];
    }
  }

  std::unique_ptr<trainable::InferableQuantizer> to_inferable() const override {
    const nb::gil_scoped_acquire locked;
    const auto text = nb::cast<std::string>(ask("inferable")(bytes_of_variables(variables())));
    const std::string place = mark().class_name + ".convert2inferable()";
    return trainable::read_inferable_quantizer(parse_json(text, place), place);
  }

  /// The adapter has seen to it that there are as many.
  static void take(const nb::object& found, std::span<float> values) {
    const auto bytes = nb::cast<nb::bytes>(found);
    TERSOR_CHECK(bytes.size() == values.size_bytes());
    std::memcpy(values.data(), bytes.data(), bytes.size());
  }

  std::shared_ptr<const QuantizerMark> own_mark_;
  Held adapter_;
};

trainable::TrainableQuantizerClass class_of(const nb::handle& given) {
  const auto [name, target, methods, identifier, make] =
      nb::cast<std::tuple<std::string, std::string, std::vector<std::string>, std::string, nb::object>>(given);
  QuantizerMark mark{name, enum_from_word<trainable::QuantizationTarget>(target, name), {}, identifier};
  for (const std::string& one : methods)
    mark.quantization_method.push_back(enum_from_word<quant::QuantizationMethod>(one, name));
  const auto shared = std::make_shared<const QuantizerMark>(std::move(mark));
  return {shared.get(),
          [shared, factory = held(make)](const trainable::TrainableQuantizerConfig& config,
                                         bool freeze) -> trainable::TrainableQuantizerClass::Ptr {
            const nb::gil_scoped_acquire locked;
            const auto made = [&](const auto& one) {
              return std::make_unique<PythonQuantizer>(shared, one, freeze, *factory);
            };
            return std::visit(made, config);
          }};
}

}  // namespace

std::shared_ptr<const trainable::TrainableQuantizers> own_quantizers(const nb::list& classes) {
  if (nb::len(classes) == 0) return nullptr;
  auto all = std::make_shared<trainable::TrainableQuantizers>();
  for (const nb::handle one : classes) all->add(class_of(one));
  return all;
}

}  // namespace tersor::python
