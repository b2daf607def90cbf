import {
  INHERITED_NAMES,
  INHERITED_ON_WINDOWS,
  REFUSED_NAMES,
  type RefusedNames,
  toPattern,
} from "../../../src/lib/refused-variables.ts";
import { RunnerError } from "./errors.ts";
import { PROXY_NAMES, proxySecrets } from "./proxies.ts";

/** What an environment can contain: with a `=` in its name, one variable could pose as another. */
const NAME = /^[A-Za-z_]\w*$/;
/** What `--allow-variables` accepts. */
export const REFUSED_CLASSES: readonly string[] = REFUSED_NAMES.flatMap((each) => each.class ?? []);

const INHERITED = [...INHERITED_NAMES, ...INHERITED_ON_WINDOWS];

export interface Variable {
  name: string;
  value: string;
}

interface Choices {
  /** The names of `--pass-env`. */
  passed: readonly string[];
  /** The names of `--show-env`, which are passed, too. */
  shown?: readonly string[];
  /** The names of `--allow-variable`. */
  allowed: readonly string[];
  /** The classes of `--allow-variables`. */
  allowedClasses?: readonly string[];
}

/** A shorter value would mask parts of ordinary words, such as the names of regions. */
export const MINIMUM_SECRET_LENGTH = 8;

/** The environment of the command: a few names of the runner's own, and the deployment's variables. */
export class CommandEnvironment {
  readonly #base: readonly Variable[];
  /** The proxies of the runner, for git and its own programs. */
  readonly #proxies: readonly Variable[];
  readonly #passed: ReadonlySet<string>;
  /** The values of `--pass-env` that no output may show, and the passwords of proxies. */
  readonly secrets: readonly string[];
  readonly #allowed: ReadonlySet<string>;
  readonly #refused: readonly RefusedNames[];
  readonly #isWindows: boolean;

  constructor(
    runnerEnvironment: NodeJS.Dict<string>,
    { passed, shown = [], allowed, allowedClasses = [] }: Choices,
    platform: NodeJS.Platform = process.platform,
  ) {
    this.#isWindows = platform === "win32";
    const names = [...passed, ...shown];
    this.#passed = new Set(names.map((name) => this.#normalize(name)));
    this.#allowed = new Set(allowed.map((name) => this.#normalize(name)));
    this.#refused = withoutClasses(allowedClasses);
    this.#base = Object.entries(runnerEnvironment).flatMap(([name, value]) =>
      value !== undefined && this.#isInBase(name) ? [{ name, value }] : [],
    );
    this.#proxies = Object.entries(runnerEnvironment).flatMap(([name, value]) =>
      value !== undefined && PROXY_NAMES.test(name) ? [{ name, value }] : [],
    );
    const present = new Set(this.#base.map(({ name }) => this.#normalize(name)));
    const missing = names.filter((name) => !present.has(this.#normalize(name)));
    if (missing.length > 0) {
      throw new RunnerError(
        `Not set in the runner's environment: ${missing.join(", ")}. Set each, or leave out its --pass-env ` +
          "or --show-env.",
        2,
      );
    }
    const passwords = proxySecrets(runnerEnvironment);
    this.secrets = [
      ...this.#findSecrets(shown),
      ...passwords.filter(({ length }) => length >= MINIMUM_SECRET_LENGTH),
    ];
  }

  /** What is inherited anyway, such as `HOME`, is in most outputs. */
  #findSecrets(shown: readonly string[]): string[] {
    const isShown = new Set(shown.map((name) => this.#normalize(name)));
    return this.#base.flatMap(({ name, value }) => {
      const isSecret =
        value.length >= MINIMUM_SECRET_LENGTH &&
        !this.#isInherited(name) &&
        !isShown.has(this.#normalize(name));
      return isSecret ? [value] : [];
    });
  }

  /** The names among these that no variable may have, each once, in alphabetical order. */
  findRefused(names: readonly string[]): string[] {
    return [...new Set(names)]
      .filter((name) => !this.#isAllowed(name) && this.#isRefused(name))
      .toSorted();
  }

  /** The class that `--allow-variables` would name, if there is one for this name. */
  classOf(name: string): string | undefined {
    if (this.#isInBase(name)) return undefined;
    return this.#refused.find((each) => this.#contains(each, name))?.class;
  }

  /** The last of several variables with the same name wins. */
  create(variables: readonly Variable[]): Record<string, string> {
    const byName = new Map<string, Variable>();
    for (const each of [...this.#base, ...variables]) byName.set(this.#normalize(each.name), each);
    return Object.fromEntries([...byName.values()].map(({ name, value }) => [name, value]));
  }

  /** For git and the runner's own programs, which reach other hosts through the same proxies as the runner. */
  createForTools(variables: readonly Variable[]): Record<string, string> {
    return this.create([...variables, ...this.#proxies]);
  }

  #isAllowed(name: string): boolean {
    return this.#allowed.has(this.#normalize(name));
  }

  #isRefused(name: string): boolean {
    const isDangerous = this.#refused.some((each) => this.#contains(each, name));
    return !NAME.test(name) || isDangerous || this.#isInBase(name);
  }

  #contains({ names, anyCase }: RefusedNames, name: string): boolean {
    return toPattern(names, anyCase === true || this.#isWindows).test(name);
  }

  /** Whether or not the name is set, so that a variable is refused on every machine or on none. */
  #isInBase(name: string): boolean {
    return this.#isInherited(name) || this.#passed.has(this.#normalize(name));
  }

  #isInherited(name: string): boolean {
    return toPattern(INHERITED, this.#isWindows).test(name);
  }

  /** Names that differ only in case are the same on Windows. */
  #normalize(name: string): string {
    return this.#isWindows ? name.toUpperCase() : name;
  }
}

function withoutClasses(allowed: readonly string[]): readonly RefusedNames[] {
  const unknown = allowed.filter((each) => !REFUSED_CLASSES.includes(each));
  if (unknown.length > 0) {
    throw new RunnerError(
      `There is no class of variables ${unknown.join(", ")}. Set --allow-variables to one of: ` +
        `${REFUSED_CLASSES.join(", ")}.`,
      2,
    );
  }
  return REFUSED_NAMES.filter((each) => !allowed.some((name) => name === each.class));
}
