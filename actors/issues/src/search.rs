//! Searching on behalf of a caller: names are looked up among what they may see, and nothing else is looked through.

use std::collections::{HashMap, HashSet};

use domain::{
    Authority, Error, Result, Timestamp,
    id::{SpaceId, UserId},
    issues::{
        access::{Permission, may},
        filter::jql_fault,
        jql::{
            FieldName, Operand, Query, Single,
            meaning::{
                Clock, Comparison, Fallback, FieldKey, FieldKind, KnownField, Names, Plan, Reader, Test, ValueId,
                ValueKind, resolve,
            },
        },
        limits::COUNTED_MAX,
        portal::ServiceDesk,
        settings::{Catalog, Settings},
        sla::{CalendarKind, Hours, SlaSettings, counted_by},
        space::Space,
    },
    notify::Zone,
};
use store::{
    Store,
    issues::{ClockNow, FoundIssues, FoundSeqs, IssueSearch, Orders, clock_key},
};

use super::{
    access::{Sight, sight},
    named::Parts,
    related::Related,
};

/// Issues that one query may name.
const NAMED_MAX: usize = 200;
/// People whose names queries know.
const PEOPLE_MAX: u64 = 10_000;

/// What is searched for.
#[derive(Clone, Debug)]
pub struct Asked<'a> {
    /// The query.
    pub jql: &'a str,
    /// The order where the query asks for none.
    pub fallback: Fallback,
    /// Issues that are passed over.
    pub start: u64,
    /// Issues that are answered at most.
    pub limit: u64,
}

/// A person, as queries name them.
struct Known {
    id: UserId,
    name: String,
    email: String,
}

/// What names stand for, as far as the caller may see it.
struct Lookup {
    settings: Settings,
    sight: Sight,
    people: Vec<Known>,
    teams: HashMap<String, Vec<ValueId>>,
    issues: HashMap<String, String>,
    filters: Vec<(String, String, String)>,
    parts: Parts,
    related: Related,
    me: UserId,
}

/// The issues that a query finds for a caller.
///
/// # Errors
/// 400 `jql` for a query that can't be read, or names what the caller doesn't see.
pub async fn search(store: &Store, authority: &Authority, asked: &Asked<'_>) -> Result<FoundIssues> {
    let question = Question::read(store, authority, asked.jql).await?;
    store.issues_search(&question.search(authority, asked)).await
}

/// How many issues a query finds for a caller, counted up to a number.
///
/// # Errors
/// As [`search`].
pub async fn count(store: &Store, authority: &Authority, (jql, up_to): (&str, u64)) -> Result<u64> {
    let question = Question::read(store, authority, jql).await?;
    let asked = Asked { jql, fallback: Fallback::Key, start: 0, limit: 0 };
    let counted = i64::try_from(up_to).unwrap_or(i64::MAX);
    let search = IssueSearch { counted, ..question.search(authority, &asked) };
    Ok(store.issue_seqs(&search).await?.total)
}

/// The numbers of the issues that a query finds for a caller.
///
/// # Errors
/// As [`search`].
pub(crate) async fn search_seqs(store: &Store, authority: &Authority, asked: &Asked<'_>) -> Result<FoundSeqs> {
    let question = Question::read(store, authority, asked.jql).await?;
    store.issue_seqs(&question.search(authority, asked)).await
}

/// A query with all that it needs to be asked.
struct Question {
    plan: Plan,
    spaces: Vec<SpaceId>,
    orders: Orders,
    clocks: Vec<ClockNow>,
    now: Timestamp,
}

impl Question {
    async fn read(store: &Store, authority: &Authority, jql: &str) -> Result<Self> {
        let sight = sight(store, authority).await?;
        let settings = store.issue_catalog(authority.org_id()).await?.settings;
        let query = Query::parse(jql).map_err(|fault| jql_fault(&[fault]))?;
        let names_space = names_space(&query);
        let reader = reader(store, authority).await?;
        let lookup = Lookup::read(store, authority, (sight, settings), &query).await?;
        let plan = resolve(jql, &query, &lookup, &reader).map_err(|faults| jql_fault(&faults))?;
        let is_looked_through = |space: &&Space| names_space || !space.archived;
        let spaces = lookup.sight.spaces.iter().map(|(space, _)| space).filter(is_looked_through);
        let settings = &lookup.settings;
        let orders = Orders {
            statuses: settings.statuses.iter().map(|it| it.id.clone()).collect(),
            types: settings.issue_types.iter().map(|it| it.id.clone()).collect(),
            priorities: settings.priorities.iter().rev().map(|it| it.id.clone()).collect(),
            resolutions: settings.resolutions.iter().map(|it| it.id.clone()).collect(),
        };
        let clocks = clocks_now(&lookup.sight, &plan, reader.clock.now);
        let now = reader.clock.now;
        Ok(Self { plan, clocks, now, spaces: spaces.map(|space| space.space_id).collect(), orders })
    }

