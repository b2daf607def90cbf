CREATE TABLE `deployment_approvals` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`environment_id` text NOT NULL,
	`deployment_id` text NOT NULL,
	`membership_id` text NOT NULL,
	`decision` text NOT NULL,
	`comment` text,
	`digest` text NOT NULL,
	`basis` text NOT NULL,
	`content` text NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE restrict,
	FOREIGN KEY (`environment_id`) REFERENCES `environments`(`id`) ON UPDATE no action ON DELETE restrict,
	FOREIGN KEY (`deployment_id`) REFERENCES `deployments`(`id`) ON UPDATE no action ON DELETE restrict
);
--> statement-breakpoint
CREATE UNIQUE INDEX `deployment_approvals_member` ON `deployment_approvals` (`deployment_id`,`membership_id`);--> statement-breakpoint
CREATE INDEX `deployment_approvals_environment` ON `deployment_approvals` (`environment_id`);--> statement-breakpoint
CREATE TABLE `freezes` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`project_id` text,
	`environment_ids` text,
	`name` text NOT NULL,
	`reason` text NOT NULL,
	`starts_at` integer NOT NULL,
	`ends_at` integer NOT NULL,
	`override` text NOT NULL,
	`created_by_membership_id` text NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE restrict,
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE restrict
);
--> statement-breakpoint
CREATE INDEX `freezes_list` ON `freezes` (`organization_id`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `freezes_ends` ON `freezes` (`organization_id`,`ends_at`);--> statement-breakpoint
CREATE INDEX `freezes_project` ON `freezes` (`project_id`,`created_at`,`id`);--> statement-breakpoint
CREATE TABLE `environment_protections` (
	`id` text PRIMARY KEY NOT NULL,
	`environment_id` text NOT NULL,
	`organization_id` text NOT NULL,
	`project_id` text NOT NULL,
	`rules` text NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`record_version` integer DEFAULT 1 NOT NULL,
	FOREIGN KEY (`environment_id`) REFERENCES `environments`(`id`) ON UPDATE no action ON DELETE restrict,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE restrict,
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE restrict
);
--> statement-breakpoint
CREATE UNIQUE INDEX `environment_protections_environment` ON `environment_protections` (`environment_id`);--> statement-breakpoint
CREATE INDEX `environment_protections_project` ON `environment_protections` (`project_id`);--> statement-breakpoint
ALTER TABLE `deployments` ADD `held_until` integer;--> statement-breakpoint
ALTER TABLE `deployments` ADD `evaluated_at` integer;--> statement-breakpoint
ALTER TABLE `deployments` ADD `kept_rules` text DEFAULT '[]' NOT NULL;--> statement-breakpoint
ALTER TABLE `deployments` ADD `creators` text;--> statement-breakpoint
ALTER TABLE `deployments` ADD `claims` text;--> statement-breakpoint
ALTER TABLE `deployments` ADD `exempt` text;--> statement-breakpoint
ALTER TABLE `deployments` ADD `overridden` text;--> statement-breakpoint
CREATE INDEX `deployments_startable` ON `deployments` (`environment_id`,`held_until`) WHERE status = 'queued';--> statement-breakpoint
CREATE INDEX `deployments_held` ON `deployments` (`evaluated_at`) WHERE status = 'queued' and held_until is not 0;--> statement-breakpoint
ALTER TABLE `api_keys` ADD `claims` text;
--> statement-breakpoint
DROP TRIGGER IF EXISTS `usage_api_keys_insert`;
--> statement-breakpoint
CREATE TRIGGER `usage_api_keys_insert` AFTER INSERT ON `api_keys` BEGIN
	INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
	VALUES (new.organization_id, 'api_keys', iif(new.session_id IS NULL AND new.trust_id IS NULL, 1, 0), octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.membership_id) + octet_length(new.name) + octet_length(new.role) + octet_length(new.secret_hash) + octet_length(new.last_four) + octet_length(new.version) + coalesce(octet_length(new.expires_at), 0) + octet_length(new.created_at) + coalesce(octet_length(new.scopes), 0) + coalesce(octet_length(new.project_ids), 0) + coalesce(octet_length(new.environment_ids), 0) + coalesce(octet_length(new.narrowed_expires_at), 0) + coalesce(octet_length(new.created_by_key_id), 0) + coalesce(octet_length(new.created_by_membership_id), 0) + coalesce(octet_length(new.issued_by_key_id), 0) + coalesce(octet_length(new.created_by_session_id), 0) + coalesce(octet_length(new.rotated_by_key_id), 0) + coalesce(octet_length(new.replaced_by_key_id), 0) + coalesce(octet_length(new.trust_id), 0) + coalesce(octet_length(new.claims), 0) + coalesce(octet_length(new.session_id), 0) + octet_length(new.is_own) + octet_length(new.expires_by_policy) + octet_length(new.record_version) + 13)
	ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + excluded.records, `bytes` = `bytes` + excluded.bytes;
