import { ResourceStatus } from "@aws-sdk/client-cloudformation";
import { describe, expect, it, type TestContext } from "vitest";
import { describeChange } from "../../../packages/executors/cloudformation/src/change-set.ts";
import { joinIds, toStatus } from "../../../packages/executors/cloudformation/src/resources.ts";
import { REPORTED_RESOURCE_STATUSES } from "../../../packages/runner/src/report-lines.ts";
import { ProgramHarness, STACK_NAME } from "../support/cloud-formation/program.ts";

const topic = (properties: object = {}) => ({ Type: "AWS::SNS::Topic", Properties: properties });
const template = (Resources: object, others: object = {}) => ({ Resources, ...others });
/** A nested stack with this template. */
const nested = (url: string) => ({
  Type: "AWS::CloudFormation::Stack",
  Properties: { TemplateURL: url },
});
const PARTS = template(
  { Site: topic({ text: { Ref: "Greeting" } }) },
  {
    Parameters: { Greeting: {}, Secret: { NoEcho: true } },
    Outputs: {
      Greeting: { Value: { Ref: "Greeting" } },
      Leak: { Value: { "Fn::Join": ["", ["user:", { Ref: "Secret" }]] } },
      URL: { Value: { "Fn::GetAtt": ["Site", "Url"] } },
    },
  },
);

async function prepare(context: TestContext) {
  const harness = await ProgramHarness.start();
  context.onTestFinished(() => harness.stop());
  return { harness, api: harness.api, account: harness.api.account };
}