    fn search<'a>(&'a self, authority: &Authority, asked: &Asked<'_>) -> IssueSearch<'a> {
        IssueSearch {
            org_id: authority.org_id(),
            spaces: &self.spaces,
            plan: &self.plan,
            fallback: asked.fallback,
            orders: &self.orders,
            clocks: &self.clocks,
            now: self.now,
            start: asked.start,
            limit: asked.limit,
            counted: COUNTED_MAX,
        }
    }
}

/// Whoever asks, and when; a key asks in universal time.
async fn reader(store: &Store, authority: &Authority) -> Result<Reader> {
    let person = authority.on_behalf_of()?;
    let zone =
        if authority.is(person) { store.person(person).await?.and_then(|person| person.time_zone) } else { None };
    let zone = zone.and_then(|name| Zone::find(&name)).unwrap_or(Zone::UTC);
    Ok(Reader { person: ValueId::from(person.to_string().as_str()), clock: Clock { now: store.now(), zone } })
}

/// Whether a query names a space, so that archived ones are looked through as well.
fn names_space(query: &Query) -> bool {
    query.clauses().any(|clause| match &clause.field.name {
        FieldName::Word(word) => {
            let name = word.text.to_lowercase();
            matches!(name.as_str(), "space" | "project" | "key" | "issue" | "issuekey" | "id")
        }
        FieldName::Custom(_) => false,
    })
}

/// The clocks of the desks that somebody sees.
fn slas(sight: &Sight) -> impl Iterator<Item = (&Space, &ServiceDesk, &SlaSettings)> {
    let desks = sight.spaces.iter().filter_map(|(space, _)| Some((space, space.config.servicedesk.as_ref()?)));
    desks.flat_map(|(space, desk)| desk.slas.iter().map(move |sla| (space, desk, sla)))
}

/// The clocks that a query asks for, as they are now.
fn clocks_now(sight: &Sight, plan: &Plan, now: Timestamp) -> Vec<ClockNow> {
    let mut asked = HashSet::new();
    for test in &plan.tests {
        if let Test::Ask(fields, _) = test {
            asked.extend(fields.iter().map(|field| &*field.0));
        }
    }
    asked.extend(plan.order.iter().flat_map(|order| &order.fields).map(|field| &*field.0));
    let mut clocks = Vec::new();
    for (space, desk, sla) in slas(sight) {
        let key = clock_key(space.space_id, &sla.sla_id);
        if !asked.contains(key.as_str()) {
            continue;
        }
        let hours = desk.hours.as_ref().and_then(|hours| Hours::read(hours).ok());
        let counted = |kind: CalendarKind, at: Timestamp| counted_by(kind, hours.as_ref(), at);
        let business = counted(CalendarKind::Business, now);
        let is_open = counted(CalendarKind::Business, Timestamp(now.0 + 1)) > business;
        clocks.push(ClockNow { key, business, always: counted(CalendarKind::Always, now), is_open });
    }
    clocks
}

/// The texts that a query compares with, and asks functions for.
fn words(query: &Query) -> Vec<String> {
    let singles = query.clauses().flat_map(|clause| clause.operand.iter().flat_map(Operand::singles));
    let texts = singles.flat_map(|single| match single {
        Single::Value(word) => vec![word.text.clone()],
        Single::Function(function) => function.arguments.iter().map(|word| word.text.clone()).collect(),
        Single::Empty(_) => Vec::new(),
    });
    texts.collect()
}

fn is_issue(text: &str) -> bool {
    text.parse::<domain::issues::key::IssueKey>().is_ok() || text.parse::<domain::id::IssueId>().is_ok()
}

