//! Secrets and variables: of a repository, of its environments, of the organization. What a secret says is never answered.

mod body;
mod endpoints;
mod environment;
mod organization;
mod repository;

use std::marker::PhantomData;

use actors::pipelines::{DeleteValue, SetValue};
use domain::{
    Context,
    id::OrgId,
    pipelines::{
        environments::{EnvironmentName, environment_not_found},
        values::{ValueName, ValueText},
    },
};
use http_shell::{
    answer::{Json, NoContent},
    argument::Argument,
    call::Call,
    error::Result,
    facts::Facts,
    org::Org,
    path::Path,
    permission::Permission,
    repository::{Repository, RepositoryPermission},
    state::State,
};
use store::pipelines::ValueScope;

use self::{
    body::Put,
    endpoints::{All, Kind, NameOf, One},
};
pub(crate) use self::{environment::*, organization::*, repository::*};

/// Whose secrets and variables a path names, for whoever has the permission `P` there.
pub(crate) struct ValuesOf<W, P> {
    scope: ValueScope,
    org_id: OrgId,
    context: Context,
    of: PhantomData<(W, P)>,
}

/// The organization's own.
pub(crate) struct OfOrganization;
/// A repository's own.
pub(crate) struct OfRepository;
/// Those of an environment of a repository.
pub(crate) struct OfEnvironment;

impl<P: Permission> Argument for ValuesOf<OfOrganization, P> {
    fn describe(facts: &mut Facts) {
        Org::<P>::describe(facts);
    }

    async fn take(call: &mut Call) -> Result<Self> {
        let org = Org::<P>::take(call).await?;
        let (scope, org_id) = (ValueScope::Organization(org.id()), org.id());
        Ok(Self { scope, org_id, context: org.context(), of: PhantomData })
    }
}

impl<P: RepositoryPermission> Argument for ValuesOf<OfRepository, P> {
    fn describe(facts: &mut Facts) {
        Repository::<P>::describe(facts);
    }

    async fn take(call: &mut Call) -> Result<Self> {
        let repository = Repository::<P>::take(call).await?;
        let scope = ValueScope::Repository { id: repository.stored.id(), no: repository.stored.no };
        Ok(Self { scope, org_id: repository.org_id(), context: repository.context(), of: PhantomData })
    }
}

impl<P: RepositoryPermission> Argument for ValuesOf<OfEnvironment, P> {
    fn describe(facts: &mut Facts) {
        Repository::<P>::describe(facts);
        Path::<EnvironmentName>::describe(facts);
    }

    async fn take(call: &mut Call) -> Result<Self> {
        let repository = Repository::<P>::take(call).await?;
        let Path(environment) = Path::<EnvironmentName>::take(call).await?;
        let (id, no) = (repository.stored.id(), repository.stored.no);
        let scope = ValueScope::Environment { id, no, key: environment.key() };
        Ok(Self { scope, org_id: repository.org_id(), context: repository.context(), of: PhantomData })
    }
}

impl<W, P> ValuesOf<W, P> {
    /// 404 where the environment isn't there.
    async fn check(&self, state: &State) -> Result<()> {
        if let ValueScope::Environment { no, key, .. } = &self.scope
            && !state.store.environment_is_there(*no, key).await?
        {
            return Err(environment_not_found().into());
        }
        Ok(())
    }

    async fn all<K: Kind>(self, state: &State) -> All<K> {
        self.check(state).await?;
        Ok(Json(state.store.pipeline_values(K::KIND, &self.scope).await?.into()))
    }

    async fn one<K: Kind>(self, name: NameOf<K>, state: &State) -> One<K> {
        self.check(state).await?;
        let name = ValueName::parse("name", &name.text).map_err(|_| K::KIND.not_found())?;
        let found = state.store.pipeline_value(K::KIND, &self.scope, name.as_str()).await?;
        Ok(Json(found.ok_or_else(|| K::KIND.not_found())?.into()))
    }

    async fn set<K: Kind>(self, name: NameOf<K>, put: &Put<'_>, state: &State) -> One<K> {
        let value = put.value.map(|text| ValueText::parse(K::KIND, "value", text)).transpose()?;
        let (name, repositories) = (ValueName::parse(K::PARAMETER, &name.text)?, put.repositories()?);
        let command = SetValue { kind: K::KIND, scope: self.scope, name, value, repositories };
        Ok(Json(state.actors.pipeline_values.ask(&self.org_id, command, self.context).await?.into()))
    }

    async fn delete<K: Kind>(self, name: NameOf<K>, state: &State) -> Result<NoContent> {
        let name = ValueName::parse("name", &name.text).map_err(|_| K::KIND.not_found())?;
        let command = DeleteValue { kind: K::KIND, scope: self.scope, name };
        state.actors.pipeline_values.ask(&self.org_id, command, self.context).await?;
        Ok(NoContent)
    }
}
