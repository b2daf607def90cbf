import { Argument, type Command } from "commander";
import type { CliContext } from "../session.ts";
import { CANDIDATES, type NameSource } from "./name-candidates.ts";

const SHELLS = ["bash", "zsh", "fish"] as const;

type Shell = (typeof SHELLS)[number];

interface Completion {
  /** The words before the one to complete, such as `projects create`. */
  words: string;
  candidates: { name: string; description: string }[];
  /** The options that a value follows. */
  valued: string[];
  /** Whose name may follow. */
  source: NameSource | undefined;
}

interface NamedOption {
  source: NameSource;
  long: string;
  short?: string;
  /** Absent: every command. */
  command?: string;
}

/** The options whose value is a name that the service knows. */
const NAMED_OPTIONS: readonly NamedOption[] = [
  { source: "projects", long: "--project", short: "-p" },
  { source: "environments", long: "--environment", short: "-e" },
  { source: "stacks", long: "--stack" },
  { source: "environments", long: "--to", command: "deployments promote" },
];

const SETUP = `
Set it up:
  bash  eval "$(longshore completion bash)"            in ~/.bashrc
  zsh   eval "$(longshore completion zsh)"             in ~/.zshrc, after compinit
  fish  longshore completion fish > ~/.config/fish/completions/longshore.fish`;

/** `longshore completion`: a script that completes commands and options in a shell. */
export function addCompletionCommand(program: Command, { output }: CliContext): void {
  program
    .command("completion")
    .description("print a script that completes commands and options")
    .addArgument(new Argument("<shell>").choices(SHELLS))
    .addHelpText("after", SETUP)
    .action((shell: Shell) => output.printExactly(`${RENDERERS[shell](completionsOf(program))}\n`));
}

/** What may follow each command. */
function completionsOf(command: Command, path: readonly string[] = []): Completion[] {
  const help = command.createHelp();
  help.showGlobalOptions = true;
  const commands = help.visibleCommands(command);
  const options = [...help.visibleOptions(command), ...help.visibleGlobalOptions(command)];
  const candidates = [
    ...commands.map((each) => ({ name: each.name(), description: each.description() })),
    ...command.registeredArguments.flatMap(({ argChoices = [], description }) =>
      argChoices.map((name) => ({ name, description })),
    ),
    ...options.map(({ long, description }) => ({ name: long ?? "", description })),
  ];
  const valued = options
    .filter(({ required }) => required)
    .flatMap(({ long, short }) => [long, short].filter((flag) => flag !== undefined));
  const named = candidates.filter(({ name }) => name !== "");
  const source = sourceOf(command, path);
  const own = { words: path.join(" "), candidates: named, valued, source };
  return [own, ...commands.flatMap((each) => completionsOf(each, [...path, each.name()]))];
}

/** The commands of a group take the names of its records. */
function sourceOf({ registeredArguments: [first] }: Command, path: readonly string[]) {
  if (first?.description !== "name or ID") return undefined;
  const sources = NAMED_OPTIONS.map(({ source }) => source);
  return path[0] === "link" ? "projects" : sources.find((each) => each === path[0]);
}

const RENDERERS: Record<Shell, (completions: readonly Completion[]) => string> = {
  bash: (completions) => `${renderLookup(completions)}
_longshore() {
  local candidate
  COMPREPLY=()
  while IFS= read -r candidate; do
    [[ $candidate == "\${COMP_WORDS[COMP_CWORD]}"* ]] && COMPREPLY+=("$(printf %q "$candidate")")
  done < <(_longshore_words "\${COMP_WORDS[@]:1:COMP_CWORD-1}")
}
complete -o default -F _longshore longshore`,
  zsh: (completions) => `${renderLookup(completions)}
_longshore() {
  local -a candidates
  candidates=(\${(f)"$(_longshore_words "\${(@)words[2,CURRENT-1]}")"})
  compadd -- $candidates || _files
}
compdef _longshore longshore`,
  fish: (completions) =>
    [
      `function __longshore_after
  set -l words (string match -v -- '-*' (commandline -opc)[2..-1])
  test "$words" = "$argv"
end
function __longshore_below
  string match -q -- "$argv*" (string match -v -- '-*' (commandline -opc)[2..-1] | string join ' ')
end
complete -c longshore -f`,
      ...completions.flatMap(renderFish),
      ...NAMED_OPTIONS.map(renderOptionInFish),
    ].join("\n"),
};

/** A function that prints the candidates, in lines, after the words that are not options. */
function renderLookup(completions: readonly Completion[]): string {
  const options = completions.flatMap(({ valued }) => valued);
  const cases = completions.filter(({ words }) => words !== "").map(renderCase);
  const top = completions.find(({ words }) => words === "");
  return `_longshore_words() {
  local command="" word previous=""
  for word in "$@"; do
    case " ${[...new Set(options)].join(" ")} " in *" $previous "*) previous=""; continue ;; esac
    case "$word" in
      --) return ;;
      -*) previous="$word" ;;
      *) previous="-"; command="\${command:+$command }$word" ;;
    esac
  done
  case "$previous" in
${NAMED_OPTIONS.map(renderOption).join("\n")}
  esac
  case "$command" in
${cases.reverse().join("\n")}
    '') printf '%s\\n' ${namesOf(top)} ;;
  esac
}`;
}

function renderOption({ source, long, short, command }: NamedOption): string {
  const names = `${namesInShell(source)}; return`;
  if (command) return `    ${long}) case "$command" in '${command} '*) ${names} ;; esac ;;`;
  return `    ${short ? `${long} | ${short}` : long}) ${names} ;;`;
}

function renderOptionInFish({ source, long, short, command }: NamedOption): string {
  const condition = command ? ` -n "__longshore_below ${command}"` : "";
  const flags = `-l ${long.slice(2)}${short ? ` -s ${short.slice(1)}` : ""}`;
  return `complete -c longshore${condition} ${flags} -xa '${namesInFish(source)}'`;
}

/** The longest commands are first: arguments may follow the words. */
function renderCase(completion: Completion): string {
  const { words, source } = completion;
  const candidates = `printf '%s\\n' ${namesOf(completion)}`;
  const first = source && `    '${words}') ${candidates}; ${namesInShell(source)} ;;`;
  const later = `    '${words}' | '${words} '*) ${candidates} ;;`;
  return [first ?? [], later].flat().join("\n");
}

/** Names of others are lines, which no shell evaluates. */
function namesInShell(source: NameSource): string {
  return `longshore ${CANDIDATES} ${source} -- "$@" 2>/dev/null`;
}

function namesInFish(source: NameSource): string {
  return `(longshore ${CANDIDATES} ${source} -- (commandline -opc)[2..-1] 2>/dev/null)`;
}

function namesOf(completion: Completion | undefined): string {
  return (completion?.candidates ?? []).map(({ name }) => name).join(" ");
}

function renderFish({ words, candidates, source }: Completion): string[] {
  const condition = `__longshore_after ${words}`.trimEnd();
  const names = source
    ? [`complete -c longshore -n "${condition}" -a '${namesInFish(source)}'`]
    : [];
  const fixed = candidates.map(({ name, description }) => {
    const what = name.startsWith("--") ? `-l ${name.slice(2)}` : `-a ${name}`;
    const text = description.replaceAll("\\", "\\\\").replaceAll("'", "\\'");
    return `complete -c longshore -n "${condition}" ${what} -d '${text}'`;
  });
  return [...fixed, ...names];
}
