"""The Spark job behind `twicetold cluster`. Started by spark-submit; the settings are a JSON file that the command writes."""

import json
import os
import sys
import time

from pyspark import StorageLevel
from pyspark.sql import SparkSession, Window
from pyspark.sql import functions as F

import components
import door
import inputs
import judging
import reading
import relations

# Up to so many placements are sent to where the messages are; of more, both travel.
BROADCAST = 250_000

FIRST_LINE = b"twicetold statistics 1\n"


def talk(text):
    # The command shows what begins so, and keeps the rest for when something goes wrong.
    print(f"twicetold: {text}", file=sys.stderr, flush=True)


def tasks(size, cores):
    """Into how many tasks mail of so many bytes is cut: a task has 4 MB or more, and 128 MB or less; in between there are two for each core."""
    return max(min(cores * 2, size >> 22), size >> 27, 1)


class Job:
    """What every step of the job shares."""

    def __init__(self, spark, settings):
        self.spark, self.settings = spark, settings
        self.context = spark.sparkContext
        # For each side the files below its URLs: (path, length).
        self.by_url = [[file for url in urls for file in inputs.listed(self.context, url)] for urls in settings["urls"]]
        size = settings["bytes"] + sum(length for files in self.by_url for _, length in files)
        self.partitions = settings["partitions"] or tasks(size, self.context.defaultParallelism)
        for name, value in {
            "spark.sql.shuffle.partitions": self.partitions,
            "spark.sql.execution.arrow.maxRecordsPerBatch": 1000,
            "spark.sql.inMemoryColumnarStorage.batchSize": 1000,
            # What was written down is small for what becomes of it: a list of messages leads to many pairs.
            "spark.sql.files.maxPartitionBytes": 16 << 20,
            # Of a long list only its beginning is sent, however long that is.
            "spark.sql.optimizer.windowGroupLimitThreshold": 10_000_000,
        }.items():
            spark.conf.set(name, value)
        self.began = time.time()
        self.settled = 0

    def keep(self, rows, level=StorageLevel.MEMORY_AND_DISK):
        """Computed once, kept on the disks of the executors; computed again if one is lost."""
        return rows.persist(level)

    def settle(self, rows):
        """Written down next to the output, where every executor can read it. What led to it is forgotten: a plan stays small, an executor that is
        lost takes nothing of it along, and Spark knows how large it is."""
        self.settled += 1
        place = f"{self.settings['checkpoints']}/{self.settled}"
        rows.write.parquet(place)
        return self.spark.read.schema(rows.schema).parquet(place)

    def components(self, edges):
        """(node, root) of every node that has an edge (a, b). The edges are gone through more than once, so they have to be written down."""
        if edges.count() <= self.settings["edges_at_once"]:
            return self.settle(components.in_one_task(edges))
        return components.on_executors(edges, self.settle)

    def numbered(self, rows, order, columns, name):
        """These columns of the rows, and their numbers in this order, from 0. No task sees all of them."""
        rows = rows.sort(*order).select(*columns, F.monotonically_increasing_id().alias("nth"))
        rows = self.settle(rows.select(*columns, F.shiftright("nth", 33).alias("slice"), F.expr("nth & 8589934591").alias("nth")))
        # A row for each slice: no more than there are tasks.
        before = F.sum("count").over(Window.orderBy("slice").rowsBetween(Window.unboundedPreceding, -1))
        slices = rows.groupBy("slice").count().select("slice", F.coalesce(before, F.lit(0)).alias("before"))
        return rows.join(F.broadcast(slices), "slice").select(*columns, (F.col("before") + F.col("nth")).alias(name))

    def talk(self, text):
        if not self.settings["quiet"]:
            talk(text)

    def step(self, text):
        if not self.settings["quiet"]:
            talk(f"{time.time() - self.began:7.1f} s  {text}")


