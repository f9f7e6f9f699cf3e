#!/usr/bin/env bash
# Bad accesses and races under compute-sanitizer: usage [JOBS=4] tests/gpu/races.sh OXIDNN [SECONDS [LIST...]]
#
# Runs the lists (default: the smoke and regression lists of all drivers) under racecheck and memcheck within the given seconds (300), in parts of 12 lines, first the
# first part of every list, JOBS at a time. Prints the parts in which a tool finds something, and how many were clean and how many not finished. Fails if either tool
# finds something.
set -u
oxidnn=$(realpath "$1") end=$(($(date +%s) + ${2:-300})) parts=$(mktemp -d)
cd "$(dirname "$0")/../.." || exit 2
export LD_LIBRARY_PATH=${LD_LIBRARY_PATH:-}:/usr/local/cuda/lib64 oxidnn end
lists=("${@:3}")
[ ${#lists[@]} -gt 0 ] || lists=(tests/inputs/*/smoke.txt tests/inputs/*/regress.txt)
for i in "${!lists[@]}"; do
    split -l 12 -d -a 3 --additional-suffix="-$i" "${lists[$i]}" "$parts/"
done
check() {
    for tool in racecheck memcheck; do
        left=$((end - $(date +%s)))
        [ "$left" -gt 0 ] || { echo "unfinished"; continue; }
        timeout "$left" compute-sanitizer --tool "$tool" --error-exitcode 9 "$oxidnn" verify --engine gpu --jobs 1 --brief --batch "$1" > "$1.log" 2>&1
        case $? in
            0) echo "clean" ;;
            124) echo "unfinished" ;;
            *) echo "FAILED under $tool:"; cat "$1"; tail -n 20 "$1.log" ;;
        esac
    done
}
export -f check
find "$parts" -name '[0-9]*' | sort | xargs -P "${JOBS:-4}" -I{} bash -c 'check {}' > "$parts/found"
grep -v -x -e clean -e unfinished "$parts/found"
echo "$(grep -c -x clean "$parts/found") runs clean, $(grep -c -x unfinished "$parts/found") unfinished"
grep -q FAILED "$parts/found" && exit 1
rm -rf "$parts"
