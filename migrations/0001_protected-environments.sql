CREATE TABLE `configuration_digests` (
	`deployment_id` text NOT NULL,
	`exceptions_digest` text NOT NULL,
	`organization_id` text NOT NULL,
	`environment_id` text NOT NULL,
	`digest` text NOT NULL,
	PRIMARY KEY(`deployment_id`, `exceptions_digest`),
	FOREIGN KEY (`deployment_id`) REFERENCES `deployments`(`id`) ON UPDATE no action ON DELETE restrict,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE restrict,
	FOREIGN KEY (`environment_id`) REFERENCES `environments`(`id`) ON UPDATE no action ON DELETE restrict
);
--> statement-breakpoint
CREATE INDEX `configuration_digests_environment` ON `configuration_digests` (`environment_id`);--> statement-breakpoint
CREATE TABLE `environment_successes` (
	`deployment_id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`environment_id` text NOT NULL,
	`created_at` integer NOT NULL,
	`started_at` integer,
	`finished_at` integer,
	`source` text,
	`start_basis` text NOT NULL,
	`configuration_digest` text,
	FOREIGN KEY (`deployment_id`) REFERENCES `deployments`(`id`) ON UPDATE no action ON DELETE restrict,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE restrict,
	FOREIGN KEY (`environment_id`) REFERENCES `environments`(`id`) ON UPDATE no action ON DELETE restrict
);
--> statement-breakpoint
CREATE INDEX `environment_successes_list` ON `environment_successes` (`environment_id`,`created_at`);--> statement-breakpoint
ALTER TABLE `deployment_approvals` ADD `configuration_digest` text;--> statement-breakpoint
ALTER TABLE `attempts` ADD `checked` text;--> statement-breakpoint
ALTER TABLE `deployments` ADD `configuration_digest` text;--> statement-breakpoint
ALTER TABLE `deployments` ADD `start_basis` text;--> statement-breakpoint
ALTER TABLE `deployments` ADD `resulting` text;--> statement-breakpoint
ALTER TABLE `deployments` ADD `digests_due` integer DEFAULT false NOT NULL;--> statement-breakpoint
CREATE INDEX `deployments_digests_due` ON `deployments` (`organization_id`) WHERE digests_due = 1;--> statement-breakpoint
CREATE INDEX `environment_protections_organization` ON `environment_protections` (`organization_id`) WHERE rules <> '{}';
--> statement-breakpoint
-- Queued deployments are evaluated again when rules change or a freeze begins. What rules compare of a success is
-- digested by the schedule.
CREATE TRIGGER `deployments_compared` AFTER UPDATE OF `status` ON `deployments` WHEN new.status = 'succeeded' AND old.status <> 'succeeded' BEGIN
	INSERT INTO `environment_successes` (`deployment_id`, `organization_id`, `environment_id`, `created_at`, `started_at`, `finished_at`, `source`, `start_basis`, `configuration_digest`)
	SELECT new.id, new.organization_id, new.environment_id, new.created_at, new.started_at, new.finished_at, new.source, new.start_basis, new.configuration_digest
	WHERE new.start_basis IS NOT NULL;
	DELETE FROM `environment_successes` WHERE `rowid` IN (
		SELECT `rowid` FROM `environment_successes` WHERE `environment_id` = new.environment_id ORDER BY `created_at` DESC LIMIT -1 OFFSET 20);
	UPDATE `deployments` SET `digests_due` = 1 WHERE `id` = new.id AND EXISTS (
		SELECT 1 FROM `environment_protections` AS protection JOIN json_each(protection.rules, '$.from.environment_ids') AS item
		WHERE protection.project_id = new.project_id AND protection.rules -> '$.from.same_configuration' IS NOT NULL
			AND item.value = new.environment_id);
END;
--> statement-breakpoint
CREATE TRIGGER `environment_successes_changed` AFTER UPDATE OF `started_at`, `finished_at`, `configuration_digest` ON `deployments` WHEN old.status = 'succeeded' BEGIN
	UPDATE `environment_successes` SET `started_at` = new.started_at, `finished_at` = new.finished_at, `configuration_digest` = new.configuration_digest
	WHERE `deployment_id` = new.id;
END;
--> statement-breakpoint
CREATE TRIGGER `environment_protections_compared_insert` AFTER INSERT ON `environment_protections`
WHEN new.rules -> '$.from.same_configuration' IS NOT NULL BEGIN
	UPDATE `deployments` SET `digests_due` = 1 WHERE `id` IN (
		SELECT (SELECT latest.id FROM `deployments` AS latest INDEXED BY `deployments_list_status`
			WHERE latest.environment_id = item.value AND latest.status = 'succeeded' ORDER BY latest.created_at DESC LIMIT 1)
		FROM json_each(new.rules, '$.from.environment_ids') AS item)
		AND `organization_id` = new.organization_id;
END;
--> statement-breakpoint
CREATE TRIGGER `environment_protections_compared_update` AFTER UPDATE OF `rules` ON `environment_protections`
WHEN new.rules <> old.rules AND new.rules -> '$.from.same_configuration' IS NOT NULL BEGIN
	UPDATE `deployments` SET `digests_due` = 1 WHERE `id` IN (
		SELECT (SELECT latest.id FROM `deployments` AS latest INDEXED BY `deployments_list_status`
			WHERE latest.environment_id = item.value AND latest.status = 'succeeded' ORDER BY latest.created_at DESC LIMIT 1)
		FROM json_each(new.rules, '$.from.environment_ids') AS item)
		AND `organization_id` = new.organization_id;
END;
--> statement-breakpoint
DROP TRIGGER `usage_deployments_insert`;
--> statement-breakpoint
-- Counts the records and bytes of an organization (scripts/lib/usage-triggers.ts).
CREATE TRIGGER `usage_deployments_insert` AFTER INSERT ON `deployments` BEGIN
	INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
	VALUES (new.organization_id, 'deployments', 1, iif(new.configuration = '', 0, octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.project_id) + octet_length(new.environment_id) + octet_length(new.number) + octet_length(new.queue) + octet_length(new.patch) + coalesce(octet_length(new.source), 0) + octet_length(new.keeps_source) + octet_length(new.trigger) + coalesce(octet_length(new.reason), 0) + octet_length(new.created_at) + octet_length(new.updated_at) + octet_length(new.configuration_version) + octet_length(new.is_absolute) + octet_length(new.stack_count) + octet_length(new.reason_bytes) + octet_length(new.kept_rules) + octet_length(new.creators) + coalesce(octet_length(new.claims), 0) + coalesce(octet_length(new.exempt), 0) + coalesce(octet_length(new.overridden), 0) + octet_length(new.creator_type) + octet_length(new.creator_membership_id) + coalesce(octet_length(new.creator_trust_id), 0) + coalesce(octet_length(new.copied_id), 0) + coalesce(octet_length(new.configuration_digest), 0) + coalesce(octet_length(new.start_basis), 0) + coalesce(octet_length(new.resulting), 0) + 75 + 2 * coalesce(octet_length(new.failure_reason), 0) + 2 * coalesce(octet_length(new.message), 0) + new.reason_bytes + 139 * new.stack_count + 300 * (new.lapsed_offers + new.released_offers + (new.started_at IS NOT NULL)) + octet_length(new.configuration)))
	ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + excluded.records, `bytes` = `bytes` + excluded.bytes;
END;
--> statement-breakpoint
DROP TRIGGER `usage_deployments_delete`;
--> statement-breakpoint
CREATE TRIGGER `usage_deployments_delete` AFTER DELETE ON `deployments` BEGIN
	UPDATE `usage` SET `records` = `records` - 1, `bytes` = `bytes` - (iif(old.configuration = '', 0, octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.project_id) + octet_length(old.environment_id) + octet_length(old.number) + octet_length(old.queue) + octet_length(old.patch) + coalesce(octet_length(old.source), 0) + octet_length(old.keeps_source) + octet_length(old.trigger) + coalesce(octet_length(old.reason), 0) + octet_length(old.created_at) + octet_length(old.updated_at) + octet_length(old.configuration_version) + octet_length(old.is_absolute) + octet_length(old.stack_count) + octet_length(old.reason_bytes) + octet_length(old.kept_rules) + octet_length(old.creators) + coalesce(octet_length(old.claims), 0) + coalesce(octet_length(old.exempt), 0) + coalesce(octet_length(old.overridden), 0) + octet_length(old.creator_type) + octet_length(old.creator_membership_id) + coalesce(octet_length(old.creator_trust_id), 0) + coalesce(octet_length(old.copied_id), 0) + coalesce(octet_length(old.configuration_digest), 0) + coalesce(octet_length(old.start_basis), 0) + coalesce(octet_length(old.resulting), 0) + 75 + 2 * coalesce(octet_length(old.failure_reason), 0) + 2 * coalesce(octet_length(old.message), 0) + old.reason_bytes + 139 * old.stack_count + 300 * (old.lapsed_offers + old.released_offers + (old.started_at IS NOT NULL)) + octet_length(old.configuration)))
	WHERE `organization_id` = old.organization_id AND `kind` = 'deployments';
END;
--> statement-breakpoint
DROP TRIGGER `usage_deployments_update`;
--> statement-breakpoint
CREATE TRIGGER `usage_deployments_update` AFTER UPDATE OF `project_id`, `environment_id`, `number`, `queue`, `patch`, `configuration`, `source`, `keeps_source`, `trigger`, `reason`, `failure_reason`, `message`, `created_at`, `started_at`, `updated_at`, `configuration_version`, `is_absolute`, `lapsed_offers`, `released_offers`, `stack_count`, `reason_bytes`, `kept_rules`, `creators`, `claims`, `exempt`, `overridden`, `creator_type`, `creator_membership_id`, `creator_trust_id`, `copied_id`, `configuration_digest`, `start_basis`, `resulting` ON `deployments`
WHEN (iif(new.configuration = '', 0, octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.project_id) + octet_length(new.environment_id) + octet_length(new.number) + octet_length(new.queue) + octet_length(new.patch) + coalesce(octet_length(new.source), 0) + octet_length(new.keeps_source) + octet_length(new.trigger) + coalesce(octet_length(new.reason), 0) + octet_length(new.created_at) + octet_length(new.updated_at) + octet_length(new.configuration_version) + octet_length(new.is_absolute) + octet_length(new.stack_count) + octet_length(new.reason_bytes) + octet_length(new.kept_rules) + octet_length(new.creators) + coalesce(octet_length(new.claims), 0) + coalesce(octet_length(new.exempt), 0) + coalesce(octet_length(new.overridden), 0) + octet_length(new.creator_type) + octet_length(new.creator_membership_id) + coalesce(octet_length(new.creator_trust_id), 0) + coalesce(octet_length(new.copied_id), 0) + coalesce(octet_length(new.configuration_digest), 0) + coalesce(octet_length(new.start_basis), 0) + coalesce(octet_length(new.resulting), 0) + 75 + 2 * coalesce(octet_length(new.failure_reason), 0) + 2 * coalesce(octet_length(new.message), 0) + new.reason_bytes + 139 * new.stack_count + 300 * (new.lapsed_offers + new.released_offers + (new.started_at IS NOT NULL)) + octet_length(new.configuration))) <> (iif(old.configuration = '', 0, octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.project_id) + octet_length(old.environment_id) + octet_length(old.number) + octet_length(old.queue) + octet_length(old.patch) + coalesce(octet_length(old.source), 0) + octet_length(old.keeps_source) + octet_length(old.trigger) + coalesce(octet_length(old.reason), 0) + octet_length(old.created_at) + octet_length(old.updated_at) + octet_length(old.configuration_version) + octet_length(old.is_absolute) + octet_length(old.stack_count) + octet_length(old.reason_bytes) + octet_length(old.kept_rules) + octet_length(old.creators) + coalesce(octet_length(old.claims), 0) + coalesce(octet_length(old.exempt), 0) + coalesce(octet_length(old.overridden), 0) + octet_length(old.creator_type) + octet_length(old.creator_membership_id) + coalesce(octet_length(old.creator_trust_id), 0) + coalesce(octet_length(old.copied_id), 0) + coalesce(octet_length(old.configuration_digest), 0) + coalesce(octet_length(old.start_basis), 0) + coalesce(octet_length(old.resulting), 0) + 75 + 2 * coalesce(octet_length(old.failure_reason), 0) + 2 * coalesce(octet_length(old.message), 0) + old.reason_bytes + 139 * old.stack_count + 300 * (old.lapsed_offers + old.released_offers + (old.started_at IS NOT NULL)) + octet_length(old.configuration))) BEGIN
	UPDATE `usage` SET `bytes` = `bytes` + (iif(new.configuration = '', 0, octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.project_id) + octet_length(new.environment_id) + octet_length(new.number) + octet_length(new.queue) + octet_length(new.patch) + coalesce(octet_length(new.source), 0) + octet_length(new.keeps_source) + octet_length(new.trigger) + coalesce(octet_length(new.reason), 0) + octet_length(new.created_at) + octet_length(new.updated_at) + octet_length(new.configuration_version) + octet_length(new.is_absolute) + octet_length(new.stack_count) + octet_length(new.reason_bytes) + octet_length(new.kept_rules) + octet_length(new.creators) + coalesce(octet_length(new.claims), 0) + coalesce(octet_length(new.exempt), 0) + coalesce(octet_length(new.overridden), 0) + octet_length(new.creator_type) + octet_length(new.creator_membership_id) + coalesce(octet_length(new.creator_trust_id), 0) + coalesce(octet_length(new.copied_id), 0) + coalesce(octet_length(new.configuration_digest), 0) + coalesce(octet_length(new.start_basis), 0) + coalesce(octet_length(new.resulting), 0) + 75 + 2 * coalesce(octet_length(new.failure_reason), 0) + 2 * coalesce(octet_length(new.message), 0) + new.reason_bytes + 139 * new.stack_count + 300 * (new.lapsed_offers + new.released_offers + (new.started_at IS NOT NULL)) + octet_length(new.configuration))) - (iif(old.configuration = '', 0, octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.project_id) + octet_length(old.environment_id) + octet_length(old.number) + octet_length(old.queue) + octet_length(old.patch) + coalesce(octet_length(old.source), 0) + octet_length(old.keeps_source) + octet_length(old.trigger) + coalesce(octet_length(old.reason), 0) + octet_length(old.created_at) + octet_length(old.updated_at) + octet_length(old.configuration_version) + octet_length(old.is_absolute) + octet_length(old.stack_count) + octet_length(old.reason_bytes) + octet_length(old.kept_rules) + octet_length(old.creators) + coalesce(octet_length(old.claims), 0) + coalesce(octet_length(old.exempt), 0) + coalesce(octet_length(old.overridden), 0) + octet_length(old.creator_type) + octet_length(old.creator_membership_id) + coalesce(octet_length(old.creator_trust_id), 0) + coalesce(octet_length(old.copied_id), 0) + coalesce(octet_length(old.configuration_digest), 0) + coalesce(octet_length(old.start_basis), 0) + coalesce(octet_length(old.resulting), 0) + 75 + 2 * coalesce(octet_length(old.failure_reason), 0) + 2 * coalesce(octet_length(old.message), 0) + old.reason_bytes + 139 * old.stack_count + 300 * (old.lapsed_offers + old.released_offers + (old.started_at IS NOT NULL)) + octet_length(old.configuration)))
	WHERE `organization_id` = new.organization_id AND `kind` = 'deployments';
END;
--> statement-breakpoint
DROP TRIGGER `history_deployments_moved`;
--> statement-breakpoint
CREATE TRIGGER `history_deployments_moved` AFTER UPDATE OF `configuration` ON `deployments` WHEN new.configuration = '' AND old.configuration <> '' BEGIN
	INSERT INTO `history_usage` (`organization_id`, `kind`, `records`, `bytes`)
	VALUES (new.organization_id, 'deployments', 1, octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.project_id) + octet_length(new.environment_id) + octet_length(new.number) + octet_length(new.queue) + octet_length(new.patch) + coalesce(octet_length(new.source), 0) + octet_length(new.keeps_source) + octet_length(new.trigger) + coalesce(octet_length(new.reason), 0) + octet_length(new.created_at) + octet_length(new.updated_at) + octet_length(new.configuration_version) + octet_length(new.is_absolute) + octet_length(new.stack_count) + octet_length(new.reason_bytes) + octet_length(new.kept_rules) + octet_length(new.creators) + coalesce(octet_length(new.claims), 0) + coalesce(octet_length(new.exempt), 0) + coalesce(octet_length(new.overridden), 0) + octet_length(new.creator_type) + octet_length(new.creator_membership_id) + coalesce(octet_length(new.creator_trust_id), 0) + coalesce(octet_length(new.copied_id), 0) + coalesce(octet_length(new.configuration_digest), 0) + coalesce(octet_length(new.start_basis), 0) + coalesce(octet_length(new.resulting), 0) + 75 + 2 * coalesce(octet_length(new.failure_reason), 0) + 2 * coalesce(octet_length(new.message), 0) + new.reason_bytes + 139 * new.stack_count + 300 * (new.lapsed_offers + new.released_offers + (new.started_at IS NOT NULL)))
	ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + 1, `bytes` = `bytes` + excluded.bytes;
END;
--> statement-breakpoint
DROP TRIGGER `history_deployments_insert`;
--> statement-breakpoint
CREATE TRIGGER `history_deployments_insert` AFTER INSERT ON `deployments` WHEN new.configuration = '' BEGIN
	INSERT INTO `history_usage` (`organization_id`, `kind`, `records`, `bytes`)
	VALUES (new.organization_id, 'deployments', 1, octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.project_id) + octet_length(new.environment_id) + octet_length(new.number) + octet_length(new.queue) + octet_length(new.patch) + coalesce(octet_length(new.source), 0) + octet_length(new.keeps_source) + octet_length(new.trigger) + coalesce(octet_length(new.reason), 0) + octet_length(new.created_at) + octet_length(new.updated_at) + octet_length(new.configuration_version) + octet_length(new.is_absolute) + octet_length(new.stack_count) + octet_length(new.reason_bytes) + octet_length(new.kept_rules) + octet_length(new.creators) + coalesce(octet_length(new.claims), 0) + coalesce(octet_length(new.exempt), 0) + coalesce(octet_length(new.overridden), 0) + octet_length(new.creator_type) + octet_length(new.creator_membership_id) + coalesce(octet_length(new.creator_trust_id), 0) + coalesce(octet_length(new.copied_id), 0) + coalesce(octet_length(new.configuration_digest), 0) + coalesce(octet_length(new.start_basis), 0) + coalesce(octet_length(new.resulting), 0) + 75 + 2 * coalesce(octet_length(new.failure_reason), 0) + 2 * coalesce(octet_length(new.message), 0) + new.reason_bytes + 139 * new.stack_count + 300 * (new.lapsed_offers + new.released_offers + (new.started_at IS NOT NULL)))
	ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + 1, `bytes` = `bytes` + excluded.bytes;
END;
--> statement-breakpoint
DROP TRIGGER `history_deployments_delete`;
--> statement-breakpoint
CREATE TRIGGER `history_deployments_delete` AFTER DELETE ON `deployments` WHEN old.configuration = '' BEGIN
	UPDATE `history_usage` SET `records` = `records` - 1, `bytes` = `bytes` - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.project_id) + octet_length(old.environment_id) + octet_length(old.number) + octet_length(old.queue) + octet_length(old.patch) + coalesce(octet_length(old.source), 0) + octet_length(old.keeps_source) + octet_length(old.trigger) + coalesce(octet_length(old.reason), 0) + octet_length(old.created_at) + octet_length(old.updated_at) + octet_length(old.configuration_version) + octet_length(old.is_absolute) + octet_length(old.stack_count) + octet_length(old.reason_bytes) + octet_length(old.kept_rules) + octet_length(old.creators) + coalesce(octet_length(old.claims), 0) + coalesce(octet_length(old.exempt), 0) + coalesce(octet_length(old.overridden), 0) + octet_length(old.creator_type) + octet_length(old.creator_membership_id) + coalesce(octet_length(old.creator_trust_id), 0) + coalesce(octet_length(old.copied_id), 0) + coalesce(octet_length(old.configuration_digest), 0) + coalesce(octet_length(old.start_basis), 0) + coalesce(octet_length(old.resulting), 0) + 75 + 2 * coalesce(octet_length(old.failure_reason), 0) + 2 * coalesce(octet_length(old.message), 0) + old.reason_bytes + 139 * old.stack_count + 300 * (old.lapsed_offers + old.released_offers + (old.started_at IS NOT NULL)))
	WHERE `organization_id` = old.organization_id AND `kind` = 'deployments';
END;
--> statement-breakpoint
CREATE TRIGGER `usage_configuration_digests_insert` AFTER INSERT ON `configuration_digests` BEGIN
	INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
	VALUES (new.organization_id, 'others', 1, octet_length(new.deployment_id) + octet_length(new.exceptions_digest) + octet_length(new.organization_id) + octet_length(new.environment_id) + octet_length(new.digest))
	ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + excluded.records, `bytes` = `bytes` + excluded.bytes;
END;
--> statement-breakpoint
CREATE TRIGGER `usage_configuration_digests_delete` AFTER DELETE ON `configuration_digests` BEGIN
	UPDATE `usage` SET `records` = `records` - 1, `bytes` = `bytes` - (octet_length(old.deployment_id) + octet_length(old.exceptions_digest) + octet_length(old.organization_id) + octet_length(old.environment_id) + octet_length(old.digest))
	WHERE `organization_id` = old.organization_id AND `kind` = 'others';
END;
--> statement-breakpoint
CREATE TRIGGER `usage_configuration_digests_update` AFTER UPDATE OF `deployment_id`, `exceptions_digest`, `environment_id`, `digest` ON `configuration_digests`
WHEN (octet_length(new.deployment_id) + octet_length(new.exceptions_digest) + octet_length(new.organization_id) + octet_length(new.environment_id) + octet_length(new.digest)) <> (octet_length(old.deployment_id) + octet_length(old.exceptions_digest) + octet_length(old.organization_id) + octet_length(old.environment_id) + octet_length(old.digest)) BEGIN
	UPDATE `usage` SET `bytes` = `bytes` + (octet_length(new.deployment_id) + octet_length(new.exceptions_digest) + octet_length(new.organization_id) + octet_length(new.environment_id) + octet_length(new.digest)) - (octet_length(old.deployment_id) + octet_length(old.exceptions_digest) + octet_length(old.organization_id) + octet_length(old.environment_id) + octet_length(old.digest))
	WHERE `organization_id` = new.organization_id AND `kind` = 'others';
END;
--> statement-breakpoint
DROP TRIGGER `usage_deployment_approvals_insert`;
--> statement-breakpoint
CREATE TRIGGER `usage_deployment_approvals_insert` AFTER INSERT ON `deployment_approvals` BEGIN
	INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
	VALUES (new.organization_id, 'others', 1, octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.environment_id) + octet_length(new.deployment_id) + octet_length(new.membership_id) + octet_length(new.decision) + coalesce(octet_length(new.comment), 0) + coalesce(octet_length(new.configuration_digest), 0) + octet_length(new.digest) + octet_length(new.basis) + octet_length(new.content) + octet_length(new.created_at))
	ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + excluded.records, `bytes` = `bytes` + excluded.bytes;
END;
--> statement-breakpoint
DROP TRIGGER `usage_deployment_approvals_delete`;
--> statement-breakpoint
CREATE TRIGGER `usage_deployment_approvals_delete` AFTER DELETE ON `deployment_approvals` BEGIN
	UPDATE `usage` SET `records` = `records` - 1, `bytes` = `bytes` - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.environment_id) + octet_length(old.deployment_id) + octet_length(old.membership_id) + octet_length(old.decision) + coalesce(octet_length(old.comment), 0) + coalesce(octet_length(old.configuration_digest), 0) + octet_length(old.digest) + octet_length(old.basis) + octet_length(old.content) + octet_length(old.created_at))
	WHERE `organization_id` = old.organization_id AND `kind` = 'others';
END;
--> statement-breakpoint
DROP TRIGGER `usage_deployment_approvals_update`;
--> statement-breakpoint
CREATE TRIGGER `usage_deployment_approvals_update` AFTER UPDATE OF `environment_id`, `deployment_id`, `membership_id`, `decision`, `comment`, `configuration_digest`, `digest`, `basis`, `content`, `created_at` ON `deployment_approvals`
WHEN (octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.environment_id) + octet_length(new.deployment_id) + octet_length(new.membership_id) + octet_length(new.decision) + coalesce(octet_length(new.comment), 0) + coalesce(octet_length(new.configuration_digest), 0) + octet_length(new.digest) + octet_length(new.basis) + octet_length(new.content) + octet_length(new.created_at)) <> (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.environment_id) + octet_length(old.deployment_id) + octet_length(old.membership_id) + octet_length(old.decision) + coalesce(octet_length(old.comment), 0) + coalesce(octet_length(old.configuration_digest), 0) + octet_length(old.digest) + octet_length(old.basis) + octet_length(old.content) + octet_length(old.created_at)) BEGIN
	UPDATE `usage` SET `bytes` = `bytes` + (octet_length(new.id) + octet_length(new.organization_id) + octet_length(new.environment_id) + octet_length(new.deployment_id) + octet_length(new.membership_id) + octet_length(new.decision) + coalesce(octet_length(new.comment), 0) + coalesce(octet_length(new.configuration_digest), 0) + octet_length(new.digest) + octet_length(new.basis) + octet_length(new.content) + octet_length(new.created_at)) - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.environment_id) + octet_length(old.deployment_id) + octet_length(old.membership_id) + octet_length(old.decision) + coalesce(octet_length(old.comment), 0) + coalesce(octet_length(old.configuration_digest), 0) + octet_length(old.digest) + octet_length(old.basis) + octet_length(old.content) + octet_length(old.created_at))
	WHERE `organization_id` = new.organization_id AND `kind` = 'others';
END;
--> statement-breakpoint
DELETE FROM `usage` WHERE `kind` = 'deployments';
--> statement-breakpoint
INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
SELECT organization_id, 'deployments', sum(1), sum(iif(deployments.configuration = '', 0, octet_length(deployments.id) + octet_length(deployments.organization_id) + octet_length(deployments.project_id) + octet_length(deployments.environment_id) + octet_length(deployments.number) + octet_length(deployments.queue) + octet_length(deployments.patch) + coalesce(octet_length(deployments.source), 0) + octet_length(deployments.keeps_source) + octet_length(deployments.trigger) + coalesce(octet_length(deployments.reason), 0) + octet_length(deployments.created_at) + octet_length(deployments.updated_at) + octet_length(deployments.configuration_version) + octet_length(deployments.is_absolute) + octet_length(deployments.stack_count) + octet_length(deployments.reason_bytes) + octet_length(deployments.kept_rules) + octet_length(deployments.creators) + coalesce(octet_length(deployments.claims), 0) + coalesce(octet_length(deployments.exempt), 0) + coalesce(octet_length(deployments.overridden), 0) + octet_length(deployments.creator_type) + octet_length(deployments.creator_membership_id) + coalesce(octet_length(deployments.creator_trust_id), 0) + coalesce(octet_length(deployments.copied_id), 0) + coalesce(octet_length(deployments.configuration_digest), 0) + coalesce(octet_length(deployments.start_basis), 0) + coalesce(octet_length(deployments.resulting), 0) + 75 + 2 * coalesce(octet_length(deployments.failure_reason), 0) + 2 * coalesce(octet_length(deployments.message), 0) + deployments.reason_bytes + 139 * deployments.stack_count + 300 * (deployments.lapsed_offers + deployments.released_offers + (deployments.started_at IS NOT NULL)) + octet_length(deployments.configuration))) FROM `deployments`
WHERE organization_id <> '1111111111111111111111' GROUP BY organization_id
ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + excluded.records, `bytes` = `bytes` + excluded.bytes;
--> statement-breakpoint
DELETE FROM `history_usage` WHERE `kind` = 'deployments';
--> statement-breakpoint
INSERT INTO `history_usage` (`organization_id`, `kind`, `records`, `bytes`)
SELECT organization_id, 'deployments', count(*), sum(octet_length(deployments.id) + octet_length(deployments.organization_id) + octet_length(deployments.project_id) + octet_length(deployments.environment_id) + octet_length(deployments.number) + octet_length(deployments.queue) + octet_length(deployments.patch) + coalesce(octet_length(deployments.source), 0) + octet_length(deployments.keeps_source) + octet_length(deployments.trigger) + coalesce(octet_length(deployments.reason), 0) + octet_length(deployments.created_at) + octet_length(deployments.updated_at) + octet_length(deployments.configuration_version) + octet_length(deployments.is_absolute) + octet_length(deployments.stack_count) + octet_length(deployments.reason_bytes) + octet_length(deployments.kept_rules) + octet_length(deployments.creators) + coalesce(octet_length(deployments.claims), 0) + coalesce(octet_length(deployments.exempt), 0) + coalesce(octet_length(deployments.overridden), 0) + octet_length(deployments.creator_type) + octet_length(deployments.creator_membership_id) + coalesce(octet_length(deployments.creator_trust_id), 0) + coalesce(octet_length(deployments.copied_id), 0) + coalesce(octet_length(deployments.configuration_digest), 0) + coalesce(octet_length(deployments.start_basis), 0) + coalesce(octet_length(deployments.resulting), 0) + 75 + 2 * coalesce(octet_length(deployments.failure_reason), 0) + 2 * coalesce(octet_length(deployments.message), 0) + deployments.reason_bytes + 139 * deployments.stack_count + 300 * (deployments.lapsed_offers + deployments.released_offers + (deployments.started_at IS NOT NULL))) FROM `deployments`
WHERE configuration = '' GROUP BY organization_id;
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
SELECT organization_id, 'others', sum(1), sum(octet_length(configuration_digests.deployment_id) + octet_length(configuration_digests.exceptions_digest) + octet_length(configuration_digests.organization_id) + octet_length(configuration_digests.environment_id) + octet_length(configuration_digests.digest)) FROM `configuration_digests`
WHERE organization_id <> '1111111111111111111111' GROUP BY organization_id
ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + excluded.records, `bytes` = `bytes` + excluded.bytes;
--> statement-breakpoint
INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`)
SELECT organization_id, 'others', sum(1), sum(octet_length(deployment_approvals.id) + octet_length(deployment_approvals.organization_id) + octet_length(deployment_approvals.environment_id) + octet_length(deployment_approvals.deployment_id) + octet_length(deployment_approvals.membership_id) + octet_length(deployment_approvals.decision) + coalesce(octet_length(deployment_approvals.comment), 0) + coalesce(octet_length(deployment_approvals.configuration_digest), 0) + octet_length(deployment_approvals.digest) + octet_length(deployment_approvals.basis) + octet_length(deployment_approvals.content) + octet_length(deployment_approvals.created_at)) FROM `deployment_approvals`
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