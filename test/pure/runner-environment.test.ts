import { chmodSync, fstatSync, mkdtempSync, openSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { CommandEnvironment, REFUSED_CLASSES } from "../../packages/runner/src/environment.ts";
import { readOptions } from "../../packages/runner/src/options.ts";
import { warningOf } from "../../src/features/projects/variables/refusal.ts";
import { REFUSED_NAMES } from "../../src/lib/refused-variables.ts";

/** Names that deployments need. */
const ORDINARY = [
  ...["DATABASE_URL", "NODE_ENV", "PORT", "LOG_LEVEL", "API_KEY", "REDIS_URL", "DEBUG", "GREETING"],
  ...["AWS_REGION", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "TF_VAR_region", "NPM_TOKEN"],
  ...["RAILS_ENV", "DJANGO_SETTINGS_MODULE", "ASPNETCORE_ENVIRONMENT", "DOCKER_IMAGE", "PGHOST"],
  ...["ENVIRONMENT", "DIGIT", "PROXY", "env", "path", "UV_THREADPOOL_SIZE", "__proto__"],
];
/** Names that a list of such names must not miss. */
const DANGEROUS = [
  ...["BASH_ENV", "ENV", "IFS", "SHELLOPTS", "BASHOPTS", "PS4", "PROMPT_COMMAND", "CDPATH"],
  ...["GLOBIGNORE", "BASH_FUNC_echo", "LD_PRELOAD", "LD_LIBRARY_PATH", "DYLD_INSERT_LIBRARIES"],
  ...["NODE_OPTIONS", "NODE_PATH", "NODE_EXTRA_CA_CERTS", "npm_config_registry", "PYTHONPATH"],
  ...["NPM_CONFIG_SCRIPT_SHELL", "PERL5OPT", "RUBYOPT", "GEM_HOME", "BUNDLE_GEMFILE", "CLASSPATH"],
  ...["JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "GIT_SSH_COMMAND", "SSH_ASKPASS"],
  ...["http_proxy", "HTTPS_PROXY", "All_Proxy", "no_proxy", "SSL_CERT_FILE", "CURL_HOME", "PAGER"],
  ...["GCONV_PATH", "LOCPATH", "TF_CLI_CONFIG_FILE", "TF_CLI_ARGS_apply", "AWS_CONFIG_FILE"],
  ...["AWS_SHARED_CREDENTIALS_FILE", "KUBECONFIG", "EDITOR", "VISUAL", "LESSOPEN", "LESSCLOSE"],
  ...["HOSTALIASES", "RES_OPTIONS", "MALLOC_CHECK_", "GLIBC_TUNABLES", "DOTNET_STARTUP_HOOKS"],
  ...["AWS_PAGER", "LONGSHORE_STACK", "LONGSHORE_ANYTHING", "OPENSSL_CONF", "TAR_OPTIONS"],
];
const INHERITED = ["PATH", "HOME", "LANG", "LC_ALL", "TZ", "TERM", "TMPDIR", "USER", "SHELL"];
const TOKEN = `lsr_${"a".repeat(30)}`;

const folder = mkdtempSync(join(tmpdir(), "longshore-environment-"));

afterAll(() => rmSync(folder, { recursive: true }));

interface Choices {
  environment?: Record<string, string>;
  passed?: string[];
  allowed?: string[];
  platform?: NodeJS.Platform;
}

function commandEnvironment(choices: Choices = {}): CommandEnvironment {
  const { environment = {}, passed = [], allowed = [], platform = "linux" } = choices;
  return new CommandEnvironment(environment, { passed, allowed }, platform);
}

describe("a variable's name", () => {
  it("is refused if it changes how programs load or run, or is in the base environment", () => {
    const names = [...DANGEROUS, ...INHERITED];
    expect(commandEnvironment().findRefused(names)).toEqual(names.toSorted());
  });

  it("has a warning of the service if it is refused, whose options allow it", () => {
    const examples = REFUSED_NAMES.flatMap(({ names }) =>
      names.map((name) => name.replaceAll("*", "X")),
    );
    const names = [
      ...DANGEROUS,
      ...INHERITED,
      ...examples,
      ...ORDINARY,
      "XDG_CA_BUNDLE",
      "Http_Proxy",
      "Path",
    ];
    for (const name of names) {
      const isRefused = commandEnvironment().findRefused([name]).length > 0;
      const warning = warningOf(name) ?? "";
      expect(warning !== "", name).toBe(isRefused);
      if (!isRefused) continue;
      const options = (option: string) =>
        [...warning.matchAll(new RegExp(`${option} (\\w+)`, "g"))].map(([, value = ""]) => value);
      const allowedClasses = options("--allow-variables");
      const allowed = options("--allow-variable");
      const allowing = new CommandEnvironment({}, { passed: [], allowed, allowedClasses }, "linux");
      expect(allowing.findRefused([name]), warning).toEqual([]);
    }
    expect(warningOf("XDG_CA_BUNDLE")).toMatch(/\(loader, certificates\)/);
  });

  it("is accepted if it is an ordinary one", () => {
    expect(commandEnvironment().findRefused(ORDINARY)).toEqual([]);
    expect(commandEnvironment({ platform: "win32" }).findRefused(["DATABASE_URL"])).toEqual([]);
  });

  it("is refused in any case on Windows, and elsewhere only where programs ignore it", () => {
    const names = ["Path", "node_options", "Systemroot", "Http_Proxy", "npm_Config_x"];
    expect(commandEnvironment({ platform: "win32" }).findRefused(names)).toEqual(names.toSorted());
    expect(commandEnvironment().findRefused(names)).toEqual(["Http_Proxy", "npm_Config_x"]);
  });

  it("is refused if it could pose as another in the environment", () => {
    const names = ["BASH_ENV=/script ", "A\0B", "A\nB", "", "1A"];
    expect(commandEnvironment().findRefused(names)).toEqual(names.toSorted());
  });

  it("is refused if --pass-env names it, and accepted if --allow-variable does", () => {
    const environment = { AWS_REGION: "eu" };
    const passing = commandEnvironment({ environment, passed: ["AWS_REGION"] });
    expect(passing.findRefused(["AWS_REGION", "REGION"])).toEqual(["AWS_REGION"]);
    const allowing = commandEnvironment({ allowed: ["PATH", "BASH_ENV"] });
    expect(allowing.findRefused(["PATH", "BASH_ENV", "ENV", "ENV"])).toEqual(["ENV"]);
  });

  it("is accepted if --allow-variables names each of its classes", () => {
    const allowing = (...allowedClasses: string[]) =>
      new CommandEnvironment({}, { passed: [], allowed: [], allowedClasses }, "linux");
    const names = ["GIT_EDITOR", "KUBECONFIG", "PATH", "LONGSHORE_STACK"];
    expect(allowing("kubernetes", "git").findRefused(names)).toEqual([
      ...["GIT_EDITOR", "LONGSHORE_STACK", "PATH"],
    ]);
    const all = allowing(...REFUSED_CLASSES);
    expect(all.findRefused([...names, ...DANGEROUS, ...INHERITED])).toEqual(
      ["LONGSHORE_STACK", "LONGSHORE_ANYTHING", ...INHERITED].toSorted(),
    );
    expect(new Set(REFUSED_CLASSES).size).toBe(REFUSED_CLASSES.length);
    expect(() => allowing("kubernetes", "kube", "all")).toThrow(
      "There is no class of variables kube, all. Set --allow-variables to one of: shell, loader, ",
    );
  });

  it("names its class, unless the command gets it from the runner", () => {
    const names = ["KUBECONFIG", "HTTPS_PROXY", "PATH", "LONGSHORE_STACK", "PORT"];
    const classes = names.map((name) => commandEnvironment().classOf(name));
    expect(classes).toEqual(["kubernetes", "proxies", undefined, undefined, undefined]);
  });

  it("matches a pattern with whatever replaces the star, and none of its parts", () => {
    const tail = fc.stringMatching(/^\w{0,20}$/);
    const patterns = REFUSED_NAMES.flatMap(({ names }) => names);
    fc.assert(
      fc.property(fc.constantFrom(...patterns), tail, (pattern, text) => {
        const name = pattern.replace("*", text).replace(/^$|^(?=\d)/, "_");
        expect(commandEnvironment().findRefused([name])).toEqual([name]);
        expect(commandEnvironment({ allowed: [name] }).findRefused([name])).toEqual([]);
        const windows = commandEnvironment({ platform: "win32" });
        expect(windows.findRefused([name.toLowerCase()])).toEqual([name.toLowerCase()]);
        expect(commandEnvironment().findRefused([`MY_APP__${name}__`])).toEqual([]);
      }),
    );
  });
});

describe("the environment of the command", () => {
  const environment = { PATH: "/bin", LC_ALL: "C", SECRET: "s", BASH_ENV: "/x", REGION: "eu" };

  it("has the inherited names, those of --pass-env, and the variables", () => {
    const command = commandEnvironment({ environment, passed: ["REGION"] });
    expect(command.create([{ name: "PORT", value: "1" }])).toEqual({
      ...{ PATH: "/bin", LC_ALL: "C", REGION: "eu", PORT: "1" },
    });
  });

  it("has the last of several variables with one name, whatever its case on Windows", () => {
    const variables = [
      { name: "path", value: "1" },
      { name: "PORT", value: "1" },
      { name: "PORT", value: "2" },
    ];
    const linux = commandEnvironment({ environment: { Path: "no", PATH: "0" } });
    expect(linux.create(variables)).toEqual({ PATH: "0", path: "1", PORT: "2" });
    const windows = commandEnvironment({ environment: { Path: "0" }, platform: "win32" });
    expect(windows.create([])).toEqual({ Path: "0" });
    expect(windows.create(variables)).toEqual({ path: "1", PORT: "2" });
  });

  it("requires the names of --pass-env to be set, and names those that are not", () => {
    const start = (passed: string[]) => () => commandEnvironment({ environment, passed });
    expect(start(["REGION", "AWS_A", "AWS_B"])).toThrow(
      "Not set in the runner's environment: AWS_A, AWS_B.",
    );
    expect(start(["REGION"])).not.toThrow();
  });
});

describe("--backend-allow", () => {
  it("names settings of a backend", () => {
    const path = join(folder, "backend.token");
    writeFileSync(path, TOKEN, { mode: 0o600 });
    const args = ["--url", "http://localhost:8787", "--exec", "x", "--token-file", path];
    const read = (...names: string[]) =>
      readOptions([...args, ...names.flatMap((each) => ["--backend-allow", each])], {});
    expect(read().backendMembers).toEqual([]);
    expect(read("path", "workspace_dir").backendMembers).toEqual(["path", "workspace_dir"]);
    for (const wrong of ["", "path=x", "a.b", "1a", "*"]) {
      expect(() => read(wrong)).toThrow("Set --backend-allow to the name of one setting");
    }
  });
});

describe("the secrets of the runner's environment", () => {
  const environment = {
    ...{ TOKEN: "12345678", SHORT: "1234567", REGION: "eu-central-1", OTHER: "not passed" },
    ...{ HOME: "/home/ada", LANG: "en_GB.UTF-8" },
  };
  const passed = ["TOKEN", "SHORT", "HOME"];

  it("are the values of --pass-env from 8 characters on, but not those of inherited names", () => {
    const secrets = commandEnvironment({ environment, passed: [...passed, "REGION"] }).secrets;
    expect(secrets).toEqual(["12345678", "eu-central-1"]);
  });

  it("are not the values of --show-env, which reach the command like those of --pass-env", () => {
    const shown = ["REGION", "OTHER"];
    const command = new CommandEnvironment(environment, { passed, shown, allowed: [] }, "linux");
    expect(command.secrets).toEqual(["12345678"]);
    expect(command.create([])).toMatchObject({ REGION: "eu-central-1", OTHER: "not passed" });
    expect(command.findRefused(["REGION"])).toEqual(["REGION"]);
    const both = { passed: ["TOKEN"], shown: ["token"], allowed: [] };
    expect(new CommandEnvironment({ TOKEN: "12345678" }, both, "win32").secrets).toEqual([]);
    const missing = () => new CommandEnvironment({}, { passed: [], shown, allowed: [] });
    expect(missing).toThrow("Not set in the runner's environment: REGION, OTHER.");
  });
});

describe("the options of the runner", () => {
  const args = ["--url", "http://localhost:8787", "--exec", "./deploy.sh"];

  function write(content: string, mode = 0o600): string {
    const path = join(folder, "runner.token");
    writeFileSync(path, content);
    chmodSync(path, mode);
    return path;
  }

  const readFile = (path: string) =>
    readOptions([...args, "--token-file", path], {}).credential.token();

  it("read the token from a file, without the newline at its end", async () => {
    for (const end of ["", "\n", "\r\n"]) expect(await readFile(write(TOKEN + end))).toBe(TOKEN);
  });

  it("refuse a file that other users can read, and one without a token", async () => {
    for (const mode of [0o644, 0o640, 0o604]) {
      expect(() => readFile(write(TOKEN, mode))).toThrow(/^Other users can read .*`chmod 600`/);
    }
    for (const content of ["", `${TOKEN}\n\n`, `lsh_${TOKEN}`, `${TOKEN} x`]) {
      expect(() => readFile(write(content))).toThrow("Write the token of a runner pool (lsr_…)");
    }
    expect(() => readFile(join(folder, "missing"))).toThrow(/cannot be read .*: ENOENT\.$/);
    expect(await readFile(write(TOKEN, 0o400))).toBe(TOKEN);
  });

  it("read the token from a descriptor, and close it", async () => {
    const descriptor = openSync(write(TOKEN, 0o644), "r");
    const options = readOptions([...args, "--token-fd", String(descriptor)], {});
    expect(await options.credential.token()).toBe(TOKEN);
    expect(() => fstatSync(descriptor)).toThrow("EBADF");
    expect(() => readOptions([...args, "--token-fd", "999"], {})).toThrow(/: EBADF\.$/);
  });

  it("require one source of the token", () => {
    const path = write(TOKEN);
    const refused = [[], ["--token-fd", "1"], ["--token-fd", "x"]];
    for (const each of [...refused, ["--token-file", path, "--token-fd", "0"]]) {
      expect(() => readOptions([...args, ...each], {})).toThrow("Set either --token-file");
    }
    expect(() => readOptions([...args, "--token", TOKEN], {})).toThrow(/'--token'[\s\S]*Usage:/);
    expect(() => readOptions([...args, "--token", TOKEN], {})).not.toThrow(TOKEN);
  });

  it("refuse a token in the environment, and say what to do", () => {
    const withToken = { LONGSHORE_RUNNER_TOKEN: TOKEN };
    const read = () => readOptions([...args, "--token-file", write(TOKEN)], withToken);
    expect(read).toThrow(/^Unset LONGSHORE_RUNNER_TOKEN: .* --token-file PATH or --token-fd N\.$/);
    expect(read).not.toThrow(TOKEN);
  });
});
