//! Live activities (contract A 4.3): what an iPhone app may register.

use std::ops::RangeInclusive;

use crate::{App, Error, Result, app::names};

/// Flights that run on a phone (contract A 4.3).
pub const RUNNING_MAX: usize = 20;
/// Characters of an organization's id and of a watch's (contract A 4.3).
pub const ID_LEN: RangeInclusive<usize> = 1..=64;
/// Registrations of one person; a further one takes the place of the one longest ago refreshed.
pub const LIVE_ACTIVITIES_MAX: usize = 100;
/// Characters of an app's name with Apple: Apple allows no more.
pub const BUNDLE_ID_LEN: RangeInclusive<usize> = 1..=155;

names! {
    /// Which of Apple's servers knows a token.
    LiveEnvironment { Production = "production", Development = "development", }
}

/// The apps that have live activities (contract A 4.3).
pub const LIVE_APPS: &[App] = &[App::Maps, App::Home, App::Vehicles];

/// Whether the text is a flight's address: six characters of hexadecimal, `~` before them where it isn't the aircraft's own.
pub fn is_flight(text: &str) -> bool {
    let digits = text.strip_prefix('~').unwrap_or(text);
    digits.len() == 6 && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Whether the text is an app's name with Apple.
pub fn is_bundle_id(text: &str) -> bool {
    BUNDLE_ID_LEN.contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-'))
}

/// 404 `Vehicles isn't available here.`: the person has no part in the organization.
pub fn no_vehicles() -> Error {
    Error::not_found("Vehicles isn't available here.")
}

/// Passes where a registration says the app that is signed in (contract A 4.3).
pub fn app_check(named: App, signed_in: App) -> Result<()> {
    if named == signed_in {
        return Ok(());
    }
    Err(Error::bad_request("app_mismatch", "appId does not match the signed-in app"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flight_has_six_characters_of_hexadecimal() {
        for text in ["3c6444", "~3C6444", "abcdef"] {
            assert!(is_flight(text), "{text}");
        }
        for text in ["", "~", "3c644", "3c64444", "~~c6444", "3c644g", "3c644é", "~3c64444"] {
            assert!(!is_flight(text), "{text}");
        }
    }
}
