// SPDX-License-Identifier: Apache-2.0
#include "core/ops/broadcast.h"

#include <algorithm>

#include "core/ops/refuse.h"
#include "core/ops/strided.h"

namespace tersor::ops {

namespace {

int widest_rank(std::span<const Input> inputs) {
  int rank = 0;
  for (const Input& input : inputs)
    if (input.present()) rank = std::max(rank, input.shape().rank());
  return rank;
}

}  // namespace

Layout shared_layout(std::span<const Input> inputs, int rank) {
  if (rank < 3) return Layout::kPlain;
  int64_t plain = 0, channels_last = 0;
  for (const Input& input : inputs) {
    if (!input.present() || input.data != nullptr || layouts_coincide(input.shape())) continue;
    (input.type->layout == Layout::kChannelsLast && input.shape().rank() == rank ? channels_last : plain) +=
        input.elements();
  }
  if (channels_last == 0 && plain == 0)  // nothing to convert: follow the first that has channels last
    for (const Input& input : inputs)
      if (input.present() && input.type->layout == Layout::kChannelsLast) return Layout::kChannelsLast;
  return channels_last >= plain && channels_last > 0 ? Layout::kChannelsLast : Layout::kPlain;
}

std::vector<Form> elementwise_forms(std::span<const Input> inputs) {
  const int rank = widest_rank(inputs);
  const Layout layout = shared_layout(inputs, rank);
  std::vector<Form> forms;
  for (const Input& input : inputs) {
    if (!input.present())
      forms.push_back({});
    else if (input.elements() == 1 && input.shape().rank() < rank)
      forms.push_back({Layout::kPlain, input.shape().rank()});
    else
      forms.push_back({layout, rank});
  }
  return forms;
}

TensorType broadcast_type(std::span<const Input> inputs, DType dtype) {
  TensorType type{dtype, inputs[0].shape(), Layout::kPlain};
  const int rank = widest_rank(inputs);
  for (const Input& input : inputs) {
    if (!input.present()) continue;
    type.shape = broadcast(type.shape, input.shape());
    if (input.shape().rank() == rank && input.type->layout == Layout::kChannelsLast)
      type.layout = Layout::kChannelsLast;
  }
  return type;
}

BroadcastLoop::BroadcastLoop(std::span<const Input> inputs, const TensorType& output)
    : elements_(output.shape.elements()) {
  const std::vector<int64_t> dims = physical_dims(output);
  std::vector<Axis> axes(dims.size());
  for (size_t k = 0; k < dims.size(); ++k) axes[k].length = dims[k];
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].present() || inputs[i].elements() == 1) continue;
    const std::vector<int64_t> own = physical_dims(*inputs[i].type);
    const std::vector<int64_t> strides = row_major_strides(own);
    const size_t lead = dims.size() - own.size();
    for (size_t k = 0; k < own.size(); ++k) axes[lead + k].step[i] = own[k] == 1 ? 0 : strides[k];
  }
  for (const Axis& axis : axes) {
    if (axis.length == 1) continue;
    const auto continues = [&](const Axis& last) {
      for (size_t i = 0; i < 3; ++i)
        if (last.step[i] != axis.step[i] * axis.length) return false;
      return true;
    };
    if (!outer_.empty() && continues(outer_.back())) {
      const int64_t length = outer_.back().length * axis.length;
      outer_.back() = axis;
      outer_.back().length = length;
    } else {
      outer_.push_back(axis);
    }
  }
  if (!outer_.empty()) {
    inner_ = outer_.back();
    outer_.pop_back();
  }
  inner_.length = std::max<int64_t>(inner_.length, 1);
}

}  // namespace tersor::ops
