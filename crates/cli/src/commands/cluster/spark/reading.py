"""Mail becomes rows: an outline and the message itself, made by the program on the executors."""

import json
import os

import door

# A task reads about so many bytes.
PACK = 32 << 20


def packs(files, least):
    """Files, put together so that there are enough tasks and none is tiny: lists of (path, file)."""
    total = sum(size for _, _, size in files)
    room = min(PACK, max(1 << 16, total // max(least, 1)))
    out, filled = [[]], 0
    for path, file, size in files:
        if out[-1] and filled + size > room:
            out.append([])
            filled = 0
        out[-1].append((path, file))
        filled += size
    return [pack for pack in out if pack]


def outlines(settings, options):
    """Reads packs of files. A file on which the program ends is put aside, and the rest is read without it."""
    arguments = ["sketch", "--quiet", "--for", "scan", "--with-message", "--threads", "1"] + options

    def read(some):
        called = {file: path for path, file in some}
        for row in door.run(settings, arguments + list(called), ()):
            row = json.loads(row)
            # The file is called as the user called it.
            row["path"] = called.get(row["path"], row["path"])
            yield row

    def each(partition):
        for pack in partition:
            door.program(settings)
            there = [one for one in pack if os.path.exists(one[1])]
            for path, file in pack:
                if not os.path.exists(file):
                    yield unread(path, f"the executor finds no {file}; put it where every host can read it")
            if not there:
                continue
            try:
                yield from list(read(there))
            except door.Trouble:
                # Somebody in the pack ends the program: ask each file by itself.
                for one in there:
                    try:
                        yield from list(read([one]))
                    except door.Trouble as trouble:
                        yield unread(one[0], f"left out: {trouble}")

    return each


def unread(path, problem):
    """The row of a file that could not be read."""
    return {"id": path, "path": path, "offset": None, "problems": [problem]}
