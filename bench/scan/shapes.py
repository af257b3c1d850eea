#!/usr/bin/env python3
"""Writes mailboxes of awkward shapes into a folder: one template, one text, one deep thread; each also a tenth as large."""
import sys
from pathlib import Path

room = Path(sys.argv[1])
WORDS = ("harbour lantern meadow violin copper willow engine ledger orchard pepper quarry ribbon saddle timber umbrella "
         "valley walnut yarrow anchor basket candle dragon ember feather garden hammer island jacket kettle ladder").split()


def head(n, subject, extra=""):
    return (f"From box@example.org Thu Jan  1 00:00:00 1970\nFrom: Shop <shop@example.org>\nTo: you@example.net\n"
            f"Subject: {subject}\nDate: Mon, {1 + n % 28:02} Feb 2021 {n % 24:02}:{n // 24 % 60:02}:00 +0000\n"
            f"Message-ID: <{n}.{subject.replace(' ', '')}@example.org>\n{extra}\n")


def template(count, path):
    with open(path, "w") as out:
        for n in range(count):
            out.write(head(n, f"Order {n}") + f"Dear customer,\n\nyour order {100000 + n} over {n % 977}.{n % 100:02} EUR has left our warehouse "
                      "today. Please have your identity card ready when the courier rings the bell.\n\nThe parcel can be returned within a "
                      "month if the seal is unbroken. We are looking forward to your next visit.\n\n")


def identical(count, path):
    with open(path, "w") as out:
        for n in range(count):
            out.write(head(n, "Reminder") + "The annual general meeting takes place in the small hall on Friday evening, and everybody who "
                      "has paid the membership fee may vote on the new statutes.\n\n")


def thread(count, path):
    body = ""
    with open(path, "w") as out:
        for n in range(count):
            said = " ".join(WORDS[(n * 7 + k * (3 + n % 5)) % len(WORDS)] for k in range(14)) + f" in room {n}.\n"
            refs = f"In-Reply-To: <{n - 1}.Plans@example.org>\nReferences: <0.Plans@example.org> <{n - 1}.Plans@example.org>\n" if n else ""
            quoted = f"\nOn Monday, somebody wrote:\n" + "".join("> " + line + "\n" for line in body.splitlines()) if body else ""
            body = (said + quoted)[:100_000]
            out.write(head(n, "Plans", refs) + body + "\n\n")


for shape, large in (("template", 200_000), ("identical", 100_000), ("thread", 2_000)):
    globals()[shape](large // 10, room / f"{shape}-small.mbox")
    globals()[shape](large, room / f"{shape}.mbox")
