// SPDX-License-Identifier: Apache-2.0
#include "core/tflite/board_source.h"

#include "tests/catch.h"

using namespace tersor;
using namespace tersor::tflite;

TEST_CASE("a board's source holds every byte, and names each operator once") {
  Network network;
  const NetworkTensor codes{"t", {1, 4}, DType::kInt8, {{0.05F}, {0}, 0}};
  network.tensors = {codes, codes, codes};
  network.operators = {{Code::kRelu, {0}, {1}}, {Code::kRelu, {1}, {2}}};
  network.inputs = {0};
  network.outputs = {2};
  std::vector<std::byte> file(17);
  file[0] = std::byte{0x0a};
  file[16] = std::byte{0xff};
  const BoardSource board = board_source(network, file, "net", "net.h");
  CHECK(board.source.find("#include \"net.h\"") != std::string::npos);
  CHECK(board.source.find("alignas(16) const unsigned char net[] = {\n    0x0a, 0x00,") != std::string::npos);
  CHECK(board.source.find("\n    0xff,\n};") != std::string::npos);
  CHECK(board.header.find("constexpr unsigned int net_operators = 1;") != std::string::npos);
  CHECK(board.header.find("resolver.AddRelu();") == board.header.rfind("resolver.AddRelu();"));
  CHECK(board.header.find("net_arena_size = ") != std::string::npos);
}
