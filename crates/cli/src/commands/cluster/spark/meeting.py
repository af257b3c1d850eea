"""Who meets whom: the walks that `twicetold pairs` makes through its index, made by joins.

Of two texts the one with fewer keys asks. Of its n keys that others have, the n - least + 1 rarest include one that a partner has; two more lists are walked, and
who is met three times is compared. A walk ends after some thousands of entries (`walk`). For that every holder of a key has to know its
position in the list of the key: then a text knows which stretches of which lists it walks, and asks for nothing else.

Lists are kept in blocks, and a block is asked for by the texts that stand before it, not farther away than a walk is long. So no task gets more than
`walk + BLOCK` questions about a block, however common its key is.
"""

from itertools import combinations
from math import comb

from pyspark.sql import Window
from pyspark.sql import functions as F

# So many holders of a key are one block.
BLOCK = 1024
# The holders of a key that more texts have are numbered by a sort over all executors; those of others by one task.
HEAVY = "spark.twicetold.heavy", "20000"
# Lists that are walked beyond those that must be.
EXTRA = 2
# Behind everything else.
LAST = (1 << 31) - 1


def heavy_from(job):
    """From how many texts on a key, or a class of equal texts, is spread over tasks."""
    return int(job.context.getConf().get(*HEAVY))


def positions(job, entries, most_entries, by, order):
    """The entries of keys that several have, with the length of the list (`len`) and the place in it (`pos`). There are at most `most_entries`."""
    heavy = []
    if most_entries > heavy_from(job):
        entries = job.keep(entries)
        heavy = entries.groupBy(*by).count().where(F.col("count") > heavy_from(job)).collect()
    within = Window.partitionBy(*by)
    light = entries
    if heavy:
        known = job.spark.createDataFrame(heavy)
        light = entries.join(F.broadcast(known.drop("count")), by, "left_anti")
    light = light.withColumns(
        {
            "len": F.count(F.lit(1)).over(within),
            "pos": F.row_number().over(within.orderBy(*order)).cast("long") - 1,
        }
    ).where("len > 1")
    if not heavy:
        return light
    spread = entries.join(F.broadcast(known), by).repartitionByRange(job.partitions, *by, *order)
    spread = job.keep(spread.sortWithinPartitions(*by, *order).withColumn("at", F.monotonically_increasing_id()))
    part = F.shiftright("at", 33)
    before, offsets = 0, []
    for row in spread.groupBy(part.alias("part")).count().orderBy("part").collect():
        offsets.append((row["part"], before))
        before += row["count"]
    offsets = job.spark.createDataFrame(offsets, "part long, before long")
    spread = spread.withColumn("part", part).join(F.broadcast(offsets), "part")
    spread = spread.withColumn("at", F.col("at") - F.shiftleft("part", 33) + F.col("before"))
    starts = spread.groupBy(*by).agg(F.min("at").alias("start"))
    spread = spread.join(F.broadcast(starts), by)
    spread = spread.withColumn("pos", F.col("at") - F.col("start")).withColumnRenamed("count", "len")
    return light.unionByName(spread.select(light.columns))


def may_pair(two):
    """Whether two texts may be a pair: always, or if they can come from different sides."""
    if not two:
        return F.lit(True)
    asker, other = F.col("asker_sides"), F.col("other_sides")

    def crosses(a, b):
        return (a.bitwiseAND(1) > 0) & (b.bitwiseAND(2) > 0)

    return crosses(asker, other) | crosses(other, asker)


def by_blocks(asking, holders, on):
    """Texts that ask for the stretch `start` to `stop` of a list, with who stands there. The list is named by `on`."""
    blocks = F.sequence(F.floor(F.col("start") / BLOCK), F.floor(F.col("stop") / BLOCK))
    asking = asking.withColumn("block", F.explode(blocks))
    holders = holders.withColumn("block", F.floor(F.col("pos") / BLOCK))
    return asking.join(holders, on + ["block"]).where("pos between start and stop")


