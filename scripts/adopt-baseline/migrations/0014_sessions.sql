CREATE TABLE `sessions` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`membership_id` text NOT NULL,
	`source` text NOT NULL,
	`key_id` text,
	`secret_hash` text NOT NULL,
	`user_agent` text,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`last_used_at` integer,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE restrict,
	FOREIGN KEY (`membership_id`) REFERENCES `memberships`(`id`) ON UPDATE no action ON DELETE restrict
);
--> statement-breakpoint
CREATE UNIQUE INDEX `sessions_secret_hash` ON `sessions` (`secret_hash`);--> statement-breakpoint
CREATE INDEX `sessions_list` ON `sessions` (`membership_id`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `sessions_organization` ON `sessions` (`organization_id`);--> statement-breakpoint
CREATE INDEX `sessions_key` ON `sessions` (`key_id`);--> statement-breakpoint
CREATE TABLE `sign_in_links` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`membership_id` text NOT NULL,
	`key_id` text NOT NULL,
	`created_by_session_id` text,
	`session_expires_at` integer,
	`secret_hash` text NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE restrict,
	FOREIGN KEY (`membership_id`) REFERENCES `memberships`(`id`) ON UPDATE no action ON DELETE restrict
);
--> statement-breakpoint
CREATE UNIQUE INDEX `sign_in_links_secret_hash` ON `sign_in_links` (`secret_hash`);--> statement-breakpoint
CREATE INDEX `sign_in_links_membership` ON `sign_in_links` (`membership_id`);--> statement-breakpoint
CREATE INDEX `sign_in_links_organization` ON `sign_in_links` (`organization_id`);--> statement-breakpoint
CREATE INDEX `sign_in_links_key` ON `sign_in_links` (`key_id`);--> statement-breakpoint
CREATE INDEX `sign_in_links_created_by_session` ON `sign_in_links` (`created_by_session_id`);