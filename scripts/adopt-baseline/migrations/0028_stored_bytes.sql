ALTER TABLE `stacks` ADD `resource_bytes` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `stacks` ADD `resources_changed_at` integer DEFAULT 0;--> statement-breakpoint
CREATE INDEX `stacks_resources_changed` ON `stacks` (`resources_changed_at`) WHERE resources_changed_at is not null;
--> statement-breakpoint
-- The triggers of their tables count them.
DROP TRIGGER `usage_members_insert`;
--> statement-breakpoint
DROP TRIGGER `usage_members_delete`;
--> statement-breakpoint
DROP TRIGGER `usage_api_keys_session_insert`;
--> statement-breakpoint
DROP TRIGGER `usage_api_keys_session_delete`;
--> statement-breakpoint
DROP TRIGGER `usage_api_keys_trust_insert`;
--> statement-breakpoint
DROP TRIGGER `usage_api_keys_trust_delete`;
--> statement-breakpoint
DROP TRIGGER `usage_runner_tokens_trust_insert`;
--> statement-breakpoint
DROP TRIGGER `usage_runner_tokens_trust_delete`;
--> statement-breakpoint
DROP TRIGGER IF EXISTS `usage_memberships_insert`;
--> statement-breakpoint
CREATE TRIGGER `usage_memberships_insert` AFTER INSERT ON `memberships` BEGIN
	INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
	VALUES (new.organization_id, 'members', 1, octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.account_id) + octet_length(new.role) + octet_length(new.created_at) + octet_length(new.updated_at) + octet_length(new.kind) + octet_length(new.status) + coalesce(octet_length(new.email), 0) + coalesce(octet_length(new.added_by_key_id), 0) + coalesce(octet_length(new.added_by_session_id), 0) + coalesce(octet_length(new.signed_in_at), 0) + octet_length(new.record_version))
	ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + excluded.records, `bytes` = `bytes` + excluded.bytes;
END;
--> statement-breakpoint
DROP TRIGGER IF EXISTS `usage_memberships_delete`;
--> statement-breakpoint
CREATE TRIGGER `usage_memberships_delete` AFTER DELETE ON `memberships` BEGIN
	UPDATE `usage` SET `records` = `records` - 1, `bytes` = `bytes` - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.account_id) + octet_length(old.role) + octet_length(old.created_at) + octet_length(old.updated_at) + octet_length(old.kind) + octet_length(old.status) + coalesce(octet_length(old.email), 0) + coalesce(octet_length(old.added_by_key_id), 0) + coalesce(octet_length(old.added_by_session_id), 0) + coalesce(octet_length(old.signed_in_at), 0) + octet_length(old.record_version))
	WHERE `organization_id` = old.organization_id AND `kind` = 'members';
END;
--> statement-breakpoint
DROP TRIGGER IF EXISTS `usage_memberships_update`;
--> statement-breakpoint
CREATE TRIGGER `usage_memberships_update` AFTER UPDATE OF `account_id`, `role`, `created_at`, `updated_at`, `kind`, `status`, `email`, `added_by_key_id`, `added_by_session_id`, `signed_in_at`, `record_version` ON `memberships`
WHEN (octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.account_id) + octet_length(new.role) + octet_length(new.created_at) + octet_length(new.updated_at) + octet_length(new.kind) + octet_length(new.status) + coalesce(octet_length(new.email), 0) + coalesce(octet_length(new.added_by_key_id), 0) + coalesce(octet_length(new.added_by_session_id), 0) + coalesce(octet_length(new.signed_in_at), 0) + octet_length(new.record_version)) <> (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.account_id) + octet_length(old.role) + octet_length(old.created_at) + octet_length(old.updated_at) + octet_length(old.kind) + octet_length(old.status) + coalesce(octet_length(old.email), 0) + coalesce(octet_length(old.added_by_key_id), 0) + coalesce(octet_length(old.added_by_session_id), 0) + coalesce(octet_length(old.signed_in_at), 0) + octet_length(old.record_version)) BEGIN
	UPDATE `usage` SET `bytes` = `bytes` + (octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.account_id) + octet_length(new.role) + octet_length(new.created_at) + octet_length(new.updated_at) + octet_length(new.kind) + octet_length(new.status) + coalesce(octet_length(new.email), 0) + coalesce(octet_length(new.added_by_key_id), 0) + coalesce(octet_length(new.added_by_session_id), 0) + coalesce(octet_length(new.signed_in_at), 0) + octet_length(new.record_version)) - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.account_id) + octet_length(old.role) + octet_length(old.created_at) + octet_length(old.updated_at) + octet_length(old.kind) + octet_length(old.status) + coalesce(octet_length(old.email), 0) + coalesce(octet_length(old.added_by_key_id), 0) + coalesce(octet_length(old.added_by_session_id), 0) + coalesce(octet_length(old.signed_in_at), 0) + octet_length(old.record_version))
	WHERE `organization_id` = new.organization_id AND `kind` = 'members';
END;
--> statement-breakpoint
DROP TRIGGER IF EXISTS `usage_removed_memberships_insert`;
--> statement-breakpoint
CREATE TRIGGER `usage_removed_memberships_insert` AFTER INSERT ON `removed_memberships` BEGIN
	INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
	VALUES (new.organization_id, 'others', 1, octet_length(new.id) + octet_length(new.organization_id) + coalesce(octet_length(new.added_by_key_id), 0) + coalesce(octet_length(new.added_by_session_id), 0) + octet_length(new.created_at) + octet_length(new.removed_at))
	ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + excluded.records, `bytes` = `bytes` + excluded.bytes;
END;
--> statement-breakpoint
DROP TRIGGER IF EXISTS `usage_removed_memberships_delete`;
--> statement-breakpoint
CREATE TRIGGER `usage_removed_memberships_delete` AFTER DELETE ON `removed_memberships` BEGIN
	UPDATE `usage` SET `records` = `records` - 1, `bytes` = `bytes` - (octet_length(old.id) + octet_length(old.organization_id) + coalesce(octet_length(old.added_by_key_id), 0) + coalesce(octet_length(old.added_by_session_id), 0) + octet_length(old.created_at) + octet_length(old.removed_at))
	WHERE `organization_id` = old.organization_id AND `kind` = 'others';
END;
--> statement-breakpoint
DROP TRIGGER IF EXISTS `usage_removed_memberships_update`;
--> statement-breakpoint
CREATE TRIGGER `usage_removed_memberships_update` AFTER UPDATE OF `added_by_key_id`, `added_by_session_id`, `created_at`, `removed_at` ON `removed_memberships`
WHEN (octet_length(new.id) + octet_length(new.organization_id) + coalesce(octet_length(new.added_by_key_id), 0) + coalesce(octet_length(new.added_by_session_id), 0) + octet_length(new.created_at) + octet_length(new.removed_at)) <> (octet_length(old.id) + octet_length(old.organization_id) + coalesce(octet_length(old.added_by_key_id), 0) + coalesce(octet_length(old.added_by_session_id), 0) + octet_length(old.created_at) + octet_length(old.removed_at)) BEGIN
	UPDATE `usage` SET `bytes` = `bytes` + (octet_length(new.id) + octet_length(new.organization_id) + coalesce(octet_length(new.added_by_key_id), 0) + coalesce(octet_length(new.added_by_session_id), 0) + octet_length(new.created_at) + octet_length(new.removed_at)) - (octet_length(old.id) + octet_length(old.organization_id) + coalesce(octet_length(old.added_by_key_id), 0) + coalesce(octet_length(old.added_by_session_id), 0) + octet_length(old.created_at) + octet_length(old.removed_at))
	WHERE `organization_id` = new.organization_id AND `kind` = 'others';
END;
--> statement-breakpoint
DROP TRIGGER IF EXISTS `usage_invitations_insert`;
--> statement-breakpoint
CREATE TRIGGER `usage_invitations_insert` AFTER INSERT ON `invitations` BEGIN
	INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
	VALUES (new.organization_id, 'others', 1, octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.email) + coalesce(octet_length(new.name), 0) + octet_length(new.role) + octet_length(new.secret_hash) + octet_length(new.created_by_key_id) + octet_length(new.created_by_membership_id) + coalesce(octet_length(new.created_by_session_id), 0) + octet_length(new.expires_at) + octet_length(new.created_at))
	ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + excluded.records, `bytes` = `bytes` + excluded.bytes;
END;
--> statement-breakpoint
DROP TRIGGER IF EXISTS `usage_invitations_delete`;
--> statement-breakpoint
CREATE TRIGGER `usage_invitations_delete` AFTER DELETE ON `invitations` BEGIN
	UPDATE `usage` SET `records` = `records` - 1, `bytes` = `bytes` - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.email) + coalesce(octet_length(old.name), 0) + octet_length(old.role) + octet_length(old.secret_hash) + octet_length(old.created_by_key_id) + octet_length(old.created_by_membership_id) + coalesce(octet_length(old.created_by_session_id), 0) + octet_length(old.expires_at) + octet_length(old.created_at))
	WHERE `organization_id` = old.organization_id AND `kind` = 'others';
END;
--> statement-breakpoint
DROP TRIGGER IF EXISTS `usage_invitations_update`;
--> statement-breakpoint
CREATE TRIGGER `usage_invitations_update` AFTER UPDATE OF `email`, `name`, `role`, `secret_hash`, `created_by_key_id`, `created_by_membership_id`, `created_by_session_id`, `expires_at`, `created_at` ON `invitations`
WHEN (octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.email) + coalesce(octet_length(new.name), 0) + octet_length(new.role) + octet_length(new.secret_hash) + octet_length(new.created_by_key_id) + octet_length(new.created_by_membership_id) + coalesce(octet_length(new.created_by_session_id), 0) + octet_length(new.expires_at) + octet_length(new.created_at)) <> (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.email) + coalesce(octet_length(old.name), 0) + octet_length(old.role) + octet_length(old.secret_hash) + octet_length(old.created_by_key_id) + octet_length(old.created_by_membership_id) + coalesce(octet_length(old.created_by_session_id), 0) + octet_length(old.expires_at) + octet_length(old.created_at)) BEGIN
	UPDATE `usage` SET `bytes` = `bytes` + (octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.email) + coalesce(octet_length(new.name), 0) + octet_length(new.role) + octet_length(new.secret_hash) + octet_length(new.created_by_key_id) + octet_length(new.created_by_membership_id) + coalesce(octet_length(new.created_by_session_id), 0) + octet_length(new.expires_at) + octet_length(new.created_at)) - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.email) + coalesce(octet_length(old.name), 0) + octet_length(old.role) + octet_length(old.secret_hash) + octet_length(old.created_by_key_id) + octet_length(old.created_by_membership_id) + coalesce(octet_length(old.created_by_session_id), 0) + octet_length(old.expires_at) + octet_length(old.created_at))
	WHERE `organization_id` = new.organization_id AND `kind` = 'others';
END;
--> statement-breakpoint
DROP TRIGGER IF EXISTS `usage_api_keys_insert`;
--> statement-breakpoint
CREATE TRIGGER `usage_api_keys_insert` AFTER INSERT ON `api_keys` BEGIN
	INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
	VALUES (new.organization_id, 'api_keys', iif(new.session_id IS NULL AND new.trust_id IS NULL, 1, 0), octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.membership_id) + octet_length(new.name) + octet_length(new.role) + octet_length(new.secret_hash) + octet_length(new.last_four) + octet_length(new.version) + coalesce(octet_length(new.expires_at), 0) + octet_length(new.created_at) + coalesce(octet_length(new.scopes), 0) + coalesce(octet_length(new.project_ids), 0) + coalesce(octet_length(new.environment_ids), 0) + coalesce(octet_length(new.narrowed_expires_at), 0) + coalesce(octet_length(new.created_by_key_id), 0) + coalesce(octet_length(new.created_by_membership_id), 0) + coalesce(octet_length(new.issued_by_key_id), 0) + coalesce(octet_length(new.created_by_session_id), 0) + coalesce(octet_length(new.rotated_by_key_id), 0) + coalesce(octet_length(new.replaced_by_key_id), 0) + coalesce(octet_length(new.trust_id), 0) + coalesce(octet_length(new.session_id), 0) + octet_length(new.is_own) + octet_length(new.expires_by_policy) + octet_length(new.record_version) + 13)
	ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + excluded.records, `bytes` = `bytes` + excluded.bytes;
END;
--> statement-breakpoint
DROP TRIGGER IF EXISTS `usage_api_keys_delete`;
--> statement-breakpoint
CREATE TRIGGER `usage_api_keys_delete` AFTER DELETE ON `api_keys` BEGIN
	UPDATE `usage` SET `records` = `records` - iif(old.session_id IS NULL AND old.trust_id IS NULL, 1, 0), `bytes` = `bytes` - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.membership_id) + octet_length(old.name) + octet_length(old.role) + octet_length(old.secret_hash) + octet_length(old.last_four) + octet_length(old.version) + coalesce(octet_length(old.expires_at), 0) + octet_length(old.created_at) + coalesce(octet_length(old.scopes), 0) + coalesce(octet_length(old.project_ids), 0) + coalesce(octet_length(old.environment_ids), 0) + coalesce(octet_length(old.narrowed_expires_at), 0) + coalesce(octet_length(old.created_by_key_id), 0) + coalesce(octet_length(old.created_by_membership_id), 0) + coalesce(octet_length(old.issued_by_key_id), 0) + coalesce(octet_length(old.created_by_session_id), 0) + coalesce(octet_length(old.rotated_by_key_id), 0) + coalesce(octet_length(old.replaced_by_key_id), 0) + coalesce(octet_length(old.trust_id), 0) + coalesce(octet_length(old.session_id), 0) + octet_length(old.is_own) + octet_length(old.expires_by_policy) + octet_length(old.record_version) + 13)
	WHERE `organization_id` = old.organization_id AND `kind` = 'api_keys';
