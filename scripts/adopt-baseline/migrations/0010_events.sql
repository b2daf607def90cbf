CREATE TABLE `events` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`project_id` text NOT NULL,
	`environment_id` text,
	`type` text NOT NULL,
	`data` text NOT NULL,
	`created_at` integer NOT NULL,
	`last_used_at` integer NOT NULL,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE restrict,
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `events_list` ON `events` (`project_id`,`type`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `events_list_environment` ON `events` (`project_id`,`environment_id`,`type`,`created_at`,`id`) WHERE environment_id is not null;--> statement-breakpoint
CREATE TABLE `recoveries` (
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
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`integration_id`) REFERENCES `integrations`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `recoveries_project` ON `recoveries` (`project_id`);--> statement-breakpoint
CREATE INDEX `recoveries_list` ON `recoveries` (`integration_id`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `recoveries_running` ON `recoveries` (`id`) WHERE status = 'running';--> statement-breakpoint
CREATE TABLE `purges` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`record_type` text NOT NULL,
	`record_id` text NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE restrict
);
--> statement-breakpoint
ALTER TABLE `integrations` ADD `environment_ids` text;--> statement-breakpoint
ALTER TABLE `integrations` ADD `stack_ids` text;--> statement-breakpoint
ALTER TABLE `integrations` ADD `failure_notified_at` integer;--> statement-breakpoint
ALTER TABLE `integrations` ADD `pause_notified_at` integer;--> statement-breakpoint
ALTER TABLE `organizations` ADD `delivery_weight` integer DEFAULT 1 NOT NULL;--> statement-breakpoint
CREATE INDEX `deliveries_due` ON `deliveries` (`organization_id`,`integration_id`,`due_at`) WHERE status = 'pending';--> statement-breakpoint
CREATE INDEX `deliveries_redelivered` ON `deliveries` (`integration_id`,`event_id`) WHERE created_at > occurred_at;--> statement-breakpoint
CREATE INDEX `deliveries_pending_event` ON `deliveries` (`event_id`) WHERE status = 'pending';
--> statement-breakpoint
CREATE TRIGGER `deliveries_throttle_slack` AFTER UPDATE OF `attempts` ON `deliveries`
WHEN new.attempts > old.attempts BEGIN
	UPDATE `integrations` SET `last_sent_at` = new.updated_at WHERE `id` = new.integration_id AND `type` = 'slack';
END;
--> statement-breakpoint
CREATE TRIGGER `usage_projects_tombstone` AFTER UPDATE OF `organization_id` ON `projects` WHEN new.organization_id <> old.organization_id BEGIN
	UPDATE `usage` SET `records` = `records` - 1, `bytes` = `bytes` - (octet_length(old.name) + coalesce(octet_length(old.description), 0) + coalesce(octet_length(old.icon), 0))
	WHERE `organization_id` = old.organization_id AND `kind` = 'projects';
END;
--> statement-breakpoint
CREATE TRIGGER `usage_environments_tombstone` AFTER UPDATE OF `organization_id` ON `environments` WHEN new.organization_id <> old.organization_id BEGIN
	UPDATE `usage` SET `records` = `records` - 1, `bytes` = `bytes` - (octet_length(old.name) + octet_length(old.configuration))
	WHERE `organization_id` = old.organization_id AND `kind` = 'environments';
END;
--> statement-breakpoint
CREATE TRIGGER `usage_stacks_tombstone` AFTER UPDATE OF `organization_id` ON `stacks` WHEN new.organization_id <> old.organization_id BEGIN
	UPDATE `usage` SET `records` = `records` - 1, `bytes` = `bytes` - (octet_length(old.name))
	WHERE `organization_id` = old.organization_id AND `kind` = 'stacks';
END;
--> statement-breakpoint
CREATE TRIGGER `usage_integrations_tombstone` AFTER UPDATE OF `organization_id` ON `integrations` WHEN new.organization_id <> old.organization_id BEGIN
	UPDATE `usage` SET `records` = `records` - 1, `bytes` = `bytes` - (octet_length(old.configuration) + octet_length(old.url) + octet_length(old.shown_url) + coalesce(octet_length(old.secret), 0) + coalesce(octet_length(old.previous_secret), 0))
	WHERE `organization_id` = old.organization_id AND `kind` = 'integrations';
END;
--> statement-breakpoint
CREATE TRIGGER `environments_of_tombstone` BEFORE INSERT ON `environments`
WHEN new.organization_id <> '1111111111111111111111' AND (SELECT `organization_id` FROM `projects` WHERE `id` = new.project_id) = '1111111111111111111111' BEGIN
	SELECT RAISE(ABORT, 'FOREIGN KEY constraint failed');
END;
--> statement-breakpoint
CREATE TRIGGER `project_members_of_tombstone` BEFORE INSERT ON `project_members`
WHEN new.organization_id <> '1111111111111111111111' AND (SELECT `organization_id` FROM `projects` WHERE `id` = new.project_id) = '1111111111111111111111' BEGIN
	SELECT RAISE(ABORT, 'FOREIGN KEY constraint failed');
END;
--> statement-breakpoint
CREATE TRIGGER `project_connections_of_tombstone` BEFORE INSERT ON `project_connections`
WHEN new.organization_id <> '1111111111111111111111' AND (SELECT `organization_id` FROM `projects` WHERE `id` = new.project_id) = '1111111111111111111111' BEGIN
	SELECT RAISE(ABORT, 'FOREIGN KEY constraint failed');
END;
--> statement-breakpoint
CREATE TRIGGER `integrations_of_tombstone` BEFORE INSERT ON `integrations`
WHEN new.organization_id <> '1111111111111111111111' AND (SELECT `organization_id` FROM `projects` WHERE `id` = new.project_id) = '1111111111111111111111' BEGIN
	SELECT RAISE(ABORT, 'FOREIGN KEY constraint failed');
END;
--> statement-breakpoint
CREATE TRIGGER `components_of_tombstone` BEFORE INSERT ON `components`
WHEN new.organization_id <> '1111111111111111111111' AND (SELECT `organization_id` FROM `environments` WHERE `id` = new.environment_id) = '1111111111111111111111' BEGIN
	SELECT RAISE(ABORT, 'FOREIGN KEY constraint failed');
END;
--> statement-breakpoint
CREATE TRIGGER `stacks_of_tombstone` BEFORE INSERT ON `stacks`
WHEN new.organization_id <> '1111111111111111111111' AND (SELECT `organization_id` FROM `environments` WHERE `id` = new.environment_id) = '1111111111111111111111' BEGIN
	SELECT RAISE(ABORT, 'FOREIGN KEY constraint failed');
END;
--> statement-breakpoint
CREATE TRIGGER `variables_of_tombstone` BEFORE INSERT ON `variables`
WHEN new.organization_id <> '1111111111111111111111' AND (SELECT `organization_id` FROM `environments` WHERE `id` = new.environment_id) = '1111111111111111111111' BEGIN
	SELECT RAISE(ABORT, 'FOREIGN KEY constraint failed');
END;
--> statement-breakpoint
CREATE TRIGGER `runner_pool_environments_of_tombstone` BEFORE INSERT ON `runner_pool_environments`
WHEN new.organization_id <> '1111111111111111111111' AND (SELECT `organization_id` FROM `environments` WHERE `id` = new.environment_id) = '1111111111111111111111' BEGIN
	SELECT RAISE(ABORT, 'FOREIGN KEY constraint failed');
END;
--> statement-breakpoint
CREATE TRIGGER `alarms_of_tombstone` BEFORE INSERT ON `alarms`
WHEN new.organization_id <> '1111111111111111111111' AND (SELECT `organization_id` FROM `stacks` WHERE `id` = new.stack_id) = '1111111111111111111111' BEGIN
	SELECT RAISE(ABORT, 'FOREIGN KEY constraint failed');
END;
--> statement-breakpoint
CREATE TRIGGER `recoveries_of_tombstone` BEFORE INSERT ON `recoveries`
WHEN new.organization_id <> '1111111111111111111111' AND (SELECT `organization_id` FROM `integrations` WHERE `id` = new.integration_id) = '1111111111111111111111' BEGIN
	SELECT RAISE(ABORT, 'FOREIGN KEY constraint failed');
END;
