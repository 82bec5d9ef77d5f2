//! From names to what they mean.

use std::collections::BTreeSet;

use super::{
    FILTER_DEPTH_MAX, FILTERS_MAX, PROBLEMS_MAX, Warning,
    fields::{FieldKey, FieldKind, KnownField, ValueKind, system_field},
    moments::Clock,
    plan::{Ask, Comparison, Order, Plan, Test, ValueId},
};
use crate::issues::jql::{
    Clause, Direction, Field, FieldName, JqlFault, NodeId, NodeKind, Operand, Operator, Place, Query, Single, Span,
    Word,
};

/// Whoever asks, and when.
#[derive(Clone, Debug)]
pub struct Reader {
    /// The person; a key asks as its maker.
    pub person: ValueId,
    /// Now, and where days begin.
    pub clock: Clock,
}

/// What names stand for, as far as the reader may see it. Whoever holds the rows has read them before.
pub trait Names {
    /// The custom fields and SLAs that bear a name or id, or `cf[n]` as `n`.
    fn fields(&self, name: &str) -> Vec<KnownField>;
    /// The values of a kind that bear a name or id; of a select, those of the field.
    fn values(&self, kind: ValueKind, field: &FieldKey, name: &str) -> Vec<ValueId>;
    /// The versions or priorities that compare so with one.
    fn compared(&self, kind: ValueKind, comparison: Comparison, value: &ValueId) -> Vec<ValueId>;
    /// What a function answers that asks for rows; nothing where an argument names nothing.
    fn answer(&self, function: &str, field: &FieldKey, arguments: &[&str]) -> Option<Vec<ValueId>>;
    /// The query of a saved filter, by name or id.
    fn filter(&self, name: &str) -> Option<String>;
    /// The custom fields with texts.
    fn custom_texts(&self) -> Vec<FieldKey>;
}

/// Resolves the names of a query, or says all that is wrong with them.
pub fn resolve(text: &str, query: &Query, names: &dyn Names, reader: &Reader) -> Result<Plan, Vec<JqlFault>> {
    let mut resolver = Resolver {
        text,
        names,
        reader,
        plan: Plan::default(),
        faults: Vec::new(),
        filters: Vec::new(),
        filters_read: 0,
        within: None,
        empties: empties(query),
    };
    let root = resolver.condition(query, Sense::Plain);
    for sort in &query.order {
        let fields = resolver.fields(&sort.field).unwrap_or_default();
        if let Some(field) = fields.iter().find(|field| !field.sorts()) {
            let message = format!("Issues can't be sorted by the field '{}'.", field.key.0);
            resolver.fault(sort.field.span, message);
        }
        let descends = match sort.direction {
            Some(direction) => direction == Direction::Descending,
            None => fields.first().is_some_and(KnownField::descends),
        };
        resolver.plan.order.push(Order { fields: fields.into_iter().map(|field| field.key).collect(), descends });
    }
    resolver.plan.root = root;
    if resolver.faults.is_empty() { Ok(resolver.plan) } else { Err(resolver.faults) }
}

/// Whether NOT stands before a condition.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sense {
    Plain,
    Denied,
}

impl Sense {
    const fn denied(self) -> Self {
        match self {
            Self::Plain => Self::Denied,
            Self::Denied => Self::Plain,
        }
    }
}

pub(super) struct Resolver<'a> {
    text: &'a str,
    pub(super) names: &'a dyn Names,
    pub(super) reader: &'a Reader,
    pub(super) plan: Plan,
    faults: Vec<JqlFault>,
    /// The filters that are being read, the outermost first.
    filters: Vec<String>,
    filters_read: usize,
    /// Where the outermost filter stands in the text.
    within: Option<Span>,
    /// The fields that are asked for no value somewhere.
    empties: BTreeSet<String>,
}

/// The fields that a query asks for no value, in lower case.
fn empties(query: &Query) -> BTreeSet<String> {
    let asks = |clause: &&Clause| {
        let mut singles = clause.operand.iter().flat_map(Operand::singles);
        singles.any(|single| matches!(single, Single::Empty(_)))
    };
    query.clauses().filter(asks).map(|clause| clause.field.to_string().to_lowercase()).collect()
}

