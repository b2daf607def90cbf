const ROOT = 0;
/** Marks the label of a node that is not the child of the node before it. No byte has this bit. */
const STARTS_BRANCH = 0x100;
/** Marks the label of a node with children that are not beside it. */
const HAS_BRANCHES = 0x200;

/**
 * An Aho–Corasick automaton: finds all patterns in one pass, in steps linear in the text. A state is
 * the longest end of the text that begins a pattern. Nodes without branches are consecutive, so that
 * a node takes 14 bytes.
 */
export class PatternAutomaton {
  readonly maximumLength: number;
  readonly #labels: Uint16Array;
  /** The state of the longest proper end of each state. */
  readonly #fallbacks: Int32Array;
  readonly #heldLengths: Int32Array;
  readonly #matchLengths: Int32Array;
  readonly #first = new Int32Array(256);
  /** Every other child that is not beside its parent, by `edge`. */
  readonly #branches = new Map<number, number>();

  constructor(patterns: readonly Uint8Array[]) {
    this.maximumLength = patterns.reduce((most, { length }) => Math.max(most, length), 0);
    const total = patterns.reduce((sum, { length }) => sum + length, 0);
    // Nothing is the child of the last node.
    this.#labels = new Uint16Array(total + 2).fill(STARTS_BRANCH);
    /** The parents of the nodes that start a branch. */
    const parents = new Map<number, number>();
    const ends: number[] = [];
    let size = 1;
    for (const pattern of patterns) {
      let node = ROOT;
      for (const byte of pattern) {
        node = this.#child(node, byte) || this.#append(node, byte, size++, parents);
      }
      ends.push(node);
    }
    this.#labels = this.#labels.slice(0, size + 1);
    this.#fallbacks = new Int32Array(size);
    this.#heldLengths = new Int32Array(size);
    this.#matchLengths = new Int32Array(size);
    this.#link(parents, ends);
  }

  next(state: number, byte: number): number {
    let node = state;
    while (true) {
      const child = this.#child(node, byte);
      if (child !== ROOT || node === ROOT) return child;
      node = this.#fallbacks[node] ?? ROOT;
    }
  }

  /** The length of the longest pattern that ends here; 0 if none does. */
  matchLength(state: number): number {
    return this.#matchLengths[state] ?? 0;
  }

  /** How many of the last bytes may become a match with the bytes that follow. */
  heldLength(state: number): number {
    return this.#heldLengths[state] ?? 0;
  }

  #child(node: number, byte: number): number {
    if (node === ROOT) return this.#first[byte] ?? ROOT;
    if (((this.#labels[node + 1] ?? 0) & ~HAS_BRANCHES) === byte) return node + 1;
    const hasBranches = ((this.#labels[node] ?? 0) & HAS_BRANCHES) !== 0;
    return hasBranches ? (this.#branches.get(edge(node, byte)) ?? ROOT) : ROOT;
  }

  #isLeaf(node: number): boolean {
    const isBeside = ((this.#labels[node + 1] ?? 0) & STARTS_BRANCH) === 0;
    return !isBeside && ((this.#labels[node] ?? 0) & HAS_BRANCHES) === 0;
  }

  #append(parent: number, byte: number, node: number, parents: Map<number, number>): number {
    if (parent === ROOT) this.#first[byte] = node;
    const isBeside = node === parent + 1;
    this.#labels[node] = isBeside ? byte : byte | STARTS_BRANCH;
    if (isBeside) return node;
    parents.set(node, parent);
    if (parent === ROOT) return node;
    this.#branches.set(edge(parent, byte), node);
    this.#labels[parent] = (this.#labels[parent] ?? 0) | HAS_BRANCHES;
    return node;
  }

  /** In the order of their depth, because a fallback is always less deep. */
  #link(parents: ReadonlyMap<number, number>, ends: readonly number[]): void {
    const depths = this.#heldLengths;
    const parentOf = (node: number) => parents.get(node) ?? node - 1;
    for (let node = 1; node < depths.length; node += 1) {
      depths[node] = (depths[parentOf(node)] ?? 0) + 1;
    }
    for (const node of ends) this.#matchLengths[node] = depths[node] ?? 0;
    for (const node of sortByDepth(depths, this.maximumLength)) {
      const parent = parentOf(node);
      const byte = (this.#labels[node] ?? 0) & 0xff;
      const fallback = parent === ROOT ? ROOT : this.next(this.#fallbacks[parent] ?? ROOT, byte);
      this.#fallbacks[node] = fallback;
      this.#matchLengths[node] ||= this.matchLength(fallback);
      if (this.#isLeaf(node)) this.#heldLengths[node] = this.heldLength(fallback);
    }
  }
}

function edge(node: number, byte: number): number {
  return node * 256 + byte;
}

/** All nodes but the root. A counting sort: the number of nodes may be in the millions. */
function sortByDepth(depths: Int32Array, maximum: number): Int32Array {
  const positions = new Int32Array(maximum + 2);
  for (const depth of depths) positions[depth + 1] = (positions[depth + 1] ?? 0) + 1;
  for (let depth = 1; depth < positions.length; depth += 1) {
    positions[depth] = (positions[depth] ?? 0) + (positions[depth - 1] ?? 0);
  }
  const sorted = new Int32Array(depths.length);
  depths.forEach((depth, node) => {
    const position = positions[depth] ?? 0;
    sorted[position] = node;
    positions[depth] = position + 1;
  });
  return sorted.subarray(1);
}
