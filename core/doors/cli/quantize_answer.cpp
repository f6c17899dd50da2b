// SPDX-License-Identifier: Apache-2.0
#include "core/cli/quantize_answer.h"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "core/base/json.h"
#include "core/base/names.h"
#include "core/cli/model_file.h"
#include "core/cli/print.h"
#include "core/export/added_names.h"
#include "core/mixed/configurable.h"
#include "core/native/processor.h"
#include "core/native/size_text.h"
#include "core/report/coverage.h"
#include "core/report/saturation_remark.h"
#include "core/rounds/rounds.h"
#include "core/trial/trial.h"

namespace tersor::cli {

namespace {

std::vector<report::FloatNode> in_float(const QuantizeResult& result) {
  return report::float_nodes(result.draft.model.graph, result.plan.outcomes);
}

int64_t count_of(const ptq::QuantizationPlan& plan, ptq::NodeOutcome::Arithmetic arithmetic) {
  int64_t count = 0;
  for (const ptq::NodeOutcome& outcome : plan.outcomes) count += outcome.arithmetic == arithmetic ? 1 : 0;
  return count;
}

/// A line for each reason, in the graph's order: which operators, how many nodes; all their names where `verbose`.
void print_in_float(const std::vector<report::FloatNode>& nodes, bool verbose) {
  std::vector<std::vector<const report::FloatNode*>> lines;
  for (const report::FloatNode& node : nodes) {
    const auto line =
        std::find_if(lines.begin(), lines.end(), [&](const auto& one) { return one[0]->reason == node.reason; });
    (line == lines.end() ? lines.emplace_back() : *line).push_back(&node);
  }
  for (const auto& line : lines) {
    std::vector<std::pair<std::string, int>> operators;
    for (const report::FloatNode* node : line) {
      const auto known =
          std::find_if(operators.begin(), operators.end(), [&](const auto& one) { return one.first == node->op; });
      (known == operators.end() ? operators.emplace_back(node->op, 0) : *known).second += 1;
    }
    std::string text;
    for (const auto& [op, count] : operators)
      text += (text.empty() ? "" : ", ") + (count == 1 ? "" : std::to_string(count) + " ") + op;
    print("  in float: %s: %s\n", text.c_str(), line[0]->reason.c_str());
    if (!verbose) continue;
    for (const report::FloatNode* node : line) print("    %s \"%s\"\n", node->op.c_str(), node->name.c_str());
  }
}

/// "3.7 times smaller", "1.2 times as large".
std::string change_of_size(double before, double after) {
  char text[64];
  if (after < before)
    std::snprintf(text, sizeof text, "%.1f times smaller", before / after);
  else
    std::snprintf(text, sizeof text, "%.1f times as large", after / before);
  return text;
}

/// Size, expected speed, what runs in integers.
void print_size(const QuantizeResult& result, const std::optional<report::TimeForecast>& time,
                const std::string& output, size_t before) {
  using Arithmetic = ptq::NodeOutcome::Arithmetic;
  const auto& [samples, of, digest] = result.recipe.data_set;
  const auto size = static_cast<double>(result.bytes.size());
  print("%s: %.1f kB, was %.1f kB (%s); %s samples; %s@v%d\n", output.c_str(), size / 1e3,
        static_cast<double>(before) / 1e3, change_of_size(static_cast<double>(before), size).c_str(),
        (std::to_string(samples) + (samples < of ? " of " + std::to_string(of) : "")).c_str(),
        result.recipe.platform.name.c_str(), result.recipe.platform.version);
  if (time) print("%s\n", time->sentence.c_str());
  print("%lld operators in integers, %lld of them with a float result; %lld in float\n",
        static_cast<long long>(count_of(result.plan, Arithmetic::kInteger) +
                               count_of(result.plan, Arithmetic::kIntegerFloatOutput)),
        static_cast<long long>(count_of(result.plan, Arithmetic::kIntegerFloatOutput)),
        static_cast<long long>(count_of(result.plan, Arithmetic::kFloat)));
}

/// What trying on samples held aside has changed; --report has all that was tried.
void print_choices(const calibrate::Choices& choices) {
  const auto held = static_cast<long long>(choices.held);
  for (const calibrate::TriedChange& one : choices.tried)
    if (one.taken && one.change.rfind("float ", 0) != 0)
      print(
          "tried on %lld samples held aside: %s raises the SQNR of the outputs from %.1f to %.1f dB; the file has it\n",
          held, one.change.c_str(), one.before_db, one.after_db);
  for (const std::string& name : choices.in_float)
    print("in float: constant \"%s\": 8 bits of it cost too much on %lld samples held aside\n", name.c_str(), held);
}

/// Of the weights that a budget counts, in bytes: integers of fewer bits than their type in the file has take more
/// there than the budget says.
int64_t bytes_in_file(const calibrate::BitConfiguration& bits, const QuantizeResult& result) {
  const Graph& graph = result.model.graph;
  auto bytes = static_cast<int64_t>(bits.taken.weights_memory);
  std::set<ValueId> counted;
  for (const ptq::KernelPlan& kernel : result.plan.kernels) {
    if (kernel.table || kernel.blocks) continue;
    const auto codes = graph.find(result.draft.model.graph.name_of(kernel.op.weight) + ptq::kCodes);
    const Tensor* const stored = codes ? graph.initializer(*codes) : nullptr;
    if (stored == nullptr || !counted.insert(*codes).second) continue;
    bytes += static_cast<int64_t>(stored->bytes().size()) - stored->elements() * kernel.weight.grid.n_bits / 8;
  }
  return bytes;
}

/// The files that --prefer was decided between; where the default kept to itself, only if `verbose`.
void print_contest(const calibrate::Choices& choices, config::Preference prefer, bool verbose) {
  const auto& all = choices.contestants;
  if (all.empty() || (!verbose && prefer == config::Preference::kBalanced && all[0].taken)) return;
  print("prefer %s, decided on %lld samples held aside between files that begin as\n",
        std::string(enum_word(prefer)).c_str(), static_cast<long long>(choices.held));
  for (const calibrate::Contestant& one : all) {
    print("  %-8s %12s", one.prefer.c_str(), size_text(one.size_bytes).c_str());
    if (one.quantized_ms) print(" %8g ms", *one.quantized_ms);
    if (one.sqnr_db) print(" %6.2f dB", *one.sqnr_db);
    print("%s\n", one.taken ? "  taken" : one.sqnr_db ? "" : "  ruled out by its size or time");
  }
}

/// How many operators have how many bits, and what that takes; each of them where `verbose`.
void print_bits(const calibrate::BitConfiguration& bits, const QuantizeResult& result, bool verbose) {
  if (bits.empty()) return;
  std::map<std::pair<int64_t, int64_t>, int, std::greater<>> counts;
  const auto text_of = [](int64_t weights, int64_t activation) {
    const auto one = [](const char* of, int64_t n_bits) {
      return n_bits == mixed::kFloatBits ? std::string(of) + " in float"
                                         : std::string(of) + " of " + std::to_string(n_bits) + " bits";
    };
    std::string text = weights == 0 ? "" : one("weights", weights);
    if (activation != 0) text += (text.empty() ? "" : ", ") + one("output", activation);
    return text;
  };
  // Without what no candidate of the operator differs in.
  const auto chosen_of = [](const calibrate::SearchedOperator& one) {
    const auto& chosen = one.candidates[static_cast<size_t>(one.chosen)];
    const auto differs = [&](auto member) {
      return std::any_of(one.candidates.begin(), one.candidates.end(),
                         [&](const auto& other) { return other.*member != chosen.*member; });
    };
    using Candidate = calibrate::SearchedCandidate;
    return std::pair(differs(&Candidate::weights_n_bits) ? chosen.weights_n_bits : 0,
                     differs(&Candidate::activation_n_bits) ? chosen.activation_n_bits : 0);
  };
  for (const calibrate::SearchedOperator& one : bits.operators) ++counts[chosen_of(one)];
  print(
      "bits: %s of weights, each of its own bits, at most %s of activations at once; chosen for %zu operators on %lld "
      "samples\n",
      size_text(static_cast<int64_t>(bits.taken.weights_memory)).c_str(),
      size_text(static_cast<int64_t>(bits.taken.activation_memory)).c_str(), bits.operators.size(),
      static_cast<long long>(bits.images));
  print("  in the file these weights take %s\n", size_text(bytes_in_file(bits, result)).c_str());
  for (const auto& [chosen, count] : counts)
    print("  %d with %s\n", count, text_of(chosen.first, chosen.second).c_str());
  if (!verbose) return;
  for (const calibrate::SearchedOperator& one : bits.operators) {
    const auto [weights, activation] = chosen_of(one);
    print("    %s \"%s\": %s\n", one.op.c_str(), one.node.c_str(), text_of(weights, activation).c_str());
  }
}

void print_training(const calibrate::Tuning& tuning) {
  if (tuning.plan.empty()) return;
  print("trained: %lld of %lld steps on %lld samples; on %lld held aside the outputs have %.1f dB, before %.1f: %s\n",
        static_cast<long long>(tuning.steps), static_cast<long long>(tuning.steps_planned),
        static_cast<long long>(tuning.samples), static_cast<long long>(tuning.held), tuning.after_db, tuning.before_db,
        tuning.taken ? "kept" : "not better, so nothing of it is kept");
  if (tuning.before_right && tuning.after_right) {
    print("  %lld of these answers are right, before %lld", static_cast<long long>(*tuning.after_right),
          static_cast<long long>(*tuning.before_right));
    if (tuning.before_cross_entropy && tuning.after_cross_entropy)
      print("; cross-entropy %.3f, before %.3f", *tuning.after_cross_entropy, *tuning.before_cross_entropy);
    print("\n");
  }
  for (const std::string& one : tuning.frozen) print("  %s\n", one.c_str());
}

/// What to do about the error, where there is something.
void print_advice(const report::Verdict& verdict, const std::optional<report::Comparison>& comparison) {
  for (const std::string& cause : verdict.causes) print("  %s\n", cause.c_str());
  for (const std::string& caution : verdict.cautions) print("  %s\n", caution.c_str());
  if (const auto exact = adds_exactly(); exact && comparison && comparison->without_vnni)
    print("  %s\n", *exact ? "This processor has VNNI: here the file gives what stands first."
                           : "This processor has no VNNI: here the file gives the lower figures.");
  for (const std::string& layer : verdict.worst_layers) print("  much of the error: %s\n", layer.c_str());
}

/// What stages that may be left out gain on the samples held aside, and how to leave them out.
void print_worth(const Cost& cost, const calibrate::Choices& choices) {
  const auto ran = [&](std::string_view stage) {
    return std::any_of(cost.stages.begin(), cost.stages.end(), [&](const auto& one) { return one.name == stage; });
  };
  double tried_db = 0;
  std::optional<double> corrected_db;
  for (const calibrate::TriedChange& one : choices.tried) {
    if (one.taken) tried_db += one.after_db - one.before_db;
    if (one.change == kAnalytic && !one.taken) corrected_db = one.before_db - one.after_db;
  }
  if (ran(kTry) && choices.held > 0)
    print("  try: what it changed gains %.1f dB on the samples held aside; --set holdout=false leaves it out\n",
          tried_db);
  if (ran(kCorrect) && corrected_db)
    print("  correct: rounding and measured biases gain %.1f dB there; --set %s leaves them out\n", *corrected_db,
          kAnalytic);
}

void print_cost(const Cost& cost) {
  print("cost: %.2f s", cost.seconds);
  const char* before = ": ";
  for (const StageTimes::Stage& stage : cost.stages) {
    print("%s%s %.0f %%", before, stage.name.c_str(), 100 * stage.seconds / cost.seconds);
    before = ", ";
  }
  if (cost.bytes_per_thread) print("; at most %s of memory for each thread", size_text(*cost.bytes_per_thread).c_str());
  print("\n");
}

/// Where no report counts on samples which sums saturate.
void print_saturation_warning(const QuantizeResult& result) {
  if (result.draft.attachment.export_rules.placement != tpc::Placement::kOperands) return;
  const auto warning = report::saturation_warning(result.draft.model.graph, result.plan);
  if (warning) print("%s\n  %s\n", warning->message.c_str(), warning->hint.c_str());
}

void print_board(const std::optional<TfliteFile>& file) {
  if (!file || !file->board.arena_bytes) return;
  print("board: %s of flash; %s for activations, an arena of %s holds all\n",
        size_text(file->board.flash_bytes).c_str(), size_text(*file->board.activation_bytes).c_str(),
        size_text(*file->board.arena_bytes).c_str());
}

}  // namespace

void print_text(const QuantizeAnswer& answer, bool verbose) {
  const auto& [result, statistics, report, time, cost, output, aim, before, warnings] = answer;
  const auto verdict = report ? report->verdict : std::nullopt;
  if (verdict) print("%s: %s\n", std::string(enum_word(verdict->usability)).c_str(), verdict->reason.c_str());
  if (!aim.empty()) print("%s\n", aim.c_str());
  print_size(result, time, output, before);
  print_board(result.tflite);
  if (verdict) print_advice(*verdict, report->comparison);
  print_bits(statistics.choices.bits, result, verbose);
  print_contest(statistics.choices, result.recipe.quantization_config.prefer, verbose);
  print_choices(statistics.choices);
  print_training(statistics.tuned.tuning);
  if (!report || !report->comparison || report->comparison->layer_samples == 0) print_saturation_warning(result);
  print_in_float(in_float(result), verbose);
  print_cost(cost);
  if (verbose) print_worth(cost, statistics.choices);
}

void print_json(const QuantizeAnswer& answer) {
  const auto& [result, statistics, report, time, cost, output, aim, before, warnings] = answer;
  using Arithmetic = ptq::NodeOutcome::Arithmetic;
  Json nodes_in_float = Json::array();
  for (const report::FloatNode& node : in_float(result)) nodes_in_float.push_back(to_json(node));
  Json json{{"output", output},
            {"size_bytes", result.bytes.size()},
            {"model_size_bytes", before},
            {"samples", result.recipe.data_set.samples},
            {"platform", result.recipe.platform.name + "@v" + std::to_string(result.recipe.platform.version)},
            {"in_integers", count_of(result.plan, Arithmetic::kInteger)},
            {"in_integers_with_float_result", count_of(result.plan, Arithmetic::kIntegerFloatOutput)},
            {"in_float", nodes_in_float},
            {"warnings", to_json(warnings)}};
  const calibrate::BitConfiguration& bits = statistics.choices.bits;
  if (!bits.empty())
    json["weights"] = {{"bytes_of_their_bits", static_cast<int64_t>(bits.taken.weights_memory)},
                       {"bytes_in_file", bytes_in_file(bits, result)}};
  const calibrate::Tuning& training = statistics.tuned.tuning;
  json["trial"] = statistics.choices.settings.empty() ? Json(nullptr) : to_json(statistics.choices);
  json["training"] = training.plan.empty() ? Json(nullptr) : to_json(training);
  json["cost"] = {{"seconds", cost.seconds}, {"stages", Json::object()}};
  for (const StageTimes::Stage& stage : cost.stages) json["cost"]["stages"][stage.name] = stage.seconds;
  if (cost.bytes_per_thread) json["cost"]["memory_bytes_per_thread"] = *cost.bytes_per_thread;
  if (!aim.empty()) json["aim"] = aim;
  if (time) json["time"] = to_json(*time);
  if (result.tflite) json["board"] = to_json(result.tflite->board);
  if (report && report->verdict) json["verdict"] = to_json(*report->verdict);
  print("%s\n", to_text(json).c_str());
}

}  // namespace tersor::cli
