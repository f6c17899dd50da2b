// SPDX-License-Identifier: Apache-2.0
// ReverseSequence: the first places of each sample, as many as its length says, in reverse order.
#include <cstring>

#include "core/graph/attribute_defaults.h"
#include "core/ops/families.h"
#include "core/ops/indices.h"

namespace tersor::ops {

namespace {

class ReverseSequence : public Kernel {
 public:
  explicit ReverseSequence(const Setup& setup)
      : batch_axis_(int_of(setup.node, "batch_axis")), time_axis_(int_of(setup.node, "time_axis")) {
    require_inputs(setup, 2, 2);
    if (batch_axis_ + time_axis_ != 1 || batch_axis_ * time_axis_ != 0)
      invalid("The attributes batch_axis and time_axis are " + std::to_string(batch_axis_) + " and " +
              std::to_string(time_axis_) + "; one must be 0 and the other 1.");
  }

  std::vector<TensorType> infer(std::span<const Input> inputs) const override {
    require_whole_bytes(inputs[0], "input");
    require_type(inputs[1], {DType::kInt64, DType::kInt32}, "sequence_lens");
    const Shape& x = inputs[0].shape();
    if (x.rank() < 2) invalid("The input has the shape " + x.text() + "; it must have batch and time.");
    if (inputs[1].shape().rank() != 1 || inputs[1].elements() != x[static_cast<int>(batch_axis_)])
      invalid("There are lengths of shape " + inputs[1].shape().text() + " for an input of shape " + x.text() + ".");
    return {{inputs[0].dtype(), x, Layout::kPlain}};
  }

  void run(const Call& call) const override {
    const Shape& x = call.inputs[0].shape();
    const int64_t samples = x[static_cast<int>(batch_axis_)], times = x[static_cast<int>(time_axis_)];
    const auto bytes = static_cast<size_t>(x.elements(2, x.rank()) * bits_of(call.inputs[0].dtype()) / 8);
    const auto place = [&](int64_t n, int64_t t) {
      return static_cast<size_t>(batch_axis_ == 0 ? n * times + t : t * samples + n) * bytes;
    };
    for (int64_t n = 0; n < samples; ++n) {
      const int64_t length = index_at(call.inputs[1], n);
      if (length < 0 || length > times)
        invalid("The length " + std::to_string(length) + " is outside " + std::to_string(times) + " places.");
      for (int64_t t = 0; t < times && bytes != 0; ++t)
        std::memcpy(call.outputs[0].data + place(n, t), call.inputs[0].data + place(n, t < length ? length - 1 - t : t),
                    bytes);
    }
  }

 private:
  int64_t batch_axis_, time_axis_;
};

}  // namespace

std::vector<Op> reverse_sequence_ops() {
  return {{.domain = "", .type = "ReverseSequence", .since = 10, .prepare = make_kernel<ReverseSequence>}};
}

}  // namespace tersor::ops
