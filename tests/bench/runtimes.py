#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""runtimes.py SHARED PROGRAM FOLDER OUT.md [--models ID,...] [--platforms NAME,...] [--runtimes 1.16,...] [--reuse] [--only-write]

Opens and runs the files of every platform for every model of the zoo in old and new ONNX Runtimes, and writes the table of
docs/runtimes.md. FOLDER holds a Python for each runtime (FOLDER/1.16/bin/python, see scripts/runtimes) and keeps samples, files and what
was found (found.json). A file counts where the runtime opens the float model. Needs numpy; SHARED/anchors needs scipy and pillow.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import textwrap

import numpy as np

import files

# Four samples show whether a file is read as it is meant; what calibration sees only moves its scales.
CALIBRATED, RUN = 8, 4

# Outputs against the newest runtime's: kernels that round the last bit differently move a code here and there.
LEAST_DECIBELS = 20

# So much more error against the float model than in the newest runtime is a file that means something else there.
MOST_LOST = 3

CLOSED = "the float model does not open"
NEWER = "the file needs a newer operator set"
FINE = ("equal", "close", NEWER, CLOSED)


def samples(shared, folder, model):
    target = folder / "samples" / model
    if not (target / "eval.npz").exists():
        files.zoo_samples(shared, model, target)
    few = target / "few.npz"
    if not few.exists():
        data = dict(np.load(target / "eval.npz"))
        count = len(next(iter(data.values())))
        chosen = [k * count // RUN for k in range(RUN)]
        np.savez(few, **{key: array[chosen] for key, array in data.items()})
    return target


def quantize(args, model, platform):
    """The job for this file, or the refusal's sentence."""
    out = args.folder / "files" / f"{model}.{platform}.onnx"
    out.parent.mkdir(exist_ok=True)
    if args.reuse and out.exists():
        return {"name": f"{model}.{platform}", "file": str(out)}, None
    command = [args.program, "quantize", args.shared / "zoo" / model / "model.onnx", "--data", args.folder / "samples" / model / "calib",
               "--limit", str(CALIBRATED), "--platform", platform, "--threads", "1", "-o", out]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        return None, (done.stderr.strip().splitlines() or [f"ended with {done.returncode}"])[0]
    return {"name": f"{model}.{platform}", "file": str(out)}, None


def is_newer(error):
    """Whether the runtime is older than the operator set, or than int4, that the file needs."""
    old = ("onnx opset version", "Unsupported model IR version", "tensor(int4)", "MatMulNBits, \"com.microsoft\", -1")  # MatMulNBits came with 1.17
    return any(reason in error for reason in old)


def run(folder, runtime, jobs):
    """{name: error or None}"""
    listed = folder / f"jobs-{runtime}.json"
    listed.write_text(json.dumps(jobs))
    python = folder / runtime / "bin/python"
    script = pathlib.Path(__file__).with_name("open_files.py")
    done = subprocess.run([python, script, listed, folder / "outputs" / runtime], capture_output=True, text=True, check=True)
    return {row["name"]: row.get("error") for row in map(json.loads, done.stdout.splitlines())}


def outputs(folder, runtime, name):
    return dict(np.load(folder / "outputs" / runtime / f"{name}.npz"))


def decibels(wanted, got):
    """The worst output's, pooled over samples; infinite where all are equal."""
    worst = np.inf
    for number in sorted({key.split(".")[0] for key in wanted}):
        signal = noise = 0.0
        for key in wanted:
            if key.split(".")[0] != number:
                continue
            right, mine = wanted[key], got[key]
            if right.shape != mine.shape:
                return -np.inf
            if right.dtype.kind != "f":
                continue
            right, mine = right.astype(np.float64), mine.astype(np.float64)
            signal += np.sum(right ** 2)
            noise += np.sum((right - mine) ** 2)
        if noise != 0:
            worst = min(worst, 10 * np.log10(max(signal, 1e-300) / noise) if np.isfinite(noise) else -np.inf)
    return float(worst)


def judge(folder, runtime, newest, name, model):
    """"equal", "close" or what is wrong with a file that has been run."""
    mine, theirs = outputs(folder, runtime, name), outputs(folder, newest, name)
    apart = decibels(theirs, mine)
    if apart == np.inf:
        return "equal"
    float_model = outputs(folder, newest, f"{model}.float")
    lost = decibels(float_model, theirs) - decibels(float_model, mine)
    if apart < LEAST_DECIBELS and not lost <= MOST_LOST:
        return f"{apart:.1f} dB against the newest runtime, {lost:.1f} dB more error"
    return "close"


def cause(error):
    """A message without what differs from file to file, so that one cause is counted once."""
    error = re.sub(r"\[ONNXRuntimeError\] : \d+ : \w+ : ", "", error)
    error = re.sub(r"(Load model|Exception during initialization).*? failed:\s*", "", error)
    error = re.sub(r"/\S*/", "", error)
    error = re.sub(r"(?i)(node:? ?\(?(?:name:)?\s*)['\"(]?[^\s'\")]+", r"\1...", error)
    error = re.sub(r"^error: (\S+: )?", "", error)
    return textwrap.shorten(re.sub(r"-?\d+(\.\d+)?", "N", error), 160, placeholder=" ...")


def measure(args):
    listed = json.loads(subprocess.run([args.program, "platforms", "--json"], check=True, capture_output=True, text=True).stdout)
    # A platform's newest version is what its name stands for.
    platforms = args.platforms or list(dict.fromkeys(one["name"] for one in listed))
    models = args.models or sorted(path.parent.name for path in (args.shared / "zoo").glob("*/model.onnx"))
    newest = args.runtimes[-1]
    jobs, refused = [], {}
    pool = concurrent.futures.ThreadPoolExecutor(os.cpu_count())
    for model in models:
        few = samples(args.shared, args.folder, model) / "few.npz"
        made = [({"name": f"{model}.float", "file": str(args.shared / "zoo" / model / "model.onnx")}, None)]
        made += pool.map(lambda platform: quantize(args, model, platform), platforms)
        jobs += [job | {"samples": str(few)} for job, _ in made if job]
        refused |= {f"{model}.{platform}": sentence for platform, (_, sentence) in zip(platforms, made[1:]) if sentence}
        print(model, len(made) - 1, "files", flush=True)
    found = {}
    reached = pool.map(lambda runtime: run(args.folder, runtime, jobs), reversed(args.runtimes))
    for runtime, results in zip(reversed(args.runtimes), reached):
        found[runtime] = {}
        for job in jobs:
            name = job["name"]
            model = name.rsplit(".", 1)[0]
            if results.get(f"{model}.float", "not run") is not None:
                state = CLOSED
            elif is_newer(results.get(name) or ""):
                state = NEWER
            elif results.get(name, "not run") is not None:
                state = "error: " + results.get(name, "not run")
            elif newest in found and found[newest].get(name, "").startswith("error"):
                state = "close"
            else:
                state = judge(args.folder, runtime, newest, name, model)
            found[runtime][name] = state
        print(runtime, dict(collections.Counter(state.split(":")[0].split(" dB")[0] for state in found[runtime].values())), flush=True)
    found = {runtime: found[runtime] for runtime in args.runtimes}
    versions = {runtime: subprocess.run([args.folder / runtime / "bin/python", "-c", "import onnxruntime; print(onnxruntime.__version__)"],
                                        check=True, capture_output=True, text=True).stdout.strip() for runtime in args.runtimes}
    return {"platforms": platforms, "models": models, "versions": versions, "found": found, "refused": refused,
            "tersor": subprocess.run([args.program, "--version"], capture_output=True, text=True).stdout.strip()}


def text(data):
    runtimes = list(data["versions"])
    lines = ["| platform | " + " | ".join(data["versions"].values()) + " |", "|---" * (len(runtimes) + 1) + "|"]
    for platform in ["float", *data["platforms"]]:
        row = []
        for runtime in runtimes:
            states = [state for name, state in data["found"][runtime].items() if name.rsplit(".", 1)[1] == platform]
            counted = [state for state in states if state != CLOSED]
            equal, close, newer = counted.count("equal"), counted.count("close"), counted.count(NEWER)
            cell = f"{equal + close} of {len(counted)}" if equal + close + newer == len(counted) else f"**{equal + close}** of {len(counted)}"
            row.append(cell + (f", {close} close" if close else "") + (f", {newer} too new" if newer else ""))
        lines.append(f"| {platform} | " + " | ".join(row) + " |")
    failures = collections.defaultdict(lambda: collections.defaultdict(list))
    for runtime in runtimes:
        for name, state in data["found"][runtime].items():
            if state not in FINE:
                failures[cause(state)][name].append(runtime)
    lines.append("")
    if failures:
        lines += ["What fails:", "", "| cause | files | runtimes |", "|---|---|---|"]
        for why, names in sorted(failures.items(), key=lambda one: -len(one[1])):
            shown = ", ".join(sorted(names)[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "")
            where = sorted({one for some in names.values() for one in some}, key=runtimes.index)
            why = why.replace("|", "\\|")
            lines.append(f"| {why} | {shown} | {', '.join(where)} |")
    else:
        lines.append("Every file that was written and is not too new opens and runs, wherever its float model does.")
    closed = [f"{model} ({', '.join(some)})" for model in data["models"]
              if (some := [one for one in runtimes if data["found"][one][f"{model}.float"] == CLOSED])]
    if closed:
        lines += ["", "Float models that do not open: " + "; ".join(closed) + "."]
    if data["refused"]:
        sentences = collections.defaultdict(list)
        for name, sentence in data["refused"].items():
            sentences[cause(sentence)].append(name)
        lines += ["", "Not written, with the error's sentence:", ""]
        lines += [f"- {', '.join(names)}: {sentence}" for sentence, names in sentences.items()]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shared", type=pathlib.Path)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    for option in ("--models", "--platforms", "--runtimes"):
        parser.add_argument(option, type=lambda given: given.split(","), default=[])
    parser.add_argument("--reuse", action="store_true", help="files that the last run has written")
    parser.add_argument("--only-write", action="store_true", help="the table of what the last run found")
    args = parser.parse_args()
    args.shared, args.program, args.folder = args.shared.resolve(), args.program.resolve(), args.folder.resolve()
    kept = args.folder / "found.json"
    if args.only_write:
        data = json.loads(kept.read_text())
    else:
        data = measure(args)
        kept.write_text(json.dumps(data, indent=1))
    made = f"Made by `scripts/runtimes` with {data['tersor'].capitalize()}, of {', '.join(data['models'])}.\n\n" + text(data)
    made = "\n".join(line if line.startswith("|") else textwrap.fill(line, 120, subsequent_indent="  " if line.startswith("- ") else "",
                                                                     break_on_hyphens=False) for line in made.split("\n"))
    page = args.out.read_text()
    args.out.write_text(re.sub(r"(<!-- table -->\n).*?(<!-- end -->)", lambda m: m.group(1) + made + m.group(2), page, flags=re.S))
    failed = [state for states in data["found"].values() for state in states.values()
              if state not in FINE]
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
