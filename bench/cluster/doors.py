#!/usr/bin/env python3
"""usage: doors.py PROGRAM FOLDER: one and the same step, the outlines of all messages of a folder and the sum of their fingerprints, once with
`rdd.pipe` and JSON lines, once with `mapInArrow`, in the same session, each three times. Run by the Python of target/spark-venv."""

import base64
import json
import os
import sys
import time

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(here, "../../crates/cli/src/commands/cluster/spark"))

from pyspark.sql import SparkSession  # noqa: E402
from pyspark.sql import functions as F  # noqa: E402

import door  # noqa: E402
import reading  # noqa: E402


def main(program, folder):
    os.environ["PYSPARK_PYTHON"] = sys.executable
    spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    spark.sparkContext.addPyFile(door.__file__)
    version = os.popen(f"{program} --version").read().strip()
    settings = {"executor_binary": program, "version": version}
    files = [os.path.join(top, name) for top, _, names in os.walk(folder) for name in names]
    mails = [(file, bytearray(open(file, "rb").read())) for file in files]
    mails = spark.createDataFrame(mails, "id string, message binary").repartition(4).persist()
    count = mails.count()
    columns = [name for name in reading.COLUMNS if name != "message"]
    schema = ", ".join(f"`{name}` {reading.COLUMNS[name]}" for name in columns)
    total = F.sum(F.size("fingerprints"))

    def piped():
        lines = mails.rdd.map(lambda row: json.dumps({"id": row.id, "message": base64.b64encode(row.message).decode()}))
        rows = lines.pipe(f"{program} sketch --quiet --for scan --threads 1 -")
        return spark.read.schema(schema).json(rows).agg(total).first()[0]

    def mapped():
        arguments = ["sketch", "--quiet", "--for", "scan", "--format", "arrow", "--threads", "1", "-"]
        return mails.mapInArrow(door.through(settings, arguments, columns), schema).agg(total).first()[0]

    best = {}
    for _ in range(3):
        for step in (piped, mapped):
            began = time.time()
            found = step()
            best[step.__name__] = min(best.get(step.__name__, (1e9, 0)), (time.time() - began, found))
    assert best["piped"][1] == best["mapped"][1], best
    print(f"{count} messages: rdd.pipe {best['piped'][0]:.1f} s, mapInArrow {best['mapped'][0]:.1f} s, ratio {best['piped'][0] / best['mapped'][0]:.1f}")
    spark.stop()


main(*sys.argv[1:])
