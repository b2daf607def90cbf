import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { EVENT_TYPES, type EventType } from "../../src/features/housekeeping/outbox/events.ts";
import { quote, shorten } from "../../src/features/notifications/slack/block-kit.ts";
import { toSlackMessage } from "../../src/features/notifications/slack/message.ts";

const RUNS = 500;
const ORIGIN = "https://longshore.example.com";
const ID = "1C4dSLTQ9wKmCkmG3EtMZp";
const LARGEST = 20_000;

/** Names that are long, escaped, malformed or composed. */
const name = fc.oneof(
  fc.string({ unit: "binary", maxLength: 300 }),
  fc.string({ unit: "grapheme", maxLength: 300 }),
  fc.constantFrom(
    "&".repeat(300),
    "<!channel> & <https://evil.example|click>",
    "*_~`|>",
    "é".repeat(300),
    "🏴󠁧󠁢󠁥󠁮󠁧󠁿".repeat(40),
    '"\\'.repeat(150),
    "\ud800".repeat(200),
    "漢".repeat(300),
    " \n\t\u0000 ",
    "&lt;!here&gt;",
    "",
  ),
);
const id = fc.oneof(fc.constant(ID), name);
const named = fc.record({ id, name }, { requiredKeys: [] });
const changed = fc.record({ type: fc.oneof(fc.constant("stack"), name), id, name });
const output = fc.record({
  stack_id: id,
  name: fc.oneof(fc.constant("url"), name),
  value: fc.oneof(fc.webUrl({ withFragments: true, withQueryParameters: true }), name),
});
const data = fc.oneof(
  { weight: 1, arbitrary: fc.jsonValue() },
  {
    weight: 5,
    arbitrary: fc.record(
      {
        deployment_id: id,
        from_deployment_id: id,
        integration_id: id,
        status: name,
        failure_reason: name,
        state: name,
        reason: name,
        name,
        action: name,
        project: named,
        environment: named,
        from_environment: named,
        stack: named,
        record: changed,
        entries: fc.array(fc.record({ action: name, record: changed }), { maxLength: 60 }),
        count: fc.integer({ min: 0, max: 1_000 }),
        stacks: fc.array(fc.record({ id, name, status: name }), { maxLength: 40 }),
        outputs: fc.array(output, { maxLength: 5 }),
        message: name,
        comment: name,
        conditions: fc.array(name, { maxLength: 20 }),
        starts_at: fc.oneof(fc.constant("2026-11-26T00:00:00.000Z"), name),
      },
      { requiredKeys: [] },
    ),
  },
);
const payload = fc.record({
  id,
  type: fc.constantFrom(...EVENT_TYPES),
  timestamp: fc
    .date({ min: new Date(0), max: new Date("9999-01-01"), noInvalidDate: true })
    .map((date) => date.toISOString()),
  data,
});
const origin = fc.option(fc.constant(ORIGIN), { nil: undefined });

interface Text {
  type: string;
  text: string;
}
type AnyBlock = { type: string; text?: Text; fields?: Text[]; elements?: Text[] };

const LIMITS: Record<string, number> = { header: 150, section: 3000, context: 3000, field: 2000 };

function textsOf({ type, text, fields = [], elements = [] }: AnyBlock) {
  return [
    ...(text ? [{ ...text, limit: LIMITS[type] }] : []),
    ...fields.map((each) => ({ ...each, limit: LIMITS["field"] })),
    ...elements.map((each) => ({ ...each, limit: LIMITS[type] })),
  ];
}

const MARKUP = [
  /<https:\/\/longshore\.example\.com\/console\/(?:projects|environments|stacks|deployments)\/[1-9A-HJ-NP-Za-km-z]{22}(?:\/approve)?\|([^<>]*)>/g,
  /<!date\^\d+\^\{date_short_pretty\} \{time_secs\}\|([^<>|]*)>/g,
  /<https?:\/\/(?:[^<>|&]|&amp;)+>/g,
  /&(amp|lt|gt);/g,
];

function unescaped(text: string): string {
  return MARKUP.reduce((rest, markup) => rest.replace(markup, "$1"), text).replace(/[^<>&]/g, "");
}

