# SPDX-License-Identifier: Apache-2.0
"""General names of weight attributes, the keys of `attr_weights_configs_mapping`."""

KERNEL_ATTR = "kernel_attr"
BIAS_ATTR = "bias_attr"
POS_ATTR = "pos_attr"