END;
--> statement-breakpoint
DROP TRIGGER IF EXISTS `usage_api_keys_update`;
--> statement-breakpoint
CREATE TRIGGER `usage_api_keys_update` AFTER UPDATE OF `membership_id`, `name`, `role`, `secret_hash`, `last_four`, `version`, `expires_at`, `created_at`, `scopes`, `project_ids`, `environment_ids`, `narrowed_expires_at`, `created_by_key_id`, `created_by_membership_id`, `issued_by_key_id`, `created_by_session_id`, `rotated_by_key_id`, `replaced_by_key_id`, `trust_id`, `session_id`, `is_own`, `expires_by_policy`, `record_version` ON `api_keys`
WHEN (octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.membership_id) + octet_length(new.name) + octet_length(new.role) + octet_length(new.secret_hash) + octet_length(new.last_four) + octet_length(new.version) + coalesce(octet_length(new.expires_at), 0) + octet_length(new.created_at) + coalesce(octet_length(new.scopes), 0) + coalesce(octet_length(new.project_ids), 0) + coalesce(octet_length(new.environment_ids), 0) + coalesce(octet_length(new.narrowed_expires_at), 0) + coalesce(octet_length(new.created_by_key_id), 0) + coalesce(octet_length(new.created_by_membership_id), 0) + coalesce(octet_length(new.issued_by_key_id), 0) + coalesce(octet_length(new.created_by_session_id), 0) + coalesce(octet_length(new.rotated_by_key_id), 0) + coalesce(octet_length(new.replaced_by_key_id), 0) + coalesce(octet_length(new.trust_id), 0) + coalesce(octet_length(new.session_id), 0) + octet_length(new.is_own) + octet_length(new.expires_by_policy) + octet_length(new.record_version) + 13) <> (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.membership_id) + octet_length(old.name) + octet_length(old.role) + octet_length(old.secret_hash) + octet_length(old.last_four) + octet_length(old.version) + coalesce(octet_length(old.expires_at), 0) + octet_length(old.created_at) + coalesce(octet_length(old.scopes), 0) + coalesce(octet_length(old.project_ids), 0) + coalesce(octet_length(old.environment_ids), 0) + coalesce(octet_length(old.narrowed_expires_at), 0) + coalesce(octet_length(old.created_by_key_id), 0) + coalesce(octet_length(old.created_by_membership_id), 0) + coalesce(octet_length(old.issued_by_key_id), 0) + coalesce(octet_length(old.created_by_session_id), 0) + coalesce(octet_length(old.rotated_by_key_id), 0) + coalesce(octet_length(old.replaced_by_key_id), 0) + coalesce(octet_length(old.trust_id), 0) + coalesce(octet_length(old.session_id), 0) + octet_length(old.is_own) + octet_length(old.expires_by_policy) + octet_length(old.record_version) + 13) BEGIN
	UPDATE `usage` SET `records` = `records` + (iif(new.session_id IS NULL AND new.trust_id IS NULL, 1, 0)) - (iif(old.session_id IS NULL AND old.trust_id IS NULL, 1, 0)), `bytes` = `bytes` + (octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.membership_id) + octet_length(new.name) + octet_length(new.role) + octet_length(new.secret_hash) + octet_length(new.last_four) + octet_length(new.version) + coalesce(octet_length(new.expires_at), 0) + octet_length(new.created_at) + coalesce(octet_length(new.scopes), 0) + coalesce(octet_length(new.project_ids), 0) + coalesce(octet_length(new.environment_ids), 0) + coalesce(octet_length(new.narrowed_expires_at), 0) + coalesce(octet_length(new.created_by_key_id), 0) + coalesce(octet_length(new.created_by_membership_id), 0) + coalesce(octet_length(new.issued_by_key_id), 0) + coalesce(octet_length(new.created_by_session_id), 0) + coalesce(octet_length(new.rotated_by_key_id), 0) + coalesce(octet_length(new.replaced_by_key_id), 0) + coalesce(octet_length(new.trust_id), 0) + coalesce(octet_length(new.session_id), 0) + octet_length(new.is_own) + octet_length(new.expires_by_policy) + octet_length(new.record_version) + 13) - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.membership_id) + octet_length(old.name) + octet_length(old.role) + octet_length(old.secret_hash) + octet_length(old.last_four) + octet_length(old.version) + coalesce(octet_length(old.expires_at), 0) + octet_length(old.created_at) + coalesce(octet_length(old.scopes), 0) + coalesce(octet_length(old.project_ids), 0) + coalesce(octet_length(old.environment_ids), 0) + coalesce(octet_length(old.narrowed_expires_at), 0) + coalesce(octet_length(old.created_by_key_id), 0) + coalesce(octet_length(old.created_by_membership_id), 0) + coalesce(octet_length(old.issued_by_key_id), 0) + coalesce(octet_length(old.created_by_session_id), 0) + coalesce(octet_length(old.rotated_by_key_id), 0) + coalesce(octet_length(old.replaced_by_key_id), 0) + coalesce(octet_length(old.trust_id), 0) + coalesce(octet_length(old.session_id), 0) + octet_length(old.is_own) + octet_length(old.expires_by_policy) + octet_length(old.record_version) + 13)
	WHERE `organization_id` = new.organization_id AND `kind` = 'api_keys';
END;
--> statement-breakpoint
DROP TRIGGER IF EXISTS `usage_revoked_keys_insert`;
--> statement-breakpoint
CREATE TRIGGER `usage_revoked_keys_insert` AFTER INSERT ON `revoked_keys` BEGIN
	INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
	VALUES (new.organization_id, 'others', 1, octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.membership_id) + octet_length(new.name) + octet_length(new.role) + octet_length(new.last_four) + octet_length(new.created_at) + coalesce(octet_length(new.created_by_key_id), 0) + coalesce(octet_length(new.created_by_membership_id), 0) + coalesce(octet_length(new.issued_by_key_id), 0) + coalesce(octet_length(new.created_by_session_id), 0) + coalesce(octet_length(new.rotated_by_key_id), 0) + coalesce(octet_length(new.replaced_by_key_id), 0) + octet_length(new.revoked_at) + coalesce(octet_length(new.revoked_by_key_id), 0) + coalesce(octet_length(new.revoked_by_membership_id), 0))
	ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + excluded.records, `bytes` = `bytes` + excluded.bytes;
END;
--> statement-breakpoint
DROP TRIGGER IF EXISTS `usage_revoked_keys_delete`;
--> statement-breakpoint
CREATE TRIGGER `usage_revoked_keys_delete` AFTER DELETE ON `revoked_keys` BEGIN
	UPDATE `usage` SET `records` = `records` - 1, `bytes` = `bytes` - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.membership_id) + octet_length(old.name) + octet_length(old.role) + octet_length(old.last_four) + octet_length(old.created_at) + coalesce(octet_length(old.created_by_key_id), 0) + coalesce(octet_length(old.created_by_membership_id), 0) + coalesce(octet_length(old.issued_by_key_id), 0) + coalesce(octet_length(old.created_by_session_id), 0) + coalesce(octet_length(old.rotated_by_key_id), 0) + coalesce(octet_length(old.replaced_by_key_id), 0) + octet_length(old.revoked_at) + coalesce(octet_length(old.revoked_by_key_id), 0) + coalesce(octet_length(old.revoked_by_membership_id), 0))
	WHERE `organization_id` = old.organization_id AND `kind` = 'others';
END;
--> statement-breakpoint
DROP TRIGGER IF EXISTS `usage_revoked_keys_update`;
--> statement-breakpoint
CREATE TRIGGER `usage_revoked_keys_update` AFTER UPDATE OF `membership_id`, `name`, `role`, `last_four`, `created_at`, `created_by_key_id`, `created_by_membership_id`, `issued_by_key_id`, `created_by_session_id`, `rotated_by_key_id`, `replaced_by_key_id`, `revoked_at`, `revoked_by_key_id`, `revoked_by_membership_id` ON `revoked_keys`
WHEN (octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.membership_id) + octet_length(new.name) + octet_length(new.role) + octet_length(new.last_four) + octet_length(new.created_at) + coalesce(octet_length(new.created_by_key_id), 0) + coalesce(octet_length(new.created_by_membership_id), 0) + coalesce(octet_length(new.issued_by_key_id), 0) + coalesce(octet_length(new.created_by_session_id), 0) + coalesce(octet_length(new.rotated_by_key_id), 0) + coalesce(octet_length(new.replaced_by_key_id), 0) + octet_length(new.revoked_at) + coalesce(octet_length(new.revoked_by_key_id), 0) + coalesce(octet_length(new.revoked_by_membership_id), 0)) <> (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.membership_id) + octet_length(old.name) + octet_length(old.role) + octet_length(old.last_four) + octet_length(old.created_at) + coalesce(octet_length(old.created_by_key_id), 0) + coalesce(octet_length(old.created_by_membership_id), 0) + coalesce(octet_length(old.issued_by_key_id), 0) + coalesce(octet_length(old.created_by_session_id), 0) + coalesce(octet_length(old.rotated_by_key_id), 0) + coalesce(octet_length(old.replaced_by_key_id), 0) + octet_length(old.revoked_at) + coalesce(octet_length(old.revoked_by_key_id), 0) + coalesce(octet_length(old.revoked_by_membership_id), 0)) BEGIN
	UPDATE `usage` SET `bytes` = `bytes` + (octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.membership_id) + octet_length(new.name) + octet_length(new.role) + octet_length(new.last_four) + octet_length(new.created_at) + coalesce(octet_length(new.created_by_key_id), 0) + coalesce(octet_length(new.created_by_membership_id), 0) + coalesce(octet_length(new.issued_by_key_id), 0) + coalesce(octet_length(new.created_by_session_id), 0) + coalesce(octet_length(new.rotated_by_key_id), 0) + coalesce(octet_length(new.replaced_by_key_id), 0) + octet_length(new.revoked_at) + coalesce(octet_length(new.revoked_by_key_id), 0) + coalesce(octet_length(new.revoked_by_membership_id), 0)) - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.membership_id) + octet_length(old.name) + octet_length(old.role) + octet_length(old.last_four) + octet_length(old.created_at) + coalesce(octet_length(old.created_by_key_id), 0) + coalesce(octet_length(old.created_by_membership_id), 0) + coalesce(octet_length(old.issued_by_key_id), 0) + coalesce(octet_length(old.created_by_session_id), 0) + coalesce(octet_length(old.rotated_by_key_id), 0) + coalesce(octet_length(old.replaced_by_key_id), 0) + octet_length(old.revoked_at) + coalesce(octet_length(old.revoked_by_key_id), 0) + coalesce(octet_length(old.revoked_by_membership_id), 0))
	WHERE `organization_id` = new.organization_id AND `kind` = 'others';
END;
--> statement-breakpoint
DROP TRIGGER IF EXISTS `usage_used_sign_ins_insert`;
--> statement-breakpoint
CREATE TRIGGER `usage_used_sign_ins_insert` AFTER INSERT ON `used_sign_ins` BEGIN
	INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
	VALUES (new.organization_id, 'others', 1, octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.expires_at))
	ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + excluded.records, `bytes` = `bytes` + excluded.bytes;
END;
--> statement-breakpoint
DROP TRIGGER IF EXISTS `usage_used_sign_ins_delete`;
--> statement-breakpoint
CREATE TRIGGER `usage_used_sign_ins_delete` AFTER DELETE ON `used_sign_ins` BEGIN
	UPDATE `usage` SET `records` = `records` - 1, `bytes` = `bytes` - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.expires_at))
	WHERE `organization_id` = old.organization_id AND `kind` = 'others';
END;
--> statement-breakpoint
DROP TRIGGER IF EXISTS `usage_used_sign_ins_update`;
--> statement-breakpoint
CREATE TRIGGER `usage_used_sign_ins_update` AFTER UPDATE OF `expires_at` ON `used_sign_ins`
WHEN (octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.expires_at)) <> (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.expires_at)) BEGIN
	UPDATE `usage` SET `bytes` = `bytes` + (octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.expires_at)) - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.expires_at))
	WHERE `organization_id` = new.organization_id AND `kind` = 'others';
END;
--> statement-breakpoint
DROP TRIGGER IF EXISTS `usage_sessions_insert`;
--> statement-breakpoint
CREATE TRIGGER `usage_sessions_insert` AFTER INSERT ON `sessions` BEGIN
	INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
	VALUES (new.organization_id, 'others', 1, octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.membership_id) + octet_length(new.source) + coalesce(octet_length(new.key_id), 0) + coalesce(octet_length(new.created_by_session_id), 0) + octet_length(new.secret_hash) + coalesce(octet_length(new.user_agent), 0) + octet_length(new.created_at) + octet_length(new.expires_at) + coalesce(octet_length(new.last_used_at), 0))
	ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + excluded.records, `bytes` = `bytes` + excluded.bytes;
END;
--> statement-breakpoint
DROP TRIGGER IF EXISTS `usage_sessions_delete`;
--> statement-breakpoint
CREATE TRIGGER `usage_sessions_delete` AFTER DELETE ON `sessions` BEGIN
	UPDATE `usage` SET `records` = `records` - 1, `bytes` = `bytes` - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.membership_id) + octet_length(old.source) + coalesce(octet_length(old.key_id), 0) + coalesce(octet_length(old.created_by_session_id), 0) + octet_length(old.secret_hash) + coalesce(octet_length(old.user_agent), 0) + octet_length(old.created_at) + octet_length(old.expires_at) + coalesce(octet_length(old.last_used_at), 0))
	WHERE `organization_id` = old.organization_id AND `kind` = 'others';
