CREATE TABLE `history_positions` (
	`table_name` text PRIMARY KEY NOT NULL,
	`position` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `history_usage` (
	`organization_id` text NOT NULL,
	`kind` text NOT NULL,
	`records` integer NOT NULL,
	`bytes` integer NOT NULL,
	PRIMARY KEY(`organization_id`, `kind`),
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE restrict
);
--> statement-breakpoint
CREATE INDEX `deployments_history` ON `deployments` (`organization_id`,`id`) WHERE configuration = '';--> statement-breakpoint
CREATE INDEX `changelog_entries_organization` ON `changelog_entries` (`organization_id`,`id`);--> statement-breakpoint
CREATE INDEX `deliveries_finished` ON `deliveries` (`organization_id`,`id`) WHERE status <> 'pending';--> statement-breakpoint
CREATE INDEX `events_organization` ON `events` (`organization_id`,`id`);
--> statement-breakpoint
CREATE TRIGGER `history_changelog_entries_delete` AFTER DELETE ON `changelog_entries` BEGIN
	UPDATE `history_usage` SET `records` = `records` - 1, `bytes` = `bytes` - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.project_id) + coalesce(octet_length(old.account_id), 0) + coalesce(octet_length(old.membership_id), 0) + coalesce(octet_length(old.key_id), 0) + octet_length(old.action) + octet_length(old.record_type) + octet_length(old.record_id) + coalesce(octet_length(old.record_name), 0) + coalesce(octet_length(old.before), 0) + coalesce(octet_length(old.after), 0) + octet_length(old.created_at))
	WHERE `organization_id` = old.organization_id AND `kind` = 'changelog' AND old.rowid <= (SELECT `position` FROM `history_positions` WHERE `table_name` = 'changelog_entries');
	UPDATE `history_positions` SET `position` = coalesce((SELECT max(rowid) FROM `changelog_entries`), 0) WHERE `table_name` = 'changelog_entries' AND `position` > coalesce((SELECT max(rowid) FROM `changelog_entries`), 0);
END;
--> statement-breakpoint
CREATE TRIGGER `history_changelog_entries_update` AFTER UPDATE OF `project_id`, `account_id`, `membership_id`, `key_id`, `action`, `record_type`, `record_id`, `record_name`, `before`, `after` ON `changelog_entries`
WHEN (octet_length(new.project_id) + coalesce(octet_length(new.account_id), 0) + coalesce(octet_length(new.membership_id), 0) + coalesce(octet_length(new.key_id), 0) + octet_length(new.action) + octet_length(new.record_type) + octet_length(new.record_id) + coalesce(octet_length(new.record_name), 0) + coalesce(octet_length(new.before), 0) + coalesce(octet_length(new.after), 0)) <> (octet_length(old.project_id) + coalesce(octet_length(old.account_id), 0) + coalesce(octet_length(old.membership_id), 0) + coalesce(octet_length(old.key_id), 0) + octet_length(old.action) + octet_length(old.record_type) + octet_length(old.record_id) + coalesce(octet_length(old.record_name), 0) + coalesce(octet_length(old.before), 0) + coalesce(octet_length(old.after), 0)) BEGIN
	UPDATE `history_usage` SET `bytes` = `bytes` + (octet_length(new.project_id) + coalesce(octet_length(new.account_id), 0) + coalesce(octet_length(new.membership_id), 0) + coalesce(octet_length(new.key_id), 0) + octet_length(new.action) + octet_length(new.record_type) + octet_length(new.record_id) + coalesce(octet_length(new.record_name), 0) + coalesce(octet_length(new.before), 0) + coalesce(octet_length(new.after), 0)) - (octet_length(old.project_id) + coalesce(octet_length(old.account_id), 0) + coalesce(octet_length(old.membership_id), 0) + coalesce(octet_length(old.key_id), 0) + octet_length(old.action) + octet_length(old.record_type) + octet_length(old.record_id) + coalesce(octet_length(old.record_name), 0) + coalesce(octet_length(old.before), 0) + coalesce(octet_length(old.after), 0))
	WHERE `organization_id` = old.organization_id AND `kind` = 'changelog' AND old.rowid <= (SELECT `position` FROM `history_positions` WHERE `table_name` = 'changelog_entries');