END;
--> statement-breakpoint
DROP TRIGGER IF EXISTS `usage_api_keys_delete`;
--> statement-breakpoint
CREATE TRIGGER `usage_api_keys_delete` AFTER DELETE ON `api_keys` BEGIN
	UPDATE `usage` SET `records` = `records` - iif(old.session_id IS NULL AND old.trust_id IS NULL, 1, 0), `bytes` = `bytes` - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.membership_id) + octet_length(old.name) + octet_length(old.role) + octet_length(old.secret_hash) + octet_length(old.last_four) + octet_length(old.version) + coalesce(octet_length(old.expires_at), 0) + octet_length(old.created_at) + coalesce(octet_length(old.scopes), 0) + coalesce(octet_length(old.project_ids), 0) + coalesce(octet_length(old.environment_ids), 0) + coalesce(octet_length(old.narrowed_expires_at), 0) + coalesce(octet_length(old.created_by_key_id), 0) + coalesce(octet_length(old.created_by_membership_id), 0) + coalesce(octet_length(old.issued_by_key_id), 0) + coalesce(octet_length(old.created_by_session_id), 0) + coalesce(octet_length(old.rotated_by_key_id), 0) + coalesce(octet_length(old.replaced_by_key_id), 0) + coalesce(octet_length(old.trust_id), 0) + coalesce(octet_length(old.claims), 0) + coalesce(octet_length(old.session_id), 0) + octet_length(old.is_own) + octet_length(old.expires_by_policy) + octet_length(old.record_version) + 13)
	WHERE `organization_id` = old.organization_id AND `kind` = 'api_keys';
END;
--> statement-breakpoint
DROP TRIGGER IF EXISTS `usage_api_keys_update`;
--> statement-breakpoint
CREATE TRIGGER `usage_api_keys_update` AFTER UPDATE OF `membership_id`, `name`, `role`, `secret_hash`, `last_four`, `version`, `expires_at`, `created_at`, `scopes`, `project_ids`, `environment_ids`, `narrowed_expires_at`, `created_by_key_id`, `created_by_membership_id`, `issued_by_key_id`, `created_by_session_id`, `rotated_by_key_id`, `replaced_by_key_id`, `trust_id`, `claims`, `session_id`, `is_own`, `expires_by_policy`, `record_version` ON `api_keys`
WHEN (octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.membership_id) + octet_length(new.name) + octet_length(new.role) + octet_length(new.secret_hash) + octet_length(new.last_four) + octet_length(new.version) + coalesce(octet_length(new.expires_at), 0) + octet_length(new.created_at) + coalesce(octet_length(new.scopes), 0) + coalesce(octet_length(new.project_ids), 0) + coalesce(octet_length(new.environment_ids), 0) + coalesce(octet_length(new.narrowed_expires_at), 0) + coalesce(octet_length(new.created_by_key_id), 0) + coalesce(octet_length(new.created_by_membership_id), 0) + coalesce(octet_length(new.issued_by_key_id), 0) + coalesce(octet_length(new.created_by_session_id), 0) + coalesce(octet_length(new.rotated_by_key_id), 0) + coalesce(octet_length(new.replaced_by_key_id), 0) + coalesce(octet_length(new.trust_id), 0) + coalesce(octet_length(new.claims), 0) + coalesce(octet_length(new.session_id), 0) + octet_length(new.is_own) + octet_length(new.expires_by_policy) + octet_length(new.record_version) + 13) <> (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.membership_id) + octet_length(old.name) + octet_length(old.role) + octet_length(old.secret_hash) + octet_length(old.last_four) + octet_length(old.version) + coalesce(octet_length(old.expires_at), 0) + octet_length(old.created_at) + coalesce(octet_length(old.scopes), 0) + coalesce(octet_length(old.project_ids), 0) + coalesce(octet_length(old.environment_ids), 0) + coalesce(octet_length(old.narrowed_expires_at), 0) + coalesce(octet_length(old.created_by_key_id), 0) + coalesce(octet_length(old.created_by_membership_id), 0) + coalesce(octet_length(old.issued_by_key_id), 0) + coalesce(octet_length(old.created_by_session_id), 0) + coalesce(octet_length(old.rotated_by_key_id), 0) + coalesce(octet_length(old.replaced_by_key_id), 0) + coalesce(octet_length(old.trust_id), 0) + coalesce(octet_length(old.claims), 0) + coalesce(octet_length(old.session_id), 0) + octet_length(old.is_own) + octet_length(old.expires_by_policy) + octet_length(old.record_version) + 13) BEGIN
	UPDATE `usage` SET `records` = `records` + (iif(new.session_id IS NULL AND new.trust_id IS NULL, 1, 0)) - (iif(old.session_id IS NULL AND old.trust_id IS NULL, 1, 0)), `bytes` = `bytes` + (octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.membership_id) + octet_length(new.name) + octet_length(new.role) + octet_length(new.secret_hash) + octet_length(new.last_four) + octet_length(new.version) + coalesce(octet_length(new.expires_at), 0) + octet_length(new.created_at) + coalesce(octet_length(new.scopes), 0) + coalesce(octet_length(new.project_ids), 0) + coalesce(octet_length(new.environment_ids), 0) + coalesce(octet_length(new.narrowed_expires_at), 0) + coalesce(octet_length(new.created_by_key_id), 0) + coalesce(octet_length(new.created_by_membership_id), 0) + coalesce(octet_length(new.issued_by_key_id), 0) + coalesce(octet_length(new.created_by_session_id), 0) + coalesce(octet_length(new.rotated_by_key_id), 0) + coalesce(octet_length(new.replaced_by_key_id), 0) + coalesce(octet_length(new.trust_id), 0) + coalesce(octet_length(new.claims), 0) + coalesce(octet_length(new.session_id), 0) + octet_length(new.is_own) + octet_length(new.expires_by_policy) + octet_length(new.record_version) + 13) - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.membership_id) + octet_length(old.name) + octet_length(old.role) + octet_length(old.secret_hash) + octet_length(old.last_four) + octet_length(old.version) + coalesce(octet_length(old.expires_at), 0) + octet_length(old.created_at) + coalesce(octet_length(old.scopes), 0) + coalesce(octet_length(old.project_ids), 0) + coalesce(octet_length(old.environment_ids), 0) + coalesce(octet_length(old.narrowed_expires_at), 0) + coalesce(octet_length(old.created_by_key_id), 0) + coalesce(octet_length(old.created_by_membership_id), 0) + coalesce(octet_length(old.issued_by_key_id), 0) + coalesce(octet_length(old.created_by_session_id), 0) + coalesce(octet_length(old.rotated_by_key_id), 0) + coalesce(octet_length(old.replaced_by_key_id), 0) + coalesce(octet_length(old.trust_id), 0) + coalesce(octet_length(old.claims), 0) + coalesce(octet_length(old.session_id), 0) + octet_length(old.is_own) + octet_length(old.expires_by_policy) + octet_length(old.record_version) + 13)
	WHERE `organization_id` = new.organization_id AND `kind` = 'api_keys';
