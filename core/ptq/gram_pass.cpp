// SPDX-License-Identifier: Apache-2.0
#include "core/ptq/gram_pass.h"

#include <algorithm>
#include <map>

#include "core/base/error.h"
#include "core/ops/registry.h"
#include "core/ptq/apply_plan.h"
#include "core/tensor/rounding.h"

namespace tersor::ptq {

namespace {

/// Rows of all samples together; enough for matrices of a few hundred columns, and few enough that the products of one
/// sample's rows fit 32 bits: 16384 * 255^2 < 2^31.
constexpr int64_t kRows = 16384;
constexpr int64_t kBlockSizes[] = {512, 256, 128, 64};
constexpr size_t kMostWords = size_t{1} << 22;  // of one half: 32 MB

size_t words_of(const GramBlock& block) {
  return static_cast<size_t>(block.size + block.size * (block.size + 1) / 2);
}

/// The columns of each group in as few parts of nearly equal size as the bound allows.
std::vector<GramBlock> blocks_of(const GramKernel& kernel, int64_t most) {
  const int64_t columns = kernel.columns();
  const int64_t parts = (columns + most - 1) / most;
  std::vector<GramBlock> blocks;
  for (int64_t group = 0; group < kernel.op.groups; ++group)
    for (int64_t part = 0; part < parts; ++part) {
      const int64_t first = columns * part / parts;
      blocks.push_back({group, first, columns * (part + 1) / parts - first});
    }
  return blocks;
}

/// The size of a block for all kernels. Returns the words of one half.
size_t divide(std::vector<GramKernel>& kernels) {
  size_t total = 0;
  for (const int64_t most : kBlockSizes) {
    total = 0;
    for (GramKernel& kernel : kernels) {
      kernel.blocks = blocks_of(kernel, most);
      kernel.begin = total;
      kernel.words = 1;  // the number of rows
      for (const GramBlock& block : kernel.blocks) kernel.words += words_of(block);
      total += kernel.words;
    }
    if (total <= kMostWords) break;
  }
  return total;
}

/// A tensor's integers with channels last: [batch, positions..., channels].
struct Codes {
  std::vector<int16_t> values;
  int64_t batch = 1, channels = 1;
  std::vector<int64_t> spatial;

  int64_t positions() const {
    int64_t count = 1;
    for (const int64_t size : spatial) count *= size;
    return count;
  }
};

Codes codes_of(const run::ObservedTensor& tensor, const GramKernel& kernel) {
  const Shape& shape = tensor.shape;
  Codes codes;
  codes.values.resize(tensor.data.size());
  const auto code = [&](float x) {
    const float steps = round_half_even(x / kernel.input_scale);
    return static_cast<int16_t>(std::clamp(steps, -255.0f, 255.0f));
  };
  if (!kernel.op.is_conv) {
    codes.channels = shape[shape.rank() - 1];
    codes.batch = shape.elements(0, shape.rank() - 1);
    std::transform(tensor.data.begin(), tensor.data.end(), codes.values.begin(), code);
    return codes;
  }
  codes.batch = shape[0];
  codes.channels = shape[1];
  for (int k = 2; k < shape.rank(); ++k) codes.spatial.push_back(shape[k]);
  if (tensor.layout == ops::Layout::kChannelsLast) {
    std::transform(tensor.data.begin(), tensor.data.end(), codes.values.begin(), code);
    return codes;
  }
  const int64_t positions = codes.positions();
  size_t from = 0;
  for (int64_t n = 0; n < codes.batch; ++n)
    for (int64_t c = 0; c < codes.channels; ++c)
      for (int64_t p = 0; p < positions; ++p)
        codes.values[static_cast<size_t>((n * positions + p) * codes.channels + c)] = code(tensor.data[from++]);
  return codes;
}

/// For an output position of a convolution: of each tap the input position, or -1 in the padding.
class Window {
 public:
  Window(const GramKernel& kernel, const Shape& input) {
    for (size_t k = 0; k < kernel.window.size(); ++k) {
      axes_.push_back(window_axis(kernel.node, input, kernel.window, k));
      outputs_ *= std::max<int64_t>(0, axes_.back().outputs());
    }
    taps_.resize(static_cast<size_t>(kernel.op.taps));
  }
  int64_t outputs() const { return outputs_; }
  const std::vector<int64_t>& taps(int64_t output) {
    for (size_t tap = 0; tap < taps_.size(); ++tap) {
      int64_t rest = static_cast<int64_t>(tap), place = output, stride = 1, at = 0;
      for (size_t k = axes_.size(); k-- > 0;) {
        const WindowAxis& axis = axes_[k];
        const int64_t position = place % axis.outputs() * axis.stride - axis.begin + rest % axis.kernel * axis.dilation;
        place /= axis.outputs();
        rest /= axis.kernel;
        if (at >= 0) at = position >= 0 && position < axis.size ? at + position * stride : -1;
        stride *= axis.size;
      }
      taps_[tap] = at;
    }
    return taps_;
  }

