//! What an expression names.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    functions::Function,
    tree::{Index, Node},
    value::Value,
    vocabulary::ContextName,
};

/// The contexts, properties and functions that an expression names. A job is given only the secrets that its text names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Which properties of which contexts.
    pub contexts: BTreeMap<ContextName, Properties>,
    /// Which functions.
    pub functions: BTreeSet<Function>,
}

/// Which properties of a context are named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Properties {
    /// The whole context is used, or its properties under names that only evaluating tells.
    All,
    /// These, in lower case.
    Named(BTreeSet<String>),
}

impl Usage {
    pub(super) fn of(tree: &Node) -> Self {
        let mut usage = Self::default();
        usage.collect(tree);
        usage
    }

    /// Takes in what another expression names.
    pub fn merge(&mut self, other: Self) {
        self.functions.extend(other.functions);
        for (context, properties) in other.contexts {
            match properties {
                Properties::All => self.whole(context),
                Properties::Named(names) => names.into_iter().for_each(|name| self.property(context, name)),
            }
        }
    }

    /// Whether a function is named that says how the run is doing.
    pub fn names_status(&self) -> bool {
        self.functions.iter().any(|function| function.is_status())
    }

    fn whole(&mut self, context: ContextName) {
        self.contexts.insert(context, Properties::All);
    }

    fn property(&mut self, context: ContextName, name: String) {
        let named = self.contexts.entry(context).or_insert_with(|| Properties::Named(BTreeSet::new()));
        if let Properties::Named(names) = named {
            names.insert(name);
        }
    }

    fn collect(&mut self, node: &Node) {
        match node {
            Node::Literal(_) => {}
            Node::Context(name) => self.whole(*name),
            Node::Not(denied) => self.collect(denied),
            Node::All(parts) | Node::Any(parts) => self.collect_all(parts),
            Node::Compare(first, rest) => {
                self.collect(first);
                self.collect_all(rest.iter().map(|(_, right)| right));
            }
            Node::Index(of, indices) => self.collect_index(of, indices),
            Node::Call(call) => {
                self.functions.insert(call.function);
                self.collect_all(&call.arguments);
            }
        }
    }

    fn collect_all<'a>(&mut self, nodes: impl IntoIterator<Item = &'a Node>) {
        for node in nodes {
            self.collect(node);
        }
    }

    fn collect_index(&mut self, of: &Node, indices: &[Index]) {
        match (of, indices.first()) {
            (Node::Context(context), Some(Index::At(Node::Literal(name @ Value::Text(_))))) => {
                self.property(*context, name.to_text().to_lowercase());
            }
            _ => self.collect(of),
        }
        self.collect_all(indices.iter().filter_map(|index| match index {
            Index::At(node) => Some(node),
            Index::Each => None,
        }));
    }
}