END;
--> statement-breakpoint
CREATE TRIGGER `history_deliveries_delete` AFTER DELETE ON `deliveries` BEGIN
	UPDATE `history_usage` SET `records` = `records` - 1, `bytes` = `bytes` - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.project_id) + octet_length(old.integration_id) + octet_length(old.event_id) + octet_length(old.type) + octet_length(old.data) + octet_length(old.occurred_at) + octet_length(old.created_at) + octet_length(old.updated_at) + 66)
	WHERE `organization_id` = old.organization_id AND `kind` = 'deliveries' AND old.rowid <= (SELECT `position` FROM `history_positions` WHERE `table_name` = 'deliveries');
	UPDATE `history_positions` SET `position` = coalesce((SELECT max(rowid) FROM `deliveries`), 0) WHERE `table_name` = 'deliveries' AND `position` > coalesce((SELECT max(rowid) FROM `deliveries`), 0);
END;
--> statement-breakpoint
CREATE TRIGGER `history_deliveries_update` AFTER UPDATE OF `project_id`, `integration_id`, `event_id`, `type`, `data`, `occurred_at` ON `deliveries`
WHEN (octet_length(new.project_id) + octet_length(new.integration_id) + octet_length(new.event_id) + octet_length(new.type) + octet_length(new.data) + octet_length(new.occurred_at)) <> (octet_length(old.project_id) + octet_length(old.integration_id) + octet_length(old.event_id) + octet_length(old.type) + octet_length(old.data) + octet_length(old.occurred_at)) BEGIN
	UPDATE `history_usage` SET `bytes` = `bytes` + (octet_length(new.project_id) + octet_length(new.integration_id) + octet_length(new.event_id) + octet_length(new.type) + octet_length(new.data) + octet_length(new.occurred_at)) - (octet_length(old.project_id) + octet_length(old.integration_id) + octet_length(old.event_id) + octet_length(old.type) + octet_length(old.data) + octet_length(old.occurred_at))
	WHERE `organization_id` = old.organization_id AND `kind` = 'deliveries' AND old.rowid <= (SELECT `position` FROM `history_positions` WHERE `table_name` = 'deliveries');
END;
--> statement-breakpoint
CREATE TRIGGER `history_delivery_attempts_delete` AFTER DELETE ON `delivery_attempts` BEGIN
	UPDATE `history_usage` SET `records` = `records` - 1, `bytes` = `bytes` - (octet_length(old.delivery_id) + octet_length(old.number) + octet_length(old.organization_id) + octet_length(old.started_at) + octet_length(old.duration_ms) + coalesce(octet_length(old.status_code), 0) + coalesce(octet_length(old.error), 0) + coalesce(octet_length(old.response), 0))
	WHERE `organization_id` = old.organization_id AND `kind` = 'delivery_attempts' AND old.rowid <= (SELECT `position` FROM `history_positions` WHERE `table_name` = 'delivery_attempts');
	UPDATE `history_positions` SET `position` = coalesce((SELECT max(rowid) FROM `delivery_attempts`), 0) WHERE `table_name` = 'delivery_attempts' AND `position` > coalesce((SELECT max(rowid) FROM `delivery_attempts`), 0);
END;
--> statement-breakpoint
CREATE TRIGGER `history_delivery_attempts_update` AFTER UPDATE OF `delivery_id`, `number`, `started_at`, `duration_ms`, `status_code`, `error`, `response` ON `delivery_attempts`
WHEN (octet_length(new.delivery_id) + octet_length(new.number) + octet_length(new.started_at) + octet_length(new.duration_ms) + coalesce(octet_length(new.status_code), 0) + coalesce(octet_length(new.error), 0) + coalesce(octet_length(new.response), 0)) <> (octet_length(old.delivery_id) + octet_length(old.number) + octet_length(old.started_at) + octet_length(old.duration_ms) + coalesce(octet_length(old.status_code), 0) + coalesce(octet_length(old.error), 0) + coalesce(octet_length(old.response), 0)) BEGIN
	UPDATE `history_usage` SET `bytes` = `bytes` + (octet_length(new.delivery_id) + octet_length(new.number) + octet_length(new.started_at) + octet_length(new.duration_ms) + coalesce(octet_length(new.status_code), 0) + coalesce(octet_length(new.error), 0) + coalesce(octet_length(new.response), 0)) - (octet_length(old.delivery_id) + octet_length(old.number) + octet_length(old.started_at) + octet_length(old.duration_ms) + coalesce(octet_length(old.status_code), 0) + coalesce(octet_length(old.error), 0) + coalesce(octet_length(old.response), 0))
	WHERE `organization_id` = old.organization_id AND `kind` = 'delivery_attempts' AND old.rowid <= (SELECT `position` FROM `history_positions` WHERE `table_name` = 'delivery_attempts');
