CREATE TABLE `used_sign_ins` (
	`id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`expires_at` integer NOT NULL,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE restrict
);
--> statement-breakpoint
CREATE INDEX `used_sign_ins_expires` ON `used_sign_ins` (`expires_at`);--> statement-breakpoint
CREATE INDEX `used_sign_ins_organization` ON `used_sign_ins` (`organization_id`);--> statement-breakpoint
ALTER TABLE `api_keys` ADD `session_id` text;--> statement-breakpoint
CREATE INDEX `api_keys_session` ON `api_keys` (`session_id`) WHERE session_id is not null;--> statement-breakpoint
CREATE INDEX `memberships_email` ON `memberships` (`email`);--> statement-breakpoint
CREATE TRIGGER `usage_api_keys_session_insert` AFTER INSERT ON `api_keys` WHEN new.session_id IS NOT NULL BEGIN
	INSERT INTO `usage` (`organization_id`, `kind`, `records`, `bytes`) VALUES (new.organization_id, 'api_keys', -1, 0)
	ON CONFLICT (`organization_id`, `kind`) DO UPDATE SET `records` = `records` - 1;
END;
--> statement-breakpoint
CREATE TRIGGER `usage_api_keys_session_delete` AFTER DELETE ON `api_keys` WHEN old.session_id IS NOT NULL BEGIN
	UPDATE `usage` SET `records` = `records` + 1 WHERE `organization_id` = old.organization_id AND `kind` = 'api_keys';
END;
