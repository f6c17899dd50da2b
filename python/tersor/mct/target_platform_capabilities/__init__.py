# SPDX-License-Identifier: Apache-2.0
"""The newer documents' place of `tersor.mct.target_platform`."""
