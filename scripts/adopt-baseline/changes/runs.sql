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
