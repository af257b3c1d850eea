//! The milter: beside Postfix or Sendmail, while mail comes in.
//!
//! It fails open: whatever goes wrong here, mail goes through, without our headers.

mod message;
mod packet;
mod session;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::listen::Listener;
use crate::server::told_to_stop;
use crate::shared::{Counted, Shared};

/// Takes sessions until it is told to stop, and gives those that are open a little time.
pub(crate) async fn serve(
    listener: Listener,
    shared: Arc<Shared>,
    mut stop: watch::Receiver<bool>,
) {
    let mut tasks = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            Some(_) = tasks.join_next() => continue,
            () = told_to_stop(&mut stop) => break,
        };
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) => {
                shared.problem("accept", &error.to_string());
                tokio::time::sleep(Duration::from_millis(100)).await;
                continue;
            }
        };
        let open = shared.sessions.load(Ordering::Relaxed);
        let most = shared.current().settings.milter.sessions;
        let busy = open >= most;
        if busy {
            shared.metrics.refused("sessions");
        }
        // As many again are let through unchecked; more than that is no mail server.
        if open >= 2 * most {
            continue;
        }
        shared.sessions.fetch_add(1, Ordering::Relaxed);
        let shared = Arc::clone(&shared);
        tasks.spawn(async move {
            let _counted = Counted(&shared.sessions);
            if let Err(error) = session::serve(stream, &shared, busy).await {
                shared.metrics.refused("milter-session");
                shared.log.line(
                    "warning",
                    "milter-session",
                    &[("what", error.to_string().into())],
                );
            }
        });
    }
    drop(listener);
    // Mail servers keep sessions open as long as their clients: those who are in the middle of a
    // message get a moment, and after that the mail server goes on without us.
    let patience = Duration::from_secs(shared.current().settings.limits.stop_seconds.min(2));
    let all = async { while tasks.join_next().await.is_some() {} };
    let _ = timeout(patience, all).await;
    tasks.abort_all();
}
