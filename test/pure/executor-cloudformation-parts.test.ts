import type { ResourceStatus, StackEvent } from "@aws-sdk/client-cloudformation";
import { describe, expect, it, type TestContext, vi } from "vitest";
import { Execution } from "../../packages/executors/cloudformation/src/follow-execution.ts";
import { SETTINGS } from "../../packages/executors/cloudformation/src/settings.ts";
import type { StackApi } from "../../packages/executors/cloudformation/src/stack-api.ts";
import type { Report } from "../../packages/executors/program/src/index.ts";
import { checkSettings } from "../../packages/runner/src/executors/settings.ts";

const STACK = "arn:aws:cloudformation:eu-central-1:1:stack/shop/1";
const BEGIN: Partial<StackEvent> = {
  ...{ PhysicalResourceId: STACK, LogicalResourceId: "shop" },
  ResourceStatus: "UPDATE_IN_PROGRESS",
};
const FAILURE = "Queue (AWS::SQS::Queue) is CREATE_FAILED: Access denied";

const failed = (
  name: string,
  reason: string,
  status: ResourceStatus = "CREATE_FAILED",
): Partial<StackEvent> => ({
  ...{ LogicalResourceId: name, ResourceType: "AWS::SQS::Queue", PhysicalResourceId: name },
  ...{ ResourceStatus: status, ResourceStatusReason: reason },
});
const QUEUE = failed("Queue", "Access denied");
const CANCELLED = failed("Topic", "Resource creation cancelled");

/** Why the execution has failed, by what each look at its events finds. */
async function failureOf({ onTestFinished }: TestContext, ...looks: Partial<StackEvent>[][]) {
  const log = vi.spyOn(console, "log").mockImplementation(() => undefined);
  onTestFinished(() => log.mockRestore());
  const events: StackEvent[] = [];
  const readEvents = async function* () {
    yield* events.toReversed();
  };
  const api = { readEvents } as unknown as StackApi;
  const report = { resource: () => undefined } as unknown as Report;
  const execution = new Execution(api, report, { stackId: STACK, token: "run" });
  for (const found of [[BEGIN], ...looks]) {
    for (const each of found) {
      const id = { StackId: STACK, StackName: "shop", EventId: String(events.length) };
      events.push({ ...each, ...id, Timestamp: new Date() });
    }
    await execution.look();
  }
  return execution.failure;
}

describe("the reason why an update has failed", () => {
  it("is that of the first resource, whatever is cancelled before or after it", async (context) => {
    const others = [
      failed("Topic", "Resource update cancelled", "UPDATE_FAILED"),
      failed("Topic", "Resource creation Canceled"),
      failed("Table", "Throttled"),
    ];
    expect(await failureOf(context, [QUEUE, CANCELLED])).toBe(FAILURE);
    expect(await failureOf(context, [CANCELLED, QUEUE])).toBe(FAILURE);
    for (const other of [CANCELLED, ...others]) {
      expect(await failureOf(context, [QUEUE], [other], [other])).toBe(FAILURE);
    }
  });

  it("is none while resources are only cancelled", async (context) => {
    expect(await failureOf(context, [CANCELLED], [CANCELLED])).toBeUndefined();
  });
});

describe("a text that AWS would take for something else", () => {
  it.each([
    ["stack_name", "a.b", "a letter, and then"],
    ["region", "eu-central-1.example.com/", "a region of AWS"],
    ["role", "..", "the ARN of a role"],
  ])("is refused as %s: %s", (name, text, form) => {
    const values = { executor: "cloudformation", template: "site.json", [name]: text };
    const given = { pointer: "/stacks/first", values };
    expect(checkSettings({ name: "cloudformation", settings: SETTINGS }, given)).toEqual([
      expect.stringContaining(`/stacks/first/${name} must be ${form}`),
    ]);
  });
});
