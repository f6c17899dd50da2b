// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "core/samples/data_set.h"
#include "core/samples/inflate.h"
#include "core/samples/picture.h"
#include "tests/fuzz/targets.h"

namespace tersor::fuzz {

namespace {

using namespace tersor::samples;

constexpr std::string_view kPaths[] = {"a.npy", "a.npz", "a.png",      "a.jpg",
                                       "a.csv", "a.wav", "input_0.pb", "labels.txt"};

std::vector<InputSpec> inputs_of(size_t choice) {
  const auto one = [](DType dtype, std::vector<int64_t> dims) {
    std::vector<Dim> shape;
    for (const int64_t dim : dims) shape.push_back({dim, ""});
    return InputSpec{"x", dtype, std::move(shape)};
  };
  switch (choice) {
    case 0:
      return {one(DType::kFloat32, {-1, 3, 8, 8})};
    case 1:
      return {one(DType::kFloat32, {1, 9, 7, 1})};
    case 2:
      return {one(DType::kFloat32, {-1, -1})};
    case 3:
      return {one(DType::kUint8, {-1, 3, -1, -1})};
    case 4:
      return {one(DType::kInt64, {1, 4})};
    case 5:
      return {InputSpec{"x", DType::kUndefined, std::nullopt}};
    case 6:
      return {one(DType::kFloat32, {-1, 2}), one(DType::kInt32, {-1})};
    default:
      return {one(DType::kFloat32, {})};
  }
}

/// PNG's checksums made right, which chance never does.
void mend_checksums(std::vector<std::byte>& file) {
  const auto big = [&](size_t at) {
    size_t value = 0;
    for (size_t k = 0; k < 4; ++k) value = value << 8 | static_cast<size_t>(file[at + k]);
    return value;
  };
  for (size_t at = 8; at < file.size() && file.size() - at >= 12;) {
    const size_t length = big(at);
    if (length > file.size() - at - 12) return;
    const uint32_t crc = crc32(std::span(file).subspan(at + 4, length + 4));
    for (size_t k = 0; k < 4; ++k) file[at + 8 + length + k] = static_cast<std::byte>(crc >> (24 - 8 * k));
    at += 12 + length;
  }
}

}  // namespace

void samples(Bytes bytes) {
  if (bytes.size() < 2) return;
  const std::string path(kPaths[static_cast<size_t>(bytes[0]) % std::size(kPaths)]);
  const size_t choice = static_cast<size_t>(bytes[1]) % 8;
  auto file = std::make_shared<std::vector<std::byte>>(bytes.begin() + 2, bytes.end());
  if (is_png(*file)) mend_checksums(*file);
  std::vector<NamedBytes> files = {{path, *file, file}};
  if (choice == 6 && path == "input_0.pb") files.push_back({"input_1.pb", *file, file});
  only_proper_errors([&] {
    const auto data = DataSet::open(std::make_shared<MemorySource>(std::move(files)), inputs_of(choice));
    for (const Problem& problem : data->problems()) {
      if (problem.error.code == ErrorCode::kInternal) throw Finding(problem.error.what());
    }
    SampleReader reader(data);
    const int64_t last = data->size() - 1;
    for (int64_t k = 0; k < std::min<int64_t>(data->size(), 3); ++k) reader.load(k);
    if (last > 3) reader.load(last);
  });
}

}  // namespace tersor::fuzz
