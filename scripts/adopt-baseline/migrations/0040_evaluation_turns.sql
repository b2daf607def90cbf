DROP INDEX `deployments_held`;--> statement-breakpoint
CREATE INDEX `deployments_held` ON `deployments` (`organization_id`,`evaluated_at`) WHERE status = 'queued' and held_until is not 0;