END;
--> statement-breakpoint
DROP TRIGGER IF EXISTS `usage_environment_protections_insert`;
--> statement-breakpoint
CREATE TRIGGER `usage_environment_protections_insert` AFTER INSERT ON `environment_protections` BEGIN
	INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
	VALUES (new.organization_id, 'others', 1, octet_length(new.id) + octet_length(new.environment_id) + octet_length(new.organization_id) + octet_length(new.project_id) + octet_length(new.rules) + octet_length(new.created_at) + octet_length(new.updated_at) + octet_length(new.record_version))
	ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + excluded.records, `bytes` = `bytes` + excluded.bytes;
END;
--> statement-breakpoint
DROP TRIGGER IF EXISTS `usage_environment_protections_delete`;
--> statement-breakpoint
CREATE TRIGGER `usage_environment_protections_delete` AFTER DELETE ON `environment_protections` BEGIN
	UPDATE `usage` SET `records` = `records` - 1, `bytes` = `bytes` - (octet_length(old.id) + octet_length(old.environment_id) + octet_length(old.organization_id) + octet_length(old.project_id) + octet_length(old.rules) + octet_length(old.created_at) + octet_length(old.updated_at) + octet_length(old.record_version))
	WHERE `organization_id` = old.organization_id AND `kind` = 'others';
END;
--> statement-breakpoint
DROP TRIGGER IF EXISTS `usage_environment_protections_update`;
--> statement-breakpoint
CREATE TRIGGER `usage_environment_protections_update` AFTER UPDATE OF `environment_id`, `project_id`, `rules`, `created_at`, `updated_at`, `record_version` ON `environment_protections`
WHEN (octet_length(new.id) + octet_length(new.environment_id) + octet_length(new.organization_id) + octet_length(new.project_id) + octet_length(new.rules) + octet_length(new.created_at) + octet_length(new.updated_at) + octet_length(new.record_version)) <> (octet_length(old.id) + octet_length(old.environment_id) + octet_length(old.organization_id) + octet_length(old.project_id) + octet_length(old.rules) + octet_length(old.created_at) + octet_length(old.updated_at) + octet_length(old.record_version)) BEGIN
	UPDATE `usage` SET `bytes` = `bytes` + (octet_length(new.id) + octet_length(new.environment_id) + octet_length(new.organization_id) + octet_length(new.project_id) + octet_length(new.rules) + octet_length(new.created_at) + octet_length(new.updated_at) + octet_length(new.record_version)) - (octet_length(old.id) + octet_length(old.environment_id) + octet_length(old.organization_id) + octet_length(old.project_id) + octet_length(old.rules) + octet_length(old.created_at) + octet_length(old.updated_at) + octet_length(old.record_version))
	WHERE `organization_id` = new.organization_id AND `kind` = 'others';
END;
--> statement-breakpoint
DROP TRIGGER IF EXISTS `usage_deployments_insert`;
--> statement-breakpoint
CREATE TRIGGER `usage_deployments_insert` AFTER INSERT ON `deployments` BEGIN
	INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
	VALUES (new.organization_id, 'deployments', 1, iif(new.configuration = '', 0, octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.project_id) + octet_length(new.environment_id) + octet_length(new.number) + octet_length(new.queue) + octet_length(new.patch) + coalesce(octet_length(new.source), 0) + octet_length(new.keeps_source) + coalesce(octet_length(new.trigger), 0) + coalesce(octet_length(new.reason), 0) + octet_length(new.created_at) + octet_length(new.updated_at) + coalesce(octet_length(new.configuration_version), 0) + octet_length(new.is_absolute) + coalesce(octet_length(new.stack_count), 0) + octet_length(new.reason_bytes) + octet_length(new.kept_rules) + coalesce(octet_length(new.creators), 0) + coalesce(octet_length(new.claims), 0) + coalesce(octet_length(new.exempt), 0) + coalesce(octet_length(new.overridden), 0) + 73 + 2 * coalesce(octet_length(new.failure_reason), 0) + 2 * coalesce(octet_length(new.message), 0) + new.reason_bytes + 126 * coalesce(new.stack_count, 0) + 300 * (new.lapsed_offers + new.released_offers + (new.started_at IS NOT NULL)) + octet_length(new.configuration)))
	ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + excluded.records, `bytes` = `bytes` + excluded.bytes;
