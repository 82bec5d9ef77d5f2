//! The fields that queries know, and what may be asked of each.

use std::sync::Arc;

use super::super::tree::Operator;

/// What a field is called inside: the contract's name of a system field, the id of a custom one or of an SLA.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FieldKey(pub Arc<str>);

impl From<&str> for FieldKey {
    fn from(name: &str) -> Self {
        Self(name.into())
    }
}

/// What values of fields are, where they are things with names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "each is what it is called")]
pub enum ValueKind {
    Issue,
    Space,
    Type,
    Status,
    Category,
    Resolution,
    Priority,
    Person,
    Team,
    Label,
    Component,
    Version,
    Sprint,
    Level,
    Option,
    RequestType,
    Channel,
    Approval,
    LinkType,
}

/// What a field holds, as far as queries go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldKind {
    /// Things with names.
    Values(ValueKind),
    /// A number.
    Number,
    /// Seconds of work: 1d is 8 h, 1w is 5 d, a bare number counts minutes.
    Duration,
    /// An instant.
    Moment,
    /// A day without a time.
    Day,
    /// Words.
    Text,
    /// A clock of a service desk.
    Sla,
    /// Whether there is something at all.
    Presence,
    /// A saved query.
    Filter,
    /// Something to sort by only.
    Order,
}

/// A field, as a query found it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownField {
    /// What it is called inside.
    pub key: FieldKey,
    /// What it holds.
    pub kind: FieldKind,
    /// Whether its changes are kept.
    pub has_history: bool,
}

struct SystemField {
    names: &'static [&'static str],
    kind: FieldKind,
    has_history: bool,
}

const fn kept(names: &'static [&'static str], kind: FieldKind) -> SystemField {
    SystemField { names, kind, has_history: true }
}

const fn bare(names: &'static [&'static str], kind: FieldKind) -> SystemField {
    SystemField { names, kind, has_history: false }
}

/// The first name of each is its key.
const SYSTEM: &[SystemField] = &[
    bare(&["key", "issue", "issuekey", "id"], FieldKind::Values(ValueKind::Issue)),
    kept(&["space", "project"], FieldKind::Values(ValueKind::Space)),
    kept(&["type", "issuetype"], FieldKind::Values(ValueKind::Type)),
    kept(&["status"], FieldKind::Values(ValueKind::Status)),
    bare(&["statusCategory"], FieldKind::Values(ValueKind::Category)),
    kept(&["resolution"], FieldKind::Values(ValueKind::Resolution)),
    kept(&["priority"], FieldKind::Values(ValueKind::Priority)),
    kept(&["assignee"], FieldKind::Values(ValueKind::Person)),
    kept(&["reporter"], FieldKind::Values(ValueKind::Person)),
    bare(&["creator"], FieldKind::Values(ValueKind::Person)),
    bare(&["watcher"], FieldKind::Values(ValueKind::Person)),
    bare(&["watchers"], FieldKind::Number),
    bare(&["voter"], FieldKind::Values(ValueKind::Person)),
    bare(&["votes"], FieldKind::Number),
    kept(&["labels"], FieldKind::Values(ValueKind::Label)),
    kept(&["component"], FieldKind::Values(ValueKind::Component)),
    kept(&["fixVersion"], FieldKind::Values(ValueKind::Version)),
    kept(&["affectedVersion"], FieldKind::Values(ValueKind::Version)),
    kept(&["sprint"], FieldKind::Values(ValueKind::Sprint)),
    kept(&["parent"], FieldKind::Values(ValueKind::Issue)),
    kept(&["level"], FieldKind::Values(ValueKind::Level)),
    bare(&["created", "createdDate"], FieldKind::Moment),
    bare(&["updated", "updatedDate"], FieldKind::Moment),
    bare(&["resolved", "resolutiondate"], FieldKind::Moment),
    kept(&["due", "duedate"], FieldKind::Day),
    kept(&["startDate"], FieldKind::Day),
    kept(&["storyPoints"], FieldKind::Number),
    kept(&["originalEstimate"], FieldKind::Duration),
    kept(&["remainingEstimate"], FieldKind::Duration),
    kept(&["timeSpent"], FieldKind::Duration),
    bare(&["workRatio"], FieldKind::Number),
    kept(&["summary"], FieldKind::Text),
    kept(&["description"], FieldKind::Text),
    kept(&["environment"], FieldKind::Text),
    bare(&["comment"], FieldKind::Text),
    bare(&["text"], FieldKind::Text),
    bare(&["attachments"], FieldKind::Presence),
    bare(&["issueLinkType"], FieldKind::Values(ValueKind::LinkType)),
    bare(&["worklogAuthor"], FieldKind::Values(ValueKind::Person)),
    bare(&["worklogDate"], FieldKind::Day),
    bare(&["rank"], FieldKind::Order),
    bare(&["filter"], FieldKind::Filter),
    kept(&["requestType"], FieldKind::Values(ValueKind::RequestType)),
    bare(&["channel"], FieldKind::Values(ValueKind::Channel)),
    bare(&["participants"], FieldKind::Values(ValueKind::Person)),
    bare(&["approvals"], FieldKind::Values(ValueKind::Approval)),
    bare(&["satisfaction"], FieldKind::Number),
];

/// The texts that `text` asks, custom texts apart.
pub(super) const TEXTS: [&str; 4] = ["summary", "description", "environment", "comment"];

/// The system field of this name, in whatever case.
pub(super) fn system_field(name: &str) -> Option<KnownField> {
    let field = SYSTEM.iter().find(|field| field.names.iter().any(|known| known.eq_ignore_ascii_case(name)))?;
    Some(KnownField { key: field.names[0].into(), kind: field.kind, has_history: field.has_history })
}

impl KnownField {
    /// Whether the field takes this operator.
    pub fn takes(&self, operator: Operator) -> bool {
        use FieldKind as Kind;
        use Operator as O;
        let is_text = self.kind == Kind::Text;
        match operator {
            O::Is | O::IsNot => !matches!(self.kind, Kind::Order | Kind::Filter),
            O::Like | O::NotLike => is_text,
            O::Equal | O::NotEqual => !matches!(self.kind, Kind::Text | Kind::Order | Kind::Presence),
            O::In | O::NotIn => !matches!(self.kind, Kind::Text | Kind::Order | Kind::Presence | Kind::Sla),
            O::Less | O::LessEqual | O::Greater | O::GreaterEqual => match self.kind {
                Kind::Values(kind) => matches!(kind, ValueKind::Version | ValueKind::Priority),
                Kind::Number | Kind::Duration | Kind::Moment | Kind::Day | Kind::Sla => true,
                _ => false,
            },
            O::Was | O::WasNot | O::WasIn | O::WasNotIn | O::Changed => self.has_history && !is_text,
        }
    }

    /// Whether issues may be sorted by the field.
    pub fn sorts(&self) -> bool {
        !matches!(self.kind, FieldKind::Filter | FieldKind::Presence) && !matches!(&*self.key.0, "text" | "comment")
    }

    /// Whether the most comes first where a query doesn't say.
    pub fn descends(&self) -> bool {
        self.kind == FieldKind::Moment || self.kind == FieldKind::Values(ValueKind::Priority)
    }
}
