//! Git repositories (contract C 2.2, 4.3): their names, who has a part in them, and machines' keys.

mod access;
mod branch;
mod draft;
mod machine;
mod name;
mod refusal;

pub use self::{
    access::{AccessLevel, GRANTS_MAX, Principal, Visibility, level_of},
    branch::{BRANCH_NAME_LEN, BranchName, DEFAULT_BRANCH},
    draft::{DESCRIPTION_LEN, RESTORABLE_FOR, RepositoryDraft, RepositoryPatch, RepositorySettings},
    machine::{
        COMMAND_LINE_ONLY, MACHINE_ID_LEN, MACHINE_KEY_LASTS, MACHINE_NAME_LEN, MACHINES_MAX, Machine, MachineId,
        ROTATION_NOTICE, command_line_only, machine_key_not_found, machine_scopes, too_many_machines,
    },
    name::{REPOSITORIES_MAX, REPOSITORY_NAME_LEN, RepositoryName},
    refusal::{
        MACHINE_KEY_ONLY, REPOSITORY_NOT_FOUND, grant_not_found, repository_deleted, repository_exists,
        repository_not_deleted, repository_not_found, too_many_grants, too_many_repositories,
    },
};
