// SPDX-License-Identifier: Apache-2.0
#include "core/report/compare.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <string_view>

#include "core/base/error.h"
#include "core/correct/bound_relus.h"
#include "core/correct/equalize_channels.h"
#include "core/graph/edit.h"
#include "core/graph/quantized.h"
#include "core/ops/layout.h"
#include "core/report/kept_answers.h"
#include "core/report/kept_detections.h"
#include "core/report/match_rows.h"
#include "core/report/pair_tensors.h"
#include "core/run/observer.h"
#include "core/samples/fixed_batch.h"
#include "core/samples/selection.h"
#include "core/simulate/operators.h"
#include "core/tflite/integer_model.h"
#include "core/trial/padding_mask.h"

namespace tersor::report {

namespace {

/// The Transpose that shows codes of a .tflite file in the float model's order of axes; null for any other value.
const Node* view_of_codes(const Graph& graph, const Uses& uses, ValueId codes) {
  const auto shown = uses.producer_index(codes);
  if (!shown || !graph.nodes()[*shown].is("Transpose")) return nullptr;
  const Node& view = graph.nodes()[*shown];
  const auto maker = uses.producer_index(view.inputs[0]);
  return maker && graph.nodes()[*maker].domain == kTfliteDomain ? &view : nullptr;
}

std::vector<int64_t> inverse(const std::vector<int64_t>& perm) {
  std::vector<int64_t> result(perm.size());
  for (size_t k = 0; k < perm.size(); ++k) result[static_cast<size_t>(perm[k])] = static_cast<int64_t>(k);
  return result;
}

/// The fused model cut at every paired tensor: each tensor enters as a float input, is quantized, and is read in place
/// of the computed one; what was computed is given out.
Model cut_at_pairs(const Model& fused, const std::vector<PairedTensor>& paired) {
  Model model = fused;
  Graph& graph = model.graph;
  graph.outputs.clear();
  const Uses uses(graph);
  std::vector<Node> front, back;
  for (const PairedTensor& one : paired) {
    const std::string stem = graph.name_of(one.raw);
    const Node* const view = view_of_codes(fused.graph, uses, one.raw);
    const ValueId read = view != nullptr ? view->inputs[0] : one.raw;
    const ValueId given = graph.add_unique_value(stem + "_given", DType::kFloat32);
    const ValueId quantized = graph.add_unique_value(stem + "_given_quantized", one.parameters.dtype);
    const ValueId entering =
        view != nullptr ? graph.add_unique_value(stem + "_given_turned", one.parameters.dtype) : quantized;
    const ValueId alone = graph.add_unique_value(stem + "_alone", DType::kFloat32);
    for (const size_t reader : uses.reader_indices(read)) {
      auto& node = graph.nodes()[reader];
      if (view == nullptr || node.id != view->id) std::replace(node.inputs.begin(), node.inputs.end(), read, entering);
    }
    Node quantize, dequantize;
    quantize.op_type = "QuantizeLinear";
    dequantize.op_type = "DequantizeLinear";
    quantize.inputs = {given, one.parameters.scale};
    dequantize.inputs = {one.raw, one.parameters.scale};
    if (one.parameters.zero_point.valid())
      for (Node* node : {&quantize, &dequantize}) node->inputs.push_back(one.parameters.zero_point);
    quantize.outputs = {quantized};
    dequantize.outputs = {alone};
    if (const auto lookup = table_lookup(fused.graph, uses, one.raw)) {
      Node cast = *lookup->cast, gather = *lookup->gather;
      cast.inputs[0] = quantize.outputs[0] = graph.add_unique_value(stem + "_given_codes", one.parameters.dtype);
      cast.outputs[0] = gather.inputs[1] = graph.add_unique_value(stem + "_given_index", DType::kInt32);
      gather.outputs[0] = quantized;
      front.insert(front.end(), {std::move(quantize), std::move(cast), std::move(gather)});
    } else {
      front.push_back(std::move(quantize));
    }
    if (view != nullptr) {
      Node turned;
      turned.op_type = "Transpose";
      turned.inputs = {quantized};
      turned.outputs = {entering};
      turned.attributes["perm"] = inverse(*view->attribute<std::vector<int64_t>>("perm"));
      front.push_back(std::move(turned));
    }
    back.push_back(std::move(dequantize));
    graph.inputs.push_back(given);
    graph.outputs.push_back(alone);
  }
  prepend(graph, std::move(front));
  for (Node& node : back) graph.append(std::move(node));
  return model;
}

void check_ports(const Graph& a, const Graph& b) {
  const auto check = [](const Graph& x, const Graph& y, const std::vector<ValueId>& of_x,
                        const std::vector<ValueId>& of_y, const char* what) {
    if (of_x.size() != of_y.size())
      throw Error(ErrorCode::kMismatch,
                  "The float model has " + std::to_string(of_x.size()) + " " + what + ", the quantized one " +
                      std::to_string(of_y.size()) + ".",
                  "graph", "Give the model that the quantized file was made from.");
    for (size_t i = 0; i < of_x.size(); ++i)
      if (x.name_of(of_x[i]) != y.name_of(of_y[i]))
        throw Error(ErrorCode::kMismatch,
                    "The float model has \"" + x.name_of(of_x[i]) + "\" where the quantized one has \"" +
                        y.name_of(of_y[i]) + "\" among its " + what + ".",
                    "graph", "Give the model that the quantized file was made from.");
  };
  check(a, b, a.inputs, b.inputs, "inputs");
  check(a, b, a.outputs, b.outputs, "outputs");
}

/// Tensors are paired by name; a model that another tool made may mean something else by it.
[[noreturn]] void refuse_shape(const TensorPair& pair, const Tensor& reference, const Tensor& quantized) {
  throw Error(ErrorCode::kMismatch,
              "The tensor \"" + pair.row.output + "\" has the shape " + reference.shape().text() +
                  " in the float model and " + quantized.shape().text() +
                  " in the quantized one: the two do not name their tensors alike.",
              "graph", "Compare files that come from each other, such as a model and what Tersor made of it.");
}

/// What another order of float sums may change in an operator's output, as a part of its largest value.
constexpr double kFloatSumError = 1.0 / (1 << 20);

void add_float_sums(FloatSumRow& row, std::span<const float> values, std::optional<float> step) {
  double most = 0;
  for (float value : values) most = std::max(most, std::abs(static_cast<double>(value)));
  row.values += static_cast<int64_t>(values.size());
  if (!step) {
    if (most > 0) row.largest_difference_steps = std::max(row.largest_difference_steps, 256 * kFloatSumError);
    return;
  }
  const double error = most * kFloatSumError / static_cast<double>(*step);
  const auto undecided = std::count_if(values.begin(), values.end(), [&](float value) {
    const double steps = static_cast<double>(value) / static_cast<double>(*step);
    return std::abs(steps - std::floor(steps) - 0.5) <= error;
  });
  row.undecided += undecided;
  if (undecided > 0) row.largest_difference_steps = std::max({row.largest_difference_steps, 1.0, std::ceil(error)});
}

/// One row of scores for each sample: [N, C], or more dimensions of which all but one are 1. [N, P, 1] is not: that is
/// one value for each of P positions, as detectors have them.
bool is_list_of_classes(const Shape& shape) {
  if (shape.rank() < 2 || shape[0] < 1 || (shape.rank() == 3 && shape[2] == 1)) return false;
  const int64_t length = shape.elements(1, shape.rank());
  return length > 1 && length == *std::max_element(shape.begin() + 1, shape.end());
}

/// Samples in a batch, as far as input and output have the same number.
int64_t rows_of(std::span<const Tensor> inputs, const Tensor& output) {
  const int64_t rows = output.shape().rank() > 0 ? output.shape()[0] : 1;
  return !inputs.empty() && inputs[0].shape().rank() > 0 && inputs[0].shape()[0] == rows ? rows : 1;
}

size_t largest(std::span<const float> values) {
  return static_cast<size_t>(std::max_element(values.begin(), values.end()) - values.begin());
}

constexpr int64_t kLayerSamples = 8;

/// Shows watched values as plain tensors, each with its places in the list of them.
template <class Take>
class Watcher : public run::Observer {
 public:
  Watcher(const std::vector<ValueId>& values, Take take) : take_(std::move(take)) {
    for (size_t k = 0; k < values.size(); ++k) places_[values[k]].push_back(k);
  }
  void observe(const run::ObservedTensor& seen) override {
    const auto places = places_.find(seen.value);
    if (places == places_.end()) return;
    Tensor plain = Tensor::make_unset(DType::kFloat32, seen.shape);
    if (!seen.data.empty())
      ops::convert_layout({DType::kFloat32, seen.shape, seen.layout}, seen.data.data(), ops::Layout::kPlain,
                          plain.mutable_bytes().data());
    for (const size_t place : places->second) take_(place, plain);
  }

