//! The clients of a server, driven by one thread and one epoll.

use std::{
    io,
    time::{Duration, Instant},
};

use mio::{Events, Interest, Poll, Token};

use super::{
    host::Host,
    ledger::{Ledger, id_of},
    stage::Stage,
    wire::{self, Said},
};
use crate::{
    load::{Socket, processor_time},
    report::Result,
};

/// Room for what one read takes from a socket.
const BUFFER_BYTES: usize = 256 * 1024;
/// How long a client may take to open its document.
const OPEN_MAX: Duration = Duration::from_secs(20);
/// What hasn't arrived when nothing has come for this long will never come.
const SILENCE: Duration = Duration::from_secs(3);

/// Who opens what.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    pub documents: usize,
    /// Clients that have one document open.
    pub clients: usize,
}

/// Clients with their documents open.
pub struct Crowd<'a> {
    host: &'a Host,
    per_document: usize,
    documents: Vec<String>,
    clients: Vec<Client>,
    ledger: Ledger,
    poll: Poll,
    events: Events,
    buffer: Vec<u8>,
}

struct Client {
    socket: Socket,
    /// What stands before each message.
    prefix: Vec<u8>,
    /// How many characters the server had when it was asked; `None` until it answers.
    found: Option<u64>,
}

impl<'a> Crowd<'a> {
    /// Makes the documents, and opens each for its clients.
    pub fn open(host: &'a Host, setting: Setting) -> Result<Self> {
        Self::open_again(host, host.new_documents(setting.documents)?, setting.clients)
    }

    /// Opens documents that are there already.
    pub fn open_again(host: &'a Host, documents: Vec<String>, per_document: usize) -> Result<Self> {
        let count = documents.len() * per_document;
        let mut crowd = Self {
            host,
            per_document,
            clients: Vec::with_capacity(count),
            ledger: Ledger::new(count, per_document),
            poll: Poll::new()?,
            events: Events::with_capacity(count * 2),
            buffer: vec![0; BUFFER_BYTES],
            documents,
        };
        for number in 0..count {
            let client = Client::connect(host, &crowd.documents[number / per_document])?;
            crowd.clients.push(client);
            let stream = crowd.clients[number].socket.stream();
            crowd.poll.registry().register(stream, Token(number), Interest::READABLE | Interest::WRITABLE)?;
            // What came with the answer to the handshake makes no event.
            crowd.attend(number)?;
        }
        let deadline = Instant::now() + OPEN_MAX;
        while !crowd.clients.iter().all(|client| client.found.is_some()) {
            if Instant::now() > deadline {
                return Err(format!("{}: a document does not open", host.name()).into());
            }
            crowd.turn(Duration::from_millis(50))?;
        }
        Ok(crowd)
    }

    /// The documents.
    pub fn documents(&self) -> &[String] {
        &self.documents
    }

    /// Types at this many updates a second altogether, everybody in turn.
    pub fn type_paced(&mut self, per_second: u32, duration: Duration) -> Result<Stage> {
        let mut clients = self.in_turn().into_iter().cycle();
        let spacing = Duration::from_secs(1) / per_second;
        let mut next = Duration::ZERO;
        self.measure(duration, |crowd, elapsed| {
            while next <= elapsed {
                crowd.type_some(clients.next().ok_or("nobody is there")?, 1)?;
                next += spacing;
            }
            Ok(next - elapsed)
        })
    }

    /// Types as fast as `in_flight` updates allow that not all neighbours have heard of.
    pub fn type_flat_out(&mut self, in_flight: usize, duration: Duration) -> Result<Stage> {
        let each = u32::try_from((in_flight / self.clients.len()).max(1))?;
        self.measure(duration, |crowd, elapsed| {
            for client in 0..crowd.clients.len() {
                let waiting = crowd.ledger.typed(client) - crowd.ledger.delivered(client);
                crowd.type_some(client, each.saturating_sub(waiting))?;
            }
            Ok(duration.saturating_sub(elapsed))
        })
    }

    /// Types so many updates at once, and reports once no more of them arrive.
    pub fn type_burst(&mut self, updates: usize) -> Result<Stage> {
        let each = u32::try_from(updates / self.clients.len())?;
        self.measure(Duration::ZERO, |crowd, _| {
            (0..crowd.clients.len()).try_for_each(|client| crowd.type_some(client, each))?;
            Ok(Duration::ZERO)
        })
    }

    /// The first client of every document pastes a text and types some more.
    pub fn write_a_little(&mut self, text: &str, keys: u32) -> Result<()> {
        for client in (0..self.clients.len()).step_by(self.per_document) {
            self.type_text(client, text);
            self.type_some(client, keys)?;
        }
        self.drain()
    }

    /// How many characters everybody together has typed.
    pub fn typed(&self) -> u64 {
        self.ledger.typed_by_all()
    }

