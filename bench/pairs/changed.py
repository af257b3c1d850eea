#!/usr/bin/env python3
"""How many changed copies of real mail does each method still find?

usage: changed.py TWICETOLD COLLECTION [METHOD...]

Takes 200 different messages of 300 characters and more from an mbox or a folder of messages, changes copies of them in six ways, and asks `twicetold pairs` for the copies'
partners among the originals; then the same for up to 2,000 other messages, where every partner is a false alarm. For layout, HTML messages get extra tags or
other words. Same collection, same figures. Use it on mail that parameters were not chosen on.
"""
import csv
import email
import email.policy
import json
import mailbox
import pathlib
import random
import re
import subprocess
import sys
import tempfile

LOOK_ALIKES = {"a": "@", "e": "3", "i": "1", "o": "0", "s": "$", "t": "7"}


def messages(path):
    path = pathlib.Path(path)
    if path.is_file():
        yield from (m.as_bytes() for m in mailbox.mbox(path))
    else:
        yield from (f.read_bytes() for f in sorted(path.rglob("*")) if f.is_file())


def parts(raw):
    """The plain text and the HTML of a message, as far as the standard library can read it."""
    text = html = None
    try:
        for part in email.message_from_bytes(raw).walk():
            kind = part.get_content_type()
            if kind in ("text/plain", "text/html"):
                body = part.get_payload(decode=True) or b""
                charset = part.get_content_charset() or "latin-1"
                try:
                    body = body.decode(charset, "replace")
                except LookupError:
                    body = body.decode("latin-1")
                if kind == "text/plain":
                    text = text or body
                else:
                    html = html or body
    except Exception:
        pass
    return text, html


def on_words(change):
    return lambda text, draw, words: re.sub(r"\w+", lambda m: change(m.group(), draw, words), text)


def mixed(share):
    def change(word, draw, words):
        if draw.random() >= share:
            return word
        kind = draw.random()
        other = words[int(draw.random() * len(words))]
        return other if kind < 0.5 else "" if kind < 0.75 else f"{word} {other}"
    return on_words(change)


def letters(share, disguise):
    def change(word, draw, _):
        if draw.random() >= share or len(word) < 3:
            return word
        at = int(draw.random() * (len(word) - 1))
        if disguise:
            return "".join(LOOK_ALIKES.get(c, c) for c in word)
        return word[:at] + word[at + 1] + word[at] + word[at + 2:]
    return on_words(change)


def tags(share):
    def change(html, draw, _):
        return re.sub(r"<[a-zA-Z][^>]*>", lambda m: m.group() + ("<b>x</b>" if draw.random() < share else ""), html)
    return change


def other_words(html, draw, words):
    pick = lambda: words[int(draw.random() * len(words))]
    return re.sub(r">[^<]+<", lambda m: ">" + re.sub(r"\w+", lambda _: pick(), m.group()[1:-1]) + "<", html)


TEXT = [("mixed 5 %", mixed(0.05)), ("mixed 10 %", mixed(0.1)), ("mixed 20 %", mixed(0.2)),
        ("look-alikes 15 %", letters(0.15, True)), ("swaps 15 %", letters(0.15, False)), ("swaps 30 %", letters(0.3, False))]
HTML = [("tags 1 %", tags(0.01)), ("tags 5 %", tags(0.05)), ("all words", other_words)]


def partners(binary, method, folder, asked, kind):
    out = folder / "pairs.csv"
    command = [binary, "pairs", "--quiet", "--method", method, "--format", "csv", "--output", str(out), str(asked), "--against", str(folder / f"known-{kind}")]
    subprocess.run(command, check=True)
    with open(out, newline="") as rows:
        return [(row["a"], row["b"]) for row in csv.DictReader(rows)]


def store(folder, name, texts, html):
    if html:
        place = folder / name
        place.mkdir()
        for number, text in enumerate(texts):
            (place / f"{number}.eml").write_text("Content-Type: text/html; charset=utf-8\n\n" + text, errors="replace")
    else:
        (folder / name).write_text("".join(json.dumps({"id": str(n), "text": t}) + "\n" for n, t in enumerate(texts)))


def stem(name):
    return pathlib.PurePath(name).stem


def measure(binary, method, known, others, words, changes, html):
    with tempfile.TemporaryDirectory() as room:
        folder, kind = pathlib.Path(room), "html" if html else "text"
        store(folder, f"known-{kind}", known, html)
        row = []
        for number, (name, change) in enumerate(changes):
            draw = random.Random(number)
            store(folder, f"asked-{number}", [change(text, draw, words) for text in known], html)
            found = {stem(a) for a, b in partners(binary, method, folder, folder / f"asked-{number}", kind) if stem(a) == stem(b)}
            row.append(f"{name} {len(found) / len(known):.3f}")
        store(folder, "others", others, html)
        alarms = {a for a, _ in partners(binary, method, folder, folder / "others", kind)}
        print(f"{method}: {', '.join(row)}; {len(alarms)} alarms on {len(others)} others ({len(known)} known)", flush=True)


def main():
    binary, source, *methods = sys.argv[1:]
    texts, pages = {}, {}
    for raw in messages(source):
        text, html = parts(raw)
        for body, kept in ((text, texts), (html, pages)):
            if body and len(body) >= 300:
                # The same beginning is the same message sent again, or a template: not two originals.
                kept.setdefault(re.sub(r"\W+", "", body)[:150], body)
    draw = random.Random(7)
    for kept, changes, html, known in ((texts, TEXT, False, ["winnow", "imatch", "blocks", "simhash", "edit"]), (pages, HTML, True, ["layout"])):
        bodies = list(kept.values())
        draw.shuffle(bodies)
        known = [method for method in known if not methods or method in methods]
        if len(bodies) < 40 or not known:
            continue
        count = min(200, len(bodies) // 2)
        words = [word for body in bodies[count:count + 500] for word in re.findall(r"\w{3,}", re.sub(r"<[^>]*>", " ", body))]
        for method in known:
            measure(binary, method, bodies[:count], bodies[count:count + 2000], words, changes, html)


main()
