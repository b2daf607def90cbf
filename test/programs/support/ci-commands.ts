/** A CI system that obeys lines of a job's log. */
interface CiSystem {
  name: string;
  /** Where it is said what it obeys. */
  source: string;
  /** What somebody may write into a log. */
  commands: readonly string[];
  /** Whether it obeys the line, as its source reads it. */
  obeys(line: string): boolean;
}

/** Collations of .NET ignore these, so a search for a text finds it among them. */
const IGNORED = /[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]/gu;
const visible = (line: string) => line.replaceAll(IGNORED, "");

export const CI_SYSTEMS: readonly CiSystem[] = [
  {
    name: "GitHub Actions",
    source: "https://github.com/actions/runner/blob/main/src/Runner.Common/ActionCommand.cs",
    commands: [
      "::set-output name=status::succeeded",
      "  ::stop-commands::canary",
      "\u2028::add-mask::a",
      "\u00ad:\u200b:error::canary",
      "##[error]canary",
      "text ##[set-env name=PATH]/tmp",
      "text #\u00ad#[add-path]/tmp",
      "##\u2060[command]canary",
    ],
    obeys: (line) => visible(line).trimStart().startsWith("::") || visible(line).includes("##["),
  },
  {
    name: "Azure Pipelines",
    source:
      "https://github.com/microsoft/azure-pipelines-agent/blob/master/src/Microsoft.VisualStudio.Services.Agent/Command.cs",
    commands: [
      "##vso[task.setvariable variable=PATH]/tmp",
      "text ##vso[task.complete result=Succeeded;]",
      "##v\u200dso[task.setvariable variable=a]b",
      "##[section]canary",
      "##[group]canary",
    ],
    obeys: (line) => /##(vso)?\[/.test(visible(line)),
  },
  {
    name: "TeamCity",
    source: "https://www.jetbrains.com/help/teamcity/service-messages.html",
    commands: [
      "##teamcity[buildStatus status='SUCCESS']",
      "text ##teamcity[setParameter name='a']",
    ],
    obeys: (line) => visible(line).includes("##teamcity["),
  },
  {
    name: "Buildkite",
    source: "https://buildkite.com/docs/pipelines/configure/managing-log-output",
    commands: [
      "--- canary",
      "+++ canary",
      "~~~ canary",
      "^^^ +++",
      "\u001b]1338;url='https://canary.example.com/a.png'\u0007",
      "\u001b_bk;t=1\u0007canary",
    ],
    // biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with one.
    obeys: (line) => /^(---|\+\+\+|~~~|\^\^\^)|\x1b/.test(line),
  },
  {
    name: "GitLab",
    source: "https://docs.gitlab.com/ci/jobs/job_logs/#custom-collapsible-sections",
    commands: [
      "section_start:1560896352:canary[collapsed=true]\r\u001b[0KTitle",
      "text section_end:1560896353:canary\r\u001b[0K",
    ],
    obeys: (line) => /section_(start|end):\d+:.*\r/.test(line),
  },
  {
    name: "Travis",
    source:
      "https://github.com/travis-ci/travis-build/blob/master/lib/travis/build/bash/travis_fold.bash",
    commands: [
      "travis_fold:start:canary\r\u001b[0K",
      "travis_time:end:1:start=1,finish=2\r\u001b[0K",
    ],
    obeys: (line) => /travis_(fold|time):.*\r/.test(line),
  },
  {
    name: "Jenkins",
    source:
      "https://github.com/jenkinsci/jenkins/blob/master/core/src/main/java/hudson/console/ConsoleNote.java",
    commands: ["\u001b[8mha:////4AAAA\u001b[0mcanary"],
    obeys: (line) => line.includes("\u001b[8mha:"),
  },
];

/** Each command with the system that obeys it. */
export const CI_COMMANDS = CI_SYSTEMS.flatMap(({ name, commands, obeys }) =>
  commands.map((command) => ({ name, command, obeys })),
);
