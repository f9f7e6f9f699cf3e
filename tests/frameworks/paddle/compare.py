"""PaddlePaddle on its own oneDNN and on another libdnnl.so.3, in turns: `compare.py --library FILE`.

A private copy of the package, of hard links, gets the library in the place of its own; nothing else differs. Every model runs on both in processes of
their own. Outputs, implementations in oneDNN's log and times are compared; the exit code is 1 if anything is not as it should be.
"""

import argparse
import importlib.util
import itertools
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import models

HERE = Path(__file__).resolve().parent

# Largest difference of two outputs, as a share of the largest output: f32 sums in another order, through 50 layers.
TOLERANCE = 1e-4
# Times above the other's by less than this are noise.
NOISE = 0.02
# Passes before anything is measured, starts of either library, and turns of each in a start: where the system puts a process's memory makes some
# passes a third slower until it ends.
WARM = 5
STARTS = 3
TURNS = 4
# Seconds of a turn, and of silence before it: OpenMP's threads of the other process look for work for 0.2 seconds.
TURN = 0.4
SILENCE = 0.25
# What asks our library for asynchronous streams.
ASYNCHRONOUS = {"OXIDNN_ASYNCHRONOUS_STREAMS": "1"}
# Implementations that bear the same name in both libraries.
SHARED = {"ref:any"}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", type=Path, required=True, help="the libdnnl.so.3 to put in the place of Paddle's")
    parser.add_argument("--work", type=Path, default=HERE.parents[2] / "target" / "paddle", help="folder for models and the copy")
    parser.add_argument("--models", nargs="+", choices=models.MODELS, default=list(models.MODELS))
    parser.add_argument("--batches", nargs="+", type=int, default=[1, 8])
    parser.add_argument("--threads", nargs="+", type=int, default=[1, 2])
    parser.add_argument("--starts", type=int, default=STARTS, help="processes of each library")
    parser.add_argument("--turns", type=int, default=TURNS, help="turns of each process")
    parser.add_argument("--no-times", action="store_true", help="compare outputs and implementations only")
    parser.add_argument("--asynchronous", action="store_true", help="run ours on asynchronous streams; outputs are to be those of synchronous ones, bit for bit")
    parser.add_argument("--profile", action="store_true", help="print the time of each kind of primitive in both libraries")
    parser.add_argument("--json", action="store_true", help="print one JSON object a configuration")
    return parser.parse_args()


def link_tree(source, target):
    """A copy of the folder `source` made of hard links, or of copies on another file system."""

    def link(a, b):
        try:
            os.link(a, b)
        except OSError:
            shutil.copy2(a, b)

    shutil.copytree(source, target, copy_function=link, ignore=shutil.ignore_patterns("include", "__pycache__"))


def private_copy(package, library, work):
    """A folder to import Paddle from that has `library` for its oneDNN."""
    root = work / "copy"
    if root.exists():
        shutil.rmtree(root)
    root.mkdir(parents=True)
    link_tree(package, root / "paddle")
    replaced = root / "paddle" / "libs" / "libdnnl.so.3"
    replaced.unlink()
    shutil.copyfile(library, replaced)
    return root


class Side:
    """A process that runs one model with one library: a folder to import Paddle from, and settings of the environment."""

    def __init__(self, name, library, config, work, verbose=False):
        path, settings = library
        self.name = name
        self.log = work / f"{name}.log"
        self.output = work / f"{name}.npy"
        self.output.unlink(missing_ok=True)
        environment = {k: v for k, v in os.environ.items() if not re.match(r"(ONEDNN|DNNL|OXIDNN|OMP|KMP)_", k)}
        environment["PYTHONPATH"] = str(path) if path else ""
        environment |= settings
        if verbose:
            environment["ONEDNN_VERBOSE"] = "1"
        model, batch, threads = config
        mine, its = os.pipe()
        words = [sys.executable, HERE / "worker.py", model, work / "models", batch, threads, self.output, its]
        with open(self.log, "w") as log:
            self.process = subprocess.Popen(
                [str(w) for w in words], stdin=subprocess.PIPE, stdout=log, stderr=log, text=True, env=environment, pass_fds=[its]
            )
        os.close(its)
        self.answers = os.fdopen(mine)
        self.libraries = self.answer()

    def answer(self):
        line = self.answers.readline()
        if not line:
            code = self.process.wait()
            last = "\n".join(self.log.read_text(errors="replace").splitlines()[-20:])
            raise RuntimeError(f"Paddle with {self.name} ended with {code}:\n{last}")
        return json.loads(line)

    def passes(self, count):
        """The seconds of `count` passes."""
        self.process.stdin.write(f"{count}\n")
        self.process.stdin.flush()
        return self.answer()

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.answers.close()


def lines(log):
    """Kind, implementation and milliseconds of every execution in a log of oneDNN."""
    for line in log.read_text(errors="replace").splitlines():
        fields = line.split(",")
        if fields[0] == "onednn_verbose" and "exec" in fields[:5]:
            at = fields.index("exec")
            yield fields[at + 2], fields[at + 3], float(fields[-1])


def difference(ours, theirs):
    """The largest difference of two outputs as a share of the largest number; infinite where they cannot be compared."""
    import numpy

    a, b = (numpy.load(side.output).astype("float64") for side in (ours, theirs))
    if a.shape != b.shape or not numpy.isfinite(a).all() or not b.any():
        return float("inf")
    return float(abs(a - b).max() / abs(b).max())


