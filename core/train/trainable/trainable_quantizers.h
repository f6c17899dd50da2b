// SPDX-License-Identifier: Apache-2.0
// The classes of trainable quantizers that there are. One more is a file of quantizers/ and a line in the .cpp; one of
// somebody else's is added to an object of TrainableQuantizers.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "core/base/json_fwd.h"
#include "core/trainable/base_trainable_quantizer.h"

namespace tersor::trainable {

/// A class by its mark, and how one of it is made. A config of the other target than the mark's is refused as the base
/// class does.
struct TrainableQuantizerClass {
  using Ptr = std::unique_ptr<BaseTrainableQuantizer>;
  const QuantizerMark* mark;
  std::function<Ptr(const TrainableQuantizerConfig&, bool freeze_quant_params)> make;
};

/// Q derives from BaseTrainableQuantizer, has a static member kMark, and is constructed from the config of its target,
/// every further argument having a default.
template <class Q>
TrainableQuantizerClass trainable_quantizer_class() {
  static_assert(std::is_base_of_v<BaseTrainableQuantizer, Q>);
  constexpr bool kOfWeights = std::is_constructible_v<Q, TrainableQuantizerWeightsConfig>;
  static_assert(kOfWeights || std::is_constructible_v<Q, TrainableQuantizerActivationConfig>,
                "the first argument is one of the two configs, and every other has a default");
  using Config = std::conditional_t<kOfWeights, TrainableQuantizerWeightsConfig, TrainableQuantizerActivationConfig>;
  return {&Q::kMark,
          [](const TrainableQuantizerConfig& config, bool freeze_quant_params) -> TrainableQuantizerClass::Ptr {
            check_target(Q::kMark, std::visit([](const auto& one) { return settings_of(one).target; }, config));
            const auto* own = std::get_if<Config>(&config);
            if constexpr (std::is_constructible_v<Q, Config, bool>)
              return std::make_unique<Q>(*own, freeze_quant_params);
            else
              return std::make_unique<Q>(*own);
          }};
}

class TrainableQuantizers {
 public:
  /// Those that come with Tersor: STE and LSQ of weights and of activations, SOFT of weights.
  TrainableQuantizers();

  template <class Q>
  void add() {
    add(trainable_quantizer_class<Q>());
  }
  /// Error kInvalidConfig for a mark that is not whole, or a class name that is there.
  void add(TrainableQuantizerClass added);

  /// Exactly one. Error kInvalidConfig for none or several, listing what there is.
  const TrainableQuantizerClass& get_trainable_quantizer_class(QuantizationTarget target,
                                                               quant::QuantizationMethod method,
                                                               const std::string& identifier) const;
  /// One of the class for the config's target and method.
  std::unique_ptr<BaseTrainableQuantizer> make(const TrainableQuantizerConfig& config, const std::string& identifier,
                                               bool freeze_quant_params = false) const;
  /// Reads {"class_name": ..., "config": get_config()}. In the place of the class's name may stand that of the base
  /// class, by any of the documents' names, with "identifier" beside it (STE where there is none): then target, method
  /// and identifier say which class. Error kInvalidConfig.
  std::unique_ptr<BaseTrainableQuantizer> from_config(const Json& json, const std::string& place) const;

  /// The class of that name. Error kInvalidConfig, listing what there is.
  const TrainableQuantizerClass& named(const std::string& class_name, const std::string& place) const;
  std::vector<const QuantizerMark*> marks() const;

 private:
  std::vector<TrainableQuantizerClass> classes_;
};

/// {"class_name": ..., "config": get_config()}.
Json to_json(const BaseTrainableQuantizer& quantizer);

}  // namespace tersor::trainable
