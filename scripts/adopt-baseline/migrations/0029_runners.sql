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
	FOREIGN KEY (`pool_id`) REFERENCES `runner_pools`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `runners_name` ON `runners` (`pool_id`,`token_id`,`name`);--> statement-breakpoint
CREATE INDEX `runners_seen` ON `runners` (`pool_id`,`wanted_id`,`last_seen_at`);--> statement-breakpoint
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
