CREATE TABLE `alarms` (
	`id` text PRIMARY KEY NOT NULL,
	`stack_id` text NOT NULL,
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
CREATE UNIQUE INDEX `alarms_name` ON `alarms` (`stack_id`,`name`);--> statement-breakpoint
CREATE INDEX `alarms_list` ON `alarms` (`stack_id`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `alarms_project` ON `alarms` (`project_id`);--> statement-breakpoint
CREATE TABLE `deliveries` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`project_id` text NOT NULL,
	`integration_id` text NOT NULL,
	`event_id` text NOT NULL,
	`type` text NOT NULL,
	`data` text NOT NULL,
	`occurred_at` integer NOT NULL,
	`status` text NOT NULL,
	`attempts` integer NOT NULL,
	`due_at` integer NOT NULL,
	`claimed_until` integer,
	`sweep_at` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`finished_at` integer,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE restrict,
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE restrict,
	FOREIGN KEY (`integration_id`) REFERENCES `integrations`(`id`) ON UPDATE no action ON DELETE restrict
);
--> statement-breakpoint
CREATE INDEX `deliveries_list` ON `deliveries` (`integration_id`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `deliveries_list_status` ON `deliveries` (`integration_id`,`status`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `deliveries_project` ON `deliveries` (`project_id`);--> statement-breakpoint
CREATE INDEX `deliveries_waiting` ON `deliveries` (`integration_id`,`due_at`) WHERE status = 'pending' and attempts = 0;--> statement-breakpoint
CREATE INDEX `deliveries_sweep` ON `deliveries` (`sweep_at`) WHERE status = 'pending';--> statement-breakpoint
CREATE TABLE `delivery_attempts` (
	`delivery_id` text NOT NULL,
	`number` integer NOT NULL,
	`organization_id` text NOT NULL,
	`started_at` integer NOT NULL,
	`duration_ms` integer NOT NULL,
	`status_code` integer,
	`error` text,
	`response` text,
	PRIMARY KEY(`delivery_id`, `number`),
	FOREIGN KEY (`delivery_id`) REFERENCES `deliveries`(`id`) ON UPDATE no action ON DELETE restrict,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE restrict
);
--> statement-breakpoint
CREATE TABLE `changelog_entries` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`project_id` text NOT NULL,
	`account_id` text,
	`membership_id` text,
	`key_id` text,
	`action` text NOT NULL,
	`record_type` text NOT NULL,
	`record_id` text NOT NULL,
	`record_name` text,
	`before` text,
	`after` text,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE restrict,
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE restrict
);
--> statement-breakpoint
CREATE INDEX `changelog_entries_list` ON `changelog_entries` (`project_id`,`created_at`,`id`);--> statement-breakpoint
CREATE TABLE `integrations` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`project_id` text NOT NULL,
	`type` text NOT NULL,
	`configuration` text NOT NULL,
	`url` text NOT NULL,
	`shown_url` text NOT NULL,
	`secret` text,
	`previous_secret` text,
	`previous_secret_until` integer,
	`disabled_at` integer,
	`disabled_reason` text,
	`failing_since` integer,
	`paused_until` integer,
	`last_sent_at` integer,
	`links_to` text,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE restrict,
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE restrict
);
--> statement-breakpoint
CREATE INDEX `integrations_list` ON `integrations` (`project_id`,`created_at`,`id`);--> statement-breakpoint
ALTER TABLE `deployments` ADD `announced` text DEFAULT 'queued' NOT NULL;--> statement-breakpoint
UPDATE `deployments` SET `announced` = `status`;--> statement-breakpoint
CREATE INDEX `deployments_unannounced` ON `deployments` (`environment_id`) WHERE status <> announced;