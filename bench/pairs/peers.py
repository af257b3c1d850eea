#!/usr/bin/env python3
"""Near duplicates of JSON lines with a Python package.

usage: peers.py datasketch|rensa TEXTS.jsonl PAIRS.tsv

Three-word runs, 128 MinHashes; every text is looked up among those before it, then added. Threshold .7, so that pairs of .8 are
found with the probability that each package's own choice of bands gives.
"""
import json
import re
import sys

WORD = re.compile(r"[a-z0-9]+")


def runs(text):
    words = WORD.findall(text.lower())
    return [" ".join(words[i:i + 3]) for i in range(len(words) - 2)]


def datasketch(lines, out):
    from datasketch import MinHash, MinHashLSH

    index = MinHashLSH(threshold=0.7, num_perm=128)
    for line in lines:
        text = json.loads(line)
        sketch = MinHash(num_perm=128)
        sketch.update_batch([run.encode() for run in runs(text["text"])])
        for other in index.query(sketch):
            out.write(f"{other}\t{text['id']}\n")
        index.insert(text["id"], sketch)


def rensa(lines, out):
    from rensa import RMinHash, RMinHashLSH

    index = RMinHashLSH(threshold=0.7, num_perm=128, num_bands=16)
    ids = []
    for line in lines:
        text = json.loads(line)
        sketch = RMinHash(num_perm=128, seed=42)
        sketch.update(runs(text["text"]))
        for other in index.query(sketch):
            out.write(f"{ids[other]}\t{text['id']}\n")
        index.insert(len(ids), sketch)
        ids.append(text["id"])


def main():
    peer, texts, pairs = sys.argv[1:]
    with open(texts) as lines, open(pairs, "w") as out:
        {"datasketch": datasketch, "rensa": rensa}[peer](lines, out)


main()
