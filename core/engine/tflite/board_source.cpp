// SPDX-License-Identifier: Apache-2.0
#include "core/tflite/board_source.h"

#include <algorithm>
#include <vector>

#include "core/tflite/arena.h"

namespace tersor::tflite {

BoardSource board_source(const Network& network, std::span<const std::byte> file, std::string_view name,
                         std::string_view header_name) {
  std::vector<std::string> adders;
  for (const Operator& op : network.operators) {
    std::string adder = "Add" + std::string(kind_of(op.code).resolver) + "()";
    if (std::find(adders.begin(), adders.end(), adder) == adders.end()) adders.push_back(std::move(adder));
  }
  const std::string own(name);
  BoardSource made;
  made.header = "// Written by Tersor.\n#pragma once\n\n#include <cstddef>\n\nextern const unsigned char " + own +
                "[];\nextern const std::size_t " + own + "_size;\n";
  if (const auto arena = plan_arena(network))
    made.header += "\n// " + std::to_string(arena->head) + " bytes for activations, and at most " +
                   std::to_string(arena->needed - arena->head) +
                   " for the interpreter's own structures, which are smaller on a machine of 32 bits.\n" +
                   "constexpr std::size_t " + own + "_arena_size = " + std::to_string(arena->needed) + ";\n";
  made.header += "\n// tflite::MicroMutableOpResolver<" + own + "_operators> resolver; " + own +
                 "_add_operators(resolver);\nconstexpr unsigned int " + own +
                 "_operators = " + std::to_string(adders.size()) + ";\ntemplate <class Resolver>\nvoid " + own +
                 "_add_operators(Resolver& resolver) {\n";
  for (const std::string& adder : adders) made.header += "  resolver." + adder + ";\n";
  made.header += "}\n";
  const auto keeps = [](const NetworkTensor& tensor) { return tensor.is_variable; };
  if (std::any_of(network.tensors.begin(), network.tensors.end(), keeps))
    made.header +=
        "\n// It goes on from the state that the last Invoke() left: interpreter.Reset() begins a new sequence.\n";
  made.source = "// Written by Tersor.\n#include \"" + std::string(header_name) +
                "\"\n\nalignas(16) const unsigned char " + own + "[] = {";
  constexpr char kDigits[] = "0123456789abcdef";
  constexpr size_t kColumns = 16;
  for (size_t k = 0; k < file.size(); ++k) {
    const auto byte = static_cast<unsigned>(file[k]);
    made.source += k % kColumns == 0 ? "\n    0x" : " 0x";
    made.source += kDigits[byte >> 4];
    made.source += kDigits[byte & 15];
    made.source += ',';
  }
  made.source += "\n};\nconst std::size_t " + own + "_size = sizeof(" + own + ");\n";
  return made;
}

}  // namespace tersor::tflite
