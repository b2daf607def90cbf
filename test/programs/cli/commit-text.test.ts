import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  cleanReason,
  cleanSource,
  TEXT_LIMITS,
} from "../../../packages/cli/src/deployments/commit-text.ts";
import { LIMITS } from "../../../src/lib/limits.ts";
import { CliUser } from "../support/cli.ts";
import { DeployedEnvironment } from "../support/deployed-environment.ts";
import { useService } from "../support/service.ts";

const MONA = { name: "Mona", email: "mona@example.com" };

function sourceOf(message: string, author: object = MONA) {
  return {
    git: {
      commit: { sha: "6dcb09b5b57875f334f61aebed695e2e4193db5e", message, author, committer: MONA },
      installation_id: "1",
      owner: "acme",
      provider: "github",
      ref: "refs/heads/main",
      repo: "shop",
      repo_id: "2",
    },
  };
}

function cleaned(message: string, author?: object) {
  const { value, remarks } = cleanSource(sourceOf(message, author));
  return { ...value.git.commit, remarks };
}

const CONTROLS = "has control characters. They were removed or replaced.";

describe("the limits of texts", () => {
  it("are those of the API", () => {
    expect(TEXT_LIMITS).toEqual({
      message: LIMITS.commitMessageLength.value,
      field: LIMITS.sourceLength.value,
      reason: LIMITS.descriptionLength.value,
    });
  });
});

describe("the message of a commit", () => {
  it.each([
    ["\u001b[31mred\u001b[0m", "red"],
    ["a\u0085b", "a\nb"],
    ["a\u0000b\u0007c\u009b", "abc"],
    ["a\ud800b", "a\ufffdb"],
  ])("%j becomes %j", (given, message) => {
    expect(cleaned(given)).toMatchObject({ message, remarks: [`The commit message ${CONTROLS}`] });
  });

  it("stays as it is, with lines, tabs and emoji", () => {
    const source = sourceOf("Scale up\r\n\n\tfor Friday 🎉\n");
    expect(cleanSource(source)).toEqual({ value: source, remarks: [] });
  });

  it("is cut beyond its limit, and not within a character", () => {
    const most = "x".repeat(TEXT_LIMITS.message);
    expect(cleaned(most)).toMatchObject({ message: most, remarks: [] });
    expect(cleaned(`${most}y`)).toMatchObject({
      message: `${most.slice(1)}…`,
      remarks: ["The commit message is longer than 20000 characters. The rest was cut."],
    });
    const { message } = cleaned(`${most.slice(2)}🎉y`);
    expect(message).toBe(`${most.slice(2)}…`);
  });
});

describe("the persons of a commit", () => {
  it.each([
    [{ name: "" }, {}, "name is empty. It was left out."],
    [{ name: " \u0085" }, {}, "name is empty. It was left out."],
    [{ name: "M\u001b[1mona\nB" }, { name: "Mona B" }, `name ${CONTROLS}`],
    [
      { email: "x".repeat(501) },
      { email: `${"x".repeat(499)}…` },
      "email is longer than 500 characters. The rest was cut.",
    ],
  ])("%j become %j", (given, author, remark) => {
    expect(cleaned("a", given)).toMatchObject({
      author,
      remarks: [`The commit author's ${remark}`],
    });
    expect(cleaned("a", given).author).toEqual(author);
  });
});

describe("a reason", () => {
  it("may be the message of a commit", () => {
    expect(cleanReason("Scale up\n\n\u001b[31mfor Friday")).toEqual({
      value: "Scale up for Friday",
      remarks: [`The reason ${CONTROLS}`],
    });
    expect(cleanReason("x".repeat(1_000)).remarks).toEqual([]);
    expect(cleanReason("x".repeat(1_001)).value).toHaveLength(1_000);
  });
});

describe("longshore deploy", () => {
  const service = useService();
  let user: CliUser;
  let environment: DeployedEnvironment;

  beforeAll(async () => {
    environment = await DeployedEnvironment.make(service, {});
    user = new CliUser({
      LONGSHORE_URL: service.url.origin,
      LONGSHORE_API_KEY: environment.apiKey,
    });
    await user.link({ project: environment.projectId, environment: "staging" });
  });

  afterAll(async () => {
    user.remove();
  });

  it("deploys commits that the service would refuse, and says what it changed", async () => {
    const message = `\u001b[1mScale up\u0085${"x".repeat(TEXT_LIMITS.message)}`;
    const source = sourceOf(message, { name: "" });
    writeFileSync(join(user.folder, "source.json"), JSON.stringify(source));
    const args = ["deploy", "--source", "source.json", "--reason", "one\ntwo", "--json"];
    const { stdout, stderr, status } = await user.run(args);
    expect([status, stderr]).toEqual([
      0,
      `The commit message ${CONTROLS}\n` +
        "The commit message is longer than 20000 characters. The rest was cut.\n" +
        "The commit author's name is empty. It was left out.\n" +
        `The reason ${CONTROLS}\n`,
    ]);
    const { data, reason } = JSON.parse(stdout);
    expect(data.source.git.commit.message).toMatch(/^Scale up\nx+…$/);
    expect(data.source.git.commit.author).toEqual({});
    expect(reason).toBe("one two");
  });
});
