// SPDX-License-Identifier: Apache-2.0
#include "core/run/fold.h"

#include <cstring>

#include "core/graph/uses.h"
#include "core/run/operators.h"
#include "core/run/prepared.h"

namespace tersor::run {

using ops::Input;
using ops::Layout;
using ops::Output;
using ops::TensorType;

void check_memory(int64_t bytes, int64_t limit) {
  if (bytes <= limit) return;
  throw Error(ErrorCode::kOutOfMemory,
              "Running this needs " + std::to_string(bytes >> 20) + " MiB at once; the limit is " +
                  std::to_string(limit >> 20) + " MiB.",
              {}, "Use a smaller batch or smaller inputs.");
}

Error too_many_outputs(size_t named, size_t given) {
  return Error(ErrorCode::kInvalidModel, "The node names " + std::to_string(named) + " outputs; its operator gives " +
                                             std::to_string(given) + ".");
}

void require_turnable(DType dtype) {
  if (bits_of(dtype) < 8)
    throw Error(ErrorCode::kUnsupportedModel, "The type " + std::string(name_of(dtype)) + " is not supported here.");
}

namespace {

/// `tensor` in the form a kernel wants; plain tensors of the right rank are returned as they are.
Tensor in_form(const Tensor& tensor, const ops::Form& form) {
  std::vector<int64_t> dims(static_cast<size_t>(std::max(0, form.rank - tensor.shape().rank())), 1);
  dims.insert(dims.end(), tensor.shape().begin(), tensor.shape().end());
  const Tensor ranked = tensor.reshaped(Shape(std::move(dims)));
  if (form.layout == Layout::kPlain || ops::layouts_coincide(ranked.shape())) return ranked;
  require_turnable(ranked.dtype());
  Tensor turned = Tensor::make(ranked.dtype(), ranked.shape());
  ops::convert_layout({ranked.dtype(), ranked.shape(), Layout::kPlain}, ranked.bytes().data(), form.layout,
                      turned.mutable_bytes().data());
  return turned;
}

Tensor to_plain(Tensor tensor, const TensorType& type) {
  if (type.layout == Layout::kPlain) return tensor;
  Tensor plain = Tensor::make(type.dtype, type.shape);
  ops::convert_layout(type, tensor.bytes().data(), Layout::kPlain, plain.mutable_bytes().data());
  return plain;
}

}  // namespace

std::optional<std::vector<Tensor>> run_once(const ops::Kernel& kernel, std::span<const Tensor> inputs,
                                            const std::vector<bool>& absorbed, const std::vector<bool>& wanted,
                                            int64_t limit) {
  const size_t count = inputs.size();
  std::vector<Tensor> formed(inputs.begin(), inputs.end());
  std::vector<TensorType> types(count);
  std::vector<Input> views(count);
  const auto describe = [&](size_t k, Layout layout) {
    types[k] = {formed[k].dtype(), formed[k].shape(), layout};
    views[k] = {&types[k], absorbed[k] ? nullptr : formed[k].bytes().data()};
  };
  for (size_t k = 0; k < count; ++k)
    if (!inputs[k].empty()) {
      formed[k] = inputs[k].aligned();
      describe(k, Layout::kPlain);
    }
  const std::vector<ops::Form> forms = kernel.forms(views);
  for (size_t k = 0; k < count; ++k)
    if (views[k].present() && !absorbed[k]) {
      formed[k] = in_form(formed[k], forms[k]);
      describe(k, forms[k].layout);
    }
  const std::vector<TensorType> output_types = kernel.infer(views);
  if (output_types.size() < wanted.size()) throw too_many_outputs(wanted.size(), output_types.size());
  const int64_t scratch_bytes = kernel.scratch_bytes(views, output_types);
  if (scratch_bytes > limit) return std::nullopt;
  for (const TensorType& type : output_types)
    if (type.bytes() > limit) return std::nullopt;
  const auto source = wanted.size() == 1 ? kernel.alias(views, output_types) : std::nullopt;
  if (source && !absorbed[*source])
    return std::vector<Tensor>{to_plain(formed[*source].reshaped(output_types[0].shape), output_types[0])};
  std::vector<Tensor> results(wanted.size());
  std::vector<Output> outputs(wanted.size());
  for (size_t k = 0; k < results.size(); ++k)
    if (wanted[k]) {
      results[k] = Tensor::make(output_types[k].dtype, output_types[k].shape);
      outputs[k] = {&output_types[k], results[k].mutable_bytes().data()};
    }
  Tensor scratch = Tensor::make(DType::kUint8, Shape{scratch_bytes});
  kernel.run({views, outputs, scratch.mutable_bytes()});
  for (size_t k = 0; k < results.size(); ++k)
    if (wanted[k]) results[k] = to_plain(std::move(results[k]), output_types[k]);
  return results;
}

Constants::Constants(const Model& model, const Uses& uses, const ops::Registry& registry, const std::vector<bool>& live,
                     int64_t limit)
    : model_(model),
      registry_(registry),
      limit_(limit),
      constant_(model.graph.value_count(), false),
      folded_(model.graph.nodes().size(), false),
      readers_(model.graph.value_count(), 0),
      producer_(model.graph.value_count(), -1) {
  const Graph& graph = model.graph;
  for (const auto& [id, tensor] : graph.initializers()) constant_[static_cast<size_t>(id.index)] = true;
  for (size_t i = 0; i < graph.nodes().size(); ++i) {
    if (!live[i]) continue;
    const Node& node = graph.nodes()[i];
    bool all = registry.find(node.domain, node.op_type, model.opset(node.domain)) != nullptr;
    for (const ValueId id : uses.reads(i)) {
      ++readers_[static_cast<size_t>(id.index)];
      all = all && is_constant(id);
    }
    folded_[i] = all;
    for (const ValueId id : node.outputs)
      if (id.valid() && all) {
        constant_[static_cast<size_t>(id.index)] = true;
        producer_[static_cast<size_t>(id.index)] = static_cast<int64_t>(i);
      }
  }
}

const Tensor& Constants::value(ValueId id) {
  const auto ready = [this](ValueId wanted) {
    return values_.count(wanted) != 0 || producer_[static_cast<size_t>(wanted.index)] < 0;
  };
  std::vector<ValueId> waiting{id};
  while (!waiting.empty()) {
    const ValueId next = waiting.back();
    if (ready(next)) {
      waiting.pop_back();
      continue;
    }
    const auto index = static_cast<size_t>(producer_[static_cast<size_t>(next.index)]);
    const size_t before = waiting.size();
    for (const ValueId input : model_.graph.nodes()[index].inputs)
      if (input.valid() && !ready(input)) waiting.push_back(input);
    if (waiting.size() != before) continue;
    compute(index);
    waiting.pop_back();
  }
  const auto found = values_.find(id);
  if (found != values_.end()) return found->second;
  const Tensor& constant = *model_.graph.initializer(id);
  // A copy lets go of the bytes in release(), where the graph would hold them.
  return constant.is_deferred() ? values_.emplace(id, constant.unread()).first->second : constant;
}

void Constants::compute(size_t index) {
  const Node& node = model_.graph.nodes()[index];
  std::vector<Tensor> inputs;
  std::vector<const Tensor*> constants;
  for (const ValueId id : node.inputs) inputs.push_back(id.valid() ? value(id) : Tensor());
  for (const Tensor& input : inputs) constants.push_back(input.empty() ? nullptr : &input);
  std::vector<bool> wanted;
  for (const ValueId id : node.outputs) wanted.push_back(id.valid());
  const std::vector<Tensor> results = at_place(place_of(node, index), [&] {
    const ops::Op& op = operator_of(node, model_, registry_);
    ops::Setup setup(node, model_.opset(node.domain), constants);
    setup.label = model_.graph.label_of(node);
    const auto kernel = op.prepare(setup);
    std::vector<bool> absorbed;
    for (size_t k = 0; k < inputs.size(); ++k) absorbed.push_back(setup.absorbed(k));
    auto made = run_once(*kernel, inputs, absorbed, wanted, limit_);
    if (!made)
      throw Error(ErrorCode::kOutOfMemory, "A constant that this node computes needs more than the limit of " +
                                               std::to_string(limit_ >> 20) + " MiB.");
    return std::move(*made);
  });
  for (size_t k = 0; k < results.size(); ++k)
    if (wanted[k]) values_[node.outputs[k]] = results[k];
  for (const ValueId id : node.inputs)
    if (id.valid()) release(id);
}

void Constants::release(ValueId id) {
  if (--readers_[static_cast<size_t>(id.index)] == 0) values_.erase(id);
}

}  // namespace tersor::run
