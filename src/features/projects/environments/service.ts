import type { StackNeeds } from "../../../../packages/runner/src/executors/needs.ts";
import { authorize } from "../../../actor.ts";
import type { ServiceContext } from "../../../context.ts";
import { batch, type Statements } from "../../../db/batch.ts";
import { requireExpectedVersion } from "../../../db/expected-version.ts";
import { type NamedPageRequest, type Page, toPage } from "../../../db/keyset.ts";
import { bytesOf } from "../../../lib/bytes-of.ts";
import { BadInput, NotFound } from "../../../lib/errors.ts";
import { newId } from "../../../lib/ids.ts";
import { mergePatch } from "../../../lib/merge-patch.ts";
import type { ProjectRole } from "../../../lib/roles.ts";
import { write } from "../../../writes/write.ts";
import { changesOf } from "../../housekeeping/changelog/index.ts";
import { requireAccess, requireRuleAuthority } from "../access/index.ts";
import { findProject, requireProject } from "../projects/index.ts";
import { findSettingsProblems } from "./executor-settings.ts";
import {
  type Configuration,
  DEPLOYMENT_RUNNING,
  ENVIRONMENT_IN_USE,
  type EnvironmentInput,
  IS_DEFAULT,
  NAME_TAKEN,
  STACK,
} from "./model.ts";
import { findNeedsProblems, mayHaveNeeds, namesNeeded, needsOf } from "./needs.ts";
import { presentEnvironment } from "./presenters.ts";
import type { EnvironmentRow, FoundEnvironment } from "./store.ts";
import * as store from "./store.ts";

const changes = changesOf(
  "environment",
  (row: EnvironmentRow) => row.projectId,
  presentEnvironment,
);

const taken = { "environments.project_id, environments.name": NAME_TAKEN };
const stored = { json: ["configuration"] };

export async function requireEnvironment(
  ctx: ServiceContext,
  id: string,
  needed: ProjectRole,
): Promise<FoundEnvironment> {
  const [environment] = await store.findEnvironment(ctx.db, ctx.actor, id);
  return authorize(ctx.actor, "environment", environment, needed);
}

/**
 * For a write: a change, or null for the deletion. Throws `EtagMismatch` unless it has the version that the
 * request expects.
 */
async function requireExpected(
  ctx: ServiceContext,
  id: string,
  change: store.EnvironmentChange | null,
): Promise<EnvironmentRow> {
  const environment = await requireEnvironment(ctx, id, "contributor");
  if (environment.rules !== null) await requireChange(ctx, environment, change);
  const present = () => presentEnvironment(environment);
  await requireExpectedVersion(ctx, environment.version, present);
  return environment;
}

/** The name of a protected environment tells people and programs which rules apply, so it is one of them. */
async function requireChange(
  ctx: ServiceContext,
  environment: FoundEnvironment,
  change: store.EnvironmentChange | null,
): Promise<void> {
  const { name = environment.name, configuration = environment.configuration } = change ?? {};
  if (!change || name !== environment.name) await requireRuleAuthority(ctx, environment);
  if (configuration !== environment.configuration)
    await requireAccess(ctx, environment, "configure");
}

export async function listEnvironments(
  ctx: ServiceContext,
  projectId: string,
  page: NamedPageRequest,
): Promise<Page<EnvironmentRow>> {
  const { projects, rows } = await batch(ctx.db, {
    projects: findProject(ctx.db, ctx.actor, projectId),
    rows: store.listEnvironments(ctx.db, ctx.actor, projectId, page),
  });
  authorize(ctx.actor, "project", projects[0], "viewer");
  return toPage(page, rows, (row) => row);
}

export async function createEnvironment(
  ctx: ServiceContext,
  projectId: string,
  input: EnvironmentInput,
): Promise<EnvironmentRow> {
  const { organizationId } = await requireProject(ctx, projectId, "contributor");
  requireConfiguration(input.configuration, {}, undefined);
  const now = ctx.clock.now();
  const environment: store.NewEnvironment = {
    id: newId(ctx.clock),
    organizationId,
    projectId,
    name: input.name,
    configuration: JSON.stringify(input.configuration),
    source: null,
    createdAt: now,
    updatedAt: now,
    epoch: 0,
    startedNumber: 0,
    configurationVersion: 0,
    version: 1,
  };
  const created: EnvironmentRow = { ...environment, position: null, urlStackId: null };
  return write(ctx, {
    growth: {
      organizationId,
      records: { environments: 1 },
      bytes: bytesOf(environment.name, environment.configuration),
    },
    guarded: store.insertEnvironment(ctx.db, environment),
    value: created,
    stored,
    changes: [changes.created(created)],
    taken,
  });
}