    /// How many characters fresh clients find in these documents.
    pub fn found(host: &'a Host, documents: &[String]) -> Result<u64> {
        let fresh = Self::open_again(host, documents.to_vec(), 1)?;
        Ok(fresh.clients.iter().filter_map(|client| client.found).sum())
    }

    fn measure(
        &mut self,
        duration: Duration,
        mut send: impl FnMut(&mut Self, Duration) -> Result<Duration>,
    ) -> Result<Stage> {
        self.ledger.take_latencies();
        let before = self.ledger.delivered_of_all();
        let processors = (processor_time(None)?, processor_time(Some(self.host.process()))?);
        let started = Instant::now();
        loop {
            let wait = send(self, started.elapsed())?;
            if started.elapsed() >= duration {
                break;
            }
            self.turn(wait)?;
        }
        // A burst has no duration of its own: it lasts until it has arrived.
        if duration.is_zero() {
            self.drain()?;
        }
        let seconds = started.elapsed().as_secs_f64();
        let delivered = self.ledger.delivered_of_all() - before;
        let loader = processor_time(None)?.saturating_sub(processors.0);
        let server = processor_time(Some(self.host.process()))?.saturating_sub(processors.1);
        self.drain()?;
        Ok(Stage::new(delivered, self.ledger.take_latencies(), seconds, [loader, server], self.ledger.missing()))
    }

    /// Waits until everything has arrived, or nothing more does.
    fn drain(&mut self) -> Result<()> {
        let (mut missing, mut since) = (self.ledger.missing(), Instant::now());
        while missing > 0 && since.elapsed() < SILENCE {
            self.turn(Duration::from_millis(20))?;
            let still = self.ledger.missing();
            if still < missing {
                (missing, since) = (still, Instant::now());
            }
        }
        Ok(())
    }

    /// All clients, one of each document before the second of any.
    fn in_turn(&self) -> Vec<usize> {
        let first = |place: usize| (0..self.documents.len()).map(move |document| document * self.per_document + place);
        (0..self.per_document).flat_map(first).collect()
    }

    /// Types characters, each an update of its own.
    fn type_some(&mut self, client: usize, characters: u32) -> Result<()> {
        for _ in 0..characters {
            self.type_text(client, "a");
        }
        self.clients[client].socket.flush()
    }

    fn type_text(&mut self, client: usize, text: &str) {
        let to = &mut self.clients[client];
        let mut message = to.prefix.clone();
        wire::typed(&mut message, id_of(client), self.ledger.typed(client), text);
        to.socket.put(&message);
        self.ledger.send(client, text.len());
    }

    /// Waits for events and serves them.
    fn turn(&mut self, wait: Duration) -> Result<()> {
        match self.poll.poll(&mut self.events, Some(wait)) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Ok(()),
            polled => polled?,
        }
        let numbers: Vec<_> = self.events.iter().map(|event| event.token().0).collect();
        numbers.into_iter().try_for_each(|number| self.attend(number))
    }

    /// Reads what came for a client, and sends what waits for it.
    fn attend(&mut self, number: usize) -> Result<()> {
        let Self { host, clients, ledger, buffer, .. } = self;
        let Client { socket, prefix, found } = &mut clients[number];
        let mut is_asked = false;
        let read = socket.read(buffer, |message| {
            let now = ledger.now();
            match wire::said(host.without_prefix(message)?)? {
                Said::Question => is_asked = true,
                Said::All(update) => *found = Some(typed_characters(update)?),
                Said::Update(update) => {
                    wire::ranges(update, |id, from, to| ledger.hear(number, id, from, to, now))?;
                }
                Said::Other => {}
            }
            Ok(())
        });
        read.map_err(|error| format!("{}: {error}", host.name()))?;
        if is_asked {
            let mut nothing = prefix.clone();
            wire::have_nothing(&mut nothing);
            socket.put(&nothing);
        }
        socket.flush()
    }
}

impl Client {
    fn connect(host: &Host, document: &str) -> Result<Self> {
        let entrance = host.entrance(document)?;
        let mut socket = Socket::open(host.address(), &entrance.target)?;
        if let Some(greeting) = &entrance.greeting {
            socket.put(&[&entrance.prefix[..], greeting].concat());
        }
        let mut question = entrance.prefix.clone();
        wire::ask_for_all(&mut question);
        socket.put(&question);
        Ok(Self { socket, prefix: entrance.prefix, found: None })
    }
}

/// How many characters an update carries that the load has typed.
fn typed_characters(update: &[u8]) -> Result<u64> {
    let mut characters = 0;
    wire::ranges(update, |id, from, to| {
        characters += if id >= id_of(0) { u64::from(to - from) } else { 0 };
        Ok(())
    })?;
    Ok(characters)
}
