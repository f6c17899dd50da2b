// SPDX-License-Identifier: Apache-2.0
#include "core/choose/shared_weights.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace tersor::ptq {

using passes::KernelOp;

namespace {

/// Of a channel's largest element: what a few roundings to float32 make.
constexpr double kTolerance = 4e-7;
/// Elements of a weight that tell most others from it, so that those are not read again.
constexpr int64_t kSigns = 16;

/// Channels along one axis of a weight: element k of channel c lies at c * step + k / step * step * channels + k %
/// step.
struct Channels {
  int64_t count, step, each;

  Channels(const Shape& shape, int axis)
      : count(shape[axis]), step(shape.elements(axis + 1, shape.rank())), each(shape.elements(0, axis) * step) {}
  size_t at(int64_t channel, int64_t k) const {
    return static_cast<size_t>((k / step * count + channel) * step + k % step);
  }
};

/// The channel's largest element by amount; 0 where it has none.
size_t largest(const float* w, const Channels& channels, int64_t channel) {
  size_t place = channels.at(channel, 0);
  for (int64_t k = 1; k < channels.each; ++k) {
    const size_t at = channels.at(channel, k);
    if (std::fabs(w[at]) > std::fabs(w[place])) place = at;
  }
  return place;
}

/// What tells a weight from most others, whatever its channels are multiplied by.
struct Signs {
  const std::byte* bytes = nullptr;  // of a weight that is there
  Shape shape;
  int axis = 0;
  int64_t groups = 1;
  bool is_transposed = false;
  std::vector<double> parts;  // the first elements of the first channel, in parts of its largest

  Signs(const Tensor& stored, const KernelOp& op)
      : bytes(stored.is_deferred() ? nullptr : stored.bytes().data()),
        shape(stored.shape()),
        axis(op.output_axis),
        groups(op.groups),
        is_transposed(op.is_transposed) {
    const Tensor weight = stored.aligned();
    const float* w = weight.data<float>().data();
    const Channels channels(shape, axis);
    const double whole = std::fabs(static_cast<double>(w[largest(w, channels, 0)]));
    for (int64_t k = 0; k < std::min(channels.each, kSigns); ++k)
      parts.push_back(whole > 0 ? w[channels.at(0, k)] / whole : 0);
  }
  bool may_be(const Signs& other) const {
    if (shape != other.shape || axis != other.axis || groups != other.groups || is_transposed != other.is_transposed)
      return false;
    for (size_t k = 0; k < parts.size(); ++k)
      if (!(std::fabs(parts[k] - other.parts[k]) <= 2 * kTolerance)) return false;
    return true;
  }
};

/// The factors by which `second` differs from `first`; none where it differs in more.
std::optional<std::vector<float>> factors_between(const Tensor& first, const Tensor& second, int axis) {
  const Tensor before = first.aligned(), after = second.aligned();
  const float *a = before.data<float>().data(), *b = after.data<float>().data();
  const Channels channels(first.shape(), axis);
  std::vector<float> factors;
  bool equal = true;
  for (int64_t c = 0; c < channels.count; ++c) {
    const size_t place = largest(a, channels, c);
    const double most = a[place];
    const double factor = most != 0 ? b[place] / most : 1;
    if (!std::isfinite(factor) || !(factor > 0)) return std::nullopt;
    const double room = kTolerance * std::fabs(most) * factor;
    for (int64_t k = 0; k < channels.each; ++k) {
      const size_t at = channels.at(c, k);
      if (!(std::fabs(b[at] - a[at] * factor) <= room)) return std::nullopt;
    }
    factors.push_back(static_cast<float>(factor));
    equal = equal && factors.back() == 1;
  }
  return equal ? std::vector<float>{} : factors;
}

}  // namespace

std::vector<SharedWeight> find_shared_weights(const Graph& graph, const std::vector<KernelOp>& kernels) {
  std::vector<SharedWeight> found(kernels.size());
  std::vector<Signs> signs;
  std::vector<size_t> firsts;
  for (size_t k = 0; k < kernels.size(); ++k) {
    const Tensor& weight = *graph.initializer(kernels[k].weight);
    signs.emplace_back(weight, kernels[k]);
    found[k].first = k;
    for (const size_t first : firsts) {
      if (!signs[first].may_be(signs[k])) continue;
      const Tensor& other = *graph.initializer(kernels[first].weight);
      const bool same_bytes = signs[k].bytes != nullptr && signs[k].bytes == signs[first].bytes;
      auto factors =
          same_bytes ? std::optional(std::vector<float>{}) : factors_between(other, weight, kernels[k].output_axis);
      if (!factors) continue;
      found[k] = {first, false, std::move(*factors)};
      found[first].is_one = false;
      break;
    }
    if (found[k].first == k) firsts.push_back(k);
  }
  return found;
}

}  // namespace tersor::ptq
