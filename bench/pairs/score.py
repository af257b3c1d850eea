#!/usr/bin/env python3
"""One row of the table that bench/pairs/run prints.

usage: score.py NAME COUNT PLANTED.tsv PAIRS TIME

PAIRS is a CSV of `twicetold pairs`, or two ids a line. A pair counts as found if it is named, in whichever order.
"""
import csv
import sys


def found(path):
    with open(path, newline="") as lines:
        if lines.readline().startswith("schema,"):
            lines.seek(0)
            return {frozenset((row["a"], row["b"])) for row in csv.DictReader(lines)}
        lines.seek(0)
        return {frozenset(line.split()) for line in lines}


def main():
    name, count, planted, pairs, time = sys.argv[1:]
    pairs = found(pairs)
    with open(planted) as lines:
        truth = [(frozenset((a, b)), float(jaccard)) for a, b, jaccard in (line.split("\t") for line in lines)]
    near = [pair for pair, jaccard in truth if jaccard >= 0.8]
    recall = sum(pair in pairs for pair in near) / max(1, len(near))
    wall, user, system, memory = map(float, open(time).read().split()[-4:])
    print(
        f"| {name:10} | {int(count) / max(0.01, wall):8,.0f} | {wall:6.2f} s | {user + system:7.2f} s | {recall:7.4f} | {len(pairs):8,} | {memory / 1000:4.0f} MB |",
        flush=True,
    )


main()
