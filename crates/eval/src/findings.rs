//! What an experiment found.

use std::fs;
use std::path::Path;

use crate::{Chart, EvalError, Table};

/// What an experiment found: tables, pictures, and what to make of them.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    /// The word users type.
    pub name: String,
    /// What was asked.
    pub title: String,
    /// What was measured on, and how it compares with what the paper had.
    pub about: String,
    /// The numbers.
    pub tables: Vec<Table>,
    /// The pictures.
    pub charts: Vec<Chart>,
    /// What stands out, and where and why we fall short of a paper.
    pub remarks: Vec<String>,
}

impl Findings {
    /// Findings without any yet.
    pub fn new(name: &str, title: &str) -> Self {
        Self {
            name: name.to_owned(),
            title: title.to_owned(),
            ..Self::default()
        }
    }

    /// Says something that stands out.
    pub fn remark(&mut self, what: impl Into<String>) {
        self.remarks.push(what.into());
    }

    /// The table of this name.
    pub fn table(&self, name: &str) -> Option<&Table> {
        self.tables.iter().find(|table| table.name == name)
    }

    /// For a terminal.
    pub fn text(&self) -> String {
        let mut out = format!("{}\n{}\n", self.title, wrapped(&self.about));
        for table in self.tables.iter().filter(|table| !table.long) {
            out.push('\n');
            out.push_str(&table.text());
        }
        if !self.remarks.is_empty() {
            out.push('\n');
        }
        for remark in &self.remarks {
            out.push_str(&wrapped(&format!("- {remark}")));
            out.push('\n');
        }
        out
    }

    /// For a page; `pictures` is the folder of the pictures as seen from the page.
    pub fn markdown(&self, pictures: &str) -> String {
        let mut out = format!("## {}\n\n{}\n", self.title, self.about);
        for table in self.tables.iter().filter(|table| !table.long) {
            out.push_str(&format!("\n**{}**\n\n{}", table.title, table.markdown()));
        }
        for chart in &self.charts {
            out.push_str(&format!(
                "\n![{}]({pictures}/{}.svg)\n",
                chart.title, chart.name
            ));
        }
        if !self.remarks.is_empty() {
            out.push('\n');
        }
        for remark in &self.remarks {
            out.push_str(&format!("- {remark}\n"));
        }
        out
    }

    /// Writes the tables as CSV and the charts as SVG into a folder, which is made if need be.
    ///
    /// # Errors
    /// If something cannot be written or drawn.
    pub fn write(&self, folder: &Path) -> Result<(), EvalError> {
        fs::create_dir_all(folder).map_err(EvalError::writing(folder))?;
        for table in &self.tables {
            table.write_csv(&folder.join(format!("{}.csv", table.name)))?;
        }
        for chart in &self.charts {
            let path = folder.join(format!("{}.svg", chart.name));
            fs::write(&path, chart.svg()?).map_err(EvalError::writing(&path))?;
        }
        Ok(())
    }
}

/// Text in lines of at most 100 characters, as far as words allow.
fn wrapped(text: &str) -> String {
    let (mut out, mut width) = (String::new(), 0);
    for word in text.split_whitespace() {
        let length = word.chars().count();
        if width > 0 && width + 1 + length > 100 {
            out.push('\n');
            width = 0;
        } else if width > 0 {
            out.push(' ');
            width += 1;
        }
        out.push_str(word);
        width += length;
    }
    out
}
