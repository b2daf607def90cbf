-- Events of which only deliveries have the data. Bare columns beside aggregates are those of any delivery of the event.
INSERT INTO `events` (`id`, `organization_id`, `project_id`, `environment_id`, `type`, `data`, `created_at`, `last_used_at`)
SELECT `event_id`, `organization_id`, `project_id`, `data` ->> '$.environment.id', `type`, `data`, min(`occurred_at`), max(`created_at`)
FROM `deliveries` WHERE `data` <> '' AND NOT EXISTS (SELECT 1 FROM `events` WHERE `events`.`id` = `deliveries`.`event_id`)
GROUP BY `event_id`;
--> statement-breakpoint
-- The foreign keys become RESTRICT. The rows keep their rowids, which history_positions refers to.
CREATE TABLE `__new_events` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`project_id` text NOT NULL,
	`environment_id` text,
	`type` text NOT NULL,
	`data` text NOT NULL,
	`created_at` integer NOT NULL,
	`last_used_at` integer NOT NULL,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE restrict,
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE restrict
);
--> statement-breakpoint
INSERT INTO `__new_events` (`rowid`, `id`, `organization_id`, `project_id`, `environment_id`, `type`, `data`, `created_at`, `last_used_at`)
SELECT `rowid`, `id`, `organization_id`, `project_id`, `environment_id`, `type`, `data`, `created_at`, `last_used_at` FROM `events`;
--> statement-breakpoint
DROP TABLE `events`;
--> statement-breakpoint
ALTER TABLE `__new_events` RENAME TO `events`;
--> statement-breakpoint
CREATE INDEX `events_organization` ON `events` (`organization_id`,`id`);
--> statement-breakpoint
CREATE INDEX `events_list` ON `events` (`project_id`,`type`,`created_at`,`id`);
--> statement-breakpoint
CREATE INDEX `events_list_environment` ON `events` (`project_id`,`environment_id`,`type`,`created_at`,`id`) WHERE environment_id is not null;
--> statement-breakpoint
CREATE TABLE `__new_recoveries` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`project_id` text NOT NULL,
	`integration_id` text NOT NULL,
	`since` integer NOT NULL,
	`until` integer NOT NULL,
	`status` text NOT NULL,
	`position` text,
	`recovered` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`finished_at` integer,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE restrict,
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE restrict,
	FOREIGN KEY (`integration_id`) REFERENCES `integrations`(`id`) ON UPDATE no action ON DELETE restrict
);
--> statement-breakpoint
INSERT INTO `__new_recoveries` (`rowid`, `id`, `organization_id`, `project_id`, `integration_id`, `since`, `until`, `status`, `position`, `recovered`, `created_at`, `updated_at`, `finished_at`)
SELECT `rowid`, `id`, `organization_id`, `project_id`, `integration_id`, `since`, `until`, `status`, `position`, `recovered`, `created_at`, `updated_at`, `finished_at` FROM `recoveries`;
--> statement-breakpoint
DROP TABLE `recoveries`;
--> statement-breakpoint
ALTER TABLE `__new_recoveries` RENAME TO `recoveries`;
--> statement-breakpoint
CREATE INDEX `recoveries_project` ON `recoveries` (`project_id`);
--> statement-breakpoint
CREATE INDEX `recoveries_list` ON `recoveries` (`integration_id`,`created_at`,`id`);
--> statement-breakpoint
CREATE INDEX `recoveries_running` ON `recoveries` (`id`) WHERE status = 'running';
--> statement-breakpoint
-- The dropped columns of a delivery have counted 15 + 15 bytes, and those of its data.
UPDATE `history_usage` SET `bytes` = `bytes` - 30 * `records` WHERE `kind` = 'deliveries';
--> statement-breakpoint
UPDATE `history_usage` SET `bytes` = `history_usage`.`bytes` - copied.`bytes`
FROM (SELECT `organization_id`, sum(octet_length(`data`)) AS `bytes` FROM `deliveries`
	WHERE `data` <> '' AND `rowid` <= (SELECT `position` FROM `history_positions` WHERE `table_name` = 'deliveries') GROUP BY `organization_id`) AS copied
