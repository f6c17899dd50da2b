# SPDX-License-Identifier: Apache-2.0
"""dask_quantize.py MODEL.onnx SAMPLES.npy OUT.onnx [PARTS [SCHEDULER]]

Calibrates the parts of a data set on the workers of a Dask cluster and quantizes here. Model and samples lie where every worker
can read them; a worker reads the samples of its part alone. A part whose worker is lost is calibrated again on another, and the
file has the same bytes as on one machine. Without the address of a scheduler a cluster is started on this machine.
"""
import sys

import numpy
import tersor


def calibrate_part(model, samples, number, count, settings):
    array = numpy.load(samples, mmap_mode="r")
    return tersor.calibrate(model, array, shard=(number, count), threads=1, **settings).bytes


def merge_parts(parts):
    return tersor.merge([tersor.Statistics(one) for one in parts]).bytes


def quantize(client, model, samples, count=50, together=8, **settings):
    """`together`: so many parts are merged at once, on the workers too, so that few come here."""
    parts = [
        client.submit(calibrate_part, model, samples, number, count, settings, pure=False, retries=5)
        for number in range(1, count + 1)
    ]
    while len(parts) > 1:
        groups = [parts[k : k + together] for k in range(0, len(parts), together)]
        parts = [client.submit(merge_parts, group, pure=False, retries=5) for group in groups]
    statistics = tersor.Statistics(parts[0].result())
    # what is tried and rounded takes some of the samples once more
    array = numpy.load(samples, mmap_mode="r")
    return tersor.quantize(model, array, statistics=statistics, **settings)


if __name__ == "__main__":
    from dask.distributed import Client, LocalCluster

    model, samples, out, *more = sys.argv[1:]
    cluster = more[1] if len(more) > 1 else LocalCluster(threads_per_worker=1)
    with Client(cluster) as client:
        result = quantize(client, model, samples, count=int(more[0]) if more else 50)
    result.save(out)
    print(result.summary)
