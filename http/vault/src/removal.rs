//! Deleting the vault, asking for its reset, and taking that back.

use actors::vault::{CancelReset, DeleteVault, VaultDeleted};
use http_shell::{
    answer::{Accepted, Either, Json},
    error::Result,
    state::State,
};
use serde::Serialize;
use utoipa::ToSchema;

use super::{
    VaultPerson,
    overview::ResetBody,
    proof::{VaultProof, VaultProofIfAny},
};

/// The vault is gone.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({"deleted": true}))]
pub(crate) struct VaultDeletedAnswer {
    /// Always true.
    deleted: bool,
}

/// The vault waits for its reset.
#[derive(Serialize, ToSchema)]
pub(crate) struct VaultResetAnswer {
    /// The reset.
    reset: ResetBody,
}

/// No reset waits.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({"reset": null}))]
pub(crate) struct VaultResetCancelled {
    /// Always null.
    reset: Option<ResetBody>,
}

/// Delete the vault, or ask for its reset
///
/// Signed by the vault, on any device: deletes it at once, with items, devices and keys; the log stays. Not signed at
/// all: asks for a reset, which is due in seven days unless it is cancelled; asked again, answers the one that waits.
/// E-mails the person either way.
#[utoipa::path(delete, path = "/v1/me/vault", responses(
    (status = 404, description = "There's no vault for this account."),
))]
pub(crate) async fn vault_delete(
    person: VaultPerson,
    VaultProofIfAny(proof): VaultProofIfAny,
    state: State,
) -> Result<Either<Json<VaultDeletedAnswer>, Accepted<VaultResetAnswer>>> {
    let outcome = state.actors.vault.ask(&person.user_id(), DeleteVault { proof }, person.context()).await?;
    Ok(match outcome {
        VaultDeleted::Deleted => Either::Left(Json(VaultDeletedAnswer { deleted: true })),
        VaultDeleted::ResetPending(reset) => Either::Right(Accepted(VaultResetAnswer { reset: reset.into() })),
    })
}

/// Cancel the reset
///
/// Signed by the vault, on any device. Answers the same when none waits.
#[utoipa::path(post, path = "/v1/me/vault/reset/cancel", responses(
    (status = 404, description = "There's no vault for this account."),
))]
pub(crate) async fn vault_reset_cancel(
    person: VaultPerson,
    VaultProof(proof): VaultProof,
    state: State,
) -> Result<Json<VaultResetCancelled>> {
    state.actors.vault.ask(&person.user_id(), CancelReset { proof }, person.context()).await?;
    Ok(Json(VaultResetCancelled { reset: None }))
}
