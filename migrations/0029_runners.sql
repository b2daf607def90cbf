CREATE TABLE `runners` (
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
CREATE UNIQUE INDEX `runners_name` ON `runners` (`pool_id`,`token_id`,`name`);--> statement-breakpoint
CREATE INDEX `runners_seen` ON `runners` (`pool_id`,`last_seen_at`);--> statement-breakpoint
CREATE INDEX `runners_list` ON `runners` (`pool_id`,`created_at`,`id`);--> statement-breakpoint
ALTER TABLE `attempts` ADD `runner_name` text;--> statement-breakpoint
CREATE INDEX `attempts_runner` ON `attempts` (`token_id`,`runner_name`,`created_at`) WHERE state <> 'ended';
--> statement-breakpoint
DROP TRIGGER IF EXISTS `usage_runners_insert`;
--> statement-breakpoint
CREATE TRIGGER `usage_runners_insert` AFTER INSERT ON `runners` BEGIN
	INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
	VALUES (new.organization_id, 'others', 1, octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.pool_id) + octet_length(new.token_id) + octet_length(new.name) + coalesce(octet_length(new.version), 0) + coalesce(octet_length(new.wanted_id), 0) + octet_length(new.created_at) + 13)
	ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + excluded.records, `bytes` = `bytes` + excluded.bytes;
END;
--> statement-breakpoint
DROP TRIGGER IF EXISTS `usage_runners_delete`;
--> statement-breakpoint
CREATE TRIGGER `usage_runners_delete` AFTER DELETE ON `runners` BEGIN
	UPDATE `usage` SET `records` = `records` - 1, `bytes` = `bytes` - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.pool_id) + octet_length(old.token_id) + octet_length(old.name) + coalesce(octet_length(old.version), 0) + coalesce(octet_length(old.wanted_id), 0) + octet_length(old.created_at) + 13)
	WHERE `organization_id` = old.organization_id AND `kind` = 'others';
END;
--> statement-breakpoint
DROP TRIGGER IF EXISTS `usage_runners_update`;
--> statement-breakpoint
CREATE TRIGGER `usage_runners_update` AFTER UPDATE OF `pool_id`, `token_id`, `name`, `version`, `wanted_id`, `created_at` ON `runners`
WHEN (octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.pool_id) + octet_length(new.token_id) + octet_length(new.name) + coalesce(octet_length(new.version), 0) + coalesce(octet_length(new.wanted_id), 0) + octet_length(new.created_at) + 13) <> (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.pool_id) + octet_length(old.token_id) + octet_length(old.name) + coalesce(octet_length(old.version), 0) + coalesce(octet_length(old.wanted_id), 0) + octet_length(old.created_at) + 13) BEGIN
	UPDATE `usage` SET `bytes` = `bytes` + (octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.pool_id) + octet_length(new.token_id) + octet_length(new.name) + coalesce(octet_length(new.version), 0) + coalesce(octet_length(new.wanted_id), 0) + octet_length(new.created_at) + 13) - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.pool_id) + octet_length(old.token_id) + octet_length(old.name) + coalesce(octet_length(old.version), 0) + coalesce(octet_length(old.wanted_id), 0) + octet_length(old.created_at) + 13)
	WHERE `organization_id` = new.organization_id AND `kind` = 'others';
END;
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
SELECT organization_id, 'others', sum(1), sum(octet_length(recoveries.id) + octet_length(recoveries.organization_id) + octet_length(recoveries.project_id) + octet_length(recoveries.integration_id) + octet_length(recoveries.since) + octet_length(recoveries.until) + octet_length(recoveries.status) + coalesce(octet_length(recoveries.position), 0) + octet_length(recoveries.recovered) + octet_length(recoveries.created_at) + octet_length(recoveries.updated_at) + coalesce(octet_length(recoveries.finished_at), 0)) FROM `recoveries`
WHERE organization_id <> '1111111111111111111111' GROUP BY organization_id
ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + excluded.records, `bytes` = `bytes` + excluded.bytes;