export async function getEnvironment(ctx: ServiceContext, id: string): Promise<EnvironmentRow> {
  return requireEnvironment(ctx, id, "viewer");
}

/**
 * Throws `Conflict` for a changed configuration while a deployment is running: its success would
 * overwrite the change.
 */
export async function replaceEnvironment(
  ctx: ServiceContext,
  id: string,
  { name, configuration }: EnvironmentInput,
): Promise<EnvironmentRow> {
  const change = { name, configuration: JSON.stringify(configuration) };
  const check = async () => {
    const before = await requireExpected(ctx, id, change);
    const names = await readStackNames(ctx, before, change.configuration);
    const needs = requireConfiguration(configuration, JSON.parse(before.configuration), names);
    return { before, needed: namesNeeded(needs) };
  };
  const { before, needed } = await check();
  return changeEnvironment(ctx, before, change, { needed, reread: check });
}

/** Reads nothing for a configuration in which no stack can need another one. */
async function readStackNames(
  { db }: ServiceContext,
  { organizationId, id }: EnvironmentRow,
  configuration: string,
): Promise<ReadonlySet<string>> {
  if (!mayHaveNeeds(configuration)) return new Set();
  const stacks = await store.listStackNames(db, organizationId, id);
  return new Set(stacks.map(({ name }) => name));
}

export async function updateEnvironment(
  ctx: ServiceContext,
  id: string,
  change: Pick<store.EnvironmentChange, "name" | "urlStackId">,
): Promise<EnvironmentRow> {
  const before = await requireExpected(ctx, id, change);
  const { urlStackId } = change;
  if (urlStackId) {
    const [stack] = await store.findStackOf(ctx.db, id, urlStackId);
    if (!stack) throw new NotFound(STACK);
  }
  const isOther = urlStackId !== undefined && urlStackId !== before.urlStackId;
  return changeEnvironment(ctx, before, change, {
    ...(isOther && { first: { url: store.showUrlOf(ctx, id, urlStackId) } }),
    reread: () => requireExpected(ctx, id, change),
  });
}

/** Returns what its stacks need. Throws `BadInput`. */
function requireConfiguration(
  configuration: Configuration,
  before: Configuration,
  existing: ReadonlySet<string> | undefined,
): ReadonlyMap<string, StackNeeds> {
  const needs = needsOf(configuration, existing);
  const problems = [
    ...findSettingsProblems(configuration, before),
    ...findNeedsProblems({ needs, configuration, before, existing }),
  ];
  if (problems.length === 0) return needs;
  throw new BadInput(problems.map((message) => ({ path: "configuration", message })));
}

interface ChangeOptions {
  /** The names of the stacks that the new configuration needs. */
  needed?: readonly string[];
  first?: Statements;
  reread: () => Promise<unknown>;
}

async function changeEnvironment(
  ctx: ServiceContext,
  before: EnvironmentRow,
  { urlStackId, ...fields }: store.EnvironmentChange,
  { needed = [], ...options }: ChangeOptions,
): Promise<EnvironmentRow> {
  const { organizationId, id } = before;
  const after = mergePatch(before, { ...fields, urlStackId });
  return write(ctx, {
    growth: {
      organizationId,
      bytes: bytesOf(after.name, after.configuration) - bytesOf(before.name, before.configuration),
    },
    ...options,
    guarded: store.changeEnvironment(ctx, id, fields, needed),
    returns: store.selectEnvironment(ctx.db, organizationId, id),
    stored,
    changes: [changes.updated(before, after)],
    unchanged: before,
    taken,
    otherwise: () => DEPLOYMENT_RUNNING,
  });
}

export async function deleteEnvironment(ctx: ServiceContext, id: string): Promise<void> {
  const before = await requireExpected(ctx, id, null);
  const { deleted, ...first } = store.deleteEnvironment(ctx, before.organizationId, id);
  await write(ctx, {
    first,
    guarded: deleted,
    changes: [changes.deleted(before)],
    reread: () => requireExpected(ctx, id, null),
    otherwise: ({ found: [environment] }) =>
      environment?.isIdle ? IS_DEFAULT : ENVIRONMENT_IN_USE,
  });
}
