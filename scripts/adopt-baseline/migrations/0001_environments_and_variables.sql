CREATE TABLE `audit_records` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`project_id` text NOT NULL,
	`account_id` text NOT NULL,
	`membership_id` text NOT NULL,
	`key_id` text NOT NULL,
	`action` text NOT NULL,
	`record_id` text NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE restrict
);
--> statement-breakpoint
CREATE INDEX `audit_records_list` ON `audit_records` (`project_id`,`created_at`,`id`);--> statement-breakpoint
CREATE TABLE `components` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`project_id` text NOT NULL,
	`environment_id` text NOT NULL,
	`name` text NOT NULL,
	`kind` text NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE restrict,
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE restrict,
	FOREIGN KEY (`environment_id`) REFERENCES `environments`(`id`) ON UPDATE no action ON DELETE restrict
);
--> statement-breakpoint
CREATE UNIQUE INDEX `components_environment_name` ON `components` (`environment_id`,`name`);--> statement-breakpoint
CREATE INDEX `components_list` ON `components` (`environment_id`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `components_project` ON `components` (`project_id`);--> statement-breakpoint
CREATE TABLE `stacks` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`project_id` text NOT NULL,
	`environment_id` text NOT NULL,
	`component_id` text,
	`name` text NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE restrict,
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE restrict,
	FOREIGN KEY (`environment_id`) REFERENCES `environments`(`id`) ON UPDATE no action ON DELETE restrict,
	FOREIGN KEY (`component_id`) REFERENCES `components`(`id`) ON UPDATE no action ON DELETE restrict
);
--> statement-breakpoint
CREATE UNIQUE INDEX `stacks_environment_name` ON `stacks` (`environment_id`,`name`);--> statement-breakpoint
CREATE INDEX `stacks_list` ON `stacks` (`environment_id`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `stacks_component` ON `stacks` (`component_id`);--> statement-breakpoint
CREATE INDEX `stacks_project` ON `stacks` (`project_id`);--> statement-breakpoint
CREATE TABLE `variables` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`project_id` text NOT NULL,
	`environment_id` text NOT NULL,
	`component_id` text,
	`scope_id` text NOT NULL,
	`name` text NOT NULL,
	`storage_method` text NOT NULL,
	`resource_id` text NOT NULL,
	`value` text NOT NULL,
	`version` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE restrict,
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE restrict,
	FOREIGN KEY (`environment_id`) REFERENCES `environments`(`id`) ON UPDATE no action ON DELETE restrict,
	FOREIGN KEY (`component_id`) REFERENCES `components`(`id`) ON UPDATE no action ON DELETE restrict
);
--> statement-breakpoint
CREATE UNIQUE INDEX `variables_scope_name` ON `variables` (`scope_id`,`name`);--> statement-breakpoint
CREATE UNIQUE INDEX `variables_resource` ON `variables` (`resource_id`);--> statement-breakpoint
CREATE INDEX `variables_list` ON `variables` (`scope_id`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `variables_environment` ON `variables` (`environment_id`);--> statement-breakpoint
CREATE INDEX `variables_component` ON `variables` (`component_id`);--> statement-breakpoint
CREATE INDEX `variables_project` ON `variables` (`project_id`);