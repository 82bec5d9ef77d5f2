//! What a desk offers, as a part of its space's configuration (contract B 2.3, `servicedesk`).

use std::{collections::BTreeMap, collections::BTreeSet};

use serde::{Deserialize, Serialize};

use super::{
    limits::{
        ARTICLE_ROOTS_MAX, CUSTOMERS_MAX, PORTAL_INTRO_LEN_MAX, PORTAL_TITLE_LEN_MAX, REOPEN_DAYS, REQUEST_TYPE_LEN,
        REQUEST_TYPES_MAX,
    },
    queues::{CannedResponse, Queue},
};
use crate::{
    Email, Error,
    id::PageId,
    issues::{
        approval::ApprovalRule,
        limits::{CATALOG_DESCRIPTION_LEN_MAX, ICON_LEN_MAX, NAME_LEN, SLAS_MAX},
        mailing::DeskEmail,
        settings::Settings,
        sla::{DaySpan, Hours, HoursSettings, SlaSettings},
        workflow::Category,
    },
    notify::Zone,
    problems::Problems,
};

/// What a desk offers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ServiceDesk {
    /// What people can ask for, in the order in which it is shown.
    pub request_types: Vec<RequestType>,
    /// The help center.
    pub portal: Portal,
    /// Whether people may rate how a request was answered.
    #[serde(default)]
    pub satisfaction: bool,
    /// The statuses in which a request waits for whoever raised it.
    #[serde(default)]
    pub waiting: Vec<String>,
    /// The status that a request enters when it waited for a comment of its people, or was over, and has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reopen_status: Option<String>,
    /// For how many days after its end a comment opens a request again.
    #[serde(default = "reopen_days")]
    pub reopen_days: u32,
    /// What helps before anybody is asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub articles: Option<Articles>,
    /// How it takes mail, where it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub email: Option<DeskEmail>,
    /// The clocks of its issues.
    #[serde(default)]
    pub slas: Vec<SlaSettings>,
    /// The queues that its agents work off.
    #[serde(default)]
    pub queues: Vec<Queue>,
    /// Answers that its agents keep at hand.
    #[serde(default)]
    pub canned_responses: Vec<CannedResponse>,
    /// When it works; clocks count every instant where it doesn't say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hours: Option<HoursSettings>,
}

/// The door of a desk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Portal {
    /// Whether it is open at all.
    pub enabled: bool,
    /// What it is called; the space's name where it says nothing.
    #[serde(default)]
    pub title: String,
    /// What it says first.
    #[serde(default)]
    pub intro: String,
    /// Who may come in.
    pub access: PortalAccess,
    /// Addresses of those who may come in beside members, where they are listed.
    #[serde(default)]
    pub customers: Vec<String>,
}

/// Who may come in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PortalAccess {
    /// Whoever has an account.
    Any,
    /// Members of the organization.
    Org,
    /// Members, and listed customers.
    Listed,
}

/// Something that people can ask for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RequestType {
    /// What it goes by; never changes.
    pub id: String,
    /// What people read.
    pub name: String,
    /// When to choose it.
    #[serde(default)]
    pub description: String,
    /// The name of a picture, or an emoji.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub icon: Option<String>,
    /// What it is shown under.
    #[serde(default)]
    pub group: String,
    /// The type of the issues that requests become.
    pub issue_type_id: String,
    /// What its form asks for beside summary and description.
    #[serde(default)]
    pub fields: Vec<FormField>,
    /// Its own words for statuses.
    #[serde(default)]
    pub statuses: BTreeMap<String, String>,
    /// Whether only those see it who have such requests.
    #[serde(default)]
    pub hidden: bool,
    /// The statuses that ask for an approval.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub approvals: Vec<ApprovalRule>,
}

/// Something that a form asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FormField {
    /// The field.
    pub id: FormFieldId,
    /// Whether it must be filled in.
    #[serde(default)]
    pub required: bool,
}

/// The fields that forms can ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FormFieldId {
    /// How urgent it is.
    Priority,
}

/// What helps before anybody is asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Articles {
    /// The pages that are articles, with all that stand below them.
    pub page_ids: Vec<String>,
}

/// Days in which a request opens again, where the desk doesn't say.
const fn reopen_days() -> u32 {
    30
}

/// The hours of a day on which a new desk works.
fn working_day(day: u8) -> DaySpan {
    DaySpan { day, from: "09:00".to_owned(), to: "17:00".to_owned() }
}

