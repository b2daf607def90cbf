import { env } from "cloudflare:workers";
import { drizzle } from "drizzle-orm/d1";
import { describe, expect, it } from "vitest";
import { rotateKeys } from "../../scripts/lib/rotation.ts";
import { REPLACED_ISOLATES_END_MS } from "../../src/features/housekeeping/key-rotation/rotation.ts";
import { SEALED_COLUMNS } from "../../src/features/index.ts";
import { Cipher } from "../../src/lib/cipher.ts";
import { sealInFormV1 } from "../support/form-v1.ts";
import {
  columnNamed,
  expectReadable,
  makeUnreadable,
  NEW_KEY,
  nameOf,
  newSealedTexts,
  OLD_KEY,
  putInFormV1,
  rotateOnce,
  rowsOf,
  SEALED,
  writeSealed,
} from "../support/sealed-texts.ts";

/** The command `rotate-keys`, without a terminal and without a clock. */
class RotationCommand {
  readonly printed: string[] = [];
  readonly failed: string[] = [];
  readonly slept: number[] = [];
  /** Runs instead of the wait. */
  duringWait: () => Promise<void> = async () => undefined;

  async run(keyring: string, remote: boolean, d1 = env.DB): Promise<number> {
    return rotateKeys(d1, await Cipher.of(keyring), {
      remote,
      sleep: async (ms) => {
        this.slept.push(ms);
        expect(this.printed.at(-1)).toContain("Waiting 120 seconds");
        expect(this.printed.join()).not.toContain("You can remove");
        await this.duringWait();
      },
      print: (line) => this.printed.push(line),
      printError: (line) => this.failed.push(line),
    });
  }
}

const REMOVE = "You can remove the other keys from ENCRYPTION_KEYS.";

describe("the command rotate-keys", () => {
  it("rewrites what the current key sealed without a form marker, and counts what remains", async () => {
    const texts = await newSealedTexts();
    await rotateOnce(drizzle(env.DB), await Cipher.of(`${OLD_KEY},${NEW_KEY}`), 50);
    await putInFormV1(OLD_KEY, texts, (at) => at < 2);
    const command = new RotationCommand();
    expect(await command.run(OLD_KEY, false)).toBe(0);
    expect(command.printed).toEqual([
      `${2 * SEALED_COLUMNS.length} values were encrypted again with the key test.`,
      "The second pass: 0 values were encrypted again.",
      `All ${SEALED} values use the key test, and none lacks the form marker v2. ${REMOVE}`,
    ]);
    const rows = (await Promise.all(SEALED_COLUMNS.map(rowsOf))).flat();
    expect(rows.filter(({ sealed }) => !sealed.startsWith("test.v2."))).toEqual([]);
    await expectReadable(await Cipher.of(OLD_KEY), texts);
    expect(command.slept).toEqual([]);
  });

  it("waits in a deployment, and then finds what Workers of the previous one have written", async () => {
    const texts = new Map(await newSealedTexts());
    const column = columnNamed("variables.value");
    const [one, two] = await rowsOf(column);
    if (!one || !two) throw new Error("There are rows");
    const command = new RotationCommand();
    command.duringWait = async () => {
      const late = await (await Cipher.of(OLD_KEY)).seal("late", column.contextOf(one));
      await writeSealed(column, one.id, late);
      await writeSealed(
        column,
        two.id,
        await sealInFormV1(NEW_KEY, "later", column.contextOf(two)),
      );
    };
    expect(await command.run(`${NEW_KEY},${OLD_KEY}`, true)).toBe(0);
    expect(command.slept).toEqual([REPLACED_ISOLATES_END_MS]);
    expect(command.printed).toEqual([
      `${SEALED} values were encrypted again with the key next.`,
      expect.stringContaining("Waiting 120 seconds"),
      "The second pass: 2 values were encrypted again.",
      expect.stringContaining(REMOVE),
    ]);
    texts.set(nameOf(column, one.id), "late").set(nameOf(column, two.id), "later");
    await expectReadable(await Cipher.of(NEW_KEY), texts);
  });

  it("does not say that a key can be removed while a value cannot be decrypted", async () => {
    await newSealedTexts();
    const [unreadable] = await rowsOf(columnNamed("variables.value"));
    await makeUnreadable(String(unreadable?.id));
    const command = new RotationCommand();
    expect(await command.run(`${NEW_KEY},${OLD_KEY}`, false)).toBe(1);
    expect(command.printed.join()).not.toContain("remove");
    expect(command.failed[0]).toBe(
      `1 of ${SEALED} values do not use the key next, or lack the form marker v2. ` +
        "Keep the other keys in ENCRYPTION_KEYS.",
    );
    expect(command.failed[1]).toContain(`variables.value of ${unreadable?.id}`);
  });

  it("asks to be run again if a value was written the old way during the second pass", async () => {
    const texts = new Map(await newSealedTexts());
    const column = columnNamed("variables.value");
    const [row] = await rowsOf(column);
    if (!row) throw new Error("There are rows");
    const late = await sealInFormV1(OLD_KEY, "late", column.contextOf(row));
    const command = new RotationCommand();
    const keyring = `${NEW_KEY},${OLD_KEY}`;
    expect(
      await command.run(
        keyring,
        false,
        writingBeforeCount(() => writeSealed(column, row.id, late)),
      ),
    ).toBe(1);
    expect(command.printed.join()).not.toContain("remove");
    expect(command.failed.at(-1)).toBe("Run this command again.");
    expect(await new RotationCommand().run(keyring, false)).toBe(0);
    await expectReadable(await Cipher.of(NEW_KEY), texts.set(nameOf(column, row.id), "late"));
  });
});

/** Runs `act` before the values are counted. */
function writingBeforeCount(act: () => Promise<void>): D1Database {
  let written: Promise<void> | undefined;
  const prepare = (sql: string) => {
    const statement = env.DB.prepare(sql);
    if (!sql.includes("count(*)")) return statement;
    const bind = (...params: unknown[]) => ({
      first: async () => {
        written ??= act();
        await written;
        return statement.bind(...params).first();
      },
    });
    return { bind };
  };
  return { prepare, batch: env.DB.batch.bind(env.DB) } as unknown as D1Database;
}
