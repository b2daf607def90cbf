import { authorize } from "../../../actor.ts";
import type { ServiceContext } from "../../../context.ts";
import { batch } from "../../../db/batch.ts";
import { type Page, type PageRequest, toPage } from "../../../db/keyset.ts";
import { findEnvironment } from "../../projects/environments/index.ts";
import { findStack } from "../../projects/stacks/index.ts";
import type { ResourceRow, ResourceScope } from "./store.ts";
import * as store from "./store.ts";

export async function getResource(
  ctx: ServiceContext,
  id: string,
  scope?: ResourceScope,
): Promise<ResourceRow> {
  const [resource] = await store.findResource(ctx.db, ctx.actor, id, scope);
  return authorize(ctx.actor, "resource", resource, "viewer");
}

export async function listResourcesOfStack(
  ctx: ServiceContext,
  id: string,
  page: PageRequest,
): Promise<Page<ResourceRow>> {
  const { db, actor } = ctx;
  const { stacks, rows } = await batch(db, {
    stacks: findStack(db, actor, id),
    rows: store.listResources(db, actor.organizationId, { kind: "stack", id }, page),
  });
  authorize(actor, "stack", stacks[0], "viewer");
  return toPage(page, rows, (row) => row);
}

export async function listResourcesOfEnvironment(
  ctx: ServiceContext,
  id: string,
  page: PageRequest,
): Promise<Page<ResourceRow>> {
  const { db, actor } = ctx;
  const { environments, rows } = await batch(db, {
    environments: findEnvironment(db, actor, id),
    rows: store.listResources(db, actor.organizationId, { kind: "environment", id }, page),
  });
  authorize(actor, "environment", environments[0], "viewer");
  return toPage(page, rows, (row) => row);
}
