// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/tensor/dtype.h"
#include "core/tensor/shape.h"

namespace tersor {

/// A dense array in row-major order. A value: copies share the bytes, which are immutable once shared; make() gives
/// fresh bytes that its maker fills through mutable_data() before handing the tensor on. Weights alias the bytes of the
/// model file, so that a model is held once. Bytes are little-endian and start at least 16-byte aligned when made here;
/// bytes that alias a file may have any alignment, and data<T>() copies nothing: use aligned() first where it matters.
class Tensor {
 public:
  Tensor() = default;

  /// Fresh zeroed memory. Error kOutOfMemory when it is not there.
  static Tensor make(DType dtype, Shape shape);
  /// The same, holding what was there before: for those who write every byte.
  static Tensor make_unset(DType dtype, Shape shape);
  /// A copy of `values`.
  template <class T>
  static Tensor of(Shape shape, std::span<const T> values);
  template <class T>
  static Tensor of(Shape shape, std::initializer_list<T> values) {
    return of<T>(std::move(shape), std::span<const T>(values.begin(), values.size()));
  }
  template <class T>
  static Tensor scalar(T value) {
    return of<T>(Shape{}, std::span<const T>(&value, 1));
  }
  /// Bytes kept alive by `owner`. Error kInvalidModel when their count is not what dtype and shape need.
  static Tensor alias(DType dtype, Shape shape, std::span<const std::byte> bytes, std::shared_ptr<const void> owner);
  static Tensor of_strings(Shape shape, std::vector<std::string> values);
  /// A tensor whose bytes `fetch` gives, as a tensor of that type and size, once they are asked for: weights of a file
  /// that can be read again, and what follows from such ones. This object then holds them as long as it lives; a copy
  /// made before asks for itself, and shares what another holds at that time. Who reads a weight of a graph once copies
  /// it first (aligned() does), so that the graph does not hold it. For one thread. What `fetch` throws comes out of
  /// the first reading.
  static Tensor deferred(DType dtype, Shape shape, std::function<Tensor()> fetch);
  /// This tensor as it is before its bytes are asked for; a tensor that is not deferred as it is.
  Tensor unread() const;

  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  int64_t elements() const { return shape_.elements(); }
  bool empty() const { return dtype_ == DType::kUndefined; }
  bool is_deferred() const { return deferred_ != nullptr; }
  std::span<const std::byte> bytes() const;
  /// How many they are, without asking for them.
  size_t byte_count() const { return size_; }

  /// The elements. Checked: T must be the dtype's type (uint8_t also reads kBool).
  template <class T>
  std::span<const T> data() const;
  /// Only for tensors from make() that were not copied yet.
  template <class T>
  std::span<T> mutable_data();
  std::span<std::byte> mutable_bytes();
  const std::vector<std::string>& strings() const;

  /// The same elements under another shape of equal element count.
  Tensor reshaped(Shape shape) const;
  /// This tensor, or a copy when its bytes are not aligned to the element size.
  Tensor aligned() const;
  /// Elements as double; for small constants (axes, scales, bounds). Any numeric type but 4-bit and 8-bit floats.
  std::vector<double> to_doubles() const;
  /// Elements of an integer or bool tensor as int64.
  std::vector<int64_t> to_int64s() const;

  /// Same dtype, shape and bytes.
  bool operator==(const Tensor& other) const;

 private:
  struct Deferred;

  void check_type(DType wanted) const;
  void fetch() const;

  DType dtype_ = DType::kUndefined;
  Shape shape_;
  size_t size_ = 0;
  std::shared_ptr<Deferred> deferred_;
  mutable std::shared_ptr<const void> owner_;  // none while deferred bytes were not asked for
  mutable const std::byte* data_ = nullptr;
};

template <class T>
std::span<const T> Tensor::data() const {
  check_type(dtype_of<T>());
  return {reinterpret_cast<const T*>(bytes().data()), static_cast<size_t>(elements())};
}

template <class T>
std::span<T> Tensor::mutable_data() {
  check_type(dtype_of<T>());
  return {reinterpret_cast<T*>(mutable_bytes().data()), static_cast<size_t>(elements())};
}

template <class T>
Tensor Tensor::of(Shape shape, std::span<const T> values) {
  const auto bytes = std::as_bytes(values);
  auto copy = std::make_shared<std::vector<std::byte>>(bytes.begin(), bytes.end());
  const std::span<const std::byte> view(*copy);
  return alias(dtype_of<T>(), std::move(shape), view, std::move(copy));
}

}  // namespace tersor
