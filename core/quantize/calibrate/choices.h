// SPDX-License-Identifier: Apache-2.0
// The settings that were chosen by trials on the samples held out (core/trial/trial.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "core/base/fields.h"
#include "core/calibrate/bit_configuration.h"

namespace tersor::calibrate {

/// A change of the settings that was tried. Figures are the SQNR of the model's outputs in dB.
struct TriedChange {
  std::string change;
  double before_db = 0, after_db = 0;
  double least_gain_db = 0, median_gain_db = 0;
  bool taken = false;

  static constexpr auto fields() {
    return std::make_tuple(
        field("change", &TriedChange::change,
              "FIELD=VALUE of the configuration, or \"float NAME\": the constant of that name stays in float."),
        field("before_db", &TriedChange::before_db,
              "SQNR of the outputs without it, of the held samples that it was tried on together: the first may rule "
              "it out."),
        field("after_db", &TriedChange::after_db, "The same with it."),
        field("least_gain_db", &TriedChange::least_gain_db,
              "The least that it gains of that, whichever one sample is left out."),
        field("median_gain_db", &TriedChange::median_gain_db, "What it gains in a sample: the median."),
        field("taken", &TriedChange::taken, "It gained enough, and the file has it."));
  }
  bool operator==(const TriedChange&) const = default;
};

/// A quantized file among those that `prefer` is decided between. Contestants and trials use the same samples.
struct Contestant {
  std::string prefer;  // the word of `prefer` whose division of the graph the file starts from
  int64_t size_bytes = 0;
  std::optional<double> quantized_ms = {};
  std::optional<double> sqnr_db = {};
  bool taken = false;

  static constexpr auto fields() {
    return std::make_tuple(
        field("prefer", &Contestant::prefer, "The word of `prefer` whose division of the graph it begins with."),
        field("size_bytes", &Contestant::size_bytes,
              "Bytes of such a file, which is made of the others; that of all samples may differ by a few."),
        field("quantized_ms", &Contestant::quantized_ms,
              "Milliseconds that it is expected to take; null where the platform has no prices or shapes are open."),
        field("sqnr_db", &Contestant::sqnr_db,
              "SQNR on the held samples, of what is judged there, in dB; null where size or time alone rule it out."),
        field("taken", &Contestant::taken, "The file is this one."));
  }
  bool operator==(const Contestant&) const = default;
};

/// The choices of all trials, and the SQNR of the model with them.
struct Choices {
  std::string settings;               // SHA-256 of the settings that the trials were made for; empty: nothing was tried
  std::vector<std::string> changes;   // "FIELD=VALUE": the chosen values, which replace those of the settings
  std::vector<std::string> in_float;  // constants that stay in float
  int64_t held = 0;                   // samples held out
  int64_t others = 0;                 // samples that the candidate models were made from
  std::vector<TriedChange> tried;
  std::vector<Contestant> contestants;     // all different files; empty where there is only one
  double sqnr_db = 0, median_sqnr_db = 0;  // of the chosen model, made from `others`, measured on the held-out samples
  std::optional<double> low_db, high_db;   // nine of ten unseen samples are expected to have an SQNR in between
  BitConfiguration bits;                   // empty where every operator has the platform's base configuration

  /// True if the settings are used unchanged.
  bool is_plain() const { return changes.empty() && in_float.empty() && bits.empty(); }

  static constexpr auto fields() {
    return std::make_tuple(
        field("settings", &Choices::settings, "SHA-256 of the settings that this was tried for."),
        field("changes", &Choices::changes, "FIELD=VALUE of the configuration that the file has in place of those."),
        field("in_float", &Choices::in_float, "Constants that stay in float, as 8 bits cost too much."),
        field("held", &Choices::held, "Samples held aside while this was tried."),
        field("others", &Choices::others, "Samples that the models which were tried were made of."),
        field("tried", &Choices::tried,
              "Every change that was tried for the file that was taken, in order, each on top of those before it."),
        field("contestants", &Choices::contestants,
              "The files that `prefer` was decided between; empty where its words give but one."),
        field("sqnr_db", &Choices::sqnr_db,
              "SQNR on the held samples of a model with these choices made of the others alone, in dB; of the output "
              "where it is lowest, of all held samples together."),
        field("median_sqnr_db", &Choices::median_sqnr_db, "The same of a sample: the median."),
        field("low_db", &Choices::low_db, "Nine unseen samples of ten are expected to have an SQNR from here ..."),
        field("high_db", &Choices::high_db, "... to here; null where fewer than 4 samples were held aside."),
        field("bits", &Choices::bits, "What each operator's bits were chosen from, where the settings set a budget."));
  }
  bool operator==(const Choices&) const = default;
};

}  // namespace tersor::calibrate
