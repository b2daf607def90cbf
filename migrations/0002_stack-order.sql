DROP INDEX `deployment_stacks_order`;--> statement-breakpoint
CREATE INDEX `deployment_stacks_order` ON `deployment_stacks` (`deployment_id`,`position`);--> statement-breakpoint
DROP INDEX `stacks_url`;--> statement-breakpoint
ALTER TABLE `stacks` ADD `position` integer;--> statement-breakpoint
ALTER TABLE `stacks` ADD `succeeded_at` integer;--> statement-breakpoint
ALTER TABLE `stacks` ADD `shows_url` integer DEFAULT false NOT NULL;--> statement-breakpoint
CREATE INDEX `stacks_url_of_environment` ON `stacks` (`environment_id`) WHERE shows_url = 1;--> statement-breakpoint
CREATE INDEX `stacks_url` ON `stacks` (`environment_id`,`succeeded_at`) WHERE outputs ->> 'url' is not null;--> statement-breakpoint
ALTER TABLE `deployments` ADD `continue_on_failure` integer DEFAULT false NOT NULL;
--> statement-breakpoint
-- Stacks need one another by their names, so that each change of a name raises the version of the configuration: a queued
-- deployment is then decided again at its start.
CREATE TRIGGER `stacks_renamed` AFTER UPDATE OF `name` ON `stacks` WHEN new.name <> old.name BEGIN
	UPDATE `environments` SET `configuration_version` = `configuration_version` + 1 WHERE `id` = new.environment_id;
END;--> statement-breakpoint
UPDATE `stacks` SET `succeeded_at` = coalesce(
	(SELECT `timestamp` FROM `deployment_stacks` WHERE `stack_id` = `stacks`.`id` AND `status` = 'succeeded'
		ORDER BY `deployment_created_at` DESC LIMIT 1),
	iif(`outputs` <> '{}', `updated_at`, NULL));
