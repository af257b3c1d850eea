//! Is there a Spark, and may it be used?

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;
use clap::Args;

use crate::failure::Advice;

/// Where Spark is, and how it is started.
#[derive(Debug, Args)]
#[command(next_help_heading = "Spark")]
pub(super) struct SparkArgs {
    /// The Spark master, as in spark://head:7077 or yarn
    #[arg(long, value_name = "URL", default_value = "local[*]")]
    pub(super) master: String,

    /// The Python that has PySpark; executors need one of the same version [default: python3]
    #[arg(long, value_name = "FILE")]
    python: Option<PathBuf>,

    /// Where Spark is [default: SPARK_HOME, or the PySpark of that Python]
    #[arg(long, value_name = "DIR")]
    spark_home: Option<PathBuf>,

    /// The program on the executors, if it is not to be sent there
    #[arg(long, value_name = "FILE")]
    pub(super) executor_binary: Option<PathBuf>,

    /// A setting of Spark, as in spark.executor.memory=4g; may be given several times
    #[arg(long, value_name = "NAME=VALUE")]
    pub(super) conf: Vec<String>,

    /// Into how many tasks the work between reading and writing is cut [default: two for each core]
    #[arg(long, value_name = "N")]
    pub(super) partitions: Option<u32>,
}

/// A Spark that can be used.
#[derive(Debug)]
pub(super) struct Spark {
    /// Starts jobs.
    pub(super) submit: PathBuf,
    /// Where it is.
    pub(super) home: PathBuf,
    /// The Python of driver and executors.
    pub(super) python: PathBuf,
}

/// Tells where PySpark is, and the versions.
const ASK: &str = "import os, sys, pyspark, pyarrow, pandas; print(os.path.dirname(pyspark.__file__), pyspark.__version__, '%d.%d' % sys.version_info[:2], sep='\\n')";

impl Spark {
    /// Finds Python, PySpark and Java, and looks at their versions.
    pub(super) fn find(args: &SparkArgs) -> Result<Self> {
        // Executors work in folders of their own; a mere name is looked for in their PATH.
        let python = match &args.python {
            Some(python) if python.components().count() > 1 => {
                std::path::absolute(python).unwrap_or_else(|_| python.clone())
            }
            Some(python) => python.clone(),
            None => "python3".into(),
        };
        let shown = python.display();
        let install = "scripts/spark installs PySpark into target/spark-venv; then use --python target/spark-venv/bin/python";
        let asked = Command::new(&python).args(["-c", ASK]).output();
        let told = match asked {
            Ok(told) if told.status.success() => String::from_utf8_lossy(&told.stdout).into_owned(),
            Ok(_) => {
                let what = format!(
                    "{shown} has no PySpark with PyArrow and pandas (pip install 'pyspark[sql]')"
                );
                return Err(Advice::new(what, install).into_error());
            }
            Err(error) => {
                let what = format!("cannot start {shown}: {error}");
                return Err(Advice::new(what, install).into_error());
            }
        };
        let mut lines = told.lines();
        let (pyspark, version, python_version) = (
            lines.next().unwrap_or_default(),
            lines.next().unwrap_or_default(),
            lines.next().unwrap_or_default(),
        );
        if number(version) < (3, 5) || number(python_version) < (3, 9) {
            let what = format!(
                "{shown} is Python {python_version} with PySpark {version}; it takes 3.9 and 3.5, or later"
            );
            return Err(Advice::new(what, install).into_error());
        }
        let java = java(env::var_os("JAVA_HOME").map(PathBuf::from).as_deref());
        if java.is_none_or(|java| java < 17) {
            let found = java.map_or("no Java".to_owned(), |java| format!("Java {java}"));
            let hint = "install Java 17 (on Debian: apt-get install openjdk-17-jre-headless), or set JAVA_HOME";
            let what = format!("there is {found}, and Spark runs on Java 17 or later");
            return Err(Advice::new(what, hint).into_error());
        }
        let home = args
            .spark_home
            .clone()
            .or_else(|| env::var_os("SPARK_HOME").map(PathBuf::from))
            .unwrap_or_else(|| pyspark.into());
        let submit = home.join("bin/spark-submit");
        if !submit.exists() {
            let what = format!("there is no Spark in {}", home.display());
            let hint = "name the folder that has bin/spark-submit with --spark-home";
            return Err(Advice::new(what, hint).into_error());
        }
        Ok(Self {
            submit,
            home,
            python,
        })
    }
}

/// The first two numbers of a version.
fn number(version: &str) -> (u32, u32) {
    let mut parts = version.split('.').map(|part| part.parse().unwrap_or(0));
    (parts.next().unwrap_or(0), parts.next().unwrap_or(0))
}

/// Which Java there is: the number of its major version.
fn java(home: Option<&Path>) -> Option<u32> {
    let program = home.map_or_else(|| "java".into(), |home| home.join("bin/java"));
    let told = Command::new(program).arg("-version").output().ok()?;
    java_version(&String::from_utf8_lossy(&told.stderr))
}

/// The version that `java -version` tells: `"17.0.15"`, or `"1.8.0"` for 8.
fn java_version(told: &str) -> Option<u32> {
    let version = told.split('"').nth(1)?;
    match number(version) {
        (1, minor) => Some(minor),
        (major, _) => Some(major),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_understood() {
        assert_eq!(
            java_version("openjdk version \"17.0.15\" 2025-04-15"),
            Some(17)
        );
        assert_eq!(java_version("java version \"1.8.0_402\""), Some(8));
        assert_eq!(java_version("openjdk version \"25\" 2025-09-16"), Some(25));
        assert_eq!(java_version("command not found"), None);
        assert_eq!(number("4.1.0.dev0"), (4, 1));
        assert!(number("3.4.9") < (3, 5));
    }
}
