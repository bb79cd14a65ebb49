//! The thread of a run's emulated links, from its start to its report.

use super::link_thread::{self, Period, Report, Signals, Tunnels};
use crate::error::{KernelError, Step};
use crate::run::network::Observation;
use dumbbell_plan::Plan;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;

type Thread = JoinHandle<Result<Report, KernelError>>;

/// See the top of this file. Not started at first.
#[derive(Default)]
pub(crate) struct RunningLinks {
    thread: Option<(Thread, Receiver<Observation>)>,
    signals: Arc<Signals>,
}

impl RunningLinks {
    /// Starts the thread; see [`link_thread::run`].
    pub(crate) fn start<T: Tunnels + Send + Sync + 'static>(
        &mut self,
        plan: &Plan,
        tunnels: Arc<T>,
        offloads: bool,
        period: Period,
    ) -> Result<(), KernelError> {
        let (plan, signals) = (plan.clone(), self.signals.clone());
        let (observer, observations) = channel();
        let thread = std::thread::Builder::new()
            .name("link".into())
            .spawn(move || link_thread::run(&plan, &*tunnels, offloads, period, &signals, Some(observer)));
        self.thread = Some((thread.step(|| "thread".into())?, observations));
        Ok(())
    }

    /// Reports the observations since the last call.
    pub(crate) fn drain(&self, each: &mut dyn FnMut(Observation)) {
        if let Some((_, observations)) = &self.thread {
            observations.try_iter().for_each(each);
        }
    }

    /// Asks the thread to end before the end of the run.
    pub(crate) fn stop(&self) {
        self.signals.stop.store(true, Ordering::Relaxed);
    }

    /// Waits for the end of the thread, and reports the last observations.
    pub(crate) fn finish(&mut self, each: &mut dyn FnMut(Observation)) -> Result<Report, KernelError> {
        let Some((thread, observations)) = self.thread.take() else {
            return Err(KernelError::Invalid("the link emulation was not started".into()));
        };
        let report = thread.join().map_err(|_| KernelError::Invalid("the link thread has failed".into()))??;
        observations.try_iter().for_each(each);
        Ok(report)
    }
}