END;
--> statement-breakpoint
DROP TRIGGER IF EXISTS `usage_sessions_update`;
--> statement-breakpoint
CREATE TRIGGER `usage_sessions_update` AFTER UPDATE OF `membership_id`, `source`, `key_id`, `created_by_session_id`, `secret_hash`, `user_agent`, `created_at`, `expires_at`, `last_used_at` ON `sessions`
WHEN (octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.membership_id) + octet_length(new.source) + coalesce(octet_length(new.key_id), 0) + coalesce(octet_length(new.created_by_session_id), 0) + octet_length(new.secret_hash) + coalesce(octet_length(new.user_agent), 0) + octet_length(new.created_at) + octet_length(new.expires_at) + coalesce(octet_length(new.last_used_at), 0)) <> (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.membership_id) + octet_length(old.source) + coalesce(octet_length(old.key_id), 0) + coalesce(octet_length(old.created_by_session_id), 0) + octet_length(old.secret_hash) + coalesce(octet_length(old.user_agent), 0) + octet_length(old.created_at) + octet_length(old.expires_at) + coalesce(octet_length(old.last_used_at), 0)) BEGIN
	UPDATE `usage` SET `bytes` = `bytes` + (octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.membership_id) + octet_length(new.source) + coalesce(octet_length(new.key_id), 0) + coalesce(octet_length(new.created_by_session_id), 0) + octet_length(new.secret_hash) + coalesce(octet_length(new.user_agent), 0) + octet_length(new.created_at) + octet_length(new.expires_at) + coalesce(octet_length(new.last_used_at), 0)) - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.membership_id) + octet_length(old.source) + coalesce(octet_length(old.key_id), 0) + coalesce(octet_length(old.created_by_session_id), 0) + octet_length(old.secret_hash) + coalesce(octet_length(old.user_agent), 0) + octet_length(old.created_at) + octet_length(old.expires_at) + coalesce(octet_length(old.last_used_at), 0))
	WHERE `organization_id` = new.organization_id AND `kind` = 'others';
END;
--> statement-breakpoint
DROP TRIGGER IF EXISTS `usage_sign_in_links_insert`;
--> statement-breakpoint
CREATE TRIGGER `usage_sign_in_links_insert` AFTER INSERT ON `sign_in_links` BEGIN
	INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
	VALUES (new.organization_id, 'others', 1, octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.membership_id) + octet_length(new.key_id) + coalesce(octet_length(new.created_by_session_id), 0) + coalesce(octet_length(new.session_expires_at), 0) + octet_length(new.secret_hash) + octet_length(new.created_at) + octet_length(new.expires_at))
	ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + excluded.records, `bytes` = `bytes` + excluded.bytes;
END;
--> statement-breakpoint
DROP TRIGGER IF EXISTS `usage_sign_in_links_delete`;
--> statement-breakpoint
CREATE TRIGGER `usage_sign_in_links_delete` AFTER DELETE ON `sign_in_links` BEGIN
	UPDATE `usage` SET `records` = `records` - 1, `bytes` = `bytes` - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.membership_id) + octet_length(old.key_id) + coalesce(octet_length(old.created_by_session_id), 0) + coalesce(octet_length(old.session_expires_at), 0) + octet_length(old.secret_hash) + octet_length(old.created_at) + octet_length(old.expires_at))
	WHERE `organization_id` = old.organization_id AND `kind` = 'others';
END;
--> statement-breakpoint
DROP TRIGGER IF EXISTS `usage_sign_in_links_update`;
--> statement-breakpoint
CREATE TRIGGER `usage_sign_in_links_update` AFTER UPDATE OF `membership_id`, `key_id`, `created_by_session_id`, `session_expires_at`, `secret_hash`, `created_at`, `expires_at` ON `sign_in_links`
WHEN (octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.membership_id) + octet_length(new.key_id) + coalesce(octet_length(new.created_by_session_id), 0) + coalesce(octet_length(new.session_expires_at), 0) + octet_length(new.secret_hash) + octet_length(new.created_at) + octet_length(new.expires_at)) <> (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.membership_id) + octet_length(old.key_id) + coalesce(octet_length(old.created_by_session_id), 0) + coalesce(octet_length(old.session_expires_at), 0) + octet_length(old.secret_hash) + octet_length(old.created_at) + octet_length(old.expires_at)) BEGIN
	UPDATE `usage` SET `bytes` = `bytes` + (octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.membership_id) + octet_length(new.key_id) + coalesce(octet_length(new.created_by_session_id), 0) + coalesce(octet_length(new.session_expires_at), 0) + octet_length(new.secret_hash) + octet_length(new.created_at) + octet_length(new.expires_at)) - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.membership_id) + octet_length(old.key_id) + coalesce(octet_length(old.created_by_session_id), 0) + coalesce(octet_length(old.session_expires_at), 0) + octet_length(old.secret_hash) + octet_length(old.created_at) + octet_length(old.expires_at))
	WHERE `organization_id` = new.organization_id AND `kind` = 'others';
END;
--> statement-breakpoint
DROP TRIGGER IF EXISTS `usage_ended_sessions_insert`;
--> statement-breakpoint
CREATE TRIGGER `usage_ended_sessions_insert` AFTER INSERT ON `ended_sessions` BEGIN
	INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
	VALUES (new.organization_id, 'others', 1, octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.membership_id) + octet_length(new.source) + coalesce(octet_length(new.key_id), 0) + coalesce(octet_length(new.created_by_session_id), 0) + octet_length(new.created_at) + octet_length(new.ended_at))
	ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + excluded.records, `bytes` = `bytes` + excluded.bytes;
END;
--> statement-breakpoint
DROP TRIGGER IF EXISTS `usage_ended_sessions_delete`;
--> statement-breakpoint
CREATE TRIGGER `usage_ended_sessions_delete` AFTER DELETE ON `ended_sessions` BEGIN
	UPDATE `usage` SET `records` = `records` - 1, `bytes` = `bytes` - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.membership_id) + octet_length(old.source) + coalesce(octet_length(old.key_id), 0) + coalesce(octet_length(old.created_by_session_id), 0) + octet_length(old.created_at) + octet_length(old.ended_at))
	WHERE `organization_id` = old.organization_id AND `kind` = 'others';
END;
--> statement-breakpoint
DROP TRIGGER IF EXISTS `usage_ended_sessions_update`;
--> statement-breakpoint
CREATE TRIGGER `usage_ended_sessions_update` AFTER UPDATE OF `membership_id`, `source`, `key_id`, `created_by_session_id`, `created_at`, `ended_at` ON `ended_sessions`
WHEN (octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.membership_id) + octet_length(new.source) + coalesce(octet_length(new.key_id), 0) + coalesce(octet_length(new.created_by_session_id), 0) + octet_length(new.created_at) + octet_length(new.ended_at)) <> (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.membership_id) + octet_length(old.source) + coalesce(octet_length(old.key_id), 0) + coalesce(octet_length(old.created_by_session_id), 0) + octet_length(old.created_at) + octet_length(old.ended_at)) BEGIN
	UPDATE `usage` SET `bytes` = `bytes` + (octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.membership_id) + octet_length(new.source) + coalesce(octet_length(new.key_id), 0) + coalesce(octet_length(new.created_by_session_id), 0) + octet_length(new.created_at) + octet_length(new.ended_at)) - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.membership_id) + octet_length(old.source) + coalesce(octet_length(old.key_id), 0) + coalesce(octet_length(old.created_by_session_id), 0) + octet_length(old.created_at) + octet_length(old.ended_at))
	WHERE `organization_id` = new.organization_id AND `kind` = 'others';
END;
--> statement-breakpoint
DROP TRIGGER IF EXISTS `usage_runner_pools_insert`;
--> statement-breakpoint
CREATE TRIGGER `usage_runner_pools_insert` AFTER INSERT ON `runner_pools` BEGIN
	INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
	VALUES (new.organization_id, 'runner_pools', 1, octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.name) + octet_length(new.created_at) + octet_length(new.updated_at) + octet_length(new.max_run_seconds) + octet_length(new.record_version))
	ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + excluded.records, `bytes` = `bytes` + excluded.bytes;
END;
--> statement-breakpoint
DROP TRIGGER IF EXISTS `usage_runner_pools_delete`;
--> statement-breakpoint
CREATE TRIGGER `usage_runner_pools_delete` AFTER DELETE ON `runner_pools` BEGIN
	UPDATE `usage` SET `records` = `records` - 1, `bytes` = `bytes` - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.name) + octet_length(old.created_at) + octet_length(old.updated_at) + octet_length(old.max_run_seconds) + octet_length(old.record_version))
	WHERE `organization_id` = old.organization_id AND `kind` = 'runner_pools';
END;
--> statement-breakpoint
DROP TRIGGER IF EXISTS `usage_runner_pools_update`;
--> statement-breakpoint
CREATE TRIGGER `usage_runner_pools_update` AFTER UPDATE OF `name`, `created_at`, `updated_at`, `max_run_seconds`, `record_version` ON `runner_pools`
WHEN (octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.name) + octet_length(new.created_at) + octet_length(new.updated_at) + octet_length(new.max_run_seconds) + octet_length(new.record_version)) <> (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.name) + octet_length(old.created_at) + octet_length(old.updated_at) + octet_length(old.max_run_seconds) + octet_length(old.record_version)) BEGIN
	UPDATE `usage` SET `bytes` = `bytes` + (octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.name) + octet_length(new.created_at) + octet_length(new.updated_at) + octet_length(new.max_run_seconds) + octet_length(new.record_version)) - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.name) + octet_length(old.created_at) + octet_length(old.updated_at) + octet_length(old.max_run_seconds) + octet_length(old.record_version))
	WHERE `organization_id` = new.organization_id AND `kind` = 'runner_pools';
END;
--> statement-breakpoint
DROP TRIGGER IF EXISTS `usage_runner_pool_environments_insert`;
--> statement-breakpoint
CREATE TRIGGER `usage_runner_pool_environments_insert` AFTER INSERT ON `runner_pool_environments` BEGIN
	INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
	VALUES (new.organization_id, 'others', 1, octet_length(new.pool_id) + octet_length(new.environment_id) + octet_length(new.organization_id))
	ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + excluded.records, `bytes` = `bytes` + excluded.bytes;
END;
--> statement-breakpoint
DROP TRIGGER IF EXISTS `usage_runner_pool_environments_delete`;
--> statement-breakpoint
CREATE TRIGGER `usage_runner_pool_environments_delete` AFTER DELETE ON `runner_pool_environments` BEGIN
	UPDATE `usage` SET `records` = `records` - 1, `bytes` = `bytes` - (octet_length(old.pool_id) + octet_length(old.environment_id) + octet_length(old.organization_id))
	WHERE `organization_id` = old.organization_id AND `kind` = 'others';
END;
--> statement-breakpoint
DROP TRIGGER IF EXISTS `usage_runner_pool_environments_update`;
--> statement-breakpoint
CREATE TRIGGER `usage_runner_pool_environments_update` AFTER UPDATE OF `pool_id`, `environment_id` ON `runner_pool_environments`
WHEN (octet_length(new.pool_id) + octet_length(new.environment_id) + octet_length(new.organization_id)) <> (octet_length(old.pool_id) + octet_length(old.environment_id) + octet_length(old.organization_id)) BEGIN
	UPDATE `usage` SET `bytes` = `bytes` + (octet_length(new.pool_id) + octet_length(new.environment_id) + octet_length(new.organization_id)) - (octet_length(old.pool_id) + octet_length(old.environment_id) + octet_length(old.organization_id))
	WHERE `organization_id` = new.organization_id AND `kind` = 'others';
END;
--> statement-breakpoint
DROP TRIGGER IF EXISTS `usage_runner_tokens_insert`;
--> statement-breakpoint
CREATE TRIGGER `usage_runner_tokens_insert` AFTER INSERT ON `runner_tokens` BEGIN
	INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
	VALUES (new.organization_id, 'runner_tokens', iif(new.trust_id IS NULL, 1, 0), octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.pool_id) + octet_length(new.name) + octet_length(new.secret_hash) + octet_length(new.last_four) + octet_length(new.version) + octet_length(new.created_at) + coalesce(octet_length(new.expires_at), 0) + coalesce(octet_length(new.created_by_key_id), 0) + coalesce(octet_length(new.created_by_membership_id), 0) + coalesce(octet_length(new.issued_by_key_id), 0) + coalesce(octet_length(new.created_by_session_id), 0) + coalesce(octet_length(new.rotated_by_key_id), 0) + coalesce(octet_length(new.trust_id), 0) + 13)
	ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + excluded.records, `bytes` = `bytes` + excluded.bytes;
END;
--> statement-breakpoint
DROP TRIGGER IF EXISTS `usage_runner_tokens_delete`;
--> statement-breakpoint
CREATE TRIGGER `usage_runner_tokens_delete` AFTER DELETE ON `runner_tokens` BEGIN
	UPDATE `usage` SET `records` = `records` - iif(old.trust_id IS NULL, 1, 0), `bytes` = `bytes` - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.pool_id) + octet_length(old.name) + octet_length(old.secret_hash) + octet_length(old.last_four) + octet_length(old.version) + octet_length(old.created_at) + coalesce(octet_length(old.expires_at), 0) + coalesce(octet_length(old.created_by_key_id), 0) + coalesce(octet_length(old.created_by_membership_id), 0) + coalesce(octet_length(old.issued_by_key_id), 0) + coalesce(octet_length(old.created_by_session_id), 0) + coalesce(octet_length(old.rotated_by_key_id), 0) + coalesce(octet_length(old.trust_id), 0) + 13)
	WHERE `organization_id` = old.organization_id AND `kind` = 'runner_tokens';
