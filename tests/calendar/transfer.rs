//! Calendars that come in files and go out in files, and those that others follow.

use serde_json::{Value, json};

use super::{House, Mailbox};
use crate::{harness::Answer, mail::imports::path_of};

/// A file of these events.
fn calendar(events: &[&str]) -> String {
    let events: Vec<_> = events.iter().map(|event| format!("BEGIN:VEVENT\r\n{event}END:VEVENT\r\n")).collect();
    let events = events.concat();
    format!("BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//test//EN\r\n{events}END:VCALENDAR\r\n")
}

const LUNCH: &str = "UID:lunch@example.org\r\nDTSTAMP:20260101T000000Z\r\nDTSTART:20261123T110000Z\r\n\
                     DTEND:20261123T120000Z\r\nSUMMARY:Lunch\r\n";
const DAILY: &str = "UID:daily@example.org\r\nDTSTAMP:20260101T000000Z\r\nDTSTART;TZID=Europe/Vienna:20261123T090000\r\n\
                     DTEND;TZID=Europe/Vienna:20261123T093000\r\nRRULE:FREQ=DAILY;COUNT=5\r\n\
                     EXDATE;TZID=Europe/Vienna:20261125T090000\r\nSUMMARY:Daily\r\n";
const BAD: &str = "UID:bad@example.org\r\nDTSTAMP:20260101T000000Z\r\nSUMMARY:Without a time\r\n";

impl Mailbox {
    async fn import(&self, file: impl Into<String>) -> Answer {
        let path = format!("{}/calendars/{}/import", self.path, self.calendar);
        self.client.post(&path).body("text/calendar", file.into()).send().await
    }

    async fn export(&self) -> String {
        self.get(&format!("calendars/{}/export", self.calendar)).await.expect(200).text
    }

    /// Title and beginning of each occurrence in a week of November 2026.
    async fn week(&self) -> Vec<(String, i64)> {
        let (from, to) = (1_795_392_000_000_i64, 1_795_996_800_000_i64);
        let list = self.get(&format!("events?from={from}&to={to}")).await.expect(200);
        let shown = |it: &Value| {
            let title = it["summary"].as_str().expect("a title").to_owned();
            (title, it["start"].as_i64().expect("a time"))
        };
        list.list("/occurrences").iter().map(shown).collect()
    }
}

#[tokio::test]
async fn events_of_a_file_are_added_once_changed_by_a_later_one_and_told_where_they_cannot_be_read() {
    let house = House::new().await;
    let mailbox = &house.mailbox;
    let answer = mailbox.import(calendar(&[LUNCH, BAD, DAILY])).await.expect(200);
    assert_eq!((answer.int("/added"), answer.int("/updated"), answer.int("/unchanged")), (2, 0, 0), "{}", answer.json);
    let [fault] = answer.list("/failed") else { panic!("{}", answer.json) };
    assert_eq!((fault["uid"].clone(), fault["line"].clone()), (json!("bad@example.org"), json!(11)), "{fault}");
    let week = mailbox.week().await;
    assert_eq!(week.len(), 5, "{week:?}");
    assert_eq!(week.iter().filter(|(title, _)| title == "Daily").count(), 4);
    let again = mailbox.import(calendar(&[LUNCH, DAILY])).await.expect(200);
    assert_eq!(again.json, json!({"added": 0, "updated": 0, "unchanged": 2, "failed": []}));
    let moved = LUNCH.replace("T110000Z", "T113000Z").replace("SUMMARY", "SEQUENCE:1\r\nSUMMARY");
    let later = mailbox.import(calendar(&[&moved])).await.expect(200);
    assert_eq!(later.json, json!({"added": 0, "updated": 1, "unchanged": 0, "failed": []}));
    // What is older changes nothing.
    let older = mailbox.import(calendar(&[LUNCH])).await.expect(200);
    assert_eq!(older.json, json!({"added": 0, "updated": 0, "unchanged": 1, "failed": []}));
    let lunch = mailbox.week().await.into_iter().find(|(title, _)| title == "Lunch").expect("lunch");
    assert_eq!(lunch.1, 1_795_433_400_000);
}