def logged(libraries, config, work):
    """The difference of outputs, the implementations that each side logs, and what is wrong with either."""
    sides, wrong = [], []
    for name, library in libraries.items():
        side = Side(name, library, config, work, verbose=True)
        side.passes(1)
        side.close()
        sides.append(side)
    found = difference(*sides)
    if not found <= TOLERANCE:
        wrong.append(f"outputs differ by {found:.1e} of the largest, more than {TOLERANCE:.0e}")
    ours, theirs = (Counter(line[1] for line in lines(side.log)) for side in sides)
    if not any(str(libraries["ours"][0]) in file for file in sides[0].libraries):
        wrong.append(f"the library is not the one in use: {sides[0].libraries}")
    if not ours - Counter({name: ours[name] for name in SHARED}):
        wrong.append("no line of the log names an implementation of ours")
    if common := set(ours) & set(theirs) - SHARED:
        wrong.append(f"implementations of the other library in the log: {', '.join(sorted(common))}")
    return found, {"ours": ours, "theirs": theirs}, wrong


def unordered(libraries, config, work):
    """What is wrong where our library computes on asynchronous streams."""
    import numpy

    path, _ = libraries["ours"]
    sides = [Side(name, (path, settings), config, work) for name, settings in (("synchronous", {}), ("asynchronous", ASYNCHRONOUS))]
    for side in sides:
        side.passes(WARM)
        side.close()
    one, other = (numpy.load(side.output) for side in sides)
    return [] if one.tobytes() == other.tobytes() else ["outputs on an asynchronous stream are others than on a synchronous one"]


def started(libraries, config, work, turns):
    """The median seconds of a pass of a process of each side, in turns."""
    sides = {name: Side(name, library, config, work) for name, library in libraries.items()}
    seconds = {name: [] for name in sides}
    counts = {}
    for name, side in sides.items():
        time.sleep(SILENCE)
        counts[name] = max(2, int(TURN / statistics.median(side.passes(WARM))))
    for _ in range(turns):
        for name, side in sides.items():
            time.sleep(SILENCE)
            seconds[name] += side.passes(counts[name])
    for side in sides.values():
        side.close()
    return {name: statistics.median(all_of) for name, all_of in seconds.items()}


def timed(libraries, config, work, options):
    """The median seconds of a pass of each side, over several starts."""
    starts = [started(libraries, config, work, options.turns) for _ in range(options.starts)]
    return {name: statistics.median(start[name] for start in starts) for name in libraries}


def profile(libraries, config, work):
    """Milliseconds of a pass by kind of primitive, of each side."""
    table = {}
    for name, library in libraries.items():
        side = Side(name, library, config, work, verbose=True)
        side.passes(WARM)
        warm = len(list(lines(side.log)))
        side.passes(WARM)
        side.close()
        for kind, _, ms in itertools.islice(lines(side.log), warm, None):
            table.setdefault(kind, Counter())[name] += ms / WARM
    return table


def compare(libraries, config, options):
    """Everything about one configuration."""
    work = options.work
    model, batch, threads = config
    row = {"model": model, "batch": batch, "threads": threads}
    try:
        row["difference"], row["lines"], wrong = logged(libraries, config, work)
        if options.asynchronous:
            wrong += unordered(libraries, config, work)
        if not options.no_times:
            times = timed(libraries, config, work, options)
            row |= {f"{name}_ms": 1e3 * seconds for name, seconds in times.items()}
            row["ratio"] = times["theirs"] / times["ours"]
            if times["ours"] > times["theirs"] * (1 + NOISE):
                wrong.append(f"slower: {row['ours_ms']:.2f} ms, {row['theirs_ms']:.2f} ms with Paddle's own")
        if options.profile:
            row["profile"] = profile(libraries, config, work)
    except RuntimeError as e:
        wrong = [str(e)]
    row["wrong"] = wrong
    return row


def show(row):
    """Prints a row of the table, and what is wrong."""
    counts = row.get("lines", {"ours": {}})["ours"]
    cells = [row.get("ours_ms"), row.get("theirs_ms"), row.get("ratio")]
    cells = "".join(f"{c:>10.2f}" if c is not None else f"{'-':>10}" for c in cells)
    found = ", ".join(f"{name} {n}" for name, n in sorted(counts.items(), key=lambda item: -item[1]))
    print(f"{row['model']:<12}{row['batch']:>6}{row['threads']:>8}{cells}{row.get('difference', float('nan')):>11.1e}  {found}")
    for kind, ms in sorted(row.get("profile", {}).items(), key=lambda item: -item[1]["theirs"]):
        print(f"{'':>12}{kind:<24}{ms['ours']:>10.3f}{ms['theirs']:>10.3f}")
    for what in row["wrong"]:
        print(f"    WRONG: {what}")
    sys.stdout.flush()


def main():
    options = arguments()
    options.work = options.work.resolve()
    options.work.mkdir(parents=True, exist_ok=True)
    package = Path(importlib.util.find_spec("paddle").origin).parent
    settings = ASYNCHRONOUS if options.asynchronous else {}
    libraries = {"ours": (private_copy(package, options.library.resolve(), options.work), settings), "theirs": (None, {})}
    for name in options.models:
        if not (options.work / "models" / name).exists():
            words = [sys.executable, HERE / "models.py", name, options.work / "models"]
            subprocess.run([str(w) for w in words], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    if not options.json:
        print(f"{'model':<12}{'batch':>6}{'threads':>8}{'ours ms':>10}{'theirs':>10}{'ratio':>10}{'difference':>11}  our lines in the log")
    rows = []
    for model in options.models:
        for batch in options.batches:
            for threads in options.threads:
                rows.append(compare(libraries, (model, batch, threads), options))
                if options.json:
                    print(json.dumps(rows[-1]), flush=True)
                else:
                    show(rows[-1])
    sys.exit(any(row["wrong"] for row in rows))


if __name__ == "__main__":
    main()
