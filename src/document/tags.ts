/** The sections of the OpenAPI document, in their order. */
export const TAGS = [
  { name: "Organizations", description: "Tenants and their members." },

  {
    name: "Invitations",
    description:
      "An administrator invites a person by e-mail address, and passes on a link that works once.",
  },

  {
    name: "Account",
    description: "Who a key belongs to, and what a person can do with their own account.",
  },

  {
    name: "Service accounts",
    description: "Memberships of programs. They remain when the people who created them leave.",
  },

  {
    name: "API keys",
    description: "Credentials for one organization. Each key belongs to one membership.",
  },

  {
    name: "Sessions",
    description: "A person signs in at a browser, with an API key or a link that works once.",
  },

  {
    name: "Runner pools",
    description: "Groups of runners, and the environments whose deployments they execute.",
  },

  {
    name: "Trusts",
    description:
      "Rules that let CI jobs exchange a token of their CI system for a key that expires soon, so " +
      "that no key is stored in the CI system.",
  },

  {
    name: "Projects",
    description: "The applications of a team, and their connections to a cloud provider.",
  },

  {
    name: "Changelog",
    description: "The changes to the records of a project: who made them, and when.",
  },
  { name: "Project members", description: "The roles of members in a project." },

  { name: "Environments", description: "Where a project runs, and with which configuration." },
  { name: "Components", description: "The parts of an app in an environment." },
  { name: "Stacks", description: "The units that are provisioned in an environment." },
  { name: "Alarms", description: "The reported health of stacks." },

  {
    name: "Variables",
    description: "Encrypted values for components and environments.",
  },

  {
    name: "Deployments",
    description: "Changes of an environment to a configuration and source.",
  },

  {
    name: "Resources",
    description: "The parts of stacks at the provider, as runners report them.",
  },
  { name: "Runners", description: "Claiming, executing and reporting deployments." },

  { name: "Logs", description: "What the commands of runners print, live and stored." },

  {
    name: "Notification integrations",
    description: "The destinations of a project's events, and the events they receive.",
  },

  {
    name: "Events",
    description:
      "What happened in a project. Integrations receive the events that they subscribe to.",
  },

  {
    name: "Deliveries",
    description: "The events sent to an integration, and the result of each attempt.",
  },
  {
    name: "Webhooks",
    description:
      "Longshore sends events to a webhook by POST, signed as Standard Webhooks specifies: its " +
      "libraries verify them. The type in the body is one of those below. An event may arrive more " +
      "than once, with the same `webhook-id`, and events may arrive in any order.",
  },

  {
    name: "Recoveries",
    description: "New deliveries, in the background, of what failed in a period.",
  },

  {
    name: "Audit log",
    description: "Who did what in the organization, when, and from where.",
  },
  { name: "Service", description: "Set-up, health, and this reference." },
];
