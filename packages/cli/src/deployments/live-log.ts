import type { Schemas } from "../../../client/src/index.ts";
import type { Output } from "../output.ts";
import { hasColors, LogPrinter } from "./display.ts";
import { sizeOf } from "./live-display.ts";
import { fit } from "./live-frame.ts";
import { LiveLines } from "./live-lines.ts";
import type { StackNames } from "./stack-names.ts";

/** A log on a terminal, whose last lines are replaced while they have no end, such as progress bars. */
export class LiveLog {
  readonly #output: Output;
  readonly #log: LogPrinter;
  readonly #live: LiveLines;
  #lines: string[] = [];

  constructor(output: Output, names: StackNames) {
    this.#output = output;
    this.#log = new LogPrinter(names, hasColors(output, output.stdout), (line) => {
      this.#lines.push(line);
    });
    this.#live = new LiveLines(output.stdout);
    // It would be drawn over the last lines.
    output.showsWaits = false;
  }

  push(line: Schemas["LogLine"]): void {
    this.#log.push(line);
    const { columns, rows } = sizeOf(this.#output);
    this.#draw(this.#log.begun.slice(-Math.max(1, rows - 1)).map((each) => fit(each, columns - 1)));
  }

  pause(): void {
    this.#live.erase();
  }

  flush(): void {
    this.#log.flush();
    this.#draw([]);
    this.#output.showsWaits = true;
  }

  #draw(begun: readonly string[]): void {
    this.#live.draw(begun, this.#lines);
    this.#lines = [];
  }
}
