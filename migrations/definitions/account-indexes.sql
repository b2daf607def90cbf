-- The erasure of an account finds the entries that name it. drizzle-kit cannot generate these expressions.

CREATE INDEX `changelog_entries_account` ON `changelog_entries` (coalesce(`after`, `before`) ->> '$.account_id') WHERE record_type = 'project_member';

CREATE INDEX `audit_log_account` ON `audit_log` (coalesce(`changes` ->> '$.after.account_id', `changes` ->> '$.before.account_id')) WHERE target_type = 'member';
