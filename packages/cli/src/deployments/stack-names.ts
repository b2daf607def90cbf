import { LongshoreError } from "../../../client/src/index.ts";
import { toPlainText } from "../plain-text.ts";
import type { Session } from "../session.ts";

const READ_MS = 10_000;

/** The names of stacks, safe to print. A stack whose name is not known has its ID as its name. */
export class StackNames {
  readonly #names: ReadonlyMap<string, string>;

  constructor(names: ReadonlyMap<string, string>) {
    this.#names = names;
  }

  /** A name is never worth an error: without the right to read stacks, the IDs are shown. */
  static async read(session: Session, environmentId: string): Promise<StackNames> {
    const names = new Map<string, string>();
    try {
      const stacks = session.client.list("/v1/environments/{environment_id}/stacks", {
        path: { environment_id: environmentId },
        totalTimeoutMs: READ_MS,
      });
      for await (const { id, name } of stacks) names.set(id, toPlainText(name));
    } catch (error) {
      if (!(error instanceof LongshoreError)) throw error;
    }
    return new StackNames(names);
  }

  of(stackId: string): string {
    return this.#names.get(stackId) ?? toPlainText(stackId);
  }
}
