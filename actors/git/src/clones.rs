//! Telling an organization's owners of the first clone that somebody makes of a repository (contract A 6, `security.git_clone`).

use actors_base::event::Event;
use domain::{
    Caller, Result,
    id::{KeyId, OrgId, UserId},
    notify::ResourceType,
    resource::ResourceStatus,
};
use kernel::{Command, Handle, Turn};
use serde_json::{Value, json};
use store::{
    Change,
    git::{Cloner, StoredRepository},
};

use crate::Repository;

/// Notes that the caller cloned the repository; nobody is told of it twice.
#[derive(Clone, Copy, Debug)]
pub struct NoteClone {
    /// Whose repository it is.
    pub org_id: OrgId,
}

/// Whoever clones, as it is noted; no jobs, which clone all the time.
pub fn cloner(caller: &Caller) -> Option<Cloner> {
    match caller {
        Caller::Person(person) => Some(Cloner::Person(person.user_id)),
        Caller::Key(key) => Some(Cloner::Key(key.key_id)),
        Caller::Nobody | Caller::AccessKey(_) | Caller::Job(_) | Caller::AppPassword(_) | Caller::System => None,
    }
}

impl Command for NoteClone {
    type Reply = ();

    const NAME: &'static str = "note_clone";
}

impl Handle<NoteClone> for Repository {
    async fn handle(&mut self, command: &NoteClone, turn: &mut Turn<'_, Self>) -> Result<()> {
        let (user_id, key_id) = match &turn.context().caller {
            Caller::Person(person) => (person.user_id, None),
            Caller::Key(key) => (key.maker, Some(key.key_id)),
            _ => return Ok(()),
        };
        let Some(by) = cloner(&turn.context().caller) else { return Ok(()) };
        let (store, now) = (&turn.services().store, turn.now());
        let found = store.repository(command.org_id, *turn.key()).await?;
        let Some(repository) = found.filter(|it| it.resource.status != ResourceStatus::Deleting) else {
            return Ok(());
        };
        if store.repository_cloned(repository.no, by).await?.is_some() {
            return Ok(());
        }
        let mut change = Change::new();
        change.repository_clone_add(repository.no, by, now);
        cloned(turn, &repository, (user_id, key_id)).await?.emit(&mut change, now);
        turn.commit(change).await
    }
}

/// What the owners are told.
async fn cloned(
    turn: &Turn<'_, Repository>,
    repository: &StoredRepository,
    (user_id, key_id): (UserId, Option<KeyId>),
) -> Result<Event> {
    let (store, ip) = (&turn.services().store, turn.context().ip);
    let resource = &repository.resource;
    let name = store.person(user_id).await?.map_or_else(|| "Somebody".to_owned(), |person| person.name);
    let key = match key_id {
        Some(id) => store.key(resource.org_id, id).await?.map(|key| key.name),
        None => None,
    };
    let with = key.map(|key| format!(" with the key {key}")).unwrap_or_default();
    let address = ip.map_or_else(|| "unknown".to_owned(), |ip| ip.to_string());
    let data = [
        ("repository", json!({ "resourceId": resource.id, "name": resource.name })),
        ("userId", json!(user_id)),
        ("keyId", json!(key_id)),
        ("ip", json!(ip)),
    ];
    let project = resource.project_id.map(|id| (ResourceType::Project, id.to_string()));
    Ok(Event {
        org_id: Some(resource.org_id),
        user_ids: store.owners(resource.org_id).await?,
        body: format!("{name} cloned {} for the first time{with}.\n\nAddress: {address}", resource.name),
        within: project.into_iter().collect(),
        data: data.into_iter().map(|(name, value): (&str, Value)| (name.to_owned(), value)).collect(),
        ..Event::new(
            "security.git_clone",
            ("repository", resource.id.to_string()),
            format!("Repository {} cloned", resource.name),
        )
    })
}