describe("a Slack message, for any data of an event", () => {
  const every = (check: (blocks: AnyBlock[], text: string) => void) =>
    fc.assert(
      fc.property(payload, origin, (event, from) => {
        const { blocks, text } = toSlackMessage(event, from);
        check(blocks as AnyBlock[], text);
      }),
      { numRuns: RUNS },
    );

  it("respects the limits of Block Kit", () => {
    every((blocks, text) => {
      expect(blocks.length).toBeLessThanOrEqual(50);
      expect(text.length).toBeGreaterThan(0);
      for (const block of blocks) {
        expect(["header", "section", "context"]).toContain(block.type);
        expect((block.fields ?? []).length).toBeLessThanOrEqual(10);
        expect((block.elements ?? []).length).toBeLessThanOrEqual(10);
        const texts = textsOf(block);
        expect(texts.length).toBeGreaterThan(0);
        for (const each of texts) {
          expect(each.type).toBe(block.type === "header" ? "plain_text" : "mrkdwn");
          expect(each.text.length).toBeGreaterThan(0);
          expect(each.text.length).toBeLessThanOrEqual(Number(each.limit));
        }
      }
    });
  });

  it("has no control characters of Slack except in its own links and dates", () => {
    every((blocks, text) => {
      const texts = [text, ...blocks.flatMap(textsOf).map((each) => each.text)];
      expect(texts.filter((each) => unescaped(each) !== "")).toEqual([]);
    });
  });

  it("is well-formed Unicode, and under 20 KB", () => {
    every((blocks, text) => {
      const json = JSON.stringify({ text, blocks });
      expect(new TextEncoder().encode(json).length).toBeLessThan(LARGEST);
      expect([text, ...blocks.flatMap(textsOf).map((each) => each.text)]).toSatisfy(
        (texts: string[]) => texts.every((each) => each.isWellFormed()),
      );
    });
  });
});

it("a Slack message is under 20 KB even if every name has the maximum length", () => {
  const long = { id: "&".repeat(300), name: "&".repeat(300), status: "&".repeat(300) };
  const places = { project: long, environment: long, from_environment: long, stack: long };
  const data = { ...long, ...places, record: { ...long, type: long.name } };
  const texts = { message: long.name, comment: long.name, conditions: Array(20).fill(long.name) };
  const rest = { failure_reason: long.name, reason: long.name, action: long.name, ...texts };
  const stacks = Array.from({ length: 40 }, () => long);
  const url = `https://example.com/?${"&".repeat(95)}`;
  const outputs = Array.from({ length: 5 }, () => ({ stack_id: long.id, name: "url", value: url }));
  for (const type of EVENT_TYPES) {
    const timestamp = "2026-11-21T09:30:00.000Z";
    const event = { id: long.id, type, timestamp, data: { ...data, ...rest, stacks, outputs } };
    const json = JSON.stringify(toSlackMessage(event, ORIGIN, long.name));
    expect(new TextEncoder().encode(json).length).toBeLessThan(LARGEST);
  }
});

describe("a shortened text", () => {
  it("ends after a whole grapheme, with an ellipsis", () => {
    expect(shorten("abcdef", 6)).toBe("abcdef");
    expect(shorten("abcdefg", 6)).toBe("abcde…");
    expect(shorten("abcd👩‍👩‍👧‍👦", 6)).toBe("abcd…");
    expect(shorten("👩‍👩‍👧‍👦👩‍👩‍👧‍👦", 12)).toBe("👩‍👩‍👧‍👦…");
    expect(shorten("🏴󠁧󠁢󠁥󠁮󠁧󠁿".repeat(9), 3)).toBe("…");
  });

  it("is at most as long as the maximum, and a prefix of the text", () => {
    fc.assert(
      fc.property(name, fc.integer({ min: 1, max: 100 }), (text, maximum) => {
        const cut = shorten(text, maximum);
        expect(cut.length).toBeLessThanOrEqual(maximum);
        expect(text.startsWith(cut === text ? text : cut.slice(0, -1))).toBe(true);
        expect(quote(text, maximum).length).toBeLessThanOrEqual(5 * maximum);
      }),
      { numRuns: RUNS },
    );
  });
});

