//! The loader: one thread, one epoll, prebuilt requests, and no more parsing than finding where an answer ends.
//!
//! A connection has one request under way at a time (no pipelining). Every answer must have the status that the round
//! expects; one that has not ends the run, because a fast error is no measurement.

mod connection;
mod measured;
mod processor;
mod request;
mod socket;

use std::{
    io,
    net::SocketAddr,
    rc::Rc,
    time::{Duration, Instant},
};

use mio::{Events, Interest, Poll, Token};

use self::connection::Connection;
pub use self::{
    measured::Measured,
    processor::{processor_time, resident_bytes},
    request::Request,
    socket::Socket,
};
use crate::report::Result;

/// Room for what one read takes from a socket.
const BUFFER_BYTES: usize = 256 * 1024;
/// How long answers that are still under way may take once a round is over.
const DRAIN_MAX: Duration = Duration::from_secs(10);

/// The bytes of a whole request.
pub type Bytes = Rc<[u8]>;

/// Where the requests of a round come from.
pub trait Traffic {
    /// The next request of this connection, counted from 0. `None` ends the round for all of them.
    fn next(&mut self, connection: usize) -> Option<Bytes>;
}

/// The same request again and again, one for each connection.
pub struct Repeated(pub Vec<Bytes>);

impl Traffic for Repeated {
    fn next(&mut self, connection: usize) -> Option<Bytes> {
        self.0.get(connection).cloned()
    }
}

/// How a round is driven.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    /// The server's address.
    pub address: SocketAddr,
    /// The server's process.
    pub process: u32,
    /// Keep-alive connections, each with one request under way.
    pub connections: usize,
    /// How long the round lasts, unless the traffic ends before.
    pub duration: Duration,
}

impl Load {
    /// Drives one round over new connections. Only what is answered within the round counts; the rest is awaited
    /// before the function returns, so that a following round starts from rest.
    pub fn run(&self, traffic: &mut dyn Traffic) -> Result<Measured> {
        let mut round = Round::open(self)?;
        let processors = (processor_time(None)?, processor_time(Some(self.process))?);
        let started = Instant::now();
        round.start(traffic)?;
        while round.ended.is_none() && started.elapsed() < self.duration {
            round.turn(traffic, self.duration.saturating_sub(started.elapsed()))?;
        }
        let seconds = started.elapsed().as_secs_f64();
        let measured = Measured::new(
            std::mem::take(&mut round.latencies),
            seconds,
            processor_time(None)?.saturating_sub(processors.0),
            processor_time(Some(self.process))?.saturating_sub(processors.1),
        );
        round.drain()?;
        Ok(measured)
    }
}

/// The traffic has no further request.
struct Exhausted;

struct Round {
    poll: Poll,
    events: Events,
    buffer: Vec<u8>,
    connections: Vec<Connection>,
    /// Microseconds from the first byte sent to the last one read.
    latencies: Vec<u32>,
    ended: Option<Exhausted>,
}

impl Round {
    fn open(load: &Load) -> Result<Self> {
        let poll = Poll::new()?;
        let mut connections = Vec::with_capacity(load.connections);
        for number in 0..load.connections {
            let mut connection = Connection::open(load.address)?;
            let interest = Interest::READABLE | Interest::WRITABLE;
            poll.registry().register(connection.stream(), Token(number), interest)?;
            connections.push(connection);
        }
        Ok(Self {
            poll,
            events: Events::with_capacity(load.connections * 2),
            buffer: vec![0; BUFFER_BYTES],
            connections,
            latencies: Vec::with_capacity(1 << 20),
            ended: None,
        })
    }

    fn start(&mut self, traffic: &mut dyn Traffic) -> Result<()> {
        for (number, connection) in self.connections.iter_mut().enumerate() {
            match traffic.next(number) {
                Some(request) => connection.send(request)?,
                None => self.ended = Some(Exhausted),
            }
        }
        Ok(())
    }

    /// Waits for events and serves them. Once the round has ended, nothing new is sent.
    fn turn(&mut self, traffic: &mut dyn Traffic, wait: Duration) -> Result<()> {
        match self.poll.poll(&mut self.events, Some(wait)) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Ok(()),
            polled => polled?,
        }
        for event in &self.events {
            let Token(number) = event.token();
            let connection = &mut self.connections[number];
            let Some(latency) = connection.proceed(&mut self.buffer)? else { continue };
            self.latencies.push(u32::try_from(latency.as_micros()).unwrap_or(u32::MAX));
            if self.ended.is_none() {
                match traffic.next(number) {
                    Some(request) => connection.send(request)?,
                    None => self.ended = Some(Exhausted),
                }
            }
        }
        Ok(())
    }

    fn drain(&mut self) -> Result<()> {
        self.ended = Some(Exhausted);
        let deadline = Instant::now() + DRAIN_MAX;
        while self.connections.iter().any(Connection::is_waiting) {
            if Instant::now() >= deadline {
                return Err("an answer did not come".into());
            }
            self.turn(&mut Repeated(Vec::new()), Duration::from_millis(100))?;
        }
        Ok(())
    }
}
