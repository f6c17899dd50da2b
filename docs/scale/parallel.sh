#!/bin/sh
# parallel.sh MODEL.onnx SAMPLES OUT.onnx PARTS [OPTIONS OF parallel]: a process for each part, by GNU parallel.
# On several machines: --sshloginfile machines.txt --workdir . with model, samples and this folder in a file system that all share.
# TERSOR: the program, where it is not in the path.
set -eu
model=$1 samples=$2 out=$3 parts=$4
shift 4
tersor=${TERSOR:-tersor}
folder=$(mktemp -d ./tersor-parts-XXXXXX)
trap 'rm -rf "$folder"' EXIT
seq "$parts" | parallel --halt now,fail=1 --retries 3 "$@" \
  "'$tersor' calibrate '$model' --data '$samples' --threads 1 --shard {}/$parts -o '$folder/part{}.tstats' --json > /dev/null"
"$tersor" quantize "$model" --stats "$folder"/part*.tstats --data "$samples" -o "$out"
