import { describe, expect, it } from "vitest";
import {
  API_KEY_PATTERN,
  INVITATION_TOKEN_PATTERN,
  parseCredential,
  RUNNER_TOKEN_PATTERN,
  SIGN_IN_TOKEN_PATTERN,
} from "../../src/auth/credentials.ts";
import { DEPLOYMENT_FAILURES } from "../../src/features/deployments/deployments/index.ts";
import { DELIVERY_FAILURE_REASONS } from "../../src/features/housekeeping/outbox/model.ts";
import { failureOf } from "../../src/features/notifications/delivery/outcome.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { newId } from "../../src/lib/ids.ts";
import type { Parsed } from "../support/client.ts";
import { openApi } from "../support/contract.ts";
import { newProject, newWorld } from "../support/world.ts";

const PATTERNS = [
  API_KEY_PATTERN,
  RUNNER_TOKEN_PATTERN,
  INVITATION_TOKEN_PATTERN,
  SIGN_IN_TOKEN_PATTERN,
];

const schemaOf = (name: string): Parsed => openApi.components.schemas[name];

/** The examples of every object in the document that has both fields. */
function examplesOf(...fields: [string, string]): [string, string][] {
  const found: [string, string][] = [];
  JSON.stringify(openApi, (_, value) => {
    const [first, second] = fields.map((field) => value?.properties?.[field]?.example);
    if (first !== undefined && second !== undefined) found.push([first, second]);
    return value;
  });
  return found;
}

describe("an example in the OpenAPI document", () => {
  it("of an error equals the service's reply", async () => {
    const { client } = await newWorld();
    const { body } = await client.get(`/v1/projects/${newId(systemClock)}`);
    expect(schemaOf("Error").example).toEqual(body);
  });

  it("of a failed attempt has the error text that the code records for its status", () => {
    const { status_code, error } = schemaOf("DeliveryAttempt").properties;
    expect(error.example).toBe(failureOf(status_code.example).error);
    expect(error.example).toBe("answered 503");
  });

  it("of a failed deployment has a failure reason of the service", () => {
    const { example } = schemaOf("DeploymentsFailedEvent");
    expect(Object.values(DEPLOYMENT_FAILURES)).toContain(example.data.failure_reason);
  });

  it("of a credential has the correct format and last four characters, and is not accepted", async () => {
    const fields = [examplesOf("last_four", "key"), examplesOf("last_four", "token")].flat();
    const whole = [...new Set(JSON.stringify(openApi).match(/ls[hilr]_[0-9A-Za-z_]{72}/g))];
    expect(whole.map((text) => text.slice(0, 4)).toSorted()).toEqual([
      "lsh_",
      "lsi_",
      "lsl_",
      "lsr_",
    ]);
    for (const text of whole) {
      const pattern = PATTERNS.find((each) => each.test(text)) ?? /$^/;
      expect(text).toMatch(pattern);
      // The checksum is wrong, so the service refuses it without a database query.
      expect(await parseCredential(pattern, text)).toBeUndefined();
    }
    expect(fields.length).toBeGreaterThan(0);
    for (const [lastFour, text] of fields) expect(text.slice(-4)).toBe(lastFour);
  });

  it("of the Slack URL has every parameter that the service sends", async () => {
    const { client } = await newWorld();
    const project = await newProject(client);
    const { body } = await client.get(`/v1/projects/${project.id}/slack/install`);
    const parametersOf = (url: string) => [...new URL(url).searchParams.keys()];
    const { example } = schemaOf("SlackInstallation").properties.url;
    expect(parametersOf(example)).toEqual(parametersOf(body.url));
  });
});

it("the document lists exactly the failure reasons of unsent deliveries", () => {
  const { enum: listed, description } = schemaOf("DeliveryFailureReason");
  expect(listed).toEqual([...DELIVERY_FAILURE_REASONS]);
  for (const reason of DELIVERY_FAILURE_REASONS) expect(description).toContain(`\`${reason}\``);
});
