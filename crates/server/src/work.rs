//! Threads that look at messages, and the queue in front of them.
//!
//! The network's side must never wait for a disk or think for long; these threads may. The queue is
//! bounded: whoever does not fit in is told at once, and can try again.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use tokio::sync::oneshot;

type Job = Box<dyn FnOnce() + Send>;

/// Why there is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// Too many are waiting.
    Full,
    /// The server is stopping, or the work ended without an answer.
    Stopped,
}

/// A queue and its threads.
#[derive(Debug)]
pub(crate) struct Pool {
    queue: Arc<Queue>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

struct Queue {
    most: usize,
    waiting: Mutex<Waiting>,
    news: Condvar,
}

impl std::fmt::Debug for Queue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Queue").field("most", &self.most).finish()
    }
}

#[derive(Default)]
struct Waiting {
    jobs: VecDeque<Job>,
    /// Threads that have nothing to do and have not been woken.
    idle: usize,
    stopped: bool,
}

impl Pool {
    /// Starts the threads. At most `most` jobs wait.
    pub(crate) fn start(name: &str, threads: usize, most: usize) -> io::Result<Self> {
        let queue = Arc::new(Queue {
            most,
            waiting: Mutex::default(),
            news: Condvar::new(),
        });
        let threads = (0..threads.max(1))
            .map(|_| {
                let queue = Arc::clone(&queue);
                thread::Builder::new()
                    .name(name.to_owned())
                    .spawn(move || queue.work())
            })
            .collect::<io::Result<_>>()?;
        Ok(Self {
            queue,
            threads: Mutex::new(threads),
        })
    }

    /// Has work done on one of the threads. If nobody waits for the answer any more when its turn comes,
    /// it is left undone.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Refused> {
        let (answer, wait) = oneshot::channel();
        self.queue.put(Box::new(move || {
            if !answer.is_closed() {
                // Whoever asked may have gone meanwhile.
                let _ = answer.send(work());
            }
        }))?;
        wait.await.map_err(|_| Refused::Stopped)
    }

    /// How many jobs wait.
    pub(crate) fn waiting(&self) -> usize {
        self.queue.lock().jobs.len()
    }

    /// Finishes what waits, and ends.
    pub(crate) fn stop(&self) {
        self.queue.lock().stopped = true;
        self.queue.news.notify_all();
        let threads =
            std::mem::take(&mut *self.threads.lock().unwrap_or_else(PoisonError::into_inner));
        for thread in threads {
            // One that panicked has answered nobody, and they know.
            let _ = thread.join();
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.stop();
    }
}

impl Queue {
    fn lock(&self) -> std::sync::MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put(&self, job: Job) -> Result<(), Refused> {
        let mut waiting = self.lock();
        if waiting.stopped {
            return Err(Refused::Stopped);
        }
        if waiting.jobs.len() >= self.most {
            return Err(Refused::Full);
        }
        waiting.jobs.push_back(job);
        // To wake a thread is a call of the system; those that work look again by themselves.
        let wakes = waiting.idle > 0;
        waiting.idle = waiting.idle.saturating_sub(1);
        drop(waiting);
        if wakes {
            self.news.notify_one();
        }
        Ok(())
    }

    fn work(&self) {
        loop {
            let mut waiting = self.lock();
            let job = loop {
                if let Some(job) = waiting.jobs.pop_front() {
                    break job;
                }
                if waiting.stopped {
                    return;
                }
                waiting.idle += 1;
                waiting = self
                    .news
                    .wait(waiting)
                    .unwrap_or_else(PoisonError::into_inner);
            };
            drop(waiting);
            // A message that breaks the program must not take the thread with it.
            let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(job));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn a_full_queue_says_so_and_what_waits_is_done() {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        let pool = Arc::new(Pool::start("test", 1, 2).unwrap());
        let (release, hold) = mpsc::channel::<()>();
        let (begun, begins) = mpsc::channel::<()>();
        runtime.block_on(async {
            let spawn = |work: Box<dyn FnOnce() -> u32 + Send>| {
                let pool = Arc::clone(&pool);
                tokio::spawn(async move { pool.run(work).await })
            };
            let first = spawn(Box::new(move || {
                begun.send(()).unwrap();
                hold.recv().unwrap();
                1
            }));
            tokio::task::yield_now().await;
            begins.recv().unwrap();
            let (second, third) = (spawn(Box::new(|| 2)), spawn(Box::new(|| 3)));
            tokio::task::yield_now().await;
            tokio::task::yield_now().await;
            assert_eq!(pool.waiting(), 2);
            assert_eq!(pool.run(|| 4).await, Err(Refused::Full));
            release.send(()).unwrap();
            assert_eq!(first.await.unwrap(), Ok(1));
            assert_eq!(second.await.unwrap(), Ok(2));
            assert_eq!(third.await.unwrap(), Ok(3));
            assert_eq!(
                pool.run(|| if true {
                    panic!("broken")
                })
                .await,
                Err(Refused::Stopped)
            );
            assert_eq!(pool.run(|| 5).await, Ok(5));
            pool.stop();
            assert_eq!(pool.run(|| 6).await, Err(Refused::Stopped));
        });
    }
}
