//! The table as a page of Markdown: `docs/methods.md` is this, and a test keeps it so.

use std::fmt::Write;

use super::{Entry, METHODS};

const INTRODUCTION: &str = "\
# Methods

Six ways of finding texts that say the same. `twicetold pairs --method NAME` uses one or several of them ([pairs.md](pairs.md)), `twicetold scan` stands on
`winnow`. This page is made from the table that the program itself uses: `twicetold methods` prints it, and `twicetold methods --format markdown` writes this
page.

A score lies between 0 and 1. A pair is reported if its score is at or above the threshold: the method's own, or the one given with `--threshold`.
Parameters are set with `--set METHOD.PARAMETER=VALUE`.
";

/// The page.
pub fn page() -> String {
    let mut page = String::from(INTRODUCTION);
    page.push_str(
        "\n| method | good at | bad at | threshold | µs | bytes |\n|---|---|---|---|---|---|\n",
    );
    for entry in METHODS {
        // Writing to a string cannot fail.
        let _ = writeln!(
            page,
            "| [{0}](#{0}) | {1} | {2} | {3} | {4} | {5} |",
            entry.name,
            entry.good,
            entry.bad,
            entry.threshold,
            entry.cost.microseconds,
            entry.cost.bytes
        );
    }
    page.push_str(
        "\nCost is that of one text of a kilobyte in JSON lines, for layout of a mail of four: microseconds of one processor and bytes of memory at the peak, from the file to the pairs. [BENCHMARKS.md](../BENCHMARKS.md#pairs) says how it was measured; only the ratios are worth anything elsewhere.\n",
    );
    for entry in METHODS {
        section(&mut page, entry);
    }
    page
}

fn section(page: &mut String, entry: &Entry) {
    let _ = write!(
        page,
        "\n## {}\n\n{}\n\n- **Paper:** {}.\n- **Score:** {}\n- **Threshold:** {}.\n- **Finds:** {}\n\n\
         | parameter | default | values | what it does |\n|---|---|---|---|\n",
        entry.name, entry.what, entry.paper, entry.score, entry.threshold, entry.finds
    );
    for row in entry.parameters {
        let _ = writeln!(
            page,
            "| `{}.{}` | {} | {} | {} |",
            entry.name, row.name, row.default, row.values, row.what
        );
    }
}
