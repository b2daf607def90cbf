import { execFile, execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, describe, expect, it } from "vitest";
import { parseField, toBody, toQuery } from "../../packages/cli/src/request-fields.ts";
import { type Operation, readContract } from "../../packages/reference/src/contract.ts";
import { renderCli } from "../../packages/reference/src/samples/cli.ts";
import { renderCurl } from "../../packages/reference/src/samples/curl.ts";
import {
  type ExampleRequest,
  exampleRequest,
} from "../../packages/reference/src/samples/request.ts";
import { quote } from "../../packages/reference/src/samples/shell.ts";
import { renderTypeScript } from "../../packages/reference/src/samples/typescript.ts";
import { readDocument } from "../../scripts/lib/document.ts";
import { ROOT } from "../../scripts/lib/wrangler.ts";

const { tags, schemas } = readContract(await readDocument());
const requests = tags.flatMap(({ operations }) =>
  operations.map((operation) => exampleRequest(operation, schemas)),
);
const byId = new Map(requests.map((each) => [each.operation.id, each]));
const folder = mkdtempSync(join(tmpdir(), "longshore-samples-"));
afterAll(() => rmSync(folder, { recursive: true }));

const SECRETS = {
  LONGSHORE_API_KEY: "an API key",
  LONGSHORE_RUNNER_TOKEN: "a runner token",
  LONGSHORE_BOOTSTRAP_TOKEN: "a bootstrap token",
  LONGSHORE_SESSION: "a session",
};

/** Prints the key and the arguments of each command, which end with a zero byte. */
const PRINT = `print_arguments() { printf '%s\\0' "$LONGSHORE_API_KEY" "$@"; printf '\\n\\0'; }
curl() { print_arguments "$@"; }
longshore() { print_arguments "$@"; }
`;

/** What a shell makes of commands: the key and the arguments of each. */
function evaluate(commands: readonly string[]): { key: string; args: string[] }[] {
  const script = PRINT + commands.join("\n");
  const printed = execFileSync("sh", ["-eu"], {
    input: script,
    env: { ...process.env, ...SECRETS },
    encoding: "utf8",
  });
  return printed
    .split("\0\n\0")
    .slice(0, -1)
    .map((each) => each.split("\0"))
    .map(([key = "", ...args]) => ({ key, args }));
}

function requestOf(id: string): ExampleRequest {
  const found = byId.get(id);
  if (!found) throw new Error(`There is no operation ${id}.`);
  return found;
}

/** The credential that a request sends, as the samples' variables have it. */
function secretOf({ credential }: Operation): string | undefined {
  return (
    credential &&
    `a${credential.id === "api_key" ? "n API key" : ` ${credential.id.replace("_", " ")}`}`
  );
}

describe("the curl samples", () => {
  const commands = evaluate(requests.map(renderCurl));

  it("are one command for each operation", () => {
    expect(requests.length).toBeGreaterThan(100);
    expect(commands).toHaveLength(requests.length);
  });

  it.each(requests.map((each, at) => [each.operation.id, each, at] as const))(
    "sends the example of %s",
    (_, request, at) => {
      const { operation, path, body } = request;
      const args = commands[at]?.args ?? [];
      const valuesOf = (option: string) =>
        args.flatMap((each, index) => (each === option ? [String(args[index + 1])] : []));
      const [url = ""] = args.filter((each) => each.startsWith("https://"));
      expect(new URL(url).pathname).toBe(path);
      expect(valuesOf("--request")).toEqual(operation.method === "GET" ? [] : [operation.method]);
      const secret = secretOf(operation);
      const header = secret === undefined ? [] : [operation.credential?.header(secret)];
      expect(valuesOf("--header").slice(0, header.length)).toEqual(header);
      expect(valuesOf("--data").map((each) => JSON.parse(each))).toEqual(
        body === undefined ? [] : [body],
      );
      for (const name of Object.keys(request.query))
        expect(new URL(url).searchParams.has(name)).toBe(true);
    },
  );

  it("send a text from a file, as text", () => {
    const command = renderCurl(requestOf("appendToLog"));
    expect(command).toContain("content-type: text/plain");
    expect(command).toContain("--data-binary @output.txt");
  });
});

