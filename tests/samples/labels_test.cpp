// SPDX-License-Identifier: Apache-2.0
#include "core/samples/labels.h"

#include "tests/catch.h"
#include "tests/samples/make_files.h"

namespace labels_test {
using namespace tersor;
using namespace tersor::samples;
using namespace tersor::test;
using Catch::Matchers::Contains;

namespace {

using Labels = std::vector<int64_t>;

/// Three samples: a, b.0000, b.0001.
std::shared_ptr<const DataSet> three(const std::string& class_names = {}) {
  NamedFiles files = {{"a.npy", npy<float>("<f4", "(1, 1)", {0})}, {"b.npy", npy<float>("<f4", "(2, 1)", {1, 2})}};
  if (!class_names.empty()) files.push_back({"labels.txt", bytes_of(class_names)});
  return open_set(files, {input({1, 1})});
}

Labels labels(const FileBytes& file, const std::shared_ptr<const DataSet>& data = three(), int64_t group = 1,
              int64_t offset = 0) {
  return read_labels({"labels.csv", file, nullptr}, *data, group, offset);
}

std::string fault(const FileBytes& file) {
  return error_of([&] { labels(file); });
}

}  // namespace

TEST_CASE("labels come from an array, from lines, or from CSV in any order") {
  const Labels wanted = {4, 0, 2};
  REQUIRE(labels(npy<int64_t>("<i8", "(3,)", {4, 0, 2})) == wanted);
  REQUIRE(labels(npy<uint8_t>("|u1", "(3, 1)", {4, 0, 2})) == wanted);
  REQUIRE(labels(bytes_of("4\n0\n2\n")) == wanted);
  REQUIRE(labels(bytes_of("\xef\xbb\xbf"
                          "4\r\n0\r\n\r\n2")) == wanted);
  REQUIRE(labels(bytes_of("sample,label\nb.0001,2\na,4\nb.0000,0\n")) == wanted);
  REQUIRE(labels(bytes_of("b.0001;2\n\"a.npy\";4\nb.0000;0\n")) == wanted);
}

TEST_CASE("labels may be names of labels.txt, and an offset is added") {
  REQUIRE(labels(bytes_of("dog\ncat\n1\n"), three("cat\ndog\n")) == Labels{1, 0, 1});
  REQUIRE(labels(bytes_of("sample,label\nb.0001,dog\na,cat\nb.0000,0\n"), three("cat\ndog\n")) == Labels{0, 0, 1});
  REQUIRE(labels(bytes_of("4\n0\n2\n"), three(), 1, 1) == Labels{5, 1, 3});
}

TEST_CASE("one label may belong to a group of samples") {
  const auto four = open_set({{"a.npy", npy<float>("<f4", "(4, 1)", {0, 1, 2, 3})}}, {input({1, 1})});
  REQUIRE(labels(bytes_of("1\n0\n"), four, 2) == Labels{1, 0});
  REQUIRE(labels(bytes_of("a.0002,0\na.0000,1\n"), four, 2) == Labels{1, 0});
  REQUIRE_THAT(error_of([&] { labels(bytes_of("1\n"), four, 3); }),
               Contains("4 samples do not divide into groups of 3. | Check the size of the groups"));
}

TEST_CASE("lines for samples that are not there are passed over where every sample has its own") {
  CHECK(labels(bytes_of("a,1\nq,2\nb.0000,1\nb.0001,0\n")) == Labels{1, 1, 0});
}

TEST_CASE("faults show the first offender") {
  REQUIRE_THAT(fault(bytes_of("4\n0\n")),
               Contains("There are 2 labels for 3 samples: the first without one is \"b.0001\"."));
  REQUIRE_THAT(fault(bytes_of("4\n0\n1\n1\n")),
               Contains("There are 4 labels for 3 samples. | Give one label for each sample"));
  REQUIRE_THAT(fault(bytes_of("4\n-2\n1\n")),
               Contains("is -2; classes are numbered from 0. | Number the classes anew"));
  REQUIRE_THAT(fault(bytes_of("4\ncow\n1\n")), Contains("labels \"labels.csv\" line 2 | The label \"cow\" is neither"));
  REQUIRE_THAT(fault(bytes_of("a,1\nb.0000,1\n")), Contains("The sample \"b.0001\" has no label."));
  REQUIRE_THAT(fault(bytes_of("a,1\na,2\n")),
               Contains("line 2 | The sample \"a\" has two labels. | Remove one of them."));
  REQUIRE_THAT(fault(bytes_of("4\n")), Contains("say that 3 samples in a row share one"));
  REQUIRE_THAT(fault(bytes_of("a,1\nq,2\n")),
               Contains("line 2 | There is no sample \"q\". | The first is named \"a\"."));
  REQUIRE_THAT(fault(bytes_of("a,1\nb,2,3\n")), Contains("3 columns"));
  REQUIRE_THAT(fault(npy<float>("<f4", "(3,)", {4, 0, 2})), Contains("The labels are float32"));
  REQUIRE_THAT(fault(npy<int64_t>("<i8", "(3, 2)", {4, 0, 2, 1, 1, 1})), Contains("argmax"));
  REQUIRE_THAT(fault(npy<uint64_t>("<u8", "(3,)", {4, UINT64_MAX, 2})), Contains("\"labels\""));
  REQUIRE_THAT(fault({}), Contains("There are 0 labels for 3 samples"));
}

TEST_CASE("every prefix of a label array is refused") {
  const FileBytes file = npy<int64_t>("<i8", "(3,)", {4, 0, 2});
  for (size_t length = 0; length < file.size(); ++length)
    REQUIRE_THAT(fault(FileBytes(file.begin(), file.begin() + static_cast<ptrdiff_t>(length))), Contains("labels"));
}

TEST_CASE("folders give labels, and their absence is an error") {
  const FileBytes one = npy<float>("<f4", "(1, 1)", {0});
  const auto data = open_set({{"cat/1.npy", one}, {"dog/1.npy", one}, {"dog/2.npy", one}}, {input({1, 1})});
  REQUIRE(own_labels(*data) == Labels{0, 1, 1});
  REQUIRE_THAT(error_of([] { own_labels(*three()); }), Contains("do not all lie in class folders"));
}

}  // namespace labels_test
