// SPDX-License-Identifier: Apache-2.0
#include "core/onnx/wire.h"

#include <cstring>

#include <protozero/pbf_writer.hpp>
#include <protozero/varint.hpp>

#include "core/base/error.h"

namespace tersor::onnx {

namespace {

using WireType = protozero::pbf_wire_type;

[[noreturn]] void damaged(const std::string& what) {
  throw Error(ErrorCode::kInvalidModel, "The file is damaged: " + what + ".", {},
              "Download or export the model again.");
}

}  // namespace

void Fields::cut_short() const {
  damaged("it ends in the middle of field " + std::to_string(tag_) + " of a message");
}

bool Fields::next() {
  try {
    if (field_ != nullptr && reader_.data().data() == value_) {
      if (has_length()) check_length();
      reader_.skip();
    }
    field_ = reader_.data().data();
    if (!reader_.next()) return false;
    tag_ = reader_.tag();
    value_ = reader_.data().data();
    return true;
  } catch (const protozero::end_of_buffer_exception&) {
    cut_short();
  } catch (const protozero::exception&) {
    damaged("byte " + std::to_string(reader_.data().data() - begin_) + " of a message begins no field");
  }
}

void Fields::expect(WireType type) {
  if (reader_.wire_type() == type) return;
  damaged("field " + std::to_string(tag_) + " of a message has wire type " +
          std::to_string(static_cast<int>(reader_.wire_type())) + " instead of " +
          std::to_string(static_cast<int>(type)));
}

// protozero compares lengths as signed numbers of the pointer's size, which a length of 2^31 or more passes on a 32-bit
// machine; and it cuts lengths to 32 bits.
void Fields::check_length() {
  const auto rest = reader_.data();
  const char* position = rest.data();
  const uint64_t length = protozero::decode_varint(&position, rest.data() + rest.size());
  if (length > static_cast<uint64_t>(rest.data() + rest.size() - position)) throw protozero::end_of_buffer_exception();
}

int64_t Fields::integer() {
  expect(WireType::varint);
  try {
    return reader_.get_int64();
  } catch (const protozero::exception&) {
    cut_short();
  }
}

std::string_view Fields::view() {
  expect(WireType::length_delimited);
  try {
    check_length();
    const auto bytes = reader_.get_view();
    return {bytes.data(), bytes.size()};
  } catch (const protozero::exception&) {
    cut_short();
  }
}

float Fields::number() {
  expect(WireType::fixed32);
  try {
    return reader_.get_float();
  } catch (const protozero::exception&) {
    cut_short();
  }
}

double Fields::double_number() {
  expect(WireType::fixed64);
  try {
    return reader_.get_double();
  } catch (const protozero::exception&) {
    cut_short();
  }
}

template <class T>
void Fields::add_varints(std::vector<T>& values) {
  if (!has_length()) {
    values.push_back(static_cast<T>(integer()));
    return;
  }
  const std::string_view packed = view();
  const char* position = packed.data();
  const char* end = position + packed.size();
  try {
    while (position != end) values.push_back(static_cast<T>(protozero::decode_varint(&position, end)));
  } catch (const protozero::exception&) {
    cut_short();
  }
}

template <class T>
void Fields::add_fixed(std::vector<T>& values) {
  const std::string_view packed = view();
  if (packed.size() % sizeof(T) != 0) cut_short();
  const size_t old = values.size();
  values.resize(old + packed.size() / sizeof(T));
  if (!packed.empty()) std::memcpy(values.data() + old, packed.data(), packed.size());
}

void Fields::add_to(std::vector<int64_t>& values) {
  add_varints(values);
}

void Fields::add_to(std::vector<uint64_t>& values) {
  add_varints(values);
}

void Fields::add_to(std::vector<float>& values) {
  if (has_length())
    add_fixed(values);
  else
    values.push_back(number());
}

void Fields::add_to(std::vector<double>& values) {
  if (has_length())
    add_fixed(values);
  else
    values.push_back(double_number());
}

std::string_view Fields::encoded() {
  try {
    if (reader_.data().data() == value_) {
      if (has_length()) check_length();
      reader_.skip();
    }
  } catch (const protozero::exception&) {
    cut_short();
  }
  return {field_, static_cast<size_t>(reader_.data().data() - field_)};
}

std::string& Message::tail() {
  if (pieces_.empty() || pieces_.back().owned.empty()) pieces_.emplace_back();
  return pieces_.back().owned;
}

template <class Add>
void Message::add(Add&& add_field) {
  std::string& bytes = tail();
  const size_t before = bytes.size();
  protozero::pbf_writer writer(bytes);
  add_field(writer);
  size_ += bytes.size() - before;
}

void Message::key_and_length(Tag tag, size_t length) {
  std::string& bytes = tail();
  const size_t before = bytes.size();
  protozero::add_varint_to_buffer(&bytes, (uint64_t{tag} << 3) | static_cast<uint64_t>(WireType::length_delimited));
  protozero::add_varint_to_buffer(&bytes, length);
  size_ += bytes.size() - before;
}

void Message::integer(Tag tag, int64_t value) {
  add([&](protozero::pbf_writer& writer) { writer.add_int64(tag, value); });
}

void Message::number(Tag tag, float value) {
  add([&](protozero::pbf_writer& writer) { writer.add_float(tag, value); });
}

void Message::text(Tag tag, std::string_view value) {
  add([&](protozero::pbf_writer& writer) { writer.add_bytes(tag, value.data(), value.size()); });
}

void Message::text_unless_empty(Tag tag, std::string_view value) {
  if (!value.empty()) text(tag, value);
}

void Message::message(Tag tag, Message value) {
  key_and_length(tag, value.size_);
  for (Piece& piece : value.pieces_) {
    if (piece.owned.empty())
      pieces_.push_back(piece);
    else if (!pieces_.back().owned.empty())
      pieces_.back().owned += piece.owned;
    else
      pieces_.push_back(std::move(piece));
  }
  size_ += value.size_;
}

void Message::reference(Tag tag, std::span<const std::byte> bytes) {
  key_and_length(tag, bytes.size());
  if (bytes.empty()) return;
  pieces_.push_back({{}, bytes});
  size_ += bytes.size();
}

void Message::encoded(std::string_view fields) {
  if (fields.empty()) return;
  tail() += fields;
  size_ += fields.size();
}

std::vector<std::byte> Message::bytes() const {
  std::vector<std::byte> all;
  all.reserve(size_);
  for (const Piece& piece : pieces_) {
    const auto view = piece.view();
    all.insert(all.end(), view.begin(), view.end());
  }
  return all;
}

std::string Message::text() const {
  std::string all;
  all.reserve(size_);
  for (const Piece& piece : pieces_) {
    const auto view = piece.view();
    all.append(reinterpret_cast<const char*>(view.data()), view.size());
  }
  return all;
}

}  // namespace tersor::onnx
