// SPDX-License-Identifier: Apache-2.0
// A recorded graph beside what our own line made of the same layers and samples, node by node. Where the two differ on
// purpose, as much is compared as can be, and the verdict says what is left out.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/job/tersor.h"
#include "core/quant/even_bins.h"
#include "core/quant/threshold_search.h"
#include "tests/vectors/case.h"
#include "tests/vectors/plain_errors.h"
#include "tests/vectors/recorded_graph.h"

namespace tersor::vectors {

/// Our own line's result.
struct Line {
  std::shared_ptr<const Job> job;
  QuantizeResult result;

  const Graph& graph() const { return result.draft.model.graph; }  // float, as corrections have left it
};

/// Takes a model through the line on the reference's own platform, the sweep that the settings ask for included.
Line run_line(const Model& model, const std::vector<std::vector<Tensor>>& samples,
              const config::QuantizationConfig& config);

/// By how much an activation was raised, and the reference's threshold for it before that.
struct Raise {
  double theirs = 0, ours = 0, threshold = 0;
};

/// By what a search judges a range, over the values themselves.
double loss(const std::vector<double>& values, const quant::Criterion& criterion, const PlainQuantizer& quantizer);
bool is_no_more(double got, double allowed, const quant::Criterion& criterion);

class GraphJudge {
 public:
  GraphJudge(const Case& one, const RecordedGraph& graph, const config::QuantizationConfig& config, const Line& line)
      : one_(one), recorded_(graph), config_(config), line_(line) {}

  Verdict judge();

 private:
  const Graph& graph() const { return line_.graph(); }
  const ptq::QuantizationPlan& plan() const { return line_.result.plan; }

  void fail(const std::string& where, const std::vector<double>& expected, const std::vector<double>& got);
  void compare(const std::string& where, const std::vector<double>& expected, const std::vector<double>& got);
  /// Each may be so much further away.
  void compare_within(const std::string& where, const std::vector<double>& expected, const std::vector<double>& got,
                      const std::vector<double>& slack);
  void leave_out(const std::string& what);

  void find_shifts();
  ValueId value_of(const std::string& name) const;
  void judge_node(const Json& node);
  void judge_missing(const Json& node);
  void judge_activation(const std::string& name, const Json& expected, ValueId value, double moved);
  std::vector<const Node*> our_shifts() const;
  void judge_shifted(const std::string& name, const Json& expected);
  void judge_extremes(const std::string& name, const Json& expected, ValueId value, double moved);
  void judge_kernel(const Json& node, const ptq::KernelPlan& kernel);
  void judge_thresholds(const std::string& name, const ptq::KernelPlan& kernel,
                        const std::vector<std::vector<double>>& rows, const std::vector<double>& expected);
  double judge_bias(const Json& node, const ptq::KernelPlan& kernel, const std::vector<std::vector<double>>& rows);
  void judge_corrections(const Json& node, const ptq::KernelPlan& kernel, const std::vector<double>& bias,
                         const std::vector<double>& thresholds);
  std::vector<double> judge_input_correction(const Json& node, const ptq::KernelPlan& kernel);
  quant::EvenBins their_histogram(ValueId value) const;
  void judge_outputs();

  std::vector<double> values(ValueId value) const;
  bool searches(ValueId value) const;
  double left_edge_loss(ValueId value, double moved, const PlainQuantizer& quantizer) const;
  double bias_shift(const std::string& name, const Node& node, const std::vector<double>& theirs,
                    const std::vector<double>& ours);

  const Case& one_;
  const RecordedGraph& recorded_;
  const config::QuantizationConfig& config_;
  const Line& line_;
  std::map<std::string, Raise> shifts_;  // by the activation's name
  Raise into_kernel_;                    // of what the next kernel reads
  double into_mean_ = 0;                 // by how much the reference raised the mean of it
  size_t kernels_ = 0, compared_ = 0;
  std::vector<double> their_thresholds_, our_thresholds_;
  std::vector<std::string> left_out_;
  std::optional<Verdict> fault_;
};

}  // namespace tersor::vectors
