"""The rows that the program makes of mail: an outline and the message itself."""

import door

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


class Outlines:
    """Outlines as rows (see `inputs`)."""

    def __init__(self, settings):
        self.settings = settings
        self.columns = "side int, " + ", ".join(f"`{name}` {type}" for name, type in COLUMNS.items())

    def arguments(self):
        return ["--for", "scan"] + self.settings["outlining"]

    def schema(self):
        import pyarrow as pa

        types = {"string": pa.string(), "long": pa.int64(), "int": pa.int32(), "boolean": pa.bool_(), "binary": pa.binary()}
        types.update({"array<long>": pa.list_(pa.int64()), "array<string>": pa.list_(pa.string())})
        return pa.schema([("side", pa.int32())] + [(name, types[type]) for name, type in COLUMNS.items()])

    def path(self, path):
        return path

    def unread(self, side, path, problem):
        return door.one_row(self.schema(), side=side, path=path, problems=[problem])

    def read_whole(self, rows):
        return rows.where("problems = array('')")
