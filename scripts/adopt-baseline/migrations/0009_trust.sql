CREATE TABLE `revoked_keys` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`membership_id` text NOT NULL,
	`name` text NOT NULL,
	`role` text NOT NULL,
	`last_four` text NOT NULL,
	`created_at` integer NOT NULL,
	`created_by_key_id` text,
	`created_by_membership_id` text,
	`replaced_by_key_id` text,
	`revoked_at` integer NOT NULL,
	`revoked_by_key_id` text,
	`revoked_by_membership_id` text,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE restrict
);
--> statement-breakpoint
CREATE INDEX `revoked_keys_list` ON `revoked_keys` (`organization_id`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `revoked_keys_membership` ON `revoked_keys` (`membership_id`);--> statement-breakpoint
CREATE INDEX `revoked_keys_created_by` ON `revoked_keys` (`created_by_key_id`);--> statement-breakpoint
CREATE TABLE `audit_log` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`created_at` integer NOT NULL,
	`action` text NOT NULL,
	`outcome` text NOT NULL,
	`actor_type` text NOT NULL,
	`credential_id` text,
	`membership_id` text,
	`account_id` text,
	`pool_id` text,
	`creator_key_id` text,
	`creator_membership_id` text,
	`target_type` text NOT NULL,
	`target_id` text NOT NULL,
	`target_name` text,
	`project_id` text,
	`client_address` text,
	`user_agent` text,
	`request_id` text,
	`changes` text,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE restrict
);
--> statement-breakpoint
CREATE INDEX `audit_log_list` ON `audit_log` (`organization_id`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `audit_log_project` ON `audit_log` (`project_id`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `audit_log_credential` ON `audit_log` (`credential_id`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `audit_log_membership` ON `audit_log` (`membership_id`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `audit_log_target` ON `audit_log` (`target_id`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `audit_log_action` ON `audit_log` (`organization_id`,`action`,`created_at`,`id`);--> statement-breakpoint
CREATE TABLE `invitations` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`email` text NOT NULL,
	`name` text,
	`role` text NOT NULL,
	`secret_hash` text NOT NULL,
	`created_by_key_id` text NOT NULL,
	`created_by_membership_id` text NOT NULL,
	`expires_at` integer NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE restrict
);
--> statement-breakpoint
CREATE UNIQUE INDEX `invitations_secret_hash` ON `invitations` (`secret_hash`);--> statement-breakpoint
CREATE UNIQUE INDEX `invitations_email` ON `invitations` (`organization_id`,`email`);--> statement-breakpoint
CREATE INDEX `invitations_list` ON `invitations` (`organization_id`,`created_at`,`id`);--> statement-breakpoint
CREATE TABLE `trusts` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`name` text NOT NULL,
	`issuer` text NOT NULL,
	`audience` text NOT NULL,
	`conditions` text NOT NULL,
	`membership_id` text,
	`pool_id` text,
	`role` text,
	`scopes` text,
	`project_ids` text,
	`environment_ids` text,
	`ttl_seconds` integer NOT NULL,
	`created_by_key_id` text NOT NULL,
	`created_by_membership_id` text NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE restrict,
	FOREIGN KEY (`membership_id`) REFERENCES `memberships`(`id`) ON UPDATE no action ON DELETE restrict,
	FOREIGN KEY (`pool_id`) REFERENCES `runner_pools`(`id`) ON UPDATE no action ON DELETE restrict
);
--> statement-breakpoint
CREATE INDEX `trusts_list` ON `trusts` (`organization_id`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `trusts_issuer` ON `trusts` (`organization_id`,`issuer`);--> statement-breakpoint
CREATE INDEX `trusts_membership` ON `trusts` (`membership_id`);--> statement-breakpoint
CREATE INDEX `trusts_pool` ON `trusts` (`pool_id`);--> statement-breakpoint
CREATE INDEX `trusts_created_by` ON `trusts` (`created_by_key_id`);--> statement-breakpoint
CREATE TABLE `used_tokens` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`expires_at` integer NOT NULL,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE restrict
);
--> statement-breakpoint
CREATE INDEX `used_tokens_expires` ON `used_tokens` (`expires_at`);--> statement-breakpoint
ALTER TABLE `api_keys` ADD `scopes` text;--> statement-breakpoint
ALTER TABLE `api_keys` ADD `project_ids` text;--> statement-breakpoint
ALTER TABLE `api_keys` ADD `environment_ids` text;--> statement-breakpoint
ALTER TABLE `api_keys` ADD `narrowed_expires_at` integer;--> statement-breakpoint
ALTER TABLE `api_keys` ADD `created_by_key_id` text;--> statement-breakpoint
ALTER TABLE `api_keys` ADD `created_by_membership_id` text;--> statement-breakpoint
ALTER TABLE `api_keys` ADD `trust_id` text;--> statement-breakpoint
ALTER TABLE `api_keys` ADD `replaced_by_key_id` text;--> statement-breakpoint
ALTER TABLE `api_keys` ADD `is_own` integer DEFAULT false NOT NULL;--> statement-breakpoint
CREATE INDEX `api_keys_created_by` ON `api_keys` (`created_by_key_id`);--> statement-breakpoint
CREATE INDEX `api_keys_trust` ON `api_keys` (`trust_id`,`narrowed_expires_at`) WHERE trust_id is not null;--> statement-breakpoint
CREATE INDEX `api_keys_trust_expires` ON `api_keys` (`narrowed_expires_at`) WHERE trust_id is not null;--> statement-breakpoint
ALTER TABLE `memberships` ADD `kind` text DEFAULT 'person' NOT NULL;--> statement-breakpoint
ALTER TABLE `memberships` ADD `status` text DEFAULT 'active' NOT NULL;--> statement-breakpoint
ALTER TABLE `memberships` ADD `email` text;--> statement-breakpoint
CREATE UNIQUE INDEX `memberships_organization_email` ON `memberships` (`organization_id`,`email`);--> statement-breakpoint
ALTER TABLE `organizations` ADD `max_key_age_seconds` integer;--> statement-breakpoint
ALTER TABLE `runner_tokens` ADD `expires_at` integer;--> statement-breakpoint
ALTER TABLE `runner_tokens` ADD `created_by_key_id` text;--> statement-breakpoint
ALTER TABLE `runner_tokens` ADD `created_by_membership_id` text;--> statement-breakpoint
ALTER TABLE `runner_tokens` ADD `trust_id` text;--> statement-breakpoint
CREATE INDEX `runner_tokens_list` ON `runner_tokens` (`pool_id`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `runner_tokens_trust` ON `runner_tokens` (`trust_id`,`expires_at`) WHERE trust_id is not null;--> statement-breakpoint
CREATE INDEX `changelog_entries_member` ON `changelog_entries` (`record_id`) WHERE record_type = 'project_member';--> statement-breakpoint
CREATE INDEX `changelog_entries_account` ON `changelog_entries` (coalesce(`after`, `before`) ->> '$.account_id') WHERE record_type = 'project_member';--> statement-breakpoint
CREATE INDEX `audit_log_account` ON `audit_log` (coalesce(`changes` ->> '$.after.account_id', `changes` ->> '$.before.account_id')) WHERE target_type = 'member';--> statement-breakpoint
CREATE INDEX `runner_tokens_trust_expires` ON `runner_tokens` (`expires_at`) WHERE trust_id is not null;--> statement-breakpoint
CREATE INDEX `runner_tokens_created_by` ON `runner_tokens` (`created_by_key_id`);--> statement-breakpoint
UPDATE `memberships` SET `email` = (SELECT `email` FROM `accounts` WHERE `accounts`.`id` = `memberships`.`account_id`);--> statement-breakpoint
CREATE TRIGGER `memberships_email` AFTER INSERT ON `memberships` WHEN new.email IS NULL BEGIN
	UPDATE `memberships` SET `email` = (SELECT `email` FROM `accounts` WHERE `id` = new.account_id AND `email` LIKE '%@%')
	WHERE `id` = new.id;
END;
--> statement-breakpoint
UPDATE `api_keys` SET `is_own` = 1, `created_by_membership_id` = `membership_id`
WHERE EXISTS (
	SELECT 1 FROM `memberships` JOIN `organizations` ON `organizations`.`id` = `memberships`.`organization_id`
	WHERE `memberships`.`id` = `api_keys`.`membership_id`
		AND `memberships`.`created_at` = `organizations`.`created_at`
		AND `api_keys`.`created_at` = `organizations`.`created_at`
);--> statement-breakpoint
CREATE TRIGGER `usage_api_keys_trust_insert` AFTER INSERT ON `api_keys` WHEN new.trust_id IS NOT NULL BEGIN
	INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`) VALUES (new.organization_id, 'api_keys', -1, 0)
	ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` - 1;
END;
--> statement-breakpoint
CREATE TRIGGER `usage_api_keys_trust_delete` AFTER DELETE ON `api_keys` WHEN old.trust_id IS NOT NULL BEGIN
	UPDATE `usage` SET `records` = `records` + 1 WHERE `organization_id` = old.organization_id AND `kind` = 'api_keys';
END;
--> statement-breakpoint
CREATE TRIGGER `usage_runner_tokens_trust_insert` AFTER INSERT ON `runner_tokens` WHEN new.trust_id IS NOT NULL BEGIN
	INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`) VALUES (new.organization_id, 'runner_tokens', -1, 0)
	ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` - 1;
END;
--> statement-breakpoint
CREATE TRIGGER `usage_runner_tokens_trust_delete` AFTER DELETE ON `runner_tokens` WHEN old.trust_id IS NOT NULL BEGIN
	UPDATE `usage` SET `records` = `records` + 1 WHERE `organization_id` = old.organization_id AND `kind` = 'runner_tokens';
END;
--> statement-breakpoint
INSERT INTO `audit_log` (`id`, `organization_id`, `created_at`, `action`, `outcome`, `actor_type`, `credential_id`, `membership_id`, `account_id`, `pool_id`, `target_type`, `target_id`, `project_id`)
SELECT `id`, `organization_id`, `created_at`, `action`, 'success',
	iif(`action` = 'variables.delivered', 'runner_token', iif(`action` = 'variable.revealed', 'api_key', 'operator')),
	iif(`action` LIKE 'variable%', `key_id`, NULL),
	iif(`action` = 'variable.revealed', `membership_id`, NULL),
	iif(`action` = 'variable.revealed', `account_id`, NULL),
	iif(`action` = 'variables.delivered', `account_id`, NULL),
	iif(`action` = 'variables.delivered', 'attempt', iif(`action` = 'variable.revealed', 'variable',
		iif(EXISTS (SELECT 1 FROM `runner_tokens` WHERE `runner_tokens`.`id` = `record_id`), 'runner_token', 'api_key'))),
	`record_id`, iif(`action` LIKE 'variable%', `project_id`, NULL)
FROM `audit_records`;--> statement-breakpoint
CREATE TRIGGER `audit_records_copy` AFTER INSERT ON `audit_records` BEGIN
	INSERT INTO `audit_log` (`id`, `organization_id`, `created_at`, `action`, `outcome`, `actor_type`, `credential_id`, `membership_id`, `account_id`, `pool_id`, `target_type`, `target_id`, `project_id`)
	SELECT new.id, new.organization_id, new.created_at, new.action, 'success',
		iif(new.action = 'variables.delivered', 'runner_token', iif(new.action = 'variable.revealed', 'api_key', 'operator')),
		iif(new.action LIKE 'variable%', new.key_id, NULL),
		iif(new.action = 'variable.revealed', new.membership_id, NULL),
		iif(new.action = 'variable.revealed', new.account_id, NULL),
		iif(new.action = 'variables.delivered', new.account_id, NULL),
		iif(new.action = 'variables.delivered', 'attempt', iif(new.action = 'variable.revealed', 'variable',
		iif(EXISTS (SELECT 1 FROM `runner_tokens` WHERE `runner_tokens`.`id` = new.record_id), 'runner_token', 'api_key'))),
		new.record_id, iif(new.action LIKE 'variable%', new.project_id, NULL);
END;
