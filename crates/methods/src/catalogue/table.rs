//! The table itself.

use super::{Cost, Entry, Parameter};

const fn parameter(
    name: &'static str,
    default: &'static str,
    values: &'static str,
    what: &'static str,
) -> Parameter {
    Parameter {
        name,
        default,
        values,
        what,
    }
}

/// The methods, in the order in which they are shown.
pub const METHODS: &[Entry] = &[
    Entry {
        name: "winnow",
        what: "Pairs of neighbouring words; of every few pairs the one with the smallest number is kept.",
        paper: "Elimination of Redundant Emails (2007)",
        good: "Texts quoted inside others, texts with a tenth of their words changed, sentences in another order. The best start.",
        bad: "Texts in which nearly every word is misspelt; texts of a few words.",
        score: "The share of fingerprints that both have, the mean of both directions (measure=containment: the larger one).",
        threshold: "0.5",
        finds: "Every pair at or above the threshold.",
        cost: Cost {
            microseconds: 20.0,
            bytes: 2100,
        },
        parameters: &[
            parameter(
                "window",
                "3",
                "1 to 64",
                "How many word pairs compete for one fingerprint: fewer see shorter passages and need more memory.",
            ),
            parameter(
                "measure",
                "resemblance",
                "resemblance, containment",
                "Whether a text inside a much longer one counts as a pair.",
            ),
        ],
    },
    Entry {
        name: "imatch",
        what: "One hash of the set of words that are neither common nor rare, and more hashes of random parts of that set.",
        paper: "Lexicon randomization for near-duplicate detection with I-Match (2008)",
        good: "Long texts with a few words added or dropped, in any order; huge collections: a handful of look-ups per text.",
        bad: "Short texts, other languages than the lexicon's, many substituted words (then set fitted). Pages made of one template look equal: verify.",
        score: "The share of hashes that agree.",
        threshold: "0.091",
        finds: "Every pair with enough equal hashes.",
        cost: Cost {
            microseconds: 18.0,
            bytes: 570,
        },
        parameters: &[
            parameter(
                "copies",
                "10",
                "0 to 1000",
                "How many random parts of the lexicon there are (K): more find more changed copies.",
            ),
            parameter(
                "removal",
                "0.33",
                "0 to 1",
                "The share of the lexicon that each part lacks.",
            ),
            parameter(
                "fitted",
                "0",
                "0 to 1000",
                "If above 0, each part lacks so much that about this many words of a text are left, however long it is; 12 finds texts with many words substituted.",
            ),
            parameter(
                "least-words",
                "5",
                "1 to 1000",
                "The fewest lexicon words that make a hash.",
            ),
            parameter(
                "ratio",
                "10",
                "0 to 100",
                "The least percentage of a text's words that must be in the lexicon.",
            ),
            parameter("votes", "1", "1 to 1000", "How many hashes must agree."),
            parameter(
                "seed",
                "0",
                "a whole number",
                "Where the random parts come from.",
            ),
        ],
    },
    Entry {
        name: "blocks",
        what: "A hash of every sentence (of every paragraph in texts of 20 KB and more), compared with their order.",
        paper: "E-mail de-duplication based on SHA-1 (Zhang, Li, Lin)",
        good: "Copies with a sentence added, dropped or moved; telling which passages are the same. Few false pairs.",
        bad: "Texts with a change in every sentence; texts of one or two sentences.",
        score: "Matched blocks, each the less the further it has moved, by the larger number of blocks.",
        threshold: "0.6",
        finds: "Every pair at or above the threshold.",
        cost: Cost {
            microseconds: 20.0,
            bytes: 1350,
        },
        parameters: &[
            parameter(
                "formula",
                "matched",
                "matched, paper, share",
                "paper and share are the paper's two formulas, for reproducing its tables.",
            ),
            parameter(
                "large",
                "20480",
                "a whole number",
                "From how many bytes on a text is cut into paragraphs.",
            ),
        ],
    },
    Entry {
        name: "simhash",
        what: "64 bits for the whole text that change little when the text does.",
        paper: "Near-duplicate spam detection with Cosdes and SimHash; Charikar's hash",
        good: "Very large collections: eight bytes a text. Long texts with few changes.",
        bad: "Short texts, where one changed word turns many bits; at 3 bits it misses nearly half of what winnow finds.",
        score: "1 less the share of bits that differ; unrelated texts are near 0.5.",
        threshold: "0.953",
        finds: "Every pair within the distance.",
        cost: Cost {
            microseconds: 18.0,
            bytes: 520,
        },
        parameters: &[
            parameter(
                "distance",
                "3",
                "0 to 64",
                "How many bits may differ (a threshold says the same in other words: 0.92 is 5 bits).",
            ),
            parameter(
                "features",
                "words",
                "words, pairs, triples",
                "What is counted: pairs and triples know the order of words and bear fewer changes.",
            ),
            parameter(
                "weights",
                "frequency",
                "frequency, presence",
                "Whether a word counts as often as it occurs, or once.",
            ),
            parameter(
                "stop-words",
                "yes",
                "yes, no",
                "Whether the commonest words count: without them there are fewer false pairs, and 8 bits may be allowed.",
            ),
        ],
    },
    Entry {
        name: "layout",
        what: "The tags of an HTML mail and the domains of its links, whatever the text says.",
        paper: "Cosdes: near-duplicate spam detection by layout abstraction",
        good: "Mails made from one template whose words were all replaced.",
        bad: "Says nothing of plain text. Newsletters of one sender look alike: never a reason to remove anything.",
        score: "1 for equal layouts, else the cosine of the angle that a 64-bit hash of tag runs and links shows.",
        threshold: "0.9",
        finds: "Every pair at or above the threshold.",
        cost: Cost {
            microseconds: 150.0,
            bytes: 300,
        },
        parameters: &[
            parameter(
                "least",
                "12",
                "1 to 1000",
                "Layouts with fewer tags say nothing.",
            ),
            parameter("run", "3", "1 to 100", "How many tags are taken together."),
            parameter("anchor", "8", "0 to 1000", "How much a link counts."),
        ],
    },
    Entry {
        name: "edit",
        what: "Characters: texts that few insertions, deletions and replacements turn into each other.",
        paper: "Sokolov, accelerated search for close texts by vector representations",
        good: "Misspelt, disguised (v1agra) or badly scanned copies that no method of words can see.",
        bad: "Slow, and large in memory. Moved sentences and added paragraphs count as many edits.",
        score: "1 less the edits by the length of the longer text.",
        threshold: "0.85",
        finds: "Nearly all: a pair must share one of its keys, which changed copies do with a probability that falls with the changes (some 0.95 at 5 % of the words).",
        cost: Cost {
            microseconds: 280.0,
            bytes: 3200,
        },
        parameters: &[
            parameter(
                "preset",
                "practical",
                "practical, paper",
                "Sets all others; name it first.",
            ),
            parameter(
                "q",
                "3",
                "1 to 100",
                "How many characters are taken together; the paper's preset has lengths of its own.",
            ),
            parameter(
                "widen",
                "2",
                "1 to 100",
                "Width of the windows: wider ones bear inserted words better and take more time.",
            ),
            parameter(
                "step",
                "4",
                "1 to 100",
                "Width of the hash's steps: wider ones let more texts agree.",
            ),
            parameter(
                "depth",
                "16",
                "1 to 400",
                "How many hashes must agree in one tree (K): fewer find more changed copies and more strangers.",
            ),
            parameter(
                "trees",
                "24",
                "1 to 1000",
                "How many trees (L): more find more and take more time and memory.",
            ),
            parameter(
                "folds",
                "yes",
                "yes, no",
                "Whether look-alike letters count as equal.",
            ),
            parameter(
                "longest",
                "2000",
                "100 to 1000000",
                "How many characters are read.",
            ),
            parameter(
                "seed",
                "0",
                "a whole number",
                "Where the random numbers come from.",
            ),
        ],
    },
];
