"""Runs a command and says how many seconds it took and how much memory it had at the most that stands in no file, in KiB.

usage: anonymous.py COMMAND...

The system knows how much that is, not how much it was at the most: it is asked two hundred times a second.
"""

import subprocess
import sys
import time


def anonymous(process):
    try:
        with open(f"/proc/{process}/status") as status:
            found = [line for line in status if line.startswith("RssAnon:")]
    except OSError:
        return 0
    return int(found[0].split()[1]) if found else 0


def main():
    start = time.monotonic()
    running = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
    most = 0
    while running.poll() is None:
        most = max(most, anonymous(running.pid))
        time.sleep(0.005)
    print(f"{time.monotonic() - start:.2f} {most}")
    return running.returncode


if __name__ == "__main__":
    sys.exit(main())
