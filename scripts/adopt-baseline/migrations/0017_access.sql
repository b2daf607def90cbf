CREATE TABLE `removed_memberships` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`added_by_key_id` text,
	`added_by_session_id` text,
	`created_at` integer NOT NULL,
	`removed_at` integer NOT NULL,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE restrict
);
--> statement-breakpoint
CREATE INDEX `removed_memberships_organization` ON `removed_memberships` (`organization_id`);--> statement-breakpoint
CREATE INDEX `removed_memberships_added_by` ON `removed_memberships` (`added_by_key_id`);--> statement-breakpoint
CREATE INDEX `removed_memberships_added_by_session` ON `removed_memberships` (`added_by_session_id`);--> statement-breakpoint
CREATE TABLE `ended_sessions` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`membership_id` text NOT NULL,
	`source` text NOT NULL,
	`key_id` text,
	`created_by_session_id` text,
	`created_at` integer NOT NULL,
	`ended_at` integer NOT NULL,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE restrict
);
--> statement-breakpoint
CREATE INDEX `ended_sessions_list` ON `ended_sessions` (`membership_id`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `ended_sessions_retention` ON `ended_sessions` (`organization_id`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `ended_sessions_key` ON `ended_sessions` (`key_id`);--> statement-breakpoint
CREATE INDEX `ended_sessions_created_by_session` ON `ended_sessions` (`created_by_session_id`) WHERE created_by_session_id is not null;--> statement-breakpoint
ALTER TABLE `api_keys` ADD `issued_by_key_id` text;--> statement-breakpoint
ALTER TABLE `api_keys` ADD `created_by_session_id` text;--> statement-breakpoint
ALTER TABLE `api_keys` ADD `rotated_by_key_id` text;--> statement-breakpoint
ALTER TABLE `api_keys` ADD `expires_by_policy` integer DEFAULT false NOT NULL;--> statement-breakpoint
CREATE INDEX `api_keys_issued_by` ON `api_keys` (`issued_by_key_id`) WHERE issued_by_key_id is not null;--> statement-breakpoint
CREATE INDEX `api_keys_created_by_session` ON `api_keys` (`created_by_session_id`) WHERE created_by_session_id is not null;--> statement-breakpoint
CREATE INDEX `api_keys_rotated_by` ON `api_keys` (`rotated_by_key_id`) WHERE rotated_by_key_id is not null;--> statement-breakpoint
CREATE INDEX `api_keys_replaced_by` ON `api_keys` (`replaced_by_key_id`) WHERE replaced_by_key_id is not null;--> statement-breakpoint
ALTER TABLE `revoked_keys` ADD `issued_by_key_id` text;--> statement-breakpoint
ALTER TABLE `revoked_keys` ADD `created_by_session_id` text;--> statement-breakpoint
ALTER TABLE `revoked_keys` ADD `rotated_by_key_id` text;--> statement-breakpoint
CREATE INDEX `revoked_keys_issued_by` ON `revoked_keys` (`issued_by_key_id`) WHERE issued_by_key_id is not null;--> statement-breakpoint
CREATE INDEX `revoked_keys_created_by_session` ON `revoked_keys` (`created_by_session_id`) WHERE created_by_session_id is not null;--> statement-breakpoint
CREATE INDEX `revoked_keys_rotated_by` ON `revoked_keys` (`rotated_by_key_id`) WHERE rotated_by_key_id is not null;--> statement-breakpoint
CREATE INDEX `revoked_keys_replaced_by` ON `revoked_keys` (`replaced_by_key_id`) WHERE replaced_by_key_id is not null;--> statement-breakpoint
ALTER TABLE `invitations` ADD `created_by_session_id` text;--> statement-breakpoint
CREATE INDEX `invitations_address` ON `invitations` (`email`);--> statement-breakpoint
CREATE INDEX `invitations_created_by` ON `invitations` (`created_by_key_id`);--> statement-breakpoint
CREATE INDEX `invitations_created_by_session` ON `invitations` (`created_by_session_id`) WHERE created_by_session_id is not null;--> statement-breakpoint
ALTER TABLE `memberships` ADD `added_by_key_id` text;--> statement-breakpoint
ALTER TABLE `memberships` ADD `added_by_session_id` text;--> statement-breakpoint
ALTER TABLE `memberships` ADD `signed_in_at` integer;--> statement-breakpoint
CREATE INDEX `memberships_added_by` ON `memberships` (`added_by_key_id`) WHERE added_by_key_id is not null;--> statement-breakpoint
CREATE INDEX `memberships_added_by_session` ON `memberships` (`added_by_session_id`) WHERE added_by_session_id is not null;--> statement-breakpoint
ALTER TABLE `runner_tokens` ADD `issued_by_key_id` text;--> statement-breakpoint
ALTER TABLE `runner_tokens` ADD `created_by_session_id` text;--> statement-breakpoint
ALTER TABLE `runner_tokens` ADD `rotated_by_key_id` text;--> statement-breakpoint
CREATE INDEX `runner_tokens_issued_by` ON `runner_tokens` (`issued_by_key_id`) WHERE issued_by_key_id is not null;--> statement-breakpoint
CREATE INDEX `runner_tokens_created_by_session` ON `runner_tokens` (`created_by_session_id`) WHERE created_by_session_id is not null;--> statement-breakpoint
CREATE INDEX `runner_tokens_rotated_by` ON `runner_tokens` (`rotated_by_key_id`) WHERE rotated_by_key_id is not null;--> statement-breakpoint
ALTER TABLE `sessions` ADD `created_by_session_id` text;--> statement-breakpoint
CREATE INDEX `sessions_created_by_session` ON `sessions` (`created_by_session_id`) WHERE created_by_session_id is not null;--> statement-breakpoint
ALTER TABLE `trusts` ADD `issued_by_key_id` text;--> statement-breakpoint
ALTER TABLE `trusts` ADD `created_by_session_id` text;--> statement-breakpoint
CREATE INDEX `trusts_issued_by` ON `trusts` (`issued_by_key_id`) WHERE issued_by_key_id is not null;--> statement-breakpoint
CREATE INDEX `trusts_created_by_session` ON `trusts` (`created_by_session_id`) WHERE created_by_session_id is not null;