# SPDX-License-Identifier: Apache-2.0
"""The functions of other quantizers under their names, for scripts that were written for them."""