END;
--> statement-breakpoint
DROP TRIGGER IF EXISTS `usage_runner_tokens_update`;
--> statement-breakpoint
CREATE TRIGGER `usage_runner_tokens_update` AFTER UPDATE OF `pool_id`, `name`, `secret_hash`, `last_four`, `version`, `created_at`, `expires_at`, `created_by_key_id`, `created_by_membership_id`, `issued_by_key_id`, `created_by_session_id`, `rotated_by_key_id`, `trust_id` ON `runner_tokens`
WHEN (octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.pool_id) + octet_length(new.name) + octet_length(new.secret_hash) + octet_length(new.last_four) + octet_length(new.version) + octet_length(new.created_at) + coalesce(octet_length(new.expires_at), 0) + coalesce(octet_length(new.created_by_key_id), 0) + coalesce(octet_length(new.created_by_membership_id), 0) + coalesce(octet_length(new.issued_by_key_id), 0) + coalesce(octet_length(new.created_by_session_id), 0) + coalesce(octet_length(new.rotated_by_key_id), 0) + coalesce(octet_length(new.trust_id), 0) + 13) <> (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.pool_id) + octet_length(old.name) + octet_length(old.secret_hash) + octet_length(old.last_four) + octet_length(old.version) + octet_length(old.created_at) + coalesce(octet_length(old.expires_at), 0) + coalesce(octet_length(old.created_by_key_id), 0) + coalesce(octet_length(old.created_by_membership_id), 0) + coalesce(octet_length(old.issued_by_key_id), 0) + coalesce(octet_length(old.created_by_session_id), 0) + coalesce(octet_length(old.rotated_by_key_id), 0) + coalesce(octet_length(old.trust_id), 0) + 13) BEGIN
	UPDATE `usage` SET `records` = `records` + (iif(new.trust_id IS NULL, 1, 0)) - (iif(old.trust_id IS NULL, 1, 0)), `bytes` = `bytes` + (octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.pool_id) + octet_length(new.name) + octet_length(new.secret_hash) + octet_length(new.last_four) + octet_length(new.version) + octet_length(new.created_at) + coalesce(octet_length(new.expires_at), 0) + coalesce(octet_length(new.created_by_key_id), 0) + coalesce(octet_length(new.created_by_membership_id), 0) + coalesce(octet_length(new.issued_by_key_id), 0) + coalesce(octet_length(new.created_by_session_id), 0) + coalesce(octet_length(new.rotated_by_key_id), 0) + coalesce(octet_length(new.trust_id), 0) + 13) - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.pool_id) + octet_length(old.name) + octet_length(old.secret_hash) + octet_length(old.last_four) + octet_length(old.version) + octet_length(old.created_at) + coalesce(octet_length(old.expires_at), 0) + coalesce(octet_length(old.created_by_key_id), 0) + coalesce(octet_length(old.created_by_membership_id), 0) + coalesce(octet_length(old.issued_by_key_id), 0) + coalesce(octet_length(old.created_by_session_id), 0) + coalesce(octet_length(old.rotated_by_key_id), 0) + coalesce(octet_length(old.trust_id), 0) + 13)
	WHERE `organization_id` = new.organization_id AND `kind` = 'runner_tokens';
END;
--> statement-breakpoint
DROP TRIGGER IF EXISTS `usage_trusts_insert`;
--> statement-breakpoint
CREATE TRIGGER `usage_trusts_insert` AFTER INSERT ON `trusts` BEGIN
	INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
	VALUES (new.organization_id, 'others', 1, octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.name) + octet_length(new.issuer) + octet_length(new.audience) + octet_length(new.conditions) + coalesce(octet_length(new.membership_id), 0) + coalesce(octet_length(new.pool_id), 0) + coalesce(octet_length(new.role), 0) + coalesce(octet_length(new.scopes), 0) + coalesce(octet_length(new.project_ids), 0) + coalesce(octet_length(new.environment_ids), 0) + octet_length(new.ttl_seconds) + octet_length(new.created_by_key_id) + octet_length(new.created_by_membership_id) + coalesce(octet_length(new.issued_by_key_id), 0) + coalesce(octet_length(new.created_by_session_id), 0) + octet_length(new.created_at))
	ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + excluded.records, `bytes` = `bytes` + excluded.bytes;
END;
--> statement-breakpoint
DROP TRIGGER IF EXISTS `usage_trusts_delete`;
--> statement-breakpoint
CREATE TRIGGER `usage_trusts_delete` AFTER DELETE ON `trusts` BEGIN
	UPDATE `usage` SET `records` = `records` - 1, `bytes` = `bytes` - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.name) + octet_length(old.issuer) + octet_length(old.audience) + octet_length(old.conditions) + coalesce(octet_length(old.membership_id), 0) + coalesce(octet_length(old.pool_id), 0) + coalesce(octet_length(old.role), 0) + coalesce(octet_length(old.scopes), 0) + coalesce(octet_length(old.project_ids), 0) + coalesce(octet_length(old.environment_ids), 0) + octet_length(old.ttl_seconds) + octet_length(old.created_by_key_id) + octet_length(old.created_by_membership_id) + coalesce(octet_length(old.issued_by_key_id), 0) + coalesce(octet_length(old.created_by_session_id), 0) + octet_length(old.created_at))
	WHERE `organization_id` = old.organization_id AND `kind` = 'others';
END;
--> statement-breakpoint
DROP TRIGGER IF EXISTS `usage_trusts_update`;
--> statement-breakpoint
CREATE TRIGGER `usage_trusts_update` AFTER UPDATE OF `name`, `issuer`, `audience`, `conditions`, `membership_id`, `pool_id`, `role`, `scopes`, `project_ids`, `environment_ids`, `ttl_seconds`, `created_by_key_id`, `created_by_membership_id`, `issued_by_key_id`, `created_by_session_id`, `created_at` ON `trusts`
WHEN (octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.name) + octet_length(new.issuer) + octet_length(new.audience) + octet_length(new.conditions) + coalesce(octet_length(new.membership_id), 0) + coalesce(octet_length(new.pool_id), 0) + coalesce(octet_length(new.role), 0) + coalesce(octet_length(new.scopes), 0) + coalesce(octet_length(new.project_ids), 0) + coalesce(octet_length(new.environment_ids), 0) + octet_length(new.ttl_seconds) + octet_length(new.created_by_key_id) + octet_length(new.created_by_membership_id) + coalesce(octet_length(new.issued_by_key_id), 0) + coalesce(octet_length(new.created_by_session_id), 0) + octet_length(new.created_at)) <> (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.name) + octet_length(old.issuer) + octet_length(old.audience) + octet_length(old.conditions) + coalesce(octet_length(old.membership_id), 0) + coalesce(octet_length(old.pool_id), 0) + coalesce(octet_length(old.role), 0) + coalesce(octet_length(old.scopes), 0) + coalesce(octet_length(old.project_ids), 0) + coalesce(octet_length(old.environment_ids), 0) + octet_length(old.ttl_seconds) + octet_length(old.created_by_key_id) + octet_length(old.created_by_membership_id) + coalesce(octet_length(old.issued_by_key_id), 0) + coalesce(octet_length(old.created_by_session_id), 0) + octet_length(old.created_at)) BEGIN
	UPDATE `usage` SET `bytes` = `bytes` + (octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.name) + octet_length(new.issuer) + octet_length(new.audience) + octet_length(new.conditions) + coalesce(octet_length(new.membership_id), 0) + coalesce(octet_length(new.pool_id), 0) + coalesce(octet_length(new.role), 0) + coalesce(octet_length(new.scopes), 0) + coalesce(octet_length(new.project_ids), 0) + coalesce(octet_length(new.environment_ids), 0) + octet_length(new.ttl_seconds) + octet_length(new.created_by_key_id) + octet_length(new.created_by_membership_id) + coalesce(octet_length(new.issued_by_key_id), 0) + coalesce(octet_length(new.created_by_session_id), 0) + octet_length(new.created_at)) - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.name) + octet_length(old.issuer) + octet_length(old.audience) + octet_length(old.conditions) + coalesce(octet_length(old.membership_id), 0) + coalesce(octet_length(old.pool_id), 0) + coalesce(octet_length(old.role), 0) + coalesce(octet_length(old.scopes), 0) + coalesce(octet_length(old.project_ids), 0) + coalesce(octet_length(old.environment_ids), 0) + octet_length(old.ttl_seconds) + octet_length(old.created_by_key_id) + octet_length(old.created_by_membership_id) + coalesce(octet_length(old.issued_by_key_id), 0) + coalesce(octet_length(old.created_by_session_id), 0) + octet_length(old.created_at))
	WHERE `organization_id` = new.organization_id AND `kind` = 'others';
END;
--> statement-breakpoint
DROP TRIGGER IF EXISTS `usage_used_tokens_insert`;
--> statement-breakpoint
CREATE TRIGGER `usage_used_tokens_insert` AFTER INSERT ON `used_tokens` BEGIN
	INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
	VALUES (new.organization_id, 'others', 1, octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.expires_at))
	ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + excluded.records, `bytes` = `bytes` + excluded.bytes;
END;
--> statement-breakpoint
DROP TRIGGER IF EXISTS `usage_used_tokens_delete`;
--> statement-breakpoint
CREATE TRIGGER `usage_used_tokens_delete` AFTER DELETE ON `used_tokens` BEGIN
	UPDATE `usage` SET `records` = `records` - 1, `bytes` = `bytes` - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.expires_at))
	WHERE `organization_id` = old.organization_id AND `kind` = 'others';
END;
--> statement-breakpoint
DROP TRIGGER IF EXISTS `usage_used_tokens_update`;
--> statement-breakpoint
CREATE TRIGGER `usage_used_tokens_update` AFTER UPDATE OF `expires_at` ON `used_tokens`
WHEN (octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.expires_at)) <> (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.expires_at)) BEGIN
	UPDATE `usage` SET `bytes` = `bytes` + (octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.expires_at)) - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.expires_at))
	WHERE `organization_id` = new.organization_id AND `kind` = 'others';
END;
--> statement-breakpoint
DROP TRIGGER IF EXISTS `usage_projects_insert`;
--> statement-breakpoint
CREATE TRIGGER `usage_projects_insert` AFTER INSERT ON `projects` BEGIN
	INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
	VALUES (new.organization_id, 'projects', 1, octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.name) + coalesce(octet_length(new.description), 0) + coalesce(octet_length(new.icon), 0) + coalesce(octet_length(new.repo_id), 0) + octet_length(new.default_environment_id) + octet_length(new.connection_status) + coalesce(octet_length(new.disconnected_at), 0) + coalesce(octet_length(new.disconnected_by), 0) + octet_length(new.created_at) + octet_length(new.updated_at) + octet_length(new.record_version))
	ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + excluded.records, `bytes` = `bytes` + excluded.bytes;
END;
--> statement-breakpoint
DROP TRIGGER IF EXISTS `usage_projects_delete`;
--> statement-breakpoint
CREATE TRIGGER `usage_projects_delete` AFTER DELETE ON `projects` BEGIN
	UPDATE `usage` SET `records` = `records` - 1, `bytes` = `bytes` - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.name) + coalesce(octet_length(old.description), 0) + coalesce(octet_length(old.icon), 0) + coalesce(octet_length(old.repo_id), 0) + octet_length(old.default_environment_id) + octet_length(old.connection_status) + coalesce(octet_length(old.disconnected_at), 0) + coalesce(octet_length(old.disconnected_by), 0) + octet_length(old.created_at) + octet_length(old.updated_at) + octet_length(old.record_version))
	WHERE `organization_id` = old.organization_id AND `kind` = 'projects';
END;
--> statement-breakpoint
DROP TRIGGER IF EXISTS `usage_projects_update`;
--> statement-breakpoint
CREATE TRIGGER `usage_projects_update` AFTER UPDATE OF `name`, `description`, `icon`, `repo_id`, `default_environment_id`, `connection_status`, `disconnected_at`, `disconnected_by`, `created_at`, `updated_at`, `record_version` ON `projects`
WHEN (octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.name) + coalesce(octet_length(new.description), 0) + coalesce(octet_length(new.icon), 0) + coalesce(octet_length(new.repo_id), 0) + octet_length(new.default_environment_id) + octet_length(new.connection_status) + coalesce(octet_length(new.disconnected_at), 0) + coalesce(octet_length(new.disconnected_by), 0) + octet_length(new.created_at) + octet_length(new.updated_at) + octet_length(new.record_version)) <> (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.name) + coalesce(octet_length(old.description), 0) + coalesce(octet_length(old.icon), 0) + coalesce(octet_length(old.repo_id), 0) + octet_length(old.default_environment_id) + octet_length(old.connection_status) + coalesce(octet_length(old.disconnected_at), 0) + coalesce(octet_length(old.disconnected_by), 0) + octet_length(old.created_at) + octet_length(old.updated_at) + octet_length(old.record_version)) BEGIN
	UPDATE `usage` SET `bytes` = `bytes` + (octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.name) + coalesce(octet_length(new.description), 0) + coalesce(octet_length(new.icon), 0) + coalesce(octet_length(new.repo_id), 0) + octet_length(new.default_environment_id) + octet_length(new.connection_status) + coalesce(octet_length(new.disconnected_at), 0) + coalesce(octet_length(new.disconnected_by), 0) + octet_length(new.created_at) + octet_length(new.updated_at) + octet_length(new.record_version)) - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.name) + coalesce(octet_length(old.description), 0) + coalesce(octet_length(old.icon), 0) + coalesce(octet_length(old.repo_id), 0) + octet_length(old.default_environment_id) + octet_length(old.connection_status) + coalesce(octet_length(old.disconnected_at), 0) + coalesce(octet_length(old.disconnected_by), 0) + octet_length(old.created_at) + octet_length(old.updated_at) + octet_length(old.record_version))
	WHERE `organization_id` = new.organization_id AND `kind` = 'projects';
