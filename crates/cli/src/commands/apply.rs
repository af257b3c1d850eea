//! `twicetold apply`.

use std::collections::{BTreeSet, HashSet};
use std::ffi::OsString;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use clap::builder::RangedU64ValueParser;
use clap::{Args, ValueEnum};
use twicetold_model::{Category, Location};
use twicetold_source::act::{Action, Applied, Progress, State, Watch, apply};
use twicetold_source::{
    Plan, PlanError, Removal, can_be_trash, can_be_trash_on_server, is_in_folder,
};

use super::TalkArgs;
use super::acting::{
    Count, Killed, Proofs, StateArgs, SureArgs, Wanted, advice, confirm, hands, settle, shown,
};
use super::engine::no_such_folder;
use crate::accounts::AccountsArgs;
use crate::failure::{Advice, Exit};
use crate::output::Output;
use crate::report::escape::{self, visible, visible_path};
use crate::report::units::{counted, size};
use crate::terminal::talk;

/// Carry out a plan: let go of the messages that say nothing new
///
/// Takes the plan that scan --plan wrote. Before a message goes, it and the messages that hold what it
/// says are read again, and the proof is checked again; what no longer fits stays, and is told. Messages
/// are moved to a trash folder beside their mailbox, or on a server to its trash, unless --action says
/// otherwise. All is written to a journal first: undo brings everything back, and a run that was killed is
/// settled by the next one.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub(super) struct ApplyArgs {
    /// The plan, as scan --plan wrote it
    plan: PathBuf,

    /// What to do with each message
    #[arg(long, value_enum, default_value_t)]
    action: Deed,

    /// The folder to move to, with --action move-to; on a server it is account:NAME/FOLDER
    #[arg(long, value_name = "DIR", required_if_eq("action", "move-to"))]
    to: Option<PathBuf>,

    /// The name of the trash folder: one that scans leave out, as .Trash [default: .Twicetold-Trash; on a server its own trash]
    #[arg(long, value_name = "NAME")]
    trash: Option<OsString>,

    /// The label to give, with --action label
    #[arg(long, value_name = "NAME", default_value = "twicetold")]
    label: String,

    /// Only these: a category (identical), a folder or file, path@offset, or a Message-ID
    #[arg(long, value_name = "WHAT")]
    only: Vec<String>,

    /// Not these, named as for --only
    #[arg(long, value_name = "WHAT")]
    except: Vec<String>,

    /// List every message that goes
    #[arg(long)]
    list: bool,

    /// How many seconds to wait for a mailbox that another program has locked
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    #[arg(value_parser = RangedU64ValueParser::<u64>::new().range(0..=3600))]
    lock_timeout: u64,

    #[command(flatten)]
    sure: SureArgs,

    #[command(flatten)]
    state: StateArgs,

    #[command(flatten)]
    accounts: AccountsArgs,
}

/// What to do with a message that may go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Deed {
    /// Move it to a trash folder beside its mailbox; on a server, to the trash there
    #[default]
    Trash,
    /// Move it to the folder given with --to
    MoveTo,
    /// Take it out of the mailbox; undo can bring it back until history --forget
    Delete,
    /// Leave it and mark it as deleted, as mail programs do
    Flag,
    /// Leave it as a second name of the file that is kept, if both are the same, byte for byte
    Hardlink,
    /// Leave it and give it a label
    Label,
}

impl From<Deed> for Action {
    fn from(deed: Deed) -> Self {
        match deed {
            Deed::Trash => Self::Trash,
            Deed::MoveTo => Self::MoveTo,
            Deed::Delete => Self::Delete,
            Deed::Flag => Self::Flag,
            Deed::Hardlink => Self::Hardlink,
            Deed::Label => Self::Label,
        }
    }
}

const AFTER_HELP: &str = "\
Examples:
  twicetold scan ~/Mail --plan mail.plan
  twicetold apply mail.plan --dry-run
  twicetold apply mail.plan
  twicetold apply mail.plan --only identical --except ~/Mail/Archive --yes
  twicetold undo

Exit codes: 0 done, 1 nothing was done because of an error, 2 wrong usage (or nobody there to say
yes), 3 done but some messages of the plan stay, 130 interrupted.

More: docs/apply.md (what each action does), docs/exit-codes.md";

/// How many messages that stay are told one by one.
const STAYING: usize = 20;

