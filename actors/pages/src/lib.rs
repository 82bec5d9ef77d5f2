//! Notes pages: who owns what, and what is live (contract B 2.6, B 4.6).

pub mod archive;
pub mod comments;
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub mod fuzzing;
pub mod imports;
pub mod live;
pub mod session;
pub mod tree;
