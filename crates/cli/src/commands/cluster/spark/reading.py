"""Mail becomes rows: an outline and the message itself, made by the program on the executors."""

import json
import os

import door

# A task reads about so many bytes.
PACK = 32 << 20


def packs(files, least):
    """Files, put together so that there are enough tasks and none is tiny: lists of paths."""
    total = sum(size for _, size in files)
    room = min(PACK, max(1 << 16, total // max(least, 1)))
    out, filled = [[]], 0
    for path, size in files:
        if out[-1] and filled + size > room:
            out.append([])
            filled = 0
        out[-1].append(path)
        filled += size
    return [pack for pack in out if pack]


def outlines(settings, options):
    """Reads packs of files. A file on which the program ends is put aside, and the rest is read without it."""
    arguments = ["sketch", "--quiet", "--for", "scan", "--with-message", "--threads", "1"] + options

    def read(paths):
        return [json.loads(row) for row in door.run(settings, arguments + paths, ())]

    def each(partition):
        for pack in partition:
            door.program(settings)
            present = [path for path in pack if os.path.exists(path)]
            for path in pack:
                if not os.path.exists(path):
                    yield unread(path, "the file is not there for the executor; put it where every host can read it")
            if not present:
                continue
            try:
                rows = read(present)
            except door.Trouble:
                # Somebody in the pack ends the program: ask each file by itself.
                for path in present:
                    try:
                        yield from read([path])
                    except door.Trouble as trouble:
                        yield unread(path, f"left out: {trouble}")
                continue
            yield from rows

    return each


def unread(path, problem):
    """The row of a file that could not be read."""
    return {"id": path, "path": path, "offset": None, "problems": [problem]}
