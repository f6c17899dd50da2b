// SPDX-License-Identifier: Apache-2.0
#include "core/report/match_rows.h"

#include "tests/catch.h"

namespace match_rows_test {
using namespace tersor;
using report::OutputTrait;

namespace {

std::vector<OutputTrait> sorted(size_t outputs, bool has_batch = true) {
  OutputTrait trait;
  trait.sorted = true, trait.has_batch = has_batch;
  return std::vector<OutputTrait>(outputs, trait);
}

}  // namespace

TEST_CASE("rows in another order are put beside their own, in all outputs at once") {
  // Alone the values would be matched otherwise: 5.1 is nearest to 5, whose number is another one.
  std::vector<Tensor> reference = {Tensor::of<float>({1, 3}, {9, 5, 4}), Tensor::of<int64_t>({1, 3}, {70, 20, 30})};
  std::vector<Tensor> other = {Tensor::of<float>({1, 3}, {8.9F, 5.1F, 4.9F}),
                               Tensor::of<int64_t>({1, 3}, {70, 30, 20})};
  report::match_rows(sorted(2), reference, other);
  CHECK(other[0] == Tensor::of<float>({1, 3}, {8.9F, 4.9F, 5.1F}));
  CHECK(other[1] == reference[1]);
  // Ties, as between rows of padding, leave the order as it is.
  std::vector<Tensor> equal = {Tensor::of<float>({1, 3, 2}, {1, 2, 0, 0, 0, 0})}, same = equal;
  report::match_rows(sorted(1), equal, same);
  CHECK(same[0] == equal[0]);
}

TEST_CASE("each sample of a batch has rows of its own, and what is not sorted stays") {
  std::vector<Tensor> reference = {Tensor::of<float>({2, 2, 1}, {1, 2, 3, 4})},
                      other = {Tensor::of<float>({2, 2, 1}, {2, 1, 4, 3})};
  report::match_rows(std::vector<OutputTrait>(1), reference, other);
  CHECK(other[0] == Tensor::of<float>({2, 2, 1}, {2, 1, 4, 3}));
  report::match_rows(sorted(1), reference, other);
  CHECK(other[0] == reference[0]);
  other = {Tensor::of<float>({2, 2, 1}, {3, 4, 2, 1})};
  report::match_rows(sorted(1, false), reference, other);  // pairs are the rows
  CHECK(other[0] == Tensor::of<float>({2, 2, 1}, {2, 1, 3, 4}));
}

TEST_CASE("rows that one side alone has stand beside zeros") {
  std::vector<Tensor> reference = {Tensor::of<float>({3, 2}, {1, 1, 5, 5, 9, 9})},
                      other = {Tensor::of<float>({2, 2}, {9, 8, 1, 2})};
  report::match_rows(sorted(1, false), reference, other);
  CHECK(other[0] == Tensor::of<float>({3, 2}, {1, 2, 0, 0, 9, 8}));
  CHECK(reference[0] == Tensor::of<float>({3, 2}, {1, 1, 5, 5, 9, 9}));
  std::vector<Tensor> few = {Tensor::of<float>({1, 2}, {9, 9})}, more = {Tensor::of<float>({2, 2}, {1, 1, 9, 8})};
  report::match_rows(sorted(1, false), few, more);
  CHECK(few[0] == Tensor::of<float>({2, 2}, {9, 9, 0, 0}));
  CHECK(more[0] == Tensor::of<float>({2, 2}, {9, 8, 1, 1}));
  std::vector<Tensor> none = {Tensor::of<float>({0, 2}, std::vector<float>())},
                      all = {Tensor::of<float>({2, 2}, {1, 2, 3, 4})};
  report::match_rows(sorted(1, false), none, all);
  CHECK(none[0] == Tensor::of<float>({2, 2}, {0, 0, 0, 0}));
  CHECK(all[0] == Tensor::of<float>({2, 2}, {1, 2, 3, 4}));
}

}  // namespace match_rows_test
