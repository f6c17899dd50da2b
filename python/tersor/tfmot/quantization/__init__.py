# SPDX-License-Identifier: Apache-2.0
from . import keras

__all__ = ["keras"]
