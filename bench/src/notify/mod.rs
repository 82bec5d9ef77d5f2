//! `notify`: events that become durable notices of a hundred people each, and how late timers are when very many are due;
//! both against the same work with one transaction per notice.

mod fan_out;
mod people;
mod timers;

use std::time::Duration;

use store::{Clock, testing::Scratch};

use self::{fan_out::FanOut, people::People, timers::Timers};
use crate::report::{Report, Result};

/// How much is measured.
#[derive(Clone, Copy, Debug)]
struct Amount {
    /// Rounds, in which the two sides take turns.
    rounds: usize,
    /// Events of a round; the other side gets a tenth of them, because it takes that much longer.
    events: usize,
    /// Timers of a round.
    timers: usize,
    /// The span in which they are due.
    window: Duration,
}

impl Amount {
    /// What follows the scenario's name: `--rounds`, `--events`, `--timers` and `--seconds`, each with a number.
    fn read(arguments: &[String]) -> Result<Self> {
        let mut amount = Self { rounds: 3, events: 500, timers: 100_000, window: Duration::from_secs(60) };
        for pair in arguments.chunks(2) {
            let [name, value] = pair else { return Err(format!("{} needs a number", pair[0]).into()) };
            match name.as_str() {
                "--rounds" => amount.rounds = value.parse()?,
                "--events" => amount.events = value.parse()?,
                "--timers" => amount.timers = value.parse()?,
                "--seconds" => amount.window = Duration::from_secs(value.parse()?),
                other => return Err(format!("no such option: {other}").into()),
            }
        }
        Ok(amount)
    }
}

/// Measures.
pub fn run(arguments: &[String]) -> Result<Report> {
    let amount = Amount::read(arguments)?;
    let runtime = tokio::runtime::Runtime::new()?;
    let _entered = runtime.enter();
    runtime.block_on(measure(amount))
}

async fn measure(amount: Amount) -> Result<Report> {
    let mut report = Report::new("notify");
    let scratch = Scratch::sqlite()?;
    let store = scratch.store(Clock::system()).await?;
    let people = People::enrol(&store).await?;
    FanOut::new(&store, &people).measure(amount, &mut report).await?;
    Timers::new(&store, &people).measure(amount, &mut report).await?;
    store.close().await;
    Ok(report)
}
