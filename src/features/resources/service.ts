import type { ServiceContext } from "../../context.ts";
import { authorize } from "../../context.ts";
import { type Page, type PageRequest, toPage } from "../../db/keyset.ts";
import { findEnvironment } from "../environments/index.ts";
import { findStack } from "../stacks/index.ts";
import type { ResourceRow, ResourceScope } from "./store.ts";
import * as store from "./store.ts";

/** One resource, if need be of this stack or environment alone; takes a viewer. */
export async function getResource(
  ctx: ServiceContext,
  id: string,
  scope?: ResourceScope,
): Promise<ResourceRow> {
  const [found] = await store.findResource(ctx.db, ctx.actor, id, scope);
  return authorize(ctx.actor, "resource", found, "viewer");
}

/** The resources of a stack; takes a viewer. */
export async function listResourcesOfStack(
  ctx: ServiceContext,
  id: string,
  page: PageRequest,
): Promise<Page<ResourceRow>> {
  const { db, actor } = ctx;
  const [[stack], found] = await db.batch([
    findStack(db, actor, id),
    store.listResources(db, actor.organizationId, { kind: "stack", id }, page),
  ]);
  authorize(actor, "stack", stack, "viewer");
  return toPage(page, found, (row) => row);
}

/** The resources of an environment; takes a viewer. */
export async function listResourcesOfEnvironment(
  ctx: ServiceContext,
  id: string,
  page: PageRequest,
): Promise<Page<ResourceRow>> {
  const { db, actor } = ctx;
  const [[environment], found] = await db.batch([
    findEnvironment(db, actor, id),
    store.listResources(db, actor.organizationId, { kind: "environment", id }, page),
  ]);
  authorize(actor, "environment", environment, "viewer");
  return toPage(page, found, (row) => row);
}
