//! Tables: for people, for spreadsheets, for pages.

use std::path::Path;

use crate::EvalError;

/// A table of findings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// What its file is called, without an ending.
    pub name: String,
    /// What it shows.
    pub title: String,
    /// What its columns are called; the first names the rows.
    pub columns: Vec<String>,
    /// Its rows, as many cells each as there are columns.
    pub rows: Vec<Vec<String>>,
    /// Whether it is a long list that goes into a file and is not shown.
    pub long: bool,
}

impl Table {
    /// A table without rows.
    pub fn new(name: &str, title: &str, columns: &[&str]) -> Self {
        Self {
            name: name.to_owned(),
            title: title.to_owned(),
            columns: columns.iter().map(|&column| column.to_owned()).collect(),
            rows: Vec::new(),
            long: false,
        }
    }

    /// Adds a row; cells that are missing stay empty.
    pub fn row(&mut self, cells: impl IntoIterator<Item = impl Into<String>>) {
        let mut cells: Vec<String> = cells.into_iter().map(Into::into).collect();
        cells.resize(self.columns.len(), String::new());
        self.rows.push(cells);
    }

    /// The cell of a row by its first cell and the name of its column.
    pub fn cell(&self, row: &str, column: &str) -> Option<&str> {
        let at = self.columns.iter().position(|name| name == column)?;
        let row = self
            .rows
            .iter()
            .find(|cells| cells.first().is_some_and(|cell| cell == row))?;
        row.get(at).map(String::as_str)
    }

    /// In columns, for a terminal.
    pub fn text(&self) -> String {
        let all = std::iter::once(&self.columns).chain(&self.rows);
        let widths: Vec<usize> = (0..self.columns.len())
            .map(|at| {
                let cells = all.clone().filter_map(|row| row.get(at));
                cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
            })
            .collect();
        let mut out = format!("{}\n", self.title);
        for row in all {
            let mut line = String::new();
            for (at, (cell, &width)) in row.iter().zip(&widths).enumerate() {
                let gap = " ".repeat(width - cell.chars().count());
                // Names stand on the left, numbers on the right.
                match at {
                    0 => line.push_str(&format!("  {cell}{gap}")),
                    _ => line.push_str(&format!("  {gap}{cell}")),
                }
            }
            out.push_str(line.trim_end());
            out.push('\n');
        }
        out
    }

    /// For a page in Markdown.
    pub fn markdown(&self) -> String {
        let line = |cells: &[String]| {
            let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
            format!("| {} |\n", cells.join(" | "))
        };
        let mut out = line(&self.columns);
        out.push('|');
        for at in 0..self.columns.len() {
            out.push_str(if at == 0 { "---|" } else { "---:|" });
        }
        out.push('\n');
        self.rows.iter().for_each(|row| out.push_str(&line(row)));
        out
    }

    /// Writes it as CSV.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write_csv(&self, path: &Path) -> Result<(), EvalError> {
        let mut writer = csv::Writer::from_writer(Vec::new());
        let mut all = std::iter::once(&self.columns).chain(&self.rows);
        let written = all.try_for_each(|row| writer.write_record(row));
        let bytes = written
            .map_err(std::io::Error::from)
            .and_then(|()| writer.into_inner().map_err(|error| error.into_error()));
        bytes
            .and_then(|bytes| std::fs::write(path, bytes))
            .map_err(EvalError::writing(path))
    }
}

/// A share of all as a percentage with two decimals; a dash without anything to take a share of.
pub fn percent(part: f64, whole: f64) -> String {
    if whole > 0.0 {
        format!("{:.2}", 100.0 * part / whole)
    } else {
        "–".to_owned()
    }
}

/// A number from 0 to 1 with three decimals; a dash for what is none.
pub fn share(value: f64) -> String {
    if value.is_finite() {
        format!("{value:.3}")
    } else {
        "–".to_owned()
    }
}

/// A whole number with commas between thousands.
pub fn number(value: usize) -> String {
    let digits = value.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_shows_every_cell() {
        let mut table = Table::new("t", "A title", &["window", "ours", "paper"]);
        table.row(["1", "97.1", "96.45"]);
        table.row(["10", "a|b"]);
        assert_eq!(
            table.text(),
            "A title\n  window  ours  paper\n  1       97.1  96.45\n  10       a|b\n"
        );
        assert!(table.markdown().contains("| 10 | a\\|b |  |"));
        assert_eq!(table.cell("1", "paper"), Some("96.45"));
        assert_eq!(table.cell("2", "paper"), None);
    }

    #[test]
    fn numbers_for_people() {
        assert_eq!(number(0), "0");
        assert_eq!(number(999), "999");
        assert_eq!(number(1_234_567), "1,234,567");
        assert_eq!(percent(1.0, 3.0), "33.33");
        assert_eq!(percent(0.0, 0.0), "–");
        assert_eq!(share(f64::NAN), "–");
    }
}
