import { describe, expect, it } from "vitest";
import { LIMITS } from "../../../src/lib/limits.ts";
import { copyRow, newIdsOf } from "../../support/long-lists.ts";
import { newDeployableProject, newWorld } from "../../support/world.ts";

const LONGEST = LIMITS.pointerLength.value;
/** The longest pointer, without its last character. */
const SLASHES = "/".repeat(LONGEST - 1);
const NO_START = "Send a JSON Pointer that starts with /.";

const ACCEPTED = ["/", "/replicas", "/a~1b/é/🔑/\u2028", "//", `${SLASHES}/`];
const REFUSED = [
  [`${SLASHES}\u0001`, "Send a text without control characters."],
  [`${SLASHES}\u009f`, "Send a text without control characters."],
  [`${SLASHES}\ud800`, "Send a text without lone surrogates."],
  [`${SLASHES}//`, `Send at most ${LONGEST} characters.`],
  ["", NO_START],
  ["replicas", NO_START],
] as const;

const rules = (sourceId: string, pointer: string) => ({
  from: { environment_ids: [sourceId], same_configuration: { except: [pointer] } },
});

describe("a pointer to what may differ", () => {
  it("starts with a slash, and has no control characters and no lone surrogates", async () => {
    const world = await newWorld();
    const { environmentId } = await newDeployableProject(world);
    const [sourceId = ""] = newIdsOf(1);
    await copyRow(world.id, "environments", environmentId, [sourceId], { name: "item.value" });
    const replace = (pointer: string) =>
      world.client.put(`/v1/environments/${environmentId}/protection`, rules(sourceId, pointer));
    for (const pointer of ACCEPTED) expect((await replace(pointer)).status).toBe(200);
    for (const [pointer, message] of REFUSED) {
      const { status, body } = await replace(pointer);
      expect([status, body.code]).toEqual([400, "bad_input"]);
      expect(body.cause.issues).toEqual([{ path: "from.same_configuration.except.0", message }]);
    }
  });

  // With a pattern that backtracks, these would never be answered.
  it("is refused at once, by an environment that does not exist, too", async () => {
    const { client } = await newWorld();
    const [missingId = ""] = newIdsOf(1);
    const path = `/v1/environments/${missingId}/protection`;
    const statusOf = async (pointer: string) =>
      (await client.put(path, rules(missingId, pointer))).status;
    for (const length of [26, 40, LONGEST - 1])
      expect(await statusOf(`${"/".repeat(length)}\u0001`)).toBe(400);
    expect(await statusOf(`${SLASHES}/`)).toBe(404);
  });
});
