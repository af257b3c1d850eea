"""The Spark job behind `twicetold cluster`. Started by spark-submit; the settings are a JSON file that the command writes."""

import hashlib
import json
import os
import sys
import time

from pyspark import StorageLevel
from pyspark.sql import SparkSession

import components
import door
import reading
import relations
import slots

# How many messages of the walk are compared with what is kept at a time; a scan does the same.
BATCH = 512


def talk(text):
    # The command shows what begins so, and keeps the rest for when something goes wrong.
    print(f"twicetold: {text}", file=sys.stderr, flush=True)


class Job:
    """What every step of the job shares."""

    def __init__(self, spark, settings):
        self.spark, self.settings = spark, settings
        self.context = spark.sparkContext
        self.partitions = settings["partitions"] or max(2, self.context.defaultParallelism * 2)
        spark.conf.set("spark.sql.shuffle.partitions", self.partitions)
        self.began = time.time()

    def keep(self, rdd):
        """Computed once, kept on the disks of the executors; computed again if one is lost."""
        return rdd.persist(StorageLevel.MEMORY_AND_DISK)

    def components(self, edges):
        """The component of every node that has an edge."""
        edges = self.keep(edges.filter(lambda e: e[0] != e[1]).distinct(self.partitions))
        if edges.count() <= self.settings["edges_on_driver"]:
            return self.context.parallelize(components.on_driver(edges.collect()), self.partitions)
        return components.components(edges, self.partitions, self.keep)

    def talk(self, text):
        if not self.settings["quiet"]:
            talk(text)

    def step(self, text):
        if not self.settings["quiet"]:
            talk(f"{time.time() - self.began:7.1f} s  {text}")


def name_of(row):
    """Messages with the same name are copies."""
    return row["copy"] or f"@{row['path']}@{place(row)[1]}"


def place(row):
    offset = row["offset"]
    return row["path"], -1 if offset is None else offset


def shown(path, offset):
    return path if offset < 0 else f"{path}@{offset}"


def verdict(row, standing, thread):
    """The row that a scan writes about a message that shares nothing with others."""
    return {
        "schema": 1,
        "path": row["path"],
        "offset": row["offset"],
        "message_id": row.get("message_id"),
        "verdict": standing,
        "category": None,
        "keep": True,
        "covered_by": [],
        "residue": [],
        "thread": thread,
        "problems": row["problems"],
    }


def find_threads(job, read):
    """place -> (number, name) of the conversation of every message."""
    # Only the first message with an id owns it; answers to a message that is not there belong together all the same.
    owners = read.flatMap(lambda r: [] if r["id_hash"] is None else [(r["id_hash"], place(r))])
    owners = owners.reduceByKey(min, job.partitions)
    answers = read.flatMap(lambda r: [(id, place(r)) for id in r["references"]])
    firsts = answers.reduceByKey(min, job.partitions).leftOuterJoin(owners, job.partitions)
    anchors = firsts.mapValues(lambda v: v[0] if v[1] is None else v[1])
    edges = answers.join(anchors, job.partitions).map(lambda kv: kv[1])
    # A subject ties messages together only if somebody answered under it.
    topics = read.filter(lambda r: r["topic"] != 0).map(lambda r: (r["topic"], (place(r), r["answers"])))
    answered = topics.reduceByKey(lambda a, b: (min(a[0], b[0]), a[1] or b[1]), job.partitions)
    answered = answered.filter(lambda kv: kv[1][1])
    edges = edges.union(topics.join(answered, job.partitions).map(lambda kv: (kv[1][0][0], kv[1][1][0])))
    labels = job.components(edges)
    naming = read.map(lambda r: (place(r), (r["begins"], r["message_id"])))
    labelled = job.keep(naming.leftOuterJoin(labels, job.partitions))

    def label(one):
        return one[0] if one[1][1] is None else one[1][1]

    def named(one):
        where, ((begins, id), _) = one
        key = (begins, *where)
        return label(one), (1, None if id is None else (key, id), (key, shown(*where)))

    def both(a, b):
        first = min((n for n in (a[1], b[1]) if n), default=None)
        return a[0] + b[0], first, min(a[2], b[2])

    names = labelled.map(named).reduceByKey(both, job.partitions)
    names = names.mapValues(lambda v: (v[1] or v[2])[1] if v[0] > 1 else None)
    by_label = labelled.map(lambda one: (label(one), one[0]))
    return by_label.join(names, job.partitions).map(lambda kv: (kv[1][0], (number(kv[0]), kv[1][1])))


