#!/usr/bin/env python3
"""Honest mail is reported as spam: how much other honest mail suffers?

usage: bench/spam/wronged.py [--binary PROGRAM] [--report N] [--check N] [--seed N] [--show] PLACE...

PLACE is a folder with a message in each file, or an mbox. Of all messages N, chosen by the seed, are reported once each by somebody nobody knows, and N others
are checked against those reports. Every message for which a campaign is named is told with why, as far as headers show it:

  copy      the very same message: the same Message-ID, or the same body
  thread    the reported message, an answer to it, what it answers, or another one under the same subject
  sender    another message of the same sender (a newsletter, a notice, the same signature)
  list      another message of the same mailing list
  stranger  none of these: to be read by hand (--show prints all, these are always printed). Old mail has few headers: who quotes a message
            under another subject is found here, too

Nothing is written but a folder that is gone at the end.
"""
import argparse
import email
import email.policy
import email.utils
import json
import mailbox
import pathlib
import random
import re
import subprocess
import tempfile


def messages(place):
    """Every message of a place, as bytes."""
    path = pathlib.Path(place)
    if path.is_dir():
        for file in sorted(one for one in path.rglob("*") if one.is_file()):
            yield file.read_bytes()
    else:
        for message in mailbox.mbox(path, create=False):
            yield message.as_bytes()


class Headers:
    """What the headers of a message tell about where it belongs."""

    def __init__(self, content):
        parsed = email.message_from_bytes(content, policy=email.policy.compat32)

        def field(name):
            return " ".join(str(value) for value in parsed.get_all(name, []))

        self.ids = set(re.findall(r"<[^<>\s]+>", field("Message-ID")))
        self.answers = set(re.findall(r"<[^<>\s]+>", field("In-Reply-To") + field("References")))
        subject = re.sub(r"\s+", " ", field("Subject")).lower()
        self.subject = re.sub(r"^((re|fwd?|aw|was)(\[\d+\])?:|\[[^\]]*\]|\s)+", "", subject).strip()
        # Newsletters write from an address of its own for each issue, under one name.
        name, address = email.utils.parseaddr(field("From"))
        self.sender = {name.lower(), address.lower()} - {""}
        lists = (field(name) for name in ("List-Id", "Mailing-List", "X-Mailing-List", "List-Post", "Sender"))
        self.list = next((name for name in lists if name), "").lower().strip()
        body = content.split(b"\n\n", 1)[-1]
        self.body = b" ".join(body.split())
        self.shown = f"{field('From')[:50]!r} {subject[:70]!r}"

    def why(self, reported):
        if self.ids & reported.ids or self.body == reported.body:
            return "copy"
        if (self.ids & reported.answers or self.answers & (reported.ids | reported.answers)
                or (self.subject and self.subject == reported.subject)):
            return "thread"
        if self.sender & reported.sender:
            return "sender"
        if self.list and self.list == reported.list:
            return "list"
        return "stranger"


ORDER = ["copy", "thread", "sender", "list", "stranger"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", default="target/release/twicetold")
    parser.add_argument("--report", type=int, default=200)
    parser.add_argument("--check", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", action="store_true")
    parser.add_argument("places", nargs="+")
    options = parser.parse_args()
    everything = [content for place in options.places for content in messages(place)]
    random.Random(options.seed).shuffle(everything)
    reported = everything[:options.report]
    others = everything[options.report:options.report + options.check]
    with tempfile.TemporaryDirectory() as room:
        room = pathlib.Path(room)

        def spam(verb, name, mails, *arguments):
            folder = room / name
            folder.mkdir()
            for number, content in enumerate(mails):
                (folder / f"{number}.eml").write_bytes(content)
            command = [options.binary, "spam", verb, "--db", room / "db", "--format", "jsonl", *arguments, folder]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            rows = [json.loads(line) for line in done.stdout.splitlines()]
            return {int(pathlib.Path(row["path"]).stem): row for row in rows}

        owners = {}
        for number, row in spam("report", "reported", reported, "--reporter", "stranger").items():
            if row["campaign"]:
                owners.setdefault(row["campaign"], []).append(number)
        named = {number: row for number, row in spam("check", "others", others).items() if row["campaign"]}
    headers = [Headers(content) for content in reported]
    counts = dict.fromkeys(ORDER, 0)
    spam_classes = 0
    for number, row in sorted(named.items()):
        own = Headers(others[number])
        causes = [(own.why(headers[one]), one) for one in owners.get(row["campaign"], [])]
        why, one = min(causes, key=lambda cause: ORDER.index(cause[0]), default=("stranger", None))
        counts[why] += 1
        spam_classes += row["class"] == "spam"
        if options.show or why == "stranger":
            known = headers[one].shown if one is not None else "?"
            evidence = {name: round(value, 2) for name, value in row["evidence"].items() if value}
            print(f"{why:8} {own.shown}\n      of {known}\n      score {row['score']:.2f} {evidence}")
    causes = ", ".join(f"{count} {why}" for why, count in counts.items())
    print(f"{len(reported)} reported ({len(owners)} campaigns), {len(others)} others checked: {len(named)} named ({causes}), {spam_classes} of class spam")


if __name__ == "__main__":
    main()