impl Default for ServiceDesk {
    fn default() -> Self {
        let kind = |id: &str, name: &str, description: &str, issue_type: &str| RequestType {
            id: id.to_owned(),
            name: name.to_owned(),
            description: description.to_owned(),
            icon: None,
            group: "Common requests".to_owned(),
            issue_type_id: issue_type.to_owned(),
            fields: Vec::new(),
            statuses: BTreeMap::new(),
            hidden: false,
            approvals: Vec::new(),
        };
        let mut report =
            kind("report_a_problem", "Report a problem", "Something doesn't work as it should.", "incident");
        report.fields.push(FormField { id: FormFieldId::Priority, required: false });
        Self {
            request_types: vec![
                kind("get_help", "Get help", "A question, or something that somebody can do for you.", "request"),
                report,
                kind("ask_for_access", "Ask for access", "A program, a place or a document that you need.", "request"),
            ],
            portal: Portal {
                enabled: false,
                title: String::new(),
                intro: String::new(),
                access: PortalAccess::Org,
                customers: Vec::new(),
            },
            satisfaction: true,
            waiting: vec!["waiting_for_customer".to_owned()],
            reopen_status: Some("waiting_for_support".to_owned()),
            reopen_days: reopen_days(),
            articles: None,
            email: None,
            slas: SlaSettings::defaults(),
            queues: Queue::defaults(),
            canned_responses: Vec::new(),
            hours: Some(HoursSettings {
                time_zone: Zone::UTC,
                days: (1..=5).map(working_day).collect(),
                holidays: Vec::new(),
            }),
        }
    }
}

impl ServiceDesk {
    /// The request type with this id, hidden or not.
    pub fn request_type(&self, id: &str) -> Option<&RequestType> {
        self.request_types.iter().find(|kind| kind.id == id)
    }

    /// The pages below which articles stand.
    pub fn article_roots(&self) -> Vec<PageId> {
        let ids = self.articles.iter().flat_map(|articles| &articles.page_ids);
        ids.filter_map(|id| id.parse().ok()).collect()
    }

    /// Says everything that is wrong, below `config.servicedesk`. `types` are those of the space.
    pub fn check(&self, problems: &mut Problems, settings: &Settings, types: &[String]) {
        let path = "config.servicedesk";
        self.request_types_check(problems, settings, types);
        self.portal.check(problems);
        self.slas_check(problems, settings);
        super::queues::check(problems, self);
        if let Some(email) = &self.email {
            email.check(problems, self);
        }
        for (at, id) in self.waiting.iter().enumerate() {
            problems.require(
                settings.status(id).is_some(),
                format!("{path}.waiting[{at}]"),
                "There is no such status.",
            );
        }
        if let Some(id) = &self.reopen_status {
            let fits = settings.status(id).is_some_and(|status| status.category != Category::Done);
            problems.require(fits, format!("{path}.reopenStatus"), "Use a status in which something is to be done.");
        }
        let fits = REOPEN_DAYS.contains(&self.reopen_days);
        problems.require(fits, format!("{path}.reopenDays"), "Use 0 to 365.");
        let pages = self.articles.as_ref().map_or(&[][..], |articles| &articles.page_ids);
        let path = format!("{path}.articles.pageIds");
        problems.require(pages.len() <= ARTICLE_ROOTS_MAX, path.clone(), "Use at most 100.");
        for (at, id) in pages.iter().enumerate() {
            problems.require(id.parse::<PageId>().is_ok(), format!("{path}[{at}]"), "This is no id of a page.");
        }
    }

    fn slas_check(&self, problems: &mut Problems, settings: &Settings) {
        let path = "config.servicedesk.slas";
        problems.require(self.slas.len() <= SLAS_MAX, path, "Use at most 20.");
        let request_types: BTreeSet<&str> = self.request_types.iter().map(|kind| kind.id.as_str()).collect();
        let (mut ids, mut names) = (BTreeSet::new(), BTreeSet::new());
        for (at, sla) in self.slas.iter().enumerate() {
            let path = format!("{path}[{at}]");
            problems.require(ids.insert(&sla.sla_id), format!("{path}.slaId"), "This clock stands here twice.");
            let is_new = names.insert(sla.name.trim().to_lowercase());
            problems.require(is_new, format!("{path}.name"), "Another clock has this name.");
            sla.check(problems, &path, (settings, &request_types));
        }
        if let Some(Err(Error::Invalid { problems: found })) = self.hours.as_ref().map(Hours::read) {
            for it in found {
                problems.add(format!("config.servicedesk.{}", it.path), it.message);
            }
        }
    }

    fn request_types_check(&self, problems: &mut Problems, settings: &Settings, types: &[String]) {
        let path = "config.servicedesk.requestTypes";
        problems.require(self.request_types.len() <= REQUEST_TYPES_MAX, path, "Use at most 100.");
        let mut seen = BTreeSet::new();
        for (at, kind) in self.request_types.iter().enumerate() {
            let path = format!("{path}[{at}]");
            problems.require(seen.insert(&kind.id), format!("{path}.id"), "This request type stands here twice.");
            kind.check(problems, &path, settings, types);
        }
    }
}

impl RequestType {
    /// Whether its form asks for a field, and whether it must be filled in.
    pub fn asks(&self, id: FormFieldId) -> Option<&FormField> {
        self.fields.iter().find(|field| field.id == id)
    }

