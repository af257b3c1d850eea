#!/usr/bin/env python3
"""usage: plan.py POINTS [MESSAGES]: what MESSAGES (10,000,000,000) take on a cluster, from measured points (JSON lines of bench/cluster/run).

The model: seconds to start, seconds of an executor's core for each message, and bytes shuffled for each message, which grow with the logarithm of how many there are. All are
fitted on the two larger sizes with one executor; every other point is a check. A host that has fewer cores than executors and a driver is overcommitted: such points are shown, and their bytes checked, not their seconds. If a check is off by more than TOLERANCE, this
says so and ends with 1: then the plan is not worth reading."""

import json
import math
import os
import sys

# How far a point may be from what the model says: the machine on which it is measured does other things besides.
TOLERANCE = 0.35

# A machine that one can rent: cores, dollars an hour, bytes a second of network, and of local disk.
CORES, PRICE, NETWORK, DISK = 16, 0.80, 1.25e9, 5e8

# Assumed, not measured: seconds in which a driver hands out one task; bytes of mail in one, at most.
HAND_OUT, TASK = 0.002, 128 << 20

# Slots of the statistics, at most; word pairs of a message that no message before it had (assumed). Where more slots are in use than FULL, too few messages
# are told to be new, and parts grow together: mail of more messages is judged in shares.
SLOTS, NEW_PAIRS, FULL = 2**32, 60, 0.8


def fitted(points, sizes):
    """Seconds to start, seconds of a core for each message, and bytes shuffled for each: what they are at first, and what every e-fold adds."""
    at = {p["messages"]: p for p in points if p["executors"] == 1}
    small, large = (at[size] for size in sizes[-2:])
    for p in points:
        p["fit"] = p is small or p is large
        p["overcommitted"] = p["executors"] + 1 > p.get("cores", os.cpu_count()) and p["executors"] > 1
    each = (large["seconds"] - small["seconds"]) / (large["messages"] - small["messages"])
    start = small["seconds"] - each * small["messages"]
    bytes_each = [p["shuffle"] / p["messages"] for p in (small, large)]
    growth = (bytes_each[1] - bytes_each[0]) / math.log(large["messages"] / small["messages"])
    return start, each, (bytes_each[0] - growth * math.log(small["messages"]), growth)


def shuffled(messages, model):
    """The bytes that so many messages shuffle."""
    first, growth = model[2]
    return messages * (first + growth * math.log(messages))


def checked(points, model):
    """The table of points and whether the model holds for those it was not fitted on."""
    start, each, _ = model
    holds = True
    print("| messages | executors | seconds | model | shuffle MB | model | rows that differ |   |")
    print("|---|---|---|---|---|---|---|---|")
    for p in points:
        seconds, moved = start + each * p["messages"] / p["executors"], shuffled(p["messages"], model)
        off = abs(moved / p["shuffle"] - 1)
        if not p["overcommitted"]:
            off = max(off, abs(seconds / p["seconds"] - 1))
        holds &= p["fit"] or off <= TOLERANCE
        how = "overcommitted; bytes" if p["overcommitted"] else "check:"
        print(
            f"| {p['messages']:,} | {p['executors']} | {p['seconds']:.0f} | {seconds:.0f} | {p['shuffle'] / 1e6:,.0f} | {moved / 1e6:,.0f} "
            f"| {p['differ']} | {'fitted' if p['fit'] else f'{how} off by {off:.0%}'} |"
        )
    return holds


def in_use(messages):
    """The share of slots that so many messages use."""
    return 1 - math.exp(-NEW_PAIRS * messages / SLOTS)


def planned(messages, size, stages, model):
    """What so many messages take, for several numbers of machines."""
    start, each, _ = model
    share = messages
    while in_use(share) > FULL:
        share /= 10
    shares = round(messages / share)
    work, moved, mail = each * messages, shares * shuffled(share, model), size * messages
    print(f"\n{messages:,} messages of {size:,.0f} bytes: {mail / 1e12:,.1f} TB, {work / 3600:,.0f} hours of a core, {moved / 1e12:,.1f} TB shuffled")
    print(f"judged in {shares:,} shares of {share:,.0f}, one after the other; {in_use(share):.0%} of {SLOTS:,} slots of the statistics in use")
    print("\n| machines | cores | hours | of them shuffling | of them the driver | dollars | dollars per million messages | disk for each machine |")
    print("|---|---|---|---|---|---|---|---|")
    for machines in (10, 30, 100, 300):
        # What is shuffled is written to a disk, sent unless it is for the same machine, and read.
        sent = moved / machines * (1 - 1 / machines) / NETWORK
        disk = 2 * moved / machines / DISK
        driver = shares * (start + stages * max(size * share / TASK, 2 * machines * CORES) * HAND_OUT)
        seconds = driver + work / (machines * CORES) + sent + disk
        cost = seconds / 3600 * machines * PRICE
        print(
            f"| {machines:,} | {machines * CORES:,} | {seconds / 3600:,.1f} | {(sent + disk) / 3600:,.1f} | {driver / 3600:,.1f} | {cost:,.0f} "
            f"| {cost / (messages / 1e6):.2f} | {(moved + mail) / shares / machines / 1e12:,.2f} TB |"
        )


def main(file, messages="10000000000"):
    with open(file, encoding="utf-8") as lines:
        points = [json.loads(line) for line in lines]
    single = {p["messages"]: p["seconds"] for p in points if p["executors"] == 0}
    points = [p for p in points if p["executors"] > 0]
    sizes = sorted({p["messages"] for p in points})
    if len(sizes) < 3:
        sys.exit("plan.py: points of three sizes are needed; run bench/cluster/run with more")
    model = fitted(points, sizes)
    print("one machine:", ", ".join(f"{n:,} messages in {s:.1f} s" for n, s in sorted(single.items())), "\n")
    holds = checked(points, model)
    print(
        f"\nmodel: {model[0]:.0f} s to start, {model[1] * 1e3:.2f} ms of a core and {shuffled(sizes[-1], model) / sizes[-1]:,.0f} bytes shuffled for each of "
        f"{sizes[-1]:,} messages, {model[2][1]:,.0f} more for every e-fold"
    )
    if not holds:
        sys.exit(f"plan.py: a point is off by more than {TOLERANCE:.0%}; the model does not hold, so there is no plan")
    largest = [p for p in points if p["messages"] == sizes[-1]]
    planned(int(messages), sum(p["bytes"] / p["messages"] for p in points) / len(points), largest[0]["stages"], model)


main(*sys.argv[1:])