END;
--> statement-breakpoint
CREATE TRIGGER `history_events_delete` AFTER DELETE ON `events` BEGIN
	UPDATE `history_usage` SET `records` = `records` - 1, `bytes` = `bytes` - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.project_id) + coalesce(octet_length(old.environment_id), 0) + octet_length(old.type) + octet_length(old.data) + octet_length(old.created_at) + octet_length(old.last_used_at))
	WHERE `organization_id` = old.organization_id AND `kind` = 'events' AND old.rowid <= (SELECT `position` FROM `history_positions` WHERE `table_name` = 'events');
	UPDATE `history_positions` SET `position` = coalesce((SELECT max(rowid) FROM `events`), 0) WHERE `table_name` = 'events' AND `position` > coalesce((SELECT max(rowid) FROM `events`), 0);
END;
--> statement-breakpoint
CREATE TRIGGER `history_events_update` AFTER UPDATE OF `project_id`, `environment_id`, `type`, `data`, `last_used_at` ON `events`
WHEN (octet_length(new.project_id) + coalesce(octet_length(new.environment_id), 0) + octet_length(new.type) + octet_length(new.data) + octet_length(new.last_used_at)) <> (octet_length(old.project_id) + coalesce(octet_length(old.environment_id), 0) + octet_length(old.type) + octet_length(old.data) + octet_length(old.last_used_at)) BEGIN
	UPDATE `history_usage` SET `bytes` = `bytes` + (octet_length(new.project_id) + coalesce(octet_length(new.environment_id), 0) + octet_length(new.type) + octet_length(new.data) + octet_length(new.last_used_at)) - (octet_length(old.project_id) + coalesce(octet_length(old.environment_id), 0) + octet_length(old.type) + octet_length(old.data) + octet_length(old.last_used_at))
	WHERE `organization_id` = old.organization_id AND `kind` = 'events' AND old.rowid <= (SELECT `position` FROM `history_positions` WHERE `table_name` = 'events');
END;
--> statement-breakpoint
CREATE TRIGGER `history_audit_log_delete` AFTER DELETE ON `audit_log` BEGIN
	UPDATE `history_usage` SET `records` = `records` - 1, `bytes` = `bytes` - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.created_at) + octet_length(old.action) + octet_length(old.outcome) + octet_length(old.actor_type) + coalesce(octet_length(old.credential_id), 0) + coalesce(octet_length(old.membership_id), 0) + coalesce(octet_length(old.account_id), 0) + coalesce(octet_length(old.pool_id), 0) + coalesce(octet_length(old.creator_key_id), 0) + coalesce(octet_length(old.creator_membership_id), 0) + octet_length(old.target_type) + octet_length(old.target_id) + coalesce(octet_length(old.target_name), 0) + coalesce(octet_length(old.project_id), 0) + coalesce(octet_length(old.client_address), 0) + coalesce(octet_length(old.user_agent), 0) + coalesce(octet_length(old.request_id), 0) + coalesce(octet_length(old.changes), 0))
	WHERE `organization_id` = old.organization_id AND `kind` = 'audit_log' AND old.rowid <= (SELECT `position` FROM `history_positions` WHERE `table_name` = 'audit_log');
	UPDATE `history_positions` SET `position` = coalesce((SELECT max(rowid) FROM `audit_log`), 0) WHERE `table_name` = 'audit_log' AND `position` > coalesce((SELECT max(rowid) FROM `audit_log`), 0);
