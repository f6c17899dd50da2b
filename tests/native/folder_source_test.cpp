// SPDX-License-Identifier: Apache-2.0
#include "core/native/folder_source.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include <unistd.h>

#include "core/base/error.h"
#include "tests/catch.h"

using namespace tersor;
namespace fs = std::filesystem;

namespace {

/// A folder that is gone at the end of the test.
struct Folder {
  fs::path path = fs::temp_directory_path() / ("tersor-folder-" + std::to_string(::getpid()));
  Folder() { fs::create_directories(path / "cat" / "deep"); }
  ~Folder() { fs::remove_all(path); }
  void put(const std::string& name, const std::string& content) const { std::ofstream(path / name) << content; }
};

std::vector<std::string> paths(const samples::FileSource& source) {
  std::vector<std::string> result;
  for (const auto& file : source.files()) result.push_back(file.path + ":" + std::to_string(file.size));
  std::sort(result.begin(), result.end());
  return result;
}

std::string text(const samples::Bytes& bytes) {
  return {reinterpret_cast<const char*>(bytes.view.data()), bytes.view.size()};
}

}  // namespace

TEST_CASE("a folder gives its files by relative path, the one left out aside") {
  const Folder folder;
  folder.put("a.npy", "12345");
  folder.put("cat/deep/b.png", "12");
  folder.put("labels.csv", "0");
  const auto source = open_folder(folder.path.string(), (folder.path / "cat/../labels.csv").string());
  REQUIRE(paths(*source) == std::vector<std::string>{"a.npy:5", "cat/deep/b.png:2"});
  REQUIRE(source->folder_name() == "test_data_set");
  fs::create_directory(folder.path / "test_data_set_3");
  for (const char* name : {"test_data_set_3", "test_data_set_3/"})
    REQUIRE(open_folder((folder.path / name).string(), "")->folder_name() == "test_data_set_3");
}

TEST_CASE("a single file is a data set of its own, read by ranges") {
  const Folder folder;
  folder.put("a.npy", "0123456789");
  const auto source = open_folder((folder.path / "a.npy").string(), "");
  REQUIRE(paths(*source) == std::vector<std::string>{"a.npy:10"});
  REQUIRE(text(source->read(0, 3, 4)) == "3456");
  REQUIRE(text(source->read(0, 10, 0)).empty());
  REQUIRE(text(source->read_head(0, 99)) == "0123456789");
}

TEST_CASE("what is missing, or shrinks while it is read, is an error that names the file") {
  const Folder folder;
  REQUIRE_THROWS_AS(open_folder((folder.path / "none").string(), ""), Error);
  folder.put("a.npy", "0123456789");
  const auto source = open_folder(folder.path.string(), "");
  folder.put("a.npy", "012");
  try {
    source->read_all(0);
    FAIL("no error");
  } catch (const Error& error) {
    REQUIRE(error.code == ErrorCode::kIo);
    REQUIRE(error.message == "The file has become shorter while it was read.");
    REQUIRE(error.place.find("a.npy") != std::string::npos);
  }
}

TEST_CASE("links to files are followed, a link that leads back up ends in an error and not for ever") {
  const Folder folder;
  folder.put("a.npy", "1");
  fs::create_symlink(folder.path / "a.npy", folder.path / "b.npy");
  REQUIRE(open_folder(folder.path.string(), "")->files().size() == 2);
  fs::create_directory_symlink(folder.path, folder.path / "cat" / "up");
  REQUIRE_THROWS_AS(open_folder(folder.path.string(), ""), Error);
}
