//! How many changed copies of reported spam are recognised, and how many honest messages alarmed?
//!
//! `figures BENCH [--unrelated DIR]... [--ham DIR]...`
//!
//! BENCH is a folder made by `spam_bench.py`: `known` (reported once each), `variants/KIND` (changed
//! copies), `unrelated` (stored in the second round), `ham` (must raise no alarm). More mail to store and
//! more honest mail can be added. *Recognised* means that the check names the campaign of the known message.

use std::collections::BTreeMap;
use std::error::Error;
use std::io::Write;
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use twicetold_service::{Class, Embedded, Engine, Sketches, Trust};
use twicetold_source::Collection;

const NOW: i64 = 1_000_000_000;

type Mail = BTreeMap<String, Sketches>;

fn read(folder: &Path) -> Mail {
    let collection = Collection::open(&[folder.to_path_buf()]);
    let sketched: Vec<(String, Sketches)> = collection
        .tasks()
        .par_bridge()
        .flat_map_iter(|task| {
            let mut out = Vec::new();
            task.run(
                &mut |raw| {
                    let sketches = Sketches::of(raw.form, &raw.bytes, &Trust::default());
                    out.push((raw.location.to_string(), sketches));
                },
                &mut |_| {},
            );
            out
        })
        .collect();
    sketched.into_iter().collect()
}

fn name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let bench = PathBuf::from(
        arguments
            .next()
            .ok_or("usage: figures BENCH [--unrelated DIR]... [--ham DIR]...")?,
    );
    let (mut unrelated, mut ham) = (vec![bench.join("unrelated")], vec![bench.join("ham")]);
    while let (Some(option), Some(folder)) = (arguments.next(), arguments.next()) {
        match option.as_str() {
            "--unrelated" => unrelated.push(folder.into()),
            _ => ham.push(folder.into()),
        }
    }
    let out = &mut std::io::stdout().lock();
    let engine = Engine::new(Box::new(Embedded::in_memory()?));
    let mut campaigns = BTreeMap::new();
    for (path, sketches) in &read(&bench.join("known")) {
        let receipt = engine.report(sketches, "stranger", NOW)?;
        let campaign = receipt.campaign.ok_or("a known message is blank")?;
        campaigns.insert(name(path).to_owned(), campaign.id);
    }
    let mut kinds: Vec<PathBuf> = std::fs::read_dir(bench.join("variants"))?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()?;
    kinds.sort();
    let variants: Vec<(String, Mail)> = kinds
        .iter()
        .map(|kind| (name(&kind.to_string_lossy()).to_owned(), read(kind)))
        .collect();
    let honest: Vec<(String, Mail)> = ham
        .iter()
        .map(|folder| (folder.display().to_string(), read(folder)))
        .collect();
    for round in ["after the known ones", "after unrelated ones"] {
        if round == "after unrelated ones" {
            let mut stored = 0;
            for folder in &unrelated {
                let mail: Vec<Sketches> = read(folder).into_values().collect();
                stored += mail.len();
                for some in mail.chunks(200) {
                    engine.report_all(some, "another", NOW)?;
                }
            }
            writeln!(out, "{stored} unrelated messages stored")?;
        }
        writeln!(out, "{round}:")?;
        for (kind, mail) in &variants {
            let (mut found, mut unsure) = (0, 0);
            for (path, sketches) in mail {
                let answer = engine.check(sketches, NOW)?;
                let right = answer.campaign.map(|campaign| campaign.id)
                    == campaigns.get(name(path)).copied();
                found += usize::from(right);
                unsure += usize::from(right && answer.class == Class::Unsure);
            }
            let share = found as f64 / mail.len().max(1) as f64;
            writeln!(
                out,
                "  {kind:14} {share:.3} of {} recognised, {unsure} of them unsure",
                mail.len()
            )?;
        }
        for (folder, mail) in &honest {
            let mut alarms = 0;
            for (path, sketches) in mail {
                let answer = engine.check(sketches, NOW)?;
                if let Some(campaign) = answer.campaign {
                    alarms += 1;
                    if alarms <= 20 {
                        writeln!(
                            out,
                            "   alarm {path}: {} {:.2} {:?}",
                            campaign.id, answer.score, answer.evidence
                        )?;
                    }
                }
            }
            writeln!(out, "  {alarms} alarms on {} in {folder}", mail.len())?;
        }
    }
    Ok(())
}
