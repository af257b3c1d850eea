//! `twicetold man` as users run it.

mod common;

use common::{Folder, text, twicetold};

const PAGES: &[&str] = &[
    "twicetold-account-add.1",
    "twicetold-account-list.1",
    "twicetold-account-remove.1",
    "twicetold-account-test.1",
    "twicetold-account.1",
    "twicetold-apply.1",
    "twicetold-cluster-entries.1",
    "twicetold-cluster-pairs.1",
    "twicetold-cluster-partners.1",
    "twicetold-cluster-scan.1",
    "twicetold-cluster.1",
    "twicetold-completions.1",
    "twicetold-eval-all.1",
    "twicetold-eval-blocks.1",
    "twicetold-eval-cases.1",
    "twicetold-eval-collisions.1",
    "twicetold-eval-edit.1",
    "twicetold-eval-filter-classify.1",
    "twicetold-eval-filter-finalize.1",
    "twicetold-eval-filter-initialize.1",
    "twicetold-eval-filter-train.1",
    "twicetold-eval-filter.1",
    "twicetold-eval-imatch.1",
    "twicetold-eval-redundancy.1",
    "twicetold-eval-simhash.1",
    "twicetold-eval-spam.1",
    "twicetold-eval.1",
    "twicetold-explain.1",
    "twicetold-fetch.1",
    "twicetold-history.1",
    "twicetold-judge.1",
    "twicetold-lexicon-build.1",
    "twicetold-lexicon-show.1",
    "twicetold-lexicon.1",
    "twicetold-man.1",
    "twicetold-methods.1",
    "twicetold-pairs.1",
    "twicetold-review.1",
    "twicetold-scan.1",
    "twicetold-serve.1",
    "twicetold-sketch.1",
    "twicetold-spam-campaigns.1",
    "twicetold-spam-check.1",
    "twicetold-spam-export.1",
    "twicetold-spam-import.1",
    "twicetold-spam-key.1",
    "twicetold-spam-report.1",
    "twicetold-spam-reporters.1",
    "twicetold-spam-revoke.1",
    "twicetold-spam-tidy.1",
    "twicetold-spam.1",
    "twicetold-statistics-ask.1",
    "twicetold-statistics-count.1",
    "twicetold-statistics-merge.1",
    "twicetold-statistics.1",
    "twicetold-undo.1",
    "twicetold.1",
];

#[test]
fn every_command_gets_a_page() {
    let folder = Folder::new("man");
    let run = twicetold(["man", "--out", &folder.at("")]);
    assert_eq!(run.status.code(), Some(0), "{}", text(&run.stderr));
    assert_eq!(folder.names(), PAGES);
    let page = std::fs::read_to_string(folder.at("twicetold-scan.1")).unwrap();
    assert!(page.contains(".TH twicetold-scan 1"), "{page}");
    assert!(page.contains("twicetold scan"), "{page}");
    assert!(page.contains("Examples:"), "{page}");
}

#[test]
fn without_a_folder_all_pages_go_to_stdout() {
    let run = twicetold(["man"]);
    assert_eq!(run.status.code(), Some(0));
    assert_eq!(
        text(&run.stdout).matches(".TH twicetold").count(),
        PAGES.len()
    );
}

#[test]
fn a_missing_folder_is_named_with_a_hint() {
    let run = twicetold(["man", "--out", "no/such/folder"]);
    assert_eq!(run.status.code(), Some(1));
    let told = text(&run.stderr);
    assert!(
        told.starts_with("error: there is no folder no/such/folder\nhint: "),
        "{told}"
    );
}
