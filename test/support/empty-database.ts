interface TableRow {
  name: string;
  parents: string;
}

/**
 * Drops all tables and triggers. `reset` of cloudflare:test does not always delete the rows of a
 * database that was in use.
 */
export async function emptyDatabase(d1: D1Database): Promise<void> {
  const triggers = await d1
    .prepare("select name from sqlite_master where type = 'trigger'")
    .all<{ name: string }>();
  const statements = [
    ...triggers.results.map(({ name }) => `drop trigger "${name}"`),
    ...(await tablesChildrenFirst(d1)).map((name) => `drop table "${name}"`),
  ];
  if (statements.length > 0) await d1.batch(statements.map((sql) => d1.prepare(sql)));
}

/** Dropping or emptying a table deletes its rows, which must have no children. */
export async function tablesChildrenFirst(d1: D1Database): Promise<string[]> {
  const tables = await d1
    .prepare(
      `select name, (select json_group_array("table") from pragma_foreign_key_list(name)
        where "table" <> sqlite_master.name) as parents
      from sqlite_master where type = 'table' and name not like 'sqlite|_%' escape '|'
        and name not like '|_cf|_%' escape '|'`,
    )
    .all<TableRow>();
  return childrenFirst(tables.results);
}

function childrenFirst(tables: readonly TableRow[]): string[] {
  const remaining = new Map(tables.map(({ name, parents }) => [name, JSON.parse(parents)]));
  const ordered: string[] = [];
  while (remaining.size > 0) {
    const parents = new Set([...remaining.values()].flat());
    const leaf = [...remaining.keys()].find((name) => !parents.has(name));
    if (leaf === undefined) throw new Error("The foreign keys of the tables form a cycle");
    remaining.delete(leaf);
    ordered.push(leaf);
  }
  return ordered;
}
