# SPDX-License-Identifier: Apache-2.0
"""What `progress=True` shows: a bar for each stage of a call."""

from __future__ import annotations

import html
import sys
import time
from typing import Any, Optional

_WIDTH = 24  # characters of a bar
_SECONDS = 0.1  # between two drawings


class ProgressBar:
    """Listens as a function of `progress` does. In a notebook the bars are one display that changes; in a terminal each stage
    is a line that changes; anywhere else, as in a log, a line when the stage is over. Lines go to the standard error."""

    def __init__(self) -> None:
        self._stage: Optional[tuple[str, int, int]] = None
        self._note = ""
        self._drawn = 0.0
        self._over: list[str] = []  # lines of the stages before
        self._notebook = _is_notebook()
        self._display: Any = None

    def __call__(self, stage: str, done: int, total: int) -> None:
        if self._stage is not None and self._stage[0] != stage:
            self._finish()
        self._stage = (stage, done, total)
        self._draw_sometimes()

    def train(self, now: dict[str, Any]) -> None:
        """Takes what a callback of `tune()` is given, which stands beside the bar of the training from then on."""
        said = [f"loss {now['loss']:.4g}", f"best {now['best_db']:.2f} dB (before {now['before_db']:.2f})"]
        if now["best_right"] is not None:
            said.append(f"right {now['best_right']} of {now['held']} (before {now['before_right']})")
        self("train", now["step"], now["steps"])
        self._note = ", ".join(said)

    def _finish(self) -> None:
        """The last units of a stage may go unheard. A training alone ends early, where its callback says so."""
        if self._stage is not None and self._stage[0] != "train":
            self._stage = (self._stage[0], self._stage[2], self._stage[2])
        self._close()

    def _close(self) -> None:
        """The stage is over, wherever it stands."""
        if self._stage is None:
            return
        self._draw()
        if not self._notebook:
            print(file=sys.stderr, end="\n" if sys.stderr.isatty() else f"{self._line()}\n", flush=True)
        self._over.append(self._line())
        self._stage, self._note, self._drawn = None, "", 0.0

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(self, raised: Any, *_: Any) -> None:
        if raised is None:
            self._finish()
        else:
            self._close()

    def _line(self) -> str:
        stage, done, total = self._stage or ("", 0, 0)
        filled = _WIDTH * min(done, total) // max(total, 1)
        return f"{stage:<10} [{'#' * filled}{'.' * (_WIDTH - filled)}] {done}/{total} {self._note}".rstrip()

    def _draw_sometimes(self) -> None:
        now = time.monotonic()
        if self._stage is not None and now - self._drawn >= _SECONDS:
            self._drawn = now
            self._draw()

    def _draw(self) -> None:
        if self._notebook:
            self._draw_in_notebook()
        elif sys.stderr.isatty():
            print(f"\r\x1b[K{self._line()}", file=sys.stderr, end="", flush=True)

    def _draw_in_notebook(self) -> None:
        from IPython.display import display

        text = "\n".join([*self._over, self._line()])
        shown = {"text/plain": text, "text/html": f"<pre>{html.escape(text)}</pre>"}
        if self._display is None:
            self._display = display(shown, raw=True, display_id=True)
        else:
            self._display.update(shown, raw=True)


def _is_notebook() -> bool:
    """Whether this process is the kernel of one; IPython is not loaded for the question."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return shell is not None and hasattr(shell, "kernel")