describe("the message of an event", () => {
  const project = { id: ID, name: "shop <3" };
  const environment = { id: ID, name: "production" };
  const link = (path: string, label: string) => `<${ORIGIN}/console/${path}/${ID}|${label}>`;
  const render = (type: EventType, data: object, creator?: string) => {
    const timestamp = "2026-11-21T09:30:00.000Z";
    const { text, blocks } = toSlackMessage({ id: "e", type, timestamp, data }, ORIGIN, creator);
    return { text, json: JSON.stringify(blocks), blocks };
  };

  it("leads to the page on which people approve, and has no button", () => {
    const held = { deployment_id: ID, project, environment };
    const page = `<${ORIGIN}/console/deployments/${ID}|${ID}>`;
    const message = "0 of 2 approvals.";
    const { text, json } = render("approvals.requested", { ...held, message });
    expect(text).toBe("🙋 Approval requested: shop &lt;3 / production");
    expect(json).toContain(`<${ORIGIN}/console/deployments/${ID}/approve|${ID}>`);
    expect(json).toContain(message);
    expect(json).not.toMatch(/button|actions/);
    const rejected = render("approvals.rejected", { ...held, comment: "Not on a Friday" });
    for (const part of [page, "*Comment*\\nNot on a Friday"]) expect(rejected.json).toContain(part);
    const overridden = { ...held, conditions: ["freeze", "window"], reason: "The shop is down" };
    const { json: marked } = render("deployments.overridden", overridden);
    for (const part of [page, "freeze, window", "The shop is down"]) expect(marked).toContain(part);
  });

  it("has the times and the reason of a freeze", () => {
    const [starts_at, ends_at] = ["2026-11-26T00:00:00.000Z", "no time"];
    const data = { project, name: "Black Friday", reason: "Busy", starts_at, ends_at };
    const { text, json } = render("freezes.created", data);
    expect(text).toBe("🧊 Freeze: Black Friday of shop &lt;3");
    expect(json).toContain(`<!date^${Date.parse(starts_at) / 1_000}^`);
    expect(json).toContain("*To*\\nunknown");
    expect(json).toContain("*Reason*\\nBusy");
  });

  it("names the location of a deployment, the reason, and each stack", () => {
    const { text, blocks } = render("deployments.failed", {
      deployment_id: ID,
      status: "failed",
      failure_reason: "tests & more",
      project,
      environment,
      stacks: [
        { id: ID, name: "api", status: "failed" },
        { id: ID, name: "", status: "in_progress" },
      ],
    });
    expect(text).toBe("❌ Deployment failed: shop &lt;3 / production");
    const mrkdwn = (each: string) => ({ type: "mrkdwn", text: each, verbatim: true });
    expect(blocks).toEqual([
      {
        type: "header",
        text: { type: "plain_text", text: "❌ Deployment failed", emoji: true },
      },
      {
        type: "section",
        fields: [
          mrkdwn(`*Project*\n${link("projects", "shop &lt;3")}`),
          mrkdwn(`*Environment*\n${link("environments", "production")}`),
          mrkdwn(`*Deployment*\n${link("deployments", ID)}`),
        ],
      },
      { type: "section", text: mrkdwn("*Reason*\ntests &amp; more") },
      { type: "section", text: mrkdwn(`🔴 api: failed\n🔵 ${ID}: in progress`) },
      {
        type: "context",
        elements: [
          mrkdwn(
            "<!date^1795253400^{date_short_pretty} {time_secs}|2026-11-21T09:30:00.000Z> · Event e",
          ),
        ],
      },
    ]);
  });

  it("says who has created a deployment, why, and how long it took, as far as that is known", () => {
    const times = { queued_seconds: 4, run_seconds: 185 };
    const data = { deployment_id: ID, reason: "More\n*traffic*", ...times, project, environment };
    const { json } = render("deployments.failed", data, "Mona <x>");
    expect(json).toContain("*By*\\nMona &lt;x&gt;");
    expect(json).toContain("*Took*\\n3 min 5 s, after 4 s in the queue");
    expect(json).toContain("*Why*\\nMore *traffic*");
    const running = render("deployments.in_progress", { ...data, run_seconds: undefined });
    expect(running.json).not.toMatch(/\*(By|Took)\*/);
  });

  it("has the URLs of a success as links, as Slack requires them, and only safe ones", () => {
    const outputsOf = (...values: unknown[]) => {
      const outputs = values.map((value) => ({ stack_id: ID, name: "url", value }));
      const stacks = [{ id: ID, name: "a<b", status: "succeeded" }];
      const { blocks } = render("deployments.succeeded", { outputs, stacks });
      return (blocks as AnyBlock[]).flatMap(({ text }) => text?.text ?? []).slice(1);
    };
    const stack = "🟢 a&lt;b: succeeded";
    expect(outputsOf("https://shop.example.com/a|b?c=1&d=<e>#>f", "HTTP://LOCALHOST:8080")).toEqual(
      [
        "a&lt;b: <https://shop.example.com/a%7Cb?c=1&amp;d=%3Ce%3E#%3Ef>\na&lt;b: <http://localhost:8080/>",
        stack,
      ],
    );
    const unsafe = ["javascript:alert(1)", "https://mona:x@example.com", "https://a b", null, ""];
    for (const each of unsafe) expect(outputsOf(each)).toEqual([stack]);
    const longest = `https://example.com/${"x".repeat(478)}`;
    expect(outputsOf(longest)).toEqual([`a&lt;b: <${longest}>`, stack]);
    expect(outputsOf(`${longest}x`)).toEqual([stack]);
    const four = ["https://1.de", "https://2.de", "https://3.de", "https://4.de"];
    expect(outputsOf(...four)[0]?.split("\n")).toHaveLength(3);
    const other = { stack_id: ID, name: "URL", value: "https://shop.example.com" };
    expect(render("deployments.succeeded", { outputs: [other] }).json).not.toContain("shop");
  });

  it("has no links without an origin", () => {
    const timestamp = "2026-11-21T09:30:00.000Z";
    const data = { deployment_id: ID, project, environment };
    const event = { id: "e", type: "deployments.succeeded", timestamp, data } as const;
    expect(JSON.stringify(toSlackMessage(event))).not.toContain("http");
  });

  it("names both environments of a promotion", () => {
    const from = { id: ID, name: "staging" };
    const data = { deployment_id: ID, from_deployment_id: ID, project, environment };
    const { text, json } = render("promotions.created", { ...data, from_environment: from });
    expect(text).toBe("⏫ Promotion: shop &lt;3 / production, from staging");
    expect(json).toContain(link("environments", "staging"));
  });

  it("names the stack and the reason of an alarm", () => {
    const data = { name: "cpu", state: "alarm", reason: "98 %", project, environment };
    const { text, json } = render("services.in_alarm", { ...data, stack: { id: ID, name: "api" } });
    expect(text).toBe("🚨 Service in alarm: cpu of api in shop &lt;3 / production");
    expect(json).toContain("98 %");
    expect(json).toContain(link("stacks", "api"));
  });

  it("names a changed record, with a link if it has a path of its own", () => {
    const record = { type: "environment", id: ID, name: "production" };
    const { text, json } = render("changelog.created", { action: "updated", record });
    expect(text).toBe("📝 Change: environment production was updated");
    expect(json).toContain(`The environment ${link("environments", "production")} was updated.`);
    const gone = render("changelog.created", { action: "deleted", record });
    expect(gone.json).toContain("The environment production was deleted.");
    const member = { type: "project_member", id: ID };
    const other = render("changelog.created", { action: "created", record: member });
    expect(other.json).toContain(`The project member ${ID} was created.`);
  });

  it("counts several changes, and lists the first six", () => {
    const entries = Array.from({ length: 12 }, (_, at) => ({
      action: at === 0 ? "deleted" : "created",
      record: { type: "variable", id: ID, name: `V${at}` },
    }));
    const { text, json } = render("changelog.created", { ...entries[0], entries, count: 12 });
    expect(text).toBe("📝 Change: 12 changes");
    expect(json).toContain("*12 changes*");
    expect(json).toContain("• The variable V0 was deleted.");
    expect(json).toContain(`• The variable V5 was created.`);
    expect(json).not.toContain("V6");
    expect(json).toContain("and 6 more");
    const few = render("changelog.created", { entries: entries.slice(0, 2), count: 2 });
    expect(few.json).toContain("V1");
    expect(few.json).not.toContain("more");
    // Data from before `entries`, and data with one entry.
    for (const fields of [{}, { entries: entries.slice(0, 1), count: 1 }]) {
      const one = render("changelog.created", { ...entries[0], ...fields });
      expect(one.text).toBe("📝 Change: variable V0 was deleted");
    }
  });

  it("says that pings arrive", () => {
    expect(render("ping", { integration_id: ID }).text).toBe(
      "👋 Ping: messages of Longshore arrive here.",
    );
  });
});
