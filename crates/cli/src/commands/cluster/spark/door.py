"""The program on an executor: one process for each task, lines in and lines out."""

import os
import socket
import subprocess
import tempfile
import threading


class Trouble(Exception):
    """What happened, on which host, and what to do next."""


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


def run(settings, arguments, lines):
    """Feeds lines to the program and gives the lines that it writes. What it writes is only all there is if this ends
    without an exception."""
    command = [program(settings)] + arguments
    with tempfile.TemporaryFile() as talk:
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=talk
        )
        broken = []

        def feed():
            try:
                for line in lines:
                    process.stdin.write(line)
                    process.stdin.write(b"\n")
            except BrokenPipeError:
                pass
            except BaseException as error:  # told below, on the thread of the task
                broken.append(error)
            finally:
                try:
                    process.stdin.close()
                except OSError:
                    pass

        feeder = threading.Thread(target=feed, daemon=True)
        feeder.start()
        try:
            for line in process.stdout:
                yield line.rstrip(b"\n")
            feeder.join()
            code = process.wait()
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
        if broken:
            raise broken[0]
        # 3 says that something could not be read; the rows say what.
        if code not in (0, 3):
            talk.seek(0)
            said = talk.read()[-2000:].decode("utf-8", "replace").strip()
            how = f"was ended by signal {-code}" if code < 0 else f"ended with code {code}"
            raise Trouble(f"host {socket.gethostname()}: twicetold {arguments[0]} {how}: {said}")
