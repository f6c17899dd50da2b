// SPDX-License-Identifier: Apache-2.0
//
// In the place of `tersor/light`: the stand-in engine has no file.

export default '';
