// SPDX-License-Identifier: Apache-2.0
// Only here so that its target has something to compile beside the precompiled headers.
