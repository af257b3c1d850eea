"""`twicetold cluster pairs`: the rows that `twicetold pairs --format jsonl` writes.

Texts are numbered in the order of their places. Those with equal sketches are one class, which is called by its first text; classes meet (`meeting`), the program
compares those that met, and pairs of classes are written out as pairs of texts.
"""

import json
import os
import re
from functools import reduce
from itertools import chain

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

import door
import inputs
import meeting

# As `pairs` writes the score of equal sketches.
EQUAL = "1.0"
# How many files that could not be read are named.
TOLD = 20

ROW = (
    "schema int, a string, b string, method string, score double, verified boolean, verified_score double, "
    "a_path string, a_offset bigint, b_path string, b_offset bigint"
)
GROUP = (
    "schema int, group bigint, size bigint, methods array<string>, "
    "texts array<struct<name: string, path: string, offset: bigint>>"
)


class Entries:
    """The rows that the program makes of texts (see `inputs`):

    side     0, or 1 for what is compared against
    name     what the text is called, as JSON
    path     the file, as JSON, and `offset`, where in it
    problem  what could not be read; such a row has no text. Empty: the file was read
    classN, keysN, bodyN, leastN   what method N keeps of it; null if it has nothing to say
    """

    def __init__(self, settings):
        self.settings = settings
        own = "side int, name string, path string, offset bigint, problem string"
        methods = range(len(settings["methods"]))
        each = (f"class{n} binary, keys{n} array<bigint>, body{n} binary, least{n} int" for n in methods)
        self.columns = ", ".join([own, *each])

    def arguments(self):
        """Which methods, for the program."""
        own = list(self.settings["entering"])
        if self.settings["lexicon_name"]:
            from pyspark import SparkFiles

            own += ["--lexicon", SparkFiles.get(self.settings["lexicon_name"])]
        return own

    def schema(self):
        import pyarrow as pa

        fields = [("side", pa.int32()), ("name", pa.string()), ("path", pa.string()), ("offset", pa.int64())]
        fields.append(("problem", pa.string()))
        for n in range(len(self.settings["methods"])):
            fields += [(f"class{n}", pa.binary()), (f"keys{n}", pa.list_(pa.int64()))]
            fields += [(f"body{n}", pa.binary()), (f"least{n}", pa.int32())]
        return pa.schema(fields)

    def path(self, path):
        return json.dumps(path, ensure_ascii=False)

    def unread(self, side, path, problem):
        path = self.path(path)
        return door.one_row(self.schema(), side=side, name=path, path=path, problem=problem)

    def read_whole(self, rows):
        return rows.where("problem = ''")


def pairs(job):
    settings = job.settings
    kind = Entries(settings)
    rows, in_order = inputs.rows(job, kind)
    if not in_order:
        # What Spark reads comes in an order of its own.
        order = ["side", F.expr("substring(path, 2, length(path) - 2)"), F.col("offset").asc_nulls_first()]
        rows = rows.repartitionByRange(job.partitions, *order).sortWithinPartitions(*order)
    rows = job.keep(rows.withColumn("text", F.monotonically_increasing_id()))
    methods = list(enumerate(settings["methods"]))
    keys = [F.coalesce(F.size(f"keys{n}"), F.lit(0)) for n, method in methods if not method["bits"]]
    count, bad, keys = rows.agg(
        F.count(F.when(F.col("problem").isNull(), 1)),
        F.count(F.when(F.col("problem") != "", 1)),
        F.sum(sum(keys, F.lit(0))),
    ).first()
    unread = tell_unread(job, kind, rows, bad)
    texts = rows.where("problem is null")
    job.step(f"{count} texts read")
    write(job, texts, job.keep(found(job, texts, count, keys or 0)))
    with open(os.path.join(settings["scratch"], "outcome.json"), "w", encoding="utf-8") as file:
        json.dump({"unread": unread}, file)


