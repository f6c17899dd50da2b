// SPDX-License-Identifier: Apache-2.0
#include "core/trial/padding_mask.h"

#include "core/graph/graph.h"
#include "tests/catch.h"

namespace padding_mask_test {
using namespace tersor;

TEST_CASE("what a model says of tokens that its mask leaves out is cleared") {
  const Tensor mask = Tensor::of<int64_t>({1, 3}, {1, 0, 1});
  std::vector<Tensor> outputs{Tensor::of<float>({1, 3, 2}, {1, 2, 3, 4, 5, 6}), Tensor::of<float>({1, 3}, {1, 2, 3}),
                              Tensor::of<float>({1, 2, 2}, {1, 2, 3, 4}), Tensor::of<int64_t>({1, 3, 1}, {1, 2, 3})};
  const std::vector<Tensor> before = outputs;
  clear_padding(mask, outputs);
  REQUIRE(outputs[0].bytes().size() == before[0].bytes().size());
  const auto cleared = outputs[0].data<float>();
  REQUIRE(std::vector<float>(cleared.begin(), cleared.end()) == std::vector<float>{1, 2, 0, 0, 5, 6});
  for (size_t k = 1; k < outputs.size(); ++k)
    REQUIRE(std::equal(outputs[k].bytes().begin(), outputs[k].bytes().end(), before[k].bytes().begin()));
  std::vector<Tensor> kept = before;
  clear_padding(Tensor::of<int64_t>({1, 3}, {1, 1, 1}), kept);
  REQUIRE(kept[0].data<float>()[2] == 3);
}

TEST_CASE("the mask of tokens is known by its name") {
  Graph graph;
  graph.inputs = {graph.add_unique_value("input_ids", DType::kInt64)};
  REQUIRE_FALSE(mask_input(graph));
  graph.inputs.push_back(graph.add_unique_value("attention_mask", DType::kInt64));
  REQUIRE(mask_input(graph) == 1u);
}

}  // namespace padding_mask_test
