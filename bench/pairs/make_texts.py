#!/usr/bin/env python3
"""Writes texts of about a kilobyte as JSON lines, every tenth of them an edited copy of another one.

usage: make_texts.py COUNT TEXTS.jsonl PLANTED.tsv

Same count, same bytes: nothing is drawn from a clock. Words are those of the lexicon that comes with twicetold, as often as they
are in real mail, with the commonest English words between them; each text keeps to its subject, sixty words that make up most of
its content. A copy has 1 to 15 % of its words replaced, dropped or added.
Beyond the first 100,000, each further 100,000 are the first ones with every letter shifted in the alphabet: other words, at a
fraction of the time. PLANTED.tsv names the id of each copy, the id of its original, and the Jaccard coefficient of their sets of three-word runs.
"""
import bisect
import itertools
import json
import pathlib
import random
import sys

COMMON = {
    "the": 62, "to": 33, "of": 30, "and": 29, "a": 23, "in": 21, "that": 11, "is": 10, "for": 10, "it": 9, "on": 8, "you": 8, "with": 7,
    "this": 7, "we": 6, "be": 6, "are": 6, "have": 5, "not": 5, "as": 5, "at": 5, "or": 4, "if": 4, "was": 4, "from": 4, "will": 4,
    "but": 3, "they": 3, "by": 3, "can": 3, "an": 3, "your": 3, "all": 3, "our": 2, "has": 2, "one": 2, "so": 2, "do": 2, "there": 2,
}


def vocabulary():
    """Words and their cumulative weights; the common ones make up two fifths of every text."""
    path = pathlib.Path(__file__).resolve().parents[2] / "crates/methods/data/lexicon.txt"
    words, weights = [], []
    for line in path.read_text().splitlines():
        count, _, rest = line.partition(" ")
        if count.isdigit():
            for word in rest.split():
                words.append(word)
                weights.append(int(count))
    share = sum(weights) * 2 / 3 / sum(COMMON.values())
    for word, weight in COMMON.items():
        words.append(word)
        weights.append(weight * share)
    return words, list(itertools.accumulate(weights))


class Writer:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.words, self.sums = vocabulary()

    def word(self):
        return self.words[bisect.bisect(self.sums, self.random.random() * self.sums[-1])]

    def text(self):
        words, length = [], 0
        subject = [self.word() for _ in range(60)]
        while length < 1000:
            for _ in range(int(self.random.random() * 13) + 6):
                mine = self.random.random() < 0.6
                words.append(subject[int(self.random.random() * 60)] if mine else self.word())
                length += len(words[-1]) + 1
            words.append(".")
        return words

    def edited(self, words):
        share = 0.01 + self.random.random() * 0.14
        out = []
        for word in words:
            if word == "." or self.random.random() >= share:
                out.append(word)
                continue
            draw = self.random.random()
            if draw < 0.5:
                out.append(self.word())
            elif draw < 0.75:
                out.extend([word, self.word()])
        return out


def prose(words):
    sentences = [list(s) for stop, s in itertools.groupby(words, lambda w: w == ".") if not stop]
    return " ".join(" ".join(s).capitalize() + "." for s in sentences)


def runs(words):
    plain = [w for w in words if w != "."]
    return {tuple(plain[i:i + 3]) for i in range(len(plain) - 2)}


BLOCK = 100_000
SMALL, LARGE = "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def shifted(by):
    turn = lambda letters: letters[by % 26:] + letters[:by % 26]
    return str.maketrans(SMALL + LARGE, turn(SMALL) + turn(LARGE))


def main():
    count, texts, planted = int(sys.argv[1]), sys.argv[2], sys.argv[3]
    writer = Writer(20070821)
    recent, lines, pairs = [], [], []
    with open(texts, "w") as out, open(planted, "w") as truth:
        for number in range(min(count, BLOCK)):
            if number % 10 == 9:
                original, words = recent[int(writer.random.random() * len(recent))]
                copy = writer.edited(words)
                a, b = runs(words), runs(copy)
                pairs.append((number, original, f"{len(a & b) / len(a | b):.6f}"))
                words = copy
            else:
                words = writer.text()
                # One of the last two thousand originals is copied, each from far enough away to be in another block.
                recent.append((number, words))
                if len(recent) > 2000:
                    recent.pop(0)
            lines.append(prose(words))
        for start in range(0, count, BLOCK):
            table = shifted(start // BLOCK)
            for number, text in enumerate(lines[:count - start], start):
                out.write(json.dumps({"id": f"t{number}", "text": text.translate(table)}) + "\n")
            for copy, original, jaccard in pairs:
                if copy + start < count:
                    truth.write(f"t{copy + start}\tt{original + start}\t{jaccard}\n")


main()
