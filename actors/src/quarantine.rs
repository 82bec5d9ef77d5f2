//! Operators hear of keys that are in quarantine.

use std::sync::Arc;

use actors_base::event::Event;
use kernel::{KernelOptions, Quarantine};
use serde_json::json;
use store::Change;

/// The options of a kernel whose quarantines operators are told of.
pub(crate) fn telling_of_quarantines(options: KernelOptions) -> KernelOptions {
    let node = options.node.clone();
    let emit = move |quarantine: &Quarantine, change: &mut Change| {
        of_quarantine(quarantine, &node).emit(change, quarantine.began_at);
    };
    KernelOptions { on_quarantine: options.on_quarantine.or(Some(Arc::new(emit))), ..options }
}

/// The alarm about a key in quarantine on `node`. It names no inner error, because people outside may read it, and it happened
/// in no organization: notifications take it to the platform's own.
fn of_quarantine(quarantine: &Quarantine, node: &str) -> Event {
    let Quarantine { kind, key, crashes, until, .. } = quarantine;
    let data = json!({
        "alarm": "actor_quarantined", "node": node, "kind": kind, "crashes": crashes, "until": until,
    });
    Event {
        body: format!("It crashed {crashes} times and is left alone until it has had time to recover."),
        data: data.as_object().cloned().unwrap_or_default(),
        dedup_key: Some(format!("quarantine:{kind}:{key}")),
        ..Event::new("ops.alarm", (kind, key.clone()), format!("{kind} {key} is out of order"))
    }
}

#[cfg(test)]
mod tests {
    use domain::Timestamp;

    use super::*;

    #[test]
    fn the_alarm_about_a_quarantine_says_nothing_of_what_it_crashed_of() {
        let quarantine = Quarantine {
            kind: "probe",
            key: "one".to_owned(),
            last_error: "boom".to_owned(),
            crashes: 3,
            began_at: Timestamp(5),
            until: Timestamp(9),
        };
        let event = of_quarantine(&quarantine, "n1");
        assert_eq!((&*event.kind, event.resource.id.as_str()), ("ops.alarm", "one"));
        assert_eq!(event.data["alarm"], "actor_quarantined");
        assert!(!json!(event).to_string().contains("boom"), "{event:?}");
    }
}
