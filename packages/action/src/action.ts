import { isSafeUrl } from "../../../src/lib/safe-url.ts";
import { cleanReason, cleanSource } from "../../cli/src/deployments/commit-text.ts";
import { followDeployment } from "../../cli/src/deployments/follow.ts";
import { outputsByStack, readDeployedStacks } from "../../cli/src/deployments/outputs.ts";
import { CliError, explain } from "../../cli/src/errors.ts";
import { Session } from "../../cli/src/session.ts";
import type { Schemas } from "../../client/src/index.ts";
import { RunnerError } from "../../runner/src/errors.ts";
import { useProxies } from "../../runner/src/proxies.ts";
import { createCredential, KeyedFetch } from "./access.ts";
import { readEventCommit } from "./commit.ts";
import {
  createDeployment,
  findEnvironment,
  listStacks,
  selectStacks,
  stepKey,
} from "./deployment.ts";
import { type Inputs, readInputs } from "./inputs.ts";
import type { Job } from "./job.ts";
import { DeploymentReport } from "./report.ts";
import { findUnchanged } from "./unchanged.ts";

const ADVICE = {
  unauthenticated: "Is the input api-key right, and is the key still valid?",
  unauthorized:
    "The key needs the role contributor in the project, and the scope deployments:write.",
} satisfies Parameters<typeof explain>[1];

/** Deploys as the inputs say. Returns whether the step succeeds. */
export async function runAction(job: Job, signal: AbortSignal): Promise<boolean> {
  let report: DeploymentReport | undefined;
  try {
    const inputs = readInputs(job.environment);
    const session = await openSession(inputs, job);
    signal.throwIfAborted();
    report = await deploy(session, inputs, job, signal);
    if (!report) return true;
    return inputs.wait ? await wait(session, inputs, report, job, signal) : true;
  } catch (thrown) {
    if (signal.aborted) job.annotate("warning", describeInterruption(report));
    else job.annotate("error", describeError(thrown));
    return false;
  } finally {
    if (report) {
      report.flushLog();
      job.setOutput("status", report.status);
      job.addSummary(report.renderSummary());
    }
  }
}

async function openSession(inputs: Inputs, job: Job): Promise<Session> {
  await useProxies(job.environment).catch((error: unknown) => {
    if (!(error instanceof RunnerError)) throw error;
    throw new CliError(error.message);
  });
  const keyed = new KeyedFetch(createCredential(inputs, job), job);
  await keyed.open();
  // Each request gets the key that is valid then.
  const connection = { url: inputs.url, apiKey: "replaced", source: "the inputs" };
  return new Session(connection, keyed.fetch);
}

async function deploy(
  session: Session,
  inputs: Inputs,
  job: Job,
  signal: AbortSignal,
): Promise<DeploymentReport | undefined> {
  const source = readSource(inputs, job);
  const { environmentId, environmentName } = await findEnvironment(session, inputs);
  const stacks = await listStacks(session, environmentId);
  const stackIds = inputs.stacks && selectStacks(stacks, inputs.stacks);
  if (!inputs.patch && source.git) {
    const wanted = stackIds ?? stacks.map(({ id }) => id);
    const unchanged = await findUnchanged(session, environmentId, source, wanted);
    if (unchanged) return showUnchanged(session, unchanged, environmentName, job);
  }
  const idempotencyKey = stepKey(job.environment);
  const options = { signal, idempotencyKey };
  const cleaned = { patch: inputs.patch, source, reason: readReason(inputs.reason, job) };
  const deployment = await createDeployment(session, environmentId, stackIds, cleaned, options);
  job.setOutput("deployment-id", deployment.id);
  const link = session.linkTo(deployment.id);
  job.print(`Deployment ${deployment.id} of ${environmentName}: ${link}`);
  job.print(`It is ${deployment.status} since ${deployment.created_at}.`);
  const names = new Map(stacks.map(({ id, name }) => [id, name]));
  return new DeploymentReport(job, deployment, { environment: environmentName, names, link });
}

/** The commit of the event, and the image of the inputs. */
function readSource({ commit, image }: Inputs, job: Job): Schemas["DeploymentSourceInput"] {
  const git = readEventCommit(job.environment, commit);
  const source = { ...(git && { git }), ...(image !== undefined && { registry: { image } }) };
  const { value, remarks } = cleanSource(source);
  for (const remark of remarks) job.annotate("warning", remark);
  return value;
}

async function showUnchanged(
  session: Session,
  deployment: Schemas["Deployment"],
  environment: string,
  job: Job,
): Promise<undefined> {
  const { id, data } = deployment;
  const commit = data.source?.git?.commit.sha.slice(0, 7);
  job.annotate(
    "notice",
    `Nothing new to deploy: ${environment} already runs ${commit}, from the deployment ${id}. ` +
      `To deploy it again: longshore deployments redeploy ${id}`,
  );
  job.setOutput("deployment-id", id);
  job.setOutput("status", deployment.status);
  await setOutputs(session, deployment, job);
}

async function setOutputs(
  session: Session,
  deployment: Schemas["Deployment"],
  job: Job,
): Promise<string | undefined> {
  const stacks = await readDeployedStacks(session, deployment);
  const url = stacks.flatMap((stack) => stack.outputs?.["url"] ?? []).find(isSafeUrl);
  if (url !== undefined) job.setOutput("url", url);
  job.setOutput("outputs", JSON.stringify(outputsByStack(stacks)));
  return url;
}

/** Workflows give the message of a commit, which may have what the service refuses. */
function readReason(reason: string | undefined, job: Job): string | undefined {
  if (reason === undefined) return undefined;
  const { value, remarks } = cleanReason(reason);
  for (const remark of remarks) job.annotate("warning", remark);
  return value;
}

async function wait(
  session: Session,
  { timeoutMs }: Inputs,
  report: DeploymentReport,
  job: Job,
  signal: AbortSignal,
): Promise<boolean> {
  const deployment = await followDeployment(session.client, report.id, {
    signal,
    timeoutMs,
    onStatus: (progress) => report.showProgress(progress),
    onLine: (line) => report.showLine(line),
    onIncompleteLog: () => job.print("The end of the log has not arrived."),
  });
  report.end(deployment);
  if (deployment.status === "succeeded") {
    report.url = await setOutputs(session, deployment, job);
    return true;
  }
  job.annotate("error", report.describe());
  return false;
}

/** A canceled job does not cancel the deployment, because half a deployment may be worse than a whole one. */
function describeInterruption(report: DeploymentReport | undefined): string {
  if (!report) {
    return "The job was canceled. If the deployment was created, it continues: longshore deployments ls shows it.";
  }
  return (
    `The job was canceled, and the deployment ${report.id} continues. ` +
    `To cancel it: longshore deployments cancel ${report.id}`
  );
}

function describeError(thrown: unknown): string {
  const error = explain(thrown, ADVICE);
  if (error instanceof CliError) return error.message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