def tell_unread(job, kind, rows, count):
    """Says what could not be read; how many that are."""
    missing = inputs.passed_over(job, kind, rows)
    told = []
    if count:
        told = [tuple(row) for row in rows.where("problem != ''").select("name", "problem").limit(TOLD).collect()]
    told += [(path, "Spark could not read it; see the logs of the executors") for _, path in missing[:TOLD]]
    for path, problem in told[:TOLD]:
        job.talk(f"warning: {json.loads(path)}: {problem}")
    count += len(missing)
    if count > TOLD:
        job.talk(f"warning: {count - TOLD} more could not be read")
    return count


def found(job, texts, count, keys):
    """The pairs of texts that the methods find: method, a, b, score. There are so many texts, and keys of them."""
    methods = list(enumerate(job.settings["methods"]))

    def of(number):
        named = [F.col(f"{name}{number}").alias(name) for name in ("class", "keys", "body", "least")]
        return F.struct(F.lit(number).alias("method"), *named)

    sketches = texts.select("text", "side", F.inline(F.array(*[of(number) for number, _ in methods])))
    sketches = sketches.where("class is not null")
    first, second = F.col("side") == 0, F.col("side") == 1
    classes = sketches.groupBy("method", "class").agg(
        F.min("text").alias("c"),
        F.count(F.lit(1)).alias("n"),
        F.min(F.when(first, F.col("text"))).alias("first0"),
        F.min(F.when(second, F.col("text"))).alias("first1"),
        F.count(F.when(first, 1)).alias("n0"),
        F.count(F.when(second, 1)).alias("n1"),
    )
    classes = job.keep(classes)
    sides = F.when(F.col("n0") > 0, 1).otherwise(0) + F.when(F.col("n1") > 0, 2).otherwise(0)
    standing = classes.select("method", F.col("c").alias("text"), sides.alias("sides"))
    reps = sketches.select("method", "text", "keys", "body", "least").join(standing, ["method", "text"])
    reps = job.keep(reps.withColumnRenamed("text", "c"))
    members = Members(job, sketches.select("method", "class", "text", "side"), count)
    near = copies(job, members, classes)
    candidates = []
    by_keys = [number for number, method in methods if not method["bits"]]
    if by_keys:
        candidates.append(meeting.by_keys(job, reps.where(F.col("method").isin(by_keys)), keys))
    distances = {number: method["farthest"] for number, method in methods if method["farthest"] is not None}
    if distances:
        candidates.append(meeting.by_bits(job, reps, distances, count))
    if not candidates:
        return near
    partners = job.keep(compared(job, reduce(DataFrame.unionByName, candidates)))
    cut = partners.where("b is null").count()
    job.step("partners are known")
    if cut:
        job.talk("note: some texts have more partners than are listed; --most sets how many are, --most 0 lists all")
    return near.unionByName(spelled_out(job, members, classes, partners.where("b is not null")))


def compared(job, candidates):
    """The candidates that are partners, by the program: method, a, b, score; and texts with more of them than are listed."""
    settings = job.settings
    fields = "method int, a bigint, b bigint, score string"

    def each(partition):
        import pyarrow as pa

        arguments = ["cluster", "partners", "--most", str(settings["most"])] + Entries(settings).arguments()
        schema = pa.schema([("method", pa.int32()), ("a", pa.int64()), ("b", pa.int64()), ("score", pa.string())])
        first = next(partition, None)
        if first is not None:
            given = door.sending(first.schema, chain([first], partition))
            for batch in door.whole(settings, arguments, given):
                yield door.with_columns_of(schema, batch)

    rows = candidates.repartition(job.partitions, "method", "asker")
    rows = rows.sortWithinPartitions("method", "asker", "rn", "pos")
    return rows.select("method", "asker", "what", "number", "keys", "body").mapInArrow(each, fields)


