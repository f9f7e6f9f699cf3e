"""One predictor in a process of its own: `worker.py MODEL FOLDER BATCH THREADS OUTPUT CHANNEL`.

Writes JSON lines to the file descriptor CHANNEL (standard output belongs to oneDNN's log): first which libdnnl.so.3 is loaded, after a pass
whose output is left in OUTPUT; then, for every number that comes in on standard input, the seconds of so many passes.
"""

import json
import os
import sys
import time
from pathlib import Path

import models


def predictor(name, folder, batch, threads):
    """The predictor with its input in place."""
    from paddle import inference

    file = folder / name / "model"
    config = inference.Config(f"{file}.{models.MODELS[name]}", f"{file}.pdiparams")
    config.disable_gpu()
    config.enable_onednn()
    config.set_cpu_math_library_num_threads(threads)
    config.disable_glog_info()
    made = inference.create_predictor(config)
    array, begins = models.inputs(name, batch)
    handle = made.get_input_handle(made.get_input_names()[0])
    handle.reshape(array.shape)
    handle.copy_from_cpu(array)
    if begins:
        handle.set_lod(begins)
    return made


def loaded():
    """The file of libdnnl.so.3 that this process has mapped."""
    maps = Path("/proc/self/maps").read_text().splitlines()
    return sorted({line.split()[-1] for line in maps if "libdnnl" in line})


def main():
    import numpy

    name, folder, batch, threads, output, channel = sys.argv[1:]
    channel = os.fdopen(int(channel), "w", buffering=1)
    made = predictor(name, Path(folder), int(batch), int(threads))
    made.run()
    numpy.save(output, made.get_output_handle(made.get_output_names()[0]).copy_to_cpu())
    print(json.dumps(loaded()), file=channel)
    for line in sys.stdin:
        seconds = []
        for _ in range(int(line)):
            begin = time.perf_counter()
            made.run()
            seconds.append(time.perf_counter() - begin)
        print(json.dumps(seconds), file=channel)


if __name__ == "__main__":
    main()
