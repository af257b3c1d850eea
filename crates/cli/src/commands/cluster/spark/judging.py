"""The messages of each part are judged by the program; what is alone is told without it."""

import json
import tempfile

import door

# Groups are judged together until they have so many bytes.
TOGETHER = 64 << 20

# Verdicts are given to Spark so many at once.
AT_ONCE = 10_000

# The rows of a scan, schema 1.
VERDICTS = (
    "schema int, path string, offset long, message_id string, verdict string, category string, keep boolean, "
    "covered_by array<struct<path: string, offset: long, message_id: string, containment: double>>, "
    "residue array<string>, thread string, problems array<string>"
)


def statistics(settings, arguments):
    """The arguments, as a function: where the statistics are is known on the executor only."""

    def there():
        from pyspark import SparkFiles

        return arguments + ["--statistics", SparkFiles.get(settings["statistics_name"])]

    return there


def verdict(path, offset, message_id, standing, thread, problems):
    """The line that a scan writes about a message that shares nothing with others."""
    row = {
        "schema": 1,
        "path": path,
        "offset": offset,
        "message_id": message_id,
        "verdict": standing,
        "category": None,
        "keep": True,
        "covered_by": [],
        "residue": [],
        "thread": thread,
        "problems": problems,
    }
    return json.dumps(row, ensure_ascii=False, separators=(",", ":"))


def _batch(lines):
    import pyarrow as pa

    return pa.RecordBatch.from_arrays([pa.array(lines, pa.string())], ["line"])


def plain(batches):
    """For mapInArrow: (path, at, message_id, thread, problems, verdict) becomes a line."""
    for batch in batches:
        columns = [column.to_pylist() for column in batch.columns]
        yield _batch(
            [
                verdict(path, None if at < 0 else at, id, standing, thread, problems)
                for path, at, id, thread, problems, standing in zip(*columns)
            ]
        )


class Rows:
    """Rows of whole groups: in memory while they are few, in a file beyond TOGETHER bytes. Can be gone through more than once."""

    def __init__(self, schema):
        self.schema, self.some, self.size = schema, [], 0
        self.file = self.writer = None

    def add(self, batch):
        if not batch.num_rows:
            return
        self.size += batch.nbytes
        self.some.append(batch)
        if self.writer or self.size > TOGETHER:
            self.put_aside()

    def put_aside(self):
        import pyarrow as pa

        with door.room():
            if self.file is None:
                self.file = tempfile.TemporaryFile()
                self.writer = pa.ipc.new_stream(self.file, self.schema)
            for batch in self.some:
                self.writer.write_batch(batch)
        self.some = []

    def __iter__(self):
        import pyarrow as pa

        if self.file is None:
            yield from self.some
            return
        if self.writer:
            with door.room():
                self.writer.close()
                self.file.flush()
            self.writer = None
        self.file.seek(0)
        with pa.ipc.open_stream(self.file) as stream:
            yield from stream


def cut(batches, enough):
    """Whole groups, as many as have more than `enough` bytes together."""
    rows, last = None, None
    for batch in batches:
        rows, begins = rows or Rows(batch.schema), 0
        for at, group in enumerate(batch.column(0).to_pylist()):
            if group == last:
                continue
            last, before = group, batch.slice(begins, at - begins)
            if rows.size + before.nbytes > enough:
                rows.add(before)
                yield rows
                rows, begins = Rows(batch.schema), at
        rows.add(batch.slice(begins))
    if rows:
        yield rows


def judge(settings, cores):
    """For mapInArrow: judges the rows of a task, group after group. A group on which the program ends stays, unjudged."""
    arguments = ["judge", "--quiet", "--as-scan", "--largest", settings["largest"]] + settings["deciding"]

    def ask(rows, threads):
        there = statistics(settings, arguments + ["--threads", str(threads), "-"])
        for lines in door.whole_lines(settings, there, door.sending(rows.schema, rows), AT_ONCE):
            yield _batch(lines)

    def stay(rows, trouble):
        for batch in rows:
            names = ("path", "offset", "whole_context")
            told = zip(*(batch.column(name).to_pylist() for name in names))
            problems = [f"not judged: {trouble}"]
            yield _batch([verdict(path, offset, None, "unreadable", None, problems) for path, offset, context in told if not context])

    def each(batches):
        for rows in cut(batches, TOGETHER):
            door.program(settings)
            # A part that is large is what the others wait for: it may have all the cores that the executor has.
            threads = cores if rows.size > TOGETHER else 1
            try:
                yield from ask(rows, threads)
            except door.Full:
                raise
            except door.Trouble:
                for group in cut(rows, 0):
                    try:
                        yield from ask(group, 1)
                    except door.Full:
                        raise
                    except door.Trouble as trouble:
                        yield from stay(group, trouble)

    return each
