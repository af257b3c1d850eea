#!/usr/bin/env python3
"""usage: plan.py POINTS [MESSAGES]: what MESSAGES (10,000,000,000) take on a cluster, from measured points (JSON lines of bench/cluster/run).

The model has three numbers: seconds to start, seconds of one core for each message, bytes shuffled for each message. They are fitted on the points of
the smaller sizes and on those with one executor; every other point is a check. If one is off by more than TOLERANCE, this says so and ends with 1:
then the plan is not worth reading."""

import json
import math
import sys

# How far a point may be from what the model says: the machine on which it is measured does other things besides.
TOLERANCE = 0.35

# A machine that one can rent: cores, dollars an hour, bytes a second of network, and of local disk.
CORES, PRICE, NETWORK, DISK = 16, 0.80, 1.25e9, 5e8

# Slots of the statistics, at most; word pairs of a message that no message before it had. The second is assumed, not measured: it decides only how
# full the slots are said to be, not the hours.
SLOTS, NEW_PAIRS = 2**32, 60


def fitted(points):
    """Seconds to start and seconds of a core for each message, by least squares of the relative error."""
    # seconds = start + each * n / executors, weighted by 1 / seconds
    sxx = sxy = sx = sy = s1 = 0.0
    for p in points:
        x, y, w = p["messages"] / p["executors"], p["seconds"], 1 / p["seconds"] ** 2
        s1, sx, sy, sxx, sxy = s1 + w, sx + w * x, sy + w * y, sxx + w * x * x, sxy + w * x * y
    each = (s1 * sxy - sx * sy) / (s1 * sxx - sx * sx)
    start = (sy - each * sx) / s1
    shuffle = sum(p["shuffle"] / p["messages"] for p in points) / len(points)
    return start, each, shuffle


def checked(points, model):
    """The table of points and whether the model holds for those it was not fitted on."""
    start, each, shuffle = model
    holds = True
    print("| messages | executors | seconds | model | shuffle MB | model | rows that differ |   |")
    print("|---|---|---|---|---|---|---|---|")
    for p in points:
        seconds, moved = start + each * p["messages"] / p["executors"], shuffle * p["messages"]
        off = max(abs(seconds / p["seconds"] - 1), abs(moved / p["shuffle"] - 1))
        holds &= p["fit"] or off <= TOLERANCE
        print(
            f"| {p['messages']:,} | {p['executors']} | {p['seconds']:.0f} | {seconds:.0f} | {p['shuffle'] / 1e6:,.0f} | {moved / 1e6:,.0f} "
            f"| {p['differ']} | {'fitted' if p['fit'] else f'check: off by {off:.0%}'} |"
        )
    return holds


def planned(messages, size, model):
    """What so many messages take, for several numbers of machines."""
    start, each, shuffle = model
    work, moved, mail = each * messages, shuffle * messages, size * messages
    print(f"\n{messages:,} messages of {size:,.0f} bytes: {mail / 1e12:,.1f} TB, {work / 3600:,.0f} hours of a core, {moved / 1e12:,.1f} TB shuffled")
    used = 1 - math.exp(-NEW_PAIRS * messages / SLOTS)
    print(f"slots of the statistics in use: {used:.0%} of {SLOTS:,}" + ("; no message can be told to be new by them" if used > 0.9 else ""))
    print("\n| machines | cores | hours | of them shuffling | dollars | dollars per million messages | disk for each machine |")
    print("|---|---|---|---|---|---|---|")
    for machines in (10, 30, 100, 300, 1000):
        # What is shuffled is written to a disk, sent unless it is for the same machine, and read.
        sent = moved / machines * (1 - 1 / machines) / NETWORK
        disk = 2 * moved / machines / DISK
        seconds = start + work / (machines * CORES) + sent + disk
        cost = seconds / 3600 * machines * PRICE
        print(
            f"| {machines:,} | {machines * CORES:,} | {seconds / 3600:,.1f} | {(sent + disk) / 3600:,.1f} | {cost:,.0f} "
            f"| {cost / (messages / 1e6):.2f} | {(moved + mail) / machines / 1e12:,.2f} TB |"
        )


def main(file, messages="10000000000"):
    with open(file, encoding="utf-8") as lines:
        points = [json.loads(line) for line in lines]
    single = {p["messages"]: p["seconds"] for p in points if p["executors"] == 0}
    points = [p for p in points if p["executors"] > 0]
    sizes = sorted({p["messages"] for p in points})
    if len(sizes) < 2:
        sys.exit("plan.py: points of two sizes are needed, better of three; run bench/cluster/run with more")
    for p in points:
        # The largest size is never fitted with more than one executor, a third size not at all.
        p["fit"] = p["messages"] == sizes[0] or (p["messages"] == sizes[1] and p["executors"] == 1)
    model = fitted([p for p in points if p["fit"]])
    print("one machine:", ", ".join(f"{n:,} messages in {s:.1f} s" for n, s in sorted(single.items())), "\n")
    holds = checked(points, model)
    print(f"\nmodel: {model[0]:.0f} s to start, {model[1] * 1e3:.2f} ms of a core and {model[2]:,.0f} bytes shuffled for each message")
    if not holds:
        sys.exit(f"plan.py: a point is off by more than {TOLERANCE:.0%}; the model does not hold, so there is no plan")
    planned(int(messages), sum(p["bytes"] / p["messages"] for p in points) / len(points), model)


main(*sys.argv[1:])
