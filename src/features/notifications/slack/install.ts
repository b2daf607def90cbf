import { type Actor, authorize } from "../../../actor.ts";
import type { PublicContext, ServiceContext, SystemContext } from "../../../context.ts";
import { bytesOf } from "../../../lib/bytes-of.ts";
import { BadInput } from "../../../lib/errors.ts";
import { newId } from "../../../lib/ids.ts";
import { writeBatch } from "../../../writes/write-batch.ts";
import { NOTIFICATION_KINDS } from "../../housekeeping/outbox/events.ts";
import { toActor } from "../../identity/api-keys/index.ts";
import { requireProject } from "../../projects/projects/index.ts";
import {
  CONFIRMATION_TTL_MS,
  insertIntegration,
  toCreatedChange,
  urlContext,
} from "../integrations/index.ts";
import { FULL, NOT_GRANTED } from "./model.ts";
import {
  authorizationUrl,
  exchangeCode,
  type Grant,
  requireSlackApp,
  slackSettingsOf,
} from "./oauth.ts";
import { openState, refuseState, STATE_TTL_MS, type State, sealState } from "./state.ts";
import * as store from "./store.ts";

const CALLBACK_PATH = "/v1/slack/callback";
const CONFIGURATION = Object.fromEntries(NOTIFICATION_KINDS.map((kind) => [kind, true] as const));

/** What the page at the end of an installation shows. */
export interface Installation {
  projectName: string;
  projectId: string;
  integrationId: string;
  /** The origin of this service. */
  origin: string;
}

export interface CallbackInput {
  code: string | undefined;
  state: string | undefined;
  error: string | undefined;
  origin: string;
}

export async function startInstallation(
  ctx: ServiceContext,
  projectId: string,
  origin: string,
): Promise<string> {
  await requireProject(ctx, projectId, "owner");
  const slack = slackSettingsOf(ctx.settings);
  requireSlackApp(slack);
  const state = await sealState(await ctx.cipher(), {
    integrationId: newId(ctx.clock),
    projectId,
    keyId: ctx.actor.keyId,
    expiresAt: ctx.clock.now() + STATE_TTL_MS,
  });
  return authorizationUrl(slack, { redirectUri: origin + CALLBACK_PATH, state });
}

/**
 * The key that started it must still belong to an owner, before and after the request to Slack.
 * Idempotent for a state.
 */
export async function finishInstallation(
  ctx: PublicContext,
  input: CallbackInput,
): Promise<Installation> {
  const slack = slackSettingsOf(ctx.settings);
  requireSlackApp(slack);
  const { code, state: sealed } = readInput(input);
  const state = await openState(await ctx.cipher(), sealed, ctx.clock.now());
  const { projectName, isUsed } = await requireInstaller(ctx, state);
  const { projectId, integrationId } = state;
  const { origin } = input;
  const installation = { projectName, projectId, integrationId, origin };
  if (isUsed) return installation;
  const redirectUri = origin + CALLBACK_PATH;
  const grant = await exchangeCode(ctx, { settings: slack, code, redirectUri });
  const { actor } = await requireInstaller(ctx, state);
  await writeIntegration({ ...ctx, actor }, state, { ...grant, origin });
  return installation;
}

function readInput({ code, state, error }: CallbackInput): { code: string; state: string } {
  if (error) throw NOT_GRANTED;
  if (!code) return refuse("code", "Send the code that Slack gave.");
  if (!state) return refuse("state", "Send the state that the installation began with.");
  return { code, state };
}

function refuse(path: string, message: string): never {
  throw new BadInput([{ path, message }]);
}

async function requireInstaller(ctx: SystemContext, state: State) {
  const [found] = await store.findInstaller(ctx.db, state, ctx.clock.now());
  if (!found) return refuseState("The key that started it is gone, or the project is.");
  const actor: Actor = toActor(found);
  const { projectName, isUsed } = authorize(actor, "project", found, "owner");
  return { actor, projectName, isUsed: isUsed === 1 };
}

async function writeIntegration(
  ctx: PublicContext & { actor: Actor },
  state: State,
  { url, channel, origin }: Grant & { origin: string },
): Promise<void> {
  const { integrationId: id, projectId } = state;
  const { organizationId } = ctx.actor;
  const cipher = await ctx.cipher();
  const now = ctx.clock.now();
  const integration = {
    id,
    organizationId,
    projectId,
    type: "slack" as const,
    configuration: JSON.stringify(CONFIGURATION),
    url: await cipher.seal(url, urlContext({ organizationId, projectId, id })),
    maskedUrl: "",
    environmentIds: null,
    stackIds: null,
    secret: null,
    linksTo: origin,
    slackChannel: JSON.stringify(channel),
    confirmBy: now + CONFIRMATION_TTL_MS,
    createdAt: now,
  };
  const { guarded: created } = await writeBatch(ctx, {
    growth: {
      organizationId,
      records: { integrations: 1 },
      bytes: bytesOf(integration.configuration, integration.url),
    },
    guarded: insertIntegration(ctx.db, integration, { unless: store.isUsed(state) }),
    changes: [toCreatedChange(integration)],
  });
  if (created.length > 0 || (await requireInstaller(ctx, state)).isUsed) return;
  throw FULL;
}