#[tokio::test]
async fn what_is_no_calendar_is_refused_and_so_is_what_is_too_large() {
    let house = House::new().await;
    let mailbox = &house.mailbox;
    mailbox.import("hello").await.expect_error(400, "not_a_calendar", "This file isn't a calendar.");
    let empty = mailbox.import(calendar(&[])).await.expect(200);
    assert_eq!(empty.json, json!({"added": 0, "updated": 0, "unchanged": 0, "failed": []}));
    let text = "A calendar's file has at most 20 MB.";
    let most = 20 * 1024 * 1024;
    let file = |len: usize| calendar(&[]) + &" ".repeat(len - calendar(&[]).len());
    mailbox.import(file(most)).await.expect(200);
    mailbox.import(file(most + 1)).await.expect_error(413, "too_large", text);
    let path = format!("{}/calendars/{}/import", mailbox.path, mailbox.calendar);
    mailbox.client.post(&path).body("text/plain", calendar(&[])).send().await.expect(415);
    let nowhere = path.replace(&mailbox.calendar, "cal_01jd7rt4m5e9fv2w8x3c6k0hqz");
    let refused = mailbox.client.post(&nowhere).body("text/calendar", calendar(&[LUNCH])).send().await;
    refused.expect_error(404, "not_found", "Calendar not found");
}

#[tokio::test]
async fn what_is_exported_is_imported_elsewhere_as_it_was() {
    let house = House::new().await;
    let mailbox = &house.mailbox;
    mailbox.import(calendar(&[LUNCH, DAILY])).await.expect(200);
    let many: Vec<String> = (0..450).map(|number| LUNCH.replace("lunch@", &format!("{number}@"))).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    assert_eq!(mailbox.import(calendar(&many)).await.expect(200).int("/added"), 450);
    let file = mailbox.export().await;
    assert_eq!(file.matches("BEGIN:VEVENT").count(), 452);
    assert!(file.contains("TZID=Europe/Vienna") && file.contains("BEGIN:VTIMEZONE"));
    let (_, other) = house.colleague("bob").await;
    let imported = other.import(file.clone()).await.expect(200);
    assert_eq!(imported.json, json!({"added": 452, "updated": 0, "unchanged": 0, "failed": []}));
    assert_eq!(other.week().await, mailbox.week().await);
    assert_eq!(mailbox.import(file).await.expect(200).int("/unchanged"), 452);
}

#[tokio::test]
async fn a_calendar_is_followed_at_an_address_until_that_ends() {
    let house = House::new().await;
    let mailbox = &house.mailbox;
    mailbox.import(calendar(&[LUNCH])).await.expect(200);
    let feed = format!("{}/calendars/{}/feed", mailbox.path, mailbox.calendar);
    let made = async || {
        let made = mailbox.client.post(&feed).send().await.expect(200);
        path_of(made.str("/url")).to_owned()
    };
    let first = made().await;
    let nobody = house.server.client();
    let read = nobody.get(&first).send().await.expect(200);
    assert_eq!(read.header("content-type"), Some("text/calendar; charset=utf-8"));
    assert!(read.text.contains("SUMMARY:Lunch"), "{}", read.text);
    let tag = read.header("etag").expect("a tag").to_owned();
    nobody.get(&first).header("if-none-match", &tag).send().await.expect(304);
    mailbox.import(calendar(&[DAILY])).await.expect(200);
    let changed = nobody.get(&first).header("if-none-match", &tag).send().await.expect(200);
    assert!(changed.text.contains("SUMMARY:Daily"), "{}", changed.text);
    let second = made().await;
    nobody.get(&first).send().await.expect_error(404, "not_found", "Calendar not found");
    nobody.get(&second).send().await.expect(200);
    mailbox.client.delete(&feed).send().await.expect(204);
    nobody.get(&second).send().await.expect_error(404, "not_found", "Calendar not found");
    let (bob, _) = house.colleague("bob").await;
    bob.client.post(&feed).send().await.expect_error(404, "not_found", "Mailbox not found");
    bob.client.get(&feed.replace("/feed", "/export")).send().await.expect_error(404, "not_found", "Mailbox not found");
}
