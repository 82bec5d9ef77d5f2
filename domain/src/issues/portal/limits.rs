//! Numbers that help centers are bound by, and what is said where one is passed or something isn't there.

use std::time::Duration;

/// 403 for keys (contract B 4.4).
pub const HELP_CENTER_PEOPLE: &str = "Help centers are for people.";
/// 404 of a help center that isn't there, or not for whoever asks. Ours, as all messages below but one.
pub const HELP_CENTER_NOT_FOUND: &str = "Help center not found.";
/// 404 of a request that isn't there, or another's.
pub const REQUEST_NOT_FOUND: &str = "Request not found.";
/// 404 of an attachment.
pub const ATTACHMENT_NOT_FOUND: &str = "Attachment not found.";
/// 404 of an article (contract B 4.4).
pub const ARTICLE_NOT_FOUND: &str = "Article not found";
/// 404 of whoever takes no part in a request.
pub const PARTICIPANT_NOT_FOUND: &str = "That person isn't a participant.";
/// 400 of a request type.
pub const REQUEST_TYPE_NOT_FOUND: &str = "Request type not found.";
/// 400 of an address that can't take part, whatever the reason.
pub const PARTICIPANT_REFUSED: &str = "That address can't be added.";

/// Characters of the id of a request type (contract B 4.4).
pub const REQUEST_TYPE_LEN: std::ops::RangeInclusive<usize> = 1..=40;
/// Characters of a request's description (contract B 4.4).
pub const REQUEST_DESCRIPTION_LEN_MAX: usize = 32_000;
/// Characters of a request's priority (contract B 4.4).
pub const REQUEST_PRIORITY_LEN_MAX: usize = 40;
/// Characters of a public comment (contract B 4.4).
pub const REPLY_LEN: std::ops::RangeInclusive<usize> = 1..=32_000;
/// Characters of the name of a file (contract B 4.4).
pub const ATTACHMENT_NAME_LEN: std::ops::RangeInclusive<usize> = 1..=255;
/// Characters of the type of a file (contract B 4.4).
pub const CONTENT_TYPE_LEN_MAX: usize = 255;
/// Characters of a participant's address (contract B 4.4).
pub const PARTICIPANT_LEN: std::ops::RangeInclusive<usize> = 3..=320;
/// Characters of what is looked for among articles (contract B 4.4).
pub const ARTICLES_QUESTION_LEN_MAX: usize = 200;
/// Stars of a rating (contract B 4.4).
pub const RATINGS: std::ops::RangeInclusive<i64> = 1..=5;
/// Characters of what is said with a rating (contract B 4.4).
pub const RATING_COMMENT_LEN_MAX: usize = 1_000;

/// Bytes of a file of a request. Ours, as all below.
pub const ATTACHMENT_BYTES_MAX: u64 = 100 * 1024 * 1024;
/// Files of an issue.
pub const ATTACHMENTS_MAX: u64 = 100;
/// People who take part in a request.
pub const PARTICIPANTS_MAX: usize = 50;
/// Request types of a desk.
pub const REQUEST_TYPES_MAX: usize = 100;
/// Customers that a desk lists.
pub const CUSTOMERS_MAX: usize = 1_000;
/// Pages below which a desk's articles stand.
pub const ARTICLE_ROOTS_MAX: usize = 100;
/// Articles that are listed.
pub const ARTICLES_LISTED_MAX: usize = 50;
/// Comments that a request is answered with.
pub const REPLIES_SHOWN_MAX: u64 = 500;
/// Characters of the title of a help center.
pub const PORTAL_TITLE_LEN_MAX: usize = 80;
/// Characters of what a help center says first.
pub const PORTAL_INTRO_LEN_MAX: usize = 5_000;
/// Days after its end in which a request opens again.
pub const REOPEN_DAYS: std::ops::RangeInclusive<u32> = 0..=365;

/// How long what a person did counts against their hourly numbers.
pub const COUNTED_FOR: Duration = Duration::from_hours(1);
/// Requests of a person an hour.
pub const REQUESTS_PER_HOUR: u64 = 30;
/// Files of a person an hour.
pub const ATTACHMENTS_PER_HOUR: u64 = 100;
/// How long bytes can be sent to the address of an upload.
pub const UPLOAD_LASTS: Duration = Duration::from_hours(1);
/// How long the address of a file works.
pub const DOWNLOAD_LASTS: Duration = Duration::from_mins(5);
/// How long a file that was begun waits for its bytes and its completion.
pub const UPLOAD_KEPT_FOR: Duration = Duration::from_hours(24);