    fn check(&self, problems: &mut Problems, path: &str, settings: &Settings, types: &[String]) {
        let is_part = |it: char| it.is_ascii_lowercase() || it.is_ascii_digit() || matches!(it, '_' | '-');
        let fits = REQUEST_TYPE_LEN.contains(&self.id.len()) && self.id.chars().all(is_part);
        problems.require(
            fits,
            format!("{path}.id"),
            "Use 1 to 40 lower-case letters, digits, hyphens and underscores.",
        );
        let fits = |text: &str, most: usize| text.chars().count() <= most && !text.contains('\0');
        let is_name = |text: &str| !text.trim().is_empty() && fits(text, *NAME_LEN.end());
        problems.require(is_name(&self.name), format!("{path}.name"), "Use 1 to 80 characters.");
        let is_short = fits(&self.description, CATALOG_DESCRIPTION_LEN_MAX);
        problems.require(is_short, format!("{path}.description"), "Use at most 500 characters.");
        let is_short = self.icon.as_ref().is_none_or(|icon| fits(icon, ICON_LEN_MAX));
        problems.require(is_short, format!("{path}.icon"), "Use at most 40 characters.");
        problems.require(fits(&self.group, *NAME_LEN.end()), format!("{path}.group"), "Use at most 80 characters.");
        let level = settings.issue_type(&self.issue_type_id).map(|kind| kind.level);
        let fits = types.contains(&self.issue_type_id) && level.is_some_and(|level| level >= 0);
        problems.require(fits, format!("{path}.issueTypeId"), "Use one of the space's types that needs no parent.");
        let ids: BTreeSet<_> = self.fields.iter().map(|field| field.id).collect();
        let is_once = ids.len() == self.fields.len();
        problems.require(is_once, format!("{path}.fields"), "A field stands here twice.");
        for (id, word) in &self.statuses {
            let path = format!("{path}.statuses.{id}");
            problems.require(settings.status(id).is_some(), path.clone(), "There is no such status.");
            problems.require(is_name(word), path, "Use 1 to 80 characters.");
        }
    }
}

impl Portal {
    fn check(&self, problems: &mut Problems) {
        let path = "config.servicedesk.portal";
        let fits = |text: &str, most: usize| text.chars().count() <= most && !text.contains('\0');
        let is_short = fits(&self.title, PORTAL_TITLE_LEN_MAX);
        problems.require(is_short, format!("{path}.title"), "Use at most 80 characters.");
        let is_short = fits(&self.intro, PORTAL_INTRO_LEN_MAX);
        problems.require(is_short, format!("{path}.intro"), "Use at most 5000 characters.");
        let path = format!("{path}.customers");
        problems.require(self.customers.len() <= CUSTOMERS_MAX, path.clone(), "Use at most 1000.");
        let mut seen = BTreeSet::new();
        for (at, address) in self.customers.iter().enumerate() {
            let path = format!("{path}[{at}]");
            problems.require(Email::parse(&path, address).is_ok(), path.clone(), "This is no e-mail address.");
            problems.require(seen.insert(address.to_lowercase()), path, "This address stands here twice.");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::issues::space::Template;

    fn problems_of(desk: &ServiceDesk) -> usize {
        let mut problems = Problems::new();
        desk.check(&mut problems, &Settings::default(), &Template::Service.config().issue_type_ids);
        problems.count()
    }

    #[test]
    fn what_a_desk_begins_with_is_right_and_shut() {
        let desk = ServiceDesk::default();
        assert_eq!(problems_of(&desk), 0);
        assert!(!desk.portal.enabled);
    }

    #[test]
    fn everything_that_is_wrong_is_said() {
        let mut desk = ServiceDesk::default();
        desk.request_types[1].id = desk.request_types[0].id.clone();
        desk.request_types[2].issue_type_id = "subtask".to_owned();
        desk.request_types[2].statuses.insert("nowhere".to_owned(), String::new());
        desk.portal.customers = vec!["a@example.org".into(), "A@example.org".into(), "nobody".into()];
        desk.waiting.push("nowhere".to_owned());
        desk.reopen_status = Some("closed".to_owned());
        desk.articles = Some(Articles { page_ids: vec!["usr_x".to_owned()] });
        assert_eq!(problems_of(&desk), 9);
    }

    #[test]
    fn numbers_hold_at_their_limits() {
        let mut desk = ServiceDesk::default();
        for (days, wrong) in [(0, 0), (365, 0), (366, 1)] {
            desk.reopen_days = days;
            assert_eq!(problems_of(&desk), wrong, "{days}");
        }
        desk.reopen_days = 30;
        for (length, wrong) in [(40, 0), (41, 1)] {
            desk.request_types[0].id = "x".repeat(length);
            assert_eq!(problems_of(&desk), wrong, "{length}");
        }
    }
}