def by_keys(job, reps, most_entries):
    """Candidates by shared keys, and who asks: method, asker, what, rn, pos, number, keys, body. By rn and pos they stand in the order of the walk."""
    settings = job.settings
    most, walk = settings["most"], settings["walk"]
    entries = reps.select("method", "c", "least", "sides", F.size("keys").alias("m"), F.explode("keys").alias("key"))
    # Keys are numbers without a sign, and so is their order.
    entries = entries.withColumn("k", F.col("key").bitwiseXOR(F.lit(-(1 << 63)))).drop("key")
    shared = job.keep(positions(job, entries, most_entries, ["method", "k"], ["m", "c"]))
    own = Window.partitionBy("method", "c")
    rare_first = own.orderBy("len", "k")
    mine = shared.withColumns({"rn": F.row_number().over(rare_first), "n": F.count(F.lit(1)).over(own)})
    mine = mine.withColumn("needed", F.col("n") + 1 - F.col("least")).where("needed > 0")
    mine = mine.withColumn("walked", F.least(F.col("needed") + EXTRA, F.col("n"))).where("rn <= walked")
    mine = mine.withColumn("above", F.col("len") - 1 - F.col("pos"))
    before = F.sum("above").over(rare_first.rowsBetween(Window.unboundedPreceding, -1))
    mine = mine.withColumns({"before": F.coalesce(before, F.lit(0)), "all": F.sum("above").over(own)})
    take, stopped = F.col("above"), F.lit(False)
    if most:
        take = F.least(take, F.greatest(F.lit(walk) - F.col("before"), F.lit(0)))
        stopped = F.col("all") > walk
    mine = mine.where("above > 0").select(
        "method",
        F.col("c").alias("asker"),
        F.col("sides").alias("asker_sides"),
        "k",
        "rn",
        (F.col("walked") - F.col("needed") + 1).cast("int").alias("meetings"),
        stopped.alias("stopped"),
        # If its walk is stopped, a text is compared with the last holder of its commonest key as well.
        F.explode(
            F.array(
                F.struct((F.col("pos") + 1).alias("start"), (F.col("pos") + take).alias("stop"), F.lit(False).alias("tie")),
                F.when(
                    (F.col("rn") == F.col("walked")) & (F.col("all") > most) & F.lit(most > 0),
                    F.struct((F.col("len") - 1).alias("start"), (F.col("len") - 1).alias("stop"), F.lit(True).alias("tie")),
                ),
            )
        ).alias("stretch"),
    )
    asking = mine.where("stretch.stop >= stretch.start").select(*[c for c in mine.columns if c != "stretch"], "stretch.*")
    holders = shared.select("method", "k", "pos", F.col("c").alias("other"), F.col("sides").alias("other_sides"))
    met = by_blocks(asking, holders, ["method", "k"]).where(may_pair(settings["two"]))
    seen = (
        met.select("method", "asker", "other", "tie", "rn", "pos", "meetings", "stopped")
        .repartition(job.partitions, "method", "asker")
        .groupBy("method", "asker", "other", "tie")
        .agg(
            F.sort_array(F.collect_list(F.struct("rn", "pos"))).alias("seen"),
            F.max("meetings").alias("meetings"),
            F.max("stopped").alias("stopped"),
        )
        .where("tie or size(seen) >= meetings")
        .withColumn("place", F.expr("get(seen, meetings - 1)"))
    )
    candidates = seen.select(
        "method",
        "asker",
        F.when(F.col("tie"), 2).otherwise(1).alias("what"),
        F.when(F.col("tie"), LAST).otherwise(F.col("place.rn")).alias("rn"),
        F.when(F.col("tie"), 0).otherwise(F.col("place.pos")).alias("pos"),
        F.col("other").alias("number"),
        "stopped",
    )
    candidates = job.keep(candidates)
    asks = candidates.groupBy("method", "asker").agg(F.max("stopped").alias("stopped"))
    asks = asks.selectExpr("method", "asker", "if(stopped, 3, 0) as what", "-1 as rn", "0L as pos", "asker as number", "stopped")
    sketches = reps.select("method", F.col("c").alias("number"), "keys", "body")
    return candidates.unionByName(asks).drop("stopped").join(sketches, ["method", "number"])


