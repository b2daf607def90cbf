import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type AuditRecord,
  type ChangelogEntry,
  groupByDay,
  joinEntries,
  mergeFeeds,
} from "../../packages/console/src/pages/activity/merge.ts";
import {
  auditedActionsOf,
  fitsFilter,
  isSecurity,
  kindOf,
} from "../../packages/console/src/pages/activity/model.ts";
import { sentenceOf } from "../../packages/console/src/pages/activity/sentence.ts";
import { AUDITED_ACTIONS } from "../../src/lib/resource-types.ts";

const ENVIRONMENT = { type: "environment", id: "environment", name: "production" };
const PROJECT = { type: "project", id: "project", name: "shop" };

interface Act {
  action: string;
  at?: number;
  id?: string;
  target?: { id: string; name?: string; trigger?: string };
  by?: string;
  parents?: readonly { type: string; id: string; name: string }[];
  before?: object;
  after?: object;
}

let made = 0;

function recordOf({ action, at = 0, id, target, by = "Ada", parents, ...changes }: Act) {
  made += 1;
  const first = { type: action.split(".")[0], id: "target", name: "A", ...target };
  return {
    id: id ?? `r${made}`,
    created_at: new Date(at).toISOString(),
    action,
    outcome: "success",
    actor: { type: "session", name: by, membership_id: by },
    source: { type: "session" },
    target: first,
    targets: [first, ...(parents ?? [ENVIRONMENT, PROJECT])],
    project_id: PROJECT.id,
    changes,
  } as unknown as AuditRecord;
}

function entryOf({ action, at = 0, id, target, by = "Ada", parents, ...changes }: Act) {
  made += 1;
  const [type = "", verb] = action.split(".");
  const first = { type, id: "target", name: "A", ...target };
  return {
    id: id ?? `e${made}`,
    created_at: new Date(at).toISOString(),
    action: verb,
    record: first,
    targets: [first, ...(parents ?? [ENVIRONMENT])],
    actor: { name: by, membership_id: by },
    project_id: PROJECT.id,
    ...changes,
  } as unknown as ChangelogEntry;
}

const newest = <T extends { id: string; created_at: string }>(entries: readonly T[]) =>
  entries.toSorted(
    (a, b) => Date.parse(b.created_at) - Date.parse(a.created_at) || (a.id < b.id ? 1 : -1),
  );

/** Acts of a few people on a few variables, often at nearly the same time, in one list or in both. */
const anyAct = fc.record({
  at: fc.oneof(fc.integer({ min: 0, max: 40_000 }), fc.integer({ min: 0, max: 5_000_000 })),
  action: fc.constantFrom("variable.created", "variable.updated", "variable.deleted"),
  target: fc.constantFrom({ id: "a" }, { id: "b" }),
  by: fc.constantFrom("Ada", "Grace"),
});
const anyLists = fc.record({
  both: fc.array(fc.tuple(anyAct, fc.integer({ min: -20, max: 20 })), { maxLength: 20 }),
  audited: fc.array(anyAct, { maxLength: 20 }),
  changed: fc.array(fc.tuple(anyAct, fc.boolean()), { maxLength: 20 }),
  sizes: fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1 }),
});

