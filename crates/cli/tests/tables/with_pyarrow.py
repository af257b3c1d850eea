"""Tables in every shape that pyarrow writes, through sketch and judge; what these write, read by pyarrow."""

import json
import subprocess
import sys

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq

PROGRAM, FOLDER = sys.argv[1:3]

STORY = (
    "The harbour was closed on Monday because of the storm. Nobody had expected it. Three ships waited outside until "
    "the wind went down, and the captains sent word to their owners."
)
MAILS = [
    f"From: a{n}@example.org\nSubject: Harbour\n\n{STORY} {'It was over on Tuesday. ' * (n % 3)}\n".encode()
    for n in range(60)
]
IDS = [f"m{n:02}" for n in range(60)]
GROUPS = [n // 20 for n in range(60)]


def run(*args, given=b"", code=0):
    done = subprocess.run([PROGRAM, "--quiet", *args], input=given, capture_output=True)
    assert done.returncode == code, (args, done.returncode, done.stderr.decode())
    return done.stdout


def read(stream):
    with pa.ipc.open_stream(stream) as reader:
        return reader.read_all()


def written(table, kind, name):
    """The table as bytes of an Arrow stream, or as a file."""
    path = f"{FOLDER}/{name}"
    if kind == "stream":
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table, max_chunksize=7)
        return ["-"], sink.getvalue().to_pybytes()
    if kind in ("uncompressed", "lz4"):
        pa.feather.write_feather(table, path, compression=kind, chunksize=7)
    else:
        pq.write_table(table, path, row_group_size=25, **kind)
    return [path], b""


TEXTS = [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string())]
BYTES = [pa.binary(), pa.large_binary(), pa.binary_view()]
KINDS = [
    "stream",
    "uncompressed",
    "lz4",
    {"compression": "snappy"},
    {"compression": "lz4"},
    {"compression": "none", "use_dictionary": False, "data_page_version": "2.0"},
    {"compression": "snappy", "column_encoding": "PLAIN", "use_dictionary": False},
]

lines = "".join(
    json.dumps({"group": group, "id": id, "message": __import__("base64").b64encode(mail).decode()}) + "\n"
    for group, id, mail in zip(GROUPS, IDS, MAILS)
).encode()
sketches = run("sketch", "--with-message", "-", given=lines)
verdicts = run("judge", given=lines)
assert verdicts.count(b'"keep":false') > 30, verdicts

tried = 0
for text in TEXTS:
    for binary in BYTES:
        for kind in KINDS:
            view = text == pa.string_view() or binary == pa.binary_view()
            if view and isinstance(kind, dict) and tuple(map(int, pa.__version__.split(".")[:1])) < (18,):
                continue
            table = pa.table(
                {
                    "group": pa.array(GROUPS, pa.int16()),
                    "id": pa.array(IDS).dictionary_encode() if pa.types.is_dictionary(text) else pa.array(IDS, text),
                    "message": pa.array(MAILS, binary),
                    "unused": pa.array([[{"a": 1}]] * 60),
                }
            )
            paths, given = written(table, kind, f"in-{tried}")
            assert run("sketch", "--with-message", *paths, given=given) == sketches, (text, binary, kind)
            assert run("judge", *paths, given=given) == verdicts, (text, binary, kind)
            tried += 1
assert tried >= 30, tried

table = read(run("sketch", "--with-message", "--format", "arrow", "-", given=lines))
assert table.schema.metadata[b"twicetold.schema"] == b"1"
assert table.schema.field("keys").type == pa.list_(pa.int64()), table.schema
assert table["message"].to_pylist() == MAILS and table["id"].to_pylist() == IDS
for line, keys in zip(sketches.splitlines(), table["keys"].to_pylist()):
    assert json.loads(line)["keys"] == [f"{key & 0xFFFFFFFFFFFFFFFF:016x}" for key in keys]
# What pyarrow makes of our rows, we can read again.
paths, given = written(table, {"compression": "snappy"}, "ours.parquet")
assert run("sketch", "--with-message", *paths) == sketches
judged = read(run("judge", "--format", "arrow", given=lines))
for line, row in zip(verdicts.splitlines(), judged.to_pylist(), strict=True):
    assert json.loads(line) == row, (line, row)
# Nothing in, nothing out: a table all the same.
assert read(run("sketch", "--format", "arrow", "-")).num_rows == 0
# A cut is told, and so are kinds of compression that are not known here.
paths, given = written(table, "stream", "")
run("sketch", "-", given=given[:-200], code=3)
sink = pa.BufferOutputStream()
with pa.ipc.new_stream(sink, table.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as writer:
    writer.write_table(table)
assert b"without compression" in run("sketch", "-", given=sink.getvalue().to_pybytes(), code=3)
paths, _ = written(table, {"compression": "zstd"}, "zstd.parquet")
told = run("sketch", *paths, code=3)
assert b"zstd.parquet" in told and b"compressed by ZSTD" in told, told
print(f"{tried} tables: all the same")
