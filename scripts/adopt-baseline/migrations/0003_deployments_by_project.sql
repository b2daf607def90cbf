DROP INDEX `deployments_project`;--> statement-breakpoint
CREATE INDEX `deployments_project_status` ON `deployments` (`project_id`,`status`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `deployments_project` ON `deployments` (`project_id`,`created_at`,`id`);