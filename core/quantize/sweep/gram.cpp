// SPDX-License-Identifier: Apache-2.0
#include "core/sweep/gram.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/error.h"
#include "core/kernels/integer.h"
#include "core/kernels/products.h"
#include "core/quant/quantizer.h"

namespace tersor::ptq {

namespace {

constexpr int64_t kRowsPerColumn = 6;
constexpr int64_t kFewestRows = 1024, kMostRows = 3072;  // of all samples together
constexpr int64_t kWidestBlock = 512;
/// Rows multiplied at a time: products of two differences of 8-bit codes stay far within 32 bits.
constexpr int64_t kRowsAtOnce = 512;
/// Between columns: a multiple of 2^10 bytes would let them meet in a few lines of the cache.
constexpr int64_t kColumnStep = kRowsAtOnce + 32;
/// Fewer are multiplied by themselves one by one.
constexpr int64_t kFewColumns = 32;
/// Columns multiplied at a time: by themselves and those after them, since products are symmetric.
constexpr int64_t kColumnsAtOnce = 64;

/// A float input is counted in codes of 8 bits, as far to both sides.
constexpr int32_t kZeroOfFloat = 128, kMostOfFloat = 127;

uint8_t code_of(float value, float step) {
  return static_cast<uint8_t>(
      quant::quantize_value(value, step, kZeroOfFloat, kZeroOfFloat - kMostOfFloat, kZeroOfFloat + kMostOfFloat));
}

/// Where the taps of an output position lie in the input.
class Window {
 public:
  Window(const GramKernel& kernel, const Shape& input) {
    if (!kernel.op.is_conv) return;
    for (size_t k = 0; k < kernel.window.size(); ++k) {
      axes_.push_back(window_axis(kernel.node, input, kernel.window, k));
      outputs_ *= std::max<int64_t>(0, axes_.back().outputs());
    }
    for (int64_t tap = 0; tap < kernel.op.taps; ++tap) {
      int64_t rest = tap;
      for (size_t k = axes_.size(); k-- > 0; rest /= axes_[k].kernel)
        offsets_.push_back(rest % axes_[k].kernel * axes_[k].dilation);
    }
  }
  int64_t outputs() const { return outputs_; }
  size_t rank() const { return axes_.size(); }
  /// Appends where the window of an output begins, the last axis first.
  void add_begins(int64_t output, std::vector<int64_t>& begins) const {
    for (size_t k = axes_.size(); k-- > 0; output /= axes_[k].outputs())
      begins.push_back(output % axes_[k].outputs() * axes_[k].stride - axes_[k].begin);
  }
  /// The input position, or -1 in the padding.
  int64_t position(const int64_t* begins, int64_t tap) const {
    const int64_t* const offsets = offsets_.data() + static_cast<size_t>(tap) * rank();
    int64_t at = 0, stride = 1;
    for (size_t k = 0; k < rank(); ++k) {
      const int64_t size = axes_[rank() - 1 - k].size, place = begins[k] + offsets[k];
      if (place < 0 || place >= size) return -1;
      at += place * stride;
      stride *= size;
    }
    return at;
  }

