"""The program on an executor: one process for each task, Arrow or lines in, Arrow or lines out. Rows do not become Python objects."""

from contextlib import contextmanager
from itertools import chain, islice
import errno
import os
import shutil
import socket
import subprocess
import tempfile
import threading


class Trouble(Exception):
    """What happened, on which host, and what to do next."""


class Full(Trouble):
    """There is no room on the disk of a host."""


# A disk that is full, or as good as full for this user or process.
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)

_checked = {}


def program(settings):
    """Where the program is on this host, after a look at its version."""
    path = settings["executor_binary"]
    if not path:
        from pyspark import SparkFiles

        path = SparkFiles.get(settings["binary_name"])
    if path in _checked:
        return path
    host = socket.gethostname()
    if not os.path.exists(path):
        raise Trouble(
            f"host {host} has no program at {path}; install twicetold {settings['version']} there, "
            "or leave out --executor-binary, so that it is sent"
        )
    if not os.access(path, os.X_OK):
        os.chmod(path, 0o755)
    try:
        told = subprocess.run([path, "--version"], capture_output=True, timeout=300)
    except OSError as error:
        raise Trouble(f"host {host} cannot run {path}: {error}; it has to be built for that host")
    version = told.stdout.decode("utf-8", "replace").strip()
    if version != settings["version"]:
        raise Trouble(
            f"host {host} has {version or 'another program'} at {path}, and the job was started by "
            f"{settings['version']}; install the same version everywhere"
        )
    _checked[path] = version
    return path


@contextmanager
def room():
    """What is put aside on the disk of this host has room there, or it is told what to do."""
    try:
        yield
    except OSError as error:
        if error.errno not in FULL:
            raise
        raise Full(
            f"host {socket.gethostname()}: no space is left in {tempfile.gettempdir()} ({error.strerror}); make room there, "
            "or set TMPDIR for the executors to a larger disk"
        )


@contextmanager
def running(settings, arguments, feed=None):
    """The program while it runs: gives what it writes, to be read. `feed` gets its stdin, on a thread of its own. What was read is
    only all there is if this ends without an exception; however it ends, the process has ended as well. Arguments that only the
    executor knows are a function."""
    arguments = arguments() if callable(arguments) else arguments
    command = [program(settings)] + arguments
    with tempfile.TemporaryFile() as talk:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=talk)
        broken = []

        def feeding():
            try:
                if feed:
                    feed(process.stdin)
            except BaseException as error:  # told below, on the thread of the task
                broken.append(error)
            finally:
                try:
                    process.stdin.close()
                except OSError:
                    pass

        feeder = threading.Thread(target=feeding, daemon=True)
        feeder.start()
        failed = None
        try:
            try:
                yield process.stdout
            except (ValueError, OSError) as error:  # Arrow that ends too early; why, the program tells
                failed = error
                process.stdout.close()
                if getattr(error, "errno", None) in FULL:
                    process.kill()
                    raise
            code = process.wait()
            feeder.join()
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
        # 3 says that something could not be read; the rows say what.
        if code not in (0, 3):
            talk.seek(0)
            said = talk.read()[-2000:].decode("utf-8", "replace").strip()
            how = f"was ended by signal {-code}" if code < 0 else f"ended with code {code}"
            what = " ".join(word for word in arguments[:2] if not word.startswith("-"))
            raise Trouble(f"host {socket.gethostname()}: twicetold {what} {how}: {said}")
        # A program that has ended well has read what it needed.
        broken = [error for error in broken if not isinstance(error, BrokenPipeError)]
        if failed or broken:
            raise failed or broken[0]


def sending(schema, batches):
    """Feeds the program with an Arrow stream."""

    def feed(stdin):
        import pyarrow as pa

        with pa.ipc.new_stream(stdin, schema) as writer:
            for batch in batches:
                writer.write_batch(batch)

    return feed


def saying(text):
    """Feeds the program with a text."""
    return lambda stdin: stdin.write(text.encode())


def arrow(settings, arguments, feed=None, columns=None):
    """The batches of the Arrow stream that the program writes, with these columns."""
    import pyarrow as pa

    with running(settings, arguments, feed) as out:
        with pa.ipc.open_stream(out) as reader:
            for batch in reader:
                yield batch.select(columns) if columns else batch


@contextmanager
def answer(settings, arguments, feed):
    """A file with all that the program writes, given only if it came to its end: whoever catches the trouble can ask again without getting a row twice."""
    with room(), tempfile.TemporaryFile() as file:
        with running(settings, arguments, feed) as out:
            shutil.copyfileobj(out, file, 1 << 20)
        file.seek(0)
        yield file


def whole(settings, arguments, feed):
    """The batches of a whole answer."""
    import pyarrow as pa

    with answer(settings, arguments, feed) as file, pa.ipc.open_stream(file) as stream:
        yield from stream


def whole_lines(settings, arguments, feed, at_once):
    """The lines of a whole answer, so many at once."""
    with answer(settings, arguments, feed) as file:
        while some := [line.decode("utf-8").rstrip("\n") for line in islice(file, at_once)]:
            yield some


def with_columns_of(schema, batch, **constants):
    """The batch with the columns of a schema: those it has, and constants for the others."""
    import pyarrow as pa

    def column(field):
        if field.name in constants:
            return pa.array([constants[field.name]] * batch.num_rows, field.type)
        at = batch.schema.get_field_index(field.name)
        return pa.nulls(batch.num_rows, field.type) if at < 0 else batch.column(at)

    return pa.RecordBatch.from_arrays([column(field) for field in schema], schema=schema)


def one_row(schema, **constants):
    """A row with the columns of a schema: these constants, and nothing else."""
    import pyarrow as pa

    return with_columns_of(schema, pa.RecordBatch.from_arrays([pa.nulls(1)], ["nothing"]), **constants)


def through(settings, arguments, columns):
    """For mapInArrow: the rows of a task go through the program, which writes rows with these columns."""

    def each(batches):
        first = next(batches, None)
        if first is not None:
            yield from arrow(settings, arguments, sending(first.schema, chain([first], batches)), columns)

    return each


def beside(settings, arguments, sent, told):
    """For mapInArrow: the rows of a task, each with the columns `told` that the program tells about it. It gets the columns `sent`,
    renamed, and answers in the same order."""
    from collections import deque

    def each(batches):
        import pyarrow as pa

        first = next(batches, None)
        if first is None:
            return
        waiting = deque()

        def asked(batch):
            waiting.append(batch)
            columns = [
                batch.column(name) if name else pa.array([constant] * batch.num_rows, pa.string())
                for name, _, constant in sent
            ]
            return pa.RecordBatch.from_arrays(columns, [called for _, called, _ in sent])

        head = asked(first)
        rows = chain([head], (asked(batch) for batch in batches))
        for answered in arrow(settings, arguments, sending(head.schema, rows), told):
            at = 0
            while at < answered.num_rows:
                batch = waiting.popleft()
                count = min(batch.num_rows, answered.num_rows - at)
                if count < batch.num_rows:
                    waiting.appendleft(batch.slice(count))
                columns = batch.slice(0, count).columns + answered.slice(at, count).columns
                yield pa.RecordBatch.from_arrays(columns, batch.schema.names + told)
                at += count

    return each
