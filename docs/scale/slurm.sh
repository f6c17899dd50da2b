#!/bin/sh
#SBATCH --job-name=tersor
#SBATCH --cpus-per-task=1
#SBATCH --mem=2G
#SBATCH --requeue
# A part for each task of an array, then what merges them, in a file system that all nodes share:
#   parts=$(sbatch --parsable --array=1-50 slurm.sh model.onnx samples/ parts/)
#   sbatch --dependency=afterok:$parts --cpus-per-task=8 --wrap 'tersor quantize model.onnx --stats parts/*.tstats --data samples/ -o model.int8.onnx'
# Where the second pass takes long, it can be shared as well, by tasks that all run at the same time:
#   srun --ntasks=8 --dependency=afterok:$parts sh -c 'tersor sweep model.onnx --stats parts/*.tstats --data samples/ \
#     --shard $((SLURM_PROCID + 1))/$SLURM_NTASKS --folder meet/ -o all.tstats'
# A file appears when it is complete, so a task that is killed and started again does no harm.
set -eu
model=$1 samples=$2 folder=$3
mkdir -p "$folder"
exec "${TERSOR:-tersor}" calibrate "$model" --data "$samples" --threads 1 \
  --shard "$SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT" -o "$folder/part$SLURM_ARRAY_TASK_ID.tstats"
