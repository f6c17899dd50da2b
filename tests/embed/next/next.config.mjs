// SPDX-License-Identifier: Apache-2.0
import path from 'node:path';

export default {
  serverExternalPackages: ['tersor'],
  turbopack: { root: path.resolve(import.meta.dirname, '../../../..') }, // where Next itself lies
};
