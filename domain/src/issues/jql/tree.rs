//! What a query is once it is read.
//!
//! Nodes and their children are held in one list, children before parents: 10,000 characters hold 4,999 brackets, so whatever
//! goes over a tree (and what drops it) goes over a list and needs no stack.

use super::place::Span;

/// The place of a node in [`Query::nodes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NodeId(pub(super) usize);

/// A query: which issues, and in which order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query {
    /// The nodes of the condition, children before parents.
    pub(super) nodes: Vec<Node>,
    /// What must hold; every issue will do where it is missing.
    pub(super) root: Option<NodeId>,
    /// The order that is asked for, most important first.
    pub order: Vec<Sort>,
}

/// A part of a condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// What it says.
    pub kind: NodeKind,
    /// Where it stands, without brackets around it.
    pub span: Span,
}

/// What a part of a condition says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NodeKind {
    /// All of these hold.
    And(Vec<NodeId>),
    /// One of these holds.
    Or(Vec<NodeId>),
    /// This doesn't hold.
    Not(NodeId),
    /// Something is asked of a field.
    Clause(Clause),
}

/// Something that is asked of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clause {
    /// The field.
    pub field: Field,
    /// How it is compared.
    pub operator: Operator,
    /// Where the operator stands.
    pub operator_span: Span,
    /// With what it is compared; only CHANGED has nothing.
    pub operand: Option<Operand>,
    /// When, by whom, from and to what it was or changed.
    pub predicates: Vec<Predicate>,
}

/// A field, as a query names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// How it is named.
    pub name: FieldName,
    /// `field[key] path`, as properties of entities are asked in Jira.
    pub properties: Vec<Property>,
    /// Where it stands.
    pub span: Span,
}

/// How a query names a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FieldName {
    /// By its name.
    Word(Word),
    /// By the number of a custom field: `cf[10001]`, in digits.
    Custom(String),
}

/// A property in brackets behind a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Property {
    /// What stands between the brackets.
    pub key: Word,
    /// What stands behind them.
    pub path: Vec<Word>,
    /// Where it stands.
    pub span: Span,
}

/// A text or a number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// What it says, its quotes and escapes resolved.
    pub text: String,
    /// Whether it was written as a number, without quotes.
    pub kind: WordKind,
    /// Where it stands.
    pub span: Span,
}

/// How a word was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WordKind {
    /// As digits, with a minus before them at will.
    Number,
    /// Bare or in quotes.
    Text,
}

/// What a field is compared with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operand {
    /// One thing.
    One(Single),
    /// A list. Lists in lists mean what one list means, and are read as one.
    List(Vec<Single>, Span),
}

/// One thing that a field is compared with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Single {
    /// No value.
    Empty(Span),
    /// A value.
    Value(Word),
    /// What a function answers.
    Function(Function),
}

/// A function, and what it is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// Which one.
    pub name: Word,
    /// What stands between its brackets.
    pub arguments: Vec<Word>,
    /// Where it stands, to the closing bracket.
    pub span: Span,
}

/// When, by whom, from or to what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Predicate {
    /// What is narrowed down.
    pub kind: PredicateKind,
    /// To what.
    pub operand: Operand,
    /// Where it stands.
    pub span: Span,
}

/// What a predicate narrows down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is the word itself")]
pub enum PredicateKind {
    Before,
    After,
    On,
    During,
    By,
    From,
    To,
}

/// How a field is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "each is what it is called")]
pub enum Operator {
    Equal,
    NotEqual,
    Like,
    NotLike,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    In,
    NotIn,
    Is,
    IsNot,
    Was,
    WasNot,
    WasIn,
    WasNotIn,
    Changed,
}

/// A field to sort by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sort {
    /// The field.
    pub field: Field,
    /// The direction, where one is given.
    pub direction: Option<Direction>,
    /// Where it stands.
    pub span: Span,
}

/// A direction to sort in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Least first.
    Ascending,
    /// Most first.
    Descending,
}

impl Query {
    /// The parts of the condition, children before parents.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The whole condition; every issue will do where there is none.
    pub fn root(&self) -> Option<NodeId> {
        self.root
    }

    /// A part of the condition.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.0]
    }

    /// The clauses, in the order in which they stand.
    pub fn clauses(&self) -> impl Iterator<Item = &Clause> {
        self.nodes.iter().filter_map(|node| match &node.kind {
            NodeKind::Clause(clause) => Some(clause),
            _ => None,
        })
    }

    pub(super) fn add(&mut self, kind: NodeKind, span: Span) -> NodeId {
        self.nodes.push(Node { kind, span });
        NodeId(self.nodes.len() - 1)
    }
}

impl NodeId {
    /// Where the node stands in [`Query::nodes`].
    pub fn index(self) -> usize {
        self.0
    }
}

impl Operator {
    /// The operator as queries write it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Equal => "=",
            Self::NotEqual => "!=",
            Self::Like => "~",
            Self::NotLike => "!~",
            Self::Less => "<",
            Self::LessEqual => "<=",
            Self::Greater => ">",
            Self::GreaterEqual => ">=",
            Self::In => "in",
            Self::NotIn => "not in",
            Self::Is => "is",
            Self::IsNot => "is not",
            Self::Was => "was",
            Self::WasNot => "was not",
            Self::WasIn => "was in",
            Self::WasNotIn => "was not in",
            Self::Changed => "changed",
        }
    }
}

impl PredicateKind {
    /// The predicate as queries write it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Before => "before",
            Self::After => "after",
            Self::On => "on",
            Self::During => "during",
            Self::By => "by",
            Self::From => "from",
            Self::To => "to",
        }
    }
}

impl Direction {
    /// The direction as queries write it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ascending => "asc",
            Self::Descending => "desc",
        }
    }
}

impl Operand {
    /// What stands in it, one after the other.
    pub fn singles(&self) -> &[Single] {
        match self {
            Self::One(single) => std::slice::from_ref(single),
            Self::List(singles, _) => singles,
        }
    }
}

impl Single {
    /// Where it stands.
    pub const fn span(&self) -> Span {
        match self {
            Self::Empty(span) => *span,
            Self::Value(word) => word.span,
            Self::Function(function) => function.span,
        }
    }
}
