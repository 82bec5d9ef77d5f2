//! How much one kind of resource may take, and how patiently it is brought back.

use std::time::Duration;

/// The limits of one kind of resource.
///
/// The defaults suit a resource of a person or an organization: small, quickly loaded, seldom asked by many at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// How many commands may wait for one key, the running one included; the next is answered `busy`.
    pub queue_len_max: u32,
    /// After how long without a command a resource leaves memory.
    pub idle_after: Duration,
    /// How many crashes within [`crash_window`](Self::crash_window) a key may have; one more is quarantine.
    pub crash_max: u32,
    /// Over what span crashes are counted.
    pub crash_window: Duration,
    /// The pause before the load after a first crash; it doubles from crash to crash, give or take a quarter.
    pub backoff_min: Duration,
    /// The longest such pause.
    pub backoff_max: Duration,
    /// How long a quarantined key answers `quarantined`.
    pub quarantine: Duration,
    /// From which time, queued and handled together, a command is written to the log.
    pub slow_after: Duration,
    /// How long one command may run, its load included; one that takes longer counts as crashed.
    pub turn_max: Duration,
    /// After how many commands in a row a host lets others of its thread go first.
    pub yield_every: u32,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            queue_len_max: 1_024,
            idle_after: Duration::from_mins(5),
            crash_max: 5,
            crash_window: Duration::from_mins(1),
            backoff_min: Duration::from_millis(50),
            backoff_max: Duration::from_secs(5),
            quarantine: Duration::from_mins(1),
            slow_after: Duration::from_secs(1),
            turn_max: Duration::from_secs(30),
            yield_every: 64,
        }
    }
}
