# SPDX-License-Identifier: Apache-2.0
"""whole_process.py ROUNDS < COMMANDS

Runs each command of a JSON list in turns, as whole processes, and prints per command the seconds and the greatest resident
kilobytes of each round. Node cannot ask the system for a child's memory.
"""
import json
import os
import sys
import time

commands = json.load(sys.stdin)
results = [{"seconds": [], "kilobytes": []} for _ in commands]
for _ in range(int(sys.argv[1])):
    for command, result in zip(commands, results):
        start = time.perf_counter()
        child = os.posix_spawn(command[0], command, os.environ, file_actions=[(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)])
        _, status, usage = os.wait4(child, 0)
        if status != 0:
            sys.exit(f"{' '.join(command)} ended with {os.waitstatus_to_exitcode(status)}")
        result["seconds"].append(time.perf_counter() - start)
        result["kilobytes"].append(usage.ru_maxrss)
json.dump(results, sys.stdout)