describe("the merged activity", () => {
  it("has every entry once, in order, whatever the pages", () => {
    fc.assert(
      fc.property(anyLists, ({ both, audited, changed, sizes }) => {
        const records = newest([...both.map(([act]) => act), ...audited].map(recordOf));
        const drifted = both.map(([act, drift]) => ({ ...act, at: Math.max(0, act.at + drift) }));
        const changelogs = [
          newest([...drifted, ...changed.flatMap(([act, is]) => (is ? [act] : []))].map(entryOf)),
          newest(changed.flatMap(([act, is]) => (is ? [] : [act])).map(entryOf)),
        ];
        const loaded = [0, 0, 0];
        const lists = [records, ...changelogs];
        const feeds = lists.map((_, at) => loaded[at] ?? 0);
        const shownOf = () => {
          const [audit, ...others] = lists.map((list, at) => {
            const count = feeds[at] ?? 0;
            return { items: list.slice(0, count), hasMore: count < list.length };
          });
          return mergeFeeds(audit as never, others as never);
        };
        const whole = joinEntries(records, changelogs.flat());
        const idsOf = (activities: typeof whole) =>
          activities.map(({ id, changes }) => [id, changes.map((each) => each.id)]);
        for (let page = 0; ; page += 1) {
          const { activities, next } = shownOf();
          // What is shown never changes, and nothing comes above it.
          expect(idsOf([...activities])).toEqual(idsOf(whole.slice(0, activities.length)));
          if (next === undefined) {
            expect(activities).toHaveLength(whole.length);
            break;
          }
          feeds[next] = (feeds[next] ?? 0) + (sizes[page % sizes.length] ?? 1);
        }
        const shown = whole.flatMap(({ record, changes }) => [record, ...changes]);
        const ids = shown.flatMap((each) => (each ? [each.id] : []));
        expect(ids.toSorted()).toEqual(
          lists
            .flat()
            .map(({ id }) => id)
            .toSorted(),
        );
        const times = whole.map(({ at }) => at);
        expect(times).toEqual(times.toSorted((a, b) => b - a));
      }),
      { numRuns: 300 },
    );
  });

  it("has an act once that both lists have, with the fields of the changelog", () => {
    const act = { action: "variable.updated", after: { version: 2 } };
    const acts = joinEntries([recordOf(act)], [entryOf({ ...act, at: 3 })]);
    expect(acts.map(({ changes }) => changes.length)).toEqual([1]);
    const others = [
      { ...act, by: "Grace" },
      { ...act, at: 6_000 },
      { ...act, target: { id: "other" } },
      { ...act, action: "variable.deleted" },
    ];
    for (const other of others) {
      expect(joinEntries([recordOf(act)], [entryOf(other)])).toHaveLength(2);
    }
  });

  it("has a member of a project once, whose actions differ in name", () => {
    const record = recordOf({ action: "project_member.added" });
    expect(joinEntries([record], [entryOf({ action: "project_member.created" })])).toHaveLength(1);
    const bulk = recordOf({ action: "project_members.added", target: { id: "project" } });
    const added = ["a", "b"].map((id) =>
      entryOf({ action: "project_member.created", target: { id } }),
    );
    expect(joinEntries([bulk], added).map(({ changes }) => changes.length)).toEqual([2]);
  });

  it("has a bulk write once, and not what was written elsewhere", () => {
    const bulk = recordOf({ action: "variables.written", target: { id: "environment" } });
    const component = { type: "component", id: "component", name: "api" };
    const entries = [
      entryOf({ action: "variable.created", target: { id: "a" } }),
      entryOf({ action: "variable.updated", target: { id: "b" } }),
      entryOf({
        action: "variable.updated",
        target: { id: "c" },
        parents: [component, ENVIRONMENT],
      }),
    ];
    const acts = joinEntries([bulk], entries);
    expect(acts.map(({ changes }) => changes.length).toSorted()).toEqual([1, 2]);
  });

  it("folds what a pool reads on a day, and nothing else", () => {
    const day = new Date(2026, 10, 27, 12).getTime();
    const read = { action: "variables.delivered", by: "runner-prod" };
    const acts = [
      ...[0, 1, 2].map((minute) => recordOf({ ...read, at: day - minute * 60_000 })),
      recordOf({ action: "variable.revealed", at: day - 90_000 }),
      recordOf({ action: "variable.revealed", at: day - 91_000 }),
      recordOf({ ...read, by: "runner-dev", at: day }),
      recordOf({ ...read, at: day - 24 * 3_600_000 }),
    ];
    const days = groupByDay(joinEntries(acts, []));
    expect(days.map(({ rows }) => rows.map(({ count }) => count).toSorted())).toEqual([
      [1, 1, 1, 3],
      [1],
    ]);
  });
});

const PROJECTS = new Map([["project", "shop"]]);
const say = (act: Act, { count = 1, isInProject = false } = {}) => {
  const isChange = act.action.startsWith("deployment.") && act.action !== "deployment.approved";
  const [activity] = isChange ? joinEntries([], [entryOf(act)]) : joinEntries([recordOf(act)], []);
  if (!activity) throw new Error("There is no act");
  return sentenceOf({ activity, count }, isInProject ? undefined : PROJECTS);
};
const textOf = (parts: ReturnType<typeof say>) => parts.map(({ text }) => text).join("");

