//! The life of one socket.

use std::{io, sync::LazyLock, time::Duration};

use actix_web::error::PayloadError;
use actix_ws::{AggregatedMessage, AggregatedMessageStream, CloseCode, CloseReason, ProtocolError, Session};
use futures::StreamExt;
use metrics::Gauge;
use tokio::time::{Instant, MissedTickBehavior, interval_at, timeout};

use super::{
    Farewell, Incoming, Outgoing, Source,
    frames::BadFrame,
    unsent::{Full, Unsent},
    watch::{Outside, Watch},
};

/// How often a socket is pinged (decisions, "Sockets").
const PING_EVERY: Duration = if cfg!(test) { Duration::from_millis(20) } else { Duration::from_secs(20) };
/// How long a peer may be silent.
const SILENCE_MAX: Duration = Duration::from_mins(1);
/// How many messages are taken from a source before the connection has its chance to send.
const TAKEN_AT_ONCE: usize = 15;
/// How long a close frame may take to leave. The clients of tests read on when a busy machine lets them.
const FAREWELL_MAX: Duration = Duration::from_secs(if cfg!(test) { 60 } else { 5 });

static OPEN: LazyLock<Gauge> = LazyLock::new(|| metrics::gauge!("troupe_sockets_open"));

/// Serves a socket until it ends.
pub(super) async fn run(session: Session, messages: AggregatedMessageStream, source: impl Source, watch: Watch) {
    OPEN.increment(1.0);
    let farewell = converse(session.clone(), messages, source, watch).await;
    OPEN.decrement(1.0);
    metrics::counter!("troupe_sockets_closed_total", "reason" => farewell.name()).increment(1);
    let reason = farewell.code().map(|(code, description)| CloseReason {
        code: CloseCode::from(code),
        description: Some(description.to_owned()),
    });
    // A peer that reads nothing doesn't read this either; its connection ends with the session.
    let _ = timeout(FAREWELL_MAX, session.close(reason)).await;
}

async fn converse(
    mut session: Session,
    mut messages: AggregatedMessageStream,
    mut source: impl Source,
    mut watch: Watch,
) -> Farewell {
    let mut unsent = Unsent::default();
    let mut heard_at = Instant::now();
    let mut pings = interval_at(heard_at + PING_EVERY, PING_EVERY);
    pings.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        // What can leave at once leaves without anything else being looked at.
        if unsent.send_ready(&mut session).is_err() {
            return Farewell::Gone;
        }
        tokio::select! {
            biased;
            outside = watch.next() => match outside {
                Outside::Ends(farewell) => return farewell,
                Outside::LookIsDue => watch.look(source.is_still_allowed()),
            },
            message = messages.next() => {
                heard_at = Instant::now();
                if let Err(farewell) = hear(message, &mut source, &mut unsent).await {
                    return farewell;
                }
            }
            _ = pings.tick() => {
                if heard_at.elapsed() >= SILENCE_MAX {
                    return Farewell::Gone;
                }
                if unsent.ping() == Err(Full) {
                    return Farewell::TooSlow;
                }
                watch.look_is_due();
            }
            sent = unsent.send(&mut session), if !unsent.is_empty() => {
                if sent.is_err() {
                    return Farewell::Gone;
                }
            }
            // What can wait where it is waits there; what happens now is counted against the limit.
            message = source.next(), if unsent.is_empty() || !source.is_catching_up() => {
                if let Err(farewell) = take(message, &mut source, &mut unsent) {
                    return farewell;
                }
                if unsent.send_ready(&mut session).is_err() {
                    return Farewell::Gone;
                }
                // The connection is another task of this thread, and must have had its chance to send.
                tokio::task::yield_now().await;
            }
        }
    }
}

/// Takes a message to be sent, and what else is there already.
fn take(
    mut message: Result<Outgoing, Farewell>,
    source: &mut impl Source,
    unsent: &mut Unsent,
) -> Result<(), Farewell> {
    for _ in 0..TAKEN_AT_ONCE {
        unsent.push(message?).map_err(|Full| Farewell::TooSlow)?;
        let Some(next) = source.try_next() else { return Ok(()) };
        message = next;
    }
    unsent.push(message?).map_err(|Full| Farewell::TooSlow)
}

async fn hear(
    message: Option<Result<AggregatedMessage, ProtocolError>>,
    source: &mut impl Source,
    unsent: &mut Unsent,
) -> Result<(), Farewell> {
    match message {
        Some(Ok(AggregatedMessage::Text(text))) => source.received(Incoming::Text(text)).await,
        Some(Ok(AggregatedMessage::Binary(bytes))) => source.received(Incoming::Binary(bytes)).await,
        Some(Ok(AggregatedMessage::Ping(said))) => unsent.pong(said).map_err(|Full| Farewell::TooSlow),
        Some(Ok(AggregatedMessage::Pong(_))) => Ok(()),
        Some(Err(error)) => Err(farewell_to(&error)),
        Some(Ok(AggregatedMessage::Close(_))) | None => Err(Farewell::Gone),
    }
}

/// What a client is told whose bytes can't be taken.
fn farewell_to(error: &ProtocolError) -> Farewell {
    let ProtocolError::Io(error) = error else {
        return if matches!(error, ProtocolError::Overflow) { Farewell::TooLarge } else { Farewell::Malformed };
    };
    let cause = error.get_ref().and_then(|cause| cause.downcast_ref::<PayloadError>());
    let bad = match cause {
        Some(PayloadError::Io(error)) => error.get_ref().and_then(|cause| cause.downcast_ref::<BadFrame>()),
        _ => None,
    };
    match bad {
        Some(BadFrame::TooLarge) => Farewell::TooLarge,
        Some(BadFrame::Malformed) => Farewell::Malformed,
        // Reserved bits, of which the codec says so too, never get to it.
        None if error.kind() == io::ErrorKind::InvalidData => Farewell::NoText,
        None => Farewell::Gone,
    }
}