impl Resolver<'_> {
    pub(super) fn fault(&mut self, span: Span, message: String) {
        let span = self.within.unwrap_or(span);
        if self.faults.len() < PROBLEMS_MAX {
            self.faults.push(JqlFault::new(self.text, span, message));
        }
    }

    pub(super) fn warn(&mut self, span: Span, message: &'static str) {
        if self.within.is_none() && self.plan.warnings.len() < PROBLEMS_MAX {
            let (start, end) = (Place::of(self.text, span.start), Place::of(self.text, span.end));
            self.plan.warnings.push(Warning { message, start, end });
        }
    }

    pub(super) fn add(&mut self, test: Test) -> usize {
        self.plan.tests.push(test);
        self.plan.tests.len() - 1
    }

    /// The tests of a condition. NOT goes down to the clauses, so AND below it becomes OR.
    fn condition(&mut self, query: &Query, sense: Sense) -> Option<usize> {
        let root = query.root()?;
        // Parents stand behind their parts, so from behind each part hears of its parent first.
        let mut senses = vec![Sense::Plain; query.nodes().len()];
        senses[root.index()] = sense;
        for (at, node) in query.nodes().iter().enumerate().rev() {
            match &node.kind {
                NodeKind::Not(part) => senses[part.index()] = senses[at].denied(),
                NodeKind::And(parts) | NodeKind::Or(parts) => {
                    for part in parts {
                        senses[part.index()] = senses[at];
                    }
                }
                NodeKind::Clause(_) => {}
            }
        }
        let mut made: Vec<usize> = Vec::with_capacity(senses.len());
        for (at, node) in query.nodes().iter().enumerate() {
            let parts = |ids: &[_]| ids.iter().map(|id: &NodeId| made[id.index()]).collect();
            let test = match &node.kind {
                NodeKind::Not(part) => made[part.index()],
                NodeKind::And(ids) if senses[at] == Sense::Denied => self.add(Test::Any(parts(ids))),
                NodeKind::And(ids) => self.add(Test::All(parts(ids))),
                NodeKind::Or(ids) => {
                    let is_denied = senses[at] == Sense::Denied;
                    let test = if is_denied { Test::All(parts(ids)) } else { Test::Any(parts(ids)) };
                    self.mixed(query, ids);
                    self.add(test)
                }
                NodeKind::Clause(clause) => self.clause(clause, senses[at]),
            };
            made.push(test);
        }
        made.get(root.index()).copied()
    }

    /// Warns of AND beside OR without brackets between them.
    fn mixed(&mut self, query: &Query, ids: &[NodeId]) {
        if self.within.is_some() {
            return;
        }
        for node in ids.iter().map(|id| query.node(*id)) {
            let before = self.text.get(..node.span.start).unwrap_or_default();
            let has_brackets = before.trim_end().ends_with('(');
            if matches!(node.kind, NodeKind::And(_)) && !has_brackets {
                self.warn(node.span, "AND binds before OR. Brackets make plain what is meant.");
            }
        }
    }

    fn clause(&mut self, clause: &Clause, sense: Sense) -> usize {
        let nothing = Test::Any(Vec::new());
        let Some(fields) = self.fields(&clause.field) else { return self.add(nothing) };
        let operator = clause.operator;
        if let Some(field) = fields.iter().find(|field| !field.takes(operator)) {
            let message = format!(
                "The operator '{}' is not supported by the '{}' field.",
                operator.name(),
                named(&clause.field, field)
            );
            self.fault(clause.operator_span, message);
            return self.add(nothing);
        }
        if fields[0].kind == FieldKind::Filter {
            return self.filter(clause, sense);
        }
        let Some(ask) = self.ask(clause, &fields) else { return self.add(nothing) };
        let ask = if sense == Sense::Denied { ask.denied() } else { ask };
        let leaves_out = matches!(ask, Ask::NoneOf(_) | Ask::NoNumber(_) | Ask::NoWords(_) | Ask::WasNot(..));
        if leaves_out && !self.empties.contains(&clause.field.to_string().to_lowercase()) {
            self.warn(clause.operator_span, "Issues without a value are left out. Add 'or … is empty' to have them.");
        }
        let keys = self.keys(&fields, &ask);
        self.add(Test::Ask(keys, ask))
    }

    fn keys(&self, fields: &[KnownField], ask: &Ask) -> Vec<FieldKey> {
        let is_text = matches!(ask, Ask::Words(_) | Ask::NoWords(_) | Ask::Some | Ask::None);
        if is_text && &*fields[0].key.0 == "text" {
            return super::fields::TEXTS.into_iter().map(FieldKey::from).chain(self.names.custom_texts()).collect();
        }
        fields.iter().map(|field| field.key.clone()).collect()
    }

    /// The fields that are named; none is an error.
    fn fields(&mut self, field: &Field) -> Option<Vec<KnownField>> {
        let name = match &field.name {
            FieldName::Word(word) => word.text.clone(),
            FieldName::Custom(digits) => format!("cf[{digits}]"),
        };
        let mut found: Vec<KnownField> = system_field(&name).into_iter().collect();
        if found.is_empty() && field.properties.is_empty() {
            found = self.names.fields(&name);
            // Fields of one name but several kinds can't be asked one thing.
            if let Some(kind) = found.first().map(|field| field.kind) {
                found.retain(|field| field.kind == kind);
            }
        }
        if found.is_empty() || !field.properties.is_empty() {
            let name = if field.properties.is_empty() { name } else { field.to_string() };
            self.fault(field.span, format!("Field '{name}' does not exist or you do not have permission to view it."));
            return None;
        }
        Some(found)
    }

    fn filter(&mut self, clause: &Clause, sense: Sense) -> usize {
        let is_negative = matches!(clause.operator, Operator::NotEqual | Operator::NotIn);
        let sense = if is_negative { sense.denied() } else { sense };
        let mut parts = Vec::new();
        for single in clause.operand.iter().flat_map(Operand::singles) {
            let Single::Value(word) = single else {
                self.fault(single.span(), "A filter goes by its name or its id.".to_owned());
                continue;
            };
            if let Some(part) = self.filter_named(word, sense) {
                parts.push(part);
            }
        }
        self.add(if sense == Sense::Denied { Test::All(parts) } else { Test::Any(parts) })
    }

    fn filter_named(&mut self, word: &Word, sense: Sense) -> Option<usize> {
        let Some(text) = self.names.filter(&word.text) else {
            self.fault(word.span, format!("The value '{}' does not exist for the field 'filter'.", word.text));
            return None;
        };
        self.filters_read += 1;
        let is_too_much = self.filters.len() >= FILTER_DEPTH_MAX || self.filters_read > FILTERS_MAX;
        if is_too_much || self.filters.contains(&text) {
            self.fault(
                word.span,
                format!("The filter '{}' asks for itself, or for too many other filters.", word.text),
            );
            return None;
        }
        let query = match Query::parse(&text) {
            Ok(query) => query,
            Err(fault) => {
                self.fault(word.span, format!("The filter '{}' can't be read: {fault}", word.text));
                return None;
            }
        };
        let outermost = self.within.is_none();
        self.within = Some(self.within.unwrap_or(word.span));
        self.filters.push(text);
        let root = self.condition(&query, sense);
        self.filters.pop();
        if outermost {
            self.within = None;
        }
        // A filter without a condition has every issue, and its opposite none.
        let bare = if sense == Sense::Denied { Test::Any(Vec::new()) } else { Test::All(Vec::new()) };
        Some(root.unwrap_or_else(|| self.add(bare)))
    }
}

/// A field as the query calls it.
pub(super) fn named(field: &Field, known: &KnownField) -> String {
    match &field.name {
        FieldName::Word(word) => word.text.clone(),
        FieldName::Custom(_) => known.key.0.to_string(),
    }
}