pub(super) fn run(args: &ApplyArgs, how: TalkArgs) -> Result<Exit> {
    let plan = read_plan(&args.plan)?;
    check_names(args, &plan)?;
    check_choice(args, &plan)?;
    let action = Action::from(args.action);
    let chosen: Vec<usize> = (0..plan.removals.len())
        .filter(|&n| args.wants(&plan.removals[n]))
        .collect();
    let bytes = chosen.iter().map(|&n| plan.removals[n].message.bytes).sum();
    let folder = args.state.folder()?;
    let watch = Killed::new();
    let mut wanted = args.wanted(action)?;

    if args.sure.dry_run {
        let judge = Proofs {
            short: plan.head.short,
        };
        let earlier = earlier(&State::list(&folder).unwrap_or_default(), &plan);
        wanted.keep_in(folder.join("store").join("next"));
        let mut hands = hands(Some(&plan), wanted, &args.accounts);
        let count = Count::new("Checking", chosen.len() as u64, how.quiet);
        let applied = apply(
            &plan, &chosen, &earlier, &mut hands, &judge, None, &watch, &count,
        );
        drop(count);
        report(args, &applied, None)?;
        return Ok(exit(&applied));
    }

    let state = State::open(&folder).map_err(advice)?;
    settle(&state, &args.accounts, &watch)?;
    let runs = state.runs().map_err(advice)?;
    let earlier = earlier(&runs, &plan);
    if chosen.is_empty() {
        Output::Stdout
            .write(|out| writeln!(out, "Nothing to do: the plan names no such message."))?;
        return Ok(Exit::Done);
    }
    let question = format!(
        "{} ({}) will be {}.",
        counted(chosen.len() as u64, "message", "messages"),
        size(bytes),
        done_with(action, args)
    );
    let word = (action == Action::Delete).then_some("delete");
    if !confirm(args.sure, &question, word)? {
        Output::Stdout.write(|out| writeln!(out, "Nothing was changed."))?;
        return Ok(Exit::Done);
    }
    let plan_file = std::path::absolute(&args.plan)?;
    let count = Count::new("Removing", chosen.len() as u64, how.quiet);
    let (number, applied) = carry_out(
        &state,
        &plan,
        &plan_file,
        &chosen,
        &earlier,
        wanted,
        &args.accounts,
        &watch,
        &count,
    )?;
    drop(count);
    report(args, &applied, Some(number))?;
    if let Some(stopped) = &applied.stopped {
        return Err(advice(stopped.clone()));
    }
    Ok(exit(&applied))
}

/// Begins a run and carries out the removals of a plan with these numbers; the number of the run, and what became of it.
#[allow(clippy::too_many_arguments)]
pub(super) fn carry_out(
    state: &State,
    plan: &Plan,
    plan_file: &Path,
    chosen: &[usize],
    earlier: &HashSet<Location>,
    mut wanted: Wanted,
    accounts: &AccountsArgs,
    watch: &dyn Watch,
    progress: &dyn Progress,
) -> Result<(u32, Applied)> {
    let (number, mut journal) = state
        .begin(wanted.local.action, plan, plan_file, watch)
        .map_err(advice)?;
    wanted.keep_in(state.store(number));
    let judge = Proofs {
        short: plan.head.short,
    };
    let mut hands = hands(Some(plan), wanted, accounts);
    let journal = Some(&mut journal);
    let applied = apply(
        plan, chosen, earlier, &mut hands, &judge, journal, watch, progress,
    );
    Ok((number, applied))
}

impl ApplyArgs {
    /// What the options ask for, of mailboxes here and on servers.
    fn wanted(&self, action: Action) -> Result<Wanted> {
        let mut wanted = Wanted::usual();
        (wanted.local.action, wanted.server.action) = (action, action);
        if let Some(trash) = &self.trash {
            wanted.local.trash.clone_from(trash);
            wanted.server.trash = trash.to_str().map(str::to_owned);
        }
        wanted.local.label.clone_from(&self.label);
        wanted.server.label.clone_from(&self.label);
        wanted.local.patience = Duration::from_secs(self.lock_timeout);
        if let Some(to) = &self.to {
            match server_folder(to) {
                Some(there) => wanted.server.to = Some(there),
                None => wanted.local.to = Some(std::path::absolute(to)?),
            }
        }
        Ok(wanted)
    }

    fn wants(&self, removal: &Removal) -> bool {
        (self.only.is_empty() || self.only.iter().any(|what| fits(what, removal)))
            && !self.except.iter().any(|what| fits(what, removal))
    }
}

