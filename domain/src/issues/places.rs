//! Looking places up for issues (contract B 4.1).

use std::{ops::RangeInclusive, time::Duration};

use crate::{Error, Outcome, Result};

/// Characters of a question (contract B 4.1).
pub const PLACE_QUESTION_LEN: RangeInclusive<usize> = 3..=200;
/// Places that are answered (contract B 4.1).
pub const PLACES_MAX: usize = 5;
/// Questions that a person may ask an hour. Ours, as that below.
pub const LOOK_UPS_OF_PERSON: u32 = 60;
/// Questions that an organization may ask an hour.
pub const LOOK_UPS_OF_ORGANIZATION: u32 = 600;
/// The message of the 429 behind them.
pub const LOOK_UPS_SPENT: &str = "That's as many address look-ups as an hour allows. Try again later.";
/// The message of the 503 where no geocoder is configured.
pub const PLACES_NOT_SET_UP: &str = "Address look-ups aren't set up on this server.";
/// The message of the 503 where the geocoder doesn't answer.
pub const PLACES_AWAY: &str = "Addresses can't be looked up right now. Try again later.";

/// The radius of the earth, in metres.
const EARTH_RADIUS: f64 = 6_371_000.0;

/// A point on the earth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Degrees north.
    pub lat: f64,
    /// Degrees east.
    pub lon: f64,
}

impl Point {
    /// Reads `lat,lon` in decimals.
    pub fn parse(path: &str, text: &str) -> Result<Self> {
        let refused = || Error::invalid(path, "Write degrees as lat,lon, such as 48.2,16.37.");
        let (lat, lon) = text.split_once(',').ok_or_else(refused)?;
        let degrees = |text: &str, most: f64| {
            let is_decimal = !text.is_empty() && text.bytes().all(|it| matches!(it, b'0'..=b'9' | b'.' | b'-'));
            let number = if is_decimal { text.parse::<f64>().ok() } else { None };
            number.filter(|number| (-most..=most).contains(number))
        };
        let point = degrees(lat.trim(), 90.0).zip(degrees(lon.trim(), 180.0));
        point.map(|(lat, lon)| Self { lat, lon }).ok_or_else(refused)
    }

    /// How far another point is, along the great circle, in metres.
    pub fn distance(self, other: Self) -> f64 {
        let (here, there) = (self.lat.to_radians(), other.lat.to_radians());
        let north = ((there - here) / 2.0).sin();
        let east = ((other.lon - self.lon).to_radians() / 2.0).sin();
        let chord = north.mul_add(north, here.cos() * there.cos() * east * east);
        2.0 * EARTH_RADIUS * chord.clamp(0.0, 1.0).sqrt().asin()
    }
}

/// The places that are answered: the nearest first, where it is said to what.
pub fn answered<T>(mut found: Vec<T>, near: Option<Point>, point: impl Fn(&T) -> Point) -> Vec<T> {
    if let Some(near) = near {
        found.sort_by(|one, other| near.distance(point(one)).total_cmp(&near.distance(point(other))));
    }
    found.truncate(PLACES_MAX);
    found
}

/// 503, where nothing can be looked up.
pub fn places_unavailable(message: &'static str, retry_after: Duration) -> Error {
    Error::Busy { code: "places_unavailable", message: message.into(), retry_after, outcome: Outcome::NotDone }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_is_two_decimals_on_the_earth() {
        let read = |text: &str| Point::parse("near", text).ok().map(|it| (it.lat, it.lon));
        assert_eq!(read("48.2,16.37"), Some((48.2, 16.37)));
        assert_eq!(read("-90, 180"), Some((-90.0, 180.0)));
        for wrong in ["", "48.2", "90.1,0", "0,-180.1", "nan,0", "inf,0", "1e1,0", "1,2,3", "a,b", "--1,0"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn the_nearest_come_first_and_no_more_than_five() {
        let at = |lat, lon| Point { lat, lon };
        let vienna = at(48.208, 16.373);
        let away = vienna.distance(at(47.071, 15.439));
        assert!((140_000.0..150_000.0).contains(&away), "Graz is 145 km away, not {away}");
        let found: Vec<Point> = (0..7).map(|step| at(48.0, 10.0 + f64::from(step))).collect();
        let near: Vec<f64> = answered(found.clone(), Some(vienna), |it| *it).iter().map(|it| it.lon).collect();
        assert_eq!(near, [16.0, 15.0, 14.0, 13.0, 12.0]);
        let asked: Vec<f64> = answered(found, None, |it| *it).iter().map(|it| it.lon).collect();
        assert_eq!(asked, [10.0, 11.0, 12.0, 13.0, 14.0]);
        assert!(at(0.0, 179.0).distance(at(0.0, -179.0)) < at(0.0, 179.0).distance(at(0.0, 170.0)));
    }
}
