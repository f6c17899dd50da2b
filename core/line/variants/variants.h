// SPDX-License-Identifier: Apache-2.0
// The files that one model may be shipped as, each judged on the same samples: float32, float16, and integers of 8 and
// 4 bits, under the names that transformers.js looks for.
//
//   const VariantSamples samples = variant_samples(data.size());
//   for (const VariantKind& kind : variant_kinds()) {
//     // of a kind with a platform: gather with `samples.calibrated` and quantize as variant_settings() says
//     // of a kind with float16: the largest values of these samples (largest_values.h)
//     VariantFile made = variant_file(kind, *opened, quantized, largest);
//     // where it is to be judged: compare made.computed with the float model on `samples.judged`, the outputs alone
//     judge(made.row, std::move(made.report), comparison, samples.held_aside, remark, the row that leads so far);
//   }
//
// Each door goes through samples in its own way; rows and bytes are the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "core/base/diagnostic.h"
#include "core/base/error.h"
#include "core/base/fields.h"
#include "core/job/tersor.h"
#include "core/report/report.h"
#include "core/variants/largest_values.h"

namespace tersor {

/// What a variant is made of.
struct VariantKind {
  std::string_view dtype;           // as transformers.js calls it
  std::string_view file;            // its name
  std::string_view platform;        // that it is quantized for; empty: it is of floats alone
  std::string_view platform_alone;  // the same without samples
  bool is_half = false;             // what is left in float becomes float16

  std::string_view platform_of(bool has_samples) const { return has_samples ? platform : platform_alone; }
  /// False of the float model itself, which others are compared with.
  bool is_judged() const { return is_half || !platform.empty(); }
};

/// All, in the order in which they are made.
std::span<const VariantKind> variant_kinds();
std::vector<std::string> variant_names();
/// Error kInvalidArgument where there is none of that name.
const VariantKind& variant_kind(std::string_view dtype);

/// A row of the table of variants.
struct Variant {
  std::string dtype, file;
  std::optional<std::string> platform;
  std::optional<int64_t> size_bytes;
  std::optional<report::Comparison> comparison;
  bool held_aside = false;
  std::optional<report::Verdict> verdict;
  std::optional<report::TimeForecast> time;
  bool leads = false;
  std::vector<std::string> notes;
  std::optional<Diagnostic> refused;

  static constexpr auto fields() {
    return std::make_tuple(
        field("dtype", &Variant::dtype, "The word that transformers.js has for it."),
        field("file", &Variant::file, "The name of its file."),
        field("platform", &Variant::platform, "What it was quantized for; null of floats alone."),
        field("size_bytes", &Variant::size_bytes, "Bytes of the file; null where there is none."),
        field(
            "comparison", &Variant::comparison,
            "Its outputs beside those of the float model, on the samples that judge; null without samples, and of the "
            "float model itself."),
        field("held_aside", &Variant::held_aside, "Calibration has seen none of those samples."),
        field("verdict", &Variant::verdict, "Whether it can be used; null as above."),
        field("time", &Variant::time, "Expected time; null where the platform has no prices or shapes are open."),
        field(
            "leads", &Variant::leads,
            "Of the rows so far it is the one to take: the last that leads is the best of all; false without samples."),
        field("notes", &Variant::notes, "Sentences, such as which nodes keep float32."),
        field("refused", &Variant::refused, "Why there is no file; else null."));
  }
};

/// The row of a variant without a file. Throws the error again unless it is about the model (kUnsupportedModel).
Variant refused_variant(const VariantKind& kind, const Error& error);

/// Which samples of a data set calibrate and which judge, by number.
struct VariantSamples {
  std::vector<int64_t> calibrated, judged;
  bool held_aside = true;  // none of those that judge has calibrated
};
/// `calibrate`: at most so many, spread evenly; 0: 128, and at most half. `judge`: at most so many of the others; 0:
/// all.
VariantSamples variant_samples(int64_t total, int64_t calibrate = 0, int64_t judge = 0);

/// The settings of a kind with a platform; what they take from the samples is still to be added (trial/take_samples.h).
Settings variant_settings(const VariantKind& kind, bool has_samples);

/// What a variant with a platform begins as.
struct QuantizedFile {
  std::shared_ptr<const Job> job;
  QuantizeResult result;
};

struct VariantFile {
  std::vector<std::byte> bytes;
  std::optional<Model> computed;  // what the engine runs in its place; absent of the float model itself
  Variant row;                    // not judged yet
  report::Report report;          // what a verdict looks at besides the comparison
};

/// Makes the file. `quantized`: of a kind with a platform; else null. `largest`: of the float model in the samples that
/// calibrate; null without samples.
VariantFile variant_file(const VariantKind& kind, const OpenedModel& opened, const QuantizedFile* quantized,
                         const Largest* largest);

/// Adds what a comparison of the outputs says. `report`: of the file. `guess`: report::guess_remark() of the samples.
/// `leader`: the row that leads so far; null where none does. This row leads in its place where it is usable rather
/// than with care, else where it is faster, else where it is smaller, each by more than a twentieth, and else by its
/// error.
void judge(Variant& row, report::Report report, report::Comparison comparison, bool held_aside,
           const std::optional<Diagnostic>& guess, const Variant* leader);

}  // namespace tersor
