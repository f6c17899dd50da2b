// SPDX-License-Identifier: Apache-2.0
#include "core/samples/zip.h"
#include "core/samples/zip_source.h"

#include "core/base/error.h"
#include "tests/catch.h"
#include "tests/samples/make_files.h"
#include "tests/samples/material.h"

using namespace tersor;
using namespace tersor::samples;
using namespace tersor::test;
using Catch::Matchers::Contains;

namespace {

ReadRange reader(const FileBytes& file) {
  auto owner = std::make_shared<FileBytes>(file);
  return [owner](uint64_t offset, uint64_t length) {
    REQUIRE(offset + length <= owner->size());
    return Bytes{std::span<const std::byte>(*owner).subspan(offset, length), owner};
  };
}

std::string content(const FileBytes& file, size_t member) {
  const ReadRange read = reader(file);
  const std::vector<ZipMember> members = read_zip(read, file.size());
  const Bytes bytes = open_member(read, members.at(member))(0, members.at(member).size);
  return {reinterpret_cast<const char*>(bytes.view.data()), bytes.view.size()};
}

}  // namespace

TEST_CASE("members of a stored archive are found by name") {
  const FileBytes file = zip_of({{"a.npy", bytes_of("alpha")}, {"folder/", {}}, {"folder/b.npy", bytes_of("beta")}});
  const auto members = read_zip(reader(file), file.size());
  REQUIRE(members.size() == 2);
  REQUIRE(members[1].name == "folder/b.npy");
  REQUIRE(content(file, 0) == "alpha");
  REQUIRE(content(file, 1) == "beta");
}

TEST_CASE("an archive that numpy deflated gives its arrays") {
  const FileBytes file = bytes_of(std::span<const uint8_t>(material::kNpzDeflated));
  const ReadRange read = reader(file);
  const auto members = read_zip(read, file.size());
  REQUIRE(members.size() == 2);
  REQUIRE(members[0].deflated);
  NpyArray array(open_member(read, members[0]), members[0].size);
  REQUIRE(array.shape() == Shape{4, 3, 2});
  REQUIRE(to_input_type(array.part(3, {3, 2}), input({})) == Tensor::of<float>({3, 2}, {18, 19, 20, 21, 22, 23}));
}

TEST_CASE("a large deflated member is expanded only when more than its head is asked for") {
  // Stored blocks of a deflate stream: 300000 zeros, the last byte of the compressed data missing from what may be
  // read.
  FileBytes packed;
  const size_t size = 300000, block = 60000;
  for (size_t at = 0; at < size; at += block) {
    packed.push_back(static_cast<std::byte>(at + block == size));
    for (size_t part : {block & 255, block >> 8, ~block & 255, ~block >> 8 & 255})
      packed.push_back(static_cast<std::byte>(part));
    packed.insert(packed.end(), block, std::byte{7});
  }
  ZipMember member{"a.npy", true, 0, packed.size(), size, 0};
  const ReadRange range = open_member(reader(packed), member);
  REQUIRE(range(10, 4).view[3] == std::byte{7});
  REQUIRE_THAT(error_of([&] { range(0, size); }), Contains("checksum"));
}

TEST_CASE("an archive of the zip64 form gives its arrays") {
  const FileBytes file = bytes_of(std::span<const uint8_t>(material::kNpzLarge));
  const ReadRange read = reader(file);
  const auto members = read_zip(read, file.size());
  REQUIRE(members.size() == 2);
  REQUIRE(members[0].name == "a.npy");
  NpyArray first(open_member(read, members[0]), members[0].size);
  REQUIRE(to_input_type(first.part(0, {3, 2}), input({})) == Tensor::of<float>({3, 2}, {0, 1, 2, 3, 4, 5}));
  REQUIRE(members[1].name == "b.npy");
  const NpyArray second(open_member(read, members[1]), members[1].size);
  REQUIRE(second.shape() == Shape{1, 1});
}

TEST_CASE("damaged and encrypted archives are refused with a sentence") {
  FileBytes file = zip_of({{"a.npy", bytes_of("alpha")}});
  const size_t directory = 30 + 5 + 5;
  const auto error = [&](size_t at, int value) {
    FileBytes changed = file;
    changed[at] = static_cast<std::byte>(value);
    return error_of([&] { content(changed, 0); });
  };
  REQUIRE_THAT(error(directory + 8, 1), Contains("encrypted"));
  REQUIRE_THAT(error(directory + 10, 12), Contains("method 12"));
  REQUIRE_THAT(error(directory + 24, 99), Contains("impossible"));
  REQUIRE_THAT(error(0, 'X'), Contains("no header"));
  FileBytes large = file;
  for (size_t i = 0; i < 8; ++i) large[directory + 20 + i] = std::byte{0xff};  // where no other field has the sizes
  REQUIRE_THAT(error_of([&] { content(large, 0); }), Contains("cut short"));
}

TEST_CASE("every prefix of an archive is refused, every changed byte is read or refused") {
  const bool is_large = GENERATE(false, true);
  FileBytes file = is_large ? bytes_of(std::span<const uint8_t>(material::kNpzLarge))
                            : bytes_of(std::span<const uint8_t>(material::kNpzDeflated));
  for (size_t length = 0; length < file.size(); ++length)
    REQUIRE_THROWS_AS(content(FileBytes(file.begin(), file.begin() + static_cast<ptrdiff_t>(length)), 0), Error);
  const std::string whole = content(file, 0);
  int same = 0, refused = 0;
  for (size_t at = 0; at < file.size(); ++at)
    for (int flip : {1, 0x80, 0xff}) {
      file[at] ^= static_cast<std::byte>(flip);
      try {
        same += content(file, 0) == whole ? 1 : 0;
      } catch (const Error& error) {
        REQUIRE(error.code == ErrorCode::kInvalidSamples);
        ++refused;
      }
      file[at] ^= static_cast<std::byte>(flip);
    }
  REQUIRE(same > 0);
  REQUIRE(refused > 0);
}

TEST_CASE("the members of an archive are samples, without the folder that holds them all") {
  const auto archive =
      source_of({{"set.zip", zip_of({{"set/cat/0.npy", bytes_of("abc")}, {"set/dog/1.npy", bytes_of("de")}})}});
  const ZipSource source(archive);
  REQUIRE(source.files().size() == 2);
  REQUIRE(source.files()[0].path == "cat/0.npy");
  REQUIRE(source.files()[1].size == 2);
  const Bytes second = source.read(1, 1, 1);
  REQUIRE(second.view.size() == 1);
  REQUIRE(second.view[0] == std::byte{'e'});
  const ZipSource flat(source_of({{"f.zip", zip_of({{"cat/0.npy", bytes_of("a")}, {"cat/1.npy", bytes_of("b")}})}}));
  REQUIRE(flat.files()[0].path == "cat/0.npy");
}

TEST_CASE("several places are one data set, each in a folder of its name") {
  const JoinedSource joined(
      {{"cat", source_of({{"0.npy", bytes_of("a")}})}, {"", source_of({{"1.npy", bytes_of("b")}})}});
  REQUIRE(joined.files()[0].path == "cat/0.npy");
  REQUIRE(joined.files()[1].path == "1.npy");
  REQUIRE(joined.read(1, 0, 1).view[0] == std::byte{'b'});
}
