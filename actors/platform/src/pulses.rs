//! What happened on this node in the last few minutes, measured for whoever watches.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use domain::Timestamp;
use kernel::{LoadSample, Meter};
use parking_lot::Mutex;
use serde::Serialize;
use tokio::sync::watch;

use super::Platform;

/// How often it is measured.
pub const PULSE_EVERY: Duration = Duration::from_secs(2);
/// Pulses that are kept: five minutes.
const KEPT_MAX: usize = 150;

/// One measurement.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Measured {
    /// Its number, from 1 on.
    seq: u64,
    /// When it was taken.
    at: Timestamp,
    #[serde(flatten)]
    pulse: LoadSample,
}

/// The last measurements.
#[derive(Debug, Default)]
pub(super) struct Pulses {
    last: Mutex<VecDeque<Arc<Measured>>>,
    newest: watch::Sender<u64>,
}

impl Pulses {
    fn add(&self, at: Timestamp, pulse: LoadSample) {
        let seq = *self.newest.borrow() + 1;
        {
            let mut last = self.last.lock();
            if last.len() == KEPT_MAX {
                last.pop_front();
            }
            last.push_back(Arc::new(Measured { seq, at, pulse }));
        }
        self.newest.send_replace(seq);
    }

    /// Those after `seq`, oldest first; all, when `seq` is of an earlier life of the node.
    pub(super) fn after(&self, seq: u64) -> Vec<Arc<Measured>> {
        let seq = if seq > *self.newest.borrow() { 0 } else { seq };
        self.last.lock().iter().filter(|measured| measured.seq > seq).cloned().collect()
    }
}

impl Platform {
    /// Returns once something was measured on this node after this was called.
    pub async fn next_pulse(&self) {
        // The sender lives as long as the node.
        let _ = self.shared.pulses.newest.subscribe().changed().await;
    }
}

/// Measures for as long as the node lives.
pub(super) async fn keep_measuring(platform: Platform) {
    let mut meter = Meter::new(&platform.shared.kernel);
    let mut ticks = tokio::time::interval(PULSE_EVERY);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    ticks.tick().await;
    loop {
        ticks.tick().await;
        let at = platform.shared.services.store.now();
        platform.shared.pulses.add(at, meter.read());
    }
}