END;
--> statement-breakpoint
DROP TRIGGER IF EXISTS `usage_deployments_delete`;
--> statement-breakpoint
CREATE TRIGGER `usage_deployments_delete` AFTER DELETE ON `deployments` BEGIN
	UPDATE `usage` SET `records` = `records` - 1, `bytes` = `bytes` - (iif(old.configuration = '', 0, octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.project_id) + octet_length(old.environment_id) + octet_length(old.number) + octet_length(old.queue) + octet_length(old.patch) + coalesce(octet_length(old.source), 0) + octet_length(old.keeps_source) + coalesce(octet_length(old.trigger), 0) + coalesce(octet_length(old.reason), 0) + octet_length(old.created_at) + octet_length(old.updated_at) + coalesce(octet_length(old.configuration_version), 0) + octet_length(old.is_absolute) + coalesce(octet_length(old.stack_count), 0) + octet_length(old.reason_bytes) + octet_length(old.kept_rules) + coalesce(octet_length(old.creators), 0) + coalesce(octet_length(old.claims), 0) + coalesce(octet_length(old.exempt), 0) + coalesce(octet_length(old.overridden), 0) + 73 + 2 * coalesce(octet_length(old.failure_reason), 0) + 2 * coalesce(octet_length(old.message), 0) + old.reason_bytes + 126 * coalesce(old.stack_count, 0) + 300 * (old.lapsed_offers + old.released_offers + (old.started_at IS NOT NULL)) + octet_length(old.configuration)))
	WHERE `organization_id` = old.organization_id AND `kind` = 'deployments';
END;
--> statement-breakpoint
DROP TRIGGER IF EXISTS `usage_deployments_update`;
--> statement-breakpoint
CREATE TRIGGER `usage_deployments_update` AFTER UPDATE OF `project_id`, `environment_id`, `number`, `queue`, `patch`, `configuration`, `source`, `keeps_source`, `trigger`, `reason`, `failure_reason`, `message`, `created_at`, `started_at`, `updated_at`, `configuration_version`, `is_absolute`, `lapsed_offers`, `released_offers`, `stack_count`, `reason_bytes`, `kept_rules`, `creators`, `claims`, `exempt`, `overridden` ON `deployments`
WHEN (iif(new.configuration = '', 0, octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.project_id) + octet_length(new.environment_id) + octet_length(new.number) + octet_length(new.queue) + octet_length(new.patch) + coalesce(octet_length(new.source), 0) + octet_length(new.keeps_source) + coalesce(octet_length(new.trigger), 0) + coalesce(octet_length(new.reason), 0) + octet_length(new.created_at) + octet_length(new.updated_at) + coalesce(octet_length(new.configuration_version), 0) + octet_length(new.is_absolute) + coalesce(octet_length(new.stack_count), 0) + octet_length(new.reason_bytes) + octet_length(new.kept_rules) + coalesce(octet_length(new.creators), 0) + coalesce(octet_length(new.claims), 0) + coalesce(octet_length(new.exempt), 0) + coalesce(octet_length(new.overridden), 0) + 73 + 2 * coalesce(octet_length(new.failure_reason), 0) + 2 * coalesce(octet_length(new.message), 0) + new.reason_bytes + 126 * coalesce(new.stack_count, 0) + 300 * (new.lapsed_offers + new.released_offers + (new.started_at IS NOT NULL)) + octet_length(new.configuration))) <> (iif(old.configuration = '', 0, octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.project_id) + octet_length(old.environment_id) + octet_length(old.number) + octet_length(old.queue) + octet_length(old.patch) + coalesce(octet_length(old.source), 0) + octet_length(old.keeps_source) + coalesce(octet_length(old.trigger), 0) + coalesce(octet_length(old.reason), 0) + octet_length(old.created_at) + octet_length(old.updated_at) + coalesce(octet_length(old.configuration_version), 0) + octet_length(old.is_absolute) + coalesce(octet_length(old.stack_count), 0) + octet_length(old.reason_bytes) + octet_length(old.kept_rules) + coalesce(octet_length(old.creators), 0) + coalesce(octet_length(old.claims), 0) + coalesce(octet_length(old.exempt), 0) + coalesce(octet_length(old.overridden), 0) + 73 + 2 * coalesce(octet_length(old.failure_reason), 0) + 2 * coalesce(octet_length(old.message), 0) + old.reason_bytes + 126 * coalesce(old.stack_count, 0) + 300 * (old.lapsed_offers + old.released_offers + (old.started_at IS NOT NULL)) + octet_length(old.configuration))) BEGIN
	UPDATE `usage` SET `bytes` = `bytes` + (iif(new.configuration = '', 0, octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.project_id) + octet_length(new.environment_id) + octet_length(new.number) + octet_length(new.queue) + octet_length(new.patch) + coalesce(octet_length(new.source), 0) + octet_length(new.keeps_source) + coalesce(octet_length(new.trigger), 0) + coalesce(octet_length(new.reason), 0) + octet_length(new.created_at) + octet_length(new.updated_at) + coalesce(octet_length(new.configuration_version), 0) + octet_length(new.is_absolute) + coalesce(octet_length(new.stack_count), 0) + octet_length(new.reason_bytes) + octet_length(new.kept_rules) + coalesce(octet_length(new.creators), 0) + coalesce(octet_length(new.claims), 0) + coalesce(octet_length(new.exempt), 0) + coalesce(octet_length(new.overridden), 0) + 73 + 2 * coalesce(octet_length(new.failure_reason), 0) + 2 * coalesce(octet_length(new.message), 0) + new.reason_bytes + 126 * coalesce(new.stack_count, 0) + 300 * (new.lapsed_offers + new.released_offers + (new.started_at IS NOT NULL)) + octet_length(new.configuration))) - (iif(old.configuration = '', 0, octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.project_id) + octet_length(old.environment_id) + octet_length(old.number) + octet_length(old.queue) + octet_length(old.patch) + coalesce(octet_length(old.source), 0) + octet_length(old.keeps_source) + coalesce(octet_length(old.trigger), 0) + coalesce(octet_length(old.reason), 0) + octet_length(old.created_at) + octet_length(old.updated_at) + coalesce(octet_length(old.configuration_version), 0) + octet_length(old.is_absolute) + coalesce(octet_length(old.stack_count), 0) + octet_length(old.reason_bytes) + octet_length(old.kept_rules) + coalesce(octet_length(old.creators), 0) + coalesce(octet_length(old.claims), 0) + coalesce(octet_length(old.exempt), 0) + coalesce(octet_length(old.overridden), 0) + 73 + 2 * coalesce(octet_length(old.failure_reason), 0) + 2 * coalesce(octet_length(old.message), 0) + old.reason_bytes + 126 * coalesce(old.stack_count, 0) + 300 * (old.lapsed_offers + old.released_offers + (old.started_at IS NOT NULL)) + octet_length(old.configuration)))
	WHERE `organization_id` = new.organization_id AND `kind` = 'deployments';
