// SPDX-License-Identifier: Apache-2.0
//
// One worker: Web Worker in browsers, worker_threads in Node. It refers to no file that starts workers, as bundlers would
// follow it back to this one.

import { answering, type Post } from './answers.js';
import { isNode, nodeModule } from './host.js';
import type { Request } from './protocol.js';
import type { Held, Hold, Ready } from './start_worker.js';

interface Port {
  postMessage(message: unknown, transfer?: Transferable[]): void;
  on(event: 'message', listener: (message: Request) => void): void;
}

/** The browser takes the lock away when this worker ends, however it does, and by that the page hears of it. */
function hold(name: string): void {
  void navigator.locks.request(name, () => {
    postMessage({ held: true } satisfies Held);
    return new Promise(() => undefined);
  });
}

const answer = answering();
let last: Promise<void> = Promise.resolve();

function hear(request: Request, post: Post): void {
  last = last.then(() => answer(request, post));
}

if (isNode) {
  void nodeModule<{ parentPort: Port }>('worker_threads').then(({ parentPort }) => {
    parentPort.on('message', (request) => hear(request, (reply, transfer) => parentPort.postMessage(reply, transfer)));
    parentPort.postMessage({ ready: true } satisfies Ready);
  });
} else {
  addEventListener('message', ({ data }: MessageEvent<Request | Hold>) => {
    if ('hold' in data) hold(data.hold);
    else hear(data, (reply, transfer) => postMessage(reply, { transfer }));
  });
  postMessage({ ready: true } satisfies Ready);
}