def number(where):
    """A number for a place, the same everywhere; as long as JSON readers know."""
    digest = hashlib.blake2b(shown(*where).encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little") >> 1


def without(row, *members):
    return {key: value for key, value in row.items() if key not in members}


def scan(job):
    settings = job.settings
    context = job.context
    with open(settings["manifest"], encoding="utf-8") as manifest:
        files = [(f["path"], f["file"], f["bytes"]) for f in map(json.loads, manifest)]
    packs = reading.packs(files, job.partitions)
    job.step(f"{len(files)} files in {len(packs)} tasks")
    rows = context.parallelize(packs, max(1, len(packs))).mapPartitions(
        reading.outlines(settings, settings["outlining"])
    )
    rows = rows.persist(StorageLevel.DISK_ONLY)
    unread = rows.filter(lambda r: "copy" not in r)
    read = rows.filter(lambda r: "copy" in r)
    count, lost = rows.count(), unread.count()
    job.step(f"{count - lost} messages read")
    if lost:
        talk(f"warning: {lost} could not be read; the problems in their rows say why")

    counted = read.map(lambda r: (r["counted"] or name_of(r) + shown(*place(r)), r["pairs"]))
    counted = counted.reduceByKey(lambda a, b: a, job.partitions).values()
    _, more = counted.mapPartitions(slots.count(settings["slots"])).treeReduce(slots.merge)
    statistics = os.path.join(settings["scratch"], settings["statistics_name"])
    with open(statistics, "wb") as file:
        file.write(slots.FIRST_LINE + more)
    context.addFile(statistics)
    more = context.broadcast(more)
    job.step(f"statistics: {len(more.value)} bytes")

    outlines = job.keep(read.map(lambda r: without(r, "message", "pairs")))
    threads = job.keep(find_threads(job, outlines))
    job.step("conversations found")

    # Of copies the one that the user's rules keep stands for all, and is asked in the order of how much it says.
    first = outlines.map(lambda r: (name_of(r), ((r["policy"],) + place(r), r["content"])))
    first = first.reduceByKey(min, job.partitions)
    order = first.map(lambda kv: ((kv[1][1],) + kv[1][0], kv[0])).sortByKey(numPartitions=job.partitions)
    ranks = job.keep(order.zipWithIndex().map(lambda one: (one[0][1], (one[1], one[0][0][2:]))))
    places = outlines.map(lambda r: (name_of(r), place(r))).join(ranks, job.partitions)
    # place -> (rank, stands for its copies)
    ranked = job.keep(places.map(lambda kv: (kv[1][0], (kv[1][1][0], kv[1][0] == kv[1][1][1]))))

    def standing_for(one):
        _, ((row, (rank, first)), (thread, _)) = one
        if not first:
            return []
        outline = without(row, "news", "facts", "references")
        outline["open"] = not row["empty"] and not slots.is_new(row, more.value)
        outline["thread"] = thread
        return [(rank, outline)]

    by_place = outlines.map(lambda r: (place(r), r)).join(ranked, job.partitions)
    reps = job.keep(by_place.join(threads, job.partitions).flatMap(standing_for))
    job.step(f"{reps.count()} different messages, {reps.filter(lambda r: r[1]['open']).count()} of them open")

    is_open = reps.map(lambda rep: (rep[0], rep[1]["open"]))
    met = relations.by_keys(reps, settings["common"], settings["shown"], job.partitions, job.keep)
    near = relations.by_fingerprints(job.spark, reps, settings["frequent"], job.partitions)
    near = near.map(lambda e: (e[1], e[0])).join(is_open, job.partitions).map(lambda kv: (kv[1][0], kv[0], kv[1][1]))
    pairs = job.keep(met.union(near).distinct(job.partitions))
    edges = pairs.filter(lambda p: p[2]).map(lambda p: p[:2])
    labels = job.components(edges)
    labelled = is_open.leftOuterJoin(labels, job.partitions).map(
        lambda kv: (kv[0], kv[0] if kv[1][1] is None else kv[1][1])
    )
    labelled = job.keep(labelled)
    asked = pairs.filter(lambda p: not p[2]).map(lambda p: p[:2]).join(labelled, job.partitions)
    asked = asked.map(lambda kv: kv[1]).distinct(job.partitions).join(labelled, job.partitions)
    # (rank, part) of the messages that are asked in a part they do not belong to
    asked = job.keep(asked.filter(lambda kv: kv[1][0] != kv[1][1]).map(lambda kv: (kv[0], kv[1][0])))
    sizes = ranked.map(lambda kv: (kv[1][0], 1)).reduceByKey(lambda a, b: a + b, job.partitions)
    sizes = sizes.join(labelled, job.partitions).map(lambda kv: (kv[1][1], (kv[1][0], 0)))
    sizes = sizes.union(asked.map(lambda kv: (kv[1], (0, 1))))
    sizes = job.keep(sizes.reduceByKey(lambda a, b: (a[0] + b[0], a[1] + b[1]), job.partitions))
    judged = job.keep(sizes.filter(lambda kv: kv[1] != (1, 0)))
    largest = judged.values().takeOrdered(1, key=lambda v: -sum(v))
    parts, members, guests = judged.values().map(lambda v: (1,) + v).fold(
        (0, 0, 0), lambda a, b: tuple(x + y for x, y in zip(a, b))
    )
    most, with_most = largest[0] if largest else (0, 0)
    job.step(
        f"{parts} parts of {members} messages, {guests} more asked; the largest has {most} and asks {with_most}"
    )

    # Where each message is judged and where it is asked: rank -> part, is asked only
    homes = labelled.map(lambda kv: (kv[1], kv[0])).leftOuterJoin(judged, job.partitions)
    homes = homes.map(lambda kv: (kv[1][0], (kv[0], False) if kv[1][1] else None))
    placed = homes.union(asked.mapValues(lambda part: (part, True)))
    known = ranked.join(threads, job.partitions).map(lambda kv: (kv[1][0][0], (kv[0], kv[1][0][1], kv[1][1])))

    def to_part(one):
        rank, ((where, first, thread), home) = one
        if home is None:
            return [(where, (None, False, rank, thread))]
        part, context_only = home
        return [(where, (part, context_only, rank, thread))] if first or not context_only else []

    sent = known.join(placed, job.partitions).flatMap(to_part)
    alone = sent.filter(lambda kv: kv[1][0] is None).join(
        outlines.map(lambda r: (place(r), r)), job.partitions
    )
    alone = alone.map(lambda kv: verdict(kv[1][1], "unique", kv[1][0][3][1]))
    messages = read.map(lambda r: (place(r), (r["form"], r["message"])))

    def line(kv):
        (path, offset), ((part, context_only, rank, (thread, thread_name)), (form, message)) = kv
        whole = {"batch": rank // BATCH, "thread": thread, "thread_name": thread_name, "context": context_only}
        text = {
            "group": part,
            "id": shown(path, offset),
            "path": path,
            "offset": None if offset < 0 else offset,
            "form": form,
            "message": message,
            "whole": whole,
        }
        return (part, path, offset), json.dumps(text).encode()

    lines = sent.filter(lambda kv: kv[1][0] is not None).join(messages, job.partitions).map(line)
    lines = lines.repartitionAndSortWithinPartitions(job.partitions, lambda key: hash(key[0]))
    unjudged = context.accumulator(0)
    verdicts = lines.mapPartitions(judge(settings, unjudged))
    lost_rows = unread.map(lambda r: verdict({**r, "message_id": None}, "unreadable", None))
    write(job, verdicts.union(alone).union(lost_rows), count)
    if unjudged.value:
        talk("warning: some messages could not be judged and stay; the problems in their rows say why")
    with open(os.path.join(settings["scratch"], "outcome.json"), "w", encoding="utf-8") as file:
        json.dump({"unread": lost + unjudged.value}, file)


def judge(settings, unjudged):
    """Judges the lines of a partition, group after group. A group on which the program ends stays, unjudged."""
    arguments = ["judge", "--quiet", "--threads", "1", "--largest", settings["largest"]] + settings["deciding"]

    def ask(lines):
        from pyspark import SparkFiles

        statistics = SparkFiles.get(settings["statistics_name"])
        rows = [json.loads(row) for row in door.run(settings, arguments + ["--statistics", statistics, "-"], lines)]
        return [without(row, "group", "id", "covered_by_ids") for row in rows]

    def stays(line, trouble):
        row = json.loads(line)
        row["problems"] = [f"not judged: {trouble}"]
        return verdict(row, "unreadable", None)

    def groups(partition):
        last, lines = None, []
        for (part, _, _), line in partition:
            if part != last and lines:
                yield lines
                lines = []
            last = part
            lines.append(line)
        if lines:
            yield lines

    def batches(partition):
        batch, size = [], 0
        for group in groups(partition):
            batch.append(group)
            size += sum(map(len, group))
            if size > 64 << 20:
                yield batch
                batch, size = [], 0
        if batch:
            yield batch

    def each(partition):
        for batch in batches(partition):
            door.program(settings)
            try:
                yield from ask([line for group in batch for line in group])
            except door.Trouble:
                for group in batch:
                    try:
                        yield from ask(group)
                    except door.Trouble as trouble:
                        own = [line for line in group if not json.loads(line)["whole"]["context"]]
                        unjudged.add(len(own))
                        yield from (stays(line, trouble) for line in own)

    return each


def write(job, verdicts, count):
    settings = job.settings
    rows = verdicts.map(lambda row: (place(row), json.dumps(row, ensure_ascii=False, separators=(",", ":"))))
    rows = rows.sortByKey(numPartitions=job.partitions).values()
    if settings["format"] == "parquet":
        rows = rows.map(lambda text: (text,))
        job.spark.read.json(rows.map(lambda t: t[0])).write.mode("errorifexists").parquet(settings["output"])
    else:
        rows.saveAsTextFile(settings["output"])
    job.step(f"{count} verdicts in {settings['output']}")


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        settings = json.load(file)
    spark = SparkSession.builder.appName("twicetold cluster").getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    job = Job(spark, settings)
    try:
        if settings.get("what") == "pairs":
            import pairs

            pairs.pairs(job)
        else:
            scan(job)
    finally:
        spark.stop()


if __name__ == "__main__":
    main()