WHERE `history_usage`.`kind` = 'deliveries' AND `history_usage`.`organization_id` = copied.`organization_id`;
--> statement-breakpoint
DROP INDEX `deliveries_waiting`;
--> statement-breakpoint
DROP INDEX `deliveries_sweep`;
--> statement-breakpoint
ALTER TABLE `deliveries` DROP COLUMN `data`;
--> statement-breakpoint
ALTER TABLE `deliveries` DROP COLUMN `claimed_until`;
--> statement-breakpoint
ALTER TABLE `deliveries` DROP COLUMN `sweep_at`;
--> statement-breakpoint
-- The queue gave up on them after attempts without a result.
UPDATE `deliveries` SET `failure_reason` = 'too_many_attempts' WHERE `failure_reason` = 'not_handled';
--> statement-breakpoint
-- Events from before a confirmation are never sent.
UPDATE `deliveries` SET `status` = 'failed', `failure_reason` = 'integration_unconfirmed',
	`updated_at` = unixepoch() * 1000, `finished_at` = unixepoch() * 1000
WHERE `status` = 'pending' AND `integration_id` IN (SELECT `id` FROM `integrations`
	WHERE `type` = 'slack' AND `confirmed_at` IS NULL AND `organization_id` <> '1111111111111111111111');
--> statement-breakpoint
-- Their bytes are counted again below.
UPDATE `usage` SET `bytes` = `bytes` - (SELECT coalesce(sum(octet_length(`shown_url`) + coalesce(octet_length(`slack_channel`), 0) + coalesce(octet_length(`confirm_by`), 0)), 0)
	FROM `integrations` WHERE `integrations`.`organization_id` = `usage`.`organization_id`)
WHERE `kind` = 'integrations';
--> statement-breakpoint
-- The channel of these Slack installations is unknown. Those without a confirmation get a day for it.
UPDATE `integrations` SET `confirm_by` = (unixepoch() + 86400) * 1000
WHERE `type` = 'slack' AND `confirmed_at` IS NULL AND `confirm_by` IS NULL AND `organization_id` <> '1111111111111111111111';
--> statement-breakpoint
UPDATE `integrations` SET `slack_channel` = '{}'
WHERE `type` = 'slack' AND `slack_channel` IS NULL AND `organization_id` <> '1111111111111111111111';
--> statement-breakpoint
-- Masks URLs like src/lib/mask-url.ts: the scheme, the host without its first label, and the port remain.
UPDATE `integrations` SET `shown_url` = masked.`url`
FROM (SELECT `id`, iif(`scheme` = '', '***', `scheme` || CASE WHEN `host` LIKE '[%' OR `host` NOT GLOB '*[^0-9.:]*' OR instr(`host`, '.') = 0
		OR instr(rtrim(substr(`host`, instr(`host`, '.') + 1), '.'), '.') = 0 THEN `host`
		ELSE '***.' || substr(`host`, instr(`host`, '.') + 1) END || '/***') AS `url`
	FROM (SELECT `id`, `scheme`, substr(`rest`, 1, instr(`rest` || '/', '/') - 1) AS `host`
		FROM (SELECT `id`, substr(`shown_url`, 1, instr(`shown_url`, '://') + 2 * (instr(`shown_url`, '://') > 0)) AS `scheme`,
				substr(`shown_url`, instr(`shown_url`, '://') + 3) AS `rest`
			FROM `integrations` WHERE `type` = 'webhook' AND `organization_id` <> '1111111111111111111111'))) AS masked
WHERE `integrations`.`id` = masked.`id` AND `integrations`.`shown_url` <> masked.`url`;
--> statement-breakpoint
UPDATE `usage` SET `bytes` = `bytes` + (SELECT coalesce(sum(octet_length(`shown_url`) + coalesce(octet_length(`slack_channel`), 0) + coalesce(octet_length(`confirm_by`), 0)), 0)
	FROM `integrations` WHERE `integrations`.`organization_id` = `usage`.`organization_id`)
