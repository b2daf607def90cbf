const BYTES = 256;
const ROOT = 0;

/**
 * Finds all patterns in a stream of bytes, in time linear in the stream (Aho and Corasick, "Efficient
 * string matching", 1975). A state is a number; 0 is the first. About 20 bytes of memory for each byte
 * of the patterns.
 */
export class PatternAutomaton {
  /** The depth of a state: how many bytes of some pattern were read last. */
  readonly depths: Int32Array;
  /** The length of the longest pattern that ends in a state; 0 if none does. */
  readonly matchLengths: Int32Array;
  readonly #firstChild: Int32Array;
  readonly #nextSibling: Int32Array;
  readonly #bytes: Uint8Array;
  readonly #fallback: Int32Array;
  /** Of the root, which has the most children. */
  readonly #rootChildren = new Int32Array(BYTES);
  #states = 1;

  constructor(patterns: readonly Uint8Array[]) {
    const size = patterns.reduce((sum, { length }) => sum + length, 1);
    this.depths = new Int32Array(size);
    this.matchLengths = new Int32Array(size);
    this.#firstChild = new Int32Array(size);
    this.#nextSibling = new Int32Array(size);
    this.#bytes = new Uint8Array(size);
    this.#fallback = new Int32Array(size);
    for (const pattern of patterns) this.#add(pattern);
    this.#link();
  }

  /** The state after a byte. */
  next(state: number, byte: number): number {
    for (let from = state; from !== ROOT; from = this.#fallback[from] ?? ROOT) {
      const child = this.#childOf(from, byte);
      if (child !== ROOT) return child;
    }
    return this.#childOf(ROOT, byte);
  }

  #add(pattern: Uint8Array): void {
    let state = ROOT;
    for (const byte of pattern) state = this.#childOf(state, byte) || this.#addChild(state, byte);
    this.matchLengths[state] = pattern.length;
  }

  #addChild(parent: number, byte: number): number {
    const child = this.#states;
    this.#states += 1;
    this.#bytes[child] = byte;
    this.depths[child] = (this.depths[parent] ?? 0) + 1;
    if (parent === ROOT) this.#rootChildren[byte] = child;
    this.#nextSibling[child] = this.#firstChild[parent] ?? ROOT;
    this.#firstChild[parent] = child;
    return child;
  }

  /** `ROOT` if there is none. */
  #childOf(parent: number, byte: number): number {
    if (parent === ROOT) return this.#rootChildren[byte] ?? ROOT;
    let child = this.#firstChild[parent] ?? ROOT;
    while (child !== ROOT && this.#bytes[child] !== byte) child = this.#nextSibling[child] ?? ROOT;
    return child;
  }

  /** Breadth first: the fallback of a state is less deep. */
  #link(): void {
    const queue = new Int32Array(this.#states);
    let end = 1;
    for (let at = 0; at < end; at += 1) {
      const parent = queue[at] ?? ROOT;
      for (
        let child = this.#firstChild[parent] ?? ROOT;
        child !== ROOT;
        child = this.#nextSibling[child] ?? ROOT
      ) {
        this.#linkChild(parent, child);
        queue[end] = child;
        end += 1;
      }
    }
  }

  #linkChild(parent: number, child: number): void {
    if (parent === ROOT) return;
    const fallback = this.next(this.#fallback[parent] ?? ROOT, this.#bytes[child] ?? 0);
    this.#fallback[child] = fallback;
    this.matchLengths[child] ||= this.matchLengths[fallback] ?? 0;
  }
}
