//! Collecting every field at fault, so that a 400 names them all at once.

use crate::error::{Error, Problem, Result};

/// The fields found at fault so far.
#[derive(Debug, Default)]
pub struct Problems(Vec<Problem>);

impl Problems {
    /// No problem yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Notes that the field at `path` breaks a rule.
    pub fn add(&mut self, path: impl Into<String>, message: impl Into<String>) {
        self.0.push(Problem { path: path.into(), message: message.into() });
    }

    /// The value, where its check passed; otherwise nothing, with the problems noted. An error of another class than
    /// `invalid` is passed on.
    pub fn keep<T>(&mut self, checked: Result<T>) -> Result<Option<T>> {
        match checked {
            Ok(value) => Ok(Some(value)),
            Err(Error::Invalid { problems }) => {
                self.0.extend(problems);
                Ok(None)
            }
            Err(other) => Err(other),
        }
    }

    /// The error that names them all.
    pub fn into_error(self) -> Error {
        Error::Invalid { problems: self.0 }
    }

    /// Notes that the field at `path` breaks a rule, unless `holds`.
    pub fn require(&mut self, holds: bool, path: impl Into<String>, message: impl Into<String>) {
        if !holds {
            self.add(path, message);
        }
    }

    /// Whether no field was found at fault.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many fields were found at fault.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// Passes when no field was at fault.
    pub fn into_result(self) -> Result<()> {
        if self.0.is_empty() { Ok(()) } else { Err(self.into_error()) }
    }
}

impl Extend<Problem> for Problems {
    fn extend<I: IntoIterator<Item = Problem>>(&mut self, problems: I) {
        self.0.extend(problems);
    }
}

/// What [`all`] takes: a tuple of checks.
pub trait Checks {
    /// A tuple of what the checks gave.
    type Values;

    /// Their values, where all passed; otherwise every problem of every one.
    fn into_values(self) -> Result<Self::Values>;
}

macro_rules! checks {
    ($($name:ident: $kind:ident),*) => {
        impl<$($kind),*> Checks for ($(Result<$kind>,)*) {
            type Values = ($($kind,)*);

            fn into_values(self) -> Result<Self::Values> {
                let ($($name,)*) = self;
                let mut problems = Problems::new();
                $(let $name = problems.keep($name)?;)*
                match ($($name,)*) {
                    ($(Some($name),)*) => Ok(($($name,)*)),
                    _ => Err(problems.into_error()),
                }
            }
        }
    };
}

checks!(a: A, b: B);
checks!(a: A, b: B, c: C);
checks!(a: A, b: B, c: C, d: D);
checks!(a: A, b: B, c: C, d: D, e: E);

/// The values of several checks, or one error that names every field at fault in any of them:
/// `let (email, name) = all((Email::parse("email", email), name_check("name", name)))?`.
pub fn all<C: Checks>(checks: C) -> Result<C::Values> {
    checks.into_values()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_at_fault_is_named() {
        let mut problems = Problems::new();
        assert_eq!(problems.keep(Ok(1)).unwrap(), Some(1));
        assert_eq!(problems.keep::<()>(Err(Error::invalid("a", "A."))).unwrap(), None);
        problems.add("b", "B.");
        let Err(Error::Invalid { problems }) = problems.into_result() else { panic!("two problems were noted") };
        assert_eq!(problems.iter().map(|problem| problem.path.as_str()).collect::<Vec<_>>(), ["a", "b"]);
    }

    #[test]
    fn nothing_at_fault_passes() {
        assert!(Problems::new().into_result().is_ok());
    }

    #[test]
    fn an_error_of_another_class_is_not_swallowed() {
        assert!(matches!(Problems::new().keep::<()>(Err(Error::Unauthenticated)), Err(Error::Unauthenticated)));
    }

    #[test]
    fn several_checks_give_their_values_or_all_their_problems() {
        assert_eq!(all((Ok(1), Ok("two"))).unwrap(), (1, "two"));
        let failed = all((Err::<(), _>(Error::invalid("a", "A.")), Ok(1), Err::<(), _>(Error::invalid("c", "C."))));
        let Err(Error::Invalid { problems }) = failed else { panic!("two checks failed") };
        assert_eq!(problems.iter().map(|problem| problem.path.as_str()).collect::<Vec<_>>(), ["a", "c"]);
    }
}
