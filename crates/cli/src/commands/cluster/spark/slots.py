"""Which word pairs and facts occur in more than one message: two bits for each slot, the same that a scan keeps."""

from array import array
from base64 import b64decode
import sys

FIRST_LINE = b"twicetold statistics 1\n"


def _halves(pairs):
    halves = array("I")
    halves.frombytes(b64decode(pairs))
    if sys.byteorder == "big":
        halves.byteswap()
    return halves


def count(slots):
    """For a partition: which slots are used, and which more than once."""
    mask = slots - 1

    def counted(rows):
        once, more = bytearray(slots // 8), bytearray(slots // 8)
        for pairs in rows:
            for half in _halves(pairs):
                slot = half & mask
                at, bit = slot >> 3, 1 << (slot & 7)
                if once[at] & bit:
                    more[at] |= bit
                else:
                    once[at] |= bit
        yield bytes(once), bytes(more)

    return counted


def merge(a, b):
    """Two counts are one: what both have used is used more than once."""
    once_a, more_a, once_b, more_b = (int.from_bytes(x, "little") for x in (*a, *b))
    size = len(a[0])
    once = (once_a | once_b).to_bytes(size, "little")
    more = (more_a | more_b | once_a & once_b).to_bytes(size, "little")
    return once, more


def is_new(outline, more):
    """Whether a message holds a fact or a run of words that no other message has, so that nothing can cover it."""
    mask = len(more) * 8 - 1

    def shared(half):
        slot = half & mask
        return more[slot >> 3] >> (slot & 7) & 1

    if any(not shared(fact) for fact in outline["facts"]):
        return True
    return any(
        sum(1 for half in halves if not shared(half)) > missing for missing, halves in outline["news"]
    )
