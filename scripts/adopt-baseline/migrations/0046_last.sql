-- The last migration before the baseline: `npm run adopt-baseline` applies it without triggers, and with them again after it.

-- ## Keys and tokens

DROP INDEX `api_keys_trust`;
--> statement-breakpoint
DROP INDEX `api_keys_trust_expires`;
--> statement-breakpoint
UPDATE `api_keys` SET `expires_at` = `narrowed_expires_at` WHERE `expires_at` = 0;
--> statement-breakpoint
ALTER TABLE `api_keys` DROP COLUMN `narrowed_expires_at`;
--> statement-breakpoint
CREATE INDEX `api_keys_trust` ON `api_keys` (`trust_id`,`expires_at`) WHERE trust_id is not null;
--> statement-breakpoint
CREATE INDEX `api_keys_trust_expires` ON `api_keys` (`expires_at`) WHERE trust_id is not null;
--> statement-breakpoint
DROP INDEX `api_keys_created_by_alone`;
--> statement-breakpoint
DROP INDEX `revoked_keys_created_by_alone`;
--> statement-breakpoint
DROP INDEX `runner_tokens_created_by_alone`;
--> statement-breakpoint
UPDATE `trusts` SET `issued_by_key_id` = `created_by_key_id` WHERE `issued_by_key_id` IS NULL;
--> statement-breakpoint
UPDATE `runner_tokens` SET `issued_by_key_id` = `created_by_key_id` WHERE `issued_by_key_id` IS NULL AND `created_by_key_id` IS NOT NULL;
--> statement-breakpoint
-- After a rotation with an overlap, `created_by_key_id` has the successor of a key, or the next one.
UPDATE `api_keys` SET `issued_by_key_id` = `created_by_key_id`
WHERE `issued_by_key_id` IS NULL AND `created_by_key_id` IS NOT NULL AND `created_by_key_id` IS NOT `replaced_by_key_id`
	AND NOT EXISTS (SELECT 1 FROM `api_keys` AS `successor`
		WHERE `successor`.`id` = `api_keys`.`replaced_by_key_id` AND `successor`.`replaced_by_key_id` = `api_keys`.`created_by_key_id`)
	AND NOT EXISTS (SELECT 1 FROM `revoked_keys` AS `successor`
		WHERE `successor`.`id` = `api_keys`.`replaced_by_key_id` AND `successor`.`replaced_by_key_id` = `api_keys`.`created_by_key_id`);
--> statement-breakpoint
UPDATE `revoked_keys` SET `issued_by_key_id` = `created_by_key_id`
WHERE `issued_by_key_id` IS NULL AND `created_by_key_id` IS NOT NULL AND `created_by_key_id` IS NOT `replaced_by_key_id`
	AND NOT EXISTS (SELECT 1 FROM `api_keys` AS `successor`
		WHERE `successor`.`id` = `revoked_keys`.`replaced_by_key_id` AND `successor`.`replaced_by_key_id` = `revoked_keys`.`created_by_key_id`)
	AND NOT EXISTS (SELECT 1 FROM `revoked_keys` AS `successor`
		WHERE `successor`.`id` = `revoked_keys`.`replaced_by_key_id` AND `successor`.`replaced_by_key_id` = `revoked_keys`.`created_by_key_id`);
--> statement-breakpoint
-- Such a key has the issuer that its successors have.
WITH RECURSIVE `chain`(`id`, `successor`, `issuer`) AS (
	SELECT `id`, `replaced_by_key_id`, NULL FROM `api_keys` WHERE `issued_by_key_id` IS NULL AND `created_by_key_id` IS NOT NULL
	UNION SELECT `chain`.`id`, `next`.`replaced_by_key_id`, `next`.`issued_by_key_id`
		FROM `chain` JOIN `api_keys` AS `next` ON `next`.`id` = `chain`.`successor` WHERE `chain`.`issuer` IS NULL
	UNION SELECT `chain`.`id`, `next`.`replaced_by_key_id`, `next`.`issued_by_key_id`
		FROM `chain` JOIN `revoked_keys` AS `next` ON `next`.`id` = `chain`.`successor` WHERE `chain`.`issuer` IS NULL)
UPDATE `api_keys` SET `issued_by_key_id` = (SELECT max(`issuer`) FROM `chain` WHERE `chain`.`id` = `api_keys`.`id`)
WHERE `issued_by_key_id` IS NULL AND `created_by_key_id` IS NOT NULL;
--> statement-breakpoint
WITH RECURSIVE `chain`(`id`, `successor`, `issuer`) AS (
	SELECT `id`, `replaced_by_key_id`, NULL FROM `revoked_keys` WHERE `issued_by_key_id` IS NULL AND `created_by_key_id` IS NOT NULL
	UNION SELECT `chain`.`id`, `next`.`replaced_by_key_id`, `next`.`issued_by_key_id`
		FROM `chain` JOIN `api_keys` AS `next` ON `next`.`id` = `chain`.`successor` WHERE `chain`.`issuer` IS NULL
	UNION SELECT `chain`.`id`, `next`.`replaced_by_key_id`, `next`.`issued_by_key_id`
		FROM `chain` JOIN `revoked_keys` AS `next` ON `next`.`id` = `chain`.`successor` WHERE `chain`.`issuer` IS NULL)
UPDATE `revoked_keys` SET `issued_by_key_id` = (SELECT max(`issuer`) FROM `chain` WHERE `chain`.`id` = `revoked_keys`.`id`)
WHERE `issued_by_key_id` IS NULL AND `created_by_key_id` IS NOT NULL;
--> statement-breakpoint
-- ## Events, deliveries, integrations, the changelog and idempotency entries

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
UPDATE `changelog_entries` SET `record_name` = masked.`name`, `before` = masked.`before`, `after` = masked.`after`
FROM `__masked_entries` AS masked WHERE `changelog_entries`.`rowid` = masked.`at`;
--> statement-breakpoint
DROP TABLE `__masked_entries`;
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
--> statement-breakpoint
-- ## Environments, stacks and alarms