END;
--> statement-breakpoint
DROP TRIGGER IF EXISTS `history_deployments_moved`;
--> statement-breakpoint
CREATE TRIGGER `history_deployments_moved` AFTER UPDATE OF `configuration` ON `deployments` WHEN new.configuration = '' AND old.configuration <> '' BEGIN
	INSERT INTO `history_usage` (`organization_id`, `kind`, `records`, `bytes`)
	VALUES (new.organization_id, 'deployments', 1, octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.project_id) + octet_length(new.environment_id) + octet_length(new.number) + octet_length(new.queue) + octet_length(new.patch) + coalesce(octet_length(new.source), 0) + octet_length(new.keeps_source) + coalesce(octet_length(new.trigger), 0) + coalesce(octet_length(new.reason), 0) + octet_length(new.created_at) + octet_length(new.updated_at) + coalesce(octet_length(new.configuration_version), 0) + octet_length(new.is_absolute) + coalesce(octet_length(new.stack_count), 0) + octet_length(new.reason_bytes) + octet_length(new.kept_rules) + coalesce(octet_length(new.creators), 0) + coalesce(octet_length(new.claims), 0) + coalesce(octet_length(new.exempt), 0) + coalesce(octet_length(new.overridden), 0) + 73 + 2 * coalesce(octet_length(new.failure_reason), 0) + 2 * coalesce(octet_length(new.message), 0) + new.reason_bytes + 126 * coalesce(new.stack_count, 0) + 300 * (new.lapsed_offers + new.released_offers + (new.started_at IS NOT NULL)))
	ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + 1, `bytes` = `bytes` + excluded.bytes;
END;
--> statement-breakpoint
DROP TRIGGER IF EXISTS `history_deployments_insert`;
--> statement-breakpoint
CREATE TRIGGER `history_deployments_insert` AFTER INSERT ON `deployments` WHEN new.configuration = '' BEGIN
	INSERT INTO `history_usage` (`organization_id`, `kind`, `records`, `bytes`)
	VALUES (new.organization_id, 'deployments', 1, octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.project_id) + octet_length(new.environment_id) + octet_length(new.number) + octet_length(new.queue) + octet_length(new.patch) + coalesce(octet_length(new.source), 0) + octet_length(new.keeps_source) + coalesce(octet_length(new.trigger), 0) + coalesce(octet_length(new.reason), 0) + octet_length(new.created_at) + octet_length(new.updated_at) + coalesce(octet_length(new.configuration_version), 0) + octet_length(new.is_absolute) + coalesce(octet_length(new.stack_count), 0) + octet_length(new.reason_bytes) + octet_length(new.kept_rules) + coalesce(octet_length(new.creators), 0) + coalesce(octet_length(new.claims), 0) + coalesce(octet_length(new.exempt), 0) + coalesce(octet_length(new.overridden), 0) + 73 + 2 * coalesce(octet_length(new.failure_reason), 0) + 2 * coalesce(octet_length(new.message), 0) + new.reason_bytes + 126 * coalesce(new.stack_count, 0) + 300 * (new.lapsed_offers + new.released_offers + (new.started_at IS NOT NULL)))
	ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + 1, `bytes` = `bytes` + excluded.bytes;
