// SPDX-License-Identifier: Apache-2.0
#include "core/tune/augment.h"

#include <algorithm>
#include <optional>

namespace tersor::tune {

namespace {

/// A picture's planes: `outer` times side x side of `inner` numbers.
struct Planes {
  int64_t outer = 1, side = 0, inner = 1;
};

std::optional<Planes> planes_of(const Tensor& tensor) {
  constexpr int64_t kLeastSide = 16, kMostChannels = 4;
  const Shape& shape = tensor.shape();
  if (tensor.dtype() != DType::kFloat32 || shape.rank() != 4) return std::nullopt;
  if (shape[1] <= kMostChannels && shape[2] == shape[3] && shape[2] >= kLeastSide)
    return Planes{shape[0] * shape[1], shape[2], 1};
  if (shape[3] <= kMostChannels && shape[1] == shape[2] && shape[1] >= kLeastSide)
    return Planes{shape[0], shape[1], shape[3]};
  return std::nullopt;
}

}  // namespace

bool move_pictures(std::vector<Tensor>& inputs, Random& random) {
  bool any = false;
  for (Tensor& input : inputs) {
    const auto planes = planes_of(input);
    if (!planes) continue;
    any = true;
    const int64_t side = planes->side, inner = planes->inner, most = side / 8;
    const auto offset = [&] {
      return static_cast<int64_t>(random.next() % static_cast<uint64_t>(2 * most + 1)) - most;
    };
    const int64_t down = offset(), right = offset();
    const bool mirrored = (random.next() >> 63) != 0;
    const std::span<const float> from = input.data<float>();
    std::vector<float> moved(from.size());
    size_t to = 0;
    for (int64_t plane = 0; plane < planes->outer; ++plane)
      for (int64_t row = 0; row < side; ++row)
        for (int64_t column = 0; column < side; ++column) {
          const int64_t r = std::clamp<int64_t>(row + down, 0, side - 1);
          const int64_t c = std::clamp<int64_t>((mirrored ? side - 1 - column : column) + right, 0, side - 1);
          const float* pixel = from.data() + ((plane * side + r) * side + c) * inner;
          for (int64_t k = 0; k < inner; ++k) moved[to++] = pixel[k];
        }
    input = Tensor::of<float>(input.shape(), moved);
  }
  return any;
}

void mix(std::vector<Tensor>& inputs, const std::vector<Tensor>& others, float share) {
  for (size_t k = 0; k < inputs.size(); ++k) {
    if (inputs[k].dtype() != DType::kFloat32 || !(inputs[k].shape() == others[k].shape())) continue;
    const std::span<const float> a = inputs[k].data<float>(), b = others[k].data<float>();
    std::vector<float> mixed(a.size());
    const float rest = 1 - share;
    for (size_t i = 0; i < a.size(); ++i) mixed[i] = share * a[i] + rest * b[i];
    inputs[k] = Tensor::of<float>(inputs[k].shape(), mixed);
  }
}

}  // namespace tersor::tune
