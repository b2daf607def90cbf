import { getTableConfig, type SQLiteTable } from "drizzle-orm/sqlite-core";

/** The columns with texts of callers: neither IDs nor one of a few values. */
export function countedColumns(table: SQLiteTable): string[] {
  return getTableConfig(table)
    .columns.filter((each) => each.dataType === "string" && each.enumValues === undefined)
    .map(({ name }) => name)
    .filter((name) => !/(^|_)id$/.test(name));
}

/** The triggers that count the rows of a table in `usage`, with the bytes of these columns. */
export function renderUsageTriggers(table: SQLiteTable): string[] {
  const { name: kind } = getTableConfig(table);
  const columns = countedColumns(table);
  const bytesOf = (row: "new" | "old") =>
    columns.map((name) => `coalesce(octet_length(${row}.${name}), 0)`).join(" + ");
  const [added, removed] = [bytesOf("new"), bytesOf("old")];
  const isOfKind = (row: "new" | "old") =>
    `\`organization_id\` = ${row}.organization_id AND \`kind\` = '${kind}'`;
  return [
    `CREATE TRIGGER \`usage_${kind}_insert\` AFTER INSERT ON \`${kind}\` BEGIN
	INSERT INTO \`usage\` (\`organization_id\`, \`kind\`, \`records\`, \`bytes\`)
	VALUES (new.organization_id, '${kind}', 1, ${added})
	ON CONFLICT (\`organization_id\`, \`kind\`) DO UPDATE SET \`records\` = \`records\` + 1, \`bytes\` = \`bytes\` + excluded.bytes;
END;`,
    `CREATE TRIGGER \`usage_${kind}_delete\` AFTER DELETE ON \`${kind}\` BEGIN
	UPDATE \`usage\` SET \`records\` = \`records\` - 1, \`bytes\` = \`bytes\` - (${removed})
	WHERE ${isOfKind("old")};
END;`,
    `CREATE TRIGGER \`usage_${kind}_update\` AFTER UPDATE OF ${columns.map((name) => `\`${name}\``).join(", ")} ON \`${kind}\`
WHEN (${added}) <> (${removed}) BEGIN
	UPDATE \`usage\` SET \`bytes\` = \`bytes\` + (${added}) - (${removed})
	WHERE ${isOfKind("new")};
END;`,
  ];
}
