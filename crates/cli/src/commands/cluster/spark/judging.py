"""The messages of each part are judged by the program; what is alone is told without it."""

import json

import door

# Groups are judged together until they have so many bytes.
TOGETHER = 64 << 20

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


def judge(settings, cores):
    """For mapInArrow: judges the rows of a task, group after group. A group on which the program ends stays, unjudged."""
    arguments = ["judge", "--quiet", "--as-scan", "--largest", settings["largest"]] + settings["deciding"]

    def ask(rows, threads):
        there = statistics(settings, arguments + ["--threads", str(threads), "-"])()
        feed = door.sending(rows[0].schema, rows)
        return [line.decode("utf-8") for line in door.lines(settings, there, feed)]

    def together(batches):
        """Whole groups, up to so many bytes or one that is larger, and how many bytes they are."""
        rows, size, last = [], 0, None
        for batch in batches:
            begins = 0
            for at, group in enumerate(batch.column(0).to_pylist()):
                if group == last:
                    continue
                last, before = group, batch.slice(begins, at - begins)
                if size + before.nbytes > TOGETHER:
                    yield rows + [before], size + before.nbytes
                    rows, size, begins = [], 0, at
            rows.append(batch.slice(begins))
            size += rows[-1].nbytes
        if rows:
            yield rows, size

    def one_by_one(rows):
        import pyarrow as pa

        table = pa.Table.from_batches(rows)
        groups = table.column("group").to_pylist()
        begins = 0
        for at in range(1, len(groups) + 1):
            if at == len(groups) or groups[at] != groups[begins]:
                yield table.slice(begins, at - begins).to_batches()
                begins = at

    def stay(rows, trouble):
        for batch in rows:
            names = ("path", "offset", "whole_context")
            for path, offset, context in zip(*(batch.column(name).to_pylist() for name in names)):
                if not context:
                    yield verdict(path, offset, None, "unreadable", None, [f"not judged: {trouble}"])

    def each(batches):
        for rows, size in together(batches):
            door.program(settings)
            # A part that is large is what the others wait for: it may have all the cores that the executor has.
            threads = cores if size > TOGETHER else 1
            try:
                yield _batch(ask(rows, threads))
            except door.Trouble:
                for group in one_by_one(rows):
                    try:
                        yield _batch(ask(group, 1))
                    except door.Trouble as trouble:
                        yield _batch(list(stay(group, trouble)))

    return each
