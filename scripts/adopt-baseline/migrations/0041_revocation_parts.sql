CREATE TABLE `revocation_parts` (
	`id` integer PRIMARY KEY NOT NULL,
	`credentials` text NOT NULL,
	`is_last` integer NOT NULL
);