def masks(distance, count):
    """Bits to look up so that two of `count` hashes that differ in at most `distance` bits agree in all bits of one mask, with as little work as possible.

    Of b blocks of bits, `distance` differing bits leave b - distance untouched: every choice of so many blocks is a mask."""
    best, least = [0], count * count / 2
    for blocks in range(distance + 1, 33):
        choices = comb(blocks, distance)
        if choices > 128:
            break
        cuts = [i * 64 // blocks for i in range(blocks + 1)]
        pieces = [(1 << cuts[i + 1]) - (1 << cuts[i]) for i in range(blocks)]
        found = [sum(some) for some in combinations(pieces, blocks - distance)]
        bits = min(bin(mask).count("1") for mask in found)
        work = choices * (count + count * count / 2 ** (bits + 1))
        if work < least:
            best, least = found, work
    return best


def by_bits(job, reps, distances, count):
    """The same by hashes that differ in few bits, nearest first; `distances` says for each method how few. There are at most `count` texts."""
    most = job.settings["most"]
    found = []
    for method, distance in distances.items():
        for number, mask in enumerate(masks(distance, count)):
            found.append((method, distance, number, mask - (1 << 64) if mask >> 63 else mask))
    most_entries = count * len(found)
    found = F.broadcast(job.spark.createDataFrame(found, "method int, distance int, j int, mask long"))
    entries = reps.select("method", "c", "sides", F.col("keys")[0].alias("hash")).join(found, "method")
    entries = entries.withColumn("v", F.col("hash").bitwiseAND(F.col("mask"))).drop("mask")
    shared = job.keep(positions(job, entries, most_entries, ["method", "j", "v"], ["c"]))
    asking = shared.where("pos + 1 < len").select(
        "method",
        "j",
        "v",
        F.col("c").alias("asker"),
        F.col("sides").alias("asker_sides"),
        F.col("hash").alias("asker_hash"),
        (F.col("pos") + 1).alias("start"),
        (F.col("len") - 1).alias("stop"),
        "distance",
    )
    others = [F.col("c").alias("other"), F.col("sides").alias("other_sides"), "hash"]
    holders = shared.select("method", "j", "v", "pos", *others)
    bits = F.bit_count(F.col("asker_hash").bitwiseXOR(F.col("hash"))).cast("int")
    met = by_blocks(asking, holders, ["method", "j", "v"]).withColumn("bits", bits).where("bits <= distance")
    met = met.where(may_pair(job.settings["two"]))
    met = met.repartition(job.partitions, "method", "asker").groupBy("method", "asker", "other")
    met = met.agg(F.min("bits").alias("bits"), F.min("hash").alias("hash"), F.min("asker_hash").alias("asker_hash"))
    if most:
        nearest = Window.partitionBy("method", "asker").orderBy("bits", "other")
        # One more than is listed, so that it is known that there are more.
        met = met.withColumn("n", F.row_number().over(nearest)).where(F.col("n") <= most + 1)
    met = job.keep(met)
    rows = met.selectExpr("method", "asker", "1 as what", "bits as rn", "other as pos", "other as number", "hash")
    asks = met.groupBy("method", "asker").agg(F.min("asker_hash").alias("hash"))
    asks = asks.selectExpr("method", "asker", "0 as what", "-1 as rn", "0L as pos", "asker as number", "hash")
    rows = rows.unionByName(asks).withColumn("keys", F.array("hash")).withColumn("body", F.lit(b""))
    return rows.drop("hash")
