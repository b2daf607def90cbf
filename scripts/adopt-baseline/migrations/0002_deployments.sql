CREATE TABLE `attempts` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`environment_id` text NOT NULL,
	`deployment_id` text NOT NULL,
	`pool_id` text NOT NULL,
	`request_id` text NOT NULL,
	`epoch` integer NOT NULL,
	`state` text NOT NULL,
	`offered_until` integer NOT NULL,
	`lease_until` integer,
	`lost_at` integer,
	`outcome` text,
	`completion` text,
	`created_at` integer NOT NULL,
	`started_at` integer,
	`ended_at` integer,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE restrict,
	FOREIGN KEY (`environment_id`) REFERENCES `environments`(`id`) ON UPDATE no action ON DELETE restrict,
	FOREIGN KEY (`deployment_id`) REFERENCES `deployments`(`id`) ON UPDATE no action ON DELETE restrict,
	FOREIGN KEY (`pool_id`) REFERENCES `runner_pools`(`id`) ON UPDATE no action ON DELETE restrict
);
--> statement-breakpoint
CREATE UNIQUE INDEX `attempts_request` ON `attempts` (`pool_id`,`request_id`);--> statement-breakpoint
CREATE UNIQUE INDEX `attempts_live` ON `attempts` (`environment_id`) WHERE state <> 'ended';--> statement-breakpoint
CREATE INDEX `attempts_environment` ON `attempts` (`environment_id`);--> statement-breakpoint
CREATE INDEX `attempts_deployment` ON `attempts` (`deployment_id`);--> statement-breakpoint
CREATE TABLE `deployment_stacks` (
	`deployment_id` text NOT NULL,
	`stack_id` text NOT NULL,
	`organization_id` text NOT NULL,
	`environment_id` text NOT NULL,
	`position` integer NOT NULL,
	`status` text NOT NULL,
	`status_reason` text,
	`seq` integer NOT NULL,
	`timestamp` integer NOT NULL,
	`deployment_created_at` integer NOT NULL,
	PRIMARY KEY(`deployment_id`, `stack_id`),
	FOREIGN KEY (`deployment_id`) REFERENCES `deployments`(`id`) ON UPDATE no action ON DELETE restrict,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE restrict,
	FOREIGN KEY (`environment_id`) REFERENCES `environments`(`id`) ON UPDATE no action ON DELETE restrict
);
--> statement-breakpoint
CREATE UNIQUE INDEX `deployment_stacks_order` ON `deployment_stacks` (`deployment_id`,`position`);--> statement-breakpoint
CREATE INDEX `deployment_stacks_list` ON `deployment_stacks` (`stack_id`,`deployment_created_at`,`deployment_id`);--> statement-breakpoint
CREATE INDEX `deployment_stacks_environment` ON `deployment_stacks` (`environment_id`);--> statement-breakpoint
CREATE INDEX `deployment_stacks_unfinished` ON `deployment_stacks` (`environment_id`,`stack_id`) WHERE status in ('pending', 'in_progress');--> statement-breakpoint
CREATE TABLE `deployments` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`project_id` text NOT NULL,
	`environment_id` text NOT NULL,
	`number` integer NOT NULL,
	`status` text NOT NULL,
	`queue` text NOT NULL,
	`patch` text NOT NULL,
	`configuration` text NOT NULL,
	`source` text,
	`reason` text,
	`failure_reason` text,
	`message` text,
	`cancel_deadline` integer,
	`created_at` integer NOT NULL,
	`started_at` integer,
	`finished_at` integer,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE restrict,
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE restrict,
	FOREIGN KEY (`environment_id`) REFERENCES `environments`(`id`) ON UPDATE no action ON DELETE restrict
);
--> statement-breakpoint
CREATE UNIQUE INDEX `deployments_number` ON `deployments` (`environment_id`,`number`);--> statement-breakpoint
CREATE UNIQUE INDEX `deployments_active` ON `deployments` (`environment_id`) WHERE status in ('in_progress', 'canceling');--> statement-breakpoint
CREATE INDEX `deployments_list` ON `deployments` (`environment_id`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `deployments_list_status` ON `deployments` (`environment_id`,`status`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `deployments_organization` ON `deployments` (`organization_id`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `deployments_organization_status` ON `deployments` (`organization_id`,`status`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `deployments_project` ON `deployments` (`project_id`,`status`);--> statement-breakpoint
CREATE INDEX `deployments_overdue` ON `deployments` (`cancel_deadline`) WHERE status = 'canceling';--> statement-breakpoint
CREATE TABLE `resources` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`project_id` text NOT NULL,
	`environment_id` text NOT NULL,
	`stack_id` text NOT NULL,
	`template_id` text NOT NULL,
	`physical_id` text NOT NULL,
	`resource_type` text NOT NULL,
	`status` text NOT NULL,
	`status_reason` text,
	`timestamp` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE restrict,
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE restrict,
	FOREIGN KEY (`environment_id`) REFERENCES `environments`(`id`) ON UPDATE no action ON DELETE restrict,
	FOREIGN KEY (`stack_id`) REFERENCES `stacks`(`id`) ON UPDATE no action ON DELETE restrict
);
--> statement-breakpoint
CREATE UNIQUE INDEX `resources_template` ON `resources` (`stack_id`,`template_id`);--> statement-breakpoint
CREATE INDEX `resources_list` ON `resources` (`stack_id`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `resources_environment` ON `resources` (`environment_id`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `resources_project` ON `resources` (`project_id`);--> statement-breakpoint
CREATE TABLE `runner_pool_environments` (
	`pool_id` text NOT NULL,
	`environment_id` text NOT NULL,
	`organization_id` text NOT NULL,
	PRIMARY KEY(`pool_id`, `environment_id`),
	FOREIGN KEY (`pool_id`) REFERENCES `runner_pools`(`id`) ON UPDATE no action ON DELETE restrict,
	FOREIGN KEY (`environment_id`) REFERENCES `environments`(`id`) ON UPDATE no action ON DELETE restrict,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE restrict
);
--> statement-breakpoint
CREATE INDEX `runner_pool_environments_environment` ON `runner_pool_environments` (`environment_id`);--> statement-breakpoint
CREATE TABLE `runner_pools` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`name` text NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE restrict
);
--> statement-breakpoint
CREATE UNIQUE INDEX `runner_pools_name` ON `runner_pools` (`organization_id`,`name`);--> statement-breakpoint
CREATE INDEX `runner_pools_list` ON `runner_pools` (`organization_id`,`created_at`,`id`);--> statement-breakpoint
CREATE TABLE `runner_tokens` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`pool_id` text NOT NULL,
	`name` text NOT NULL,
	`secret_hash` text NOT NULL,
	`last_four` text NOT NULL,
	`version` integer DEFAULT 1 NOT NULL,
	`last_used_at` integer,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE restrict,
	FOREIGN KEY (`pool_id`) REFERENCES `runner_pools`(`id`) ON UPDATE no action ON DELETE restrict
);
--> statement-breakpoint
CREATE UNIQUE INDEX `runner_tokens_secret_hash` ON `runner_tokens` (`secret_hash`);--> statement-breakpoint
CREATE INDEX `runner_tokens_pool` ON `runner_tokens` (`pool_id`);--> statement-breakpoint
ALTER TABLE `environments` ADD `epoch` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `environments` ADD `started_number` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE INDEX `projects_disconnecting` ON `projects` (`id`) WHERE connection_status = 'disconnecting';