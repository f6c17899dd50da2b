// SPDX-License-Identifier: Apache-2.0
#include "core/framework/chosen_layers.h"

#include "core/base/json.h"
#include "core/framework/overrides.h"

namespace tersor::framework {

namespace {

/// Quantizes nothing and remembers every layer that it is asked about.
class Witness : public QuantizeConfig {
 public:
  explicit Witness(std::vector<Layer>& seen) : seen_(seen) {}
  Weights get_weights_and_quantizers(const Layer& layer) const override {
    seen_.push_back(layer);
    return {};
  }
  Activations get_activations_and_quantizers(const Layer&) const override { return {}; }
  void set_quantize_weights(Layer&, const std::vector<Tensor>&) const override {}
  void set_quantize_activations(Layer&, const std::vector<std::string>&) const override {}
  std::vector<LayerQuantizer> get_output_quantizers(const Layer&) const override { return {}; }
  Json get_config() const override { return Json::object(); }
  std::string class_name() const override { return "Witness"; }

 private:
  std::vector<Layer>& seen_;
};

}  // namespace

std::vector<Layer> chosen_layers(const Graph& graph, std::vector<config::Override> overrides, size_t which) {
  std::vector<Layer> seen;
  QuantizeScope scope;
  scope.add("Witness",
            [&](const Json&, const QuantizeScope&, const std::string&) { return std::make_shared<Witness>(seen); });
  for (config::Override& one : overrides) one.quantize_config.clear();
  overrides.at(which).quantize_config = "\"Witness\"";
  const Overrides read(overrides, nullptr, scope);
  read.check_matched(graph);
  read.requests(graph);
  return seen;
}

}  // namespace tersor::framework