/// The account and folder that `account:NAME/FOLDER` means.
fn server_folder(to: &Path) -> Option<(String, String)> {
    let (account, folder) = to.to_str()?.strip_prefix("account:")?.split_once('/')?;
    (!folder.is_empty()).then(|| (account.to_owned(), folder.to_owned()))
}

/// Refuses words of the user's that mean no message of the plan: a slip in `--except` would let go
/// what is to stay.
fn check_choice(args: &ApplyArgs, plan: &Plan) -> Result<()> {
    let words = args.only.iter().map(|what| ("--only ", what));
    let mut words = words.chain(args.except.iter().map(|what| ("--except ", what)));
    let fits_none = |what: &str| {
        let here = Location {
            path: what.into(),
            offset: None,
        };
        let named = |removal: &Removal| {
            let mut witnesses = removal.witnesses.iter();
            fits(what, removal) || witnesses.any(|witness| is_in_folder(&witness.location, what))
        };
        // A folder that is there may well have nothing that goes.
        let is_there = || plan.path(&here).exists() || Path::new(what).exists();
        let is_known = Category::ALL.iter().any(|category| category.name() == what)
            || what.starts_with("account:");
        !is_known && !plan.removals.iter().any(named) && !is_there()
    };
    match words.find(|(_, what)| fits_none(what)) {
        Some((option, what)) if !plan.removals.is_empty() => {
            let folder = |removal: &Removal| {
                let location = &removal.message.location;
                let path = &*location.path;
                match location.offset {
                    Some(_) => path.to_owned(),
                    None => {
                        let folder = path.rsplit_once('/').map_or(".", |(folder, _)| folder);
                        let parts = ["/cur", "/new"].iter();
                        let mut maildir = parts.filter_map(|part| folder.strip_suffix(part));
                        maildir.next().unwrap_or(folder).to_owned()
                    }
                }
            };
            let folders: BTreeSet<String> = plan.removals.iter().map(folder).collect();
            let there = folders.into_iter().collect();
            Err(no_such_folder(option, what, there))
        }
        _ => Ok(()),
    }
}

/// Whether a word of the user's means this message.
fn fits(what: &str, removal: &Removal) -> bool {
    let location = &removal.message.location;
    let id = removal.message.message_id.as_deref().unwrap_or_default();
    let bare = |id: &str| id.trim_matches(['<', '>']).to_owned();
    let plain = |path: &str| -> PathBuf {
        Path::new(path)
            .components()
            .filter(|part| *part != Component::CurDir)
            .collect()
    };
    removal.category.name() == what
        || !id.is_empty() && bare(id) == bare(what)
        || location.to_string() == what
        || plain(&location.path).starts_with(plain(what))
        || is_in_folder(location, what)
}

/// A plan, or what to do about it.
fn read_plan(path: &Path) -> Result<Plan> {
    let name = shown(path);
    let file = fs::read(path).with_context(|| {
        Advice::new(
            format!("the plan {name} cannot be read"),
            "check the name; a plan is written by twicetold scan PATH... --plan FILE",
        )
    })?;
    Plan::parse(&file).map_err(|error| {
        let hint = match error {
            PlanError::NotAPlan => "a plan is written by twicetold scan PATH... --plan FILE",
            PlanError::Version(_) => "scan again with this program for a new plan",
            PlanError::CutShort => {
                "it was cut short when it was written or copied; copy it again, or scan again for a new one"
            }
            PlanError::Changed => {
                "a plan cannot be edited; use --only and --except to choose from it, or scan again for a new one"
            }
            PlanError::Line(..) => "scan again for a new plan",
        };
        Advice::new(format!("{name} cannot be carried out: {error}"), hint).into_error()
    })
}

