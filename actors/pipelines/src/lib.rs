//! Pipelines: who owns what (contract C 2.1, 4.1, 4.2).

use actors_base::Area;
use store::pipelines::registrations_over;

/// What goes over all areas knows of pipelines.
pub const AREA: Area = Area {
    purges: |now| vec![registrations_over(now)],
    deletes_organization: |change, org_id, _now| change.runners_end(org_id),
    ..Area::named("pipelines")
};
