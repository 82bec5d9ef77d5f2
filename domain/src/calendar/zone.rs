//! Names of zones as calendars write them.

use super::windows_zones::WINDOWS_ZONES;
use crate::notify::Zone;

/// The zone of this name: one of the IANA's in any case, or one of Windows'.
pub fn zone_named(name: &str) -> Option<Zone> {
    let windows = || {
        let name = name.to_ascii_lowercase();
        let at = WINDOWS_ZONES.binary_search_by(|(known, _)| known.cmp(&name.as_str())).ok()?;
        Zone::find(WINDOWS_ZONES[at].1)
    };
    Zone::find(name).or_else(windows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_of_windows_names_is_a_zone() {
        assert!(WINDOWS_ZONES.is_sorted());
        for (name, zone) in WINDOWS_ZONES {
            assert!(Zone::find(zone).is_some() && zone_named(&name.to_uppercase()).is_some(), "{name}");
        }
    }

    #[test]
    fn names_are_read_in_any_case() {
        assert_eq!(zone_named("europe/vienna").unwrap().name(), "Europe/Vienna");
        assert_eq!(zone_named("W. Europe Standard Time").unwrap().name(), "Europe/Berlin");
        assert_eq!(zone_named("Mars/Olympus"), None);
        assert_eq!(zone_named(""), None);
    }
}