def read(job):
    """All messages: their outlines and the messages themselves, numbered (n); `at` is the offset, -1 if there is none."""
    kind = reading.Outlines(job.settings)
    rows, _ = inputs.rows(job, kind)
    rows = rows.drop("side").withColumn("at", F.coalesce("offset", F.lit(-1)))
    # The numbers must be the same if a task has to be done again, whatever the order in which it is done.
    rows = rows.sortWithinPartitions("path", "at").withColumn("n", F.monotonically_increasing_id())
    rows = job.keep(rows, StorageLevel.DISK_ONLY)
    missing = inputs.passed_over(job, kind, rows.withColumn("side", F.lit(0)))
    rows = rows.where("problems != array('')")
    if not missing:
        return rows
    problem = F.array(F.lit("Spark could not read it; see the logs of the executors"))
    lost = job.spark.createDataFrame([(path,) for _, path in missing], "path string")
    lost = lost.select("path", problem.alias("problems"), F.lit(-1).cast("long").alias("at"))
    return rows.unionByName(lost, allowMissingColumns=True)


def statistics(job, rows):
    """Which word pairs and facts several messages have: a file that goes to every executor."""
    settings = job.settings
    count = settings["slots"]
    if count is None:
        size = rows.agg(F.sum("bytes")).first()[0] or 0
        count = settings["slots_by_bits"][size.bit_length()]
    slots = ["--format", "arrow", "--slots", str(count), "-"]
    schema = "method string, id string, sketch binary"
    columns = ["method", "id", "sketch"]
    alone = F.concat(F.lit("@"), F.col("n").cast("string"))
    counted = (
        rows.select(F.lit("words").alias("method"), F.col("words").alias("sketch"), F.coalesce("counted", alone).alias("counts_as"))
        .repartition(max(1, job.context.defaultParallelism), "counts_as")
        .drop("counts_as")
        .mapInArrow(door.through(settings, ["statistics", "count"] + slots, columns), schema)
    )
    merged = (
        counted.repartition(job.partitions, "id")
        .mapInArrow(door.through(settings, ["statistics", "merge"] + slots, columns), schema)
        .select(F.col("id").cast("int").alias("id"), F.expr("substring(sketch, length(sketch) div 2 + 1)").alias("more"))
    )
    size = count // 8
    more = bytearray(size)
    # At once if the driver has room for it, else task by task.
    for row in merged.collect() if size <= 64 << 20 else merged.toLocalIterator():
        at = row.id * len(row.more)
        more[at : at + len(row.more)] = row.more
    file = os.path.join(settings["scratch"], settings["statistics_name"])
    with open(file, "wb") as out:
        out.write(FIRST_LINE)
        out.write(more)
    job.context.addFile(file)
    return size


def find_threads(job, outlines):
    """(n, thread, thread_name) of the messages that are in a conversation with others."""

    def keyed(space, first, key, ties):
        return F.struct(
            F.lit(space).alias("space"), F.lit(first).alias("first"), key.alias("key"), ties.alias("ties")
        )

    nothing = F.array().cast("array<struct<space:int,first:int,key:bigint,ties:boolean>>")
    # Only the first message with an id owns it; answers to a message that is not there belong together all the same. A subject
    # ties messages together only if somebody answered under it.
    keys = F.concat(
        F.when(F.col("id_hash").isNull(), nothing).otherwise(F.array(keyed(0, 0, F.col("id_hash"), F.lit(False)))),
        F.transform("references", lambda id: keyed(0, 1, id, F.lit(True))),
        F.when(F.col("topic") == 0, nothing).otherwise(F.array(keyed(1, 1, F.col("topic"), F.col("answers")))),
    )
    named = outlines.select("n", "path", "at", F.explode(keys).alias("k")).select("n", "path", "at", "k.*")
    anchors = (
        named.groupBy("space", "key")
        .agg(
            F.min(F.struct("first", "path", "at", "n")).alias("anchor"),
            F.max("ties").alias("ties"),
            F.count("*").alias("count"),
        )
        .where("ties and count > 1")
        .select("space", "key", F.col("anchor.n").alias("b"))
    )
    edges = named.where("first = 1").join(anchors, ["space", "key"]).select(F.col("n").alias("a"), "b")
    labels = job.components(job.settle(edges.where("a != b").distinct())).toDF("n", "thread")
    labelled = outlines.select("n", "begins", "path", "at", "message_id").join(labels, "n")
    shown = F.when(F.col("at") < 0, F.col("path")).otherwise(F.concat("path", F.lit("@"), F.col("at").cast("string")))
    first = F.struct("begins", "path", "at", F.coalesce("message_id", shown).alias("name"))
    names = labelled.groupBy("thread").agg(
        F.coalesce(F.min(F.when(F.col("message_id").isNotNull(), first)), F.min(first)).alias("first")
    )
    return labels.join(names.select("thread", F.col("first.name").alias("thread_name")), "thread")


