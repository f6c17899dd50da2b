// SPDX-License-Identifier: Apache-2.0
#include "tests/vectors/recorded_graph.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "core/base/error.h"
#include "core/ops/registry.h"
#include "core/quant/corrections.h"
#include "core/run/program.h"
#include "tests/vectors/torch_layers.h"

namespace tersor::vectors {

namespace {

constexpr int64_t kOpset = 20;          // has Gelu
constexpr size_t kMostReadings = 1024;  // ways of joining that are tried

/// A layer, or a join after one.
struct Step {
  std::string name;
  int layer = -1;
  std::string join;  // "Add", "Concat", ...; empty for a layer
};

/// What each step reads, by place: 0 is the input, k + 1 what step k makes.
using Wiring = std::vector<std::vector<size_t>>;

const std::map<std::string, std::string>& joins() {
  static const std::map<std::string, std::string> all{{"add", "Add"},           {"iadd", "Add"},   {"sub", "Sub"},
                                                      {"mul", "Mul"},           {"cat", "Concat"}, {"concat", "Concat"},
                                                      {"concatenate", "Concat"}};
  return all;
}

/// "add_1" is an "add".
std::string without_number(const std::string& name) {
  const size_t end = name.find_last_not_of("0123456789");
  return end != std::string::npos && end + 1 < name.size() && name[end] == '_' ? name.substr(0, end) : name;
}

/// The reference's own nodes, and a join that it wrote into a kernel.
std::vector<Step> steps_of(const Case& one, size_t layers) {
  std::vector<std::vector<Step>> behind(layers + 1);  // of layer k - 1
  size_t last = 0;
  for (const Json& node : one.output.value("nodes", Json::array())) {
    const std::string name = node.value("name", "");
    if (const int layer = last_layer_of(name); layer >= 0) {
      last = std::min(layers, static_cast<size_t>(layer) + 1);
      if (name.ends_with("_add_collapsed")) behind[last].push_back({name, -1, "Add"});
      continue;
    }
    if (is_graph_input(node)) continue;
    const auto join = joins().find(without_number(name));
    if (join == joins().end())
      throw NotReadable("the node \"" + name + "\" is no layer and no join that is known here");
    behind[last].push_back({name, -1, join->second});
  }
  std::vector<Step> steps = behind[0];
  for (size_t k = 0; k < layers; ++k) {
    steps.push_back({"l_" + std::to_string(k), static_cast<int>(k), ""});
    steps.insert(steps.end(), behind[k + 1].begin(), behind[k + 1].end());
  }
  return steps;
}

/// Every way of joining that the numbers of channels allow, the likeliest first: what stands last is read.
class Wirings {
 public:
  Wirings(const std::vector<Step>& steps, const std::vector<TorchLayer>& layers, int64_t input_channels)
      : steps_(steps), layers_(layers), channels_{input_channels} {
    branches_ = std::any_of(steps.begin(), steps.end(), [](const Step& step) { return !step.join.empty(); });
    extend(0);
  }
  const std::vector<Wiring>& all() const { return found_; }

 private:
  void extend(size_t k) {
    if (found_.size() >= kMostReadings) return;
    if (k == steps_.size()) {
      found_.push_back(wiring_);
      return;
    }
    for (const std::vector<size_t>& reads : choices(steps_[k])) {
      wiring_.push_back(reads);
      channels_.push_back(made(steps_[k], reads));
      extend(k + 1);
      wiring_.pop_back();
      channels_.pop_back();
    }
  }

  int64_t made(const Step& step, const std::vector<size_t>& reads) const {
    if (step.layer >= 0) {
      const int64_t channels = layers_[static_cast<size_t>(step.layer)].made_channels();
      return channels >= 0 ? channels : channels_[reads[0]];
    }
    if (step.join != "Concat") return channels_[reads[0]];
    int64_t sum = 0;
    for (const size_t read : reads) sum += channels_[read];
    return sum;
  }

  std::vector<std::vector<size_t>> choices(const Step& step) const {
    const size_t last = channels_.size() - 1;
    std::vector<std::vector<size_t>> all;
    if (step.layer >= 0) {
      const int64_t wanted = layers_[static_cast<size_t>(step.layer)].wanted_channels();
      if (!branches_ || wanted < 0) return {{last}};
      for (size_t value = last + 1; value-- > 0;)
        if (channels_[value] == wanted) all.push_back({value});
      return all;
    }
    if (step.join == "Concat") all.push_back(unread());
    for (size_t other = last; other-- > 0;) {
      if (step.join != "Concat" && channels_[other] != channels_[last]) continue;
      all.push_back({other, last});
      if (step.join == "Concat" || step.join == "Sub") all.push_back({last, other});
    }
    return all;
  }

