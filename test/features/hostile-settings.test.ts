import { describe, expect, it } from "vitest";
import {
  HOSTILE_NAMES,
  hostileTexts,
  isMap,
  TEXT_SETTINGS,
  type TextSetting,
  unknownReferences,
  withName,
  withText,
} from "../support/hostile-settings.ts";
import { newProject, newWorld } from "../support/world.ts";

/** What the configuration of a stack may be, and why it is refused. */
function hostileStacks(tested: TextSetting): { stack: object; reason: string }[] {
  const texts = [...hostileTexts(tested), ...unknownReferences(tested)];
  const names = isMap(tested.setting) ? HOSTILE_NAMES : [];
  return [
    ...texts.map(({ text, reason }) => ({ stack: withText(tested, text), reason })),
    ...names.map((name) => {
      return { stack: withName(tested, name), reason: "has a name that is empty, begins with -" };
    }),
  ];
}

/** The service refuses these in any configuration, whatever reads it. */
const IN_ANY =
  /^(configuration\.stacks\.api\.[\w.]+: Send (a text|keys) without control characters\.|The body is over |configuration: Send a configuration of at most )/;

describe("a hostile value", () => {
  it.each(TEXT_SETTINGS)("of $name of $executor is not written", async (tested) => {
    const { client } = await newWorld();
    const { default_environment_id: id } = await newProject(client);
    const path = `/v1/environments/${id}`;
    const put = (api: object) =>
      client.put(path, { name: "production", configuration: { stacks: { api } } });
    for (const { stack, reason } of hostileStacks(tested)) {
      const { status, body } = await put(stack);
      expect([reason, status]).toEqual([reason, expect.toBeOneOf([400, 413])]);
      if (IN_ANY.test(body.message)) continue;
      expect(body.code).toBe("bad_input");
      expect(body.message).toMatch(`configuration: /stacks/api/${tested.name}`);
      expect(body.message).toContain(reason);
    }
    expect((await client.get(path)).body.configuration).toEqual({});
    const good = withText(tested, "${variables.MISSING}");
    expect((await put(good)).status).toBe(tested.setting.choices ? 400 : 200);
  });
});
