// SPDX-License-Identifier: Apache-2.0
#include "core/report/guess_remark.h"

#include <string>

#include "core/report/verdict.h"

namespace tersor::report {

std::optional<Diagnostic> guess_remark(const samples::DataSet& data) {
  if (!data.is_guess()) return std::nullopt;
  return Diagnostic{
      std::string(kGuessedPreprocessing),
      "How pictures become tensors is a guess (\"" + std::string(data.guess()) +
          "\"): where the model was trained with other numbers, these figures say nothing about its task.",
      "preprocessing",
      "Give the preprocessing that the model was trained with, or samples in class folders, by which it "
      "is found."};
}

}  // namespace tersor::report
