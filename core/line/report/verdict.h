// SPDX-License-Identifier: Apache-2.0
// The verdict on whether a quantized model can be used.
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

/// The code of the diagnostic that the preprocessing was neither given nor chosen by labels.
inline constexpr std::string_view kGuessedPreprocessing = "preprocessing_guessed";

struct Report;
struct OutputComparison;

enum class Usability {
  kUsable,
  kUsableWithCare,
  kNotWorthIt,  // as good as the others, and neither much smaller nor faster than the float model
  kNotUsable,
};

/// Whether the model can be used, and why.
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

/// Derives the verdict from a report's comparison and evaluations. The criterion depends on the kind of the outputs
/// (output_kind.h) and uses the median sample, so that no single sample decides:
///   usable           classes (or any first output, with labels): at least 95 % of the answers are those of the float
///                    model; embeddings: a cosine similarity of 0.99; values: an error of a tenth of their spread
///                    (20 dB)
///   usable with care classes: at least 85 % of the answers, or an SQNR of at least 20 dB; embeddings: 0.95; values:
///                    10 dB. Classes whose outputs have an SQNR below 10 dB are at best this; so are values whose SQNR
///                    over all samples together is below 10 dB
///   not usable       less, or an accuracy that is significantly (95 %) and by more than 5 points below the float
///                    model's
///
/// Detections, places of a map, scores and answers of further outputs are judged as answers are, of fewer than 16 only
/// whether it is certain (95 %) that less than 85 % are kept. So are the nearest neighbours of embeddings, but with
/// care at worst where that is not certain.
///
/// An output below 10 dB, or a part of an output with smaller values (output_parts.h), is at best usable with care;
/// below kLostDecibels it is not usable, nor are classes. An accuracy significantly below the float model's is at best
/// usable with care.
///
/// A metric of the caller's own (own_evaluation.h) comes in place of all that. Usable is a loss of at most a hundredth
/// of the float model's figure, or of a twentieth that may be chance (95 %); not usable one of more than a twentieth
/// that is none.
///
/// A file of more than 10/11 of the float model's bytes is not worth it if it is not expected to run faster, or if
/// nothing in it runs in integers. The reason begins with that, and `causes` gives the cause and the remedy.
///
/// Three more verdicts are at best usable with care: that of a float model that is to be doubted (evaluate::Doubt) or
/// whose labels are wrong, that on fewer than 4 samples, and that of a model of which nothing was measured.
///
/// `causes` names likely reasons. These are ranges set by outliers, a float model that is no better than guessing or
/// gives every sample the same answer, and labels that are off by one. If answers suffered, it also names channels that
/// are too unlike for a single scale. `cautions` warns of saturation on CPUs without VNNI, of a guessed preprocessing,
/// and of a model exported in training mode. The last two follow from diagnostics with the codes kGuessedPreprocessing
/// and onnx::kTrainingMode.
Verdict verdict_of(const Report& report);

/// "94 of 96 detections of "boxes" are kept (score 0.25, IoU 0.5)": what `kept` of an output says.
std::string kept_text(const OutputComparison& output);

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
