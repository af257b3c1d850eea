"""Who can decide about whom?

A message that holds a fact or a run of words that nobody else has is *new*: nothing can cover it, so it stays. The others are
*open*. What decides about an open message are the messages that have one of its sentences, that share a third of its fingerprints or more,
that have its attachments, or, if it has a few words only, that are in its conversation. Open messages that can decide about each
other are judged in one part; a new message stays in any case, and stands in every part where it can be asked.
"""

from heapq import nsmallest

from pyspark.sql import functions as F

SENTENCE, THING, THREAD = 0, 1, 2


def by_keys(reps, common, shown, partitions, checkpoint):
    """Pairs (asking, asked, asked is open) by sentences, things and conversations. A key that more than `common` messages have
    does not tie open messages together; the first `shown` that have it can be asked all the same."""

    def held(rep):
        rank, r = rep
        me = (rank, r["open"])
        keys = [(SENTENCE, s) for s in r["holds"]] + [(THING, t) for t in r["things"]]
        keys.append((THREAD, r["thread"]))
        return [(key, (1, (me,))) for key in keys]

    def asked(rep):
        rank, r = rep
        if not r["open"]:
            return []
        keys = [(SENTENCE, s) for s in r["asks"]] + [(THING, t) for t in r["things"]]
        if r["short"]:
            keys.append((THREAD, r["thread"]))
        return [(key, rank) for key in keys]

    def both(a, b):
        # No list grows longer than what is shown, however many messages have the key: no reducer has to hold them.
        return a[0] + b[0], tuple(nsmallest(shown, a[1] + b[1]))

    holders = reps.flatMap(held).reduceByKey(both, partitions).filter(lambda kv: kv[1][0] > 1)
    holders = checkpoint(holders)
    # Keys that very many ask for are few: they travel to whoever asks, instead of all who ask to one place.
    heavy = holders.context.broadcast(dict(holders.filter(lambda kv: kv[1][0] > 1000).collect()))
    asking = reps.flatMap(asked)
    light = holders.filter(lambda kv: kv[1][0] <= 1000)
    met = (
        asking.filter(lambda kv: kv[0] not in heavy.value)
        .join(light, partitions)
        .map(lambda kv: kv[1])
    )
    met = met.union(
        asking.filter(lambda kv: kv[0] in heavy.value).map(lambda kv: (kv[1], heavy.value[kv[0]]))
    )

    def pairs(one):
        a, (count, some) = one
        return [(a, b, is_open) for b, is_open in some if b != a and (not is_open or count <= common)]

    return met.flatMap(pairs)


def by_fingerprints(spark, reps, frequent, partitions):
    """Pairs (asking, asked) that share a third of the fingerprints of the first. Of n keys, shared or not, any n - least + 1 include one
    that both have: only the rarest are looked up. Keys that more than `frequent` messages have are not."""
    rows = reps.filter(lambda rep: not rep[1]["empty"]).map(
        lambda rep: (
            rep[0],
            rep[1]["fingerprints"],
            rep[1]["fingerprint_count"],
            rep[1]["open"] or not rep[1]["short"],
        )
    )
    schema = "rank long, keys array<long>, count int, asks boolean"
    all_keys = spark.createDataFrame(rows, schema).persist()
    single = all_keys.select("rank", "count", "asks", F.explode("keys").alias("key"))
    df = single.groupBy("key").count().where("count > 1").withColumnRenamed("count", "df")
    shared = single.join(df, "key").persist()
    asking = (
        shared.where("asks")
        .groupBy("rank", "count")
        .agg(F.sort_array(F.collect_list(F.struct("df", "key"))).alias("own"))
        .withColumn("least", F.greatest(F.lit(1), F.ceil(F.col("count") / 3)))
        .withColumn("needed", F.size("own") + 1 - F.col("least"))
        .where("needed > 0")
        .select("rank", "least", F.explode(F.slice("own", F.lit(1), F.col("needed").cast("int"))).alias("one"))
        .select(F.col("rank").alias("a"), "least", "one.key", "one.df")
        .where(F.col("df") <= frequent)
    )
    met = (
        asking.join(shared.where(F.col("df") <= frequent).select("key", F.col("rank").alias("b")), "key")
        .where("a != b")
        .select("a", "b", "least")
        .distinct()
    )
    mine = all_keys.select(F.col("rank").alias("a"), F.col("keys").alias("keys_a"))
    yours = all_keys.select(F.col("rank").alias("b"), F.col("keys").alias("keys_b"))
    near = (
        met.join(mine, "a")
        .join(yours, "b")
        .where(F.size(F.array_intersect("keys_a", "keys_b")) >= F.col("least"))
        .select("a", "b")
    )
    return near.rdd.map(lambda row: (row.a, row.b))
