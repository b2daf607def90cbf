import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import type { Schemas } from "../../../client/src/index.ts";
import { CliError } from "../errors.ts";
import { LINK_FILE, readLink, writeLink } from "../link-file.ts";
import { KINDS } from "../named-kinds.ts";
import { findOptionalRecord, isId, type NamedKind, type NamedRecord } from "../names.ts";
import { isInteractive, requireConsent } from "../prompts.ts";
import { ignoreMissing } from "../resource.ts";
import type { CliContext, Session } from "../session.ts";
import { readStoredRunners, type StoredRunner, storeRunner } from "../stored-runners.ts";
import type { Answers } from "./answers.ts";
import { quote } from "./deploy-scripts.ts";
import { orderEnvironments } from "./order-environments.ts";

type Project = Schemas["Project"];
type Environment = Schemas["Environment"];
type Pool = Schemas["RunnerPool"];

const TOKENS_PATH = "/v1/orgs/{org_id}/runner-pools/{pool_id}/tokens";
const MAXIMUM_TOKEN_NAME = 100;
/** More than a project can have. */
const MAXIMUM_ENVIRONMENTS = 10_000;

/** @throws CliError if a later step cannot succeed, before anything is created. */
export async function requireReady(context: CliContext, session: Session): Promise<void> {
  await readStoredRunners(context.environment);
  const { credential, organization } = await session.whoAmI();
  if (credential.role !== "member") return;
  throw new CliError(
    `Runner pools need an admin of ${organization.name}, and this key has the role member. Ask an admin ` +
      "to run longshore init here, or to make you one. Nothing was changed.",
  );
}

/**
 * The project, if it exists. A project that only has the name of the folder may be that of others.
 *
 * @throws CliError unless the user means it.
 */
export async function findProject(
  context: CliContext,
  session: Session,
  { project: name, isProjectChosen }: Answers,
  options: { yes?: boolean },
): Promise<Project | undefined> {
  const found = await findOptionalRecord<Project>(session, KINDS.project, {}, name);
  if (!found && isId(name)) throw new CliError(`There is no project with the ID ${name}.`);
  if (!found || isProjectChosen) return found;
  if (options.yes || !isInteractive(context)) {
    throw new CliError(
      `There is a project "${name}" already. Add --project ${quote(name)} to use it, or name another ` +
        "one. Nothing was changed.",
    );
  }
  await requireConsent(context, `There is a project "${name}" already. Use it?`, {});
  return found;
}

/**
 * The pool, if it exists. Its runners deploy all of its environments, so one of this folder would deploy those of
 * other projects, too.
 *
 * @throws CliError unless the user means it.
 */
export async function findPool(
  context: CliContext,
  session: Session,
  name: string,
  project: Project | undefined,
  options: { pool?: string; yes?: boolean },
): Promise<Pool | undefined> {
  const org_id = await session.organizationId();
  // A key of some projects sees no pools. The first creation says so.
  const found = await findOptionalRecord<Pool>(session, KINDS.pool, { org_id }, name).catch(
    ignoreMissing,
  );
  if (!found && isId(name)) throw new CliError(`There is no runner pool with the ID ${name}.`);
  if (!found || options.pool !== undefined) return found;
  const stored = (await readStoredRunners(context.environment)).get(context.folder);
  if (stored?.url === session.url && stored.poolId === found.id) return found;
  const { rows: own } = project
    ? await session.list<Environment>(KINDS.environment.listPath, {
        path: { project_id: project.id },
        limit: MAXIMUM_ENVIRONMENTS,
      })
    : { rows: [] };
  if (found.environment_ids.every((each) => own.some(({ id }) => id === each))) return found;
  const reason =
    `The runner pool "${name}" has environments of other projects, and a runner of this folder would ` +
    "deploy them, too.";
  if (options.yes || !isInteractive(context)) {
    throw new CliError(
      `${reason} Add --pool NAME for another pool, or --pool ${quote(name)} to use this one. Nothing was changed.`,
    );
  }
  await requireConsent(context, `${reason} Use it?`, {});
  return found;
}

/** Creates what is missing, and returns the environments. What exists by its name is used, so that a repeat continues. */
export async function setUp(
  context: CliContext,
  session: Session,
  answers: Answers,
  found: { project: Project | undefined; poolName: string; pool: Pool | undefined },
): Promise<Environment[]> {
  const project = await ensure(context, KINDS.project, answers.project, found.project, (name) =>
    session.client.post("/v1/projects", { body: { name } }),
  );
  const names = { project: isId(answers.project) ? project.id : project.name };
  // A repeat after a failure means the same project.
  if ((await readLink(context))?.link.project !== names.project) {
    await writeLink(context, names);
  }
  const environments = await ensureEnvironments(context, session, project, answers);
  // One name among those that exist says nothing about their order.
  if (!found.project || environments.length > 1) {
    await orderEnvironments(context, session, project, environments);
  }
  const [first] = environments;
  const isById = isId(answers.environments[0] ?? "");
  await writeLink(context, { ...names, environment: isById ? first?.id : first?.name });
  context.output.note(`Linked this folder to ${first?.name} of ${project.name}, in ${LINK_FILE}.`);
  for (const environment of environments) {
    await ensureStacks(context, session, environment, answers.stacks);
  }
  const pool = await ensurePool(context, session, found, environments);
  await ensureToken(context, session, pool);
  return environments;
}

