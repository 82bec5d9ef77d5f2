//! From columns as SQLite knows them, which is hardly, to what entities and tuples say that they hold.

use sea_orm::{
    ActiveModelTrait, ColumnTrait, EntityTrait, Iterable, TryIntoModel, Value,
    sea_query::{ColumnType, ValueType},
};

use crate::StoreError;

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Boolean,
    Integer,
    BigInteger,
    Real,
    Text,
    Bytes,
}

impl Kind {
    const fn of(column: &ColumnType) -> Self {
        match column {
            ColumnType::Boolean => Self::Boolean,
            ColumnType::Integer => Self::Integer,
            ColumnType::BigInteger => Self::BigInteger,
            ColumnType::Double => Self::Real,
            ColumnType::Binary(_) | ColumnType::VarBinary(_) | ColumnType::Blob => Self::Bytes,
            _ => Self::Text,
        }
    }
}

/// A column that is wanted of what a statement selects.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted {
    pub kind: Kind,
    /// Its name; otherwise it is the next one.
    pub name: Option<&'static str>,
}

impl Wanted {
    fn next(column: &ColumnType) -> Self {
        Self { kind: Kind::of(column), name: None }
    }

    /// The column of this name, which holds a `T`.
    pub fn named<T: ValueType>(name: &'static str) -> Self {
        Self { kind: Kind::of(&T::column_type()), name: Some(name) }
    }
}

/// All columns of an entity, in the order in which they are selected.
pub(super) fn of_entity<E: EntityTrait>() -> impl Iterator<Item = Wanted> {
    E::Column::iter().map(|column| Wanted::next(column.def().get_column_type()))
}

/// The model whose columns have these values, in the order in which they were selected.
pub(super) fn model<E>(values: Vec<Value>) -> Result<E::Model, StoreError>
where
    E: EntityTrait,
    E::ActiveModel: ActiveModelTrait<Entity = E> + TryIntoModel<E::Model>,
{
    let mut row = <E::ActiveModel as ActiveModelTrait>::default();
    for (column, value) in E::Column::iter().zip(values) {
        row.try_set(column, value)?;
    }
    Ok(row.try_into_model()?)
}

/// Some columns of a row: a tuple, which takes them in their order, or a [`row`], which takes them by their names.
pub(crate) trait Columns: Sized {
    /// Which they are.
    fn wanted() -> Vec<Wanted>;

    /// The columns that have these values.
    fn from_values(values: Vec<Value>) -> Result<Self, StoreError>;
}

macro_rules! columns {
    ($($column:ident)+) => {
        impl<$($column: ValueType),+> Columns for ($($column,)+) {
            fn wanted() -> Vec<Wanted> {
                vec![$(Wanted::next(&$column::column_type())),+]
            }

            fn from_values(values: Vec<Value>) -> Result<Self, StoreError> {
                let mut values = values.into_iter();
                Ok(($(column::<$column>(values.next())?,)+))
            }
        }
    };
}

columns!(A);
columns!(A B);
columns!(A B C);
columns!(A B C D);

/// Declares what a statement of ours selects, by the names of its columns.
macro_rules! row {
    ($(#[$attribute:meta])* $vis:vis struct $name:ident { $($field:ident: $type:ty,)+ }) => {
        $(#[$attribute])*
        #[derive(sea_orm::FromQueryResult)]
        $vis struct $name {
            $($field: $type,)+
        }

        impl $crate::reader::Columns for $name {
            fn wanted() -> Vec<$crate::reader::Wanted> {
                vec![$($crate::reader::Wanted::named::<$type>(stringify!($field))),+]
            }

            fn from_values(values: Vec<sea_orm::Value>) -> Result<Self, $crate::StoreError> {
                let mut values = values.into_iter();
                Ok(Self { $($field: $crate::reader::column(values.next())?,)+ })
            }
        }
    };
}
pub(crate) use row;

/// What a column holds, as the type that is expected of it.
pub(crate) fn column<T: ValueType>(value: Option<Value>) -> Result<T, StoreError> {
    value
        .and_then(|value| <T as ValueType>::try_from(value).ok())
        .ok_or_else(|| StoreError::corrupt(format_args!("a column is not {}", T::type_name())))
}