 private:
  std::vector<WindowAxis> axes_;
  std::vector<int64_t> taps_;
  int64_t outputs_ = 1;
};

/// Adds one row's values and products to a block's sums.
void add_row(const int16_t* row, int64_t size, int32_t* sums) {
  int32_t* products = sums + size;
  for (int64_t i = 0; i < size; products += ++i) {
    const int32_t value = row[i];
    if (value == 0) continue;
    sums[i] += value;
    for (int64_t j = 0; j <= i; ++j) products[j] += value * row[j];
  }
}

}  // namespace

void GramSums::add(const GramSums& more) {
  for (int half = 0; half < 2; ++half) {
    TERSOR_CHECK(words[half].size() == more.words[half].size());
    for (size_t k = 0; k < words[half].size(); ++k) words[half][k] += more.words[half][k];
  }
}

GramPass::GramPass(const Model& float_model, const QuantizationPlan& plan, uint64_t samples)
    : rows_per_sample_(std::max<int64_t>(1, kRows / std::max<int64_t>(1, static_cast<int64_t>(samples)))) {
  Model model = apply_plan(float_model, plan);
  const Graph& graph = model.graph;
  run::ProgramOptions options;
  for (size_t k = 0; k < plan.kernels.size(); ++k) {
    const KernelPlan& kernel = plan.kernels[k];
    const ActivationPlan* input = plan.find(float_model.graph.find(kernel.node)->inputs[0]);
    if (input == nullptr || input->params.per_channel() || input->params.grid.n_bits > 8 || kernel.op.is_transposed ||
        kernel.table)
      continue;
    const Node& node = *graph.find(kernel.node);
    GramKernel gathered{k, node, node.inputs[0], input->params.scale[0], kernel.op, {}, {}, 0, 0};
    if (kernel.op.is_conv) {
      const std::vector<int64_t> dims = float_model.graph.initializer(kernel.op.weight)->shape().dims();
      gathered.window.assign(dims.begin() + 2, dims.end());
    }
    kernels_.push_back(std::move(gathered));
    options.observed.push_back(node.inputs[0]);
  }
  std::sort(options.observed.begin(), options.observed.end());
  options.observed.erase(std::unique(options.observed.begin(), options.observed.end()), options.observed.end());
  words_ = divide(kernels_);
  model.graph.outputs.clear();
  program_ = run::Program::compile(model, ops::standard(), options);
}

GramSums GramPass::empty() const {
  GramSums sums;
  for (auto& half : sums.words) half.assign(words_, 0);
  return sums;
}

GramView GramPass::view(const GramSums& sums, int half, const GramKernel& kernel, size_t block) const {
  const std::span<const int64_t> words(sums.words[half]);
  size_t begin = kernel.begin + 1;
  for (size_t k = 0; k < block; ++k) begin += words_of(kernel.blocks[k]);
  const auto size = static_cast<size_t>(kernel.blocks[block].size);
  return {static_cast<double>(words[kernel.begin]), words.subspan(begin, size),
          words.subspan(begin + size, size * (size + 1) / 2)};
}

class GramCounter::Observer : public run::Observer {
 public:
  explicit Observer(const GramPass& pass) : pass_(pass), sums_(pass.empty()) {
    for (const GramKernel& kernel : pass.kernels()) readers_[kernel.input].push_back(&kernel);
  }
  void begin_sample(size_t place) { place_ = place; }
  const GramSums& sums() const { return sums_; }