WHERE `kind` = 'integrations';
--> statement-breakpoint
-- The same for the changelog, which may be large: one scan finds the entries, and only those that change are written.
CREATE TABLE `__masked_entries` AS
SELECT `at`, `organization_id`, `record_name` AS `old_name`, CASE WHEN `record_name` LIKE '[%' OR `record_name` NOT GLOB '*[^0-9.:]*' OR instr(`record_name`, '.') = 0
		OR instr(rtrim(substr(`record_name`, instr(`record_name`, '.') + 1), '.'), '.') = 0 THEN `record_name`
		ELSE '***.' || substr(`record_name`, instr(`record_name`, '.') + 1) END AS `name`,
	`before` AS `old_before`, iif(`before_url` IS NULL, `before`, json_set(`before`, '$.url', iif(`before_scheme` = '', '***', `before_scheme` || CASE WHEN `before_host` LIKE '[%' OR `before_host` NOT GLOB '*[^0-9.:]*' OR instr(`before_host`, '.') = 0
		OR instr(rtrim(substr(`before_host`, instr(`before_host`, '.') + 1), '.'), '.') = 0 THEN `before_host`
		ELSE '***.' || substr(`before_host`, instr(`before_host`, '.') + 1) END || '/***'))) AS `before`,
	`after` AS `old_after`, iif(`after_url` IS NULL, `after`, json_set(`after`, '$.url', iif(`after_scheme` = '', '***', `after_scheme` || CASE WHEN `after_host` LIKE '[%' OR `after_host` NOT GLOB '*[^0-9.:]*' OR instr(`after_host`, '.') = 0
		OR instr(rtrim(substr(`after_host`, instr(`after_host`, '.') + 1), '.'), '.') = 0 THEN `after_host`
		ELSE '***.' || substr(`after_host`, instr(`after_host`, '.') + 1) END || '/***'))) AS `after`
FROM (SELECT *,
		substr(`before_url`, 1, instr(`before_url`, '://') + 2 * (instr(`before_url`, '://') > 0)) AS `before_scheme`,
		substr(`before_url`, instr(`before_url`, '://') + 3, instr(substr(`before_url`, instr(`before_url`, '://') + 3) || '/', '/') - 1) AS `before_host`,
		substr(`after_url`, 1, instr(`after_url`, '://') + 2 * (instr(`after_url`, '://') > 0)) AS `after_scheme`,
		substr(`after_url`, instr(`after_url`, '://') + 3, instr(substr(`after_url`, instr(`after_url`, '://') + 3) || '/', '/') - 1) AS `after_host`
	FROM (SELECT `rowid` AS `at`, `organization_id`, `record_name`, `before`, `after`,
			iif(json_type(`before`, '$.url') = 'text', `before` ->> '$.url', NULL) AS `before_url`,
			iif(json_type(`after`, '$.url') = 'text', `after` ->> '$.url', NULL) AS `after_url`
		FROM `changelog_entries` WHERE `record_type` = 'integration'));
--> statement-breakpoint
DELETE FROM `__masked_entries` WHERE `name` IS `old_name` AND `before` ->> '$.url' IS `old_before` ->> '$.url' AND `after` ->> '$.url' IS `old_after` ->> '$.url';
--> statement-breakpoint
UPDATE `history_usage` SET `bytes` = `history_usage`.`bytes` + changed.`bytes`
FROM (SELECT `organization_id`, sum(coalesce(octet_length(`name`), 0) + coalesce(octet_length(`before`), 0) + coalesce(octet_length(`after`), 0)
		- coalesce(octet_length(`old_name`), 0) - coalesce(octet_length(`old_before`), 0) - coalesce(octet_length(`old_after`), 0)) AS `bytes`
	FROM `__masked_entries` WHERE `at` <= (SELECT `position` FROM `history_positions` WHERE `table_name` = 'changelog_entries') GROUP BY `organization_id`) AS changed
