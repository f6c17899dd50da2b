# SPDX-License-Identifier: Apache-2.0
"""open_files.py JOBS.json OUT

Opens and runs files in the ONNX Runtime that is installed here, whatever its version. JOBS is a list of {"name", "file",
"samples"}: the samples are an .npz whose arrays hold, along their first axis, what the model is given. Writes OUT/NAME.npz, outputs
by number and sample, and prints a JSON line for each job: {"name"} and, where it failed, {"error"}. A file that ends the process
takes none of the others with it, since each job has a process of its own. Needs numpy and onnxruntime only.
"""
import json
import multiprocessing
import os
import sys
import traceback

import numpy as np
# Before the processes of the jobs part from this one, which then need not load it again.
import onnxruntime


def run(job, out):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(job["file"], options, providers=["CPUExecutionProvider"])
    data = dict(np.load(job["samples"]))
    names = [one.name for one in session.get_inputs()]
    reached = {}
    for k in range(len(next(iter(data.values())))):
        # A platform may rename inputs, and leave out those that nothing reads.
        given = {names[n] if key not in names else key: np.asarray(array[k]) for n, (key, array) in enumerate(data.items())
                 if key in names or n < len(names)}
        for number, value in enumerate(session.run(None, given)):
            reached[f"{number}.{k}"] = value
    np.savez(os.path.join(out, job["name"] + ".npz"), **reached)


def guarded(job, out, pipe):
    try:
        run(job, out)
        pipe.send(None)
    except Exception as error:
        pipe.send((str(error).strip() or traceback.format_exc()).splitlines()[0][:400])


def main():
    with open(sys.argv[1]) as file:
        jobs = json.load(file)
    out = sys.argv[2]
    os.makedirs(out, exist_ok=True)
    for job in jobs:
        mine, theirs = multiprocessing.Pipe()
        process = multiprocessing.Process(target=guarded, args=(job, out, theirs))
        process.start()
        theirs.close()
        try:
            error = mine.recv()
        except EOFError:
            process.join()
            error = f"the process ended with {process.exitcode}"
        process.join()
        print(json.dumps({"name": job["name"]} | ({"error": error} if error else {})), flush=True)


if __name__ == "__main__":
    multiprocessing.set_start_method("fork")
    main()