END;
--> statement-breakpoint
DROP TRIGGER IF EXISTS `history_deployments_delete`;
--> statement-breakpoint
CREATE TRIGGER `history_deployments_delete` AFTER DELETE ON `deployments` WHEN old.configuration = '' BEGIN
	UPDATE `history_usage` SET `records` = `records` - 1, `bytes` = `bytes` - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.project_id) + octet_length(old.environment_id) + octet_length(old.number) + octet_length(old.queue) + octet_length(old.patch) + coalesce(octet_length(old.source), 0) + octet_length(old.keeps_source) + coalesce(octet_length(old.trigger), 0) + coalesce(octet_length(old.reason), 0) + octet_length(old.created_at) + octet_length(old.updated_at) + coalesce(octet_length(old.configuration_version), 0) + octet_length(old.is_absolute) + coalesce(octet_length(old.stack_count), 0) + octet_length(old.reason_bytes) + octet_length(old.kept_rules) + coalesce(octet_length(old.creators), 0) + coalesce(octet_length(old.claims), 0) + coalesce(octet_length(old.exempt), 0) + coalesce(octet_length(old.overridden), 0) + 73 + 2 * coalesce(octet_length(old.failure_reason), 0) + 2 * coalesce(octet_length(old.message), 0) + old.reason_bytes + 126 * coalesce(old.stack_count, 0) + 300 * (old.lapsed_offers + old.released_offers + (old.started_at IS NOT NULL)))
	WHERE `organization_id` = old.organization_id AND `kind` = 'deployments';
END;
--> statement-breakpoint
DROP TRIGGER IF EXISTS `usage_deployment_approvals_insert`;
--> statement-breakpoint
CREATE TRIGGER `usage_deployment_approvals_insert` AFTER INSERT ON `deployment_approvals` BEGIN
	INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
	VALUES (new.organization_id, 'others', 1, octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.environment_id) + octet_length(new.deployment_id) + octet_length(new.membership_id) + octet_length(new.decision) + coalesce(octet_length(new.comment), 0) + octet_length(new.digest) + octet_length(new.basis) + octet_length(new.content) + octet_length(new.created_at))
	ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + excluded.records, `bytes` = `bytes` + excluded.bytes;
END;
--> statement-breakpoint
DROP TRIGGER IF EXISTS `usage_deployment_approvals_delete`;
--> statement-breakpoint
CREATE TRIGGER `usage_deployment_approvals_delete` AFTER DELETE ON `deployment_approvals` BEGIN
	UPDATE `usage` SET `records` = `records` - 1, `bytes` = `bytes` - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.environment_id) + octet_length(old.deployment_id) + octet_length(old.membership_id) + octet_length(old.decision) + coalesce(octet_length(old.comment), 0) + octet_length(old.digest) + octet_length(old.basis) + octet_length(old.content) + octet_length(old.created_at))
	WHERE `organization_id` = old.organization_id AND `kind` = 'others';
END;
--> statement-breakpoint
DROP TRIGGER IF EXISTS `usage_deployment_approvals_update`;
--> statement-breakpoint
CREATE TRIGGER `usage_deployment_approvals_update` AFTER UPDATE OF `environment_id`, `deployment_id`, `membership_id`, `decision`, `comment`, `digest`, `basis`, `content`, `created_at` ON `deployment_approvals`
WHEN (octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.environment_id) + octet_length(new.deployment_id) + octet_length(new.membership_id) + octet_length(new.decision) + coalesce(octet_length(new.comment), 0) + octet_length(new.digest) + octet_length(new.basis) + octet_length(new.content) + octet_length(new.created_at)) <> (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.environment_id) + octet_length(old.deployment_id) + octet_length(old.membership_id) + octet_length(old.decision) + coalesce(octet_length(old.comment), 0) + octet_length(old.digest) + octet_length(old.basis) + octet_length(old.content) + octet_length(old.created_at)) BEGIN
	UPDATE `usage` SET `bytes` = `bytes` + (octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.environment_id) + octet_length(new.deployment_id) + octet_length(new.membership_id) + octet_length(new.decision) + coalesce(octet_length(new.comment), 0) + octet_length(new.digest) + octet_length(new.basis) + octet_length(new.content) + octet_length(new.created_at)) - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.environment_id) + octet_length(old.deployment_id) + octet_length(old.membership_id) + octet_length(old.decision) + coalesce(octet_length(old.comment), 0) + octet_length(old.digest) + octet_length(old.basis) + octet_length(old.content) + octet_length(old.created_at))
	WHERE `organization_id` = new.organization_id AND `kind` = 'others';
END;
--> statement-breakpoint
DROP TRIGGER IF EXISTS `usage_freezes_insert`;
--> statement-breakpoint
CREATE TRIGGER `usage_freezes_insert` AFTER INSERT ON `freezes` BEGIN
	INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
	VALUES (new.organization_id, 'others', 1, octet_length(new.id) + octet_length(new.organization_id) + coalesce(octet_length(new.project_id), 0) + coalesce(octet_length(new.environment_ids), 0) + octet_length(new.name) + octet_length(new.reason) + octet_length(new.starts_at) + octet_length(new.ends_at) + octet_length(new.override) + octet_length(new.created_by_membership_id) + octet_length(new.created_at))
	ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + excluded.records, `bytes` = `bytes` + excluded.bytes;
END;
--> statement-breakpoint
DROP TRIGGER IF EXISTS `usage_freezes_delete`;
--> statement-breakpoint
CREATE TRIGGER `usage_freezes_delete` AFTER DELETE ON `freezes` BEGIN
	UPDATE `usage` SET `records` = `records` - 1, `bytes` = `bytes` - (octet_length(old.id) + octet_length(old.organization_id) + coalesce(octet_length(old.project_id), 0) + coalesce(octet_length(old.environment_ids), 0) + octet_length(old.name) + octet_length(old.reason) + octet_length(old.starts_at) + octet_length(old.ends_at) + octet_length(old.override) + octet_length(old.created_by_membership_id) + octet_length(old.created_at))
	WHERE `organization_id` = old.organization_id AND `kind` = 'others';
