//! Where sign-ins come from, and telling a person of one that comes from somewhere new.

use std::{net::IpAddr, time::Duration};

use actors_base::event::Event;
use domain::{Context, Result, Timestamp};
use serde_json::{Map, Value, json};
use store::{
    Change, Store,
    accounts::{Person, SignIn},
};

/// A place from which nobody came for this long is new again.
const KEPT_FOR: Duration = Duration::from_hours(400 * 24);
/// The part of an IPv6 address that names the network; the rest changes by the day.
const IPV6_NETWORK: u128 = !0 << 64;

/// The address as far as it tells one place from another.
pub(super) fn address_place(ip: IpAddr) -> String {
    match ip.to_canonical() {
        IpAddr::V4(ip) => format!("address:{ip}"),
        IpAddr::V6(ip) => format!("address:{}/64", std::net::Ipv6Addr::from_bits(ip.to_bits() & IPV6_NETWORK)),
    }
}

fn places(sign_in: &SignIn) -> Vec<String> {
    let install = sign_in.install_id.as_ref().map(|install_id| format!("install:{}:{install_id}", sign_in.app));
    install.into_iter().chain(sign_in.ip.map(address_place)).collect()
}

/// Remembers the places of a sign-in, and tells the person when one of them was not seen before.
pub(super) async fn note(change: &mut Change, store: &Store, person: &Person, sign_in: &SignIn) -> Result<()> {
    let now = sign_in.created_at;
    let mut is_new = false;
    for place in places(sign_in) {
        is_new |= !store.place_is_known(person.id, &place).await?;
        change.place_seen(now, person.id, &place);
    }
    change.places_purge(person.id, now.before(KEPT_FOR));
    if is_new {
        tell(change, person, sign_in);
    }
    Ok(())
}

/// Remembers the address that an account was made from.
pub(super) fn note_address(change: &mut Change, person: &Person, context: &Context, now: Timestamp) {
    if let Some(ip) = context.ip {
        change.place_seen(now, person.id, &address_place(ip));
    }
}

fn tell(change: &mut Change, person: &Person, sign_in: &SignIn) {
    let what = format!("Somebody signed in to the {} app ({}) as you.", sign_in.app, sign_in.platform);
    let address = sign_in.ip.map_or_else(|| "unknown".to_owned(), |ip| ip.to_string());
    let program = sign_in.user_agent.as_deref().unwrap_or("unknown");
    let advice = "If this wasn't you, change your password; that ends every other sign-in.";
    let about = ("sign_in", sign_in.id.to_string());
    Event {
        user_ids: vec![person.id],
        body: format!("{what}\n\nAddress: {address}\nProgram: {program}\n\n{advice}"),
        data: data(sign_in),
        ..Event::new("account.new_sign_in", about, "New sign-in to your account")
    }
    .emit(change, sign_in.created_at);
}

fn data(sign_in: &SignIn) -> Map<String, Value> {
    let pairs = [
        ("app", json!(sign_in.app)),
        ("platform", json!(sign_in.platform)),
        ("ip", json!(sign_in.ip)),
        ("installId", json!(sign_in.install_id)),
    ];
    pairs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ipv6_address_counts_as_its_network() {
        let place = |ip: &str| address_place(ip.parse().unwrap());
        assert_eq!(place("203.0.113.7"), "address:203.0.113.7");
        assert_eq!(place("::ffff:203.0.113.7"), "address:203.0.113.7");
        assert_eq!(place("2001:db8:1:2:3:4:5:6"), "address:2001:db8:1:2::/64");
        assert_eq!(place("2001:db8:1:2::1"), place("2001:db8:1:2:ffff::1"));
    }
}
