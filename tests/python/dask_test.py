# SPDX-License-Identifier: Apache-2.0
"""docs/scale/dask_quantize.py on a cluster of this machine whose workers are killed: the bytes of one machine."""

import os
import signal
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

import numpy
import tersor

try:
    from dask.distributed import Client, LocalCluster
except ImportError:
    Client = None

ROOT = Path(__file__).resolve().parents[2]
MODEL = str(ROOT / "web/public/demo/model.onnx")
SAMPLES, PARTS = int(os.environ.get("TERSOR_DASK_SAMPLES", "2000")), 50


@unittest.skipIf(Client is None, "dask.distributed is not here")
class Cluster(unittest.TestCase):
    def test_workers_that_are_killed_change_no_byte(self):
        sys.path.insert(0, str(ROOT / "docs/scale"))
        os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT / "docs/scale"), os.environ.get("PYTHONPATH", "")])
        import dask
        import dask_quantize

        # every part that a killed worker had in line counts as having failed
        dask.config.set({"distributed.scheduler.allowed-failures": 100})

        with tempfile.TemporaryDirectory() as folder:
            file = str(Path(folder) / "samples.npy")
            shape = tersor.inspect(MODEL)["inputs"][0]["shape"][1:]
            generator = numpy.random.default_rng(3)
            numpy.save(file, generator.normal(size=(SAMPLES, *shape)).astype(numpy.float32))
            with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, local_directory=folder) as cluster:
                with Client(cluster) as client:
                    killed = []

                    def kill():
                        for _ in range(2):
                            time.sleep(1.5)
                            pids = [one["pid"] for one in self.workers(client).values()]
                            if pids:
                                killed.append(pids[0])
                                os.kill(pids[0], signal.SIGKILL)

                    killer = threading.Thread(target=kill)
                    killer.start()
                    try:
                        made = dask_quantize.quantize(client, MODEL, file, count=PARTS, effort=0)
                    finally:
                        killer.join()
            alone = tersor.quantize(MODEL, numpy.load(file, mmap_mode="r"), effort=0, compare=False)
            self.assertEqual(made.recipe["data_set"]["samples"], SAMPLES)
            self.assertEqual(made.bytes, alone.bytes)
            self.assertGreater(len(killed), 0)

    @staticmethod
    def workers(client):
        return {name: {"pid": pid} for name, pid in client.run(os.getpid).items()}


if __name__ == "__main__":
    unittest.main()