END;
--> statement-breakpoint
DROP TRIGGER IF EXISTS `usage_freezes_update`;
--> statement-breakpoint
CREATE TRIGGER `usage_freezes_update` AFTER UPDATE OF `project_id`, `environment_ids`, `name`, `reason`, `starts_at`, `ends_at`, `override`, `created_by_membership_id`, `created_at` ON `freezes`
WHEN (octet_length(new.id) + octet_length(new.organization_id) + coalesce(octet_length(new.project_id), 0) + coalesce(octet_length(new.environment_ids), 0) + octet_length(new.name) + octet_length(new.reason) + octet_length(new.starts_at) + octet_length(new.ends_at) + octet_length(new.override) + octet_length(new.created_by_membership_id) + octet_length(new.created_at)) <> (octet_length(old.id) + octet_length(old.organization_id) + coalesce(octet_length(old.project_id), 0) + coalesce(octet_length(old.environment_ids), 0) + octet_length(old.name) + octet_length(old.reason) + octet_length(old.starts_at) + octet_length(old.ends_at) + octet_length(old.override) + octet_length(old.created_by_membership_id) + octet_length(old.created_at)) BEGIN
	UPDATE `usage` SET `bytes` = `bytes` + (octet_length(new.id) + octet_length(new.organization_id) + coalesce(octet_length(new.project_id), 0) + coalesce(octet_length(new.environment_ids), 0) + octet_length(new.name) + octet_length(new.reason) + octet_length(new.starts_at) + octet_length(new.ends_at) + octet_length(new.override) + octet_length(new.created_by_membership_id) + octet_length(new.created_at)) - (octet_length(old.id) + octet_length(old.organization_id) + coalesce(octet_length(old.project_id), 0) + coalesce(octet_length(old.environment_ids), 0) + octet_length(old.name) + octet_length(old.reason) + octet_length(old.starts_at) + octet_length(old.ends_at) + octet_length(old.override) + octet_length(old.created_by_membership_id) + octet_length(old.created_at))
	WHERE `organization_id` = new.organization_id AND `kind` = 'others';
END;
--> statement-breakpoint
DELETE FROM `usage` WHERE `kind` = 'api_keys';
--> statement-breakpoint
INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
SELECT organization_id, 'api_keys', sum(iif(api_keys.session_id IS NULL AND api_keys.trust_id IS NULL, 1, 0)), sum(octet_length(api_keys.id) + octet_length(api_keys.organization_id) + octet_length(api_keys.membership_id) + octet_length(api_keys.name) + octet_length(api_keys.role) + octet_length(api_keys.secret_hash) + octet_length(api_keys.last_four) + octet_length(api_keys.version) + coalesce(octet_length(api_keys.expires_at), 0) + octet_length(api_keys.created_at) + coalesce(octet_length(api_keys.scopes), 0) + coalesce(octet_length(api_keys.project_ids), 0) + coalesce(octet_length(api_keys.environment_ids), 0) + coalesce(octet_length(api_keys.narrowed_expires_at), 0) + coalesce(octet_length(api_keys.created_by_key_id), 0) + coalesce(octet_length(api_keys.created_by_membership_id), 0) + coalesce(octet_length(api_keys.issued_by_key_id), 0) + coalesce(octet_length(api_keys.created_by_session_id), 0) + coalesce(octet_length(api_keys.rotated_by_key_id), 0) + coalesce(octet_length(api_keys.replaced_by_key_id), 0) + coalesce(octet_length(api_keys.trust_id), 0) + coalesce(octet_length(api_keys.claims), 0) + coalesce(octet_length(api_keys.session_id), 0) + octet_length(api_keys.is_own) + octet_length(api_keys.expires_by_policy) + octet_length(api_keys.record_version) + 13) FROM `api_keys`
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
DELETE FROM `usage` WHERE `kind` = 'deployments';
--> statement-breakpoint
INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
SELECT organization_id, 'deployments', sum(1), sum(iif(deployments.configuration = '', 0, octet_length(deployments.id) + octet_length(deployments.organization_id) + octet_length(deployments.project_id) + octet_length(deployments.environment_id) + octet_length(deployments.number) + octet_length(deployments.queue) + octet_length(deployments.patch) + coalesce(octet_length(deployments.source), 0) + octet_length(deployments.keeps_source) + coalesce(octet_length(deployments.trigger), 0) + coalesce(octet_length(deployments.reason), 0) + octet_length(deployments.created_at) + octet_length(deployments.updated_at) + coalesce(octet_length(deployments.configuration_version), 0) + octet_length(deployments.is_absolute) + coalesce(octet_length(deployments.stack_count), 0) + octet_length(deployments.reason_bytes) + octet_length(deployments.kept_rules) + coalesce(octet_length(deployments.creators), 0) + coalesce(octet_length(deployments.claims), 0) + coalesce(octet_length(deployments.exempt), 0) + coalesce(octet_length(deployments.overridden), 0) + 73 + 2 * coalesce(octet_length(deployments.failure_reason), 0) + 2 * coalesce(octet_length(deployments.message), 0) + deployments.reason_bytes + 126 * coalesce(deployments.stack_count, 0) + 300 * (deployments.lapsed_offers + deployments.released_offers + (deployments.started_at IS NOT NULL)) + octet_length(deployments.configuration))) FROM `deployments`
WHERE organization_id <> '1111111111111111111111' GROUP BY organization_id
ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + excluded.records, `bytes` = `bytes` + excluded.bytes;
--> statement-breakpoint
DELETE FROM `history_usage` WHERE `kind` = 'deployments';
--> statement-breakpoint
INSERT INTO `history_usage` (`organization_id`, `kind`, `records`, `bytes`)
SELECT organization_id, 'deployments', count(*), sum(octet_length(deployments.id) + octet_length(deployments.organization_id) + octet_length(deployments.project_id) + octet_length(deployments.environment_id) + octet_length(deployments.number) + octet_length(deployments.queue) + octet_length(deployments.patch) + coalesce(octet_length(deployments.source), 0) + octet_length(deployments.keeps_source) + coalesce(octet_length(deployments.trigger), 0) + coalesce(octet_length(deployments.reason), 0) + octet_length(deployments.created_at) + octet_length(deployments.updated_at) + coalesce(octet_length(deployments.configuration_version), 0) + octet_length(deployments.is_absolute) + coalesce(octet_length(deployments.stack_count), 0) + octet_length(deployments.reason_bytes) + octet_length(deployments.kept_rules) + coalesce(octet_length(deployments.creators), 0) + coalesce(octet_length(deployments.claims), 0) + coalesce(octet_length(deployments.exempt), 0) + coalesce(octet_length(deployments.overridden), 0) + 73 + 2 * coalesce(octet_length(deployments.failure_reason), 0) + 2 * coalesce(octet_length(deployments.message), 0) + deployments.reason_bytes + 126 * coalesce(deployments.stack_count, 0) + 300 * (deployments.lapsed_offers + deployments.released_offers + (deployments.started_at IS NOT NULL))) FROM `deployments`
WHERE configuration = '' GROUP BY organization_id;--> statement-breakpoint
-- Deployments that are queued by now need no rules.
UPDATE `deployments` SET `held_until` = 0 WHERE `status` = 'queued';
--> statement-breakpoint
-- The Worker of the previous release does not know `held_until`: what it creates in an environment without rules may start.
CREATE TRIGGER `deployments_unheld` AFTER INSERT ON `deployments` WHEN new.held_until IS NULL AND NOT EXISTS (
	SELECT 1 FROM `environment_protections` WHERE `environment_id` = new.environment_id AND `rules` <> '{}'
) AND NOT EXISTS (
	SELECT 1 FROM `freezes` WHERE `organization_id` = new.organization_id AND `ends_at` > new.created_at
		AND (`project_id` IS NULL OR `project_id` = new.project_id)
) BEGIN
	UPDATE `deployments` SET `held_until` = 0 WHERE `id` = new.id;