END;
--> statement-breakpoint
CREATE TRIGGER `history_audit_log_update` AFTER UPDATE OF `action`, `outcome`, `actor_type`, `credential_id`, `membership_id`, `account_id`, `pool_id`, `creator_key_id`, `creator_membership_id`, `target_type`, `target_id`, `target_name`, `project_id`, `client_address`, `user_agent`, `request_id`, `changes` ON `audit_log`
WHEN (octet_length(new.action) + octet_length(new.outcome) + octet_length(new.actor_type) + coalesce(octet_length(new.credential_id), 0) + coalesce(octet_length(new.membership_id), 0) + coalesce(octet_length(new.account_id), 0) + coalesce(octet_length(new.pool_id), 0) + coalesce(octet_length(new.creator_key_id), 0) + coalesce(octet_length(new.creator_membership_id), 0) + octet_length(new.target_type) + octet_length(new.target_id) + coalesce(octet_length(new.target_name), 0) + coalesce(octet_length(new.project_id), 0) + coalesce(octet_length(new.client_address), 0) + coalesce(octet_length(new.user_agent), 0) + coalesce(octet_length(new.request_id), 0) + coalesce(octet_length(new.changes), 0)) <> (octet_length(old.action) + octet_length(old.outcome) + octet_length(old.actor_type) + coalesce(octet_length(old.credential_id), 0) + coalesce(octet_length(old.membership_id), 0) + coalesce(octet_length(old.account_id), 0) + coalesce(octet_length(old.pool_id), 0) + coalesce(octet_length(old.creator_key_id), 0) + coalesce(octet_length(old.creator_membership_id), 0) + octet_length(old.target_type) + octet_length(old.target_id) + coalesce(octet_length(old.target_name), 0) + coalesce(octet_length(old.project_id), 0) + coalesce(octet_length(old.client_address), 0) + coalesce(octet_length(old.user_agent), 0) + coalesce(octet_length(old.request_id), 0) + coalesce(octet_length(old.changes), 0)) BEGIN
	UPDATE `history_usage` SET `bytes` = `bytes` + (octet_length(new.action) + octet_length(new.outcome) + octet_length(new.actor_type) + coalesce(octet_length(new.credential_id), 0) + coalesce(octet_length(new.membership_id), 0) + coalesce(octet_length(new.account_id), 0) + coalesce(octet_length(new.pool_id), 0) + coalesce(octet_length(new.creator_key_id), 0) + coalesce(octet_length(new.creator_membership_id), 0) + octet_length(new.target_type) + octet_length(new.target_id) + coalesce(octet_length(new.target_name), 0) + coalesce(octet_length(new.project_id), 0) + coalesce(octet_length(new.client_address), 0) + coalesce(octet_length(new.user_agent), 0) + coalesce(octet_length(new.request_id), 0) + coalesce(octet_length(new.changes), 0)) - (octet_length(old.action) + octet_length(old.outcome) + octet_length(old.actor_type) + coalesce(octet_length(old.credential_id), 0) + coalesce(octet_length(old.membership_id), 0) + coalesce(octet_length(old.account_id), 0) + coalesce(octet_length(old.pool_id), 0) + coalesce(octet_length(old.creator_key_id), 0) + coalesce(octet_length(old.creator_membership_id), 0) + octet_length(old.target_type) + octet_length(old.target_id) + coalesce(octet_length(old.target_name), 0) + coalesce(octet_length(old.project_id), 0) + coalesce(octet_length(old.client_address), 0) + coalesce(octet_length(old.user_agent), 0) + coalesce(octet_length(old.request_id), 0) + coalesce(octet_length(old.changes), 0))
	WHERE `organization_id` = old.organization_id AND `kind` = 'audit_log' AND old.rowid <= (SELECT `position` FROM `history_positions` WHERE `table_name` = 'audit_log');
END;
--> statement-breakpoint
CREATE TRIGGER `history_audit_records_delete` AFTER DELETE ON `audit_records` BEGIN
	UPDATE `history_usage` SET `records` = `records` - 1, `bytes` = `bytes` - (octet_length(old.id) + octet_length(old.organization_id) + octet_length(old.project_id) + octet_length(old.account_id) + octet_length(old.membership_id) + octet_length(old.key_id) + octet_length(old.action) + octet_length(old.record_id) + octet_length(old.created_at))
	WHERE `organization_id` = old.organization_id AND `kind` = 'audit_log' AND old.rowid <= (SELECT `position` FROM `history_positions` WHERE `table_name` = 'audit_records');
	UPDATE `history_positions` SET `position` = coalesce((SELECT max(rowid) FROM `audit_records`), 0) WHERE `table_name` = 'audit_records' AND `position` > coalesce((SELECT max(rowid) FROM `audit_records`), 0);