describe.concurrent("the executor cloudformation", () => {
  it("creates a stack with a change set that it prints first, and reports resources and outputs", async (context) => {
    const { harness, api, account } = await prepare(context);
    const result = await harness.deploy(PARTS, {
      parameters: { Greeting: "Ahoy & <co>", Secret: "canary" },
      tags: { team: "shop" },
    });
    expect(result).toMatchObject({ status: 0, reason: undefined });
    const lines = result.log.split("\n");
    const [title, change, begin] = lines;
    expect([title, change]).toEqual([
      `Changes of the stack ${STACK_NAME}:`,
      "  Add Site (AWS::SNS::Topic)",
    ]);
    expect(begin).toContain(`CREATE_IN_PROGRESS ${STACK_NAME} (AWS::CloudFormation::Stack)`);
    expect(lines).toContain("CREATE_COMPLETE Site (AWS::SNS::Topic)");
    expect(result.changes).toEqual({
      Site: ["CREATE_IN_PROGRESS", "CREATE_IN_PROGRESS", "CREATE_COMPLETE"],
    });
    expect(result.resources).toMatchObject([
      {
        template_id: "Site",
        resource_type: "AWS::SNS::Topic",
        physical_id: expect.stringContaining(`${STACK_NAME}-Site-`),
        status: "CREATE_COMPLETE",
      },
    ]);
    expect(result.outputs).toEqual({
      url: `${api.url}/pages/${STACK_NAME}`,
      Greeting: "Ahoy & <co>",
    });
    expect(Object.keys(result.outputs)[0]).toBe("url");
    expect(result.log).toContain("The output Leak is not reported: it has the value of a NoEcho");
    expect(result.log).not.toContain("canary");
    const created = api.calls.find(({ action }) => action === "CreateChangeSet")?.parameters;
    expect(created?.get("Tags.member.1.Value")).toBe("shop");
    expect(created?.get("Description")).toBe("Deployment d1 of shop / production / api");
    expect(account.stacks.map(({ name, status }) => [name, status])).toEqual([
      [STACK_NAME, "CREATE_COMPLETE"],
    ]);
  });

  it("succeeds if nothing changes, and leaves no change set", async (context) => {
    const { harness, account } = await prepare(context);
    const one = template({ A: topic(), B: topic(), C: topic() });
    await harness.deploy(one);
    const result = await harness.deploy(one);
    expect(result).toMatchObject({ status: 0, changes: {} });
    expect(result.log).toBe(`Nothing changes in the stack ${STACK_NAME}.\n`);
    expect(result.resources?.map(({ template_id: id }) => id)).toEqual(["A", "B", "C"]);
    expect(account.changeSets.all.map(({ execution }) => execution)).toEqual(["EXECUTE_COMPLETE"]);
  });

  it("updates, replaces and removes resources; what a replacement deletes is not the resource", async (context) => {
    const { harness, account } = await prepare(context);
    const names = ["Keep", "Change", "Replace", "Remove", "Other"];
    await harness.deploy(template(Object.fromEntries(names.map((name) => [name, topic()]))));
    const before = account.find(STACK_NAME).resources.get("Replace")?.physicalId;
    const result = await harness.deploy(
      template({
        Keep: topic(),
        Change: topic({ text: "new" }),
        Replace: topic({ Replaces: 1 }),
        Add: topic(),
        Other: topic(),
      }),
    );
    expect(result.status).toBe(0);
    expect(result.log.split("\n").slice(1, 5)).toEqual([
      "  Modify Change (AWS::SNS::Topic)",
      "  Modify Replace (AWS::SNS::Topic), which replaces it",
      "  Add Add (AWS::SNS::Topic)",
      "  Remove Remove (AWS::SNS::Topic)",
    ]);
    expect(result.changes).toEqual({
      Change: ["UPDATE_IN_PROGRESS", "UPDATE_COMPLETE"],
      Replace: ["UPDATE_IN_PROGRESS", "UPDATE_IN_PROGRESS", "UPDATE_COMPLETE"],
      Add: ["CREATE_IN_PROGRESS", "CREATE_IN_PROGRESS", "CREATE_COMPLETE"],
      Remove: ["DELETE_IN_PROGRESS", "DELETE_COMPLETE"],
    });
    const found = result.resources?.map(({ template_id: id, status }) => [id, status]);
    expect(found?.toSorted()).toEqual([
      ["Add", "CREATE_COMPLETE"],
      ["Change", "UPDATE_COMPLETE"],
      ["Keep", "CREATE_COMPLETE"],
      ["Other", "CREATE_COMPLETE"],
      ["Replace", "UPDATE_COMPLETE"],
    ]);
    const replaced = result.resources?.find(({ template_id: id }) => id === "Replace");
    expect(replaced?.physical_id).not.toBe(before);
  });

  it("follows nested stacks, and names their resources after the way to them", async (context) => {
    const { harness, account } = await prepare(context);
    account.templates.set("inner", JSON.stringify(template({ Deep: topic() })));
    account.templates.set(
      "outer",
      JSON.stringify(template({ Inner: nested("inner"), Table: topic() })),
    );
    account.templates.set("changed", JSON.stringify(template({ Table: topic({ size: 2 }) })));
    const created = await harness.deploy(template({ Outer: nested("outer"), Own: topic() }));
    expect(created.status).toBe(0);
    const ids = ["Outer", "Outer/Inner", "Outer/Inner/Deep", "Outer/Table", "Own"];
    expect(created.resources?.map(({ template_id: id }) => id)).toEqual(ids);
    expect(Object.keys(created.changes).toSorted()).toEqual(ids);
    expect(created.changes["Outer/Inner/Deep"]).toContain("CREATE_COMPLETE");
    const updated = await harness.deploy(template({ Outer: nested("changed"), Own: topic() }));
    expect(updated.status).toBe(0);
    expect(updated.changes).toEqual({
      Outer: ["UPDATE_IN_PROGRESS", "UPDATE_COMPLETE"],
      "Outer/Table": ["UPDATE_IN_PROGRESS", "UPDATE_COMPLETE"],
      "Outer/Inner": ["DELETE_IN_PROGRESS", "DELETE_COMPLETE"],
      "Outer/Inner/Deep": ["DELETE_IN_PROGRESS", "DELETE_COMPLETE"],
    });
    expect(updated.resources?.map(({ template_id: id }) => id)).toEqual([
      "Outer",
      "Outer/Table",
      "Own",
    ]);
  });

  it("deletes what a failed creation has left, before it creates the stack again", async (context) => {
    const { harness, account } = await prepare(context);
    const failed = await harness.deploy(template({ A: topic(), B: topic({ Fails: "create" }) }));
    expect(failed.status).toBe(1);
    expect(failed.reason).toBe(
      'B (AWS::SNS::Topic) is CREATE_FAILED: Not allowed: B <&> "it". The stack is ROLLBACK_COMPLETE.',
    );
    expect(failed).toMatchObject({ outputs: {}, resources: [] });
    expect(failed.changes["A"]?.at(-1)).toBe("DELETE_COMPLETE");
    const again = await harness.deploy(template({ A: topic(), B: topic() }));
    expect(again.status).toBe(0);
    expect(again.log).toContain(`The stack ${STACK_NAME} is ROLLBACK_COMPLETE: its creation`);
    expect(account.stacks.map(({ status }) => status)).toEqual([
      "DELETE_COMPLETE",
      "CREATE_COMPLETE",
    ]);
  });

  it("fails when an update is rolled back, and says what a person must do when that fails", async (context) => {
    const { harness, account } = await prepare(context);
    await harness.deploy(template({ A: topic() }));
    const failed = await harness.deploy(template({ A: topic({ Fails: "update" }), New: topic() }));
    expect(failed).toMatchObject({ status: 1, outputs: {} });
    expect(failed.reason).toBe(
      "A (AWS::SNS::Topic) is UPDATE_FAILED: Not allowed: A. The stack is UPDATE_ROLLBACK_COMPLETE.",
    );
    expect(failed.resources).toMatchObject([{ template_id: "A", status: "UPDATE_COMPLETE" }]);
    const stuck = await harness.deploy(template({ A: topic({ Fails: "rollback" }) }));
    const id = account.find(STACK_NAME).id;
    const advice =
      "The stack is UPDATE_ROLLBACK_FAILED. Its events say which resource could not be rolled back. Repair that " +
      "resource, continue the rollback with aws cloudformation continue-update-rollback --region eu-central-1 " +
      `--stack-name ${id}, and deploy again.`;
    expect([stuck.status, stuck.reason]).toEqual([1, expect.stringContaining(advice)]);
    const next = await harness.deploy(template({ A: topic({ text: "mended" }) }));
    expect([next.status, next.reason]).toEqual([
      1,
      advice.replace("The stack", `The stack ${STACK_NAME}`),
    ]);
    expect(account.changeSets.executions.length).toBe(3);
  });

  it("waits until an operation of an earlier run is over, with a line in the log", async (context) => {
    const { harness, account, api } = await prepare(context);
    await harness.deploy(template({ A: topic() }));
    const stack = account.find(STACK_NAME);
    const target = {
      templateBody: JSON.stringify(template({ A: topic({ by: "hand" }) })),
      parameters: {},
    };
    stack.start(discard(stack.update(target)), "by-hand");
    stack.advance();
    const result = await harness.deploy(template({ A: topic({ by: "us" }) }));
    expect(result.status).toBe(0);
    expect(result.log).toMatch(
      /^The stack \S+ is UPDATE_IN_PROGRESS: an earlier operation goes on. Waiting for its end.\n/,
    );
    expect(result.log).not.toContain("by-hand");
    expect(account.changeSets.overlaps).toBe(0);
    expect(api.actions.filter((each) => each === "ExecuteChangeSet").length).toBe(2);
  });

  it("does not take the earlier state for its own success, while a stack still shows it", async (context) => {
    const { harness, api, account } = await prepare(context);
    await harness.deploy(template({ A: topic() }));
    api.fault = ({ action }) => {
      if (action === "ExecuteChangeSet") account.staleReads = 3;
      return undefined;
    };
    const result = await harness.deploy(template({ A: topic({ Fails: "update" }) }));
    expect(result.status).toBe(1);
    expect([account.staleReads, result.reason]).toEqual([
      0,
      expect.stringContaining("Not allowed: A."),
    ]);
  });

  it("says why a change set cannot be created, and deletes it", async (context) => {
    const { harness, account } = await prepare(context);
    const role = template({ Role: { Type: "AWS::IAM::Role" } });
    const refused = await harness.deploy(role);
    expect([refused.status, refused.reason]).toEqual([
      1,
      "CloudFormation refuses: Requires capabilities : [CAPABILITY_IAM]",
    ]);
    expect(account.changeSets.all).toEqual([]);
    expect((await harness.deploy(role, { capabilities: ["CAPABILITY_IAM"] })).status).toBe(0);
    const missing = await harness.deploy(template({ A: topic() }, { Parameters: { Size: {} } }));
    expect(missing.reason).toBe(
      "AWS refuses: ValidationError: Parameters: [Size] must have values",
    );
    const unknown = await harness.deploy(role, { parameters: { Size: "1" } });
    expect(unknown.reason).toContain("Parameters: [Size] do not exist in the template");
    const broken = await harness.deploy("{");
    expect(broken.reason).toContain("Template format error");
    expect([missing, unknown, broken].map(({ resources }) => resources)).toEqual(
      Array(3).fill(undefined),
    );
  });

  it("has a template of at most 51,200 bytes, and a name that CloudFormation accepts", async (context) => {
    const { harness, api } = await prepare(context);
    const padded = (bytes: number) => {
      const text = JSON.stringify(template({ A: topic() }, { Description: "" }));
      return text.replace('""', `"${"é".repeat(20)}${"x".repeat(bytes - text.length - 40)}"`);
    };
    const large = await harness.deploy(padded(51_201));
    expect(large).toMatchObject({ status: 1 });
    expect(large.reason).toContain(
      "The template has 51,201 bytes, and CloudFormation accepts 51,200.",
    );
    for (const name of ["-api", "1api", "a_b", "a\nb", "--role-arn", "", "x".repeat(129)]) {
      const refused = await harness.deploy(template({ A: topic() }), { stack_name: name });
      expect([name, refused.reason]).toEqual([name, expect.stringContaining("setting stack_name")]);
    }
    const nowhere = await harness.deploy(template({ A: topic() }), {
      region: "evil.example.com/#",
    });
    expect(nowhere.reason).toContain("The setting region must be a region of AWS");
    expect(api.calls).toEqual([]);
    const name = `a${"x".repeat(127)}`;
    expect(await harness.deploy(padded(51_200), { stack_name: name })).toMatchObject({ status: 0 });
    expect(api.account.find(name).status).toBe("CREATE_COMPLETE");
  });

  it("acts as the role of the connection, with the external ID of the project, and as nobody else", async (context) => {
    const { harness, api } = await prepare(context);
    const one = template({ A: topic() });
    const connection = harness.connection;
    const reasonWith = async (other: object | undefined) => {
      harness.connection = other as object;
      const { status, reason } = await harness.deploy(one);
      expect(status).toBe(1);
      return reason;
    };
    const denied = "The runner may not assume the role of the connection: User is not authorized";
    expect(await reasonWith({ ...connection, external_id: "another" })).toContain(denied);
    expect(
      await reasonWith({ ...connection, role_arn: `${"arn:aws:iam::123456789012:role/x"}` }),
    ).toContain(denied);
    expect(await reasonWith(undefined)).toContain(
      "The project is not connected to an AWS account. Connect it: longshore projects connect p1",
    );
    expect(await reasonWith({ provider: "ssh", host: "example.com" })).toContain(
      "is not connected",
    );
    const own = { provider: "aws", account_id: "999999999999", region: "eu-central-1" };
    expect(await reasonWith(own)).toContain(
      "The credentials of the runner are for the AWS account 123456789012, and the project is connected to 999999999999.",
    );
    harness.environment = { AWS_EC2_METADATA_DISABLED: "true" };
    expect(await reasonWith(connection)).toContain("The runner has no credentials for AWS.");
    expect(api.account.stacks).toEqual([]);
  });
});