def find_ranks(job, outlines):
    """(n, head, rank): which message stands for its copies, and when that is asked in the walk."""
    # Of copies the one that the user's rules keep stands for all, and is asked in the order of how much it says.
    name = F.coalesce("copy", F.concat(F.lit("@"), F.col("n").cast("string")))
    same = Window.partitionBy("name").orderBy("policy", "path", "at")
    heads = outlines.select("n", name.alias("name"), "content", "policy", "path", "at")
    heads = job.settle(heads.withColumn("head", F.first("n").over(same)).drop("name"))
    ranks = job.numbered(heads.where("n = head"), ["content", "policy", "path", "at"], ["head"], "rank")
    return heads.select("n", "head").join(ranks, "head")


def find_parts(job, known, reps):
    """Where each message is judged and where it is asked only: (n, part, rank, thread, thread_name, context, size), size being the number of
    messages in the part; and what a part has to know of those that stand for others: (n, near, common, leading)."""
    reach = job.settings["reach"]
    pairs, marks = relations.by_keys(reps, reach, job.settle)
    near = relations.by_fingerprints(reps, reach, job.settle)
    pairs = job.settle(pairs.distinct()).union(near.select("a", "b", "open"))
    nearest = F.sort_array(F.collect_list(F.struct((-F.col("shared")).alias("less"), "b")))
    near = near.groupBy(F.col("a").alias("rank")).agg(nearest["b"].alias("near"))
    heads = known.where("n = head").select("rank", "n")
    marks = heads.join(near.join(marks, "rank", "full"), "rank").drop("rank")
    labels = job.components(pairs.where("open").select("a", "b")).toDF("rank", "root")
    part = F.coalesce("root", "rank")
    homes = known.join(labels, "rank", "left").withColumn("part", part)
    asked = (
        pairs.where("not open")
        .join(labels.toDF("a", "root_a"), "a", "left")
        .select(F.col("b").alias("rank"), F.coalesce("root_a", "a").alias("part"))
        .distinct()
        .join(labels, "rank", "left")
        .where(F.col("part") != part)
        .select("rank", "part")
    )
    guests = known.where("n = head").join(asked, "rank")
    columns = ["n", "part", "rank", "thread", "thread_name"]
    placed = homes.select(*columns, F.lit(0).alias("context")).union(guests.select(*columns, F.lit(1).alias("context")))
    size = F.count("*").over(Window.partitionBy("part"))
    return job.settle(placed.withColumn("size", size)), marks


