//! The actor kernel: what plain actix lacks, once for every resource.
