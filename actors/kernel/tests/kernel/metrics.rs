use std::collections::BTreeSet;

use crate::{
    probe::{Crash, Fail, Note},
    stage::{CALM, Stage, context},
};

#[tokio::test]
async fn everything_is_counted_per_kind_and_per_command() {
    let stage = Stage::new().await;
    let (probes, _) = stage.probes(CALM);
    for key in ["one", "two"] {
        for note in 0..5 {
            probes.ask(&key.to_owned(), Note(note), context()).await.expect("an answer");
        }
    }
    probes.ask(&"one".to_owned(), Fail(domain::Error::not_found("No.")), context()).await.expect_err("an error");
    probes.ask(&"one".to_owned(), Crash, context()).await.expect_err("a panic");

    let stats = stage.probe_stats();
    assert_eq!((stats.resident, stats.activations, stats.loads, stats.crashes), (2, 2, 2, 1));
    assert_eq!((stats.waiting, stats.depth_max), (0, 1));
    let counts: Vec<_> =
        stats.commands.iter().map(|command| (command.command, command.handled, command.failed)).collect();
    assert_eq!(counts, [("crash", 1, 1), ("fail", 1, 1), ("note", 10, 0)]);
    let note = &stats.commands[2];
    assert!(note.handled_time.p50_us > 0.0 && note.handled_time.p50_us <= note.handled_time.max_us);
    assert!(note.queued_time.mean_us > 0.0);
}

#[tokio::test]
async fn the_snapshot_is_json_and_the_metrics_are_well_formed_prometheus_text() {
    let stage = Stage::new().await;
    let (probes, _) = stage.probes(CALM);
    probes.ask(&"one".to_owned(), Note(1), context()).await.expect("an answer");
    let json = serde_json::to_value(stage.kernel.snapshot()).expect("json");
    assert_eq!(json["kinds"][0]["kind"], "probe");
    assert_eq!(json["kinds"][0]["commands"][0]["handled"], 1);

    let mut text = String::new();
    stage.kernel.render_prometheus(&mut text);
    assert!(text.contains("troupe_actor_resident{kind=\"probe\"} 1\n"), "{text}");
    assert!(text.contains("troupe_actor_handled_seconds_count{kind=\"probe\",message=\"note\"} 1\n"), "{text}");
    let mut known = BTreeSet::new();
    for line in text.lines() {
        if let Some(kind) = line.strip_prefix("# TYPE ") {
            assert!(known.insert(kind.split(' ').next().expect("a name").to_owned()), "twice: {line}");
        } else if !line.starts_with('#') {
            let name = line.split('{').next().expect("a name");
            let family = ["_bucket", "_sum", "_count"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name);
            assert!(known.contains(family), "no TYPE before {line}");
            line.rsplit(' ').next().expect("a value").parse::<f64>().expect("a number");
        }
    }
}

#[tokio::test]
async fn histogram_buckets_add_up() {
    let stage = Stage::new().await;
    let (probes, _) = stage.probes(CALM);
    for note in 0..20 {
        probes.ask(&"one".to_owned(), Note(note), context()).await.expect("an answer");
    }
    let mut text = String::new();
    stage.kernel.render_prometheus(&mut text);
    let buckets: Vec<u64> = text
        .lines()
        .filter(|line| line.starts_with("troupe_actor_handled_seconds_bucket{kind=\"probe\""))
        .map(|line| line.rsplit(' ').next().expect("a value").parse().expect("a count"))
        .collect();
    assert!(buckets.is_sorted(), "{buckets:?}");
    assert_eq!(buckets.last(), Some(&20));
}
