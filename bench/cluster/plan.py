#!/usr/bin/env python3
"""usage: plan.py POINTS [MESSAGES]: what MESSAGES (10,000,000,000) take on a cluster, from measured points (JSON lines of bench/cluster/run).

The model: seconds to start, and for each message seconds of an executor's core and bytes shuffled, both of which grow with the logarithm of how many there are; the largest part, which one process
judges, takes its share of what a scan of all would take. The curves go through the three larger sizes with one executor; every other point is a check. A host that has fewer cores than executors and a driver is overcommitted: such
points are shown, and their bytes checked, not their seconds. If a check is off by more than TOLERANCE, this says so and ends with 1: then the plan is not worth reading."""

import json
import math
import os
import sys

# How far a point may be from what the model says: the machine on which it is measured does other things besides.
TOLERANCE = 0.35

# A machine that one can rent: cores, bytes of memory for the program, dollars an hour, bytes a second of network, and of local disk.
CORES, MEMORY, PRICE, NETWORK, DISK = 16, 48e9, 0.80, 1.25e9, 5e8

# So many machines judge a share of the mail; a cluster of more judges several shares side by side.
SIDE = 10

# Assumed, not measured: seconds in which a driver hands out one task; bytes of mail in one, at most.
HAND_OUT, TASK = 0.002, 128 << 20

# Slots of the statistics, at most; word pairs of a message that no message before it had (assumed). Where more slots are in use than FULL, too few messages
# are told to be new, and parts grow together. Mail of more messages is judged in shares, and so is mail whose largest part has no room in the memory of a machine.
SLOTS, NEW_PAIRS, FULL = 2**32, 60, 0.8


def curve(at, what):
    """(a, b, c) of a + n (b + c ln n) through three points."""
    (n, x), (m, y), (o, z) = ((p["messages"], p[what]) for p in at)

    def slope(n, x, m, y):
        # (y - x) = b (m - n) + c (m ln m - n ln n), divided by m - n.
        return (y - x) / (m - n), (m * math.log(m) - n * math.log(n)) / (m - n)

    (first, bent), (second, bent_more) = slope(n, x, m, y), slope(m, y, o, z)
    c = (second - first) / (bent_more - bent)
    b = first - c * bent
    return x - n * (b + c * math.log(n)), b, c


def on(curve, messages, executors=1):
    """What the curve says of so many messages; what each of them takes is shared by the executors."""
    a, b, c = curve
    return a + messages * (b + c * math.log(messages)) / executors


def fitted(points, sizes):
    """The curves of seconds and of bytes shuffled."""
    at = {p["messages"]: p for p in points if p["executors"] == 1}
    three = [at[size] for size in sizes[-3:]]
    for p in points:
        p["fit"] = any(p is one for one in three)
        p["overcommitted"] = p["executors"] + 1 > p.get("cores", os.cpu_count()) and p["executors"] > 1
    return curve(three, "seconds"), curve(three, "shuffle")


def checked(points, model):
    """The table of points and whether the model holds for those it was not fitted on."""
    holds = True
    print("| messages | executors | seconds | model | shuffle MB | model | rows that differ |   |")
    print("|---|---|---|---|---|---|---|---|")
    for p in points:
        seconds, moved = on(model[0], p["messages"], p["executors"]), on(model[1], p["messages"])
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


def fits(share, single, fraction):
    """Whether so many messages can be judged together."""
    return in_use(share) <= FULL and fraction * share * single["memory"] / single["messages"] <= MEMORY


def planned(messages, size, stages, model, single, fraction):
    """What so many messages take, for several numbers of machines. `single` is the point of one machine, `fraction` the largest part's of all messages."""
    share = messages
    while not fits(share, single, fraction):
        share /= 10
    shares = round(messages / share)
    start = model[0][0]
    work, moved, mail = on(model[0], share) - start, on(model[1], share), size * share
    # The largest part of a share is judged by one process; it needs what a scan of so many messages needs.
    scanned = single["seconds"] * single["threads"] / single["messages"] / CORES
    largest = fraction * share * scanned
    tasks = max(mail / TASK, 2 * SIDE * CORES)
    # What is shuffled is written to a disk, sent unless it is for the same machine, and read.
    parts = {
        "start": start,
        "driver": stages * tasks * HAND_OUT,
        "tasks": work / (SIDE * CORES),
        "shuffle": moved / SIDE * ((1 - 1 / SIDE) / NETWORK + 2 / DISK),
        "largest part": largest,
    }
    seconds = sum(parts.values())
    print(
        f"\n{messages:,} messages of {size:,.0f} bytes: {shares * mail / 1e12:,.1f} TB, {shares * work / 3600:,.0f} hours of a core, {shares * moved / 1e12:,.1f} TB shuffled"
        f"\njudged in {shares:,} shares of {share:,.0f} by {SIDE} machines each, with {(moved + mail) / SIDE / 1e9:,.0f} GB of disk; {in_use(share):.0%} of {SLOTS:,} slots of the statistics in use; "
        f"the largest part has {fraction:.0%} of a share and takes {fraction * share * single['memory'] / single['messages'] / 1e9:,.0f} GB of memory"
        f"\na share: {seconds:,.0f} s, " + ", ".join(f"{name} {value:,.0f}" for name, value in parts.items())
    )
    # The same without a cluster: each share is brought to one machine and scanned there.
    alone = share * scanned + mail / NETWORK
    print("\n| machines | shares at a time | hours | dollars | dollars per million messages | hours, each share scanned by one machine | dollars |")
    print("|---|---|---|---|---|---|---|")
    for machines in (10, 30, 100, 300):
        hours = math.ceil(shares / (machines // SIDE)) * seconds / 3600
        scan = math.ceil(shares / machines) * alone / 3600
        cost, cheap = (taken * machines * PRICE for taken in (hours, scan))
        print(f"| {machines:,} | {machines // SIDE} | {hours:,.1f} | {cost:,.0f} | {cost / (messages / 1e6):.3f} | {scan:,.1f} | {cheap:,.0f} |")


def main(file, messages="10000000000"):
    with open(file, encoding="utf-8") as lines:
        points = [json.loads(line) for line in lines]
    single = {p["messages"]: p for p in points if p["executors"] == 0}
    points = [p for p in points if p["executors"] > 0]
    sizes = sorted({p["messages"] for p in points})
    if len(sizes) < 4:
        sys.exit("plan.py: points of four sizes are needed; run bench/cluster/run with more")
    model = fitted(points, sizes)
    print("one machine:", ", ".join(f"{n:,} messages in {p['seconds']:.1f} s" for n, p in sorted(single.items())), "\n")
    holds = checked(points, model)
    each = [(on(one, sizes[-1]) - one[0]) / sizes[-1] for one in model]
    print(
        f"\nmodel: {model[0][0]:.0f} s to start; for each of {sizes[-1]:,} messages {each[0] * 1e3:.2f} ms of a core and {each[1]:,.0f} bytes shuffled, "
        f"and {model[0][2] * 1e3:.2f} ms and {model[1][2]:,.0f} bytes more for every e-fold"
    )
    if not holds:
        sys.exit(f"plan.py: a point is off by more than {TOLERANCE:.0%}; the model does not hold, so there is no plan")
    last = next(p for p in points if p["messages"] == sizes[-1])
    size = sum(p["bytes"] / p["messages"] for p in points) / len(points)
    planned(int(messages), size, last["stages"], model, single[sizes[-1]], last["largest"] / last["messages"])


main(*sys.argv[1:])
