CREATE TABLE `idempotency_records` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`credential_id` text NOT NULL,
	`key` text NOT NULL,
	`fingerprint` text NOT NULL,
	`status` integer NOT NULL,
	`result` text NOT NULL,
	`secrets` text NOT NULL,
	`changed_keys` text NOT NULL,
	`created_at` integer NOT NULL,
	`preceding_bytes` integer DEFAULT 0 NOT NULL,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE restrict
);
--> statement-breakpoint
CREATE UNIQUE INDEX `idempotency_records_key` ON `idempotency_records` (`credential_id`,`key`);--> statement-breakpoint
CREATE INDEX `idempotency_records_size` ON `idempotency_records` (`organization_id`,`preceding_bytes`);--> statement-breakpoint
CREATE INDEX `idempotency_records_age` ON `idempotency_records` (`created_at`);--> statement-breakpoint
ALTER TABLE `api_keys` ADD `record_version` integer DEFAULT 1 NOT NULL;--> statement-breakpoint
ALTER TABLE `components` ADD `record_version` integer DEFAULT 1 NOT NULL;--> statement-breakpoint
ALTER TABLE `deployments` ADD `record_version` integer DEFAULT 1 NOT NULL;--> statement-breakpoint
ALTER TABLE `environments` ADD `record_version` integer DEFAULT 1 NOT NULL;--> statement-breakpoint
ALTER TABLE `accounts` ADD `record_version` integer DEFAULT 1 NOT NULL;--> statement-breakpoint
ALTER TABLE `memberships` ADD `record_version` integer DEFAULT 1 NOT NULL;--> statement-breakpoint
ALTER TABLE `integrations` ADD `record_version` integer DEFAULT 1 NOT NULL;--> statement-breakpoint
ALTER TABLE `organizations` ADD `record_version` integer DEFAULT 1 NOT NULL;--> statement-breakpoint
ALTER TABLE `project_members` ADD `record_version` integer DEFAULT 1 NOT NULL;--> statement-breakpoint
ALTER TABLE `projects` ADD `record_version` integer DEFAULT 1 NOT NULL;--> statement-breakpoint
ALTER TABLE `runner_pools` ADD `record_version` integer DEFAULT 1 NOT NULL;--> statement-breakpoint
ALTER TABLE `stacks` ADD `record_version` integer DEFAULT 1 NOT NULL;--> statement-breakpoint
CREATE INDEX `audit_records_organization` ON `audit_records` (`organization_id`);--> statement-breakpoint
CREATE INDEX `used_tokens_organization` ON `used_tokens` (`organization_id`);
--> statement-breakpoint
CREATE TRIGGER `projects_record_version` AFTER UPDATE OF `name`, `description`, `icon`, `repo_id`, `default_environment_id` ON `projects`
WHEN new.record_version = old.record_version AND (new.name IS NOT old.name OR new.description IS NOT old.description OR new.icon IS NOT old.icon OR new.repo_id IS NOT old.repo_id OR new.default_environment_id IS NOT old.default_environment_id) BEGIN
	UPDATE `projects` SET `record_version` = old.record_version + 1 WHERE `rowid` = new.rowid;
END;
--> statement-breakpoint
CREATE TRIGGER `project_members_record_version` AFTER UPDATE OF `role` ON `project_members`
WHEN new.record_version = old.record_version AND (new.role IS NOT old.role) BEGIN
	UPDATE `project_members` SET `record_version` = old.record_version + 1 WHERE `rowid` = new.rowid;
END;
--> statement-breakpoint
CREATE TRIGGER `environments_record_version` AFTER UPDATE OF `name`, `configuration` ON `environments`
WHEN new.record_version = old.record_version AND (new.name IS NOT old.name OR new.configuration IS NOT old.configuration) BEGIN
	UPDATE `environments` SET `record_version` = old.record_version + 1 WHERE `rowid` = new.rowid;
END;
--> statement-breakpoint
CREATE TRIGGER `components_record_version` AFTER UPDATE OF `name`, `kind` ON `components`
WHEN new.record_version = old.record_version AND (new.name IS NOT old.name OR new.kind IS NOT old.kind) BEGIN
	UPDATE `components` SET `record_version` = old.record_version + 1 WHERE `rowid` = new.rowid;
