"""The program on an executor, fed with bytes and answering with Arrow batches: rows do not become Python objects."""

import socket
import subprocess
import tempfile

import door


def ask(settings, arguments, feed):
    """Starts the program once, lets `feed` write to its stdin, and gives the batches that it wrote. They are given only if the program came to its end, so
    whoever catches the trouble can ask again without getting a row twice."""
    import pyarrow as pa

    command = [door.program(settings)] + arguments
    with tempfile.TemporaryFile() as answer, tempfile.TemporaryFile() as talk:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=answer, stderr=talk)
        try:
            try:
                feed(process.stdin)
                process.stdin.close()
            except OSError:
                pass  # the pipe is closed: the program has ended, and its code says why
            code = process.wait()
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
        # 3 says that something could not be read; the rows say what.
        if code not in (0, 3):
            talk.seek(0)
            said = talk.read()[-2000:].decode("utf-8", "replace").strip()
            how = f"was ended by signal {-code}" if code < 0 else f"ended with code {code}"
            raise door.Trouble(f"host {socket.gethostname()}: twicetold {' '.join(arguments[:2])} {how}: {said}")
        answer.seek(0)
        with pa.ipc.open_stream(answer) as stream:
            yield from stream


def lines(text):
    """Feeds a text."""
    return lambda stdin: stdin.write(text.encode())


def stream(batches):
    """Feeds batches as an Arrow stream."""
    import pyarrow as pa

    def feed(stdin):
        writer = None
        for batch in batches:
            if writer is None:
                writer = pa.ipc.new_stream(stdin, batch.schema)
            writer.write_batch(batch)
        if writer is not None:
            writer.close()

    return feed


def with_columns_of(schema, batch, **constants):
    """The batch with the columns of a schema: those it has, and constants for the others."""
    import pyarrow as pa

    def column(field):
        if field.name in constants:
            return pa.array([constants[field.name]] * batch.num_rows, field.type)
        at = batch.schema.get_field_index(field.name)
        return pa.nulls(batch.num_rows, field.type) if at < 0 else batch.column(at)

    return pa.RecordBatch.from_arrays([column(field) for field in schema], schema=schema)
