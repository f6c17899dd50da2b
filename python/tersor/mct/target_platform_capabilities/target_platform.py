# SPDX-License-Identifier: Apache-2.0
"""`tersor.mct.target_platform`, in the newer documents' place."""

from ..target_platform import *  # noqa: F403
from ..target_platform import __all__  # noqa: F401
