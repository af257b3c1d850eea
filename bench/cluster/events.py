#!/usr/bin/env python3
"""usage: events.py FOLDER: what Spark's event log says of a job, as one JSON line: seconds, and bytes written to shuffles.

Of the seconds those of the tasks are told apart: what runs in the program and in Python is a stage with `MapInArrow`."""

import json
import os
import sys


def events(folder):
    for top, _, names in os.walk(folder):
        for name in names:
            if name.startswith("."):
                continue
            with open(os.path.join(top, name), encoding="utf-8") as log:
                for line in log:
                    yield json.loads(line)


def main(folder):
    told = {"shuffle": 0, "task_seconds": 0.0, "tasks": 0, "jobs": 0, "stages": 0, "longest_task": 0.0}
    began = ended = None
    for event in events(folder):
        kind = event["Event"]
        if kind == "SparkListenerApplicationStart":
            began = event["Timestamp"]
        elif kind == "SparkListenerApplicationEnd":
            ended = event["Timestamp"]
        elif kind == "SparkListenerJobStart":
            told["jobs"] += 1
        elif kind == "SparkListenerStageCompleted":
            told["stages"] += 1
        elif kind == "SparkListenerTaskEnd" and event.get("Task Metrics"):
            metrics = event["Task Metrics"]
            seconds = metrics["Executor Run Time"] / 1000
            told["tasks"] += 1
            told["task_seconds"] += seconds
            told["longest_task"] = max(told["longest_task"], seconds)
            told["shuffle"] += metrics["Shuffle Write Metrics"]["Shuffle Bytes Written"]
    told["seconds"] = (ended - began) / 1000
    told["task_seconds"] = round(told["task_seconds"], 1)
    print(json.dumps(told))


main(*sys.argv[1:])