END;
--> statement-breakpoint
CREATE TRIGGER `stacks_record_version` AFTER UPDATE OF `name`, `component_id` ON `stacks`
WHEN new.record_version = old.record_version AND (new.name IS NOT old.name OR new.component_id IS NOT old.component_id) BEGIN
	UPDATE `stacks` SET `record_version` = old.record_version + 1 WHERE `rowid` = new.rowid;
END;
--> statement-breakpoint
CREATE TRIGGER `integrations_record_version` AFTER UPDATE OF `configuration`, `shown_url`, `environment_ids`, `stack_ids`, `previous_secret_until` ON `integrations`
WHEN new.record_version = old.record_version AND (new.configuration IS NOT old.configuration OR new.shown_url IS NOT old.shown_url OR new.environment_ids IS NOT old.environment_ids OR new.stack_ids IS NOT old.stack_ids OR new.previous_secret_until IS NOT old.previous_secret_until) BEGIN
	UPDATE `integrations` SET `record_version` = old.record_version + 1 WHERE `rowid` = new.rowid;
END;
--> statement-breakpoint
CREATE TRIGGER `organizations_record_version` AFTER UPDATE OF `name`, `max_key_age_seconds` ON `organizations`
WHEN new.record_version = old.record_version AND (new.name IS NOT old.name OR new.max_key_age_seconds IS NOT old.max_key_age_seconds) BEGIN
	UPDATE `organizations` SET `record_version` = old.record_version + 1 WHERE `rowid` = new.rowid;
END;
--> statement-breakpoint
CREATE TRIGGER `memberships_record_version` AFTER UPDATE OF `role` ON `memberships`
WHEN new.record_version = old.record_version AND (new.role IS NOT old.role) BEGIN
	UPDATE `memberships` SET `record_version` = old.record_version + 1 WHERE `rowid` = new.rowid;
END;
--> statement-breakpoint
CREATE TRIGGER `accounts_record_version` AFTER UPDATE OF `name`, `display_name`, `avatar`, `profile` ON `accounts`
WHEN new.record_version = old.record_version AND (new.name IS NOT old.name OR new.display_name IS NOT old.display_name OR new.avatar IS NOT old.avatar OR new.profile IS NOT old.profile) BEGIN
	UPDATE `accounts` SET `record_version` = old.record_version + 1 WHERE `rowid` = new.rowid;
END;
--> statement-breakpoint
CREATE TRIGGER `api_keys_record_version` AFTER UPDATE OF `name`, `expires_at`, `narrowed_expires_at` ON `api_keys`
WHEN new.record_version = old.record_version AND (new.name IS NOT old.name OR new.expires_at IS NOT old.expires_at OR new.narrowed_expires_at IS NOT old.narrowed_expires_at) BEGIN
	UPDATE `api_keys` SET `record_version` = old.record_version + 1 WHERE `rowid` = new.rowid;
END;
--> statement-breakpoint
CREATE TRIGGER `idempotency_records_size` AFTER INSERT ON `idempotency_records` BEGIN
	UPDATE `idempotency_records` SET `preceding_bytes` = coalesce((
		SELECT last.preceding_bytes + 300 + octet_length(last.key) + octet_length(last.result) + octet_length(last.secrets) + octet_length(last.changed_keys)
		FROM `idempotency_records` AS last WHERE last.organization_id = new.organization_id AND last.id <> new.id
		ORDER BY last.preceding_bytes DESC LIMIT 1), 0)
	WHERE `id` = new.id;
	DELETE FROM `idempotency_records` WHERE `organization_id` = new.organization_id AND `id` <> new.id
		AND `preceding_bytes` < (SELECT newest.preceding_bytes FROM `idempotency_records` AS newest WHERE newest.id = new.id)
			+ 300 + octet_length(new.key) + octet_length(new.result) + octet_length(new.secrets) + octet_length(new.changed_keys) - 67108864;
END;