END;
--> statement-breakpoint
DROP TRIGGER IF EXISTS `usage_projects_tombstone`;
--> statement-breakpoint
CREATE TRIGGER `usage_projects_tombstone` AFTER UPDATE OF `organization_id` ON `projects` WHEN new.organization_id <> old.organization_id BEGIN
	UPDATE `usage` SET `records` = `records` - 1, `bytes` = `bytes` - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.name) + coalesce(octet_length(old.description), 0) + coalesce(octet_length(old.icon), 0) + coalesce(octet_length(old.repo_id), 0) + octet_length(old.default_environment_id) + octet_length(old.connection_status) + coalesce(octet_length(old.disconnected_at), 0) + coalesce(octet_length(old.disconnected_by), 0) + octet_length(old.created_at) + octet_length(old.updated_at) + octet_length(old.record_version))
	WHERE `organization_id` = old.organization_id AND `kind` = 'projects';
END;
--> statement-breakpoint
DROP TRIGGER IF EXISTS `usage_project_connections_insert`;
--> statement-breakpoint
CREATE TRIGGER `usage_project_connections_insert` AFTER INSERT ON `project_connections` BEGIN
	INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
	VALUES (new.organization_id, 'others', 1, octet_length(new.project_id) + octet_length(new.organization_id) + octet_length(new.provider) + octet_length(new.account_id) + octet_length(new.region) + coalesce(octet_length(new.role_arn), 0) + coalesce(octet_length(new.external_id), 0) + coalesce(octet_length(new.settings), 0) + octet_length(new.created_at) + octet_length(new.updated_at))
	ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + excluded.records, `bytes` = `bytes` + excluded.bytes;
END;
--> statement-breakpoint
DROP TRIGGER IF EXISTS `usage_project_connections_delete`;
--> statement-breakpoint
CREATE TRIGGER `usage_project_connections_delete` AFTER DELETE ON `project_connections` BEGIN
	UPDATE `usage` SET `records` = `records` - 1, `bytes` = `bytes` - (octet_length(old.project_id) + octet_length(old.organization_id) + octet_length(old.provider) + octet_length(old.account_id) + octet_length(old.region) + coalesce(octet_length(old.role_arn), 0) + coalesce(octet_length(old.external_id), 0) + coalesce(octet_length(old.settings), 0) + octet_length(old.created_at) + octet_length(old.updated_at))
	WHERE `organization_id` = old.organization_id AND `kind` = 'others';
END;
--> statement-breakpoint
DROP TRIGGER IF EXISTS `usage_project_connections_update`;
--> statement-breakpoint
CREATE TRIGGER `usage_project_connections_update` AFTER UPDATE OF `project_id`, `provider`, `account_id`, `region`, `role_arn`, `external_id`, `settings`, `created_at`, `updated_at` ON `project_connections`
WHEN (octet_length(new.project_id) + octet_length(new.organization_id) + octet_length(new.provider) + octet_length(new.account_id) + octet_length(new.region) + coalesce(octet_length(new.role_arn), 0) + coalesce(octet_length(new.external_id), 0) + coalesce(octet_length(new.settings), 0) + octet_length(new.created_at) + octet_length(new.updated_at)) <> (octet_length(old.project_id) + octet_length(old.organization_id) + octet_length(old.provider) + octet_length(old.account_id) + octet_length(old.region) + coalesce(octet_length(old.role_arn), 0) + coalesce(octet_length(old.external_id), 0) + coalesce(octet_length(old.settings), 0) + octet_length(old.created_at) + octet_length(old.updated_at)) BEGIN
	UPDATE `usage` SET `bytes` = `bytes` + (octet_length(new.project_id) + octet_length(new.organization_id) + octet_length(new.provider) + octet_length(new.account_id) + octet_length(new.region) + coalesce(octet_length(new.role_arn), 0) + coalesce(octet_length(new.external_id), 0) + coalesce(octet_length(new.settings), 0) + octet_length(new.created_at) + octet_length(new.updated_at)) - (octet_length(old.project_id) + octet_length(old.organization_id) + octet_length(old.provider) + octet_length(old.account_id) + octet_length(old.region) + coalesce(octet_length(old.role_arn), 0) + coalesce(octet_length(old.external_id), 0) + coalesce(octet_length(old.settings), 0) + octet_length(old.created_at) + octet_length(old.updated_at))
	WHERE `organization_id` = new.organization_id AND `kind` = 'others';
END;
--> statement-breakpoint
DROP TRIGGER IF EXISTS `usage_project_members_insert`;
--> statement-breakpoint
CREATE TRIGGER `usage_project_members_insert` AFTER INSERT ON `project_members` BEGIN
	INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
	VALUES (new.organization_id, 'project_members', 1, octet_length(new.project_id) + octet_length(new.membership_id) + octet_length(new.organization_id) + octet_length(new.role) + octet_length(new.created_at) + octet_length(new.project_created_at) + octet_length(new.record_version))
	ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + excluded.records, `bytes` = `bytes` + excluded.bytes;
END;
--> statement-breakpoint
DROP TRIGGER IF EXISTS `usage_project_members_delete`;
--> statement-breakpoint
CREATE TRIGGER `usage_project_members_delete` AFTER DELETE ON `project_members` BEGIN
	UPDATE `usage` SET `records` = `records` - 1, `bytes` = `bytes` - (octet_length(old.project_id) + octet_length(old.membership_id) + octet_length(old.organization_id) + octet_length(old.role) + octet_length(old.created_at) + octet_length(old.project_created_at) + octet_length(old.record_version))
	WHERE `organization_id` = old.organization_id AND `kind` = 'project_members';
END;
--> statement-breakpoint
DROP TRIGGER IF EXISTS `usage_project_members_update`;
--> statement-breakpoint
CREATE TRIGGER `usage_project_members_update` AFTER UPDATE OF `project_id`, `membership_id`, `role`, `created_at`, `project_created_at`, `record_version` ON `project_members`
WHEN (octet_length(new.project_id) + octet_length(new.membership_id) + octet_length(new.organization_id) + octet_length(new.role) + octet_length(new.created_at) + octet_length(new.project_created_at) + octet_length(new.record_version)) <> (octet_length(old.project_id) + octet_length(old.membership_id) + octet_length(old.organization_id) + octet_length(old.role) + octet_length(old.created_at) + octet_length(old.project_created_at) + octet_length(old.record_version)) BEGIN
	UPDATE `usage` SET `bytes` = `bytes` + (octet_length(new.project_id) + octet_length(new.membership_id) + octet_length(new.organization_id) + octet_length(new.role) + octet_length(new.created_at) + octet_length(new.project_created_at) + octet_length(new.record_version)) - (octet_length(old.project_id) + octet_length(old.membership_id) + octet_length(old.organization_id) + octet_length(old.role) + octet_length(old.created_at) + octet_length(old.project_created_at) + octet_length(old.record_version))
	WHERE `organization_id` = new.organization_id AND `kind` = 'project_members';
END;
--> statement-breakpoint
DROP TRIGGER IF EXISTS `usage_environments_insert`;
--> statement-breakpoint
CREATE TRIGGER `usage_environments_insert` AFTER INSERT ON `environments` BEGIN
	INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
	VALUES (new.organization_id, 'environments', 1, octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.project_id) + octet_length(new.name) + octet_length(new.configuration) + coalesce(octet_length(new.source), 0) + octet_length(new.created_at) + octet_length(new.updated_at) + octet_length(new.epoch) + octet_length(new.started_number) + octet_length(new.configuration_version) + octet_length(new.record_version))
	ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + excluded.records, `bytes` = `bytes` + excluded.bytes;
END;
--> statement-breakpoint
DROP TRIGGER IF EXISTS `usage_environments_delete`;
--> statement-breakpoint
CREATE TRIGGER `usage_environments_delete` AFTER DELETE ON `environments` BEGIN
	UPDATE `usage` SET `records` = `records` - 1, `bytes` = `bytes` - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.project_id) + octet_length(old.name) + octet_length(old.configuration) + coalesce(octet_length(old.source), 0) + octet_length(old.created_at) + octet_length(old.updated_at) + octet_length(old.epoch) + octet_length(old.started_number) + octet_length(old.configuration_version) + octet_length(old.record_version))
	WHERE `organization_id` = old.organization_id AND `kind` = 'environments';
END;
--> statement-breakpoint
DROP TRIGGER IF EXISTS `usage_environments_update`;
--> statement-breakpoint
CREATE TRIGGER `usage_environments_update` AFTER UPDATE OF `project_id`, `name`, `configuration`, `source`, `created_at`, `updated_at`, `epoch`, `started_number`, `configuration_version`, `record_version` ON `environments`
WHEN (octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.project_id) + octet_length(new.name) + octet_length(new.configuration) + coalesce(octet_length(new.source), 0) + octet_length(new.created_at) + octet_length(new.updated_at) + octet_length(new.epoch) + octet_length(new.started_number) + octet_length(new.configuration_version) + octet_length(new.record_version)) <> (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.project_id) + octet_length(old.name) + octet_length(old.configuration) + coalesce(octet_length(old.source), 0) + octet_length(old.created_at) + octet_length(old.updated_at) + octet_length(old.epoch) + octet_length(old.started_number) + octet_length(old.configuration_version) + octet_length(old.record_version)) BEGIN
	UPDATE `usage` SET `bytes` = `bytes` + (octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.project_id) + octet_length(new.name) + octet_length(new.configuration) + coalesce(octet_length(new.source), 0) + octet_length(new.created_at) + octet_length(new.updated_at) + octet_length(new.epoch) + octet_length(new.started_number) + octet_length(new.configuration_version) + octet_length(new.record_version)) - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.project_id) + octet_length(old.name) + octet_length(old.configuration) + coalesce(octet_length(old.source), 0) + octet_length(old.created_at) + octet_length(old.updated_at) + octet_length(old.epoch) + octet_length(old.started_number) + octet_length(old.configuration_version) + octet_length(old.record_version))
	WHERE `organization_id` = new.organization_id AND `kind` = 'environments';
END;
--> statement-breakpoint
DROP TRIGGER IF EXISTS `usage_environments_tombstone`;
--> statement-breakpoint
CREATE TRIGGER `usage_environments_tombstone` AFTER UPDATE OF `organization_id` ON `environments` WHEN new.organization_id <> old.organization_id BEGIN
	UPDATE `usage` SET `records` = `records` - 1, `bytes` = `bytes` - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.project_id) + octet_length(old.name) + octet_length(old.configuration) + coalesce(octet_length(old.source), 0) + octet_length(old.created_at) + octet_length(old.updated_at) + octet_length(old.epoch) + octet_length(old.started_number) + octet_length(old.configuration_version) + octet_length(old.record_version))
	WHERE `organization_id` = old.organization_id AND `kind` = 'environments';
END;
--> statement-breakpoint
DROP TRIGGER IF EXISTS `usage_components_insert`;
--> statement-breakpoint
CREATE TRIGGER `usage_components_insert` AFTER INSERT ON `components` BEGIN
	INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
	VALUES (new.organization_id, 'components', 1, octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.project_id) + octet_length(new.environment_id) + octet_length(new.name) + octet_length(new.kind) + octet_length(new.created_at) + octet_length(new.updated_at) + octet_length(new.record_version))
	ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + excluded.records, `bytes` = `bytes` + excluded.bytes;
END;
--> statement-breakpoint
DROP TRIGGER IF EXISTS `usage_components_delete`;
--> statement-breakpoint
CREATE TRIGGER `usage_components_delete` AFTER DELETE ON `components` BEGIN
	UPDATE `usage` SET `records` = `records` - 1, `bytes` = `bytes` - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.project_id) + octet_length(old.environment_id) + octet_length(old.name) + octet_length(old.kind) + octet_length(old.created_at) + octet_length(old.updated_at) + octet_length(old.record_version))
	WHERE `organization_id` = old.organization_id AND `kind` = 'components';
END;
--> statement-breakpoint
DROP TRIGGER IF EXISTS `usage_components_update`;
--> statement-breakpoint
CREATE TRIGGER `usage_components_update` AFTER UPDATE OF `project_id`, `environment_id`, `name`, `kind`, `created_at`, `updated_at`, `record_version` ON `components`
WHEN (octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.project_id) + octet_length(new.environment_id) + octet_length(new.name) + octet_length(new.kind) + octet_length(new.created_at) + octet_length(new.updated_at) + octet_length(new.record_version)) <> (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.project_id) + octet_length(old.environment_id) + octet_length(old.name) + octet_length(old.kind) + octet_length(old.created_at) + octet_length(old.updated_at) + octet_length(old.record_version)) BEGIN
	UPDATE `usage` SET `bytes` = `bytes` + (octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.project_id) + octet_length(new.environment_id) + octet_length(new.name) + octet_length(new.kind) + octet_length(new.created_at) + octet_length(new.updated_at) + octet_length(new.record_version)) - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.project_id) + octet_length(old.environment_id) + octet_length(old.name) + octet_length(old.kind) + octet_length(old.created_at) + octet_length(old.updated_at) + octet_length(old.record_version))
	WHERE `organization_id` = new.organization_id AND `kind` = 'components';
