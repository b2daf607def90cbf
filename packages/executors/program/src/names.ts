/**
 * An ID in lower case, for tools whose names have no capital letters. No ID has a 0, so a 0 before each capital letter
 * keeps two IDs apart. `longshore init` names the same in its scripts.
 */
export function toLowerId(id: string): string {
  return id.replaceAll(/[A-Z]/g, (letter) => `0${letter.toLowerCase()}`);
}
