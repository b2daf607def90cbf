import type { Masker } from "./masker.ts";

const LINE_END = Buffer.from("\n");
/** What is passed on without the end of its line. */
const LONGEST_LINE = 65_536;

interface StackLogOptions {
  masker: Masker;
  /** Takes output that is masked. */
  emit(masked: Buffer): void;
  /** Masks a line of the runner itself. */
  maskNote(line: string): Buffer;
  /** Whether other stacks write to the same log, so that it gets whole lines of each. */
  isShared: boolean;
}

/** The output of one stack, until its end. */
export class StackLog {
  readonly #options: StackLogOptions;
  /** What is masked, but has no end of its line yet. */
  #begun: Buffer = Buffer.alloc(0);
  #endsLine = true;
  /** The runner's own lines. They wait until they divide no line, and no secret. */
  #notes: string[] = [];

  constructor(options: StackLogOptions) {
    this.#options = options;
  }

  write(bytes: Buffer): void {
    this.#add(this.#options.masker.mask(bytes));
    this.#addNotes();
  }

  /** Adds a line of the runner itself. */
  note(text: string): void {
    this.#notes.push(text.replaceAll(/\p{Cc}+/gu, " "));
    this.#addNotes();
  }

  end(): void {
    this.#add(this.#options.masker.flush());
    const isCut = this.#notes.length > 0 || this.#options.isShared;
    if (isCut && !this.#endsLine) this.#add(LINE_END);
    this.#addNotes();
  }

  #addNotes(): void {
    if (!this.#endsLine || !this.#options.masker.isIdle) return;
    for (const note of this.#notes.splice(0)) this.#add(this.#options.maskNote(`${note}\n`));
  }

  #add(masked: Buffer): void {
    if (masked.length === 0) return;
    this.#endsLine = masked.at(-1) === LINE_END[0];
    const { emit, isShared } = this.#options;
    const all = Buffer.concat([this.#begun, masked]);
    const isCut = !isShared || all.length > LONGEST_LINE;
    const end = isCut ? all.length : all.lastIndexOf(LINE_END) + 1;
    this.#begun = all.subarray(end);
    if (end > 0) emit(all.subarray(0, end));
  }
}
