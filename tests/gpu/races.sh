#!/usr/bin/env bash
# Races in the regress lists of all drivers under compute-sanitizer: usage tests/gpu/races.sh OXIDNN [SECONDS]
#
# Lists take turns until the seconds (300) are over; a list that does not end in its share is said to be unfinished. Fails where there is a race.
set -u
oxidnn=$(realpath "$1") seconds=${2:-300}
cd "$(dirname "$0")/../.." || exit 2
export LD_LIBRARY_PATH=${LD_LIBRARY_PATH:-}:/usr/local/cuda/lib64
lists=(tests/inputs/*/regress.txt)
failed=0 left=${#lists[@]}
for lines in "${lists[@]}"; do
    share=$(((seconds - SECONDS) / left))
    left=$((left - 1))
    [ "$share" -gt 0 ] || { echo "no time: $lines"; continue; }
    timeout "$share" compute-sanitizer --tool racecheck --error-exitcode 1 "$oxidnn" verify --engine gpu --brief --batch "$lines" > /tmp/races.$$ 2>&1
    case $? in
        0) echo "clean: $lines" ;;
        124) echo "unfinished in $share s: $lines" ;;
        *) echo "FAILED: $lines"; tail -n 20 /tmp/races.$$; failed=1 ;;
    esac
done
rm -f /tmp/races.$$
exit $failed
