"""Mail becomes rows: an outline and the message itself, made by the program on the executors."""

import os

import door

# A task reads about so many bytes, and no more files than a command line can name.
PACK, FILES = 32 << 20, 4000

# The columns of an outline that the job uses.
COLUMNS = {
    "path": "string",
    "offset": "long",
    "problems": "array<string>",
    "form": "string",
    "bytes": "long",
    "message_id": "string",
    "content": "string",
    "policy": "string",
    "copy": "string",
    "counted": "string",
    "begins": "string",
    "short": "boolean",
    "empty": "boolean",
    "answers": "boolean",
    "id_hash": "long",
    "topic": "long",
    "references": "array<long>",
    "asks": "array<long>",
    "holds": "array<long>",
    "fingerprints": "array<long>",
    "things": "array<long>",
    "fingerprint_count": "int",
    "words": "binary",
    "news": "binary",
    "message": "binary",
}


def packs(files, least):
    """Files, put together so that there are enough tasks and none is tiny: lists of (path, file)."""
    total = sum(size for _, _, size in files)
    room = min(PACK, max(1 << 16, total // max(least, 1)))
    out, filled = [[]], 0
    for path, file, size in files:
        if out[-1] and (filled + size > room or len(out[-1]) >= FILES):
            out.append([])
            filled = 0
        out[-1].append((path, file))
        filled += size
    return [pack for pack in out if pack]


def outlines(settings, options, pack_of):
    """For mapInArrow: numbers of packs become the outlines of their messages; `pack_of` gives the files of a number. A file on which the
    program ends is put aside, and the rest is read without it."""
    arguments = ["sketch", "--quiet", "--for", "scan", "--with-message", "--format", "arrow", "--threads", "1"] + options

    def read(some):
        called = {file: path for path, file in some if file != path}
        return [renamed(batch, called) for batch in door.arrow(settings, arguments + [file for _, file in some], None, list(COLUMNS))]

    def each(batches):
        for batch in batches:
            for number in batch.column(0).to_pylist():
                yield from outlined(pack_of(number))

    def outlined(pack):
        door.program(settings)
        there = [one for one in pack if os.path.exists(one[1])]
        for path, file in pack:
            if not os.path.exists(file):
                yield unread(path, f"the executor finds no {file}; put it where every host can read it")
        if not there:
            return
        try:
            yield from read(there)
        except door.Trouble:
            # Somebody in the pack ends the program: ask each file by itself.
            for one in there:
                try:
                    yield from read([one])
                except door.Trouble as trouble:
                    yield unread(one[0], f"left out: {trouble}")

    return each


def renamed(batch, called):
    """The files are called as the user called them."""
    import pyarrow as pa

    if not called:
        return batch
    paths = pa.array([called.get(path, path) for path in batch.column(0).to_pylist()], pa.string())
    return pa.RecordBatch.from_arrays([paths] + batch.columns[1:], list(COLUMNS))


def unread(path, problem):
    """The row of a file that could not be read."""
    import pyarrow as pa

    whole = {"string": pa.string(), "long": pa.int64(), "int": pa.int32(), "boolean": pa.bool_(), "binary": pa.binary()}
    whole.update({"array<long>": pa.list_(pa.int64()), "array<string>": pa.list_(pa.string())})
    known = {"path": path, "problems": [problem]}
    columns = [pa.array([known.get(name)], whole[type]) for name, type in COLUMNS.items()]
    return pa.RecordBatch.from_arrays(columns, list(COLUMNS))
