// SPDX-License-Identifier: Apache-2.0
#include "core/report/compare.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "core/base/error.h"
#include "core/base/json.h"
#include "core/graph/quantized.h"
#include "core/ptq/bound_relus.h"
#include "core/ptq/equalize_channels.h"
#include "core/report/pair_tensors.h"
#include "core/simulate/operators.h"

namespace tersor::report {

namespace {

/// The fused model cut at every paired tensor: each tensor enters as a float input, is quantized, and is read in place
/// of the computed one; what was computed is given out.
Model cut_at_pairs(const Model& fused, const std::vector<PairedTensor>& paired) {
  Model model = fused;
  Graph& graph = model.graph;
  graph.outputs.clear();
  const Uses uses(graph);
  for (const PairedTensor& one : paired) {
    const std::string stem = graph.name_of(one.raw);
    const ValueId given = graph.add_unique_value(stem + "_given", DType::kFloat32);
    const ValueId quantized = graph.add_unique_value(stem + "_given_quantized", one.parameters.dtype);
    const ValueId alone = graph.add_unique_value(stem + "_alone", DType::kFloat32);
    for (Node& node : graph.nodes())
      for (ValueId& input : node.inputs)
        if (input == one.raw) input = quantized;
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
      graph.insert(0, std::move(gather));
      graph.insert(0, std::move(cast));
    }
    graph.insert(0, std::move(quantize));
    graph.append(std::move(dequantize));
    graph.inputs.push_back(given);
    graph.outputs.push_back(alone);
  }
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

size_t largest(std::span<const float> values) {
  return static_cast<size_t>(std::max_element(values.begin(), values.end()) - values.begin());
}

/// JSON has no NaN and no infinity: null stands for them.
double number_of(const Json& json) {
  return json.is_null() ? std::numeric_limits<double>::quiet_NaN() : json.get<double>();
}

/// What 1 in a rescaled tensor of the quantized model is in the float model's, in the channel where it is the most.
double unit_of(const TensorPair& pair) {
  const double most = pair.scales.empty() ? 1 : *std::max_element(pair.scales.begin(), pair.scales.end());
  return most / pair.factor;
}

}  // namespace

std::shared_ptr<const CompareProgram> CompareProgram::make(const Model& float_model, const Model& quantized,
                                                           simulate::Profile profile) {
  check_ports(float_model.graph, quantized.graph);
  const simulate::FusedModel fused = simulate::fuse(quantized, profile, profile == simulate::Profile::kX64);
  const std::vector<PairedTensor> paired = pair_tensors(float_model.graph, quantized.graph, fused.model.graph);
  std::shared_ptr<CompareProgram> program(new CompareProgram);
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
    in_float.fetched.push_back(one.in_float);
    accumulated.fetched.push_back(one.real);
  }
  for (const simulate::Saturation& one : fused.saturations) {
    program->saturations_.push_back({one.node, one.op});
    accumulated.fetched.push_back(one.counts);
  }
  for (const simulate::FloatIsland& one : fused.float_islands) {
    if (one.exact || !one.output.valid()) continue;
    program->float_sums_.push_back({one.node, one.op});
    program->float_sum_steps_.push_back(one.step);
    accumulated.fetched.push_back(one.output);
  }
  for (ValueId id : float_model.graph.outputs) program->outputs_.push_back(float_model.graph.name_of(id));
  program->float_islands_ = fused.float_islands;
  program->float_ = run::Program::compile(float_model, ops::standard(), in_float);
  program->accumulated_ = run::Program::compile(fused.model, simulate::registry(profile), accumulated);
  if (!paired.empty())
    program->isolated_ = run::Program::compile(cut_at_pairs(fused.model, paired), simulate::registry(profile));
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

Comparer::Comparer(std::shared_ptr<const CompareProgram> program)
    : program_(std::move(program)),
      float_(program_->float_),
      accumulated_(program_->accumulated_),
      isolated_(program_->isolated_ ? std::make_unique<run::Runner>(program_->isolated_) : nullptr),
      pairs_(program_->pairs_.size()),
      outputs_(program_->outputs_.size()),
      saturations_(program_->saturations()),
      float_sums_(program_->float_sums()) {}

void Comparer::add(std::span<const Tensor> inputs) {
  const std::vector<Tensor> reference = float_.run(inputs), accumulated = accumulated_.run(inputs);
  const size_t outputs = outputs_.size();
  add_outputs(inputs, std::span(reference).first(outputs), std::span(accumulated).first(outputs));
  for (size_t i = 0; i < pairs_.size(); ++i)
    if (!(reference[outputs + i].shape() == accumulated[outputs + i].shape()) && !shapes_depend_on_data(inputs))
      refuse_shape(program_->pairs_[i], reference[outputs + i], accumulated[outputs + i]);
  for (size_t i = 0; i < saturations_.size(); ++i) {
    const auto counts = accumulated[outputs + pairs_.size() + i].data<int64_t>();
    saturations_[i].saturated += counts[0];
    saturations_[i].sums += counts[1];
  }
  for (size_t i = 0; i < float_sums_.size(); ++i) {
    const Tensor& output = accumulated[outputs + pairs_.size() + saturations_.size() + i];
    if (output.dtype() == DType::kFloat32)
      add_float_sums(float_sums_[i], output.data<float>(), program_->float_sum_steps_[i]);
  }
  if (!isolated_) return;
  std::vector<Tensor> given(inputs.begin(), inputs.end());
  for (size_t i = 0; i < pairs_.size(); ++i) given.push_back(as_quantized(i, reference[outputs + i]));
  const std::vector<Tensor> alone = isolated_->run(given);
  for (size_t i = 0; i < pairs_.size(); ++i) {
    const auto exact = reference[outputs + i].data<float>();
    if (reference[outputs + i].shape() == accumulated[outputs + i].shape()) {
      pairs_[i].accumulated.add(exact, as_float(i, accumulated[outputs + i]).data<float>());
      pairs_[i].compared += 1;
    }
    pairs_[i].isolated.add(exact, as_float(i, alone[i]).data<float>());
    const auto values = given[inputs.size() + i].data<float>();
    const auto low = static_cast<float>(program_->pairs_[i].low - *program_->pairs_[i].row.scale / 2);
    const auto high = static_cast<float>(program_->pairs_[i].high + *program_->pairs_[i].row.scale / 2);
    pairs_[i].values += static_cast<int64_t>(values.size());
    pairs_[i].lost += std::count_if(values.begin(), values.end(), [&](float x) { return x < low || x > high; });
  }
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
  const auto inner = by_channel ? static_cast<size_t>(shape.elements(2, shape.rank())) : size_t{1};
  for (size_t k = 0; k < from.size(); ++k)
    to[k] = static_cast<float>(change(from[k], by_channel ? how.scales[k / inner % how.scales.size()] : 1.0));
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

void Comparer::add_outputs(std::span<const Tensor> inputs, std::span<const Tensor> reference,
                           std::span<const Tensor> other) {
  for (size_t i = 0; i < outputs_.size(); ++i) {
    const Tensor &exact = reference[i], &value = other[i];
    if (!(exact.shape() == value.shape())) continue;
    evaluate::Similarity sums;
    const auto add_all = [&](const auto& a, const auto& b) {
      for (size_t k = 0; k < a.size(); ++k) sums.add(static_cast<double>(a[k]), static_cast<double>(b[k]));
    };
    if (exact.dtype() == DType::kFloat32 && value.dtype() == DType::kFloat32) {
      add_all(exact.data<float>(), value.data<float>());
      outputs_[i].parts.add(exact.shape(), exact.data<float>(), value.data<float>());
    } else {
      add_all(exact.to_doubles(), value.to_doubles());
    }
    outputs_[i].all.merge(sums);
  }
  const Tensor &a = reference[0], &b = other[0];
  const int64_t rows = a.shape().rank() > 0 ? a.shape()[0] : 1;
  samples_ += !inputs.empty() && inputs[0].shape().rank() > 0 && inputs[0].shape()[0] == rows ? rows : 1;
  const bool ids = a.dtype() == DType::kInt64 && a.shape().rank() > 0 && a.elements() == rows;
  const bool scores = a.dtype() == DType::kFloat32 && is_list_of_classes(a.shape());
  // An output like the input is a reconstruction, not a list of classes.
  const bool reconstruction = !inputs.empty() && inputs[0].shape() == a.shape();
  classes_ = classes_ && !reconstruction && (ids || scores) && a.shape() == b.shape();
  if (!classes_) return;
  agreement_.count += rows;
  for (int64_t r = 0; r < rows; ++r) {
    const auto row = static_cast<size_t>(r), length = static_cast<size_t>(a.elements() / rows);
    agreement_.same += ids ? a.data<int64_t>()[row] == b.data<int64_t>()[row]
                           : largest(a.data<float>().subspan(row * length, length)) ==
                                 largest(b.data<float>().subspan(row * length, length));
  }
}

void Comparer::merge(const Comparer& other) {
  const auto add = [](Sums& to, const Sums& from) { to.signal += from.signal, to.noise += from.noise; };
  for (size_t i = 0; i < pairs_.size(); ++i) {
    add(pairs_[i].isolated, other.pairs_[i].isolated);
    add(pairs_[i].accumulated, other.pairs_[i].accumulated);
    pairs_[i].values += other.pairs_[i].values;
    pairs_[i].lost += other.pairs_[i].lost;
    pairs_[i].compared += other.pairs_[i].compared;
  }
  for (size_t i = 0; i < outputs_.size(); ++i) {
    outputs_[i].all.merge(other.outputs_[i].all);
    outputs_[i].parts.merge(other.outputs_[i].parts);
  }
  for (size_t i = 0; i < saturations_.size(); ++i) {
    saturations_[i].saturated += other.saturations_[i].saturated;
    saturations_[i].sums += other.saturations_[i].sums;
  }
  for (size_t i = 0; i < float_sums_.size(); ++i) {
    const FloatSumRow& from = other.float_sums_[i];
    float_sums_[i].values += from.values;
    float_sums_[i].undecided += from.undecided;
    float_sums_[i].largest_difference_steps =
        std::max(float_sums_[i].largest_difference_steps, from.largest_difference_steps);
  }
  agreement_.same += other.agreement_.same;
  agreement_.count += other.agreement_.count;
  classes_ = classes_ && other.classes_;
  samples_ += other.samples_;
}

std::string Comparer::state() const {
  const auto list = [](const Sums& sums) { return Json{sums.signal, sums.noise}; };
  Json json;
  for (const PairSums& one : pairs_)
    json["pairs"].push_back({list(one.isolated), list(one.accumulated), one.values, one.lost, one.compared});
  for (const OutputSums& one : outputs_)
    json["outputs"].push_back({list({one.all.signal, one.all.noise}), list({one.all.other, one.all.product}),
                               one.all.max_error, one.all.count, to_json(one.parts.state())});
  for (const SaturationRow& one : saturations_) json["saturation"].push_back({one.saturated, one.sums});
  for (const FloatSumRow& one : float_sums_)
    json["float_sums"].push_back({one.values, one.undecided, one.largest_difference_steps});
  json["agreement"] = {agreement_.same, agreement_.count};
  json["classes"] = classes_;
  json["samples"] = samples_;
  return to_text(json, false);
}

void Comparer::merge_state(std::string_view state) {
  const Json json = parse_json(state, "comparison");
  const auto sums = [](const Json& list) { return Sums{number_of(list[0]), number_of(list[1])}; };
  Comparer other(program_);
  for (size_t i = 0; i < pairs_.size(); ++i) {
    const Json& one = json["pairs"].at(i);
    other.pairs_[i] = {sums(one[0]), sums(one[1]), one[2].get<int64_t>(), one[3].get<int64_t>(), one[4].get<int64_t>()};
  }
  for (size_t i = 0; i < outputs_.size(); ++i) {
    const Json& one = json["outputs"].at(i);
    const Sums errors = sums(one[0]), products = sums(one[1]);
    other.outputs_[i].all = {errors.signal, products.signal,   products.noise,
                             errors.noise,  number_of(one[2]), one[3].get<int64_t>()};
    std::vector<double> parts;
    from_json(one[4], parts, "comparison");
    other.outputs_[i].parts = OutputParts::of_state(parts);
  }
  for (size_t i = 0; i < saturations_.size(); ++i) {
    other.saturations_[i].saturated = json["saturation"].at(i)[0].get<int64_t>();
    other.saturations_[i].sums = json["saturation"].at(i)[1].get<int64_t>();
  }
  for (size_t i = 0; i < float_sums_.size(); ++i) {
    const Json& one = json["float_sums"].at(i);
    other.float_sums_[i].values = one[0].get<int64_t>();
    other.float_sums_[i].undecided = one[1].get<int64_t>();
    other.float_sums_[i].largest_difference_steps = one[2].get<double>();
  }
  other.agreement_ = {json["agreement"][0].get<int64_t>(), json["agreement"][1].get<int64_t>()};
  other.classes_ = json["classes"].get<bool>();
  other.samples_ = json["samples"].get<int64_t>();
  merge(other);
}

Comparison Comparer::result() const {
  Comparison comparison;
  comparison.samples = samples_;
  if (classes_ && agreement_.count > 0) comparison.agreement = agreement_;
  // Classes and indices are no quantities: their distance counts where nothing else does.
  const auto is_whole = [](const run::Port& port) { return port.dtype == DType::kInt64; };
  const auto& ports = program_->float_->outputs();
  const bool all_whole = std::all_of(ports.begin(), ports.end(), is_whole);
  double total = 0;
  int differing = 0;
  for (size_t i = 0; i < outputs_.size(); ++i) {
    const evaluate::Similarity& all = outputs_[i].all;
    const auto db = evaluate::sqnr_db(all.signal, all.noise);
    comparison.outputs.push_back(
        {program_->outputs_[i], db, std::nullopt, std::nullopt, std::nullopt, outputs_[i].parts.result()});
    if (all.count > 0 && std::isfinite(all.noise) && std::isfinite(all.signal)) {
      OutputComparison& output = comparison.outputs.back();
      output.mse = all.mse(), output.cosine_similarity = all.cosine(), output.max_error = all.max_error;
    }
    const bool counts = !is_whole(ports[i]) || (all_whole && !comparison.agreement);
    if (db && counts) total += *db, ++differing;
  }
  if (differing > 0) comparison.output_sqnr_db = total / differing;
  double sum = 0;
  const auto relative = [](const Sums& sums) { return sums.signal > 0 ? sums.noise / sums.signal : 0.0; };
  for (const PairSums& one : pairs_) sum += relative(one.isolated);
  for (size_t i = 0; i < pairs_.size(); ++i) {
    if (pairs_[i].compared == 0 && samples_ > 0) continue;  // its shape was never the float model's
    LayerRow row = program_->pairs_[i].row;
    row.isolated_sqnr_db = evaluate::sqnr_db(pairs_[i].isolated.signal, pairs_[i].isolated.noise);
    row.accumulated_sqnr_db = evaluate::sqnr_db(pairs_[i].accumulated.signal, pairs_[i].accumulated.noise);
    row.error_share = sum > 0 ? relative(pairs_[i].isolated) / sum : 0;
    row.values = pairs_[i].values;
    row.lost = pairs_[i].lost;
    const double unit = unit_of(program_->pairs_[i]);
    for (double& end : *row.range) end *= unit;
    *row.scale *= unit;
    comparison.layers.push_back(std::move(row));
  }
  comparison.saturation = saturations_;
  comparison.float_sums = float_sums_;
  return comparison;
}

}  // namespace tersor::report