  void observe(const run::ObservedTensor& tensor) override {
    const auto found = readers_.find(tensor.value);
    if (found == readers_.end() || tensor.data.empty()) return;
    const Codes codes = codes_of(tensor, *found->second[0]);
    for (const GramKernel* kernel : found->second) add(*kernel, tensor.shape, codes);
  }

 private:
  void add(const GramKernel& kernel, const Shape& shape, const Codes& codes);
  void add_groups(const GramKernel& kernel, const int16_t* sample, const std::vector<int64_t>& taps, int64_t channels);

  const GramPass& pass_;
  GramSums sums_;
  size_t place_ = 0;
  std::map<ValueId, std::vector<const GramKernel*>> readers_;
  std::vector<int32_t> own_;  // of one sample
  std::vector<int16_t> row_;
};

/// Every so many rows of the sample, not the same ones in each.
void GramCounter::Observer::add(const GramKernel& kernel, const Shape& shape, const Codes& codes) {
  if (codes.channels != kernel.op.inputs) return;
  Window window(kernel, shape);
  const int64_t outputs = kernel.op.is_conv ? window.outputs() : 1;
  const int64_t rows = codes.batch * outputs, positions = codes.positions();
  const int64_t stride = (rows + pass_.rows_per_sample() - 1) / pass_.rows_per_sample();
  own_.assign(kernel.words, 0);
  row_.resize(static_cast<size_t>(kernel.columns()));
  for (int64_t r = static_cast<int64_t>(place_ / 2) % std::max<int64_t>(1, stride); r < rows; r += stride) {
    const int16_t* sample = codes.values.data() + r / outputs * positions * codes.channels;
    add_groups(kernel, sample, window.taps(r % outputs), codes.channels);
    ++own_[0];
  }
  int64_t* words = sums_.words[place_ % 2].data() + kernel.begin;
  for (size_t k = 0; k < kernel.words; ++k) words[k] += own_[k];
}

void GramCounter::Observer::add_groups(const GramKernel& kernel, const int16_t* sample,
                                       const std::vector<int64_t>& taps, int64_t channels) {
  const int64_t per_group = kernel.op.inputs_per_group(), tap_count = kernel.op.taps;
  int32_t* sums = own_.data() + 1;
  int64_t group = -1;
  for (const GramBlock& block : kernel.blocks) {
    if (block.group != group) {
      group = block.group;
      for (int64_t tap = 0; tap < tap_count; ++tap) {
        const int64_t at = taps[static_cast<size_t>(tap)];
        for (int64_t i = 0; i < per_group; ++i)
          row_[static_cast<size_t>(i * tap_count + tap)] =
              at < 0 ? int16_t{0} : sample[at * channels + group * per_group + i];
      }
    }
    add_row(row_.data() + block.first, block.size, sums);
    sums += words_of(block);
  }
}

GramCounter::GramCounter(const GramPass& pass) : runner_(pass.program()), observer_(std::make_unique<Observer>(pass)) {}
GramCounter::~GramCounter() = default;
GramCounter::GramCounter(GramCounter&&) noexcept = default;

void GramCounter::add(size_t place, std::span<const Tensor> inputs) {
  observer_->begin_sample(place);
  runner_.run(inputs, observer_.get());
}

const GramSums& GramCounter::sums() const {
  return observer_->sums();
}

}  // namespace tersor::ptq
