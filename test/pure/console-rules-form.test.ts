import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type Rules,
  type Suggestions,
  toForm,
  toggle,
  toRules,
  turn,
  unitOf,
  verifiedBy,
  verifierOf,
  WEEK,
} from "../../packages/console/src/pages/protection/rules-form.ts";
import { ReplaceProtection } from "../../src/features/deployments/protection/input-schemas.ts";
import { toRules as withDefaults } from "../../src/features/deployments/protection/model.ts";

const SUGGESTED: Suggestions = { environmentId: "staging", timeZone: "Europe/Berlin" };
const OPEN: Rules = {
  access: { deploy: { role: "contributor" }, configure: { role: "contributor" } },
};

const ids = fc.uniqueArray(fc.uuid({ version: 7 }), { minLength: 1, maxLength: 4 });
const role = fc.constantFrom("owner" as const, "contributor" as const);
const members = fc.oneof(
  role.map((each) => ({ role: each })),
  ids.map((membership_ids) => ({ membership_ids })),
);
const optional = { requiredKeys: [] as [] };
const digits = fc.integer({ min: 0, max: 59 }).map((each) => String(each).padStart(2, "0"));
const time = fc
  .tuple(fc.integer({ min: 0, max: 23 }), digits)
  .map(([hour, minute]) => `${String(hour).padStart(2, "0")}:${minute}`);
const source = fc
  .tuple(
    fc.oneof(
      fc.constantFrom(
        { issuer: "https://gitlab.com" as const },
        { issuer: "https://token.actions.githubusercontent.com" as const },
      ),
      ids.map((trust_ids) => ({ trust_ids })),
    ),
    fc.record(
      {
        repository_id: fc.nat().map(String),
        ref: fc.constantFrom("refs/heads/main", "refs/tags/v*"),
        protected_ref: fc.boolean(),
      },
      { requiredKeys: ["repository_id", "ref"] },
    ),
  )
  .map(([verifier, rest]) => ({ ...verifier, ...rest }));

/** What the service accepts, with every rule or none. */
const input = fc.record(
  {
    access: fc.record({ deploy: members, configure: members }, optional),
    approvals: fc.record(
      {
        required: fc.integer({ min: 1, max: 6 }),
        approvers: members,
        prevent_self_approval: fc.boolean(),
        expires_after_seconds: fc.integer({ min: 60, max: 86_400 }),
      },
      { requiredKeys: ["required", "approvers"] },
    ),
    from: fc.record(
      {
        environment_ids: ids,
        minimum_seconds: fc.integer({ min: 0, max: 86_400 }),
        same_configuration: fc.record({
          except: fc.array(fc.constantFrom("/replicas", "/a b", "/~1x", "/")),
        }),
      },
      { requiredKeys: ["environment_ids"] },
    ),
    sources: fc.array(source, { minLength: 1, maxLength: 3 }),
    windows: fc.record({
      time_zone: fc.constantFrom("Europe/Berlin", "UTC"),
      weekly: fc.array(
        fc.record({
          days: fc.array(fc.constantFrom(...WEEK), { minLength: 1, maxLength: 7 }),
          from: time,
          to: time,
        }),
        { minLength: 1, maxLength: 3 },
      ),
    }),
    group: fc.constantFrom("production", "eu"),
    exempt: fc.array(fc.constantFrom("rollback" as const, "restart" as const), {
      minLength: 1,
      maxLength: 2,
    }),
  },
  optional,
);

describe("the form of the rules", () => {
  it("gives back every rule that it was filled with", () => {
    fc.assert(
      fc.property(input, (sent) => {
        expect(ReplaceProtection.safeParse(sent).error).toBeUndefined();
        const rules = (withDefaults(sent) ?? OPEN) as Rules;
        expect(toRules(toForm(rules, SUGGESTED))).toEqual(rules);
      }),
    );
  });

  it("keeps rules that it does not know", () => {
    const rules = { ...OPEN, canary: { percent: 5 } } as Rules;
    expect(toRules(toForm(rules, SUGGESTED))).toEqual(rules);
  });

  it("gives what the service accepts for each rule that is turned on, once a group has a name", () => {
    for (const name of ["approvals", "windows", "exempt", "access"] as const) {
      const rules = toRules(turn(toForm(OPEN, SUGGESTED), name, true));
      expect([name, ReplaceProtection.safeParse(rules).error]).toEqual([name, undefined]);
    }
    const grouped = turn(toForm(OPEN, SUGGESTED), "group", true);
    expect(ReplaceProtection.safeParse(toRules(grouped)).success).toBe(false);
  });

  it("lets owners alone configure once approvals are on, as the service does, and undoes that", () => {
    const on = turn(toForm(OPEN, SUGGESTED), "approvals", true);
    expect(toRules(on).access).toEqual({
      deploy: { role: "contributor" },
      configure: { role: "owner" },
    });
    expect(toRules(turn(on, "approvals", false))).toEqual(OPEN);
  });

  it("remembers a rule that is turned off and on again, and begins access with what holds", () => {
    const form = toForm({ ...OPEN, group: "eu" }, SUGGESTED);
    const off = turn(form, "group", false);
    expect(toRules(off)).toEqual(OPEN);
    expect(toRules(turn(off, "group", true))).toEqual({ ...OPEN, group: "eu" });
    const approved = turn(form, "approvals", true);
    expect(turn(approved, "access", true).access.value.configure).toEqual({ role: "owner" });
  });

  it("suggests the environment before, and leaves out lines and lists that are empty", () => {
    const form = turn(toForm(OPEN, SUGGESTED), "from", true);
    expect(toRules(form).from).toEqual({ environment_ids: ["staging"], minimum_seconds: 0 });
    const edited = {
      ...form,
      exempt: { isOn: true, value: [] },
      from: {
        isOn: true,
        value: { ...form.from.value, same_configuration: { except: ["/a", "", "/b"] } },
      },
    };
    expect(toRules(edited).from?.same_configuration).toEqual({ except: ["/a", "/b"] });
    expect(toRules(edited)).not.toHaveProperty("exempt");
  });
});

describe("the fields", () => {
  it("name who verifies a source, and keep the rest of it", () => {
    fc.assert(
      fc.property(source, source, (first, second) => {
        const changed = verifiedBy(first, verifierOf(second));
        expect(verifierOf(changed)).toBe(verifierOf(second));
        expect(changed).toMatchObject({ repository_id: first.repository_id, ref: first.ref });
        expect(verifiedBy(changed, verifierOf(first))).toEqual(first);
      }),
    );
    const nobody = { repository_id: "1", ref: "refs/heads/main" };
    expect(verifiedBy({ ...nobody, issuer: "https://gitlab.com" }, "")).toEqual(nobody);
  });

  it("show a time in the largest unit without a fraction", () => {
    expect([0, 59, 60, 5_400, 7_200, 86_400, 90_000].map(unitOf)).toEqual([
      3_600, 1, 60, 60, 3_600, 86_400, 3_600,
    ]);
  });

  it("keep the order of a week, with what has none at the end", () => {
    expect(toggle(["friday", "monday"], "tuesday", true, WEEK)).toEqual([
      "monday",
      "tuesday",
      "friday",
    ]);
    expect(toggle(["unknown", "b"], "a", true, ["a", "b"])).toEqual(["a", "b", "unknown"]);
    expect(toggle(["friday", "monday"], "friday", false, WEEK)).toEqual(["monday"]);
  });
});