END;
--> statement-breakpoint
CREATE TRIGGER `history_audit_records_update` AFTER UPDATE OF `project_id`, `account_id`, `membership_id`, `key_id`, `action`, `record_id` ON `audit_records`
WHEN (octet_length(new.project_id) + octet_length(new.account_id) + octet_length(new.membership_id) + octet_length(new.key_id) + octet_length(new.action) + octet_length(new.record_id)) <> (octet_length(old.project_id) + octet_length(old.account_id) + octet_length(old.membership_id) + octet_length(old.key_id) + octet_length(old.action) + octet_length(old.record_id)) BEGIN
	UPDATE `history_usage` SET `bytes` = `bytes` + (octet_length(new.project_id) + octet_length(new.account_id) + octet_length(new.membership_id) + octet_length(new.key_id) + octet_length(new.action) + octet_length(new.record_id)) - (octet_length(old.project_id) + octet_length(old.account_id) + octet_length(old.membership_id) + octet_length(old.key_id) + octet_length(old.action) + octet_length(old.record_id))
	WHERE `organization_id` = old.organization_id AND `kind` = 'audit_log' AND old.rowid <= (SELECT `position` FROM `history_positions` WHERE `table_name` = 'audit_records');
END;
--> statement-breakpoint
-- A deployment is history once its configuration is cleared: it is beyond the newest of its environment. Its stacks and
-- attempts are counted with it, by what its row says of them.
CREATE TRIGGER `history_deployments_moved` AFTER UPDATE OF `configuration` ON `deployments` WHEN new.configuration = '' AND old.configuration <> '' BEGIN
	INSERT INTO `history_usage` (`organization_id`, `kind`, `records`, `bytes`)
	VALUES (new.organization_id, 'deployments', 1, octet_length(new.id) + octet_length(new.patch) + coalesce(octet_length(new.source), 0) + coalesce(octet_length(new.reason), 0) + coalesce(octet_length(new.failure_reason), 0) + coalesce(octet_length(new.message), 0) + new.reason_bytes + 126 * coalesce(new.stack_count, 0) + 300)
	ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + 1, `bytes` = `bytes` + excluded.bytes;
END;
--> statement-breakpoint
-- Of a restore.
CREATE TRIGGER `history_deployments_insert` AFTER INSERT ON `deployments` WHEN new.configuration = '' BEGIN
	INSERT INTO `history_usage` (`organization_id`, `kind`, `records`, `bytes`)
	VALUES (new.organization_id, 'deployments', 1, octet_length(new.id) + octet_length(new.patch) + coalesce(octet_length(new.source), 0) + coalesce(octet_length(new.reason), 0) + coalesce(octet_length(new.failure_reason), 0) + coalesce(octet_length(new.message), 0) + new.reason_bytes + 126 * coalesce(new.stack_count, 0) + 300)
	ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` + 1, `bytes` = `bytes` + excluded.bytes;
END;
--> statement-breakpoint
CREATE TRIGGER `history_deployments_delete` AFTER DELETE ON `deployments` WHEN old.configuration = '' BEGIN
	UPDATE `history_usage` SET `records` = `records` - 1, `bytes` = `bytes` - (octet_length(old.id) + octet_length(old.patch) + coalesce(octet_length(old.source), 0) + coalesce(octet_length(old.reason), 0) + coalesce(octet_length(old.failure_reason), 0) + coalesce(octet_length(old.message), 0) + old.reason_bytes + 126 * coalesce(old.stack_count, 0) + 300)
	WHERE `organization_id` = old.organization_id AND `kind` = 'deployments';
END;
--> statement-breakpoint
INSERT INTO `history_usage` (`organization_id`, `kind`, `records`, `bytes`)
SELECT organization_id, 'deployments', count(*), sum(octet_length(deployments.id) + octet_length(deployments.patch) + coalesce(octet_length(deployments.source), 0) + coalesce(octet_length(deployments.reason), 0) + coalesce(octet_length(deployments.failure_reason), 0) + coalesce(octet_length(deployments.message), 0) + deployments.reason_bytes + 126 * coalesce(deployments.stack_count, 0) + 300) FROM `deployments`
WHERE configuration = '' GROUP BY organization_id;