impl Lookup {
    async fn read(
        store: &Store,
        authority: &Authority,
        (sight, settings): (Sight, Settings),
        query: &Query,
    ) -> Result<Self> {
        let org_id = authority.org_id();
        let parts = Parts::read(store, org_id, (&sight, query)).await?;
        let mut lookup = Self {
            settings,
            parts,
            related: Related::default(),
            me: authority.on_behalf_of()?,
            sight,
            people: Vec::new(),
            teams: HashMap::new(),
            issues: HashMap::new(),
            filters: Vec::new(),
        };
        if query.root().is_none() {
            return Ok(lookup);
        }
        let members = store.members(org_id, None, PEOPLE_MAX).await?;
        lookup.people = members
            .into_iter()
            .map(|it| Known {
                id: it.user_id,
                name: it.name.to_lowercase(),
                email: it.email.to_string().to_lowercase(),
            })
            .collect();
        let (mut texts, mut filtered) = (words(query), Vec::new());
        if query.clauses().any(|clause| clause.field.to_string().eq_ignore_ascii_case("filter")) {
            let person = authority.on_behalf_of()?;
            for it in store.issue_filters(org_id, person).await? {
                if it.filter.is_shared_with(person, &lookup.sight.teams) {
                    filtered.extend(Query::parse(&it.filter.jql));
                    lookup.filters.push((it.filter.id.to_string(), it.filter.name.to_lowercase(), it.filter.jql));
                }
            }
        }
        texts.extend(filtered.iter().flat_map(words));
        lookup.read_issues(store, authority, &texts).await?;
        let queries: Vec<&Query> = filtered.iter().chain([query]).collect();
        let issue = |text: &str| lookup.issues.get(&text.to_lowercase()).and_then(|id| id.parse().ok());
        lookup.related = Related::read(store, (authority, &lookup.settings), (&queries, issue)).await?;
        lookup.read_teams(store, authority, &texts).await?;
        Ok(lookup)
    }

    async fn read_issues(&mut self, store: &Store, authority: &Authority, texts: &[String]) -> Result<()> {
        let named: HashSet<String> = texts.iter().filter(|text| is_issue(text)).cloned().collect();
        if named.len() > NAMED_MAX {
            let message = format!("A query can name at most {NAMED_MAX} issues.");
            return Err(Error::bad_request("jql_too_expensive", message));
        }
        if named.is_empty() {
            return Ok(());
        }
        let named: Vec<String> = named.into_iter().collect();
        for (text, stored) in store.issues_named(authority.org_id(), &named).await? {
            // What may not be seen reads as what isn't there.
            if self.sight.space(stored.issue.space_id).is_some() {
                self.issues.insert(text.to_lowercase(), stored.issue.issue_id.to_string());
            }
        }
        Ok(())
    }

    async fn read_teams(&mut self, store: &Store, authority: &Authority, texts: &[String]) -> Result<()> {
        let named: HashSet<String> = texts.iter().map(|text| text.to_lowercase()).collect();
        for text in named.into_iter().take(NAMED_MAX) {
            let Some(team) = store.team_by_name(authority.org_id(), &text).await? else { continue };
            let members = store.team_members(team.id).await?;
            let ids = members.iter().map(|it| ValueId::from(it.user_id.to_string().as_str())).collect();
            self.teams.insert(text, ids);
        }
        Ok(())
    }

    fn person(&self, name: &str) -> Vec<ValueId> {
        let folded = name.to_lowercase();
        let fits = |it: &&Known| it.id.to_string() == folded || it.name == folded || it.email == folded;
        self.people.iter().filter(fits).map(|it| ValueId::from(it.id.to_string().as_str())).collect()
    }

    /// The request types that bear a name or an id, of the desks that the caller sees.
    fn request_types(&self, folded: &str) -> Vec<ValueId> {
        let desks = self.sight.spaces.iter().filter_map(|(space, _)| space.config.servicedesk.as_ref());
        let all = desks.flat_map(|desk| &desk.request_types);
        let named = all.filter(|kind| kind.id == folded || kind.name.trim().to_lowercase() == folded);
        named.map(|kind| ValueId::from(kind.id.as_str())).collect()
    }

    /// The spaces that a person leads, or the caller.
    fn led(&self, arguments: &[&str]) -> Option<Vec<ValueId>> {
        let people = match arguments {
            [] => vec![ValueId::from(self.me.to_string().as_str())],
            names => names.iter().flat_map(|name| self.person(name)).collect(),
        };
        let leads = |space: &Space| {
            let lead = space.lead_id.map(|id| ValueId::from(id.to_string().as_str()));
            lead.is_some_and(|lead| people.contains(&lead))
        };
        let spaces = self.sight.spaces.iter().map(|(space, _)| space).filter(|space| leads(space));
        let found = spaces.map(|space| ValueId::from(space.space_id.to_string().as_str())).collect();
        (!people.is_empty()).then_some(found)
    }

    fn types(&self, fits: impl Fn(i64) -> bool) -> Vec<ValueId> {
        let types = self.settings.issue_types.iter().filter(|kind| fits(kind.level));
        types.map(|kind| ValueId::from(kind.id.as_str())).collect()
    }
}