 private:
  std::map<ValueId, std::vector<size_t>> places_;
  Take take_;
};

/// Whether outputs of that kind of which nothing was kept have a measure all the same.
bool judges_values(OutputKind kind) {
  return kind == OutputKind::kBoxes || kind == OutputKind::kEmbedding || kind == OutputKind::kValues;
}

/// Whether small values count as much as large ones: a score near 0 says no, however near; a direction has its cosine.
bool has_quantities(OutputKind kind) {
  return kind == OutputKind::kBoxes || kind == OutputKind::kDetections || kind == OutputKind::kValues;
}

/// One answer for each row of a list of scores of classes, or of their numbers.
std::optional<evaluate::Agreement> same_answers(const Tensor& a, const Tensor& b) {
  const int64_t rows = a.shape().rank() > 0 ? a.shape()[0] : 1;
  const bool ids = a.dtype() == DType::kInt64 && a.shape().rank() > 0 && a.elements() == rows;
  const bool scores = a.dtype() == DType::kFloat32 && is_list_of_classes(a.shape());
  if ((!ids && !scores) || a.dtype() != b.dtype()) return std::nullopt;
  evaluate::Agreement answers{0, rows};
  for (int64_t r = 0; r < rows; ++r) {
    const auto row = static_cast<size_t>(r), length = static_cast<size_t>(a.elements() / rows);
    answers.same += ids ? a.data<int64_t>()[row] == b.data<int64_t>()[row]
                        : largest(a.data<float>().subspan(row * length, length)) ==
                              largest(b.data<float>().subspan(row * length, length));
  }
  return answers;
}

/// The rows of an embedding in float and quantized; of very long ones none.
std::vector<EmbeddingPair> embeddings_of(const Tensor& reference, const Tensor& other, int64_t rows) {
  constexpr int64_t kLongest = 8192;
  std::vector<EmbeddingPair> pairs;
  if (reference.dtype() != DType::kFloat32 || other.dtype() != DType::kFloat32 || reference.elements() % rows != 0 ||
      reference.elements() / rows > kLongest)
    return pairs;
  const auto length = static_cast<size_t>(reference.elements() / rows);
  for (size_t at = 0; at < static_cast<size_t>(reference.elements()); at += length) {
    const auto a = reference.data<float>().subspan(at, length), b = other.data<float>().subspan(at, length);
    pairs.push_back({{a.begin(), a.end()}, {b.begin(), b.end()}});
  }
  return pairs;
}

/// What is no number is lower than all that are.
void take_lower(const std::optional<double>& decibels, std::optional<double>& least) {
  if (decibels && (!least || !(*decibels >= *least || std::isnan(*least)))) least = decibels;
}

/// What 1 in a rescaled tensor of the quantized model is in the float model's, in the channel where it is the most.
double unit_of(const TensorPair& pair) {
  const double most = pair.scales.empty() ? 1 : *std::max_element(pair.scales.begin(), pair.scales.end());
  return most / pair.factor;
}

}  // namespace

std::shared_ptr<const CompareProgram> CompareProgram::make(const Model& float_model, const Model& other,
                                                           simulate::Profile profile, bool first_is_classes,
                                                           const config::OutputRoles& roles, Depth most) {
  const Model quantized = tflite::is_integer_model(other) ? tflite::as_made_from(other, float_model) : other;
  check_ports(float_model.graph, quantized.graph);
  const bool layers = most == Depth::kLayers;
  simulate::FusedModel fused = simulate::fuse(quantized, profile, layers && profile == simulate::Profile::kX64);
  if (!layers) fused.float_islands.clear(), fused.saturations.clear();
  const Model reference = layers ? with_rewritten_inputs(float_model, quantized.graph) : float_model;
  std::vector<PairedTensor> paired;
  if (layers) paired = pair_tensors(reference.graph, quantized.graph, fused.model.graph);
  std::shared_ptr<CompareProgram> program(new CompareProgram);
  program->runtime_ = tflite::is_integer_model(quantized) ? simulate::Profile::kTfliteMicro : profile;
  std::map<std::string, std::vector<double>> scales;
  for (const auto& [key, value] : quantized.metadata)
    if (key == ptq::kChannelScales) scales = ptq::read_channel_scales(value);
  std::map<std::string, double> factors;
  for (const auto& [key, value] : quantized.metadata)
    if (key == ptq::kTensorFactors) factors = ptq::read_tensor_factors(value);
  run::ProgramOptions in_float, accumulated;
  for (const PairedTensor& one : paired) {
    program->pairs_.push_back(one.pair);
    const auto equalized = scales.find(one.pair.row.output);
    if (equalized != scales.end()) program->pairs_.back().scales = equalized->second;
    const auto factor = factors.find(one.pair.row.output);
    if (factor != factors.end()) program->pairs_.back().factor = factor->second;
    program->in_float_.push_back(one.in_float);
    program->in_accumulated_.push_back(one.real);
  }
  for (const simulate::Saturation& one : fused.saturations) {
    program->saturations_.push_back({one.node, one.op});
    accumulated.fetched.push_back(one.counts);
  }
  for (const simulate::FloatIsland& one : fused.float_islands) {
    if (one.exact || !one.output.valid()) continue;
    program->float_sums_.push_back({one.node, one.op});
    program->float_sum_steps_.push_back(one.step);
    program->in_accumulated_.push_back(one.output);
  }
  in_float.observed = program->in_float_;
  accumulated.observed = program->in_accumulated_;
  program->mask_input_ = mask_input(float_model.graph);
  const Uses uses(float_model.graph);
  for (ValueId id : float_model.graph.outputs) {
    program->outputs_.push_back(float_model.graph.name_of(id));
    program->class_axes_.push_back(class_axis(float_model, uses, id));
    program->traits_.push_back(output_trait(float_model.graph, uses, id));
    const auto said = roles.find(program->outputs_.back());
    if (said != roles.end())
      program->traits_.back().kind = said->second;
    else if (first_is_classes && program->outputs_.size() == 1)
      program->traits_.back().kind = OutputKind::kClasses;
  }
  config::check_output_roles(roles, program->outputs_);
  program->float_islands_ = fused.float_islands;
  // A file may be compared with itself or with another, and hold what only its runtime has.
  const auto& nodes = float_model.graph.nodes();
  const bool is_of_runtime = std::any_of(nodes.begin(), nodes.end(), [](const Node& node) {
    return node.op_type == "MatMulNBits" || node.domain == kTfliteDomain;
  });
  program->float_ =
      run::Program::compile(reference, is_of_runtime ? simulate::registry(profile) : ops::standard(), in_float);
  if (layers) program->accumulated_ = run::Program::compile(fused.model, simulate::registry(profile), accumulated);
  const bool counts = layers && profile == simulate::Profile::kX64;  // what such a CPU does not do
  program->outputs_only_ = run::Program::compile(counts ? simulate::fuse(quantized, profile).model : fused.model,
                                                 simulate::registry(profile));
  if (paired.empty()) return program;
  const Model cut = cut_at_pairs(fused.model, paired);
  run::ProgramOptions isolated;
  isolated.observed = program->in_isolated_ = cut.graph.outputs;
  program->isolated_ = run::Program::compile(cut, simulate::registry(profile), isolated);
  return program;
}

void Comparer::Sums::add(std::span<const float> reference, std::span<const float> other) {
  double s = 0, n = 0;
  for (size_t i = 0; i < reference.size(); ++i) {
    const double value = reference[i], difference = value - static_cast<double>(other[i]);
    s += value * value;
    n += difference * difference;
  }
  signal += s;
  noise += n;
}

std::vector<int64_t> layer_samples(std::span<const int64_t> samples) {
  const auto total = static_cast<int64_t>(samples.size());
  std::vector<int64_t> layered;
  for (const int64_t place : samples::spread_evenly(total, std::min(total, kLayerSamples)))
    layered.push_back(samples[static_cast<size_t>(place)]);
  return layered;
}

std::vector<int64_t> first_layer_samples() {
  return samples::spread_evenly(kLayerSamples, kLayerSamples);
}

Depth depth_of(std::span<const int64_t> layered, int64_t sample) {
  return std::find(layered.begin(), layered.end(), sample) == layered.end() ? Depth::kOutputs : Depth::kLayers;
}

static uint64_t content_of(std::span<const Tensor> inputs) {
  uint64_t hash = 0;
  for (const Tensor& input : inputs) {
    const auto bytes = input.bytes();
    hash = hash * 31 + std::hash<std::string_view>()({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }
  return hash;
}

Comparer::Comparer(std::shared_ptr<const CompareProgram> program)
    : program_(std::move(program)), float_(program_->float_), outputs_only_(program_->outputs_only_) {}

void Comparer::add(int64_t sample, std::span<const Tensor> inputs, Depth depth, int64_t repeated) {
  Record record;
  record.sample = sample;
  record.content = content_of(inputs);
  if (depth == Depth::kLayers)
    add_layers(inputs, repeated, record);
  else
    add_outputs(inputs, float_.run(inputs), outputs_only_.run(inputs), repeated, record);
  records_.push_back(std::move(record));
}

Comparer::Layers Comparer::no_layers() const {
  return {std::vector<PairSums>(program_->pairs_.size()), std::vector<OutputParts>(program_->outputs_.size()),
          program_->saturations_, program_->float_sums_};
}

/// Of all tensors at once only the float model's are held, and of runners one at a time has its buffers.
void Comparer::add_layers(std::span<const Tensor> inputs, int64_t repeated, Record& record) {
  Layers& layers = record.layers.emplace(no_layers());
  const size_t outputs = program_->outputs_.size(), pairs = program_->pairs_.size();
  std::vector<Tensor> exact(pairs);
  Watcher in_float(program_->in_float_, [&](size_t pair, const Tensor& tensor) { exact[pair] = tensor; });
  outputs_only_ = run::Runner(program_->outputs_only_);
  const std::vector<Tensor> reference = float_.run(inputs, &in_float);
  float_ = run::Runner(program_->float_);
  {
    const bool varies = shapes_depend_on_data(inputs);
    Watcher so_far(program_->in_accumulated_, [&](size_t place, const Tensor& tensor) {
      if (place >= pairs)
        return add_float_sums(layers.float_sums[place - pairs], tensor.data<float>(),
                              program_->float_sum_steps_[place - pairs]);
      if (exact[place].empty()) return;
      if (exact[place].shape() == tensor.shape()) {
        layers.pairs[place].accumulated.add(exact[place].data<float>(), as_float(place, tensor).data<float>());
        layers.pairs[place].compared += 1;
      } else if (!varies) {
        refuse_shape(program_->pairs_[place], exact[place], tensor);
      }
    });
    run::Runner runner(program_->accumulated_);
    const std::vector<Tensor> accumulated = runner.run(inputs, &so_far);
    add_outputs(inputs, reference, std::span(accumulated).first(outputs), repeated, record);
    for (size_t i = 0; i < layers.saturations.size(); ++i) {
      const auto counts = accumulated[outputs + i].data<int64_t>();
      layers.saturations[i].saturated += counts[0];
      layers.saturations[i].sums += counts[1];
    }
  }
  if (!program_->isolated_) return;
  std::vector<Tensor> given(inputs.begin(), inputs.end());
  for (size_t i = 0; i < pairs; ++i) {
    TERSOR_CHECK(!exact[i].empty());
    given.push_back(as_quantized(i, exact[i]));
    const auto values = given.back().data<float>();
    const TensorPair& pair = program_->pairs_[i];
    const auto low = static_cast<float>(pair.low - *pair.row.scale / 2);
    const auto high = static_cast<float>(pair.high + *pair.row.scale / 2);
    layers.pairs[i].values += static_cast<int64_t>(values.size());
    layers.pairs[i].lost += std::count_if(values.begin(), values.end(), [&](float x) { return x < low || x > high; });
  }
  Watcher alone(program_->in_isolated_, [&](size_t pair, const Tensor& tensor) {
    layers.pairs[pair].isolated.add(exact[pair].data<float>(), as_float(pair, tensor).data<float>());
  });
  run::Runner(program_->isolated_).run(given, &alone);
}

/// As of what a NonMaxSuppression keeps.
bool Comparer::shapes_depend_on_data(std::span<const Tensor> inputs) const {
  std::vector<Shape> shapes;
  for (const Tensor& input : inputs) shapes.push_back(input.shape());
  return program_->float_->peak_bytes(shapes) == 0;
}

/// A tensor of the pair with each element changed by change(element, what the channel is divided by).
template <class Change>
Tensor Comparer::rescaled(size_t pair, const Tensor& tensor, Change&& change) const {
  const TensorPair& how = program_->pairs_[pair];
  const Shape& shape = tensor.shape();
  const bool by_channel =
      !how.scales.empty() && shape.rank() >= 2 && shape[1] == static_cast<int64_t>(how.scales.size());
  if (!by_channel && how.factor == 1) return tensor;
  Tensor made = Tensor::make(DType::kFloat32, shape);
  const auto from = tensor.data<float>();
  const auto to = made.mutable_data<float>();
  const size_t channels = by_channel ? how.scales.size() : 1;
  const auto inner = by_channel ? static_cast<size_t>(shape.elements(2, shape.rank())) : from.size();
  for (size_t k = 0, channel = 0; k < from.size(); channel = (channel + 1) % channels) {
    const double scale = by_channel ? how.scales[channel] : 1.0;
    for (const size_t end = k + inner; k < end; ++k) to[k] = static_cast<float>(change(from[k], scale));
  }
  return made;
}

/// A tensor of the float model as the quantized model has it.
Tensor Comparer::as_quantized(size_t pair, const Tensor& tensor) const {
  const double factor = program_->pairs_[pair].factor;
  return rescaled(pair, tensor, [&](float x, double scale) { return factor * x / scale; });
}

/// And back. Errors are measured there: what is lost in a channel that was raised is worth no more for it.
Tensor Comparer::as_float(size_t pair, const Tensor& tensor) const {
  const double factor = program_->pairs_[pair].factor;
  return rescaled(pair, tensor, [&](float x, double scale) { return x * scale / factor; });
}

void Comparer::add_outputs(std::span<const Tensor> all_inputs, std::span<const Tensor> all_reference,
                           std::span<const Tensor> all_other, int64_t repeated, Record& record) const {
  const auto own = [&](std::span<const Tensor> tensors) {
    return samples::first_rows({tensors.begin(), tensors.end()}, repeated);
  };
  const std::vector<Tensor> inputs = own(all_inputs);
  std::vector<Tensor> reference = own(all_reference), other = own(all_other);
  record.outputs.resize(program_->outputs_.size());
  record.embeddings.resize(program_->outputs_.size());
  record.rows = rows_of(inputs, reference[0]);
  record.kept = detections_kept(program_->traits_, reference, other);
  match_rows(program_->traits_, reference, other);
  if (program_->mask_input_) {
    clear_padding(inputs[*program_->mask_input_], reference);
    clear_padding(inputs[*program_->mask_input_], other);
  }
  for (size_t i = 0; i < record.outputs.size(); ++i) {
    record.outputs[i].sample = record.sample;
    const Tensor &exact = reference[i], &value = other[i];
    if (!(exact.shape() == value.shape())) continue;
    // An output like the input is a reconstruction.
    const bool reconstruction = !inputs.empty() && inputs[0].shape() == exact.shape();
    const OutputKind kind = program_->traits_[i].kind;
    const auto& axis = program_->class_axes_[i];
    // Of further integers an ArgMax's alone are answers.
    const bool may_answer = i == 0 || axis || exact.dtype() == DType::kFloat32;
    if (kind == OutputKind::kClasses && may_answer && !reconstruction)
      if (const auto same = same_answers(exact, value)) record.kept[i] = Kept{kind, *same};
    if (!reconstruction && !record.kept[i]) record.kept[i] = kept_answers(kind, axis, record.rows, exact, value);
    if (kind == OutputKind::kEmbedding) record.embeddings[i] = embeddings_of(exact, value, record.rows);
    const auto add_all = [&](const auto& a, const auto& b) {
      for (size_t k = 0; k < a.size(); ++k) record.outputs[i].add(static_cast<double>(a[k]), static_cast<double>(b[k]));
    };
    if (exact.dtype() == DType::kFloat32 && value.dtype() == DType::kFloat32) {
      add_all(exact.data<float>(), value.data<float>());
      if (record.layers) record.layers->parts[i].add(exact.shape(), exact.data<float>(), value.data<float>());
    } else {
      add_all(exact.to_doubles(), value.to_doubles());
    }
  }
}

void Comparer::merge(Comparer&& other) {
  for (Record& record : other.records_) records_.push_back(std::move(record));
  other.records_.clear();
}

static void put_bytes(ByteWriter& writer, const OutputParts& parts) {
  writer.put(parts.state());
}
static void get_bytes(ByteReader& reader, OutputParts& parts) {
  parts = OutputParts::of_state(reader.get_all<double>());
}

ByteBuffer Comparer::save() const {
  return to_bytes(records_);
}

void Comparer::merge_saved(std::span<const std::byte> bytes) {
  for (Record& record : from_bytes<std::vector<Record>>(bytes)) records_.push_back(std::move(record));
}

std::vector<const Comparer::Record*> Comparer::in_order() const {
  std::vector<const Record*> order;
  for (const Record& record : records_) order.push_back(&record);
  std::sort(order.begin(), order.end(), [](const Record* a, const Record* b) { return a->sample < b->sample; });
  return order;
}

Comparer::Layers Comparer::sum_of_layers(std::span<const Record* const> records) const {
  Layers all = no_layers();
  for (const Record* record : records) {
    if (!record->layers) continue;
    const Layers& more = *record->layers;
    for (size_t i = 0; i < all.pairs.size(); ++i) {
      PairSums& to = all.pairs[i];
      const PairSums& from = more.pairs[i];
      to.isolated.signal += from.isolated.signal, to.isolated.noise += from.isolated.noise;
      to.accumulated.signal += from.accumulated.signal, to.accumulated.noise += from.accumulated.noise;
      to.values += from.values, to.lost += from.lost, to.compared += from.compared;
    }
    for (size_t i = 0; i < all.parts.size(); ++i) all.parts[i].merge(more.parts[i]);
    for (size_t i = 0; i < all.saturations.size(); ++i) {
      all.saturations[i].sums += more.saturations[i].sums;
      all.saturations[i].saturated += more.saturations[i].saturated;
    }
    for (size_t i = 0; i < all.float_sums.size(); ++i) {
      FloatSumRow& to = all.float_sums[i];
      const FloatSumRow& from = more.float_sums[i];
      to.values += from.values, to.undecided += from.undecided;
      to.largest_difference_steps = std::max(to.largest_difference_steps, from.largest_difference_steps);
    }
  }
  return all;
}

std::vector<LayerRow> Comparer::layer_rows(const std::vector<PairSums>& pairs) const {
  const auto relative = [](const Sums& sums) { return sums.signal > 0 ? sums.noise / sums.signal : 0.0; };
  double sum = 0;
  for (const PairSums& one : pairs) sum += relative(one.isolated);
  std::vector<LayerRow> rows;
  for (size_t i = 0; i < pairs.size(); ++i) {
    if (pairs[i].compared == 0 && !records_.empty()) continue;  // its shape was never the float model's
    LayerRow row = program_->pairs_[i].row;
    row.isolated_sqnr_db = evaluate::sqnr_db(pairs[i].isolated.signal, pairs[i].isolated.noise);
    row.accumulated_sqnr_db = evaluate::sqnr_db(pairs[i].accumulated.signal, pairs[i].accumulated.noise);
    row.error_share = sum > 0 ? relative(pairs[i].isolated) / sum : 0;
    row.values = pairs[i].values;
    row.lost = pairs[i].lost;
    const double unit = unit_of(program_->pairs_[i]);
    for (double& end : *row.range) end *= unit;
    *row.scale *= unit;
    rows.push_back(std::move(row));
  }
  return rows;
}

/// What all records kept of an output, and as what; nothing where one has another kind, or none.
std::optional<evaluate::Agreement> Comparer::sum_of_kept(std::span<const Record* const> records, size_t output,
                                                         OutputKind& kind) const {
  if (kind == OutputKind::kEmbedding) {
    std::vector<EmbeddingPair> embeddings;
    for (const Record* record : records)
      embeddings.insert(embeddings.end(), record->embeddings[output].begin(), record->embeddings[output].end());
    const evaluate::Agreement kept = kept_neighbours(embeddings);
    return kept.count > 0 ? std::optional(kept) : std::nullopt;
  }
  std::optional<evaluate::Agreement> sum;
  const OutputKind known = kind;
  for (const Record* record : records) {
    const std::optional<Kept>& kept = record->kept[output];
    if (!kept) {
      if (known == OutputKind::kClasses && output == 0) return std::nullopt;
      continue;
    }
    if (!sum) sum.emplace(), kind = kept->kind;
    sum->same += kept->answers.same, sum->count += kept->answers.count;
  }
  return sum;
}

Comparison Comparer::result() const {
  const std::vector<const Record*> records = in_order();
  Comparison comparison;
  std::vector<evaluate::Similarity> outputs(program_->outputs_.size());
  std::vector<std::vector<OutputOfSample>> by_sample(outputs.size());
  std::set<uint64_t> contents;
  for (const Record* record : records) {
    comparison.samples += record->rows;
    if (contents.insert(record->content).second) comparison.distinct += record->rows;
    if (record->layers) comparison.layer_samples += record->rows;
    for (size_t i = 0; i < outputs.size(); ++i) {
      outputs[i].merge(record->outputs[i].all);
      by_sample[i].push_back(record->outputs[i]);
    }
  }
  std::vector<std::optional<evaluate::Agreement>> kept(outputs.size());
  std::vector<OutputKind> kinds(outputs.size(), OutputKind::kValues);
  for (size_t i = 0; i < outputs.size(); ++i) {
    kinds[i] = program_->traits_[i].kind;
    kept[i] = sum_of_kept(records, i, kinds[i]);
  }
  if (kept[0] && kinds[0] == OutputKind::kClasses) comparison.agreement = kept[0];
  const Layers layers = sum_of_layers(records);
  // Classes and indices are no quantities: their distance counts where nothing else does.
  const auto is_whole = [](const run::Port& port) { return port.dtype == DType::kInt64; };
  const auto& ports = program_->float_->outputs();
  const bool all_whole = std::all_of(ports.begin(), ports.end(), is_whole);
  for (size_t i = 0; i < outputs.size(); ++i) {
    const evaluate::Similarity& all = outputs[i];
    const auto db = evaluate::sqnr_db(all.signal, all.noise);
    comparison.outputs.push_back({program_->outputs_[i], db, std::nullopt, std::nullopt, std::nullopt, {}});
    OutputComparison& output = comparison.outputs.back();
    output.kept = kept[i];
    const bool is_number = i > 0 && is_whole(ports[i]);
    output.kind = kept[i] || is_number || judges_values(kinds[i]) ? kinds[i] : OutputKind::kValues;
    if (has_quantities(output.kind)) output.parts = layers.parts[i].result(output.kind == OutputKind::kDetections);
    add_figures(by_sample[i], output);
    for (UnusualSample& one : unusual_samples(by_sample[i], output))
      comparison.unusual_samples.push_back(std::move(one));
    if (all.count > 0 && std::isfinite(all.noise) && std::isfinite(all.signal)) {
      output.mse = all.mse(), output.cosine_similarity = all.cosine(), output.max_error = all.max_error;
    }
    const bool counts = !is_whole(ports[i]) || (all_whole && !comparison.agreement);
    if (!counts) continue;
    take_lower(db, comparison.output_sqnr_db);
    take_lower(output.median_sqnr_db, comparison.median_sqnr_db);
  }
  comparison.layers = layer_rows(layers.pairs);
  comparison.saturation = layers.saturations;
  comparison.float_sums = layers.float_sums;
  return comparison;
}

}  // namespace tersor::report
