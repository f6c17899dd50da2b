// SPDX-License-Identifier: Apache-2.0
// What operators of two inputs do with one element of each. Arithmetic on whole numbers wraps around; division by zero
// gives 0 there.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

namespace tersor::ops::of_two {

/// Whole numbers are computed as unsigned 64-bit ones, whose overflow is defined, and cut to their width.
template <class T>
uint64_t wide(T x) {
  return static_cast<uint64_t>(x);
}

struct Add {
  template <class T>
  static T of(T a, T b) {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(wide(a) + wide(b));
    else
      return a + b;
  }
};

struct Sub {
  template <class T>
  static T of(T a, T b) {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(wide(a) - wide(b));
    else
      return a - b;
  }
};

struct Mul {
  template <class T>
  static T of(T a, T b) {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(wide(a) * wide(b));
    else
      return a * b;
  }
};

struct Div {
  template <class T>
  static T of(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
      if (b == 0) return 0;
      if constexpr (std::is_signed_v<T>)
        if (b == -1) return static_cast<T>(-wide(a));  // the least number has no opposite
      return static_cast<T>(a / b);
    } else {
      return a / b;
    }
  }
};

/// A NaN on either side gives NaN.
struct Max {
  template <class T>
  static T of(T a, T b) {
    if constexpr (std::is_floating_point_v<T>)
      if (a != a) return a;
    return b <= a ? a : b;
  }
};

struct Min {
  template <class T>
  static T of(T a, T b) {
    if constexpr (std::is_floating_point_v<T>)
      if (a != a) return a;
    return a <= b ? a : b;
  }
};

/// The remainder with the divisor's sign.
struct Mod {
  template <class T>
  static T of(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
      if (b == 0) return 0;
      if constexpr (std::is_signed_v<T>)
        if (b == -1) return 0;
      const T rest = static_cast<T>(a % b);
      return rest != 0 && ((rest < 0) != (b < 0)) ? static_cast<T>(rest + b) : rest;
    } else {
      return a - b * std::floor(a / b);
    }
  }
};

/// The remainder with the dividend's sign.
struct Fmod {
  template <class T>
  static T of(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
      if (b == 0) return 0;
      if constexpr (std::is_signed_v<T>)
        if (b == -1) return 0;
      return static_cast<T>(a % b);
    } else {
      return std::fmod(a, b);  // exact by IEEE's definition, so the same everywhere
    }
  }
};

struct PRelu {
  template <class T>
  static T of(T x, T slope) {
    return x < 0 ? Mul::of(x, slope) : x;
  }
};

struct Equal {
  template <class T>
  static bool of(T a, T b) {
    return a == b;
  }
};
struct Less {
  template <class T>
  static bool of(T a, T b) {
    return a < b;
  }
};
struct LessOrEqual {
  template <class T>
  static bool of(T a, T b) {
    return a <= b;
  }
};
struct Greater {
  template <class T>
  static bool of(T a, T b) {
    return a > b;
  }
};
struct GreaterOrEqual {
  template <class T>
  static bool of(T a, T b) {
    return a >= b;
  }
};
struct And {
  static bool of(bool a, bool b) { return a && b; }
};
struct Or {
  static bool of(bool a, bool b) { return a || b; }
};
struct Xor {
  static bool of(bool a, bool b) { return a != b; }
};
struct BitAnd {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(a & b);
  }
};
struct BitOr {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(a | b);
  }
};
struct BitXor {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(a ^ b);
  }
};
/// A shift by the width or more, or by a negative number, shifts everything out.
struct ShiftLeft {
  template <class T>
  static T of(T a, T b) {
    return wide(b) < 8 * sizeof(T) ? static_cast<T>(wide(a) << b) : T(0);
  }
};
struct ShiftRight {
  template <class T>
  static T of(T a, T b) {
    return wide(b) < 8 * sizeof(T) ? static_cast<T>(a >> b) : a < 0 ? static_cast<T>(-1) : T(0);
  }
};

}  // namespace tersor::ops::of_two