def scan(job):
    settings = job.settings
    rows = read(job)
    count, lost = rows.agg(F.count("*"), F.count_if(F.col("content").isNull())).first()
    job.step(f"{count - lost} messages read")
    if lost:
        talk(f"warning: {lost} could not be read; the problems in their rows say why")
    messages = rows.where(F.col("content").isNotNull())
    size = statistics(job, messages)
    job.step(f"statistics: {size} bytes")

    light = [name for name in reading.COLUMNS if name not in ("message", "words", "form", "offset", "counted", "bytes")]
    sent = [(None, "method", "news"), ("news", "sketch", None)]
    asked = door.beside(settings, judging.statistics(settings, ["statistics", "ask", "--format", "arrow", "-"]), sent, ["new"])
    outlines = messages.select("n", "at", *light)
    schema = ", ".join(f"`{field.name}` {field.dataType.simpleString()}" for field in outlines.schema)
    outlines = outlines.mapInArrow(asked, schema + ", new boolean").drop("news")
    outlines = job.settle(outlines.withColumn("open", ~F.col("empty") & ~F.col("new")))
    threads = job.settle(find_threads(job, outlines))
    job.step("conversations found")

    known = job.settle(find_ranks(job, outlines).join(threads, "n", "left").withColumn("thread", F.coalesce("thread", "n")))
    columns = ["open", "new", "empty", "short", "asks", "holds", "things", "fingerprints", "fingerprint_count"]
    reps = known.where("n = head").join(outlines.select("n", *columns), "n").select("rank", "thread", *columns)
    placed, marks = find_parts(job, known, job.settle(reps))
    parts = placed.where("size > 1").groupBy("part").agg(F.count_if(F.col("context") == 0).alias("own"), F.sum("context").alias("asked"))
    told = parts.agg(F.count("*"), F.sum("own"), F.sum("asked"), F.max(F.struct(F.col("own") + F.col("asked"), "own", "asked"))).first()
    most = told[3] or (0, 0, 0)
    job.step(
        f"{told[0]} parts of {told[1] or 0} messages, {told[2] or 0} more asked; "
        f"the largest has {most[1]} and asks {most[2]}"
    )

    # The messages travel here, once, to where they are judged; where each has to go is sent to them if that is not too much.
    going = placed.where("size > 1").drop("size").join(marks, "n", "left")
    few = (told[1] or 0) + (told[2] or 0) <= BROADCAST
    going = messages.select("n", "path", "offset", "form", "message").join(F.broadcast(going) if few else going, "n")
    going = going.select(
        F.col("part").alias("group"), "path", "offset", "form", "message",
        F.col("rank").alias("whole_rank"), F.col("thread").alias("whole_thread"), F.col("thread_name").alias("whole_thread_name"),
        F.when(F.col("context") == 0, F.col("near")).alias("whole_near"), F.col("common").alias("whole_common"),
        F.col("leading").alias("whole_leading"), F.col("context").alias("whole_context"),
    )  # fmt: skip
    going = going.repartition(job.partitions, "group").sortWithinPartitions("group")
    verdicts = going.mapInArrow(judging.judge(settings, settings["cores"]), "line string")
    alone = placed.where("size = 1").select("n", "thread_name").join(
        outlines.select("n", "path", "at", "message_id", "problems"), "n"
    )
    alone = alone.select("path", "at", "message_id", "thread_name", "problems", F.lit("unique").alias("verdict"))
    unread = rows.where(F.col("content").isNull()).select(
        "path", "at", F.lit(None).cast("string"), F.lit(None).cast("string"), "problems", F.lit("unreadable")
    )
    plain = alone.union(unread).mapInArrow(judging.plain, "line string")
    write(job, verdicts.union(plain))


def write(job, lines):
    settings = job.settings
    place = F.from_json("line", "path string, offset long").alias("place")
    lines = job.settle(lines.select("line", place).select("line", "place.path", F.coalesce("place.offset", F.lit(-1)).alias("at")))
    # Quotes inside of a text are escaped, so this can stand nowhere else.
    count, unread = lines.agg(F.count("*"), F.count_if(F.col("line").contains('"verdict":"unreadable"'))).first()
    job.step(f"{count} verdicts")
    rows = lines.sort("path", "at").select("line")
    if settings["format"] == "parquet":
        rows = rows.select(F.from_json("line", judging.VERDICTS).alias("row")).select("row.*")
        rows.write.mode("errorifexists").parquet(settings["output"])
    else:
        rows.write.mode("errorifexists").text(settings["output"])
    job.step(f"written to {settings['output']}")
    if unread:
        talk("warning: some messages could not be judged and stay; the problems in their rows say why")
    with open(os.path.join(settings["scratch"], "outcome.json"), "w", encoding="utf-8") as file:
        json.dump({"unread": unread}, file)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        settings = json.load(file)
    spark = SparkSession.builder.appName("twicetold cluster").getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    settings["cores"] = int(spark.conf.get("spark.executor.cores", "1"))
    if spark.sparkContext.master.startswith("local["):
        settings["cores"] = spark.sparkContext.defaultParallelism
    refuse_if_there(spark, settings["output"])
    job = Job(spark, settings)
    try:
        if settings.get("what") == "pairs":
            import pairs

            pairs.pairs(job)
        else:
            scan(job)
    finally:
        if "checkpoints" in settings:
            forget(spark, settings["checkpoints"])
        spark.stop()


def refuse_if_there(spark, output):
    """Said before the work, not after it."""
    system, path = inputs.file_system(spark.sparkContext, output)
    if system.exists(path):
        raise door.Trouble(f"there is {output} already; name another folder with --output, or remove that one")


def forget(spark, folder):
    """Removes the checkpoints, wherever Spark has put them."""
    system, path = inputs.file_system(spark.sparkContext, folder)
    system.delete(path, True)


if __name__ == "__main__":
    main()