describe("the samples of the command line", () => {
  const rendered = requests.flatMap((request) => {
    const command = renderCli(request);
    return command === undefined ? [] : [{ request, command }];
  });
  const commands = evaluate(rendered.map(({ command }) => command));

  it("are absent only where longshore api cannot send the request or print the response", () => {
    const absent = requests.filter((each) => renderCli(each) === undefined);
    expect(absent.map(({ operation }) => operation.id).toSorted()).toEqual([
      "appendToLog",
      "bootstrap",
      "endCurrentSession",
      "exportAuditLog",
      "listSessionOrganizations",
      "switchOrganization",
    ]);
    expect(commands).toHaveLength(rendered.length);
  });

  it.each(rendered.map(({ request }, at) => [request.operation.id, request, at] as const))(
    "sends the example of %s",
    (_, { operation, path, query, body }, at) => {
      const { key, args = [] } = commands[at] ?? {};
      const [command, method, target, ...fields] = args;
      expect([command, method, target]).toEqual(["api", operation.method, path]);
      expect(key).toBe(secretOf(operation) ?? "an API key");
      const parsed = fields.map(parseField);
      if (operation.method === "GET") {
        const texts = Object.entries(query).map(([name, value]) => [name, String(value)]);
        expect(toQuery(parsed)).toEqual(texts);
      } else {
        expect(JSON.parse(toBody(parsed))).toEqual(body ?? {});
      }
    },
  );
});

describe("the TypeScript samples", () => {
  it("compile with the client's types", async () => {
    const files = requests.map((request) => {
      const name = `${request.operation.id}.ts`;
      const code = renderTypeScript(request, schemas);
      writeFileSync(
        join(folder, name),
        `import { createClient } from "@longshore/client";
const longshore = createClient({ url: "https://longshore.example.com", apiKey: "a" });
${code}
`,
      );
      return name;
    });
    const options = {
      extends: join(ROOT, "tsconfig.json"),
      compilerOptions: {
        types: ["node"],
        typeRoots: [join(ROOT, "node_modules/@types")],
        paths: { "@longshore/client": [join(ROOT, "packages/client/src/index.ts")] },
        noUnusedLocals: false,
      },
      files,
      include: [],
    };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(options));
    const compiler = join(ROOT, "node_modules/typescript/bin/tsc");
    const { stdout } = await promisify(execFile)(process.execPath, [compiler, "-p", folder]).catch(
      (error: { stdout: string }) => error,
    );
    expect(stdout).toBe("");
  });

  it("loop over lists and streams, and name what they get", () => {
    const render = (id: string) => renderTypeScript(requestOf(id), schemas);
    expect(render("listProjects")).toContain("for await (const project of list)");
    expect(render("readLog")).toContain("for await (const event of events)");
    expect(render("putEnvironmentVariables")).not.toContain("for await");
    expect(render("createProject")).toMatch(/^const project = await longshore\.post\(/);
    expect(render("deleteProject")).toMatch(/^await longshore\.delete\(/);
  });
});

describe("all samples", () => {
  it("have no lines over 64 characters, except for those with a word of over 24", () => {
    const long = requests
      .flatMap((each) => [renderCurl(each), renderCli(each) ?? "", renderTypeScript(each, schemas)])
      .flatMap((code) => code.split("\n"))
      .filter((line) => line.length > 64);
    expect(long.filter((line) => !/[^\s"]{24}/.test(line))).toEqual([]);
  });

  it("quote what a shell would change, and nothing else", () => {
    const words = ["it's $HOME", "a b", "`id`", "*", "", "line\nline", "ünïcode", "~", "!", "#"];
    for (const word of words) {
      const [command] = evaluate([`longshore ${quote(word)}`]);
      expect(command?.args).toEqual([word]);
    }
    expect(quote("name=storefront")).toBe("name=storefront");
    expect(quote("/v1/projects")).toBe("/v1/projects");
  });
});
