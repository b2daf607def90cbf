-- The order is in `environment_positions`. The column counted toward the quota.
UPDATE `usage` SET `bytes` = `bytes` - coalesce((
	SELECT sum(octet_length(`position`)) FROM `environments` WHERE `organization_id` = `usage`.`organization_id`
), 0) WHERE `kind` = 'environments';
--> statement-breakpoint
ALTER TABLE `environments` DROP COLUMN `position`;
--> statement-breakpoint
-- Without its default, which only a stack without a count needed.
DROP INDEX `stacks_changed`;
--> statement-breakpoint
ALTER TABLE `stacks` ADD `changed_at` integer;
--> statement-breakpoint
UPDATE `stacks` SET `changed_at` = `resources_changed_at` WHERE `resources_changed_at` IS NOT NULL;
--> statement-breakpoint
ALTER TABLE `stacks` DROP COLUMN `resources_changed_at`;
--> statement-breakpoint
ALTER TABLE `stacks` RENAME COLUMN `changed_at` TO `resources_changed_at`;
--> statement-breakpoint
CREATE INDEX `stacks_changed` ON `stacks` (`organization_id`,`resources_changed_at`) WHERE resources_changed_at is not null;
--> statement-breakpoint
-- Alarms have a source, and always an environment. No table refers to them.
CREATE TABLE `new_alarms` (
	`id` text PRIMARY KEY NOT NULL,
	`stack_id` text NOT NULL,
	`environment_id` text NOT NULL,
	`source` text DEFAULT '' NOT NULL,
	`name` text NOT NULL,
	`organization_id` text NOT NULL,
	`project_id` text NOT NULL,
	`state` text NOT NULL,
	`reason` text,
	`created_at` integer NOT NULL,
	`changed_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`stack_id`) REFERENCES `stacks`(`id`) ON UPDATE no action ON DELETE restrict,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE restrict,
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE restrict
);
--> statement-breakpoint
INSERT INTO `new_alarms` (`id`, `stack_id`, `environment_id`, `source`, `name`, `organization_id`, `project_id`, `state`, `reason`, `created_at`, `changed_at`, `updated_at`)
SELECT `id`, `stack_id`, coalesce(`environment_id`, (SELECT `environment_id` FROM `stacks` WHERE `stacks`.`id` = `alarms`.`stack_id`)),
	'', `name`, `organization_id`, `project_id`, `state`, `reason`, `created_at`, `changed_at`, `updated_at` FROM `alarms`;
--> statement-breakpoint
DROP TABLE `alarms`;
--> statement-breakpoint
ALTER TABLE `new_alarms` RENAME TO `alarms`;
--> statement-breakpoint
CREATE UNIQUE INDEX `alarms_name` ON `alarms` (`stack_id`,`source`,`name`);
--> statement-breakpoint
CREATE INDEX `alarms_list` ON `alarms` (`stack_id`,`created_at`,`id`);
--> statement-breakpoint
CREATE INDEX `alarms_project` ON `alarms` (`project_id`);
--> statement-breakpoint
CREATE INDEX `alarms_environment` ON `alarms` (`environment_id`,`state`,`changed_at`,`id`);
