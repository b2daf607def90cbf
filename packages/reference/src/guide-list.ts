/** The guides, in the order of the contents: files of docs/, and the tags that they explain. */
export const GUIDE_FILES = [
  {
    slug: "first-deployment",
    title: "Your first deployment",
    file: "first-deployment.md",
    tags: ["Projects", "Environments", "Components", "Stacks", "Deployments"],
  },
  {
    slug: "to-production",
    title: "From a repository to production",
    file: "to-production.md",
    tags: [],
  },
  {
    slug: "protection",
    title: "Protected environments",
    file: "protection.md",
    tags: [],
  },
  { slug: "variables", title: "Variables", file: "variables.md", tags: ["Variables"] },
  {
    slug: "runners",
    title: "Run a runner",
    file: "runners.md",
    tags: ["Runner pools"],
  },
  {
    slug: "write-a-runner",
    title: "Write a runner",
    file: "write-a-runner.md",
    tags: ["Runners", "Resources", "Alarms"],
  },
  {
    slug: "webhooks",
    title: "Webhooks and Slack",
    file: "notifications.md",
    tags: ["Notification integrations", "Events", "Deliveries", "Recoveries"],
  },
  { slug: "logs", title: "Logs", file: "logs.md", tags: ["Logs"] },
  { slug: "safe-writes", title: "Safe writes", file: "safe-writes.md", tags: [] },
  { slug: "ci", title: "CI", file: "ci.md", tags: ["Trusts"] },
  {
    slug: "self-hosting",
    title: "A machine of your own",
    file: "self-hosting.md",
    tags: ["Service"],
  },
  { slug: "operations", title: "Operations", file: "operations.md", tags: ["Service"] },
] as const satisfies readonly {
  slug: string;
  title: string;
  file: string;
  tags: readonly string[];
}[];

/** The guide that explains the operations of a tag, if one does. */
export function guideOfTag(tag: string): { slug: string; title: string } | undefined {
  return GUIDE_FILES.find(({ tags }) => tags.some((each) => each === tag));
}
