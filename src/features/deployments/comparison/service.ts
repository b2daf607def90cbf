import { authorize, hasScope } from "../../../actor.ts";
import type { ServiceContext } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { NotFound } from "../../../lib/errors.ts";
import { findEnvironment } from "../../projects/environments/index.ts";
import { differencesBetween } from "./differences.ts";
import type { Comparison } from "./presenters.ts";
import { listVariables } from "./store.ts";

/** Throws `NotFound` for an environment of another project. */
export async function compareEnvironments(
  { db, actor }: ServiceContext,
  id: string,
  otherId: string,
): Promise<Comparison> {
  const found = await batch(db, {
    environment: findEnvironment(db, actor, id),
    other: findEnvironment(db, actor, otherId),
    variables: hasScope(actor, "variables:read")
      ? listVariables(db, actor.organizationId, [id, otherId])
      : undefined,
  });
  const environment = authorize(actor, "environment", found.environment[0], "viewer");
  const other = authorize(actor, "environment", found.other[0], "viewer");
  if (environment.projectId !== other.projectId) throw new NotFound("environment in the project");
  const of = (environmentId: string) =>
    found.variables?.filter((row) => row.environmentId === environmentId) ?? [];
  return {
    environment,
    other,
    hasSources: hasScope(actor, "deployments:read"),
    variables: found.variables && differencesBetween(of(id), of(otherId)),
  };
}