fn ids(all: &[String]) -> Vec<ValueId> {
    all.iter().map(|id| ValueId::from(id.as_str())).collect()
}

/// The id of the category that a text names.
fn category(name: &str) -> Option<&'static str> {
    match name.to_lowercase().as_str() {
        "todo" | "to do" => Some("todo"),
        "inprogress" | "in progress" => Some("inprogress"),
        "done" => Some("done"),
        _ => None,
    }
}

impl Names for Lookup {
    fn fields(&self, name: &str) -> Vec<KnownField> {
        let folded = name.trim().to_lowercase();
        let found = slas(&self.sight).filter(|(_, _, sla)| sla.name.trim().to_lowercase() == folded);
        let field = |key: String| KnownField { key: key.as_str().into(), kind: FieldKind::Sla, has_history: false };
        found.map(|(space, _, sla)| field(clock_key(space.space_id, &sla.sla_id))).collect()
    }

    fn values(&self, kind: ValueKind, _: &FieldKey, name: &str) -> Vec<ValueId> {
        let folded = name.to_lowercase();
        match kind {
            ValueKind::Issue => self.issues.get(&folded).map(|id| ValueId::from(id.as_str())).into_iter().collect(),
            ValueKind::Space => {
                let fits = |space: &&Space| {
                    space.key.to_lowercase() == folded
                        || space.name.to_lowercase() == folded
                        || space.space_id.to_string() == folded
                };
                let spaces = self.sight.spaces.iter().map(|(space, _)| space).filter(fits);
                spaces.map(|space| ValueId::from(space.space_id.to_string().as_str())).collect()
            }
            ValueKind::Type => ids(&self.settings.ids_named(Catalog::Type, name)),
            ValueKind::Status => ids(&self.settings.ids_named(Catalog::Status, name)),
            ValueKind::Resolution => ids(&self.settings.ids_named(Catalog::Resolution, name)),
            ValueKind::Priority => ids(&self.settings.ids_named(Catalog::Priority, name)),
            ValueKind::LinkType => ids(&self.settings.ids_named(Catalog::Link, name)),
            ValueKind::Category => category(name).map(ValueId::from).into_iter().collect(),
            ValueKind::Person => self.person(name),
            ValueKind::RequestType => self.request_types(&folded),
            ValueKind::Channel => vec![ValueId::from(folded.as_str())],
            kind => self.parts.named(kind, name),
        }
    }

    fn compared(&self, kind: ValueKind, comparison: Comparison, value: &ValueId) -> Vec<ValueId> {
        if kind != ValueKind::Priority {
            return self.parts.compared(comparison, value);
        }
        // The most urgent one is the greatest.
        let all = self.settings.priorities.iter().rev().map(|it| it.id.as_str());
        let placed: Vec<(u32, &str)> = (0_u32..).zip(all).collect();
        let Some((bound, _)) = placed.iter().find(|(_, id)| *id == &*value.0) else { return Vec::new() };
        let fits = placed.iter().filter(|(at, _)| comparison.holds(f64::from(*at), f64::from(*bound)));
        fits.map(|(_, id)| ValueId::from(*id)).collect()
    }

    fn answer(&self, function: &str, _: &FieldKey, arguments: &[&str]) -> Option<Vec<ValueId>> {
        match (function, arguments) {
            ("membersOf", [team]) => self.teams.get(&team.to_lowercase()).cloned(),
            ("linkedIssues" | "childIssuesOf" | "watchedIssues" | "votedIssues", arguments) => {
                self.related.answer(function, arguments)
            }
            ("projectsLeadByUser", arguments) => self.led(arguments),
            ("projectsWhereUserHasPermission", [name]) => {
                let permission = Permission::from_name(name)?;
                let spaces = self.sight.spaces.iter().filter(|(_, role)| may(Some(*role), permission));
                Some(spaces.map(|(space, _)| ValueId::from(space.space_id.to_string().as_str())).collect())
            }
            ("standardIssueTypes", _) => Some(self.types(|level| level >= 0)),
            ("subtaskIssueTypes", _) => Some(self.types(|level| level < 0)),
            _ => self.parts.answer((function, arguments), (&self.sight, self.me, |name: &str| self.person(name))),
        }
    }

    fn filter(&self, name: &str) -> Option<String> {
        let folded = name.to_lowercase();
        let found = self.filters.iter().find(|(id, known, _)| *id == folded || *known == folded);
        found.map(|(_, _, jql)| jql.clone())
    }

    fn custom_texts(&self) -> Vec<FieldKey> {
        Vec::new()
    }
}
