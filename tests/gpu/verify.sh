#!/usr/bin/env bash
# Everything that a GPU is needed for, in one command: usage tests/gpu/verify.sh OXIDNN [smoke|full]
#
# OXIDNN is the program, built anywhere. Every row of the GPU runs every problem line and is compared with the reference; the lines of the rows on
# tensor cores too, and these and some of each family once more under compute-sanitizer, where it is there. Fails where a row is wrong. What no row takes
# yet (ARCHITECTURE.md names it) is reported as failed lines of `matmul`; of recurrent networks only those that have a row are run.
set -u
oxidnn=$(realpath "$1") list=${2:-smoke}
cd "$(dirname "$0")/../.." || exit 2
export LD_LIBRARY_PATH=${LD_LIBRARY_PATH:-}:/usr/local/cuda/lib64
failed=0
check() { "$@" || { echo "FAILED: $*"; failed=1; }; }

forward=$(mktemp)
grep -v '^#' "tests/inputs/rnn/$list.txt" | grep -v 'BWD\|u8\|s8\|skip\|linear' > "$forward"
for lines in tests/gpu/tensor-cores.txt tests/gpu/vectors.txt "$forward" tests/inputs/*/"$list".txt; do
    case $lines in */rnn/*) continue ;; esac
    echo "== $lines"
    check "$oxidnn" verify --engine gpu --jobs "$(nproc)" --brief --batch "$lines"
done
if command -v compute-sanitizer > /dev/null; then
    few=$(mktemp)
    for lines in tests/gpu/tensor-cores.txt tests/gpu/vectors.txt tests/inputs/*/smoke.txt; do
        case $lines in */rnn/* | */matmul/*) continue ;; esac
        head -n 8 "$lines" >> "$few"
    done
    for tool in memcheck racecheck; do
        echo "== $tool"
        check compute-sanitizer --tool "$tool" --error-exitcode 1 "$oxidnn" verify --engine gpu --brief --batch "$few"
    done
    rm -f "$few"
fi
rm -f "$forward"
exit $failed
