// SPDX-License-Identifier: Apache-2.0
//
// Where the element that has the focus goes away, the nearest block, region or the page's main part that is left around it
// takes the focus, so that Tab goes on from there.

export function keepFocus(page: HTMLElement): void {
  let last: Element | null = null;
  let around: HTMLElement[] = [];
  page.addEventListener('focusin', ({ target }) => {
    last = target as Element;
    around = [...page.querySelectorAll<HTMLElement>('.block, .verdict, section, main')].filter((one) =>
      one.contains(last),
    );
  });
  new MutationObserver(() => {
    if (!last || last.isConnected || document.activeElement !== document.body) return;
    last = null;
    const home = around.findLast((one) => one.isConnected) ?? document.querySelector('main');
    if (!home) return;
    home.tabIndex = -1;
    home.focus({ preventScroll: true });
  }).observe(page, { childList: true, subtree: true });
}
