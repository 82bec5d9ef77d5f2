//! A DNS server that says what a test tells it to, over UDP on loopback.

use std::{
    collections::BTreeMap,
    net::{Ipv4Addr, SocketAddr, UdpSocket},
    sync::{
        Arc, Mutex, MutexGuard,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use serde_json::Value;

const A: u16 = 1;
const NS: u16 = 2;
const SOA: u16 = 6;
const MX: u16 = 15;
const TXT: u16 = 16;
const SRV: u16 = 33;

/// What the server does with a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mood {
    /// It answers.
    Answers,
    /// It says that it failed.
    Fails,
    /// It says nothing.
    IsSilent,
}

#[derive(Debug)]
struct Says {
    mood: Mood,
    zones: Vec<String>,
    records: BTreeMap<(String, u16), Vec<Vec<u8>>>,
    asked: usize,
}

/// The server; it stops when this is dropped.
#[derive(Debug)]
pub struct Dns {
    pub address: SocketAddr,
    says: Arc<Mutex<Says>>,
    stops: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Dns {
    pub fn start() -> Self {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("a socket");
        socket.set_read_timeout(Some(Duration::from_millis(50))).expect("a timeout");
        let address = socket.local_addr().expect("an address");
        let says = Says { mood: Mood::Answers, zones: Vec::new(), records: BTreeMap::new(), asked: 0 };
        let (says, stops) = (Arc::new(Mutex::new(says)), Arc::new(AtomicBool::new(false)));
        let (heard, stopped) = (says.clone(), stops.clone());
        let thread = thread::spawn(move || serve(&socket, &heard, &stopped));
        Self { address, says, stops, thread: Some(thread) }
    }

    fn says(&self) -> MutexGuard<'_, Says> {
        self.says.lock().expect("a server that lives")
    }

    pub fn is(&self, mood: Mood) {
        self.says().mood = mood;
    }

    /// Questions so far.
    pub fn asked(&self) -> usize {
        self.says().asked
    }

    /// Serves a zone, with these name servers.
    pub fn zone(&self, zone: &str, name_servers: &[&str]) {
        self.says().zones.push(zone.to_owned());
        for server in name_servers {
            self.add(zone, NS, name(server));
        }
    }

    fn add(&self, owner: &str, kind: u16, data: Vec<u8>) {
        self.says().records.entry((owner.to_owned(), kind)).or_default().push(data);
    }

    /// Says nothing of a name any more.
    pub fn forget(&self, owner: &str) {
        self.says().records.retain(|(known, _), _| known != owner);
    }

    pub fn text(&self, owner: &str, text: &str) {
        let strings = text.as_bytes().chunks(255).flat_map(|string| {
            let length = u8::try_from(string.len()).expect("at most 255");
            std::iter::once(length).chain(string.iter().copied())
        });
        self.add(owner, TXT, strings.collect());
    }

    pub fn mail_host(&self, owner: &str, host: &str) {
        self.add(owner, MX, [&10_u16.to_be_bytes()[..], &name(host)].concat());
    }

    pub fn host(&self, owner: &str, address: Ipv4Addr) {
        self.add(owner, A, address.octets().to_vec());
    }

    fn service(&self, owner: &str, value: &str) {
        let mut words = value.split(' ');
        let mut number = || words.next().and_then(|word| word.parse::<u16>().ok()).expect("a number");
        let (weight, port) = (number(), number());
        let host = name(words.next().expect("a host"));
        let numbers = [0, weight, port].map(u16::to_be_bytes).concat();
        self.add(owner, SRV, [numbers, host].concat());
    }

    /// Adds the record of a domain with this key, as the server asked for it.
    pub fn publish(&self, domain: &Value, key: &str) {
        let records = domain["records"].as_array().expect("records");
        let record = records.iter().find(|record| record["key"] == key).unwrap_or_else(|| panic!("no record {key}"));
        let text = |field: &str| record[field].as_str().expect("a text");
        match text("type") {
            "TXT" => self.text(text("fqdn"), text("value")),
            "MX" => self.mail_host(text("fqdn"), text("value")),
            "SRV" => self.service(text("fqdn"), text("value")),
            other => panic!("a record of type {other}"),
        }
    }

    /// Adds those that a domain needs.
    pub fn publish_required(&self, domain: &Value) {
        for key in ["dkim-1", "mx", "spf"] {
            self.publish(domain, key);
        }
    }
}

impl Drop for Dns {
    fn drop(&mut self) {
        self.stops.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

fn serve(socket: &UdpSocket, says: &Mutex<Says>, stops: &AtomicBool) {
    let mut buffer = [0; 2_048];
    while !stops.load(Ordering::Relaxed) {
        let Ok((length, from)) = socket.recv_from(&mut buffer) else { continue };
        let mut says = says.lock().expect("a test that lives");
        says.asked += 1;
        if let Some(answer) = answer(&says, &buffer[..length]) {
            drop(says);
            // Whoever asked may be gone.
            drop(socket.send_to(&answer, from));
        }
    }
}

/// A name as it is sent.
fn name(text: &str) -> Vec<u8> {
    let labels = text.split('.').filter(|label| !label.is_empty());
    let mut bytes: Vec<u8> = labels
        .flat_map(|label| {
            let length = u8::try_from(label.len()).expect("a short label");
            std::iter::once(length).chain(label.bytes())
        })
        .collect();
    bytes.push(0);
    bytes
}

/// The question's name and type, and how long it is.
fn question(message: &[u8]) -> Option<(String, u16, usize)> {
    let (mut labels, mut at) = (Vec::new(), 12);
    loop {
        let length = usize::from(*message.get(at)?);
        if length == 0 {
            break;
        }
        let label = message.get(at + 1..at + 1 + length)?;
        labels.push(String::from_utf8_lossy(label).to_ascii_lowercase());
        at += 1 + length;
    }
    let kind = u16::from_be_bytes([*message.get(at + 1)?, *message.get(at + 2)?]);
    Some((labels.join("."), kind, at + 5))
}

fn answer(says: &Says, message: &[u8]) -> Option<Vec<u8>> {
    let (asked, kind, end) = question(message)?;
    let empty = Vec::new();
    let records = says.records.get(&(asked.clone(), kind)).unwrap_or(&empty);
    let zone = says.zones.iter().filter(|zone| asked.ends_with(zone.as_str())).max_by_key(|zone| zone.len());
    let soa = zone.map(|zone| {
        let numbers = [1_u32, 3_600, 600, 86_400, 60].map(u32::to_be_bytes).concat();
        (name(zone), [name("ns.invalid"), name("hostmaster.invalid"), numbers].concat())
    });
    let is_zone = kind == SOA && zone.is_some_and(|zone| *zone == asked);
    let is_known = is_zone || says.records.keys().any(|(known, _)| *known == asked);
    let code = match says.mood {
        Mood::IsSilent => return None,
        Mood::Fails => 2_u8,
        Mood::Answers if is_known => 0,
        Mood::Answers => 3,
    };
    let own = vec![0xc0, 0x0c];
    let answers: Vec<(Vec<u8>, u16, Vec<u8>)> = match (&soa, is_zone) {
        (Some((_, data)), true) => vec![(own, SOA, data.clone())],
        _ => records.iter().map(|data| (own.clone(), kind, data.clone())).collect(),
    };
    let (answers, authority) = match soa {
        _ if code == 2 => (Vec::new(), Vec::new()),
        Some((owner, data)) if answers.is_empty() => (answers, vec![(owner, SOA, data)]),
        _ => (answers, Vec::new()),
    };
    let count = |list: &[_]| u16::try_from(list.len()).expect("few").to_be_bytes();
    let mut bytes = [&message[..2], &[0x81, 0x80 | code, 0, 1], &count(&answers), &count(&authority), &[0, 0]].concat();
    bytes.extend_from_slice(&message[12..end]);
    for (owner, kind, data) in answers.into_iter().chain(authority) {
        let length = u16::try_from(data.len()).expect("short data").to_be_bytes();
        bytes.extend([owner, kind.to_be_bytes().to_vec(), vec![0, 1, 0, 0, 0, 0], length.to_vec(), data].concat());
    }
    Some(bytes)
}
