//! A provider of texts and calls that remembers what arrived when.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, OnceLock},
    time::Duration,
};

use domain::Timestamp;
use store::Clock;

use super::record::Record;
use crate::notifications::service::{Heard, Reply, Service};

/// One text or call that arrived.
#[derive(Clone, Debug)]
struct Arrival {
    at: Timestamp,
    to: Option<String>,
    text: Option<String>,
}

/// What arrived, by its idempotency key.
type Arrivals = BTreeMap<String, Vec<Arrival>>;

pub struct Provider {
    service: Service,
    arrivals: Arc<Mutex<Arrivals>>,
    /// The key of the text with the code: it may be repeated too, and is of no escalation.
    code_key: OnceLock<String>,
}

impl Provider {
    pub async fn start() -> Self {
        let arrivals: Arc<Mutex<Arrivals>> = Arc::default();
        let remembered = Arc::clone(&arrivals);
        let service = Service::new(move |heard: &Heard| {
            let at = Clock::system().now();
            let mut form = heard.form();
            let arrival = Arrival { at, to: form.remove("To"), text: form.remove("Body") };
            let key = heard.header("i-twilio-idempotency-token").to_owned();
            remembered.lock().unwrap().entry(key).or_default().push(arrival);
            Reply::new(201, r#"{"sid": "SM0123", "status": "queued"}"#)
        })
        .await;
        Self { service, arrivals, code_key: OnceLock::new() }
    }

    /// With these the program texts and calls over it.
    pub fn settings(&self) -> [String; 4] {
        [
            "texts.account_sid=AC1".to_owned(),
            "texts.auth_token=a-secret-of-the-provider".to_owned(),
            format!("texts.base_url={}", self.service.url()),
            "texts.from=+15005550006".to_owned(),
        ]
    }

    /// The code that confirms a number, once its text arrives; that counts for nothing else.
    pub async fn code(&self) -> String {
        loop {
            tokio::time::sleep(Duration::from_millis(10)).await;
            let first =
                self.arrivals.lock().unwrap().first_key_value().map(|(key, texts)| (key.clone(), texts[0].clone()));
            if let Some((key, arrival)) = first {
                self.code_key.set(key).expect("one code");
                let text = arrival.text.expect("a text");
                return text.chars().filter(char::is_ascii_digit).collect();
            }
        }
    }

    /// How many messages have arrived, each counted once.
    pub fn arrived(&self) -> usize {
        self.arrivals.lock().unwrap().keys().filter(|key| !self.is_code(key)).count()
    }

    fn is_code(&self, key: &str) -> bool {
        self.code_key.get().is_some_and(|code| code == key)
    }

    /// What arrived is what is on record, none of it early, and what was repeated says the same under the same key.
    pub fn verify(&self, record: &Record) {
        let arrivals = self.arrivals.lock().unwrap();
        let arrived: BTreeSet<&str> = arrivals.keys().map(String::as_str).filter(|key| !self.is_code(key)).collect();
        let recorded: BTreeSet<&str> = record.tellings().map(|telling| telling.delivery_id.as_str()).collect();
        assert_eq!(arrived.symmetric_difference(&recorded).collect::<Vec<_>>(), Vec::<&&str>::new());
        for telling in record.tellings() {
            let times = &arrivals[&telling.delivery_id];
            assert!(times.iter().all(|arrival| arrival.at >= telling.due), "{telling:?} arrived early: {times:?}");
            let says = |arrival: &Arrival| (arrival.to.clone(), arrival.text.clone());
            assert!(times.iter().all(|arrival| says(arrival) == says(&times[0])), "{telling:?}: {times:?}");
        }
        let repeated: usize = arrivals.values().map(|times| times.len() - 1).sum();
        eprintln!("{} messages arrived, {repeated} of them were repeated, under the same key", arrived.len());
    }
}
