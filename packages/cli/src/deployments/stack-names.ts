import { LongshoreError, type Schemas } from "../../../client/src/index.ts";
import { toPlainText } from "../plain-text.ts";
import type { Session } from "../session.ts";

const READ_MS = 10_000;

/** The names of stacks, safe to print. A stack whose name is not known has its ID as its name. */
export class StackNames {
  readonly #names: ReadonlyMap<string, string>;

  constructor(names: ReadonlyMap<string, string>) {
    this.#names = names;
  }

  static async read(session: Session, environmentId: string): Promise<StackNames> {
    const stacks = await readStacks(session, environmentId);
    return new StackNames(new Map(stacks.map(({ id, name }) => [id, toPlainText(name)])));
  }

  of(stackId: string): string {
    return this.#names.get(stackId) ?? toPlainText(stackId);
  }
}

/** Names and outputs are never worth an error. Without the right to read stacks, there are none. */
export async function readStacks(
  session: Session,
  environmentId: string,
): Promise<Schemas["Stack"][]> {
  const stacks: Schemas["Stack"][] = [];
  try {
    const pages = session.client.list("/v1/environments/{environment_id}/stacks", {
      path: { environment_id: environmentId },
      totalTimeoutMs: READ_MS,
    });
    for await (const stack of pages) stacks.push(stack);
  } catch (error) {
    if (!(error instanceof LongshoreError)) throw error;
  }
  return stacks;
}
