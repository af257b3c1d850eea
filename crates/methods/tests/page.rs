//! `docs/methods.md` is the table of methods.

use twicetold_methods::catalogue::page;

#[test]
fn the_page_is_the_table() {
    let shown = include_str!("../../../docs/methods.md");
    assert!(
        shown == page(),
        "docs/methods.md is not what the table says. Make it anew:\n  \
         cargo run -p twicetold-cli -- methods --format markdown > docs/methods.md"
    );
}
