// SPDX-License-Identifier: Apache-2.0
// RotaryEmbedding: pairs of each head's numbers turned by an angle that grows with the place (Su and others,
// "RoFormer", 2021). The pairs are neighbours, or lie half a head apart.
#include <cstring>

#include "core/graph/attribute_defaults.h"
#include "core/ops/families.h"
#include "core/ops/indices.h"
#include "core/ops/microsoft.h"

namespace tersor::ops {

namespace {

class RotaryEmbedding : public Kernel {
 public:
  explicit RotaryEmbedding(const Setup& setup)
      : RotaryEmbedding(int_of(setup.node, "interleaved") != 0, int_of(setup.node, "rotary_embedding_dim"),
                        setup.node.int_or("num_heads", 0)) {
    require_inputs(setup, 3, 4);
  }
  RotaryEmbedding(bool interleaved, int64_t turned, int64_t heads)
      : interleaved_(interleaved), turned_(turned), heads_(heads) {
    if (turned_ < 0 || turned_ % 2 != 0)
      invalid("The attribute rotary_embedding_dim is " + std::to_string(turned_) + "; it must be even.");
  }

  std::vector<TensorType> infer(std::span<const Input> inputs) const override {
    sizes(inputs);
    return {{DType::kFloat32, inputs[0].shape(), Layout::kPlain}};
  }

  void run(const Call& call) const override {
    const Sizes s = sizes(call.inputs);
    const float* x = call.inputs[0].values<float>().data();
    float* y = call.outputs[0].values<float>().data();
    const int64_t half = s.turned / 2, apart = interleaved_ ? 1 : half, step = interleaved_ ? 2 : 1;
    for (int64_t n = 0; n < s.batch; ++n)
      for (int64_t t = 0; t < s.places; ++t) {
        const int64_t row = angle_row(call.inputs, s, n, t) * half;
        const float* cosines = call.inputs[1].values<float>().data() + row;
        const float* sines = call.inputs[2].values<float>().data() + row;
        for (int64_t h = 0; h < s.heads; ++h) {
          const int64_t at = (s.packed ? (n * s.places + t) * s.heads + h : (n * s.heads + h) * s.places + t) * s.size;
          for (int64_t k = 0; k < half; ++k) {
            const float a = x[at + k * step], b = x[at + k * step + apart];
            y[at + k * step] = cosines[k] * a - sines[k] * b;
            y[at + k * step + apart] = sines[k] * a + cosines[k] * b;
          }
          std::memcpy(y + at + s.turned, x + at + s.turned, static_cast<size_t>(s.size - s.turned) * sizeof(float));
        }
      }
  }

 private:
  struct Sizes {
    bool packed = false;
    int64_t batch = 0, heads = 0, places = 0, size = 0, turned = 0;
  };

  /// The row of the tables for a place: by its position, or one for each.
  static int64_t angle_row(std::span<const Input> inputs, const Sizes& s, int64_t n, int64_t t) {
    const int64_t place = n * s.places + t;
    if (inputs.size() < 4 || !inputs[3].present()) return place;
    const int64_t position = index_at(inputs[3], place);
    if (position < 0) invalid("The position " + std::to_string(position) + " is negative.");
    return checked_index(position, inputs[1].shape()[0]);
  }

  Sizes sizes(std::span<const Input> inputs) const {
    static constexpr const char* kNames[] = {"X", "cos_cache", "sin_cache"};
    for (size_t k = 0; k < 3; ++k) require_type(inputs[k], {DType::kFloat32}, kNames[k]);
    const Shape& x = inputs[0].shape();
    if (x.rank() != 3 && x.rank() != 4) invalid("The input has the shape " + x.text() + "; it must have rank 3 or 4.");
    Sizes s;
    s.packed = x.rank() == 3;
    s.batch = x[0];
    s.heads = s.packed ? heads_ : x[1];
    s.places = s.packed ? x[1] : x[2];
    if (s.packed && (heads_ < 1 || x[2] % heads_ != 0))
      invalid("The attribute num_heads is " + std::to_string(heads_) + " for an input of shape " + x.text() + ".");
    s.size = s.packed ? x[2] / heads_ : x[3];
    s.turned = turned_ == 0 ? s.size : turned_;
    if (s.turned % 2 != 0 || s.turned > s.size)
      invalid(std::to_string(s.turned) + " numbers of a head of " + std::to_string(s.size) +
              " cannot be turned in pairs.");
    const bool by_position = inputs.size() > 3 && inputs[3].present();
    if (by_position) {
      require_type(inputs[3], {DType::kInt64, DType::kInt32}, "position_ids");
      if (!(inputs[3].shape() == Shape{s.batch, s.places}))
        invalid("The input position_ids has the shape " + inputs[3].shape().text() + "; it must be " +
                Shape{s.batch, s.places}.text() + ".");
    }
    const Shape& table = inputs[1].shape();
    const bool fits = table == inputs[2].shape() && (by_position ? table.rank() == 2 && table[1] == s.turned / 2
                                                                 : table == Shape{s.batch, s.places, s.turned / 2});
    if (!fits)
      invalid("The tables have the shapes " + table.text() + " and " + inputs[2].shape().text() + "; " +
              std::to_string(s.turned / 2) + " pairs are turned.");
    return s;
  }

  bool interleaved_;
  int64_t turned_;  // numbers of a head that are turned; 0: all
  int64_t heads_;
};

}  // namespace

std::unique_ptr<const Kernel> make_rotary_embedding(bool interleaved, int64_t rotary_dim, int64_t heads) {
  return std::make_unique<RotaryEmbedding>(interleaved, rotary_dim, heads);
}

std::vector<Op> rotary_embedding_ops() {
  return {{.domain = "", .type = "RotaryEmbedding", .since = 23, .prepare = make_kernel<RotaryEmbedding>}};
}

}  // namespace tersor::ops