END;
--> statement-breakpoint
DROP TRIGGER IF EXISTS `usage_stacks_insert`;
--> statement-breakpoint
CREATE TRIGGER `usage_stacks_insert` AFTER INSERT ON `stacks` BEGIN
	INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
	VALUES (new.organization_id, 'stacks', 1, octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.project_id) + octet_length(new.environment_id) + coalesce(octet_length(new.component_id), 0) + octet_length(new.name) + octet_length(new.outputs) + octet_length(new.created_at) + octet_length(new.updated_at) + octet_length(new.record_version) + 4 + new.resource_bytes)
	ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + excluded.records, `bytes` = `bytes` + excluded.bytes;
END;
--> statement-breakpoint
DROP TRIGGER IF EXISTS `usage_stacks_delete`;
--> statement-breakpoint
CREATE TRIGGER `usage_stacks_delete` AFTER DELETE ON `stacks` BEGIN
	UPDATE `usage` SET `records` = `records` - 1, `bytes` = `bytes` - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.project_id) + octet_length(old.environment_id) + coalesce(octet_length(old.component_id), 0) + octet_length(old.name) + octet_length(old.outputs) + octet_length(old.created_at) + octet_length(old.updated_at) + octet_length(old.record_version) + 4 + old.resource_bytes)
	WHERE `organization_id` = old.organization_id AND `kind` = 'stacks';
END;
--> statement-breakpoint
DROP TRIGGER IF EXISTS `usage_stacks_update`;
--> statement-breakpoint
CREATE TRIGGER `usage_stacks_update` AFTER UPDATE OF `project_id`, `environment_id`, `component_id`, `name`, `outputs`, `created_at`, `updated_at`, `record_version`, `resource_bytes` ON `stacks`
WHEN (octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.project_id) + octet_length(new.environment_id) + coalesce(octet_length(new.component_id), 0) + octet_length(new.name) + octet_length(new.outputs) + octet_length(new.created_at) + octet_length(new.updated_at) + octet_length(new.record_version) + 4 + new.resource_bytes) <> (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.project_id) + octet_length(old.environment_id) + coalesce(octet_length(old.component_id), 0) + octet_length(old.name) + octet_length(old.outputs) + octet_length(old.created_at) + octet_length(old.updated_at) + octet_length(old.record_version) + 4 + old.resource_bytes) BEGIN
	UPDATE `usage` SET `bytes` = `bytes` + (octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.project_id) + octet_length(new.environment_id) + coalesce(octet_length(new.component_id), 0) + octet_length(new.name) + octet_length(new.outputs) + octet_length(new.created_at) + octet_length(new.updated_at) + octet_length(new.record_version) + 4 + new.resource_bytes) - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.project_id) + octet_length(old.environment_id) + coalesce(octet_length(old.component_id), 0) + octet_length(old.name) + octet_length(old.outputs) + octet_length(old.created_at) + octet_length(old.updated_at) + octet_length(old.record_version) + 4 + old.resource_bytes)
	WHERE `organization_id` = new.organization_id AND `kind` = 'stacks';
END;
--> statement-breakpoint
DROP TRIGGER IF EXISTS `usage_stacks_tombstone`;
--> statement-breakpoint
CREATE TRIGGER `usage_stacks_tombstone` AFTER UPDATE OF `organization_id` ON `stacks` WHEN new.organization_id <> old.organization_id BEGIN
	UPDATE `usage` SET `records` = `records` - 1, `bytes` = `bytes` - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.project_id) + octet_length(old.environment_id) + coalesce(octet_length(old.component_id), 0) + octet_length(old.name) + octet_length(old.outputs) + octet_length(old.created_at) + octet_length(old.updated_at) + octet_length(old.record_version) + 4 + old.resource_bytes)
	WHERE `organization_id` = old.organization_id AND `kind` = 'stacks';
END;
--> statement-breakpoint
DROP TRIGGER IF EXISTS `usage_alarms_insert`;
--> statement-breakpoint
CREATE TRIGGER `usage_alarms_insert` AFTER INSERT ON `alarms` BEGIN
	INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
	VALUES (new.organization_id, 'alarms', 1, octet_length(new.id) + octet_length(new.stack_id) + octet_length(new.name) + octet_length(new.organization_id) + octet_length(new.project_id) + octet_length(new.state) + coalesce(octet_length(new.reason), 0) + octet_length(new.created_at) + octet_length(new.changed_at) + octet_length(new.updated_at))
	ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + excluded.records, `bytes` = `bytes` + excluded.bytes;
END;
--> statement-breakpoint
DROP TRIGGER IF EXISTS `usage_alarms_delete`;
--> statement-breakpoint
CREATE TRIGGER `usage_alarms_delete` AFTER DELETE ON `alarms` BEGIN
	UPDATE `usage` SET `records` = `records` - 1, `bytes` = `bytes` - (octet_length(old.id) + octet_length(old.stack_id) + octet_length(old.name) + octet_length(old.organization_id) + octet_length(old.project_id) + octet_length(old.state) + coalesce(octet_length(old.reason), 0) + octet_length(old.created_at) + octet_length(old.changed_at) + octet_length(old.updated_at))
	WHERE `organization_id` = old.organization_id AND `kind` = 'alarms';
END;
--> statement-breakpoint
DROP TRIGGER IF EXISTS `usage_alarms_update`;
--> statement-breakpoint
CREATE TRIGGER `usage_alarms_update` AFTER UPDATE OF `stack_id`, `name`, `project_id`, `state`, `reason`, `created_at`, `changed_at`, `updated_at` ON `alarms`
WHEN (octet_length(new.id) + octet_length(new.stack_id) + octet_length(new.name) + octet_length(new.organization_id) + octet_length(new.project_id) + octet_length(new.state) + coalesce(octet_length(new.reason), 0) + octet_length(new.created_at) + octet_length(new.changed_at) + octet_length(new.updated_at)) <> (octet_length(old.id) + octet_length(old.stack_id) + octet_length(old.name) + octet_length(old.organization_id) + octet_length(old.project_id) + octet_length(old.state) + coalesce(octet_length(old.reason), 0) + octet_length(old.created_at) + octet_length(old.changed_at) + octet_length(old.updated_at)) BEGIN
	UPDATE `usage` SET `bytes` = `bytes` + (octet_length(new.id) + octet_length(new.stack_id) + octet_length(new.name) + octet_length(new.organization_id) + octet_length(new.project_id) + octet_length(new.state) + coalesce(octet_length(new.reason), 0) + octet_length(new.created_at) + octet_length(new.changed_at) + octet_length(new.updated_at)) - (octet_length(old.id) + octet_length(old.stack_id) + octet_length(old.name) + octet_length(old.organization_id) + octet_length(old.project_id) + octet_length(old.state) + coalesce(octet_length(old.reason), 0) + octet_length(old.created_at) + octet_length(old.changed_at) + octet_length(old.updated_at))
	WHERE `organization_id` = new.organization_id AND `kind` = 'alarms';
END;
--> statement-breakpoint
DROP TRIGGER IF EXISTS `usage_variables_insert`;
--> statement-breakpoint
CREATE TRIGGER `usage_variables_insert` AFTER INSERT ON `variables` BEGIN
	INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
	VALUES (new.organization_id, 'variables', 1, octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.project_id) + octet_length(new.environment_id) + coalesce(octet_length(new.component_id), 0) + octet_length(new.scope_id) + octet_length(new.name) + octet_length(new.storage_method) + octet_length(new.resource_id) + octet_length(new.value) + octet_length(new.version) + octet_length(new.created_at) + octet_length(new.updated_at))
	ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + excluded.records, `bytes` = `bytes` + excluded.bytes;
END;
--> statement-breakpoint
DROP TRIGGER IF EXISTS `usage_variables_delete`;
--> statement-breakpoint
CREATE TRIGGER `usage_variables_delete` AFTER DELETE ON `variables` BEGIN
	UPDATE `usage` SET `records` = `records` - 1, `bytes` = `bytes` - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.project_id) + octet_length(old.environment_id) + coalesce(octet_length(old.component_id), 0) + octet_length(old.scope_id) + octet_length(old.name) + octet_length(old.storage_method) + octet_length(old.resource_id) + octet_length(old.value) + octet_length(old.version) + octet_length(old.created_at) + octet_length(old.updated_at))
	WHERE `organization_id` = old.organization_id AND `kind` = 'variables';
END;
--> statement-breakpoint
DROP TRIGGER IF EXISTS `usage_variables_update`;
--> statement-breakpoint
CREATE TRIGGER `usage_variables_update` AFTER UPDATE OF `project_id`, `environment_id`, `component_id`, `scope_id`, `name`, `storage_method`, `resource_id`, `value`, `version`, `created_at`, `updated_at` ON `variables`
WHEN (octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.project_id) + octet_length(new.environment_id) + coalesce(octet_length(new.component_id), 0) + octet_length(new.scope_id) + octet_length(new.name) + octet_length(new.storage_method) + octet_length(new.resource_id) + octet_length(new.value) + octet_length(new.version) + octet_length(new.created_at) + octet_length(new.updated_at)) <> (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.project_id) + octet_length(old.environment_id) + coalesce(octet_length(old.component_id), 0) + octet_length(old.scope_id) + octet_length(old.name) + octet_length(old.storage_method) + octet_length(old.resource_id) + octet_length(old.value) + octet_length(old.version) + octet_length(old.created_at) + octet_length(old.updated_at)) BEGIN
	UPDATE `usage` SET `bytes` = `bytes` + (octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.project_id) + octet_length(new.environment_id) + coalesce(octet_length(new.component_id), 0) + octet_length(new.scope_id) + octet_length(new.name) + octet_length(new.storage_method) + octet_length(new.resource_id) + octet_length(new.value) + octet_length(new.version) + octet_length(new.created_at) + octet_length(new.updated_at)) - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.project_id) + octet_length(old.environment_id) + coalesce(octet_length(old.component_id), 0) + octet_length(old.scope_id) + octet_length(old.name) + octet_length(old.storage_method) + octet_length(old.resource_id) + octet_length(old.value) + octet_length(old.version) + octet_length(old.created_at) + octet_length(old.updated_at))
	WHERE `organization_id` = new.organization_id AND `kind` = 'variables';
END;
--> statement-breakpoint
DROP TRIGGER IF EXISTS `usage_deployments_insert`;
--> statement-breakpoint
CREATE TRIGGER `usage_deployments_insert` AFTER INSERT ON `deployments` BEGIN
	INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
	VALUES (new.organization_id, 'deployments', 1, iif(new.configuration = '', 0, octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.project_id) + octet_length(new.environment_id) + octet_length(new.number) + octet_length(new.queue) + octet_length(new.patch) + coalesce(octet_length(new.source), 0) + octet_length(new.keeps_source) + coalesce(octet_length(new.trigger), 0) + coalesce(octet_length(new.reason), 0) + octet_length(new.created_at) + octet_length(new.updated_at) + coalesce(octet_length(new.configuration_version), 0) + octet_length(new.is_absolute) + coalesce(octet_length(new.stack_count), 0) + octet_length(new.reason_bytes) + 46 + 2 * coalesce(octet_length(new.failure_reason), 0) + 2 * coalesce(octet_length(new.message), 0) + new.reason_bytes + 126 * coalesce(new.stack_count, 0) + 300 * (new.lapsed_offers + (new.started_at IS NOT NULL)) + octet_length(new.configuration)))
	ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + excluded.records, `bytes` = `bytes` + excluded.bytes;
END;
--> statement-breakpoint
DROP TRIGGER IF EXISTS `usage_deployments_delete`;
--> statement-breakpoint
CREATE TRIGGER `usage_deployments_delete` AFTER DELETE ON `deployments` BEGIN
	UPDATE `usage` SET `records` = `records` - 1, `bytes` = `bytes` - (iif(old.configuration = '', 0, octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.project_id) + octet_length(old.environment_id) + octet_length(old.number) + octet_length(old.queue) + octet_length(old.patch) + coalesce(octet_length(old.source), 0) + octet_length(old.keeps_source) + coalesce(octet_length(old.trigger), 0) + coalesce(octet_length(old.reason), 0) + octet_length(old.created_at) + octet_length(old.updated_at) + coalesce(octet_length(old.configuration_version), 0) + octet_length(old.is_absolute) + coalesce(octet_length(old.stack_count), 0) + octet_length(old.reason_bytes) + 46 + 2 * coalesce(octet_length(old.failure_reason), 0) + 2 * coalesce(octet_length(old.message), 0) + old.reason_bytes + 126 * coalesce(old.stack_count, 0) + 300 * (old.lapsed_offers + (old.started_at IS NOT NULL)) + octet_length(old.configuration)))
	WHERE `organization_id` = old.organization_id AND `kind` = 'deployments';