ALTER TABLE `environments` DROP COLUMN `position`;
--> statement-breakpoint
-- Without its default, which only a stack without a count needed.
DROP INDEX `stacks_changed`;
--> statement-breakpoint
ALTER TABLE `stacks` ADD `changed_at` integer;
--> statement-breakpoint
UPDATE `stacks` SET `changed_at` = `resources_changed_at` WHERE `resources_changed_at` IS NOT NULL;
--> statement-breakpoint
ALTER TABLE `stacks` DROP COLUMN `resources_changed_at`;
--> statement-breakpoint
ALTER TABLE `stacks` RENAME COLUMN `changed_at` TO `resources_changed_at`;
--> statement-breakpoint
CREATE INDEX `stacks_changed` ON `stacks` (`organization_id`,`resources_changed_at`) WHERE resources_changed_at is not null;
--> statement-breakpoint
-- Alarms have a source, and always an environment. No table refers to them.
CREATE TABLE `new_alarms` (
	`id` text PRIMARY KEY NOT NULL,
	`stack_id` text NOT NULL,
	`environment_id` text NOT NULL,
	`source` text DEFAULT '' NOT NULL,
	`name` text NOT NULL,
	`organization_id` text NOT NULL,
	`project_id` text NOT NULL,
	`state` text NOT NULL,
	`reason` text,
	`created_at` integer NOT NULL,
	`changed_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`stack_id`) REFERENCES `stacks`(`id`) ON UPDATE no action ON DELETE restrict,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE restrict,
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE restrict
);
--> statement-breakpoint
INSERT INTO `new_alarms` (`id`, `stack_id`, `environment_id`, `source`, `name`, `organization_id`, `project_id`, `state`, `reason`, `created_at`, `changed_at`, `updated_at`)
SELECT `id`, `stack_id`, coalesce(`environment_id`, (SELECT `environment_id` FROM `stacks` WHERE `stacks`.`id` = `alarms`.`stack_id`)),
	'', `name`, `organization_id`, `project_id`, `state`, `reason`, `created_at`, `changed_at`, `updated_at` FROM `alarms`;
--> statement-breakpoint
DROP TABLE `alarms`;
--> statement-breakpoint
ALTER TABLE `new_alarms` RENAME TO `alarms`;
--> statement-breakpoint
CREATE UNIQUE INDEX `alarms_name` ON `alarms` (`stack_id`,`source`,`name`);
--> statement-breakpoint
CREATE INDEX `alarms_list` ON `alarms` (`stack_id`,`created_at`,`id`);
--> statement-breakpoint
CREATE INDEX `alarms_project` ON `alarms` (`project_id`);
--> statement-breakpoint
CREATE INDEX `alarms_environment` ON `alarms` (`environment_id`,`state`,`changed_at`,`id`);
--> statement-breakpoint
-- ## Deployments, attempts and runners

-- Nobody knows who created these, so nobody knows who may approve them: they end, with all that ends with them.
UPDATE `attempts` SET `state` = 'ended', `outcome` = 'revoked', `ended_at` = unixepoch() * 1000
WHERE `state` <> 'ended' AND `deployment_id` IN (SELECT `id` FROM `deployments` WHERE `creators` IS NULL AND `status` = 'queued');
--> statement-breakpoint
UPDATE `deployment_stacks` SET `status` = 'canceled', `timestamp` = unixepoch() * 1000
WHERE `status` = 'pending' AND `deployment_id` IN (SELECT `id` FROM `deployments` WHERE `creators` IS NULL AND `status` = 'queued');
--> statement-breakpoint
UPDATE `deployment_approvals` SET `content` = ''
WHERE `content` <> '' AND `deployment_id` IN (SELECT `id` FROM `deployments` WHERE `creators` IS NULL AND `status` = 'queued');
--> statement-breakpoint
INSERT INTO `deployment_days` (`id`, `organization_id`, `project_id`, `environment_id`, `day`, `succeeded`, `failed`, `canceled`,
	`superseded`, `queued`, `run`, `recoveries`, `recovery_ms`, `failing_since`)
SELECT min(ended.id), ended.organization_id, ended.project_id, ended.environment_id, unixepoch() / 86400, 0, 0, count(*), 0, '{}', '{}', 0, 0,
	(SELECT `failing_since` FROM `deployment_days` AS newest WHERE newest.environment_id = ended.environment_id ORDER BY `day` DESC LIMIT 1)
FROM `deployments` AS ended WHERE ended.creators IS NULL AND ended.status = 'queued' GROUP BY ended.environment_id
ON CONFLICT (`environment_id`, `day`) DO UPDATE SET `canceled` = `canceled` + excluded.canceled;
--> statement-breakpoint
UPDATE `deployments` SET `status` = 'canceled', `announced` = 'canceled', `message` = 'It is not known who created it. Create it again.',
	`finished_at` = unixepoch() * 1000, `updated_at` = unixepoch() * 1000, `record_version` = `record_version` + 1
WHERE `creators` IS NULL AND `status` = 'queued';
--> statement-breakpoint
-- The reasons were stored with the promise that no response has them.
UPDATE `deployments` SET `reason` = NULL WHERE `creator_type` IS NULL AND `reason` IS NOT NULL;
--> statement-breakpoint
-- The code was one that an override could name.
UPDATE `deployments` SET `overridden` = json_set(`overridden`, '$.conditions', json((SELECT json_group_array(item.value)
	FROM json_each(`overridden`, '$.conditions') AS item WHERE item.value <> 'unknown_creator')))
WHERE `overridden` LIKE '%"unknown_creator"%';
--> statement-breakpoint
ALTER TABLE `deployments` ADD `new_trigger` text DEFAULT 'api' NOT NULL;
--> statement-breakpoint
ALTER TABLE `deployments` ADD `new_configuration_version` integer DEFAULT 0 NOT NULL;
--> statement-breakpoint
ALTER TABLE `deployments` ADD `new_stack_count` integer DEFAULT 0 NOT NULL;
--> statement-breakpoint
ALTER TABLE `deployments` ADD `new_creators` text DEFAULT '[]' NOT NULL;
--> statement-breakpoint
ALTER TABLE `deployments` ADD `new_creator_type` text DEFAULT 'person' NOT NULL;
--> statement-breakpoint
ALTER TABLE `deployments` ADD `new_creator_membership_id` text DEFAULT '1111111111111111111111' NOT NULL;
--> statement-breakpoint
-- The changelog knows who created a deployment, for as long as it is kept.
UPDATE `deployments` SET
	`new_trigger` = coalesce(`trigger`, 'api'),
	`new_configuration_version` = coalesce(`configuration_version`, 0),
	`new_stack_count` = coalesce(`stack_count`, (SELECT count(*) FROM `deployment_stacks` WHERE `deployment_id` = deployments.id)),
	`new_creators` = coalesce(`creators`, '[]'),
	`new_creator_membership_id` = coalesce(`creator_membership_id`, (SELECT entry.membership_id FROM `changelog_entries` AS entry
		WHERE entry.project_id = deployments.project_id AND entry.created_at BETWEEN deployments.created_at AND deployments.created_at + 1000
			AND entry.record_type = 'deployment' AND entry.record_id = deployments.id AND entry.action = 'created' LIMIT 1), '1111111111111111111111');
--> statement-breakpoint
UPDATE `deployments` SET `new_creator_type` = coalesce(`creator_type`,
	(SELECT `kind` FROM `memberships` WHERE `id` = `new_creator_membership_id`), 'person');
--> statement-breakpoint
ALTER TABLE `deployments` DROP COLUMN `trigger`;
--> statement-breakpoint
ALTER TABLE `deployments` DROP COLUMN `configuration_version`;
--> statement-breakpoint
ALTER TABLE `deployments` DROP COLUMN `stack_count`;
--> statement-breakpoint
ALTER TABLE `deployments` DROP COLUMN `creators`;
--> statement-breakpoint
ALTER TABLE `deployments` DROP COLUMN `creator_type`;
--> statement-breakpoint
ALTER TABLE `deployments` DROP COLUMN `creator_membership_id`;
--> statement-breakpoint
ALTER TABLE `deployments` RENAME COLUMN `new_trigger` TO `trigger`;
--> statement-breakpoint
ALTER TABLE `deployments` RENAME COLUMN `new_configuration_version` TO `configuration_version`;
--> statement-breakpoint
ALTER TABLE `deployments` RENAME COLUMN `new_stack_count` TO `stack_count`;
--> statement-breakpoint
ALTER TABLE `deployments` RENAME COLUMN `new_creators` TO `creators`;
--> statement-breakpoint
ALTER TABLE `deployments` RENAME COLUMN `new_creator_type` TO `creator_type`;
--> statement-breakpoint
ALTER TABLE `deployments` RENAME COLUMN `new_creator_membership_id` TO `creator_membership_id`;
--> statement-breakpoint
CREATE TABLE `new_attempts` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`environment_id` text NOT NULL,
	`deployment_id` text,
	`plan_id` text,
	`pool_id` text NOT NULL,
	`request_id` text NOT NULL,
	`epoch` integer NOT NULL,
	`state` text NOT NULL,
	`offered_until` integer NOT NULL,
	`lease_until` integer,
	`lost_at` integer,
	`outcome` text,
	`completion` text,
	`created_at` integer NOT NULL,
	`started_at` integer,
	`ended_at` integer,
	`token_id` text NOT NULL,
	`run_until` integer,
	`log_pending` integer DEFAULT false NOT NULL,
	`runner_name` text NOT NULL,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE restrict,
	FOREIGN KEY (`environment_id`) REFERENCES `environments`(`id`) ON UPDATE no action ON DELETE restrict,
	FOREIGN KEY (`deployment_id`) REFERENCES `deployments`(`id`) ON UPDATE no action ON DELETE restrict,
	FOREIGN KEY (`pool_id`) REFERENCES `runner_pools`(`id`) ON UPDATE no action ON DELETE restrict,
	CONSTRAINT "attempts_one_run" CHECK((deployment_id is null) <> (plan_id is null))
);
--> statement-breakpoint
INSERT INTO `new_attempts` (`id`, `organization_id`, `environment_id`, `deployment_id`, `plan_id`, `pool_id`, `request_id`, `epoch`, `state`, `offered_until`, `lease_until`, `lost_at`, `outcome`, `completion`, `created_at`, `started_at`, `ended_at`, `token_id`, `run_until`, `log_pending`, `runner_name`)
SELECT `id`, `organization_id`, `environment_id`, `deployment_id`, NULL, `pool_id`, `request_id`, `epoch`, `state`, `offered_until`, `lease_until`, `lost_at`, `outcome`, `completion`, `created_at`, `started_at`, `ended_at`, coalesce(`token_id`, ''), `run_until`, `log_pending`, coalesce(`runner_name`, '') FROM `attempts`;
--> statement-breakpoint
DROP TABLE `attempts`;
--> statement-breakpoint
ALTER TABLE `new_attempts` RENAME TO `attempts`;
--> statement-breakpoint
CREATE UNIQUE INDEX `attempts_request` ON `attempts` (`pool_id`,`request_id`);
--> statement-breakpoint
CREATE UNIQUE INDEX `attempts_live` ON `attempts` (`environment_id`) WHERE state <> 'ended';
--> statement-breakpoint
CREATE INDEX `attempts_token` ON `attempts` (`token_id`,`created_at`,`id`) WHERE state <> 'ended';
--> statement-breakpoint
CREATE INDEX `attempts_runner` ON `attempts` (`token_id`,`runner_name`,`created_at`) WHERE state <> 'ended';
--> statement-breakpoint
CREATE INDEX `attempts_pool` ON `attempts` (`pool_id`,`created_at`,`id`) WHERE state <> 'ended';
--> statement-breakpoint
CREATE INDEX `attempts_environment` ON `attempts` (`environment_id`);
--> statement-breakpoint
CREATE INDEX `attempts_deployment` ON `attempts` (`deployment_id`);
--> statement-breakpoint
CREATE INDEX `attempts_log_pending` ON `attempts` (`ended_at`) WHERE log_pending = 1 and state = 'ended';
--> statement-breakpoint
CREATE TABLE `new_runners` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`pool_id` text NOT NULL,
	`token_id` text NOT NULL,
	`name` text NOT NULL,
	`version` text,
	`wanted_id` text,
	`created_at` integer NOT NULL,
	`last_seen_at` integer NOT NULL,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE restrict,
	FOREIGN KEY (`pool_id`) REFERENCES `runner_pools`(`id`) ON UPDATE no action ON DELETE restrict
);
--> statement-breakpoint
INSERT INTO `new_runners` (`id`, `organization_id`, `pool_id`, `token_id`, `name`, `version`, `wanted_id`, `created_at`, `last_seen_at`)
SELECT `id`, `organization_id`, `pool_id`, `token_id`, `name`, `version`, `wanted_id`, `created_at`, `last_seen_at` FROM `runners`;
--> statement-breakpoint
DROP TABLE `runners`;
--> statement-breakpoint
ALTER TABLE `new_runners` RENAME TO `runners`;
--> statement-breakpoint
CREATE UNIQUE INDEX `runners_name` ON `runners` (`pool_id`,`token_id`,`name`);
--> statement-breakpoint
CREATE INDEX `runners_seen` ON `runners` (`pool_id`,`wanted_id`,`last_seen_at`);
--> statement-breakpoint
CREATE INDEX `runners_list` ON `runners` (`pool_id`,`created_at`,`id`);
--> statement-breakpoint
-- ## Counters, which no trigger has kept meanwhile

DELETE FROM `usage` WHERE `kind` = 'members';
--> statement-breakpoint
INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
SELECT organization_id, 'members', sum(1), sum(octet_length(memberships.id) + octet_length(memberships.organization_id) + octet_length(memberships.account_id) + octet_length(memberships.role) + octet_length(memberships.created_at) + octet_length(memberships.updated_at) + octet_length(memberships.kind) + octet_length(memberships.status) + coalesce(octet_length(memberships.email), 0) + coalesce(octet_length(memberships.added_by_key_id), 0) + coalesce(octet_length(memberships.added_by_session_id), 0) + coalesce(octet_length(memberships.signed_in_at), 0) + octet_length(memberships.record_version)) FROM `memberships`
WHERE organization_id <> '1111111111111111111111' GROUP BY organization_id
ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + excluded.records, `bytes` = `bytes` + excluded.bytes;
--> statement-breakpoint
DELETE FROM `usage` WHERE `kind` = 'others';
--> statement-breakpoint
INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
SELECT organization_id, 'others', sum(1), sum(octet_length(removed_memberships.id) + octet_length(removed_memberships.organization_id) + coalesce(octet_length(removed_memberships.added_by_key_id), 0) + coalesce(octet_length(removed_memberships.added_by_session_id), 0) + octet_length(removed_memberships.created_at) + octet_length(removed_memberships.removed_at)) FROM `removed_memberships`
WHERE organization_id <> '1111111111111111111111' GROUP BY organization_id
ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + excluded.records, `bytes` = `bytes` + excluded.bytes;
--> statement-breakpoint
INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
SELECT organization_id, 'others', sum(1), sum(octet_length(invitations.id) + octet_length(invitations.organization_id) + octet_length(invitations.email) + coalesce(octet_length(invitations.name), 0) + octet_length(invitations.role) + octet_length(invitations.secret_hash) + octet_length(invitations.created_by_key_id) + octet_length(invitations.created_by_membership_id) + coalesce(octet_length(invitations.created_by_session_id), 0) + octet_length(invitations.expires_at) + octet_length(invitations.created_at)) FROM `invitations`
WHERE organization_id <> '1111111111111111111111' GROUP BY organization_id
ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + excluded.records, `bytes` = `bytes` + excluded.bytes;
--> statement-breakpoint
INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
SELECT organization_id, 'others', sum(1), sum(octet_length(revoked_keys.id) + octet_length(revoked_keys.organization_id) + octet_length(revoked_keys.membership_id) + octet_length(revoked_keys.name) + octet_length(revoked_keys.role) + octet_length(revoked_keys.last_four) + octet_length(revoked_keys.created_at) + coalesce(octet_length(revoked_keys.created_by_key_id), 0) + coalesce(octet_length(revoked_keys.created_by_membership_id), 0) + coalesce(octet_length(revoked_keys.issued_by_key_id), 0) + coalesce(octet_length(revoked_keys.created_by_session_id), 0) + coalesce(octet_length(revoked_keys.rotated_by_key_id), 0) + coalesce(octet_length(revoked_keys.replaced_by_key_id), 0) + octet_length(revoked_keys.revoked_at) + coalesce(octet_length(revoked_keys.revoked_by_key_id), 0) + coalesce(octet_length(revoked_keys.revoked_by_membership_id), 0)) FROM `revoked_keys`
WHERE organization_id <> '1111111111111111111111' GROUP BY organization_id
ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + excluded.records, `bytes` = `bytes` + excluded.bytes;
--> statement-breakpoint
INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
SELECT organization_id, 'others', sum(1), sum(octet_length(used_sign_ins.id) + octet_length(used_sign_ins.organization_id) + octet_length(used_sign_ins.expires_at)) FROM `used_sign_ins`
WHERE organization_id <> '1111111111111111111111' GROUP BY organization_id
ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + excluded.records, `bytes` = `bytes` + excluded.bytes;
--> statement-breakpoint
INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
SELECT organization_id, 'others', sum(1), sum(octet_length(sessions.id) + octet_length(sessions.organization_id) + octet_length(sessions.membership_id) + octet_length(sessions.source) + coalesce(octet_length(sessions.key_id), 0) + coalesce(octet_length(sessions.created_by_session_id), 0) + octet_length(sessions.secret_hash) + coalesce(octet_length(sessions.user_agent), 0) + octet_length(sessions.created_at) + octet_length(sessions.expires_at) + coalesce(octet_length(sessions.last_used_at), 0)) FROM `sessions`
WHERE organization_id <> '1111111111111111111111' GROUP BY organization_id
ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + excluded.records, `bytes` = `bytes` + excluded.bytes;
--> statement-breakpoint
INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
SELECT organization_id, 'others', sum(1), sum(octet_length(sign_in_links.id) + octet_length(sign_in_links.organization_id) + octet_length(sign_in_links.membership_id) + octet_length(sign_in_links.key_id) + coalesce(octet_length(sign_in_links.created_by_session_id), 0) + coalesce(octet_length(sign_in_links.session_expires_at), 0) + octet_length(sign_in_links.secret_hash) + octet_length(sign_in_links.created_at) + octet_length(sign_in_links.expires_at)) FROM `sign_in_links`
WHERE organization_id <> '1111111111111111111111' GROUP BY organization_id
ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + excluded.records, `bytes` = `bytes` + excluded.bytes;
--> statement-breakpoint
INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
SELECT organization_id, 'others', sum(1), sum(octet_length(ended_sessions.id) + octet_length(ended_sessions.organization_id) + octet_length(ended_sessions.membership_id) + octet_length(ended_sessions.source) + coalesce(octet_length(ended_sessions.key_id), 0) + coalesce(octet_length(ended_sessions.created_by_session_id), 0) + octet_length(ended_sessions.created_at) + octet_length(ended_sessions.ended_at)) FROM `ended_sessions`
WHERE organization_id <> '1111111111111111111111' GROUP BY organization_id
ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + excluded.records, `bytes` = `bytes` + excluded.bytes;
--> statement-breakpoint
INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
SELECT organization_id, 'others', sum(1), sum(octet_length(runner_pool_environments.pool_id) + octet_length(runner_pool_environments.environment_id) + octet_length(runner_pool_environments.organization_id)) FROM `runner_pool_environments`
WHERE organization_id <> '1111111111111111111111' GROUP BY organization_id
ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + excluded.records, `bytes` = `bytes` + excluded.bytes;
--> statement-breakpoint
INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
SELECT organization_id, 'others', sum(1), sum(octet_length(runners.id) + octet_length(runners.organization_id) + octet_length(runners.pool_id) + octet_length(runners.token_id) + octet_length(runners.name) + coalesce(octet_length(runners.version), 0) + coalesce(octet_length(runners.wanted_id), 0) + octet_length(runners.created_at) + 13) FROM `runners`
WHERE organization_id <> '1111111111111111111111' GROUP BY organization_id
ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + excluded.records, `bytes` = `bytes` + excluded.bytes;
--> statement-breakpoint
INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
SELECT organization_id, 'others', sum(1), sum(octet_length(trusts.id) + octet_length(trusts.organization_id) + octet_length(trusts.name) + octet_length(trusts.issuer) + octet_length(trusts.audience) + octet_length(trusts.conditions) + coalesce(octet_length(trusts.membership_id), 0) + coalesce(octet_length(trusts.pool_id), 0) + coalesce(octet_length(trusts.role), 0) + coalesce(octet_length(trusts.scopes), 0) + coalesce(octet_length(trusts.project_ids), 0) + coalesce(octet_length(trusts.environment_ids), 0) + octet_length(trusts.ttl_seconds) + octet_length(trusts.created_by_key_id) + octet_length(trusts.created_by_membership_id) + coalesce(octet_length(trusts.issued_by_key_id), 0) + coalesce(octet_length(trusts.created_by_session_id), 0) + octet_length(trusts.created_at)) FROM `trusts`
WHERE organization_id <> '1111111111111111111111' GROUP BY organization_id
ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + excluded.records, `bytes` = `bytes` + excluded.bytes;
--> statement-breakpoint
INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
SELECT organization_id, 'others', sum(1), sum(octet_length(used_tokens.id) + octet_length(used_tokens.organization_id) + octet_length(used_tokens.expires_at)) FROM `used_tokens`
WHERE organization_id <> '1111111111111111111111' GROUP BY organization_id
ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + excluded.records, `bytes` = `bytes` + excluded.bytes;
--> statement-breakpoint
INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
SELECT organization_id, 'others', sum(1), sum(octet_length(project_connections.project_id) + octet_length(project_connections.organization_id) + octet_length(project_connections.provider) + octet_length(project_connections.account_id) + octet_length(project_connections.region) + coalesce(octet_length(project_connections.role_arn), 0) + coalesce(octet_length(project_connections.external_id), 0) + coalesce(octet_length(project_connections.settings), 0) + octet_length(project_connections.created_at) + octet_length(project_connections.updated_at)) FROM `project_connections`
WHERE organization_id <> '1111111111111111111111' GROUP BY organization_id
ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + excluded.records, `bytes` = `bytes` + excluded.bytes;
--> statement-breakpoint
INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
SELECT organization_id, 'others', sum(1), sum(octet_length(deployment_days.id) + octet_length(deployment_days.organization_id) + octet_length(deployment_days.project_id) + octet_length(deployment_days.environment_id) + octet_length(deployment_days.day) + 437) FROM `deployment_days`
WHERE organization_id <> '1111111111111111111111' GROUP BY organization_id
ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + excluded.records, `bytes` = `bytes` + excluded.bytes;
--> statement-breakpoint
INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
SELECT organization_id, 'others', sum(1), sum(octet_length(environment_protections.id) + octet_length(environment_protections.environment_id) + octet_length(environment_protections.organization_id) + octet_length(environment_protections.project_id) + octet_length(environment_protections.rules) + octet_length(environment_protections.created_at) + octet_length(environment_protections.updated_at) + octet_length(environment_protections.record_version)) FROM `environment_protections`
WHERE organization_id <> '1111111111111111111111' GROUP BY organization_id
ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + excluded.records, `bytes` = `bytes` + excluded.bytes;
--> statement-breakpoint
INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
SELECT organization_id, 'others', sum(1), sum(octet_length(deployment_approvals.id) + octet_length(deployment_approvals.organization_id) + octet_length(deployment_approvals.environment_id) + octet_length(deployment_approvals.deployment_id) + octet_length(deployment_approvals.membership_id) + octet_length(deployment_approvals.decision) + coalesce(octet_length(deployment_approvals.comment), 0) + octet_length(deployment_approvals.digest) + octet_length(deployment_approvals.basis) + octet_length(deployment_approvals.content) + octet_length(deployment_approvals.created_at)) FROM `deployment_approvals`
WHERE organization_id <> '1111111111111111111111' GROUP BY organization_id
ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + excluded.records, `bytes` = `bytes` + excluded.bytes;
--> statement-breakpoint
INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
SELECT organization_id, 'others', sum(1), sum(octet_length(freezes.id) + octet_length(freezes.organization_id) + coalesce(octet_length(freezes.project_id), 0) + coalesce(octet_length(freezes.environment_ids), 0) + octet_length(freezes.name) + octet_length(freezes.reason) + octet_length(freezes.starts_at) + octet_length(freezes.ends_at) + octet_length(freezes.override) + octet_length(freezes.created_by_membership_id) + octet_length(freezes.created_at)) FROM `freezes`
WHERE organization_id <> '1111111111111111111111' GROUP BY organization_id
ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + excluded.records, `bytes` = `bytes` + excluded.bytes;
--> statement-breakpoint
INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
SELECT organization_id, 'others', sum(1), sum(octet_length(recoveries.id) + octet_length(recoveries.organization_id) + octet_length(recoveries.project_id) + octet_length(recoveries.integration_id) + octet_length(recoveries.since) + octet_length(recoveries.until) + octet_length(recoveries.status) + coalesce(octet_length(recoveries.position), 0) + octet_length(recoveries.recovered) + octet_length(recoveries.created_at) + octet_length(recoveries.updated_at) + coalesce(octet_length(recoveries.finished_at), 0)) FROM `recoveries`
WHERE organization_id <> '1111111111111111111111' GROUP BY organization_id
ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + excluded.records, `bytes` = `bytes` + excluded.bytes;
--> statement-breakpoint
DELETE FROM `usage` WHERE `kind` = 'api_keys';
--> statement-breakpoint
INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
SELECT organization_id, 'api_keys', sum(iif(api_keys.session_id IS NULL AND api_keys.trust_id IS NULL, 1, 0)), sum(octet_length(api_keys.id) + octet_length(api_keys.organization_id) + octet_length(api_keys.membership_id) + octet_length(api_keys.name) + octet_length(api_keys.role) + octet_length(api_keys.secret_hash) + octet_length(api_keys.last_four) + octet_length(api_keys.version) + coalesce(octet_length(api_keys.expires_at), 0) + octet_length(api_keys.created_at) + coalesce(octet_length(api_keys.scopes), 0) + coalesce(octet_length(api_keys.project_ids), 0) + coalesce(octet_length(api_keys.environment_ids), 0) + coalesce(octet_length(api_keys.created_by_key_id), 0) + coalesce(octet_length(api_keys.created_by_membership_id), 0) + coalesce(octet_length(api_keys.issued_by_key_id), 0) + coalesce(octet_length(api_keys.created_by_session_id), 0) + coalesce(octet_length(api_keys.rotated_by_key_id), 0) + coalesce(octet_length(api_keys.replaced_by_key_id), 0) + coalesce(octet_length(api_keys.trust_id), 0) + coalesce(octet_length(api_keys.claims), 0) + coalesce(octet_length(api_keys.session_id), 0) + octet_length(api_keys.is_own) + octet_length(api_keys.expires_by_policy) + octet_length(api_keys.record_version) + 13) FROM `api_keys`
WHERE organization_id <> '1111111111111111111111' GROUP BY organization_id
ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + excluded.records, `bytes` = `bytes` + excluded.bytes;
--> statement-breakpoint
DELETE FROM `usage` WHERE `kind` = 'runner_pools';
--> statement-breakpoint
INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
SELECT organization_id, 'runner_pools', sum(1), sum(octet_length(runner_pools.id) + octet_length(runner_pools.organization_id) + octet_length(runner_pools.name) + octet_length(runner_pools.created_at) + octet_length(runner_pools.updated_at) + octet_length(runner_pools.max_run_seconds) + octet_length(runner_pools.record_version)) FROM `runner_pools`
WHERE organization_id <> '1111111111111111111111' GROUP BY organization_id
ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + excluded.records, `bytes` = `bytes` + excluded.bytes;
--> statement-breakpoint
DELETE FROM `usage` WHERE `kind` = 'runner_tokens';
--> statement-breakpoint
INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
SELECT organization_id, 'runner_tokens', sum(iif(runner_tokens.trust_id IS NULL, 1, 0)), sum(octet_length(runner_tokens.id) + octet_length(runner_tokens.organization_id) + octet_length(runner_tokens.pool_id) + octet_length(runner_tokens.name) + octet_length(runner_tokens.secret_hash) + octet_length(runner_tokens.last_four) + octet_length(runner_tokens.version) + octet_length(runner_tokens.created_at) + coalesce(octet_length(runner_tokens.expires_at), 0) + coalesce(octet_length(runner_tokens.created_by_key_id), 0) + coalesce(octet_length(runner_tokens.created_by_membership_id), 0) + coalesce(octet_length(runner_tokens.issued_by_key_id), 0) + coalesce(octet_length(runner_tokens.created_by_session_id), 0) + coalesce(octet_length(runner_tokens.rotated_by_key_id), 0) + coalesce(octet_length(runner_tokens.trust_id), 0) + 13) FROM `runner_tokens`
WHERE organization_id <> '1111111111111111111111' GROUP BY organization_id
ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + excluded.records, `bytes` = `bytes` + excluded.bytes;
--> statement-breakpoint
DELETE FROM `usage` WHERE `kind` = 'projects';
--> statement-breakpoint
INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
SELECT organization_id, 'projects', sum(1), sum(octet_length(projects.id) + octet_length(projects.organization_id) + octet_length(projects.name) + coalesce(octet_length(projects.description), 0) + coalesce(octet_length(projects.icon), 0) + coalesce(octet_length(projects.repo_id), 0) + octet_length(projects.default_environment_id) + octet_length(projects.connection_status) + coalesce(octet_length(projects.disconnected_at), 0) + coalesce(octet_length(projects.disconnected_by), 0) + octet_length(projects.created_at) + octet_length(projects.updated_at) + octet_length(projects.record_version)) FROM `projects`
WHERE organization_id <> '1111111111111111111111' GROUP BY organization_id
ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + excluded.records, `bytes` = `bytes` + excluded.bytes;
--> statement-breakpoint
DELETE FROM `usage` WHERE `kind` = 'project_members';
--> statement-breakpoint
INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
SELECT organization_id, 'project_members', sum(1), sum(octet_length(project_members.project_id) + octet_length(project_members.membership_id) + octet_length(project_members.organization_id) + octet_length(project_members.role) + octet_length(project_members.created_at) + octet_length(project_members.project_created_at) + octet_length(project_members.record_version)) FROM `project_members`
WHERE organization_id <> '1111111111111111111111' GROUP BY organization_id
ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + excluded.records, `bytes` = `bytes` + excluded.bytes;
--> statement-breakpoint
DELETE FROM `usage` WHERE `kind` = 'environments';
--> statement-breakpoint
INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
SELECT organization_id, 'environments', sum(1), sum(octet_length(environments.id) + octet_length(environments.organization_id) + octet_length(environments.project_id) + octet_length(environments.name) + octet_length(environments.configuration) + coalesce(octet_length(environments.source), 0) + octet_length(environments.created_at) + octet_length(environments.updated_at) + octet_length(environments.epoch) + octet_length(environments.started_number) + octet_length(environments.configuration_version) + octet_length(environments.record_version)) FROM `environments`
WHERE organization_id <> '1111111111111111111111' GROUP BY organization_id
ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + excluded.records, `bytes` = `bytes` + excluded.bytes;
--> statement-breakpoint
DELETE FROM `usage` WHERE `kind` = 'components';
--> statement-breakpoint
INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
SELECT organization_id, 'components', sum(1), sum(octet_length(components.id) + octet_length(components.organization_id) + octet_length(components.project_id) + octet_length(components.environment_id) + octet_length(components.name) + octet_length(components.kind) + octet_length(components.created_at) + octet_length(components.updated_at) + octet_length(components.record_version)) FROM `components`
WHERE organization_id <> '1111111111111111111111' GROUP BY organization_id
ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + excluded.records, `bytes` = `bytes` + excluded.bytes;
--> statement-breakpoint
DELETE FROM `usage` WHERE `kind` = 'stacks';
--> statement-breakpoint
INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
SELECT organization_id, 'stacks', sum(1), sum(octet_length(stacks.id) + octet_length(stacks.organization_id) + octet_length(stacks.project_id) + octet_length(stacks.environment_id) + coalesce(octet_length(stacks.component_id), 0) + octet_length(stacks.name) + octet_length(stacks.outputs) + octet_length(stacks.created_at) + octet_length(stacks.updated_at) + octet_length(stacks.record_version) + 4 + stacks.resource_bytes) FROM `stacks`
WHERE organization_id <> '1111111111111111111111' GROUP BY organization_id
ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + excluded.records, `bytes` = `bytes` + excluded.bytes;
--> statement-breakpoint
DELETE FROM `usage` WHERE `kind` = 'alarms';
--> statement-breakpoint
INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
SELECT organization_id, 'alarms', sum(1), sum(octet_length(alarms.id) + octet_length(alarms.stack_id) + octet_length(alarms.environment_id) + octet_length(alarms.source) + octet_length(alarms.name) + octet_length(alarms.organization_id) + octet_length(alarms.project_id) + octet_length(alarms.state) + coalesce(octet_length(alarms.reason), 0) + octet_length(alarms.created_at) + octet_length(alarms.changed_at) + octet_length(alarms.updated_at)) FROM `alarms`
WHERE organization_id <> '1111111111111111111111' GROUP BY organization_id
ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + excluded.records, `bytes` = `bytes` + excluded.bytes;
--> statement-breakpoint
DELETE FROM `usage` WHERE `kind` = 'variables';
--> statement-breakpoint
INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
SELECT organization_id, 'variables', sum(1), sum(octet_length(variables.id) + octet_length(variables.organization_id) + octet_length(variables.project_id) + octet_length(variables.environment_id) + coalesce(octet_length(variables.component_id), 0) + octet_length(variables.scope_id) + octet_length(variables.name) + octet_length(variables.storage_method) + octet_length(variables.resource_id) + octet_length(variables.value) + octet_length(variables.version) + octet_length(variables.created_at) + octet_length(variables.updated_at)) FROM `variables`
WHERE organization_id <> '1111111111111111111111' GROUP BY organization_id
ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + excluded.records, `bytes` = `bytes` + excluded.bytes;
--> statement-breakpoint
DELETE FROM `usage` WHERE `kind` = 'deployments';
--> statement-breakpoint
INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
SELECT organization_id, 'deployments', sum(1), sum(iif(deployments.configuration = '', 0, octet_length(deployments.id) + octet_length(deployments.organization_id) + octet_length(deployments.project_id) + octet_length(deployments.environment_id) + octet_length(deployments.number) + octet_length(deployments.queue) + octet_length(deployments.patch) + coalesce(octet_length(deployments.source), 0) + octet_length(deployments.keeps_source) + octet_length(deployments.trigger) + coalesce(octet_length(deployments.reason), 0) + octet_length(deployments.created_at) + octet_length(deployments.updated_at) + octet_length(deployments.configuration_version) + octet_length(deployments.is_absolute) + octet_length(deployments.stack_count) + octet_length(deployments.reason_bytes) + octet_length(deployments.kept_rules) + octet_length(deployments.creators) + coalesce(octet_length(deployments.claims), 0) + coalesce(octet_length(deployments.exempt), 0) + coalesce(octet_length(deployments.overridden), 0) + octet_length(deployments.creator_type) + octet_length(deployments.creator_membership_id) + coalesce(octet_length(deployments.creator_trust_id), 0) + coalesce(octet_length(deployments.copied_id), 0) + 74 + 2 * coalesce(octet_length(deployments.failure_reason), 0) + 2 * coalesce(octet_length(deployments.message), 0) + deployments.reason_bytes + 139 * deployments.stack_count + 300 * (deployments.lapsed_offers + deployments.released_offers + (deployments.started_at IS NOT NULL)) + octet_length(deployments.configuration))) FROM `deployments`
WHERE organization_id <> '1111111111111111111111' GROUP BY organization_id
ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + excluded.records, `bytes` = `bytes` + excluded.bytes;
--> statement-breakpoint
DELETE FROM `history_usage` WHERE `kind` = 'deployments';
--> statement-breakpoint
INSERT INTO `history_usage` (`organization_id`, `kind`, `records`, `bytes`)
SELECT organization_id, 'deployments', count(*), sum(octet_length(deployments.id) + octet_length(deployments.organization_id) + octet_length(deployments.project_id) + octet_length(deployments.environment_id) + octet_length(deployments.number) + octet_length(deployments.queue) + octet_length(deployments.patch) + coalesce(octet_length(deployments.source), 0) + octet_length(deployments.keeps_source) + octet_length(deployments.trigger) + coalesce(octet_length(deployments.reason), 0) + octet_length(deployments.created_at) + octet_length(deployments.updated_at) + octet_length(deployments.configuration_version) + octet_length(deployments.is_absolute) + octet_length(deployments.stack_count) + octet_length(deployments.reason_bytes) + octet_length(deployments.kept_rules) + octet_length(deployments.creators) + coalesce(octet_length(deployments.claims), 0) + coalesce(octet_length(deployments.exempt), 0) + coalesce(octet_length(deployments.overridden), 0) + octet_length(deployments.creator_type) + octet_length(deployments.creator_membership_id) + coalesce(octet_length(deployments.creator_trust_id), 0) + coalesce(octet_length(deployments.copied_id), 0) + 74 + 2 * coalesce(octet_length(deployments.failure_reason), 0) + 2 * coalesce(octet_length(deployments.message), 0) + deployments.reason_bytes + 139 * deployments.stack_count + 300 * (deployments.lapsed_offers + deployments.released_offers + (deployments.started_at IS NOT NULL))) FROM `deployments`
WHERE configuration = '' GROUP BY organization_id;
--> statement-breakpoint
DELETE FROM `usage` WHERE `kind` = 'integrations';
--> statement-breakpoint
INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
SELECT organization_id, 'integrations', sum(1), sum(octet_length(integrations.id) + octet_length(integrations.organization_id) + octet_length(integrations.project_id) + octet_length(integrations.type) + octet_length(integrations.configuration) + octet_length(integrations.url) + octet_length(integrations.shown_url) + coalesce(octet_length(integrations.environment_ids), 0) + coalesce(octet_length(integrations.stack_ids), 0) + coalesce(octet_length(integrations.secret), 0) + coalesce(octet_length(integrations.previous_secret), 0) + coalesce(octet_length(integrations.previous_secret_until), 0) + coalesce(octet_length(integrations.disabled_at), 0) + coalesce(octet_length(integrations.disabled_reason), 0) + coalesce(octet_length(integrations.failing_since), 0) + coalesce(octet_length(integrations.paused_until), 0) + coalesce(octet_length(integrations.failure_notified_at), 0) + coalesce(octet_length(integrations.pause_notified_at), 0) + coalesce(octet_length(integrations.last_sent_at), 0) + coalesce(octet_length(integrations.links_to), 0) + coalesce(octet_length(integrations.slack_channel), 0) + coalesce(octet_length(integrations.confirmed_at), 0) + coalesce(octet_length(integrations.confirm_by), 0) + octet_length(integrations.created_at) + octet_length(integrations.updated_at) + octet_length(integrations.record_version)) FROM `integrations`
WHERE organization_id <> '1111111111111111111111' GROUP BY organization_id
ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + excluded.records, `bytes` = `bytes` + excluded.bytes;
--> statement-breakpoint
-- The schedule counts the history again, as after a restore.
DELETE FROM `history_usage` WHERE `kind` <> 'deployments';
--> statement-breakpoint
DELETE FROM `history_positions`;
