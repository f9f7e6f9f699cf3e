#!/usr/bin/env bash
# All tests that need a GPU: usage tests/gpu/verify.sh OXIDNN [smoke|full]
#
# OXIDNN is the program, built anywhere. Every row of the GPU is compared with the reference on tensor-cores.txt, vectors.txt and the smoke or full list of every
# driver, the memory-bound drivers also on unaligned memory; graphs follow. If compute-sanitizer is installed, the first lines of each list run under memcheck
# and racecheck. The examples of the crate `oxidnn` run if they are in `examples` beside the program. Fails if a result is wrong or no row supports a problem.
set -u
oxidnn=$(realpath "$1") list=${2:-smoke}
cd "$(dirname "$0")/../.." || exit 2
export LD_LIBRARY_PATH=${LD_LIBRARY_PATH:-}:/usr/local/cuda/lib64
failed=0
check() { "$@" || { echo "FAILED: $*"; failed=1; }; }

for lines in tests/gpu/tensor-cores.txt tests/gpu/vectors.txt tests/inputs/*/"$list".txt; do
    echo "== $lines"
    check "$oxidnn" verify --engine gpu --jobs "$(nproc)" --brief --batch "$lines"
done
for driver in pool resampling lnorm bnorm gnorm softmax reduction eltwise binary concat reorder prelu sum shuffle lrn; do
    echo "== $driver, unaligned"
    check "$oxidnn" verify --engine gpu --unaligned --jobs "$(nproc)" --brief --batch "tests/inputs/$driver/smoke.txt"
done
echo "== graphs"
check "$oxidnn" graph --engine gpu --verify --batch tests/suites/graphs/small.txt
if command -v compute-sanitizer > /dev/null; then
    few=$(mktemp)
    for lines in tests/gpu/tensor-cores.txt tests/gpu/vectors.txt tests/inputs/*/smoke.txt; do
        head -n 8 "$lines" >> "$few"
    done
    for tool in memcheck racecheck; do
        echo "== $tool"
        check compute-sanitizer --tool "$tool" --error-exitcode 1 "$oxidnn" verify --engine gpu --brief --batch "$few"
    done
    rm -f "$few"
fi
for example in "gpu_many threads" "gpu_many shapes 1000000" "resnet50 check gpu"; do
    read -r name arguments <<< "$example"
    program=$(dirname "$oxidnn")/examples/$name
    [ -x "$program" ] || continue
    echo "== $example"
    # shellcheck disable=SC2086
    check "$program" $arguments
done
exit $failed