WHERE `history_usage`.`kind` = 'changelog' AND `history_usage`.`organization_id` = changed.`organization_id`;
--> statement-breakpoint
UPDATE `changelog_entries` SET `record_name` = masked.`name`, `before` = masked.`before`, `after` = masked.`after`
FROM `__masked_entries` AS masked WHERE `changelog_entries`.`rowid` = masked.`at`;
--> statement-breakpoint
DROP TABLE `__masked_entries`;
--> statement-breakpoint
-- Each of its rows is in audit_log, too.
UPDATE `history_usage` SET `records` = `history_usage`.`records` - copied.`records`, `bytes` = `history_usage`.`bytes` - copied.`bytes`
FROM (SELECT `organization_id`, count(*) AS `records`, sum(octet_length(`id`) + octet_length(`organization_id`) + octet_length(`project_id`) + octet_length(`account_id`) + octet_length(`membership_id`) + octet_length(`key_id`) + octet_length(`action`) + octet_length(`record_id`) + octet_length(`created_at`)) AS `bytes` FROM `audit_records`
	WHERE `rowid` <= (SELECT `position` FROM `history_positions` WHERE `table_name` = 'audit_records') GROUP BY `organization_id`) AS copied
WHERE `history_usage`.`kind` = 'audit_log' AND `history_usage`.`organization_id` = copied.`organization_id`;
--> statement-breakpoint
DELETE FROM `history_positions` WHERE `table_name` = 'audit_records';
--> statement-breakpoint
DROP TABLE `audit_records`;
--> statement-breakpoint
-- Results name the version of a row `version`. Fields that callers set, which the result lists in `json`, stay as they are.
WITH RECURSIVE renamed (`id`, `number`, `path`, `fullkey`, `value`) AS (
	SELECT stored.`id`, row_number() OVER (PARTITION BY stored.`id` ORDER BY item.`fullkey`), item.`path`, item.`fullkey`, item.`value`
	FROM `idempotency_records` AS stored JOIN json_tree(stored.`result`) AS item
	WHERE stored.`result` LIKE '%"recordVersion":%' AND item.`key` = 'recordVersion' AND item.`type` = 'integer'
		AND (item.`path` IN ('$.value', '$.row[0]', '$.row[1]', '$.row[2]', '$.row[3]') OR EXISTS (
			SELECT 1 FROM json_tree(stored.`result`) AS parent WHERE parent.`fullkey` = item.`path`
				AND typeof(parent.`key`) = 'text' AND (parent.`path` = '$.value' OR parent.`path` GLOB '$.row[[][0-9]]')
				AND NOT EXISTS (SELECT 1 FROM json_each(stored.`result`, '$.json') AS text WHERE text.`value` = parent.`key`)))
), steps (`id`, `number`, `result`) AS (
	SELECT `id`, 0, `result` FROM `idempotency_records` WHERE `id` IN (SELECT `id` FROM renamed)
	UNION ALL
	SELECT steps.`id`, renamed.`number`, json_remove(json_set(steps.`result`, renamed.`path` || '.version', renamed.`value`), renamed.`fullkey`)
	FROM steps JOIN renamed ON renamed.`id` = steps.`id` AND renamed.`number` = steps.`number` + 1
)
UPDATE `idempotency_records` SET `result` = (SELECT `result` FROM steps WHERE steps.`id` = `idempotency_records`.`id` ORDER BY `number` DESC LIMIT 1)
WHERE `id` IN (SELECT `id` FROM renamed);
--> statement-breakpoint
UPDATE `idempotency_totals` SET `bytes` = (SELECT coalesce(sum(300 + octet_length(each.`key`) + octet_length(each.`result`)
	+ octet_length(each.`secrets`) + octet_length(each.`changed_keys`)), 0) FROM `idempotency_records` AS each
	WHERE each.`organization_id` = `idempotency_totals`.`organization_id`);
