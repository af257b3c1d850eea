"""What the job reads: files in portions, under paths that every host has, or whatever Spark's connectors reach.

`rows` gives a DataFrame with a row for each text, made by the program on the executors (`cluster entries`). Which rows, its `kind` says:

    columns         their columns, as Spark writes types, the first being `side`: 0, or 1 for what is compared against
    arguments()     what the program is told
    schema()        the columns, for Arrow
    unread(side, path, problem)   the row of what could not be read
    path(path)      a path as it stands in the rows
    read_whole(rows)              of the rows those that say of a file that it was read to its end, with `side` and `path`
"""

import json
import tempfile
from itertools import chain

from pyspark.sql import functions as F

import door

# A Parquet file begins and ends with it.
MAGIC = b"PAR1"


def rows(job, kind):
    """All rows, and whether they stand in the order of the paths."""
    job.expected = []
    found = by_paths(job, kind)
    for side, files in enumerate(job.by_url):
        for more in by_urls(job, kind, side, files):
            found = more if found is None else found.unionByName(more)
    return found, not any(job.by_url)


def packs(lines, room, least):
    """Portions put together to tasks: enough of them, in order, none much larger than `room`."""
    portions = [(json.loads(line), line) for line in lines]
    total = sum(portion["bytes"] for portion, _ in portions)
    room = min(room, max(1 << 16, total // max(least, 1)))
    out, filled = [], 0
    for portion, line in portions:
        if not out or filled + portion["bytes"] > room or out[-1][0] != portion["side"]:
            out.append((portion["side"], []))
            filled = 0
        out[-1][1].append(line)
        filled += portion["bytes"]
    return [(side, "".join(lines)) for side, lines in out]


def by_paths(job, kind):
    """The portions of the manifest, a task for each pack; in order. None if there are none."""
    settings = job.settings
    with open(settings["manifest"], encoding="utf-8") as manifest:
        tasks = packs(manifest, settings["room"], job.partitions)
    job.step(f"{len(tasks)} tasks to read files")
    if not tasks and any(job.by_url):
        return None
    tasks = job.context.parallelize(tasks, max(1, len(tasks)))
    tasks = job.spark.createDataFrame(tasks, "side int, lines string")
    return tasks.mapInArrow(portions(settings, kind), kind.columns)


def arguments(kind, what):
    return ["cluster", "entries", "--from", what] + kind.arguments()


def portions(settings, kind):
    """Reads packs of portions. One on which the program ends is put aside, and the rest is read without it."""

    def read(lines):
        return door.whole(settings, arguments(kind, "portions"), door.saying(lines))

    def each(partition):
        schema = kind.schema()
        for batch in partition:
            for side, lines in zip(batch.column(0).to_pylist(), batch.column(1).to_pylist()):
                try:
                    for made in read(lines):
                        yield door.with_columns_of(schema, made, side=side)
                except door.Full:
                    raise  # It is not the mail that is bad.
                except door.Trouble as trouble:
                    door.program(settings)
                    alone = lines.splitlines(keepends=True)
                    if len(alone) == 1:
                        yield kind.unread(side, json.loads(lines)["path"], f"left out: {trouble}")
                        continue
                    # Somebody in the pack ends the program: ask each portion by itself.
                    for line in alone:
                        try:
                            for made in read(line):
                                yield door.with_columns_of(schema, made, side=side)
                        except door.Full:
                            raise
                        except door.Trouble as trouble:
                            yield kind.unread(side, json.loads(line)["path"], f"left out: {trouble}")

    return each


def by_urls(job, kind, side, files):
    """What Spark's connectors read: Parquet as rows, all else as whole files."""
    if not files:
        return
    tables = [path for path, _ in files if path.endswith(".parquet")]
    others = [path for path, _ in files if not path.endswith(".parquet")]
    job.step(f"{len(tables)} Parquet files and {len(others)} others by URL")
    whole = [path for path in tables if is_whole(job, path)]
    cut = sorted(set(tables) - set(whole))
    if cut:
        paths = job.spark.createDataFrame([(path,) for path in cut], "path string")
        yield paths.mapInArrow(cut_off(kind, side), kind.columns)
    if whole:
        table = job.spark.read.parquet(*whole)
        if not {"path", "id"} & set(table.columns):
            table = table.withColumns({"path": F.col("_metadata.file_path"), "offset": F.col("_metadata.row_index")})
        yield table.mapInArrow(handed(job.settings, kind, "rows", side), kind.columns)
    if others:
        # A file that cannot be read is passed over by Spark, and found to be missing below.
        lenient = {"ignoreCorruptFiles": "true", "ignoreMissingFiles": "true", "__globPaths__": "false"}
        job.expected += [(side, kind.path(path)) for path in others]
        bytes_of = job.spark.read.format("binaryFile").options(**lenient).load(others)
        yield bytes_of.select("path", "content").mapInArrow(handed(job.settings, kind, "files", side), kind.columns)


def cut_off(kind, side):
    problem = "the Parquet file is cut off or damaged: it does not end as one; write it again"

    def each(partition):
        for batch in partition:
            for path in batch.column(0).to_pylist():
                yield kind.unread(side, path, problem)

    return each


def passed_over(job, kind, rows):
    """The files that Spark was to read and has not: (side, path as it stands in the rows)."""
    if not job.expected:
        return []
    expected = job.spark.createDataFrame(job.expected, "side int, path string")
    return [tuple(row) for row in expected.join(kind.read_whole(rows), ["side", "path"], "left_anti").collect()]


def handed(settings, kind, what, side):
    """Hands batches over to the program. They are kept on the disk until it has ended well, to ask for each row by itself if it has not."""

    def each(partition):
        import pyarrow as pa

        schema = kind.schema()
        first = next(partition, None)
        if first is None:
            return
        given = chain([first], partition)
        with door.room(), tempfile.TemporaryFile() as kept:
            writer = pa.ipc.new_stream(kept, first.schema)

            def keeping():
                for batch in given:
                    writer.write_batch(batch)
                    yield batch

            def read(some):
                return door.whole(settings, arguments(kind, what), door.sending(first.schema, some))

            def again():
                # What the program had not taken before it ended is read now.
                for _ in keeping():
                    pass
                writer.close()
                kept.seek(0)
                with pa.ipc.open_stream(kept) as stream:
                    for batch in stream:
                        for row in range(batch.num_rows):
                            yield batch.slice(row, 1)

            try:
                for made in read(keeping()):
                    yield door.with_columns_of(schema, made, side=side)
            except door.Full:
                raise  # What was kept is not all there is.
            except door.Trouble:
                door.program(settings)
                for one in again():
                    try:
                        for made in read([one]):
                            yield door.with_columns_of(schema, made, side=side)
                    except door.Full:
                        raise
                    except door.Trouble as trouble:
                        yield kind.unread(side, name_of(one), f"left out: {trouble}")

    return each


def name_of(row):
    """What a row is called for people."""
    for name in ("id", "path"):
        at = row.schema.get_field_index(name)
        value = None if at < 0 else row.column(at)[0].as_py()
        if value is not None:
            return str(value)
    return "a row"


def file_system(context, url):
    """The connector for a URL, and the URL as it knows it."""
    path = context._jvm.org.apache.hadoop.fs.Path(str(url))
    try:
        return path.getFileSystem(context._jsc.hadoopConfiguration()), path
    except Exception as error:
        raise no_way(url, error)


def no_way(url, error):
    what = str(getattr(error, "java_exception", error)).splitlines()[0]
    return door.Trouble(f"Spark cannot reach {url}: {what}; check the address, and that Spark has the connector and the rights")


def listed(context, url):
    """The files below a URL, as Hadoop's connectors list them: (path, length), sorted. Hidden ones are left out, as Spark leaves them out."""
    system, root = file_system(context, url)
    files = []
    try:
        found = system.listFiles(root, True)
        while found.hasNext():
            one = found.next()
            path, name = one.getPath().toString(), one.getPath().getName()
            if not name.startswith((".", "_")) and one.getLen() > 0:
                files.append((path, one.getLen()))
    except Exception as error:
        raise no_way(url, error)
    return sorted(files)


def is_whole(job, path):
    """Whether a Parquet file begins and ends as one."""
    system, at = file_system(job.context, path)
    length = system.getFileStatus(at).getLen()
    if length < 12:
        return False
    file = system.open(at)
    try:
        front = bytes(file.read() & 255 for _ in MAGIC)
        file.seek(length - len(MAGIC))
        return front == MAGIC == bytes(file.read() & 255 for _ in MAGIC)
    finally:
        file.close()
