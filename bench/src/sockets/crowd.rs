//! The clients of a server's sockets, driven by one thread and one epoll.

use std::{
    io, thread,
    time::{Duration, Instant},
};

use mio::{Events, Interest, Poll, Token};

use super::Host;
use crate::{
    load::{Socket, processor_time, resident_bytes},
    report::Result,
};

/// Room for what one read takes from a socket.
const BUFFER_BYTES: usize = 64 * 1024;
/// A message that has not come when nothing came for this long will never come.
const SILENCE: Duration = Duration::from_secs(30);
/// How often the sockets are looked after while the rest of them is opened.
const LOOK_AFTER: usize = 64;

/// When a message came, in milliseconds from when it was said.
pub struct Heard {
    pub first_ms: f64,
    pub p50_ms: f64,
    pub p99_ms: f64,
    pub last_ms: f64,
    /// Processors that the loader kept busy: near 1.0, it is the bottleneck.
    pub loader_processors: f64,
}

/// Open sockets.
pub struct Crowd<'a, H> {
    host: &'a H,
    sockets: Vec<Socket>,
    poll: Poll,
    events: Events,
    buffer: Vec<u8>,
}

impl<'a, H: Host> Crowd<'a, H> {
    pub fn new(host: &'a H) -> Result<Self> {
        let (poll, events) = (Poll::new()?, Events::with_capacity(4_096));
        Ok(Self { host, sockets: Vec::new(), poll, events, buffer: vec![0; BUFFER_BYTES] })
    }

    /// Opens so many more; how many that were a second.
    pub fn open(&mut self, more: usize) -> Result<f64> {
        let started = Instant::now();
        for number in 0..more {
            let mut socket = Socket::open(self.host.server().address(), &self.host.target()?)?;
            let token = Token(self.sockets.len());
            self.poll.registry().register(socket.stream(), token, Interest::READABLE)?;
            self.sockets.push(socket);
            if number % LOOK_AFTER == 0 {
                self.turn(Duration::ZERO, |_, _| Ok(()))?;
            }
        }
        Ok(count(more) / started.elapsed().as_secs_f64())
    }

    /// Memory of the server once nothing has happened for a while, in bytes.
    pub fn server_at_rest(&mut self, rest: Duration) -> Result<f64> {
        let until = Instant::now() + rest;
        while let Some(left) = until.checked_duration_since(Instant::now()) {
            self.turn(left, |_, _| Ok(()))?;
        }
        Ok(count(usize::try_from(resident_bytes(self.host.server().process())?)?))
    }

    /// Has all hear a message, and waits until they have.
    pub fn tell_all(&mut self, number: usize) -> Result<Heard> {
        let host = self.host;
        let mark = host.mark(number);
        let mut heard_at = vec![None; self.sockets.len()];
        let (mut missing, mut silent_since) = (self.sockets.len(), Instant::now());
        let before = processor_time(None)?;
        let started = Instant::now();
        // Whoever says it waits for an answer, which may come behind the first deliveries.
        thread::scope(|scope| -> Result<()> {
            let said = scope.spawn(|| host.say(number));
            while missing > 0 {
                let was_missing = missing;
                self.turn(Duration::from_millis(100), |socket, text| {
                    if heard_at[socket].is_none() && contains(text, mark.as_bytes()) {
                        heard_at[socket] = Some(started.elapsed());
                        missing -= 1;
                    }
                    Ok(())
                })?;
                if missing < was_missing {
                    silent_since = Instant::now();
                } else if silent_since.elapsed() > SILENCE {
                    return Err(format!("a message did not come to {missing} sockets").into());
                }
            }
            said.join().map_err(|_| "whoever said it panicked")?
        })?;
        let took = started.elapsed();
        let busy = processor_time(None)?.saturating_sub(before);
        let mut times: Vec<Duration> = heard_at.into_iter().flatten().collect();
        times.sort_unstable();
        let at = |share: usize| times[(times.len() - 1) * share / 100].as_secs_f64() * 1_000.0;
        let loader_processors = busy.as_secs_f64() / took.as_secs_f64();
        Ok(Heard { first_ms: at(0), p50_ms: at(50), p99_ms: at(99), last_ms: at(100), loader_processors })
    }

    /// Waits for events, and hands each message that came to `take`, with the number of its socket.
    fn turn(&mut self, wait: Duration, mut take: impl FnMut(usize, &[u8]) -> Result<()>) -> Result<()> {
        match self.poll.poll(&mut self.events, Some(wait)) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Ok(()),
            polled => polled?,
        }
        for event in &self.events {
            let Token(number) = event.token();
            let socket = &mut self.sockets[number];
            socket.read(&mut self.buffer, |message| take(number, message))?;
            // Pings are answered.
            socket.flush()?;
        }
        Ok(())
    }
}

fn contains(text: &[u8], mark: &[u8]) -> bool {
    text.windows(mark.len()).any(|window| window == mark)
}

/// A count as a figure.
#[expect(clippy::cast_precision_loss, reason = "far less than 2^52")]
pub const fn count(number: usize) -> f64 {
    number as f64
}