fn check_names(args: &ApplyArgs, plan: &Plan) -> Result<()> {
    let one = args.trash.as_ref().is_none_or(|trash| {
        let mut parts = Path::new(trash).components();
        matches!(
            (parts.next(), parts.next()),
            (Some(Component::Normal(_)), None)
        )
    });
    // On a server, a folder may lie in another one.
    if !one && plan.removals.iter().any(|r| !r.message.is_on_server()) {
        return Err(Advice::new(
            "--trash is the name of a folder, not a path",
            "use --action move-to --to DIR to move messages to a folder elsewhere",
        )
        .usage()
        .into_error());
    }
    let is_left_out = |on_server: bool, trash: &OsString| {
        let name = trash.to_string_lossy();
        match on_server {
            true => can_be_trash_on_server(&name),
            false => can_be_trash(&name),
        }
    };
    let read = args.trash.as_ref().filter(|trash| {
        let mut places = plan.removals.iter().map(|r| r.message.is_on_server());
        args.action == Deed::Trash && places.any(|on_server| !is_left_out(on_server, trash))
    });
    if let Some(trash) = read {
        return Err(Advice::new(
            format!(
                "scans would read {} and take what lies there for kept",
                visible_path(&trash.to_string_lossy())
            ),
            "name a folder that they leave out, such as --trash .Trash (on a server Trash), or use --action move-to --to DIR",
        )
        .usage()
        .into_error());
    }
    if args.label.is_empty()
        || args
            .label
            .contains(|c: char| c.is_control() || " ,".contains(c))
    {
        return Err(Advice::new(
            "--label is one word, without blanks and commas",
            "for example --label twicetold",
        )
        .usage()
        .into_error());
    }
    match &args.to {
        Some(to) if args.action == Deed::MoveTo && to.is_file() => Err(Advice::new(
            format!("{} is a file", shown(to)),
            "name a folder with --to",
        )
        .usage()
        .into_error()),
        Some(_) if args.action != Deed::MoveTo => Err(Advice::new(
            "--to belongs to --action move-to",
            "leave --to out, or add --action move-to",
        )
        .usage()
        .into_error()),
        _ => Ok(()),
    }
}

/// What earlier runs of the same plan removed.
pub(super) fn earlier(runs: &[twicetold_source::act::Run], plan: &Plan) -> HashSet<Location> {
    runs.iter()
        .filter(|run| run.head.seal == plan.seal)
        .flat_map(|run| run.out().map(|message| message.location.clone()))
        .collect()
}

/// "will be …", "were …".
fn done_with(action: Action, args: &ApplyArgs) -> String {
    match action {
        Action::Trash => "moved to the trash".to_owned(),
        Action::MoveTo => format!(
            "moved to {}",
            args.to.as_deref().map(shown).unwrap_or_default()
        ),
        Action::Delete => "deleted".to_owned(),
        Action::Flag => "marked as deleted".to_owned(),
        Action::Hardlink => "made one file with their copies".to_owned(),
        Action::Label => format!("given the label {}", visible(&args.label, escape::SUBJECT)),
    }
}

fn report(args: &ApplyArgs, applied: &Applied, run: Option<u32>) -> Result<()> {
    let action = Action::from(args.action);
    Output::Stdout.write(|out| {
        let count = applied.done.len() as u64;
        let messages = counted(count, "message", "messages");
        let what = done_with(action, args);
        let verb = match (run, count) {
            (None, _) => "would be",
            (Some(_), 1) => "was",
            (Some(_), _) => "were",
        };
        writeln!(out, "{messages} ({}) {verb} {what}.", size(applied.bytes))?;
        if args.list {
            for location in &applied.done {
                writeln!(out, "  {}", visible_path(&location.to_string()))?;
            }
        }
        if applied.already > 0 {
            let already = counted(applied.already, "message", "messages");
            writeln!(out, "{already} of the plan went in an earlier run.")?;
        }
        if !applied.refused.is_empty() {
            let stay = counted(
                applied.refused.len() as u64,
                "message stays",
                "messages stay",
            );
            let more = if run.is_none() { " (would stay)" } else { "" };
            writeln!(out, "{stay}{more}:")?;
            let most = if args.list { usize::MAX } else { STAYING };
            for (location, failure) in applied.refused.iter().take(most) {
                writeln!(
                    out,
                    "  {}: {}; {}",
                    visible_path(&location.to_string()),
                    visible(&failure.what, escape::MESSAGE),
                    visible(&failure.next, escape::MESSAGE)
                )?;
            }
            if let Some(rest @ 1..) = applied.refused.len().checked_sub(most) {
                writeln!(
                    out,
                    "  and {}; --list shows all",
                    counted(rest as u64, "more", "more")
                )?;
            }
        }
        for line in &applied.told {
            writeln!(out, "Note: {}", visible(line, escape::MESSAGE))?;
        }
        match run {
            None => writeln!(out, "Nothing was changed: this was a dry run."),
            Some(run) if count > 0 => {
                let state = args.state.repeated();
                writeln!(out, "To bring them back: twicetold undo {run}{state}")
            }
            Some(_) => writeln!(out, "Nothing was changed."),
        }
    })?;
    if run.is_none() && !applied.refused.is_empty() {
        talk("note: what would stay makes the exit code 3, as in a real run");
    }
    Ok(())
}

fn exit(applied: &Applied) -> Exit {
    if applied.refused.is_empty() {
        Exit::Done
    } else {
        Exit::Partly
    }
}
