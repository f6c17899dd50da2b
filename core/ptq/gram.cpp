// SPDX-License-Identifier: Apache-2.0
#include "core/ptq/gram.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/kernels/integer.h"

namespace tersor::ptq {

namespace {

constexpr int64_t kRowsPerColumn = 8;
constexpr int64_t kFewestRows = 1024, kMostRows = 4096;  // of all samples together
constexpr int64_t kWidestBlock = 512;
/// Rows multiplied at a time: products of two differences of 8-bit codes stay far within 32 bits.
constexpr int64_t kRowsAtOnce = 256;
/// Columns multiplied at a time: by themselves and those behind them, since products are symmetric.
constexpr int64_t kColumnsAtOnce = 64;

/// For each output position that is looked at: of each tap the input position, or -1 in the padding.
class Window {
 public:
  Window(const GramKernel& kernel, const Shape& input) {
    for (size_t k = 0; k < kernel.window.size(); ++k) {
      axes_.push_back(window_axis(kernel.node, input, kernel.window, k));
      outputs_ *= std::max<int64_t>(0, axes_.back().outputs());
    }
  }
  int64_t outputs() const { return outputs_; }
  int64_t position(int64_t output, int64_t tap) const {
    int64_t at = 0, stride = 1;
    for (size_t k = axes_.size(); k-- > 0;) {
      const WindowAxis& axis = axes_[k];
      const int64_t place = output % axis.outputs() * axis.stride - axis.begin + tap % axis.kernel * axis.dilation;
      if (place < 0 || place >= axis.size) return -1;
      at += place * stride;
      output /= axis.outputs();
      tap /= axis.kernel;
      stride *= axis.size;
    }
    return at;
  }

 private:
  std::vector<WindowAxis> axes_;
  int64_t outputs_ = 1;
};

}  // namespace

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

void GramSums::add(const GramSums& more) {
  for (int half = 0; half < 2; ++half) {
    if (words[half].empty()) {
      words[half] = more.words[half];
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

void GramCounter::add(size_t place, const Tensor& codes, int64_t rows) {
  if (codes.dtype() == DType::kUint8)
    gather(codes.data<uint8_t>().data(), codes.shape(), rows, place);
  else
    gather(codes.data<int8_t>().data(), codes.shape(), rows, place);
}

template <class Code>
void GramCounter::gather(const Code* codes, const Shape& shape, int64_t most, size_t place) {
  const passes::KernelOp& op = kernel_->op;
  const int channel_axis = op.is_conv ? 1 : shape.rank() - 1;
  if (shape.rank() == 0 || shape[channel_axis] != op.inputs) return;
  const Window window(*kernel_, shape);
  const int64_t outputs = op.is_conv ? window.outputs() : 1;
  const int64_t positions = op.is_conv ? shape.elements(2, shape.rank()) : 1;
  const int64_t rows = (op.is_conv ? shape[0] : shape.elements(0, channel_axis)) * outputs;
  const int64_t stride = std::max<int64_t>(1, (rows + most - 1) / most);
  Waiting& waiting = waiting_[place % 2];
  waiting.columns.resize(static_cast<size_t>(op.inputs * op.taps * kRowsAtOnce));
  std::vector<int64_t> at;  // of each row looked at: the sample's begin, and the position there or -1
  for (int64_t row = static_cast<int64_t>(place / 2) % stride; row < rows;) {
    std::vector<int64_t> chosen;
    for (; row < rows && waiting.rows + static_cast<int64_t>(chosen.size()) < kRowsAtOnce; row += stride)
      chosen.push_back(row);
    at.resize(chosen.size());
    for (int64_t tap = 0; tap < op.taps; ++tap) {
      for (size_t r = 0; r < chosen.size(); ++r) {
        const int64_t inside = op.is_conv ? window.position(chosen[r] % outputs, tap) : 0;
        at[r] = inside < 0 ? -1 : chosen[r] / outputs * op.inputs * positions + inside;
      }
      for (int64_t channel = 0; channel < op.inputs; ++channel) {
        int16_t* column = waiting.columns.data() + (channel * op.taps + tap) * kRowsAtOnce + waiting.rows;
        const Code* from = codes + channel * positions;
        for (size_t r = 0; r < chosen.size(); ++r)
          column[r] = at[r] < 0 ? int16_t{0} : static_cast<int16_t>(from[at[r]] - kernel_->zero_point);
      }
    }
    waiting.rows += static_cast<int64_t>(chosen.size());
    if (waiting.rows == kRowsAtOnce) multiply(static_cast<int>(place % 2));
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
  int64_t* to = words.data() + 1;
  std::vector<const int16_t*> pointers;
  std::vector<int32_t> products;
  for (const GramBlock& block : kernel_->blocks) {
    const int16_t* columns = waiting.columns.data() + (block.group * kernel_->columns() + block.first) * kRowsAtOnce;
    pointers.clear();
    for (int64_t i = 0; i < block.size; ++i) {
      pointers.push_back(columns + i * kRowsAtOnce);
      for (int64_t r = 0; r < waiting.rows; ++r) to[i] += pointers.back()[r];
    }
    to += block.size;
    products.resize(static_cast<size_t>(block.size * block.size));
    for (int64_t first = 0; first < block.size; first += kColumnsAtOnce) {
      const int64_t count = std::min(kColumnsAtOnce, block.size - first);
      const kernels::IntegerPanels panels(count, 1, waiting.rows, {pointers[first], kRowsAtOnce, 0, 1});
      kernels::multiply_integer_rows(panels, {pointers.data() + first, block.size - first},
                                     products.data() + first * block.size + first, block.size);
    }
    for (int64_t i = 0; i < block.size; ++i)
      for (int64_t j = 0; j <= i; ++j) *to++ += products[static_cast<size_t>(i * block.size + j)];
  }
  waiting.rows = 0;
}

GramSums GramCounter::sums() {
  multiply(0);
  multiply(1);
  return sums_;
}

}  // namespace tersor::ptq