 private:
  std::vector<WindowAxis> axes_;
  std::vector<int64_t> offsets_;  // of each tap from the window's begin, the last axis first
  int64_t outputs_ = 1;
};

/// Of columns i and j <= i, at i * (i + 1) / 2 + j.
void multiply_columns(const int16_t* columns, int64_t count, int64_t rows, std::vector<int32_t>& products) {
  products.resize(static_cast<size_t>(count * (count + 1) / 2));
  if (count < kFewColumns) {
    kernels::products_of_columns(columns, static_cast<size_t>(count), kColumnStep, static_cast<size_t>(rows),
                                 products.data());
    return;
  }
  std::vector<const int16_t*> pointers;
  for (int64_t i = 0; i < count; ++i) pointers.push_back(columns + i * kColumnStep);
  std::vector<int32_t> square(static_cast<size_t>(count * count));
  for (int64_t first = 0; first < count; first += kColumnsAtOnce) {
    const int64_t some = std::min(kColumnsAtOnce, count - first);
    const kernels::IntegerPanels panels(some, 1, rows, {pointers[static_cast<size_t>(first)], kColumnStep, 0, 1});
    kernels::multiply_integer_rows(panels, {pointers.data() + first, count - first}, nullptr,
                                   square.data() + first * count + first, count);
  }
  auto to = products.begin();
  for (int64_t i = 0; i < count; ++i) to = std::copy_n(square.begin() + i * count, i + 1, to);
}

}  // namespace

GramKernel::GramKernel(Node kernel, const KernelPlan& plan, const Tensor& weight,
                       const calibrate::TensorStatistics& input)
    : GramKernel(std::move(kernel), plan, weight, quant::QuantizationParams{}) {
  zero_point = kZeroOfFloat;
  const quant::Range all{input.histogram.min(), input.histogram.max()};
  const bool by_channel = static_cast<int64_t>(input.channels.size()) == op.inputs;
  for (int64_t c = 0; c < op.inputs; ++c) {
    const auto* own = by_channel ? &input.channels[static_cast<size_t>(c)] : nullptr;
    const double low = own != nullptr ? static_cast<double>(own->min) : all.low,
                 high = own != nullptr ? static_cast<double>(own->max) : all.high;
    const auto step = static_cast<float>(std::max(-low, high) / kMostOfFloat);
    steps.push_back(std::isnormal(step) ? step : 1.0f);
  }
}

GramKernel::GramKernel(Node kernel, const KernelPlan& plan, const Tensor& weight,
                       const quant::QuantizationParams& input)
    : node(std::move(kernel)), zero_point(input.zero_point[0]), op(plan.op) {
  if (op.is_conv) {
    const std::vector<int64_t>& dims = weight.shape().dims();
    window.assign(dims.begin() + 2, dims.end());
  }
  const int64_t parts = (columns() + kWidestBlock - 1) / kWidestBlock;
  for (int64_t group = 0; group < op.groups; ++group)
    for (int64_t part = 0; part < parts; ++part) {
      const int64_t first = columns() * part / parts;
      blocks.push_back({group, first, columns() * (part + 1) / parts - first});
    }
}

int64_t GramKernel::rows_per_sample(size_t samples) const {
  const int64_t rows = std::clamp(kRowsPerColumn * columns(), kFewestRows, kMostRows);
  return std::max<int64_t>(1, rows / std::max<int64_t>(1, static_cast<int64_t>(samples)));
}

void GramSums::add(GramSums more) {
  for (int half = 0; half < 2; ++half) {
    if (words[half].empty()) {
      words[half] = std::move(more.words[half]);
      continue;
    }
    if (more.words[half].empty()) continue;
    TERSOR_CHECK(words[half].size() == more.words[half].size());
    for (size_t k = 0; k < words[half].size(); ++k) words[half][k] += more.words[half][k];
  }
}

GramView GramSums::view(int half, const GramKernel& kernel, size_t block) const {
  const std::span<const int64_t> all(words[half]);
  size_t begin = 1;
  for (size_t k = 0; k < block; ++k) begin += kernel.blocks[k].words();
  const auto size = static_cast<size_t>(kernel.blocks[block].size);
  return {static_cast<double>(all[0]), all.subspan(begin, size), all.subspan(begin + size, size * (size + 1) / 2)};
}

void GramCounter::add(size_t place, const run::LaidTensor& tensor, int64_t most, std::optional<int32_t> given) {
  const int32_t zero_point = given.value_or(kernel_->zero_point);
  const ops::TensorType type = tensor.type();
  const passes::KernelOp& op = kernel_->op;
  const Shape& shape = type.shape;
  const int channel_axis = op.is_conv ? 1 : shape.rank() - 1;
  if (shape.rank() == 0 || shape[channel_axis] != op.inputs) return;
  const Window window(*kernel_, shape);
  const int64_t positions = op.is_conv ? shape.elements(2, shape.rank()) : 1;
  const int64_t rows = (op.is_conv ? shape[0] : shape.elements(0, channel_axis)) * window.outputs();
  const int64_t stride = std::max<int64_t>(1, (rows + most - 1) / most);
  const bool channels_last = !op.is_conv || type.layout == ops::Layout::kChannelsLast;
  const bool is_float = type.dtype == DType::kFloat32;
  const auto* const floats = is_float ? tensor.tensor.data<float>().data() : nullptr;
  const auto* const codes = is_float ? nullptr : reinterpret_cast<const uint8_t*>(tensor.tensor.bytes().data());
  const int64_t next_position = channels_last ? op.inputs : 1, next_channel = channels_last ? 1 : positions;
  // A signed code is an unsigned one with its highest bit turned, less 128.
  const uint8_t turned = type.dtype == DType::kInt8 ? 0x80 : 0;
  const kernels::Differences differences{turned, static_cast<int16_t>(zero_point + turned)};
  if (differences.turned != differences_.turned || differences.zero != differences_.zero) {
    // What waits is of another tensor.
    multiply(0);
    multiply(1);
    differences_ = differences;
  }
  Waiting& waiting = waiting_[place % 2];
  const int64_t width = op.inputs * op.taps;
  waiting.codes.resize(static_cast<size_t>(width * kRowsAtOnce));
  std::vector<int64_t> begins;
  for (int64_t row = static_cast<int64_t>(place / 2) % stride; row < rows; row += stride) {
    const int64_t sample = row / window.outputs() * op.inputs * positions;
    uint8_t* to = waiting.codes.data() + waiting.rows * width;
    begins.clear();
    window.add_begins(row % window.outputs(), begins);
    for (int64_t tap = 0; tap < op.taps; ++tap, to += op.inputs) {
      const int64_t inside = window.position(begins.data(), tap);
      const int64_t from = sample + inside * next_position;
      if (inside < 0)
        std::fill_n(to, op.inputs, static_cast<uint8_t>(zero_point));
      else if (is_float)
        for (int64_t channel = 0; channel < op.inputs; ++channel)
          to[channel] = code_of(floats[from + channel * next_channel], kernel_->steps[static_cast<size_t>(channel)]);
      else if (next_channel == 1)
        std::copy_n(codes + from, op.inputs, to);
      else
        for (int64_t channel = 0; channel < op.inputs; ++channel) to[channel] = codes[from + channel * next_channel];
    }
    if (++waiting.rows == kRowsAtOnce) multiply(static_cast<int>(place % 2));
  }
}

void GramCounter::turn_to_columns(const Waiting& waiting) {
  const int64_t inputs = kernel_->op.inputs, taps = kernel_->op.taps;
  columns_.resize(static_cast<size_t>(inputs * taps * kColumnStep));
  std::vector<const uint8_t*> rows(static_cast<size_t>(waiting.rows));
  for (int64_t tap = 0; tap < taps; ++tap) {
    for (int64_t r = 0; r < waiting.rows; ++r)
      rows[static_cast<size_t>(r)] = waiting.codes.data() + (r * taps + tap) * inputs;
    kernels::columns_of_rows(rows.data(), rows.size(), static_cast<size_t>(inputs), differences_,
                             columns_.data() + tap * kColumnStep, static_cast<size_t>(taps * kColumnStep));
  }
}

void GramCounter::multiply(int half) {
  Waiting& waiting = waiting_[half];
  if (waiting.rows == 0) return;
  std::vector<int64_t>& words = sums_.words[half];
  if (words.empty()) {
    words.push_back(0);
    for (const GramBlock& block : kernel_->blocks) words.resize(words.size() + block.words());
  }
  words[0] += waiting.rows;
  turn_to_columns(waiting);
  int64_t* to = words.data() + 1;
  std::vector<int32_t> products;
  for (const GramBlock& block : kernel_->blocks) {
    const int16_t* columns = columns_.data() + (block.group * kernel_->columns() + block.first) * kColumnStep;
    for (int64_t i = 0; i < block.size; ++i)
      *to++ += kernels::sum_of(columns + i * kColumnStep, static_cast<size_t>(waiting.rows));
    multiply_columns(columns, block.size, waiting.rows, products);
    for (const int32_t product : products) *to++ += product;
  }
  waiting.rows = 0;
}

GramSums GramCounter::take() {
  multiply(0);
  multiply(1);
  return std::exchange(sums_, {});
}

}  // namespace tersor::ptq
