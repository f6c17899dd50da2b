// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "core/samples/data_set.h"
#include "tests/catch.h"
#include "tests/samples/make_files.h"

namespace tensor_proto_files_test {
using namespace tersor;
using namespace tersor::samples;
using namespace tersor::test;
using Catch::Matchers::Contains;

namespace {

/// An encoded TensorProto: dims, data_type, raw_data.
template <class T>
FileBytes proto(std::initializer_list<int> dims, const std::vector<T>& values) {
  FileBytes out;
  const auto put = [&](int byte) { out.push_back(static_cast<std::byte>(byte)); };
  for (int dim : dims) put(0x08), put(dim);
  put(0x10), put(static_cast<int>(dtype_of<T>()));
  const FileBytes raw = bytes_of(values);
  put(0x4a), put(static_cast<int>(raw.size()));
  out.insert(out.end(), raw.begin(), raw.end());
  return out;
}

const std::vector<InputSpec> kTwo = {input({-1, 2}, DType::kFloat32, "a"), input({1}, DType::kInt64, "b")};

}  // namespace

TEST_CASE("a folder with input_k.pb is one sample in the order of the inputs") {
  const FileBytes number = proto<int64_t>({1}, {7});
  const auto data = open_set({{"test_data_set_1/input_1.pb", number},
                              {"test_data_set_1/input_0.pb", proto<float>({3, 2}, {1, 2, 3, 4, 5, 6})},
                              {"test_data_set_1/output_0.pb", number},
                              {"test_data_set_0/input_0.pb", proto<float>({1, 2}, {8, 9})},
                              {"test_data_set_0/input_1.pb", number}},
                             kTwo);
  data->require_samples();
  REQUIRE(data->size() == 2);
  REQUIRE(data->name(1) == "test_data_set_1");
  REQUIRE(data->classes().empty());
  REQUIRE(data->skipped().size() == 1);
  REQUIRE(data->skipped()[0].path == "test_data_set_1/output_0.pb");
  SampleReader reader(data);
  // Taken whole, whatever its batch.
  REQUIRE(reader.load(1)[0] == Tensor::of<float>({3, 2}, {1, 2, 3, 4, 5, 6}));
  REQUIRE(reader.load(0)[1] == Tensor::of<int64_t>({1}, {7}));
}

TEST_CASE("input files in the root are a sample of their own") {
  const auto data = open_set({{"input_0.pb", proto<float>({1, 2}, {8, 9})}}, {input({-1, 2})});
  REQUIRE(data->size() == 1);
  REQUIRE(data->name(0) == "test_data_set");
}

TEST_CASE("missing, surplus and misshapen inputs are named") {
  const auto fault = [](const NamedFiles& files) {
    return error_of([&] {
      const auto data = open_set(files, kTwo);
      data->require_samples();
      SampleReader(data).load(0);
    });
  };
  const FileBytes first = proto<float>({1, 2}, {8, 9}), second = proto<int64_t>({1}, {7});
  REQUIRE_THAT(fault({{"s/input_0.pb", first}}),
               Contains("samples \"s\" | input_1.pb is missing: the model's input \"b\"."));
  REQUIRE_THAT(fault({{"s/input_0.pb", first}, {"s/input_1.pb", second}, {"s/input_2.pb", second}}),
               Contains("There is an input_2.pb, and the model has 2 inputs."));
  REQUIRE_THAT(fault({{"s/input_0.pb", proto<float>({2, 3}, {1, 2, 3, 4, 5, 6})}, {"s/input_1.pb", second}}),
               Contains("input_0.pb: The shape is 2x3, the input \"a\" takes ?x2."));
  REQUIRE_THAT(fault({{"s/input_0.pb", proto<float>({1, 2}, {8, std::numeric_limits<float>::infinity()})},
                      {"s/input_1.pb", second}}),
               Contains("samples[0] \"s\" | The value at [0, 1] of the input \"a\" is infinite."));
}

TEST_CASE("every prefix of an input file gives an error or a sample") {
  const FileBytes whole = proto<float>({1, 2}, {8, 9});
  int refused = 0;
  for (size_t length = 0; length < whole.size(); ++length) {
    const FileBytes cut(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(length));
    const auto data = open_set({{"input_0.pb", cut}}, {input({-1, 2})});
    try {
      SampleReader(data).load(0);
    } catch (const Error& error) {
      REQUIRE(error.code == ErrorCode::kInvalidSamples);
      REQUIRE(error.hint.find("model") == std::string::npos);
      ++refused;
    }
  }
  REQUIRE(refused == static_cast<int>(whole.size()));
}

}  // namespace tensor_proto_files_test