END;
--> statement-breakpoint
DROP TRIGGER IF EXISTS `usage_deployments_update`;
--> statement-breakpoint
CREATE TRIGGER `usage_deployments_update` AFTER UPDATE OF `project_id`, `environment_id`, `number`, `queue`, `patch`, `configuration`, `source`, `keeps_source`, `trigger`, `reason`, `failure_reason`, `message`, `created_at`, `started_at`, `updated_at`, `configuration_version`, `is_absolute`, `lapsed_offers`, `stack_count`, `reason_bytes` ON `deployments`
WHEN (iif(new.configuration = '', 0, octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.project_id) + octet_length(new.environment_id) + octet_length(new.number) + octet_length(new.queue) + octet_length(new.patch) + coalesce(octet_length(new.source), 0) + octet_length(new.keeps_source) + coalesce(octet_length(new.trigger), 0) + coalesce(octet_length(new.reason), 0) + octet_length(new.created_at) + octet_length(new.updated_at) + coalesce(octet_length(new.configuration_version), 0) + octet_length(new.is_absolute) + coalesce(octet_length(new.stack_count), 0) + octet_length(new.reason_bytes) + 46 + 2 * coalesce(octet_length(new.failure_reason), 0) + 2 * coalesce(octet_length(new.message), 0) + new.reason_bytes + 126 * coalesce(new.stack_count, 0) + 300 * (new.lapsed_offers + (new.started_at IS NOT NULL)) + octet_length(new.configuration))) <> (iif(old.configuration = '', 0, octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.project_id) + octet_length(old.environment_id) + octet_length(old.number) + octet_length(old.queue) + octet_length(old.patch) + coalesce(octet_length(old.source), 0) + octet_length(old.keeps_source) + coalesce(octet_length(old.trigger), 0) + coalesce(octet_length(old.reason), 0) + octet_length(old.created_at) + octet_length(old.updated_at) + coalesce(octet_length(old.configuration_version), 0) + octet_length(old.is_absolute) + coalesce(octet_length(old.stack_count), 0) + octet_length(old.reason_bytes) + 46 + 2 * coalesce(octet_length(old.failure_reason), 0) + 2 * coalesce(octet_length(old.message), 0) + old.reason_bytes + 126 * coalesce(old.stack_count, 0) + 300 * (old.lapsed_offers + (old.started_at IS NOT NULL)) + octet_length(old.configuration))) BEGIN
	UPDATE `usage` SET `bytes` = `bytes` + (iif(new.configuration = '', 0, octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.project_id) + octet_length(new.environment_id) + octet_length(new.number) + octet_length(new.queue) + octet_length(new.patch) + coalesce(octet_length(new.source), 0) + octet_length(new.keeps_source) + coalesce(octet_length(new.trigger), 0) + coalesce(octet_length(new.reason), 0) + octet_length(new.created_at) + octet_length(new.updated_at) + coalesce(octet_length(new.configuration_version), 0) + octet_length(new.is_absolute) + coalesce(octet_length(new.stack_count), 0) + octet_length(new.reason_bytes) + 46 + 2 * coalesce(octet_length(new.failure_reason), 0) + 2 * coalesce(octet_length(new.message), 0) + new.reason_bytes + 126 * coalesce(new.stack_count, 0) + 300 * (new.lapsed_offers + (new.started_at IS NOT NULL)) + octet_length(new.configuration))) - (iif(old.configuration = '', 0, octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.project_id) + octet_length(old.environment_id) + octet_length(old.number) + octet_length(old.queue) + octet_length(old.patch) + coalesce(octet_length(old.source), 0) + octet_length(old.keeps_source) + coalesce(octet_length(old.trigger), 0) + coalesce(octet_length(old.reason), 0) + octet_length(old.created_at) + octet_length(old.updated_at) + coalesce(octet_length(old.configuration_version), 0) + octet_length(old.is_absolute) + coalesce(octet_length(old.stack_count), 0) + octet_length(old.reason_bytes) + 46 + 2 * coalesce(octet_length(old.failure_reason), 0) + 2 * coalesce(octet_length(old.message), 0) + old.reason_bytes + 126 * coalesce(old.stack_count, 0) + 300 * (old.lapsed_offers + (old.started_at IS NOT NULL)) + octet_length(old.configuration)))
	WHERE `organization_id` = new.organization_id AND `kind` = 'deployments';
END;
--> statement-breakpoint
DROP TRIGGER IF EXISTS `history_deployments_moved`;
--> statement-breakpoint
CREATE TRIGGER `history_deployments_moved` AFTER UPDATE OF `configuration` ON `deployments` WHEN new.configuration = '' AND old.configuration <> '' BEGIN
	INSERT INTO `history_usage` (`organization_id`, `kind`, `records`, `bytes`)
	VALUES (new.organization_id, 'deployments', 1, octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.project_id) + octet_length(new.environment_id) + octet_length(new.number) + octet_length(new.queue) + octet_length(new.patch) + coalesce(octet_length(new.source), 0) + octet_length(new.keeps_source) + coalesce(octet_length(new.trigger), 0) + coalesce(octet_length(new.reason), 0) + octet_length(new.created_at) + octet_length(new.updated_at) + coalesce(octet_length(new.configuration_version), 0) + octet_length(new.is_absolute) + coalesce(octet_length(new.stack_count), 0) + octet_length(new.reason_bytes) + 46 + 2 * coalesce(octet_length(new.failure_reason), 0) + 2 * coalesce(octet_length(new.message), 0) + new.reason_bytes + 126 * coalesce(new.stack_count, 0) + 300 * (new.lapsed_offers + (new.started_at IS NOT NULL)))
	ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + 1, `bytes` = `bytes` + excluded.bytes;
END;
--> statement-breakpoint
DROP TRIGGER IF EXISTS `history_deployments_insert`;
--> statement-breakpoint
CREATE TRIGGER `history_deployments_insert` AFTER INSERT ON `deployments` WHEN new.configuration = '' BEGIN
	INSERT INTO `history_usage` (`organization_id`, `kind`, `records`, `bytes`)
	VALUES (new.organization_id, 'deployments', 1, octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.project_id) + octet_length(new.environment_id) + octet_length(new.number) + octet_length(new.queue) + octet_length(new.patch) + coalesce(octet_length(new.source), 0) + octet_length(new.keeps_source) + coalesce(octet_length(new.trigger), 0) + coalesce(octet_length(new.reason), 0) + octet_length(new.created_at) + octet_length(new.updated_at) + coalesce(octet_length(new.configuration_version), 0) + octet_length(new.is_absolute) + coalesce(octet_length(new.stack_count), 0) + octet_length(new.reason_bytes) + 46 + 2 * coalesce(octet_length(new.failure_reason), 0) + 2 * coalesce(octet_length(new.message), 0) + new.reason_bytes + 126 * coalesce(new.stack_count, 0) + 300 * (new.lapsed_offers + (new.started_at IS NOT NULL)))
	ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + 1, `bytes` = `bytes` + excluded.bytes;
END;
--> statement-breakpoint
DROP TRIGGER IF EXISTS `history_deployments_delete`;
--> statement-breakpoint
CREATE TRIGGER `history_deployments_delete` AFTER DELETE ON `deployments` WHEN old.configuration = '' BEGIN
	UPDATE `history_usage` SET `records` = `records` - 1, `bytes` = `bytes` - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.project_id) + octet_length(old.environment_id) + octet_length(old.number) + octet_length(old.queue) + octet_length(old.patch) + coalesce(octet_length(old.source), 0) + octet_length(old.keeps_source) + coalesce(octet_length(old.trigger), 0) + coalesce(octet_length(old.reason), 0) + octet_length(old.created_at) + octet_length(old.updated_at) + coalesce(octet_length(old.configuration_version), 0) + octet_length(old.is_absolute) + coalesce(octet_length(old.stack_count), 0) + octet_length(old.reason_bytes) + 46 + 2 * coalesce(octet_length(old.failure_reason), 0) + 2 * coalesce(octet_length(old.message), 0) + old.reason_bytes + 126 * coalesce(old.stack_count, 0) + 300 * (old.lapsed_offers + (old.started_at IS NOT NULL)))
	WHERE `organization_id` = old.organization_id AND `kind` = 'deployments';
END;
--> statement-breakpoint
DROP TRIGGER IF EXISTS `usage_integrations_insert`;
--> statement-breakpoint
CREATE TRIGGER `usage_integrations_insert` AFTER INSERT ON `integrations` BEGIN
	INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
	VALUES (new.organization_id, 'integrations', 1, octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.project_id) + octet_length(new.type) + octet_length(new.configuration) + octet_length(new.url) + octet_length(new.shown_url) + coalesce(octet_length(new.environment_ids), 0) + coalesce(octet_length(new.stack_ids), 0) + coalesce(octet_length(new.secret), 0) + coalesce(octet_length(new.previous_secret), 0) + coalesce(octet_length(new.previous_secret_until), 0) + coalesce(octet_length(new.disabled_at), 0) + coalesce(octet_length(new.disabled_reason), 0) + coalesce(octet_length(new.failing_since), 0) + coalesce(octet_length(new.paused_until), 0) + coalesce(octet_length(new.failure_notified_at), 0) + coalesce(octet_length(new.pause_notified_at), 0) + coalesce(octet_length(new.last_sent_at), 0) + coalesce(octet_length(new.links_to), 0) + coalesce(octet_length(new.slack_channel), 0) + coalesce(octet_length(new.confirmed_at), 0) + coalesce(octet_length(new.confirm_by), 0) + octet_length(new.created_at) + octet_length(new.updated_at) + octet_length(new.record_version))
	ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + excluded.records, `bytes` = `bytes` + excluded.bytes;
END;
--> statement-breakpoint
DROP TRIGGER IF EXISTS `usage_integrations_delete`;
--> statement-breakpoint
CREATE TRIGGER `usage_integrations_delete` AFTER DELETE ON `integrations` BEGIN
	UPDATE `usage` SET `records` = `records` - 1, `bytes` = `bytes` - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.project_id) + octet_length(old.type) + octet_length(old.configuration) + octet_length(old.url) + octet_length(old.shown_url) + coalesce(octet_length(old.environment_ids), 0) + coalesce(octet_length(old.stack_ids), 0) + coalesce(octet_length(old.secret), 0) + coalesce(octet_length(old.previous_secret), 0) + coalesce(octet_length(old.previous_secret_until), 0) + coalesce(octet_length(old.disabled_at), 0) + coalesce(octet_length(old.disabled_reason), 0) + coalesce(octet_length(old.failing_since), 0) + coalesce(octet_length(old.paused_until), 0) + coalesce(octet_length(old.failure_notified_at), 0) + coalesce(octet_length(old.pause_notified_at), 0) + coalesce(octet_length(old.last_sent_at), 0) + coalesce(octet_length(old.links_to), 0) + coalesce(octet_length(old.slack_channel), 0) + coalesce(octet_length(old.confirmed_at), 0) + coalesce(octet_length(old.confirm_by), 0) + octet_length(old.created_at) + octet_length(old.updated_at) + octet_length(old.record_version))
	WHERE `organization_id` = old.organization_id AND `kind` = 'integrations';
END;
--> statement-breakpoint
DROP TRIGGER IF EXISTS `usage_integrations_update`;
--> statement-breakpoint
CREATE TRIGGER `usage_integrations_update` AFTER UPDATE OF `project_id`, `type`, `configuration`, `url`, `shown_url`, `environment_ids`, `stack_ids`, `secret`, `previous_secret`, `previous_secret_until`, `disabled_at`, `disabled_reason`, `failing_since`, `paused_until`, `failure_notified_at`, `pause_notified_at`, `last_sent_at`, `links_to`, `slack_channel`, `confirmed_at`, `confirm_by`, `created_at`, `updated_at`, `record_version` ON `integrations`
WHEN (octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.project_id) + octet_length(new.type) + octet_length(new.configuration) + octet_length(new.url) + octet_length(new.shown_url) + coalesce(octet_length(new.environment_ids), 0) + coalesce(octet_length(new.stack_ids), 0) + coalesce(octet_length(new.secret), 0) + coalesce(octet_length(new.previous_secret), 0) + coalesce(octet_length(new.previous_secret_until), 0) + coalesce(octet_length(new.disabled_at), 0) + coalesce(octet_length(new.disabled_reason), 0) + coalesce(octet_length(new.failing_since), 0) + coalesce(octet_length(new.paused_until), 0) + coalesce(octet_length(new.failure_notified_at), 0) + coalesce(octet_length(new.pause_notified_at), 0) + coalesce(octet_length(new.last_sent_at), 0) + coalesce(octet_length(new.links_to), 0) + coalesce(octet_length(new.slack_channel), 0) + coalesce(octet_length(new.confirmed_at), 0) + coalesce(octet_length(new.confirm_by), 0) + octet_length(new.created_at) + octet_length(new.updated_at) + octet_length(new.record_version)) <> (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.project_id) + octet_length(old.type) + octet_length(old.configuration) + octet_length(old.url) + octet_length(old.shown_url) + coalesce(octet_length(old.environment_ids), 0) + coalesce(octet_length(old.stack_ids), 0) + coalesce(octet_length(old.secret), 0) + coalesce(octet_length(old.previous_secret), 0) + coalesce(octet_length(old.previous_secret_until), 0) + coalesce(octet_length(old.disabled_at), 0) + coalesce(octet_length(old.disabled_reason), 0) + coalesce(octet_length(old.failing_since), 0) + coalesce(octet_length(old.paused_until), 0) + coalesce(octet_length(old.failure_notified_at), 0) + coalesce(octet_length(old.pause_notified_at), 0) + coalesce(octet_length(old.last_sent_at), 0) + coalesce(octet_length(old.links_to), 0) + coalesce(octet_length(old.slack_channel), 0) + coalesce(octet_length(old.confirmed_at), 0) + coalesce(octet_length(old.confirm_by), 0) + octet_length(old.created_at) + octet_length(old.updated_at) + octet_length(old.record_version)) BEGIN
	UPDATE `usage` SET `bytes` = `bytes` + (octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.project_id) + octet_length(new.type) + octet_length(new.configuration) + octet_length(new.url) + octet_length(new.shown_url) + coalesce(octet_length(new.environment_ids), 0) + coalesce(octet_length(new.stack_ids), 0) + coalesce(octet_length(new.secret), 0) + coalesce(octet_length(new.previous_secret), 0) + coalesce(octet_length(new.previous_secret_until), 0) + coalesce(octet_length(new.disabled_at), 0) + coalesce(octet_length(new.disabled_reason), 0) + coalesce(octet_length(new.failing_since), 0) + coalesce(octet_length(new.paused_until), 0) + coalesce(octet_length(new.failure_notified_at), 0) + coalesce(octet_length(new.pause_notified_at), 0) + coalesce(octet_length(new.last_sent_at), 0) + coalesce(octet_length(new.links_to), 0) + coalesce(octet_length(new.slack_channel), 0) + coalesce(octet_length(new.confirmed_at), 0) + coalesce(octet_length(new.confirm_by), 0) + octet_length(new.created_at) + octet_length(new.updated_at) + octet_length(new.record_version)) - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.project_id) + octet_length(old.type) + octet_length(old.configuration) + octet_length(old.url) + octet_length(old.shown_url) + coalesce(octet_length(old.environment_ids), 0) + coalesce(octet_length(old.stack_ids), 0) + coalesce(octet_length(old.secret), 0) + coalesce(octet_length(old.previous_secret), 0) + coalesce(octet_length(old.previous_secret_until), 0) + coalesce(octet_length(old.disabled_at), 0) + coalesce(octet_length(old.disabled_reason), 0) + coalesce(octet_length(old.failing_since), 0) + coalesce(octet_length(old.paused_until), 0) + coalesce(octet_length(old.failure_notified_at), 0) + coalesce(octet_length(old.pause_notified_at), 0) + coalesce(octet_length(old.last_sent_at), 0) + coalesce(octet_length(old.links_to), 0) + coalesce(octet_length(old.slack_channel), 0) + coalesce(octet_length(old.confirmed_at), 0) + coalesce(octet_length(old.confirm_by), 0) + octet_length(old.created_at) + octet_length(old.updated_at) + octet_length(old.record_version))
	WHERE `organization_id` = new.organization_id AND `kind` = 'integrations';
