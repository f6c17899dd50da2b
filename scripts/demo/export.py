# SPDX-License-Identifier: Apache-2.0
"""Writes a trained network as plain ONNX: opset 13, float32, batch normalization unfolded, any batch size."""

import json

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import network

Arrays = dict[str, dict[str, np.ndarray]]


class _Graph:
    """Nodes and initializers in the making; every node has one output, which bears the node's name."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.initializers: list[onnx.TensorProto] = []

    def constant(self, name: str, value: np.ndarray) -> str:
        array = np.ascontiguousarray(value, np.float32)
        self.initializers.append(numpy_helper.from_array(array, name))
        return name

    def node(self, kind: str, name: str, inputs: list[str], output: str = "", **attributes) -> str:
        self.nodes.append(helper.make_node(kind, inputs, [output or name], name, **attributes))
        return output or name


def _layer(graph: _Graph, layer: network.Conv, own: dict[str, np.ndarray], running: dict[str, np.ndarray],
           x: str) -> str:
    """Convolution, normalization, activation; the name of the result."""
    kernel = graph.constant(f"{layer.name}.weight", own["kernel"].transpose(3, 2, 0, 1))
    pad = layer.kernel // 2
    x = graph.node("Conv", layer.name, [x, kernel], kernel_shape=[layer.kernel] * 2, strides=[layer.stride] * 2,
                   pads=[pad] * 4, dilations=[1, 1], group=layer.groups)
    normalization = [
        graph.constant(f"{layer.name}.bn.{field}", value)
        for field, value in (("scale", own["scale"]), ("bias", own["shift"]), ("mean", running["mean"]),
                             ("var", running["var"]))
    ]
    x = graph.node("BatchNormalization", f"{layer.name}.bn", [x, *normalization], epsilon=network.EPSILON)
    if layer.activation == "relu6":
        return graph.node("Clip", f"{layer.name}.relu6", [x, "relu6.min", "relu6.max"])
    if layer.activation == "relu":
        return graph.node("Relu", f"{layer.name}.relu", [x])
    return x


def model(name: str, layers: list[network.Conv], weights: Arrays, statistics: Arrays, size: int,
          classes: tuple[str, ...]) -> onnx.ModelProto:
    """`image` float32 [N, 3, size, size] in -1..1 to `scores` float32 [N, classes]; checked."""
    graph = _Graph()
    if any(layer.activation == "relu6" for layer in layers):
        graph.constant("relu6.min", np.array(0.0))
        graph.constant("relu6.max", np.array(6.0))
    x = kept = "image"
    for layer in layers:
        if layer.opens:
            kept = x
        x = _layer(graph, layer, weights[layer.name], statistics[layer.name], x)
        if layer.closes:
            x = graph.node("Add", f"{layer.name.split('.')[0]}.add", [kept, x])
    x = graph.node("GlobalAveragePool", "pool", [x])
    x = graph.node("Flatten", "flatten", [x], axis=1)
    kernel = graph.constant("classifier.weight", weights["classifier"]["kernel"].T)
    bias = graph.constant("classifier.bias", weights["classifier"]["shift"])
    graph.node("Gemm", "classifier", [x, kernel, bias], "scores", alpha=1.0, beta=1.0, transB=1)

    image = helper.make_tensor_value_info("image", TensorProto.FLOAT, ["N", 3, size, size])
    scores = helper.make_tensor_value_info("scores", TensorProto.FLOAT, ["N", len(classes)])
    result = helper.make_model(
        helper.make_graph(graph.nodes, name, [image], [scores], graph.initializers),
        opset_imports=[helper.make_opsetid("", 13)], ir_version=8, producer_name="tersor-demo")
    if all(len(one) > 1 for one in classes):
        helper.set_model_props(result, {"names": json.dumps(dict(enumerate(classes)))})
    onnx.checker.check_model(result, full_check=True)
    return result