class Members:
    """The texts, each with its class."""

    def __init__(self, job, texts, count):
        self.texts, self.count, self.heavy = texts, count, meeting.heavy_from(job)

    def of(self, classes):
        """Texts with the class they belong to. Classes of very many texts travel to the texts, not the texts to one place."""
        if self.count <= self.heavy:
            return self.texts.join(classes, ["method", "class"])
        few = self.texts.join(classes.where(F.col("n") <= self.heavy), ["method", "class"])
        many = F.broadcast(classes.where(F.col("n") > self.heavy))
        return few.unionByName(self.texts.join(many, ["method", "class"]))


def limited(job, product):
    """Whether so many pairs are written out."""
    most = job.settings["most"]
    return product <= most if most else F.lit(True)


def copies(job, members, classes):
    """The pairs of texts with equal sketches; of very many, each with the first."""
    inside = members.of(classes.where("n > 1"))
    in_class = ["method", "c"]
    a, b = F.col("text").alias("a"), F.col("text").alias("b")
    if not job.settings["two"]:
        all_pairs = limited(job, F.col("n") - 1)
        x, y = (inside.where(all_pairs).select(*in_class, text) for text in (a, b))
        pairs = x.join(y, in_class).where("a < b").select("method", "a", "b")
        star = inside.where(~all_pairs).where("text != c").select("method", F.col("c").alias("a"), b)
        return pairs.unionByName(star).withColumn("score", F.lit(EQUAL))
    inside = inside.where("n0 > 0 and n1 > 0")
    all_pairs = limited(job, F.col("n0") * F.col("n1"))
    x = inside.where(all_pairs).where("side = 0").select(*in_class, a)
    y = inside.where(all_pairs).where("side = 1").select(*in_class, b)
    pairs = x.join(y, in_class).select("method", "a", "b")
    rest = inside.where(~all_pairs)
    star = rest.where("side = 1").select("method", F.col("first0").alias("a"), b)
    back = rest.where("side = 0 and text != first0").select("method", a, F.col("first1").alias("b"))
    return pairs.unionByName(star).unionByName(back).withColumn("score", F.lit(EQUAL))


def spelled_out(job, members, classes, partners):
    """Pairs of classes as pairs of texts; of very many, that of the first ones."""
    most = job.settings["most"]
    if not job.settings["two"]:
        classes = classes.where("n > 1")
        sizes = classes.select("method", "c", F.col("n").alias("size"), F.col("c").alias("first"))
        inside = members.of(classes.where(F.col("n") <= most) if most else classes).select("method", "c", "text")
        out = written_out(job, partners, sizes, sizes, inside, inside)
    else:
        sizes, inside = [], []
        for side in (0, 1):
            size, first = F.col(f"n{side}").alias("size"), F.col(f"first{side}").alias("first")
            sizes.append(classes.select("method", "c", size, first))
            inside.append(members.of(classes).where(F.col("side") == side).select("method", "c", "text"))
        turned = partners.select("method", F.col("b").alias("a"), F.col("a").alias("b"), "score")
        out = written_out(job, partners, *sizes, *inside).unionByName(written_out(job, turned, *sizes, *inside))
    return out.select("method", F.least("a", "b").alias("a"), F.greatest("a", "b").alias("b"), "score")


def written_out(job, partners, sizes_a, sizes_b, inside_a, inside_b):
    def named(table, side):
        own = [name for name in table.columns if name not in ("method", "c")]
        return table.select("method", F.col("c").alias(side), *[F.col(name).alias(f"{name}_{side}") for name in own])

    known = partners.join(named(sizes_a, "a"), ["method", "a"], "left")
    known = known.join(named(sizes_b, "b"), ["method", "b"], "left")
    # A class that is not among several has one text.
    known = known.select(
        "method",
        "a",
        "b",
        "score",
        F.coalesce("size_a", F.lit(1)).alias("size_a"),
        F.coalesce("size_b", F.lit(1)).alias("size_b"),
        F.coalesce("first_a", "a").alias("first_a"),
        F.coalesce("first_b", "b").alias("first_b"),
    )
    known = known.where("size_a > 0 and size_b > 0")
    single = F.expr("size_a = 1 and size_b = 1")
    few = limited(job, F.col("size_a") * F.col("size_b"))
    firsts = known.where(single | ~few).select("method", F.col("first_a").alias("a"), F.col("first_b").alias("b"), "score")
    alls = known.where(~single & few)
    alls = alls.join(named(inside_a, "a"), ["method", "a"], "left").join(named(inside_b, "b"), ["method", "b"], "left")
    a, b = F.coalesce("text_a", "first_a").alias("a"), F.coalesce("text_b", "first_b").alias("b")
    return firsts.unionByName(alls.select("method", a, b, "score"))


