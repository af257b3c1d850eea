//! Every method on one table: what it is, what it is good for, what can be set.
//!
//! The commands and `docs/methods.md` show this table; [`Chosen`] is a method taken from it, with its settings.
//!
//! ```
//! use twicetold_methods::catalogue::{Chosen, METHODS};
//!
//! let mut chosen = Chosen::new("simhash").unwrap();
//! chosen.set("distance", "5").unwrap();
//! assert_eq!(chosen.get("distance").as_deref(), Some("5"));
//! assert!(chosen.set("distance", "many").is_err());
//! assert_eq!(METHODS.len(), 6);
//! ```

mod chosen;
mod page;
mod table;

pub use chosen::{Chosen, Measure, SettingError};
pub use page::page;
pub use table::METHODS;

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// The name users type.
    pub name: &'static str,
    /// What it does, in a sentence.
    pub what: &'static str,
    /// Where it comes from.
    pub paper: &'static str,
    /// What it is good at.
    pub good: &'static str,
    /// What it is bad at.
    pub bad: &'static str,
    /// What its score means.
    pub score: &'static str,
    /// From which score on a pair counts unless told otherwise.
    pub threshold: &'static str,
    /// Which pairs are sure to be found.
    pub finds: &'static str,
    /// What a text costs.
    pub cost: Cost,
    /// What can be set.
    pub parameters: &'static [Parameter],
}

/// What a text of a kilobyte in JSON lines costs from the file to the pairs (for layout, a mail of four), measured as
/// `BENCHMARKS.md` tells. For comparing methods: only the ratios are worth anything elsewhere.
#[derive(Clone, Copy, Debug)]
pub struct Cost {
    /// Microseconds of one processor.
    pub microseconds: f64,
    /// Bytes of memory at the peak.
    pub bytes: u32,
}

/// Something that can be set.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// The name users type.
    pub name: &'static str,
    /// What holds if nothing is set.
    pub default: &'static str,
    /// What may be set.
    pub values: &'static str,
    /// What it does.
    pub what: &'static str,
}

/// The row of a method.
pub fn entry(name: &str) -> Option<&'static Entry> {
    METHODS.iter().find(|entry| entry.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_says_what_the_code_does() {
        for entry in METHODS {
            let chosen = Chosen::new(entry.name).unwrap();
            assert_eq!(chosen.method().name(), entry.name);
            for parameter in entry.parameters {
                let name = format!("{}.{}", entry.name, parameter.name);
                assert_eq!(
                    chosen.get(parameter.name).as_deref(),
                    Some(parameter.default),
                    "{name}"
                );
                let mut set = chosen.clone();
                set.set(parameter.name, parameter.default).unwrap();
                assert_eq!(set.get(parameter.name), chosen.get(parameter.name));
                assert!(set.set(parameter.name, "\u{1f}").is_err(), "{name}");
            }
            assert_eq!(chosen.get("no such thing"), None);
            let threshold = format!("{:.3}", chosen.threshold());
            let threshold = threshold.trim_end_matches('0');
            assert_eq!(threshold, entry.threshold, "{}", entry.name);
        }
    }

    #[test]
    fn unknown_names_are_refused_with_what_is_known() {
        let told = Chosen::new("winow").unwrap_err().to_string();
        assert!(told.contains("winnow, imatch"), "{told}");
        let told = Chosen::new("winnow")
            .unwrap()
            .set("windows", "3")
            .unwrap_err()
            .to_string();
        assert!(told.contains("window, measure"), "{told}");
    }

    #[test]
    fn every_setting_that_has_an_end_refuses_what_lies_beyond() {
        for (name, parameter, value) in [
            ("winnow", "window", "0"),
            ("imatch", "copies", "100000"),
            ("imatch", "removal", "1.5"),
            ("simhash", "distance", "65"),
            ("edit", "depth", "0"),
            ("edit", "longest", "99"),
            ("blocks", "formula", "Matched"),
        ] {
            let mut chosen = Chosen::new(name).unwrap();
            assert!(chosen.set(parameter, value).is_err(), "{name}.{parameter}");
        }
    }
}
