// SPDX-License-Identifier: Apache-2.0
#include "wasm/js_source.h"

#include <algorithm>
#include <memory>
#include <new>

#include "core/base/error.h"

namespace tersor::wasm {

using emscripten::typed_memory_view;
using emscripten::val;

namespace {

/// Bytes that JavaScript hands over at once, so that a large file is never twice in memory.
constexpr uint64_t kPieceBytes = uint64_t{8} << 20;

/// Not set to 0, as a vector would be: what is copied in may be large.
std::shared_ptr<std::byte[]> room_for(uint64_t length) {
  return std::shared_ptr<std::byte[]>(new std::byte[static_cast<size_t>(length)]);
}

val as_bytes(const val& array) {
  return val::global("Uint8Array").new_(array["buffer"], array["byteOffset"], array["byteLength"]);
}

void copy_in(const val& array, std::byte* to, size_t length) {
  val(typed_memory_view(length, reinterpret_cast<uint8_t*>(to))).call<void>("set", array);
}

}  // namespace

JsSource::JsSource(const val& table) : read_(table["read"]) {
  const val files = table["files"];
  const auto count = files["length"].as<size_t>();
  for (size_t i = 0; i < count; ++i)
    files_.push_back({files[i]["path"].as<std::string>(), static_cast<uint64_t>(files[i]["size"].as<double>())});
}

samples::Bytes JsSource::read(size_t file, uint64_t offset, uint64_t length) const {
  if (length > (uint64_t{1} << 31))
    throw Error(ErrorCode::kOutOfMemory, "The file has " + std::to_string(length) + " bytes; 2 GiB are the most here.",
                files_[file].path, "Use the native program.");
  const auto bytes = room_for(length);
  for (uint64_t at = 0; at < length;) {
    const uint64_t piece = std::min(kPieceBytes, length - at);
    const val got = read_(static_cast<double>(file), static_cast<double>(offset + at), static_cast<double>(piece));
    if (got.isString())
      throw Error(ErrorCode::kIo, "The file cannot be read: " + got.as<std::string>(), files_[file].path,
                  "It may have been changed or moved since it was chosen; choose it again.");
    if (got["length"].as<double>() != static_cast<double>(piece))
      throw Error(ErrorCode::kIo, "The file is shorter than it was.", files_[file].path, "Choose it again.");
    copy_in(got, bytes.get() + at, static_cast<size_t>(piece));
    at += piece;
  }
  return {{bytes.get(), static_cast<size_t>(length)}, bytes};
}

samples::Bytes copied(const val& array) {
  const auto length = static_cast<size_t>(array["byteLength"].as<double>());
  const auto bytes = room_for(length);
  copy_in(as_bytes(array), bytes.get(), length);
  return {{bytes.get(), length}, bytes};
}

val as_view(std::span<const std::byte> bytes) {
  return val(typed_memory_view(bytes.size(), reinterpret_cast<const uint8_t*>(bytes.data())));
}

val to_array(std::span<const std::byte> bytes) {
  return as_view(bytes).call<val>("slice");
}

}  // namespace tersor::wasm
