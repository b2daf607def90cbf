ALTER TABLE `attempts` ADD `token_id` text;--> statement-breakpoint
ALTER TABLE `attempts` ADD `run_until` integer;--> statement-breakpoint
CREATE INDEX `attempts_token` ON `attempts` (`token_id`,`created_at`,`id`) WHERE state <> 'ended';--> statement-breakpoint
ALTER TABLE `deployments` ADD `configuration_version` integer;--> statement-breakpoint
ALTER TABLE `deployments` ADD `is_absolute` integer DEFAULT true NOT NULL;--> statement-breakpoint
ALTER TABLE `deployments` ADD `lapsed_offers` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `environments` ADD `configuration_version` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `runner_pools` ADD `max_run_seconds` integer DEFAULT 21600 NOT NULL;--> statement-breakpoint
CREATE TRIGGER `environments_configuration_version` AFTER UPDATE OF `configuration` ON `environments`
WHEN new.configuration <> old.configuration BEGIN
	UPDATE `environments` SET `configuration_version` = old.configuration_version + 1 WHERE `id` = new.id;
END;
