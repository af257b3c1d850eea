#!/usr/bin/env python3
"""usage: cut.py MBOX COUNT DIR: the first COUNT messages of an mbox, in files of up to 8 MB."""

import os
import sys

MOST = 8 << 20


def main(mbox, count, folder):
    os.makedirs(folder)
    left, number, filled, out = int(count), 0, MOST, None
    with open(mbox, "rb") as mail:
        for line in mail:
            if line.startswith(b"From "):
                if left == 0:
                    break
                left -= 1
                if filled >= MOST:
                    if out:
                        out.close()
                    out = open(os.path.join(folder, f"{number:06}.mbox"), "wb")
                    number, filled = number + 1, 0
            out.write(line)
            filled += len(line)
    out.close()
    if left:
        sys.exit(f"cut.py: {mbox} has {left} messages less than {count}; grow it further")


main(*sys.argv[1:])
