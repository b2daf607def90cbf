import type { Life } from "../support/delivery-harness.ts";

/** How something comes to grief: before or after it took effect, alone or with all that follows. */
export interface Grief {
  after: boolean;
  dies: boolean;
}

export const GRIEFS: readonly Grief[] = [
  { after: false, dies: false },
  { after: true, dies: false },
  { after: false, dies: true },
  { after: true, dies: true },
];

/** Lets what invocations do to the outside come to grief, at points that a test chooses. */
export class Sabotage {
  /** How many points there were: statements, calls of the queue, and requests. */
  points = 0;
  struck = 0;
  readonly #choose: (point: number) => Grief | undefined;

  constructor(choose: (point: number) => Grief | undefined) {
    this.#choose = choose;
  }

  newLife(): Life {
    const life = {
      isOver: false,
      pass: async <Result>(run: () => Promise<Result>): Promise<Result> => {
        if (life.isOver) throw new Error("A dead worker does nothing");
        this.points += 1;
        const grief = this.#choose(this.points);
        if (!grief) {
          const result = await run();
          if (life.isOver) throw new Error("A dead worker hears nothing");
          return result;
        }
        this.struck += 1;
        if (grief.after) await run();
        if (grief.dies) life.isOver = true;
        throw new Error("It came to grief");
      },
    };
    return life;
  }
}
