use std::{
    io,
    sync::{Mutex, Once},
    time::Duration,
};

use kernel::Policy;

use crate::{
    counter::{self, Counter, Increment},
    stage::{CALM, Stage, context, until},
};

/// The log of the whole test binary.
static LOG: Mutex<Vec<u8>> = Mutex::new(Vec::new());

struct Writer;

impl io::Write for Writer {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        LOG.lock().expect("the log").extend_from_slice(text);
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What the log says of `key` and slow commands.
fn logged(key: &str) -> Option<serde_json::Value> {
    let log = String::from_utf8(LOG.lock().expect("the log").clone()).expect("text");
    let lines = log.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    lines.into_iter().find(|line| line["message"] == "slow command" && line["key"] == key)
}

#[tokio::test]
async fn a_slow_command_is_logged_with_where_its_time_went() {
    static STARTED: Once = Once::new();
    STARTED.call_once(|| {
        tracing_subscriber::fmt().json().flatten_event(true).with_writer(|| Writer).init();
    });
    let stage = Stage::new().await;
    let everything_is_slow = Policy { slow_after: Duration::ZERO, ..CALM };
    let counters = stage.kernel.registry_with::<Counter>(stage.store.clone(), everything_is_slow);
    let key = "slow-one".to_owned();
    counter::create(&stage.store, std::slice::from_ref(&key)).await;
    counters.ask(&key, Increment { id: 1 }, context()).await.expect("an answer");
    until("it is logged", || logged(&key).is_some()).await;
    let line = logged(&key).expect("a line");
    assert_eq!((&line["kind"], &line["command"]), (&"counter".into(), &"increment".into()));
    for part in ["queued", "loading", "deciding", "committing"] {
        let text = line[part].as_str().unwrap_or_else(|| panic!("no {part} in {line}"));

        assert!(text.ends_with('s'), "{part} is {text}");
        assert_ne!(text, "0ns", "{part} took no time at all: {line}");
    }
}
