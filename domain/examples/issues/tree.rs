//! A query's tree in the form that `.ci/issues/jql.mjs` brings that of Atlassian's package into.

use serde_json::{Value as Json, json};
use troupe_domain::issues::jql::{
    Clause, Direction, Field, FieldName, NodeId, NodeKind, Operand, Query, Single, Sort, Span, Word,
};

/// The tree of a query, or what is wrong with it.
pub fn answer(line: &str) -> Json {
    let text: String = serde_json::from_str(line).expect("the text of a query");
    match Query::parse(&text) {
        Ok(query) => Printer::new(&text).query(&query),
        Err(fault) => json!({"error": fault.to_string()}),
    }
}

struct Printer<'a> {
    text: &'a str,
    /// How many characters stand before each byte.
    characters: Vec<usize>,
}

impl<'a> Printer<'a> {
    fn new(text: &'a str) -> Self {
        let mut characters = Vec::with_capacity(text.len() + 1);
        for (at, character) in text.chars().enumerate() {
            characters.extend(std::iter::repeat_n(at, character.len_utf8()));
        }
        characters.push(text.chars().count());
        Self { text, characters }
    }

    fn at(&self, span: Span) -> Json {
        json!([self.characters[span.start], self.characters[span.end]])
    }

    fn query(&self, query: &Query) -> Json {
        // Children stand before their parents.
        let mut nodes: Vec<Json> = Vec::new();
        for node in query.nodes() {
            let parts =
                |ids: &[_]| ids.iter().map(|id: &troupe_domain::issues::jql::NodeId| id.index()).collect::<Vec<_>>();
            nodes.push(match &node.kind {
                NodeKind::And(ids) => json!(["and", self.at(node.span), parts(ids)]),
                NodeKind::Or(ids) => json!(["or", self.at(node.span), parts(ids)]),
                NodeKind::Not(id) => json!(["not", self.at(node.span), [id.index()]]),
                NodeKind::Clause(clause) => json!(["clause", self.at(node.span), self.clause(clause)]),
            });
        }
        json!({"nodes": nodes, "root": query.root().map(NodeId::index), "order": query.order.iter().map(|it| self.sort(it)).collect::<Vec<_>>()})
    }

    fn clause(&self, clause: &Clause) -> Json {
        let predicates = clause.predicates.iter();
        let predicates = predicates.map(|it| json!([it.kind.name(), self.operand(&it.operand), self.at(it.span)]));
        json!({
            "field": self.field(&clause.field),
            "operator": [clause.operator.name(), self.at(clause.operator_span)],
            "operand": clause.operand.as_ref().map(|it| self.operand(it)),
            "predicates": predicates.collect::<Vec<_>>(),
        })
    }

    fn field(&self, field: &Field) -> Json {
        let name = match &field.name {
            FieldName::Word(word) => self.word(word),
            FieldName::Custom(_) => json!([field.span.of(self.text), null, self.at(field.span)]),
        };
        let words = |words: &[Word]| words.iter().map(|word| self.word(word)).collect::<Vec<_>>();
        let properties = field.properties.iter();
        let properties = properties.map(|it| json!([self.word(&it.key), words(&it.path), self.at(it.span)]));
        json!([name, properties.collect::<Vec<_>>(), self.at(field.span)])
    }

    fn word(&self, word: &Word) -> Json {
        json!([word.span.of(self.text), word.text, self.at(word.span)])
    }

    fn operand(&self, operand: &Operand) -> Json {
        match operand {
            Operand::One(single) => self.single(single),
            Operand::List(singles, span) => {
                json!({"list": singles.iter().map(|it| self.single(it)).collect::<Vec<_>>(), "at": self.at(*span)})
            }
        }
    }

    fn single(&self, single: &Single) -> Json {
        match single {
            Single::Empty(span) => json!({"empty": self.at(*span)}),
            Single::Value(word) => self.word(word),
            Single::Function(it) => {
                let arguments: Vec<_> = it.arguments.iter().map(|word| self.word(word)).collect();
                json!({"function": self.word(&it.name), "arguments": arguments, "at": self.at(it.span)})
            }
        }
    }

    fn sort(&self, sort: &Sort) -> Json {
        json!([self.field(&sort.field), sort.direction.map(Direction::name), self.at(sort.span)])
    }
}
