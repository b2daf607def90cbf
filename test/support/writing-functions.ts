/** Text of source files, by their path below `src/`. */
export type Sources = Readonly<Record<string, string>>;

interface Name {
  file: string;
  name: string;
}

interface Module {
  /** Names that are imported or exported from elsewhere. The name `*` is all of a file. */
  names: Map<string, Name>;
  /** The text of its functions, constants and classes. */
  declarations: Map<string, string>;
}

/** Before a name that is not a property. Three dots may be before it. */
const START = String.raw`(?<!\w|(?<!\.)\.)`;

const REFERENCE = new RegExp(String.raw`${START}(\w+)(?:\.(\w+))?`, "g");

const BATCH: Name = { file: "db/batch.ts", name: "batch" };

const WRITES = /\bdb\s*\.\s*(?:insert|update|delete|run)\(|\binsertFrom\(|\.deletionOf\(/;

/**
 * The functions that run a statement that writes, in a batch or by itself, or a batch of statements that
 * they are given: as `file: function`. Follows the calls by which the statements are built, through files
 * and indexes.
 */
export function findWritingFunctions(sources: Sources): string[] {
  const code = new Code(sources);
  return code
    .declarations()
    .filter(({ file, text }) => code.runsWritingBatch(file, text) || code.awaitsWriting(file, text))
    .map(({ file, name }) => `${file}: ${name}`);
}

class Code {
  readonly #modules: ReadonlyMap<string, Module>;

  constructor(sources: Sources) {
    const modules = Object.entries(sources).map(
      ([file, text]) => [file, parse(file, withoutComments(text))] as const,
    );
    this.#modules = new Map(modules);
  }

  declarations() {
    return [...this.#modules].flatMap(([file, { declarations }]) =>
      [...declarations].map(([name, text]) => ({ file, name, text })),
    );
  }

  runsWritingBatch(file: string, text: string): boolean {
    return [...(this.#modules.get(file)?.names ?? [])]
      .filter(([, name]) => name.file === BATCH.file && name.name === BATCH.name)
      .flatMap(([alias]) => callsOf(alias, text))
      .some((statements) => {
        const built = withLocals(statements, text);
        return isGiven(statements, built) || this.#writes(file, built, new Set());
      });
  }

  /** Not of an async function, which runs its statements itself. */
  awaitsWriting(file: string, text: string): boolean {
    return [...text.matchAll(/\bawait ((?:\w+\.)?\w+)\(/g)]
      .flatMap(([, called = ""]) => this.#referenced(file, called))
      .some((found) => {
        const built = this.#textOf(found);
        return !/\basync\b/.test(built) && this.#writes(found.file, built, new Set());
      });
  }

  #writes(file: string, text: string, seen: Set<string>): boolean {
    if (WRITES.test(text)) return true;
    return this.#referenced(file, text).some((found) => {
      const key = `${found.file}: ${found.name}`;
      if (seen.has(key)) return false;
      seen.add(key);
      return this.#writes(found.file, this.#textOf(found), seen);
    });
  }

  #referenced(file: string, text: string): Name[] {
    return [...text.matchAll(REFERENCE)].flatMap(([, first = "", second]) => {
      const namespace = this.#modules.get(file)?.names.get(first);
      const isAll = namespace?.name === "*" && second !== undefined;
      const found = isAll ? { file: namespace.file, name: second } : { file, name: first };
      return this.#resolve(found) ?? [];
    });
  }

  #resolve({ file, name }: Name): Name | undefined {
    const module = this.#modules.get(file);
    if (!module || module.declarations.has(name)) return module && { file, name };
    const other = module.names.get(name);
    return other && this.#resolve(other);
  }

  #textOf({ file, name }: Name): string {
    return this.#modules.get(file)?.declarations.get(name) ?? "";
  }
}

function withoutComments(text: string): string {
  return text.replaceAll(/\/\*[\s\S]*?\*\//g, "").replaceAll(/(^|\s)\/\/.*$/gm, "");
}

function parse(file: string, text: string): Module {
  const names = new Map<string, Name>();
  const clauses = /^(?:import|export) (?:\{([^}]*)\}|\* as (\w+)) from "(\.[^"]+)";/gm;
  for (const [, list = "", namespace, specifier = ""] of text.matchAll(clauses)) {
    const other = new URL(specifier, `https://src/${file}`).pathname.slice(1);
    if (namespace !== undefined) names.set(namespace, { file: other, name: "*" });
    for (const [, isType, name = "", alias = name] of list.matchAll(
      /(type )?\b(\w+)(?: as (\w+))?/g,
    )) {
      if (isType === undefined) names.set(alias, { file: other, name });
    }
  }
  const declarations = text
    .split(/^(?=(?:import|export|async|function|const|class|interface|type)\b)/m)
    .flatMap((part) => {
      const [, name] = /^(?:export )?(?:async )?(?:function\*?|const|class) (\w+)/.exec(part) ?? [];
      return name === undefined ? [] : [[name, part] as const];
    });
  return { names, declarations: new Map(declarations) };
}

/** The arguments of each call after the first one, which is the database. */
function callsOf(name: string, text: string): string[] {
  return [...text.matchAll(new RegExp(String.raw`${START}${name}\(`, "g"))].map(
    ({ index, 0: start }) => {
      const from = index + start.length;
      let depth = 1;
      let at = from;
      for (; depth > 0 && at < text.length; at += 1) {
        if ("([{".includes(text.charAt(at))) depth += 1;
        if (")]}".includes(text.charAt(at))) depth -= 1;
      }
      const all = text.slice(from, at - 1);
      return all.slice(all.indexOf(",") + 1).trim();
    },
  );
}

/** With the values of the constants of the function that the statements name. */
function withLocals(statements: string, text: string): string {
  const constants = [...text.matchAll(/^( +)const ((?:.|\n)+?) = (.*;$|(?:.|\n)*?^\1[^\s].*;$)/gm)]
    .map(([, , pattern = "", value = ""]) => ({ names: pattern.match(/\w+/g) ?? [], value }))
    // They return what they have found.
    .filter(({ value }) => !/^await require/.test(value));
  let built = statements;
  for (let before = ""; before !== built; ) {
    before = built;
    for (const constant of constants) {
      const isUsed = constant.names.some((name) =>
        new RegExp(String.raw`${START}${name}\b`).test(built),
      );
      if (isUsed && !built.includes(constant.value)) built += `\n${constant.value}`;
    }
  }
  return built;
}

/** Whether the statements are a parameter, so that the function may run any. */
function isGiven(statements: string, built: string): boolean {
  return /^\w+,?$/.test(statements) && statements === built;
}
