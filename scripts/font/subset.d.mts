// SPDX-License-Identifier: Apache-2.0

export function makeFont(path: string): Promise<void>;