async function ensureEnvironments(
  context: CliContext,
  session: Session,
  { id, default_environment_id }: Project,
  { environments: names }: Answers,
): Promise<Environment[]> {
  const path = { project_id: id };
  const environments: Environment[] = [];
  for (const name of names.length > 0 ? names : [default_environment_id]) {
    const found = await findOptionalRecord<Environment>(session, KINDS.environment, path, name);
    environments.push(
      await ensure(context, KINDS.environment, name, found, () =>
        session.client.post("/v1/projects/{project_id}/environments", { path, body: { name } }),
      ),
    );
  }
  return environments;
}

async function ensureStacks(
  context: CliContext,
  session: Session,
  environment: Environment,
  names: readonly string[],
): Promise<void> {
  const path = { environment_id: environment.id };
  for (const name of names) {
    const found = await findOptionalRecord<Schemas["Stack"]>(session, KINDS.stack, path, name);
    const create = () =>
      session.client.post("/v1/environments/{environment_id}/stacks", { path, body: { name } });
    await ensure(context, KINDS.stack, name, found, create, ` of ${environment.name}`);
  }
}

async function ensurePool(
  context: CliContext,
  session: Session,
  { poolName, pool: found }: { poolName: string; pool: Pool | undefined },
  environments: readonly Environment[],
): Promise<Pool> {
  const org_id = await session.organizationId();
  const ids = environments.map(({ id }) => id);
  const pool = await ensure(context, KINDS.pool, poolName, found, (name) =>
    session.client.post("/v1/orgs/{org_id}/runner-pools", {
      path: { org_id },
      body: { name, environment_ids: ids },
    }),
  );
  if (ids.every((id) => pool.environment_ids.includes(id))) return pool;
  context.output.note(
    `The runner pool ${pool.name} deploys to these environments, too, from now on.`,
  );
  return session.client.update(
    "/v1/orgs/{org_id}/runner-pools/{pool_id}",
    { path: { org_id, pool_id: pool.id } },
    ({ environment_ids }) => ({ environment_ids: [...new Set([...environment_ids, ...ids])] }),
  );
}

/** Stores a token for the runner of this folder, if there is none that is valid. */
async function ensureToken(context: CliContext, session: Session, pool: Pool): Promise<void> {
  const { environment, folder, output } = context;
  const path = { org_id: await session.organizationId(), pool_id: pool.id };
  const before = (await readStoredRunners(environment)).get(folder);
  const isOfPool = before?.url === session.url && before.poolId === pool.id;
  if (before?.token && isOfPool && (await isValid(session, path, before.token.id))) {
    return output.note("The token of this folder's runner is stored already.");
  }
  const runner: StoredRunner = {
    url: session.url,
    poolId: pool.id,
    request: isOfPool && !before.token ? before.request : randomUUID(),
  };
  // Stored first: if the response or the next write is lost, a repeat gets the same token.
  await storeRunner(environment, folder, runner);
  const { id, token } = await session.client.post(TOKENS_PATH, {
    path,
    body: { name: tokenName() },
    idempotencyKey: runner.request,
  });
  await storeRunner(environment, folder, { ...runner, token: { id, text: token } });
  output.note("Created a token for the runner of this folder, and stored it for you only.");
}

async function isValid(
  session: Session,
  path: { org_id: string; pool_id: string },
  tokenId: string,
): Promise<boolean> {
  const token = await session.client
    .get(`${TOKENS_PATH}/{token_id}`, { path: { ...path, token_id: tokenId } })
    .catch(ignoreMissing);
  return token !== undefined && (token.expires_at ?? "9") > new Date().toISOString();
}

/** The name of this machine, in the characters of a token's name. */
function tokenName(): string {
  const name = hostname().replaceAll(/[^\p{L}\p{N}._-]/gu, "-");
  return name.slice(0, MAXIMUM_TOKEN_NAME) || "runner";
}

async function ensure<Row extends NamedRecord>(
  { output }: CliContext,
  { noun }: NamedKind,
  name: string,
  found: Row | undefined,
  create: (name: string) => Promise<Row>,
  owner = "",
): Promise<Row> {
  if (!found && isId(name)) throw new CliError(`There is no ${noun} with the ID ${name}.`);
  const row = found ?? (await create(name));
  output.note(`${found ? "Uses" : "Created"} the ${noun} ${row.name}${owner}.`);
  return row;
}
