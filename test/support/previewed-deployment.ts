import { expect } from "vitest";
import type { Client, Parsed } from "./client.ts";
import { newDeployment, newStack } from "./world.ts";

/** Without what is known only once it exists, and without a runner that takes it at once. */
const comparable = (reasons: readonly Parsed[]) =>
  reasons
    .filter(
      ({ code, pools = [] }) => code !== "runner" || !pools.some((pool: Parsed) => pool["online"]),
    )
    .map(({ expires_at, ...rest }) => ({ ...rest, expires: expires_at !== undefined }));

/** Creates a deployment, and expects the preview before to have said what it then says. */
export async function newPreviewedDeployment(
  client: Client,
  environmentId: string,
  body: object = {},
): Promise<Parsed> {
  const path = `/v1/environments/${environmentId}/deployment-preview`;
  let { body: shown, status } = await client.post(path, body);
  if (shown.error?.message.includes("no stacks")) {
    await newStack(client, environmentId);
    ({ body: shown, status } = await client.post(path, body));
  }
  const created = await newDeployment(client, environmentId, body);
  const { body: made } = await client.get(`/v1/deployments/${created.id}`);
  expect([status, comparable(shown.waiting_for)]).toEqual([200, comparable(made.waiting_for)]);
  const { patch, source } = made.data;
  // A source that exists may be verified.
  expect([patch, source]).toEqual([
    shown.patch,
    shown.source && expect.objectContaining(shown.source),
  ]);
  return created;
}
