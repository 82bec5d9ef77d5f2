//! What clients of a co-edited page send, for fuzzing: messages, and updates one after the other.

use std::{
    cell::Cell,
    panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook},
    sync::Once,
};

use bytes::Bytes;
use yrs::{
    StateVector, Update,
    updates::{decoder::Decode, encoder::Encode},
};

use super::{
    awareness::{self, Awareness, STATE_LEN_MAX, STATES_PER_CONNECTION_MAX},
    connection::ConnectionId,
    document::{SharedDocument, TEXT_LEN_MAX},
    prescan::{Reader, prescan_state_vector, prescan_update},
    wire::{self, Said},
};

thread_local! {
    /// Whether an update is being taken in, which may break the document that it is for.
    static IS_TRYING: Cell<bool> = const { Cell::new(false) };
}

/// Has panics that are caught here say nothing, and not end the process: a fuzzer's own hook would.
pub fn expect_panics() {
    static SET: Once = Once::new();
    SET.call_once(|| {
        let hook = take_hook();
        set_hook(Box::new(move |info| {
            if !IS_TRYING.get() {
                hook(info);
            }
        }));
    });
}

/// One message. What reads is written as it was read; an update or a state vector that passes the look over it decodes, and
/// states of awareness keep their limits.
pub fn sync(bytes: &[u8]) {
    let message = Bytes::copy_from_slice(bytes);
    match wire::read(&message) {
        Ok(Said::Has(state_vector)) => {
            assert_eq!(wire::read(&wire::has(&state_vector)), Ok(Said::Has(state_vector.clone())));
            if prescan_state_vector(&state_vector).is_ok()
                && let Ok(read) = StateVector::decode_v1(&state_vector)
            {
                assert_eq!(StateVector::decode_v1(&read.encode_v1()).ok(), Some(read));
            }
        }
        Ok(Said::Update(update)) => {
            assert_eq!(wire::read(&wire::update(&update)), Ok(Said::Update(update.clone())));
            let Ok(prescan) = prescan_update(&update) else { return };
            assert!(prescan.text_len <= update.len());
            let Ok(read) = Update::decode_v1(&update) else { return };
            assert!(!prescan.is_empty || read.is_empty());
        }
        Ok(Said::Awareness(states)) => {
            assert_eq!(wire::read(&wire::awareness(&states)), Ok(Said::Awareness(states.clone())));
            who_is_there(&states);
        }
        Ok(Said::WhoIsThere | Said::Other) | Err(_) => {}
    }
}

fn who_is_there(states: &Bytes) {
    let Ok(entered) = awareness::read(states) else { return };
    let (first, second) = (ConnectionId(1), ConnectionId(2));
    let mut here = Awareness::default();
    for from in [None, Some(first), Some(second)] {
        let Ok(news) = here.enter(from, entered.clone()) else { continue };
        // Whoever hears of it has the same states.
        let told = awareness::read(&here.encode(&news));
        assert!(told.is_ok_and(|told| told.len() == news.len()));
    }
    let (first, second) = (here.leave(first), here.leave(second));
    assert!(first.len() <= entered.len() && second.len() <= STATES_PER_CONNECTION_MAX.max(entered.len()));
    if let Some(all) = here.encode_all() {
        assert!(all.len() <= entered.len() * (STATE_LEN_MAX + 24) + 8 && awareness::read(&all).is_ok());
    }
    here.leave(ConnectionId(3));
}

/// Updates, each with its length before it, for a document that says something. One that doesn't break it goes to the others
/// as what they are missing, and is kept; both read it back without harm. (What a client that lies about its clocks wrote may
/// read differently elsewhere.)
pub fn document(bytes: &[u8]) {
    let mut here = SharedDocument::seeded("Hello 🎉");
    let mut there = SharedDocument::new();
    there.restore(&here.state()).expect("a seeded document is restored");
    let mut reader = Reader { bytes };
    while let Ok(update) = reader.buffer() {
        let Ok(prescan) = prescan_update(update) else { continue };
        let Ok(decoded) = Update::decode_v1(update) else { continue };
        if prescan.is_empty
            || !here.has_room(update.len(), prescan.text_len)
                && here.makes_room(&decoded, update.len(), prescan.text_len).is_err()
        {
            continue;
        }
        IS_TRYING.set(true);
        let taken = catch_unwind(AssertUnwindSafe(|| here.apply([decoded], &mut 0)));
        IS_TRYING.set(false);
        // One that broke it is given up; its updates are kept up to that one.
        let Ok(Ok(new)) = taken else { return };
        if let Some(new) = new {
            there.restore(&new).expect("what others are missing is an update");
        }
        assert!(here.text().len() <= TEXT_LEN_MAX);
    }
    let mut again = SharedDocument::new();
    again.restore(&here.state()).expect("what is kept is an update");
    assert!(again.text().len() <= TEXT_LEN_MAX && there.text().len() <= TEXT_LEN_MAX);
    let own = StateVector::decode_v1(&here.state_vector()).expect("its own state vector");
    assert!(!here.lacks(&own));
    let _ = (here.missing(&own), there.missing(&StateVector::default()));
}
