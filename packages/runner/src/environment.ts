import { RunnerError } from "./errors.ts";
import { REFUSED_NAMES } from "./refused-variables.ts";

/** Names that the command inherits from the runner. `*` stands for any characters. */
export const INHERITED_NAMES: readonly string[] = [
  ...["PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "TMPDIR", "TZ"],
  ...["LANG", "LANGUAGE", "LC_*"],
];

/** Without these, programs do not start on Windows, or find no folder to write to. */
export const INHERITED_ON_WINDOWS: readonly string[] = [
  ...["SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "TEMP", "TMP", "USERNAME"],
  ...["USERPROFILE", "HOMEDRIVE", "HOMEPATH", "APPDATA", "LOCALAPPDATA", "PROGRAMDATA"],
  ...["PROGRAMFILES"],
];

/** What an environment can contain: with a `=` in its name, one variable could pose as another. */
const NAME = /^[A-Za-z_]\w*$/;
const INHERITED = [...INHERITED_NAMES, ...INHERITED_ON_WINDOWS];

export interface Variable {
  name: string;
  value: string;
}

interface Choices {
  /** The names of `--pass-env`. */
  passed: readonly string[];
  /** The names of `--allow-variable`. */
  allowed: readonly string[];
}

/** The environment of the command: a few names of the runner's own, and the deployment's variables. */
export class CommandEnvironment {
  readonly #base: readonly Variable[];
  readonly #passed: ReadonlySet<string>;
  readonly #allowed: ReadonlySet<string>;
  readonly #isWindows: boolean;

  constructor(
    runnerEnvironment: NodeJS.Dict<string>,
    { passed, allowed }: Choices,
    platform: NodeJS.Platform = process.platform,
  ) {
    this.#isWindows = platform === "win32";
    this.#passed = new Set(passed.map((name) => this.#normalize(name)));
    this.#allowed = new Set(allowed.map((name) => this.#normalize(name)));
    this.#base = Object.entries(runnerEnvironment).flatMap(([name, value]) =>
      value !== undefined && this.#isInBase(name) ? [{ name, value }] : [],
    );
    const present = new Set(this.#base.map(({ name }) => this.#normalize(name)));
    const missing = passed.filter((name) => !present.has(this.#normalize(name)));
    if (missing.length === 0) return;
    throw new RunnerError(
      `Not set in the runner's environment: ${missing.join(", ")}. Set each, or leave out its --pass-env.`,
      2,
    );
  }

  /** The names among these that no variable may have, each once, in alphabetical order. */
  findRefused(names: readonly string[]): string[] {
    return [...new Set(names)]
      .filter((name) => !this.#isAllowed(name) && this.#isRefused(name))
      .toSorted();
  }

  /** The last of several variables with the same name wins. */
  create(variables: readonly Variable[]): Record<string, string> {
    const byName = new Map<string, Variable>();
    for (const each of [...this.#base, ...variables]) byName.set(this.#normalize(each.name), each);
    return Object.fromEntries([...byName.values()].map(({ name, value }) => [name, value]));
  }

  #isAllowed(name: string): boolean {
    return this.#allowed.has(this.#normalize(name));
  }

  #isRefused(name: string): boolean {
    const isDangerous = REFUSED_NAMES.some(({ names, anyCase = false }) =>
      matchesAny(name, names, anyCase || this.#isWindows),
    );
    return !NAME.test(name) || isDangerous || this.#isInBase(name);
  }

  /** Whether or not the name is set, so that a variable is refused on every machine or on none. */
  #isInBase(name: string): boolean {
    return matchesAny(name, INHERITED, this.#isWindows) || this.#passed.has(this.#normalize(name));
  }

  /** Names that differ only in case are the same on Windows. */
  #normalize(name: string): string {
    return this.#isWindows ? name.toUpperCase() : name;
  }
}

function matchesAny(name: string, patterns: readonly string[], ignoresCase: boolean): boolean {
  return patterns.some((pattern) =>
    new RegExp(`^${pattern.replaceAll("*", ".*")}$`, ignoresCase ? "i" : "").test(name),
  );
}