  std::vector<size_t> unread() const {
    std::vector<size_t> open;
    for (size_t value = 0; value < channels_.size(); ++value)
      if (std::none_of(wiring_.begin(), wiring_.end(),
                       [&](const auto& reads) { return std::find(reads.begin(), reads.end(), value) != reads.end(); }))
        open.push_back(value);
    return open;
  }

  const std::vector<Step>& steps_;
  const std::vector<TorchLayer>& layers_;
  bool branches_ = false;
  std::vector<int64_t> channels_;  // of the input and of what each step makes
  Wiring wiring_;
  std::vector<Wiring> found_;
};

Tensor tensor_of(const Json& json) {
  std::vector<int64_t> dims;
  for (const Json& dim : json["shape"]) dims.push_back(dim.get<int64_t>());
  return vectors::tensor_of(numbers(json["data"]), dims);
}

/// The tensors of layer k, which are called "<list>.<k>.<name>".
std::map<std::string, Tensor> state_of(const Json& state, int layer) {
  const std::string inner = "." + std::to_string(layer) + ".";
  std::map<std::string, Tensor> found;
  for (const auto& [key, value] : state.items())
    if (const size_t at = key.find(inner); at != std::string::npos && value["shape"].size() > 0)
      found[key.substr(at + inner.size())] = tensor_of(value);
  return found;
}

Model build(const Case& one, const std::vector<Step>& steps, const std::vector<TorchLayer>& layers,
            const Wiring& wiring, const Shape& sample) {
  Model model;
  model.opset_imports = {{"", kOpset}};
  std::vector<Dim> dims{{-1, "N"}};
  for (int d = 1; d < sample.rank(); ++d) dims.push_back({sample.dims()[static_cast<size_t>(d)], ""});
  std::vector<ValueId> values{model.graph.add_value("x", DType::kFloat32, dims)};
  model.graph.inputs = {values[0]};
  for (size_t k = 0; k < steps.size(); ++k) {
    std::vector<ValueId> reads;
    for (const size_t place : wiring[k]) reads.push_back(values[place]);
    if (steps[k].layer >= 0) {
      const auto& layer = layers[static_cast<size_t>(steps[k].layer)];
      values.push_back(
          append_layer(model.graph, layer, reads[0], steps[k].name, state_of(one.input["state"], steps[k].layer)));
      continue;
    }
    Node join;
    join.op_type = steps[k].join;
    join.name = steps[k].name;
    join.inputs = reads;
    join.outputs = {model.graph.add_value(steps[k].name, DType::kFloat32)};
    if (steps[k].join == "Concat") join.attributes["axis"] = int64_t{1};
    values.push_back(join.outputs[0]);
    model.graph.append(std::move(join));
  }
  model.graph.outputs = {values.back()};
  return model;
}

/// The batches cut into samples.
void read_samples(const Json& batches, RecordedGraph& graph) {
  for (const Json& batch : batches) {
    std::vector<int64_t> dims;
    for (const Json& dim : batch["shape"]) dims.push_back(dim.get<int64_t>());
    const std::vector<double> data = numbers(batch["data"]);
    const auto count = static_cast<size_t>(dims[0]), each = data.size() / count;
    graph.batch_sizes.push_back(count);
    dims[0] = 1;
    for (size_t k = 0; k < count; ++k) {
      const auto begin = data.begin() + static_cast<std::ptrdiff_t>(k * each);
      graph.samples.push_back(vectors::tensor_of({begin, begin + static_cast<std::ptrdiff_t>(each)}, dims));
    }
  }
}

bool gives(const Model& model, const Tensor& sample, const Json& output) {
  if (!output.contains("float_output_batch0")) return true;
  const std::vector<double> wanted = numbers(output["float_output_batch0"]);
  const std::vector<double> made =
      run::Runner(run::Program::compile(model, ops::standard())).run(std::span(&sample, 1))[0].to_doubles();
  double largest = 1;
  for (const double x : wanted) largest = std::max(largest, std::fabs(x));
  return made.size() == wanted.size() && std::equal(made.begin(), made.end(), wanted.begin(), [&](double a, double b) {
           return std::fabs(a - b) <= 1e-5 * largest;
         });
}

bool is_kernel(const TorchLayer& layer) {
  return layer.type.rfind("Conv", 0) == 0 || layer.type == "Linear";
}

/// The kernel after a kernel, a BatchNormalization, a ReLU and perhaps a zero padding that begin at `k`.
std::optional<size_t> equalized_kernel(const std::vector<TorchLayer>& layers, size_t k) {
  if (k + 3 >= layers.size() || !is_kernel(layers[k]) || layers[k + 1].type.rfind("BatchNorm", 0) != 0 ||
      layers[k + 2].type != "ReLU")
    return std::nullopt;
  const size_t next = k + (layers[k + 3].type == "ZeroPad2d" ? 4 : 3);
  return next < layers.size() && is_kernel(layers[next]) ? std::optional(next) : std::nullopt;
}

Json& state_tensor(Json& state, size_t layer, const std::string& name) {
  const std::string end = "." + std::to_string(layer) + "." + name;
  for (auto& [key, value] : state.items())
    if (key.ends_with(end)) return value["data"];
  throw NotReadable("the state has no " + end.substr(1));
}

/// Divides what a kernel reads: its weight by the factor of the input channel.
void divide_inputs(const TorchLayer& layer, const Json& shape, const std::vector<double>& scales, Json& data) {
  const auto dim = [&](size_t axis) { return shape[axis].get<size_t>(); };
  const bool transposed = layer.type.rfind("ConvTranspose", 0) == 0;
  const size_t taps = data.size() / (dim(0) * dim(1)), groups = transposed ? 1 : scales.size() / dim(1);
  for (size_t at = 0; at < data.size(); ++at) {
    const size_t row = at / taps / dim(1), column = at / taps % dim(1);
    const size_t channel = transposed ? row : row / (dim(0) / groups) * dim(1) + column;
    data[at] = number(data[at]) / scales[channel];
  }
}

}  // namespace

Case with_equalized_channels(const Case& one) {
  Case changed = one;
  Json& state = changed.input["state"];
  std::vector<TorchLayer> layers;
  for (const Json& text : one.input["layers"]) layers.push_back(TorchLayer::parse(text.get<std::string>()));
  for (size_t k = 0; k < layers.size(); ++k) {
    const auto behind = equalized_kernel(layers, k);
    if (!behind) continue;
    Json &gamma = state_tensor(state, k + 1, "weight"), &beta = state_tensor(state, k + 1, "bias");
    std::vector<double> scales;
    for (size_t c = 0; c < gamma.size(); ++c) {
      scales.push_back(quant::equalization_scale(number(beta[c]), std::fabs(number(gamma[c]))));
      gamma[c] = number(gamma[c]) * scales[c];
      beta[c] = number(beta[c]) * scales[c];
    }
    for (auto& [key, value] : state.items())
      if (key.ends_with("." + std::to_string(*behind) + ".weight"))
        divide_inputs(layers[*behind], value["shape"], scales, value["data"]);
  }
  return changed;
}

bool is_graph_input(const Json& node) {
  return node.value("op", "") == "DummyPlaceHolder";
}

int last_layer_of(const std::string& name) {
  int found = -1, layer = 0;
  for (size_t at = name.find("l_"); at != std::string::npos; at = name.find("l_", at + 2))
    if ((at == 0 || name[at - 1] == '_') && std::sscanf(name.c_str() + at, "l_%d", &layer) == 1) found = layer;
  return found;
}

RecordedGraph read_recorded_graph(const Case& one) {
  RecordedGraph graph;
  read_samples(one.input["batches"], graph);
  std::vector<TorchLayer> layers;
  for (const Json& text : one.input["layers"]) layers.push_back(TorchLayer::parse(text.get<std::string>()));
  const std::vector<Step> steps = steps_of(one, layers.size());
  const Shape& sample = graph.samples.at(0).shape();
  const Wirings wirings(steps, layers, sample.rank() > 1 ? sample.dims()[1] : -1);
  for (const Wiring& wiring : wirings.all()) {
    graph.model = build(one, steps, layers, wiring, sample);
    if (wirings.all().size() == 1) return graph;
    try {
      if (gives(graph.model, graph.samples[0], one.output)) return graph;
    } catch (const Error&) {  // shapes that do not fit
    }
  }
  throw NotReadable("no way of joining the layers gives the recorded float output (" +
                    std::to_string(wirings.all().size()) + " tried)");
}

}  // namespace tersor::vectors
