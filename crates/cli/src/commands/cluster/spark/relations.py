"""Who can decide about whom?

A message that holds a fact or a run of words that nobody else has is *new*: nothing can cover it, so it stays. The others are
*open*. What decides about an open message are the messages that have one of its sentences, that are near it by their fingerprints,
that have its attachments, or, if it has a few words only, that are in its conversation. Open messages that can decide about each
other are judged in one part; a new message stays in any case, and stands in every part where it can be asked.

A scan looks at the same messages, by the same rules (`Reach` in the program, `reach` here): what a few messages have leads to all of
them, what many have leads to few of them. So a part is told whom it sees, and its verdicts are those of a scan.

Everything here is a DataFrame of numbers. Of each key no more than the first so many messages that have it are kept, before anything is
sent (Spark limits groups on the map side): no reducer holds a list that grows with the mail. Keys that the same messages have are taken
together, so that a passage of thirty sentences costs as much as one sentence.
"""

from pyspark.sql import Window
from pyspark.sql import functions as F

SENTENCE, THING, THREAD = 0, 1, 2


def _nth(held, keys, most):
    """The first `most` messages of the walk for each key, with their places there, from 1 on."""
    nth = F.row_number().over(Window.partitionBy(*keys).orderBy("rank"))
    return held.withColumn("nth", nth).where(F.col("nth") <= most)


def by_keys(reps, reach, settle):
    """Who asks whom by sentences, things and conversations: pairs (a asks, b is asked, b is open), as many as it takes to know which messages are in one
    part and which are asked there; and marks (rank, common, leading): the keys a message asks for that more than a few have, and those
    that lead to it all the same."""
    few, first, many, shown = (reach[name] for name in ("few", "first", "many", "shown"))

    def keyed(kind, list_of, asks):
        return F.transform(
            list_of, lambda key: F.struct(F.lit(kind).alias("kind"), key.alias("key"), asks.alias("asks"))
        )

    is_open, never = F.col("open"), F.lit(False)
    keys = F.concat(
        keyed(SENTENCE, F.col("asks"), is_open),
        keyed(SENTENCE, F.array_except("holds", "asks"), never),
        keyed(THING, F.array_distinct("things"), is_open),
        keyed(THREAD, F.array("thread"), is_open & F.col("short")),
    )
    held = reps.select("rank", "open", "new", F.explode(keys).alias("k")).select("rank", "open", "new", "k.*")
    entry = F.struct("nth", "rank", "open", "new", "asks")
    lists = settle(
        _nth(held, ["kind", "key"], many + 1)
        .groupBy("kind", "key")
        .agg(
            F.count("*").alias("frequency"),
            F.sort_array(F.collect_list(F.when(F.col("nth") <= max(few, shown), entry))).alias("holders"),
        )
        .where("frequency > 1")
    )
    # Whoever asks for it is tied to all who have it, so that they are in one part: it is enough to tie them to one that asks.
    rare = lists.where(F.col("frequency") <= few).select("holders").distinct()
    one = F.filter("holders", lambda holder: holder["asks"])[0]["rank"]
    pairs = (
        rare.where(F.exists("holders", lambda holder: holder["asks"]))
        .select(one.alias("a"), F.explode("holders").alias("y"))
        .where("a != y.rank")
        .select("a", F.col("y.rank").alias("b"), F.col("y.open").alias("open"))
    )

    def leads(holder):
        among_first = (F.col("frequency") <= many) & (holder["nth"] <= first)
        return among_first | (holder["new"] & (holder["nth"] <= shown))

    common = lists.where(F.col("frequency") > few).select("kind", "key", F.filter("holders", leads).alias("holders"))
    # Whoever asks for a key that many have need not be among those that it leads to.
    asking = held.where("asks").select("kind", "key", F.col("rank").alias("a")).join(common, ["kind", "key"])
    more = (
        asking.select("a", F.explode("holders").alias("y"))
        .where("a != y.rank")
        .select("a", F.col("y.rank").alias("b"), F.col("y.open").alias("open"))
    )
    commons = asking.groupBy(F.col("a").alias("rank")).agg(F.collect_list("key").alias("common"))
    leading = common.select("key", F.explode("holders.rank").alias("rank")).groupBy("rank").agg(F.collect_list("key").alias("leading"))
    return pairs.union(more), commons.join(leading, "rank", "full")


def by_fingerprints(reps, reach, settle):
    """Who is near whom: (a, b, open, shared), b being near a."""
    few, first, beside, row = (reach[name] for name in ("few", "first", "beside", "row"))
    of_the_telling, of_all = reach["of_the_telling"], reach["of_all"]
    asks = F.col("open") | ~F.col("short")
    telling = reps.where(~F.col("empty")).withColumn("entry", F.struct("rank", "open", asks.alias("asks")))
    held = telling.select("rank", "entry", F.explode("fingerprints").alias("key"))

    # What a few have leads to all of them.
    lists = _nth(held, ["key"], few + 1).groupBy("key").agg(F.sort_array(F.collect_list("entry")).alias("holders"))
    lists = settle(lists.where(F.size("holders") <= few).groupBy("holders").agg(F.count("*").alias("keys")))
    by_few = (
        lists.where((F.size("holders") > 1) & F.exists("holders", lambda h: h["asks"]))
        .select("keys", "holders", F.explode("holders").alias("x"))
        .where("x.asks")
        .select("keys", "x.rank", F.explode("holders").alias("y"))
        .where("rank != y.rank")
        .select(F.col("rank").alias("a"), "y", "keys")
    )

    # Of the keys of a message those that a few have are known; the others are common.
    known = lists.select("keys", F.explode("holders.rank").alias("rank")).groupBy("rank").agg(F.sum("keys").alias("known"))
    every = F.col("fingerprint_count")
    needs = telling.select("rank", "entry", "fingerprints", every).join(known, "rank", "left")
    needs = needs.withColumn("common", F.size("fingerprints") - F.coalesce("known", F.lit(0)))
    needs = needs.withColumn("telling", F.greatest(F.lit(0), every - F.col("common")))
    needs = needs.withColumn("by_all", F.col("telling") < every - F.col("telling"))
    least = F.when(F.col("by_all"), F.ceil(every / of_all)).otherwise(F.ceil(F.col("telling") / of_the_telling))
    needs = needs.withColumn("least", F.greatest(F.lit(1), least))

    # Who is made of little but what many have is compared with the first of that kind, and with those beside it in the walk.
    frequent = held.groupBy("key").count().where(F.col("count") > few).select("key")
    plain = needs.where("by_all").select("rank", "entry", F.explode("fingerprints").alias("key")).join(frequent, "key")
    plain = _nth(plain, ["key"], row)
    same = Window.partitionBy("key")
    among = plain.select(
        "entry",
        F.collect_list(F.when(F.col("nth") <= first, F.col("entry"))).over(same).alias("first"),
        F.collect_list("entry").over(same.orderBy("nth").rowsBetween(-beside, beside)).alias("beside"),
    )
    by_many = (
        among.where("entry.asks")
        .select(F.col("entry.rank").alias("a"), F.explode(F.array_union("first", "beside")).alias("y"))
        .where("a != y.rank")
        .select("a", "y", F.lit(1).cast("long").alias("keys"))
    )
    shared = by_few.union(by_many).groupBy("a", F.col("y.rank").alias("b"))
    shared = shared.agg(F.first("y.open").alias("open"), F.sum("keys").alias("shared"))
    enough = needs.select(F.col("rank").alias("a"), "least")
    return settle(shared.join(enough, "a").where("shared >= least").drop("least"))
