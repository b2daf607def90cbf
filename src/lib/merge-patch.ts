/** The row with the fields of a change, as by a JSON merge patch (RFC 7396): an absent field stays. */
export function mergePatch<Row extends object>(
  row: Row,
  change: { readonly [Name in keyof Row]?: Row[Name] | undefined },
): Row {
  const sent = Object.entries(change).filter(([, value]) => value !== undefined);
  return { ...row, ...Object.fromEntries(sent) };
}