END;
--> statement-breakpoint
DROP TRIGGER IF EXISTS `usage_integrations_tombstone`;
--> statement-breakpoint
CREATE TRIGGER `usage_integrations_tombstone` AFTER UPDATE OF `organization_id` ON `integrations` WHEN new.organization_id <> old.organization_id BEGIN
	UPDATE `usage` SET `records` = `records` - 1, `bytes` = `bytes` - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.project_id) + octet_length(old.type) + octet_length(old.configuration) + octet_length(old.url) + octet_length(old.shown_url) + coalesce(octet_length(old.environment_ids), 0) + coalesce(octet_length(old.stack_ids), 0) + coalesce(octet_length(old.secret), 0) + coalesce(octet_length(old.previous_secret), 0) + coalesce(octet_length(old.previous_secret_until), 0) + coalesce(octet_length(old.disabled_at), 0) + coalesce(octet_length(old.disabled_reason), 0) + coalesce(octet_length(old.failing_since), 0) + coalesce(octet_length(old.paused_until), 0) + coalesce(octet_length(old.failure_notified_at), 0) + coalesce(octet_length(old.pause_notified_at), 0) + coalesce(octet_length(old.last_sent_at), 0) + coalesce(octet_length(old.links_to), 0) + coalesce(octet_length(old.slack_channel), 0) + coalesce(octet_length(old.confirmed_at), 0) + coalesce(octet_length(old.confirm_by), 0) + octet_length(old.created_at) + octet_length(old.updated_at) + octet_length(old.record_version))
	WHERE `organization_id` = old.organization_id AND `kind` = 'integrations';
END;
--> statement-breakpoint
DROP TRIGGER IF EXISTS `usage_recoveries_insert`;
--> statement-breakpoint
CREATE TRIGGER `usage_recoveries_insert` AFTER INSERT ON `recoveries` BEGIN
	INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
	VALUES (new.organization_id, 'others', 1, octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.project_id) + octet_length(new.integration_id) + octet_length(new.since) + octet_length(new.until) + octet_length(new.status) + coalesce(octet_length(new.position), 0) + octet_length(new.recovered) + octet_length(new.created_at) + octet_length(new.updated_at) + coalesce(octet_length(new.finished_at), 0))
	ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + excluded.records, `bytes` = `bytes` + excluded.bytes;
END;
--> statement-breakpoint
DROP TRIGGER IF EXISTS `usage_recoveries_delete`;
--> statement-breakpoint
CREATE TRIGGER `usage_recoveries_delete` AFTER DELETE ON `recoveries` BEGIN
	UPDATE `usage` SET `records` = `records` - 1, `bytes` = `bytes` - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.project_id) + octet_length(old.integration_id) + octet_length(old.since) + octet_length(old.until) + octet_length(old.status) + coalesce(octet_length(old.position), 0) + octet_length(old.recovered) + octet_length(old.created_at) + octet_length(old.updated_at) + coalesce(octet_length(old.finished_at), 0))
	WHERE `organization_id` = old.organization_id AND `kind` = 'others';
END;
--> statement-breakpoint
DROP TRIGGER IF EXISTS `usage_recoveries_update`;
--> statement-breakpoint
CREATE TRIGGER `usage_recoveries_update` AFTER UPDATE OF `project_id`, `integration_id`, `since`, `until`, `status`, `position`, `recovered`, `created_at`, `updated_at`, `finished_at` ON `recoveries`
WHEN (octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.project_id) + octet_length(new.integration_id) + octet_length(new.since) + octet_length(new.until) + octet_length(new.status) + coalesce(octet_length(new.position), 0) + octet_length(new.recovered) + octet_length(new.created_at) + octet_length(new.updated_at) + coalesce(octet_length(new.finished_at), 0)) <> (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.project_id) + octet_length(old.integration_id) + octet_length(old.since) + octet_length(old.until) + octet_length(old.status) + coalesce(octet_length(old.position), 0) + octet_length(old.recovered) + octet_length(old.created_at) + octet_length(old.updated_at) + coalesce(octet_length(old.finished_at), 0)) BEGIN
	UPDATE `usage` SET `bytes` = `bytes` + (octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.project_id) + octet_length(new.integration_id) + octet_length(new.since) + octet_length(new.until) + octet_length(new.status) + coalesce(octet_length(new.position), 0) + octet_length(new.recovered) + octet_length(new.created_at) + octet_length(new.updated_at) + coalesce(octet_length(new.finished_at), 0)) - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.project_id) + octet_length(old.integration_id) + octet_length(old.since) + octet_length(old.until) + octet_length(old.status) + coalesce(octet_length(old.position), 0) + octet_length(old.recovered) + octet_length(old.created_at) + octet_length(old.updated_at) + coalesce(octet_length(old.finished_at), 0))
	WHERE `organization_id` = new.organization_id AND `kind` = 'others';
END;
--> statement-breakpoint
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
--> statement-breakpoint
DELETE FROM `usage` WHERE `kind` = 'api_keys';
--> statement-breakpoint
INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
SELECT organization_id, 'api_keys', sum(iif(api_keys.session_id IS NULL AND api_keys.trust_id IS NULL, 1, 0)), sum(octet_length(api_keys.id) + octet_length(api_keys.organization_id) + octet_length(api_keys.membership_id) + octet_length(api_keys.name) + octet_length(api_keys.role) + octet_length(api_keys.secret_hash) + octet_length(api_keys.last_four) + octet_length(api_keys.version) + coalesce(octet_length(api_keys.expires_at), 0) + octet_length(api_keys.created_at) + coalesce(octet_length(api_keys.scopes), 0) + coalesce(octet_length(api_keys.project_ids), 0) + coalesce(octet_length(api_keys.environment_ids), 0) + coalesce(octet_length(api_keys.narrowed_expires_at), 0) + coalesce(octet_length(api_keys.created_by_key_id), 0) + coalesce(octet_length(api_keys.created_by_membership_id), 0) + coalesce(octet_length(api_keys.issued_by_key_id), 0) + coalesce(octet_length(api_keys.created_by_session_id), 0) + coalesce(octet_length(api_keys.rotated_by_key_id), 0) + coalesce(octet_length(api_keys.replaced_by_key_id), 0) + coalesce(octet_length(api_keys.trust_id), 0) + coalesce(octet_length(api_keys.session_id), 0) + octet_length(api_keys.is_own) + octet_length(api_keys.expires_by_policy) + octet_length(api_keys.record_version) + 13) FROM `api_keys`
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
SELECT organization_id, 'alarms', sum(1), sum(octet_length(alarms.id) + octet_length(alarms.stack_id) + octet_length(alarms.name) + octet_length(alarms.organization_id) + octet_length(alarms.project_id) + octet_length(alarms.state) + coalesce(octet_length(alarms.reason), 0) + octet_length(alarms.created_at) + octet_length(alarms.changed_at) + octet_length(alarms.updated_at)) FROM `alarms`
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
SELECT organization_id, 'deployments', sum(1), sum(iif(deployments.configuration = '', 0, octet_length(deployments.id) + octet_length(deployments.organization_id) + octet_length(deployments.project_id) + octet_length(deployments.environment_id) + octet_length(deployments.number) + octet_length(deployments.queue) + octet_length(deployments.patch) + coalesce(octet_length(deployments.source), 0) + octet_length(deployments.keeps_source) + coalesce(octet_length(deployments.trigger), 0) + coalesce(octet_length(deployments.reason), 0) + octet_length(deployments.created_at) + octet_length(deployments.updated_at) + coalesce(octet_length(deployments.configuration_version), 0) + octet_length(deployments.is_absolute) + coalesce(octet_length(deployments.stack_count), 0) + octet_length(deployments.reason_bytes) + 46 + 2 * coalesce(octet_length(deployments.failure_reason), 0) + 2 * coalesce(octet_length(deployments.message), 0) + deployments.reason_bytes + 126 * coalesce(deployments.stack_count, 0) + 300 * (deployments.lapsed_offers + (deployments.started_at IS NOT NULL)) + octet_length(deployments.configuration))) FROM `deployments`
WHERE organization_id <> '1111111111111111111111' GROUP BY organization_id
ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + excluded.records, `bytes` = `bytes` + excluded.bytes;
--> statement-breakpoint
DELETE FROM `history_usage` WHERE `kind` = 'deployments';
--> statement-breakpoint
INSERT INTO `history_usage` (`organization_id`, `kind`, `records`, `bytes`)
SELECT organization_id, 'deployments', count(*), sum(octet_length(deployments.id) + octet_length(deployments.organization_id) + octet_length(deployments.project_id) + octet_length(deployments.environment_id) + octet_length(deployments.number) + octet_length(deployments.queue) + octet_length(deployments.patch) + coalesce(octet_length(deployments.source), 0) + octet_length(deployments.keeps_source) + coalesce(octet_length(deployments.trigger), 0) + coalesce(octet_length(deployments.reason), 0) + octet_length(deployments.created_at) + octet_length(deployments.updated_at) + coalesce(octet_length(deployments.configuration_version), 0) + octet_length(deployments.is_absolute) + coalesce(octet_length(deployments.stack_count), 0) + octet_length(deployments.reason_bytes) + 46 + 2 * coalesce(octet_length(deployments.failure_reason), 0) + 2 * coalesce(octet_length(deployments.message), 0) + deployments.reason_bytes + 126 * coalesce(deployments.stack_count, 0) + 300 * (deployments.lapsed_offers + (deployments.started_at IS NOT NULL))) FROM `deployments`
WHERE configuration = '' GROUP BY organization_id;
--> statement-breakpoint
DELETE FROM `usage` WHERE `kind` = 'integrations';
--> statement-breakpoint
INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
SELECT organization_id, 'integrations', sum(1), sum(octet_length(integrations.id) + octet_length(integrations.organization_id) + octet_length(integrations.project_id) + octet_length(integrations.type) + octet_length(integrations.configuration) + octet_length(integrations.url) + octet_length(integrations.shown_url) + coalesce(octet_length(integrations.environment_ids), 0) + coalesce(octet_length(integrations.stack_ids), 0) + coalesce(octet_length(integrations.secret), 0) + coalesce(octet_length(integrations.previous_secret), 0) + coalesce(octet_length(integrations.previous_secret_until), 0) + coalesce(octet_length(integrations.disabled_at), 0) + coalesce(octet_length(integrations.disabled_reason), 0) + coalesce(octet_length(integrations.failing_since), 0) + coalesce(octet_length(integrations.paused_until), 0) + coalesce(octet_length(integrations.failure_notified_at), 0) + coalesce(octet_length(integrations.pause_notified_at), 0) + coalesce(octet_length(integrations.last_sent_at), 0) + coalesce(octet_length(integrations.links_to), 0) + coalesce(octet_length(integrations.slack_channel), 0) + coalesce(octet_length(integrations.confirmed_at), 0) + coalesce(octet_length(integrations.confirm_by), 0) + octet_length(integrations.created_at) + octet_length(integrations.updated_at) + octet_length(integrations.record_version)) FROM `integrations`
WHERE organization_id <> '1111111111111111111111' GROUP BY organization_id
ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + excluded.records, `bytes` = `bytes` + excluded.bytes;