CREATE TABLE `environment_positions` (
	`environment_id` text PRIMARY KEY NOT NULL,
	`organization_id` text NOT NULL,
	`position` integer NOT NULL,
	FOREIGN KEY (`environment_id`) REFERENCES `environments`(`id`) ON UPDATE no action ON DELETE restrict,
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE restrict
);
--> statement-breakpoint
INSERT INTO `environment_positions` (`environment_id`, `organization_id`, `position`)
SELECT `id`, `organization_id`, `position` FROM `environments` WHERE `position` IS NOT NULL;
--> statement-breakpoint
-- The Worker of the previous release does not know the table.
CREATE TRIGGER `environment_positions_of_environments` AFTER UPDATE OF `position` ON `environments` WHEN new.position IS NOT NULL BEGIN
	INSERT INTO `environment_positions` (`environment_id`, `organization_id`, `position`)
	VALUES (new.id, new.organization_id, new.position)
	ON CONFLICT (`environment_id`) DO UPDATE SET `position` = excluded.position;
END;
