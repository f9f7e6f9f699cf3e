#!/usr/bin/env bash
# Bad accesses and races under compute-sanitizer: usage tests/gpu/races.sh OXIDNN [SECONDS [LIST...]]
#
# Runs the lists (default: all regression lists) under memcheck and then racecheck within the given seconds (300); a list that does not end within its share is
# reported as unfinished. Fails if either tool finds something.
set -u
oxidnn=$(realpath "$1") seconds=${2:-300}
cd "$(dirname "$0")/../.." || exit 2
export LD_LIBRARY_PATH=${LD_LIBRARY_PATH:-}:/usr/local/cuda/lib64
lists=("${@:3}")
[ ${#lists[@]} -gt 0 ] || lists=(tests/inputs/*/regress.txt)
failed=0 left=$((2 * ${#lists[@]})) log=$(mktemp)
for tool in memcheck racecheck; do
    for lines in "${lists[@]}"; do
        share=$(((seconds - SECONDS) / left))
        left=$((left - 1))
        [ "$share" -gt 0 ] || { echo "no time for $tool: $lines"; continue; }
        timeout "$share" compute-sanitizer --tool "$tool" --error-exitcode 1 "$oxidnn" verify --engine gpu --brief --batch "$lines" > "$log" 2>&1
        case $? in
            0) echo "$tool, clean: $lines" ;;
            124) echo "$tool, unfinished in $share s: $lines" ;;
            *) echo "$tool, FAILED: $lines"; tail -n 20 "$log"; failed=1 ;;
        esac
    done
done
rm -f "$log"
exit $failed
