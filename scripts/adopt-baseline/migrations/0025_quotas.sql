CREATE TABLE `quotas` (
	`organization_id` text NOT NULL,
	`kind` text NOT NULL,
	`allowed` integer NOT NULL,
	PRIMARY KEY(`organization_id`, `kind`),
	FOREIGN KEY (`organization_id`) REFERENCES `organizations`(`id`) ON UPDATE no action ON DELETE restrict
);
--> statement-breakpoint
CREATE INDEX `organizations_founded` ON `organizations` (`id`,`limits_organization_id`) WHERE limits_organization_id is not null;