def write(job, texts, found):
    settings = job.settings
    names = texts.select("text", "name", "path", F.coalesce(F.col("offset").cast("string"), F.lit("null")).alias("offset"))
    named = beside(names, found)
    if settings["two"]:
        # A text that stands on both sides is no near duplicate of itself.
        named = named.where("not (a_path = b_path and a_offset = b_offset)")
        found = named.select(*found.columns)
    if settings["groups"]:
        what, rows, schema = "groups", group_rows(job, names, found), GROUP
    else:
        what, rows, schema = "pairs", pair_rows(job, named), ROW
    if settings["format"] == "parquet":
        rows.select(F.from_json("value", schema).alias("row")).select("row.*").write.parquet(settings["output"])
    else:
        rows.write.text(settings["output"])
    job.step(f"{what} written to {settings['output']}")


def beside(names, found):
    """Pairs with the names and places of both texts."""

    def named(end):
        return names.select(*[F.col(name).alias(f"{end}_{name}") for name in names.columns])

    return found.join(named("a"), F.col("a") == F.col("a_text")).join(named("b"), F.col("b") == F.col("b_text"))


def filled(row):
    """A row of JSON, with the columns that stand in it in angle brackets."""
    parts = re.split(r"<(\w+)>", row)
    return F.concat(*[F.col(part) if n % 2 else F.lit(part) for n, part in enumerate(parts)]).alias("value")


def names_of(job):
    """What the methods are called, as JSON."""
    return F.array(*[F.lit(json.dumps(method["name"])) for method in job.settings["methods"]])


def pair_rows(job, named):
    rows = named.withColumn("called", names_of(job)[F.col("method")])
    rows = rows.repartitionByRange(job.partitions, "a", "b", "method").sortWithinPartitions("a", "b", "method")
    return rows.select(
        filled(
            '{"schema":1,"a":<a_name>,"b":<b_name>,"method":<called>,"score":<score>,"verified":null,"verified_score":null,'
            '"a_path":<a_path>,"a_offset":<a_offset>,"b_path":<b_path>,"b_offset":<b_offset>}'
        )
    )


def group_rows(job, names, found):
    """Everybody who is connected through pairs, in the order of the first texts; a group is one row."""
    labels = job.components(job.settle(found.select("a", "b").distinct())).toDF("text", "root")
    seen = found.select(F.col("a").alias("text"), "method").join(labels, "text")
    called = F.transform(F.sort_array(F.collect_set("method")), lambda n: names_of(job)[n])
    seen = seen.groupBy("root").agg(F.concat_ws(",", called).alias("methods"))
    text = filled('{"name":<name>,"path":<path>,"offset":<offset>}')
    members = names.join(labels, "text").select("root", "text", text)
    listed = F.transform(F.sort_array(F.collect_list(F.struct("text", "value"))), lambda member: member["value"])
    groups = members.groupBy("root").agg(F.count("*").cast("string").alias("size"), F.concat_ws(",", listed).alias("texts"))
    numbers = job.numbered(labels.where("text = root").select("root"), ["root"], ["root"], "number")
    numbers = numbers.select("root", (F.col("number") + 1).alias("number"))
    rows = groups.join(seen, "root").join(numbers, "root").withColumn("group", F.col("number").cast("string"))
    rows = rows.repartitionByRange(job.partitions, "number").sortWithinPartitions("number")
    return rows.select(filled('{"schema":1,"group":<group>,"size":<size>,"methods":[<methods>],"texts":[<texts>]}'))