END;
--> statement-breakpoint
-- It neither offers nor starts what is held, or was never evaluated.
CREATE TRIGGER `attempts_unheld` BEFORE INSERT ON `attempts` WHEN new.state = 'offered' AND NOT EXISTS (
	SELECT 1 FROM `deployments` WHERE `id` = new.deployment_id AND `held_until` <= new.created_at
) BEGIN
	SELECT raise(IGNORE);
END;
--> statement-breakpoint
CREATE TRIGGER `deployments_started_unheld` BEFORE UPDATE OF `status` ON `deployments`
WHEN old.status = 'queued' AND new.status = 'in_progress' AND coalesce(new.held_until > new.started_at, 1) BEGIN
	SELECT raise(IGNORE);
END;
--> statement-breakpoint
-- Queued deployments keep the rules before a change, and are evaluated again.
CREATE TRIGGER `environment_protections_insert` AFTER INSERT ON `environment_protections` BEGIN
	UPDATE `deployments` SET `held_until` = NULL WHERE `environment_id` = new.environment_id AND `status` = 'queued';
END;
--> statement-breakpoint
CREATE TRIGGER `environment_protections_update` AFTER UPDATE OF `rules` ON `environment_protections` WHEN new.rules <> old.rules BEGIN
	UPDATE `deployments` SET `held_until` = NULL, `kept_rules` = CASE
		WHEN old.rules = '{}' OR EXISTS (SELECT 1 FROM json_each(`kept_rules`) AS kept WHERE kept.value = old.rules) THEN `kept_rules`
		ELSE json_insert(`kept_rules`, '$[#]', json(old.rules)) END
	WHERE `environment_id` = new.environment_id AND `status` = 'queued';
END;
--> statement-breakpoint
CREATE TRIGGER `freezes_insert` AFTER INSERT ON `freezes` WHEN new.starts_at <= new.created_at AND new.ends_at > new.created_at BEGIN
	UPDATE `deployments` SET `held_until` = NULL WHERE `organization_id` = new.organization_id AND `status` = 'queued'
		AND (new.project_id IS NULL OR `project_id` = new.project_id)
		AND (new.environment_ids IS NULL OR `environment_id` IN (SELECT value FROM json_each(new.environment_ids)));
END;
--> statement-breakpoint
-- The contents of approvals are large, and only compared while the deployment waits.
CREATE TRIGGER `deployment_approvals_content` AFTER UPDATE OF `status` ON `deployments` WHEN old.status = 'queued' AND new.status <> 'queued' BEGIN
	UPDATE `deployment_approvals` SET `content` = '' WHERE `deployment_id` = new.id AND `content` <> '';
END;