describe("what CloudFormation says", () => {
  it("has a status of the contract for each of its own, and none for others", () => {
    const statuses = Object.values(ResourceStatus);
    expect(statuses.length).toBeGreaterThanOrEqual(28);
    for (const each of statuses) {
      expect([each, REPORTED_RESOURCE_STATUSES]).toEqual([
        each,
        expect.arrayContaining([toStatus(each)]),
      ]);
    }
    expect(
      statuses
        .filter((each) => toStatus(each) !== each)
        .every((each) => each.startsWith("EXPORT_")),
    ).toBe(true);
    expect([toStatus("REVIEW_IN_PROGRESS"), toStatus(""), toStatus(undefined)]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  it("becomes a line for each change", () => {
    const change = { LogicalResourceId: "Site", ResourceType: "AWS::S3::Bucket" };
    const lines = [
      describeChange({
        ResourceChange: { ...change, Action: "Modify", Replacement: "Conditional" },
      }),
      describeChange({ ResourceChange: { ...change, Action: "Modify", Replacement: "False" } }),
      describeChange({ ResourceChange: { ...change, Action: "Remove" } }),
      describeChange({ ResourceChange: { ...change, Action: "Import", Replacement: "True" } }),
    ];
    expect(lines).toEqual([
      "Modify Site (AWS::S3::Bucket), which may replace it",
      "Modify Site (AWS::S3::Bucket)",
      "Remove Site (AWS::S3::Bucket)",
      "Import Site (AWS::S3::Bucket)",
    ]);
  });

  it("has IDs that the report accepts, at any depth", () => {
    const long = "x".repeat(127);
    expect(joinIds("", "A")).toBe("A");
    expect(joinIds(long, long)).toBe(`${long}/${long}`);
    const cut = joinIds(`${long}/${long}`, "A");
    expect([cut.length, cut.at(0), cut.endsWith("x/A")]).toEqual([255, "…", true]);
  });
});

/** As a step of an operation that nobody asks about. */
function* discard(steps: Generator<undefined, unknown>) {
  yield* steps;
}
