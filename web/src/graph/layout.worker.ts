// SPDX-License-Identifier: Apache-2.0

import { layOut, type LayoutRequest } from './layout';

addEventListener('message', (event: MessageEvent<LayoutRequest>) => {
  const answer = layOut(event.data);
  const buffers = [answer.x, answer.y, ...answer.paths].map(({ buffer }) => buffer as ArrayBuffer);
  postMessage(answer, { transfer: buffers });
});
