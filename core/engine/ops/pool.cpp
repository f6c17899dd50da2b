// SPDX-License-Identifier: Apache-2.0
// MaxPool, AveragePool, and the global pools, which are pools whose window is the whole picture. Channels last.
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/kernels/elementwise.h"
#include "core/ops/families.h"
#include "core/ops/pool.h"

namespace tersor::ops {

namespace {

class MaxPool : public Pool {
 public:
  MaxPool(const Setup& setup, bool global)
      : Pool(setup, global),
        wants_indices_(setup.has_output(1)),
        column_major_(setup.node.int_or("storage_order", 0) != 0) {}

  std::vector<TensorType> infer(std::span<const Input> inputs) const override {
    std::vector<TensorType> types = Pool::infer(inputs);
    if (wants_indices_) types.push_back({DType::kInt64, types[0].shape, Layout::kChannelsLast});
    return types;
  }

  void run(const Call& call) const override {
    if (call.outputs[0].elements() == 0) return;  // without channels a picture may be of any size
    switch (call.inputs[0].dtype()) {
      case DType::kFloat32:
        return run_as<float>(call);
      case DType::kInt8:
        return run_as<int8_t>(call);
      default:
        return run_as<uint8_t>(call);
    }
  }

 protected:
  void check_type(const Input& input) const override {
    require_type(input, {DType::kFloat32, DType::kInt8, DType::kUint8}, "X");
  }

 private:
  template <class T>
  void run_as(const Call& call) const {
    const Shape& shape = call.inputs[0].shape();
    const std::vector<WindowAxis> spatial = axes(shape);
    const int64_t channels = shape[1], places = input_places(spatial);
    const T* x = call.inputs[0].values<T>().data();
    if (!call.outputs[0].present()) return run_indices<T>(call);
    T* y = call.outputs[0].values<T>().data();
    Windows windows(spatial);
    std::vector<const T*> rows;
    for_each_output(shape[0], spatial, [&](int64_t n, int64_t at, const std::vector<int64_t>& out) {
      rows.clear();
      windows.for_each_place(out, [&](int64_t place) { rows.push_back(x + (n * places + place) * channels); });
      largest(rows, channels, y + at * channels);
    });
    if (call.outputs.size() > 1 && call.outputs[1].present()) run_indices<T>(call);
  }

  template <class T>
  static void largest(const std::vector<const T*>& rows, int64_t channels, T* y) {
    if (rows.empty()) {  // a dilated window that steps over a small input
      std::fill_n(y, channels,
                  std::is_floating_point_v<T> ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::lowest());
    } else if constexpr (std::is_same_v<T, float>) {
      kernels::max_of_rows(rows.data(), rows.size(), static_cast<size_t>(channels), y);
    } else {
      std::copy_n(rows[0], channels, y);
      for (const T* row : rows)
        for (int64_t c = 0; c < channels; ++c) y[c] = row[c] > y[c] ? row[c] : y[c];
    }
  }

  /// Where each maximum lies in the (plain) input, counted over the whole tensor.
  template <class T>
  void run_indices(const Call& call) const {
    const Shape& shape = call.inputs[0].shape();
    const std::vector<WindowAxis> spatial = axes(shape);
    const int64_t channels = shape[1], places = input_places(spatial);
    const T* x = call.inputs[0].values<T>().data();
    int64_t* indices = call.outputs[1].values<int64_t>().data();
    Windows windows(spatial);
    for_each_output(shape[0], spatial, [&](int64_t n, int64_t at, const std::vector<int64_t>& out) {
      for (int64_t c = 0; c < channels; ++c) {
        int64_t best = -1;  // stays so where a dilated window steps over a small input
        windows.for_each_place(out, [&](int64_t place) {
          if (best < 0 || x[(n * places + place) * channels + c] > x[(n * places + best) * channels + c]) best = place;
        });
        indices[at * channels + c] =
            (n * channels + c) * places +
            (column_major_ ? turned(std::max<int64_t>(0, best), spatial) : std::max<int64_t>(0, best));
      }
    });
  }

  /// The place counted with the first spatial axis fastest.
  static int64_t turned(int64_t place, const std::vector<WindowAxis>& spatial) {
    int64_t result = 0;
    std::vector<int64_t> index(spatial.size());
    for (size_t k = spatial.size(); k-- > 0; place /= spatial[k].in) index[k] = place % spatial[k].in;
    for (size_t k = spatial.size(); k-- > 0;) result = result * spatial[k].in + index[k];
    return result;
  }

  bool wants_indices_, column_major_;
};

class AveragePool : public Pool {
 public:
  AveragePool(const Setup& setup, bool global)
      : Pool(setup, global), counts_padding_(setup.node.int_or("count_include_pad", 0) != 0) {}

  /// The sum over the window in row-major order, divided by the number of its places.
  void run(const Call& call) const override {
    if (call.outputs[0].elements() == 0) return;
    const Shape& shape = call.inputs[0].shape();
    const std::vector<WindowAxis> spatial = axes(shape);
    const int64_t channels = shape[1], places = input_places(spatial);
    const float* x = call.inputs[0].values<float>().data();
    float* y = call.outputs[0].values<float>().data();
    Windows windows(spatial);
    std::vector<const float*> rows;
    for_each_output(shape[0], spatial, [&](int64_t n, int64_t at, const std::vector<int64_t>& out) {
      rows.clear();
      windows.for_each_place(out, [&](int64_t place) { rows.push_back(x + (n * places + place) * channels); });
      int64_t count = 1;
      for (size_t k = 0; k < spatial.size(); ++k) {
        const Span& span = windows.span(k, out[k]);
        count *= counts_padding_ ? span.padded : span.count;
      }
      kernels::mean_of_rows(rows.data(), rows.size(), static_cast<size_t>(channels),
                            static_cast<float>(std::max<int64_t>(1, count)), y + at * channels);
    });
  }

 private:
  bool counts_padding_;
};

}  // namespace

std::vector<Op> pool_ops() {
  return {pool<MaxPool>("MaxPool", false), pool<MaxPool>("GlobalMaxPool", true),
          pool<AveragePool>("AveragePool", false), pool<AveragePool>("GlobalAveragePool", true)};
}

}  // namespace tersor::ops
