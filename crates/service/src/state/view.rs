//! What was committed last, opened once for all who read.
//!
//! To begin a transaction and to open a table takes longer than to look something up. So the thread that writes
//! opens the tables after each commit, before anybody hears of it, and readers take what is there.

use std::sync::{Arc, PoisonError, RwLock};

use redb::{Database, ReadOnlyTable, ReadableDatabase};

use super::embedded::{CAMPAIGNS, INDEX, REPORTERS};

/// The tables as they were after one commit.
pub(super) struct View {
    pub(super) index: ReadOnlyTable<(u64, u64), ()>,
    pub(super) campaigns: ReadOnlyTable<u64, (u64, &'static [u8])>,
    pub(super) reporters: ReadOnlyTable<&'static str, &'static [u8]>,
}

impl View {
    fn open(database: &Database) -> Result<Self, redb::Error> {
        let transaction = database.begin_read()?;
        Ok(Self {
            index: transaction.open_table(INDEX)?,
            campaigns: transaction.open_table(CAMPAIGNS)?,
            reporters: transaction.open_table(REPORTERS)?,
        })
    }
}

/// The view of the moment.
pub(super) struct Latest(RwLock<Option<Arc<View>>>);

impl std::fmt::Debug for Latest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Latest")
    }
}

impl Latest {
    pub(super) fn open(database: &Database) -> Result<Self, redb::Error> {
        Ok(Self(RwLock::new(Some(Arc::new(View::open(database)?)))))
    }

    /// What readers see; `None` when the state has been closed.
    pub(super) fn get(&self) -> Option<Arc<View>> {
        self.0
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Lets readers see what has been committed.
    pub(super) fn renew(&self, database: &Database) -> Result<(), redb::Error> {
        let view = Arc::new(View::open(database)?);
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Some(view);
        Ok(())
    }

    /// Lets go of the file.
    pub(super) fn close(&self) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = None;
    }
}