describe("the sentence of an act", () => {
  const sha = { id: "deployment", name: "9f56614" };

  it.each<[string, Act]>([
    ["Ada deployed 9f56614 to shop / production", { action: "deployment.created", target: sha }],
    [
      "Ada promoted 9f56614 to shop / production",
      { action: "deployment.created", target: { ...sha, trigger: "promotion" } },
    ],
    [
      "Ada rolled back shop / production to 9f56614",
      { action: "deployment.created", target: { ...sha, trigger: "rollback" } },
    ],
    ["Ada approved 9f56614 for shop / production", { action: "deployment.approved", target: sha }],
    ["Ada changed A in shop / production", { action: "variable.updated" }],
    ["Ada deleted A", { action: "variable.deleted", parents: [] }],
    [
      "Ada created API key deploy",
      { action: "api_key.created", target: { id: "k", name: "deploy" }, parents: [] },
    ],
    ["Ada signed in", { action: "session.created" }],
    [
      "Ada changed the role of A from member to admin",
      { action: "member.role_changed", before: { role: "member" }, after: { role: "admin" } },
    ],
    [
      "Ada wrote variables of production in shop: A, B, C and 2 more",
      {
        action: "variables.written",
        target: { id: "environment", name: "production" },
        parents: [PROJECT],
        after: {
          created: { names: ["A", "B"], count: 3 },
          deleted: { names: ["C", "D"], count: 2 },
        },
      },
    ],
  ])("%s", (expected, act) => {
    expect(textOf(say(act))).toBe(expected);
  });

  it("leaves out the project on its own page", () => {
    expect(textOf(say({ action: "variable.updated" }, { isInProject: true }))).toBe(
      "Ada changed A in production",
    );
  });

  it("counts what a runner has read", () => {
    const read = { action: "variables.delivered", by: "runner-prod" };
    expect(textOf(say(read, { isInProject: true }))).toBe(
      "runner-prod read the variables of production",
    );
    expect(textOf(say(read, { count: 14, isInProject: true }))).toBe(
      "Variables of production read by runner-prod, 14 times",
    );
  });

  it("links to what still exists", () => {
    const linked = (act: Act) => say(act).flatMap(({ path }) => path ?? []);
    expect(linked({ action: "variable.updated" })).toEqual([
      "environments/environment/variables",
      "projects/project",
      "environments/environment",
    ]);
    expect(linked({ action: "variable.deleted" })).toEqual([
      "projects/project",
      "environments/environment",
    ]);
    expect(linked({ action: "variable.updated", parents: [] })).toEqual([]);
  });

  it("has no enum value, bracket or sign of its template, for any action", () => {
    for (const action of AUDITED_ACTIONS) {
      const parents = [[], [ENVIRONMENT, PROJECT]];
      for (const text of parents.map((each) => textOf(say({ action, parents: each })))) {
        expect(text, action).toMatch(/^Ada [a-z][^_*@[\]]+$/);
        expect(text, action).not.toMatch(/ {2}| $/);
      }
      const nameless = textOf(say({ action, target: { id: "target", name: "" } }));
      expect(nameless, action).not.toMatch(/(\w+) an? \1/);
    }
  });
});

describe("the filters", () => {
  it("give each action one kind, and ask the audit log for what fits", () => {
    for (const kind of ["deployments", "variables", "access", "settings"]) {
      const actions = auditedActionsOf({ kind, isSecurityOnly: false });
      expect(actions.length).toBeGreaterThan(0);
      expect(actions.map(kindOf)).toEqual(actions.map(() => kind));
    }
    expect(auditedActionsOf({ kind: "", isSecurityOnly: false })).toEqual([]);
    const both = auditedActionsOf({ kind: "variables", isSecurityOnly: true });
    expect(both).toEqual(["variable.revealed", "variables.revealed"]);
    expect(fitsFilter("variables.delivered", { kind: "", isSecurityOnly: true })).toBe(false);
    expect(isSecurity("environment.protection_changed")).toBe(true);
  });
});
