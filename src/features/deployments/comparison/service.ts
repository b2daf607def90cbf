import { authorize, hasScope } from "../../../actor.ts";
import type { ServiceContext } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { NotFound } from "../../../lib/errors.ts";
import { findEnvironment } from "../../projects/environments/index.ts";
import type { ComparedVariable, VariableDifferences } from "./model.ts";
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

/** Components are matched by their names. */
function differencesBetween(
  own: readonly ComparedVariable[],
  others: readonly ComparedVariable[],
): VariableDifferences {
  const ownByName = new Map(own.map((each) => [keyOf(each), each]));
  const othersByName = new Map(others.map((each) => [keyOf(each), each]));
  return {
    missing: others.filter((each) => !ownByName.has(keyOf(each))),
    extra: own.filter((each) => !othersByName.has(keyOf(each))),
    storedDifferently: own.flatMap((each) => {
      const other = othersByName.get(keyOf(each));
      return other && other.storageMethod !== each.storageMethod ? [{ own: each, other }] : [];
    }),
  };
}

function keyOf({ component, name }: ComparedVariable): string {
  return JSON.stringify([component, name]);
}
