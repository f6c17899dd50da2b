// SPDX-License-Identifier: Apache-2.0
// Whether a quantized model can be used, said before anybody takes it away.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "core/base/fields.h"
#include "core/base/names.h"
#include "core/evaluate/interval.h"

namespace tersor::report {

/// Code of the diagnostic that nobody gave the preprocessing, and no labels chose it.
inline constexpr std::string_view kGuessedPreprocessing = "preprocessing_guessed";

struct Report;

enum class Usability {
  kUsable,
  kUsableWithCare,
  kNotWorthIt,  // as good as the others, and neither much smaller nor faster than the float model
  kNotUsable,
};

struct Verdict {
  Usability usability = Usability::kUsable;
  std::string reason;
  std::vector<std::string> causes;
  std::vector<std::string> cautions;
  std::vector<std::string> worst_layers;
  std::optional<evaluate::DecibelRange> unseen_range = {};

  static constexpr auto fields() {
    return std::make_tuple(
        field("usability", &Verdict::usability, "usable, usable with care, not worth it, or not usable."),
        field("reason", &Verdict::reason, "The figures that decided, with count and interval."),
        field("causes", &Verdict::causes, "What is likely to be wrong, and what to do; sentences."),
        field("cautions", &Verdict::cautions, "Where the file would give something else, and what to do; sentences."),
        field("worst_layers", &Verdict::worst_layers, "Names of the layers that make most of the error, worst first."),
        field("unseen_range", &Verdict::unseen_range,
              "Between which the SQNR of nine unseen samples of ten is expected to lie, in the output where it is "
              "lowest; null where too few samples were compared."));
  }
};

/// The verdict that a report's comparison and evaluations allow. What decides depends on what the outputs are
/// (output_kind.h), and on the median sample, so that no single one does:
///   usable           classes (or any first output, with labels): at least 95 % of the answers are those of the float
///                    model; embeddings: a cosine similarity of 0.99; values: an error of a tenth of their spread (20
///                    dB)
///   usable with care classes: at least 85 % of the answers, or an SQNR of at least 20 dB; embeddings: 0.95; values: 10
///                    dB. No better than this is a model of classes whose outputs have an SQNR below 10 dB, and one of
///                    values whose SQNR over all samples together is below 10 dB
///   not usable       less, or an accuracy that is significantly (95 %) and by more than 5 points below the float
///                    model's
/// A file of more than ten elevenths of the float model's bytes that is not expected to run faster, or has nothing that
/// runs in integers, is not worth it; the reason begins with that, and `causes` with why and the way out. Of runs that
/// are too short for prices, nothing is expected.
/// Without classes, an output or a part of one of smaller values (output_parts.h) below 10 dB is never better than
/// "with care", and below 0 dB not usable. An accuracy significantly below the float model's is never better than "with
/// care". `causes` looks for ranges that outliers set, where the answers suffered for channels too unlike for one
/// scale, for a float model that is no better than guessing, for one that gives every sample the same answer, and for
/// labels that are off by one. `cautions`: that sums would saturate on CPUs without VNNI, that the preprocessing is a
/// guess, and that the model was exported in training mode, where diagnostics of the codes kGuessedPreprocessing and
/// onnx::kTrainingMode say so.
Verdict verdict_of(const Report& report);

}  // namespace tersor::report

template <>
struct tersor::EnumWords<tersor::report::Usability> {
  using U = tersor::report::Usability;
  static constexpr const char* kind = "usability";
  static constexpr std::pair<U, std::string_view> words[] = {{U::kUsable, "usable"},
                                                             {U::kUsableWithCare, "usable with care"},
                                                             {U::kNotWorthIt, "not worth it"},
                                                             {U::kNotUsable, "not usable"}};
};
