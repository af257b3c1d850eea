"""Who can decide about whom?

A message that holds a fact or a run of words that nobody else has is *new*: nothing can cover it, so it stays. The others are
*open*. What decides about an open message are the messages that have one of its sentences, that share a third of its fingerprints or more,
that have its attachments, or, if it has a few words only, that are in its conversation. Open messages that can decide about each
other are judged in one part; a new message stays in any case, and stands in every part where it can be asked.

Everything here is a DataFrame of numbers. Of each key no more than the first few messages that have it are kept, before anything is
sent (Spark limits groups on the map side): no reducer holds a list that grows with the mail. Keys that the same messages have are taken
together, so that a passage of thirty sentences costs as much as one sentence.
"""

from pyspark.sql import Window
from pyspark.sql import functions as F

SENTENCE, THING, THREAD = 0, 1, 2


def _first_holders(held, keys, most):
    """For each key the first `most` messages of the walk that have it, as lists of their columns `entry`; then each list once, with the
    number of keys that have it."""
    nth = F.row_number().over(Window.partitionBy(*keys).orderBy("rank"))
    first = held.withColumn("nth", nth).where(F.col("nth") <= most)
    lists = first.groupBy(*keys).agg(F.sort_array(F.collect_list("entry")).alias("holders"))
    return lists


def by_keys(reps, common, shown, settle):
    """Pairs (a asks, b is asked, b is open) by sentences, things and conversations. A key that more than `common` messages have does not
    tie open messages together; of those that have it the first `shown` can be asked all the same."""

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
    held = reps.select("rank", "open", F.explode(keys).alias("k"))
    held = held.select("rank", "k.kind", "k.key", "k.asks", F.struct("rank", "open", "k.asks").alias("entry"))
    # One more than is shown: then the list is not all there is.
    lists = settle(_first_holders(held, ["kind", "key"], shown + 1).where(F.size("holders") > 1))
    whole = lists.where(F.size("holders") <= shown).select("holders").distinct()
    pairs = (
        whole.where(F.exists("holders", lambda h: h["asks"]))
        .select("holders", F.size("holders").alias("size"), F.explode("holders").alias("x"))
        .where("x.asks")
        .select("x", "size", F.explode("holders").alias("y"))
        .where((F.col("x.rank") != F.col("y.rank")) & (~F.col("y.open") | (F.col("size") <= common)))
        .select(F.col("x.rank").alias("a"), F.col("y.rank").alias("b"), F.col("y.open").alias("open"))
    )
    # Whoever asks for a key that more messages have than are shown need not be among those that are shown.
    many = lists.where(F.size("holders") > shown).select(
        "kind", "key", F.filter(F.slice("holders", 1, shown), lambda h: ~h["open"]).alias("new")
    )
    asking = held.where("asks").select("kind", "key", "rank")
    more = (
        asking.join(many.where(F.size("new") > 0), ["kind", "key"])
        .select(F.col("rank").alias("a"), F.explode("new").alias("y"))
        .where("a != y.rank")
        .select("a", F.col("y.rank").alias("b"), F.col("y.open").alias("open"))
    )
    return pairs.union(more)


def by_fingerprints(reps, frequent, settle):
    """Pairs (a asks, b is asked, b is open) that share a third of the fingerprints of the first. Keys that more than `frequent` messages have are
    not looked up: of a pair that needs them, they are counted by comparing the two."""
    least = F.greatest(F.lit(1), F.ceil(F.col("fingerprint_count") / 3).cast("int"))
    # Nobody asks for less than one: nought says that this message does not ask.
    asks = F.when(F.col("open") | ~F.col("short"), least).otherwise(F.lit(0))
    telling = reps.where(~F.col("empty"))
    held = telling.select("rank", F.struct("rank", "open", asks.alias("least")).alias("entry"), F.explode("fingerprints").alias("key"))
    lists = _first_holders(held, ["key"], frequent + 1).where(F.size("holders") <= frequent)
    lists = settle(lists.groupBy("holders").agg(F.count("*").alias("keys")))
    met = (
        lists.where((F.size("holders") > 1) & F.exists("holders", lambda h: h["least"] > 0))
        .select("keys", "holders", F.explode("holders").alias("x"))
        .where("x.least > 0")
        .select("keys", "x", F.explode("holders").alias("y"))
        .where("x.rank != y.rank")
        .groupBy(F.col("x.rank").alias("a"), F.col("y.rank").alias("b"))
        .agg(F.sum("keys").alias("shared"), F.first("x.least").alias("least"), F.first("y.open").alias("open"))
    )
    # Of the keys of a message those that are looked up are known; the others are the frequent ones.
    known = lists.select("keys", F.explode("holders.rank").alias("a")).groupBy("a").agg(F.sum("keys").alias("known"))
    frequents = (
        telling.select(F.col("rank").alias("a"), F.size("fingerprints").alias("all"))
        .join(known, "a", "left")
        .select("a", (F.col("all") - F.coalesce("known", F.lit(0))).alias("frequent"))
        .where("frequent > 0")
    )
    sure = met.where("shared >= least").select("a", "b", "open")
    fingerprints = telling.select("rank", "fingerprints")
    doubtful = (
        met.where("shared < least")
        .join(frequents, "a")
        .where("shared + frequent >= least")
        .join(fingerprints.toDF("a", "keys_a"), "a")
        .join(fingerprints.toDF("b", "keys_b"), "b")
        .where(F.size(F.array_intersect("keys_a", "keys_b")) >= F.col("least"))
        .select("a", "b", "open")
    )
    return sure.union(doubtful)
