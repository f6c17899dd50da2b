// SPDX-License-Identifier: Apache-2.0
// Protobuf's wire format, checked: the one place that touches protozero. Fields reads one message and refuses whatever
// does not fit; Message collects one to be written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <protozero/pbf_reader.hpp>

namespace tersor::onnx {

/// A field number.
using Tag = uint32_t;

/// The fields of one encoded message, in order. Views point into the encoded bytes. Every function throws Error
/// kInvalidModel when the bytes are cut short or the field has another wire type than asked for, and reads nothing
/// beyond the message.
class Fields {
 public:
  explicit Fields(std::string_view message)
      : begin_(message.data()), reader_(protozero::data_view(message.data(), message.size())) {}

  /// Goes to the next field; false at the end. Whatever of the field before was not read is skipped.
  bool next();
  Tag tag() const { return tag_; }

  int64_t integer();
  int32_t integer32() { return static_cast<int32_t>(integer()); }
  float number();
  double double_number();
  /// Bytes, a text or a message.
  std::string_view view();
  std::string text() { return std::string(view()); }

  /// Repeated numbers, packed or one by one, added to `values`.
  void add_to(std::vector<int64_t>& values);
  void add_to(std::vector<uint64_t>& values);
  void add_to(std::vector<float>& values);
  void add_to(std::vector<double>& values);
  /// True when the field is a packed or otherwise length-delimited one.
  bool has_length() const { return reader_.wire_type() == protozero::pbf_wire_type::length_delimited; }

  /// The whole encoded field, key included. May be asked for before or after reading it, not of a field half read.
  std::string_view encoded();

 private:
  void expect(protozero::pbf_wire_type type);
  void check_length();
  [[noreturn]] void cut_short() const;
  template <class T>
  void add_fixed(std::vector<T>& values);
  template <class T>
  void add_varints(std::vector<T>& values);

  const char* begin_;            // of the message
  const char* field_ = nullptr;  // of the current field's key
  const char* value_ = nullptr;  // of the current field's value
  Tag tag_ = 0;
  protozero::pbf_reader reader_;  // after the key while reader_.data() == value_, else after the value
};

/// A message to be written. Small fields are held as bytes, tensors by reference: the bytes a reference points at must
/// outlive the message. Fields are written in the order they are added; callers add them in the order of their numbers.
class Message {
 public:
  void integer(Tag tag, int64_t value);
  void number(Tag tag, float value);
  void text(Tag tag, std::string_view value);
  /// As text(), but nothing at all for an empty one.
  void text_unless_empty(Tag tag, std::string_view value);
  void message(Tag tag, Message value);
  void reference(Tag tag, std::span<const std::byte> bytes);
  /// Fields that are encoded already.
  void encoded(std::string_view fields);

  size_t size() const { return size_; }
  /// The encoded message in one piece.
  std::vector<std::byte> bytes() const;
  std::string text() const;

 private:
  struct Piece {
    std::string owned;
    std::span<const std::byte> referred;  // used when owned is empty
    std::span<const std::byte> view() const {
      return owned.empty() ? referred : std::as_bytes(std::span(owned.data(), owned.size()));
    }
  };
  /// Small fields are gathered here: the last piece when it is an owned one.
  std::string& tail();
  void key_and_length(Tag tag, size_t length);
  template <class Add>
  void add(Add&& add_field);

  std::vector<Piece> pieces_;
  size_t size_ = 0;
};

}  // namespace tersor::onnx
