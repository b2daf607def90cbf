-- Stacks need one another by their names, so that each change of a name raises the version of the configuration: a queued
-- deployment is then decided again at its start.

CREATE TRIGGER `stacks_renamed` AFTER UPDATE OF `name` ON `stacks` WHEN new.name <> old.name BEGIN
	UPDATE `environments` SET `configuration_version` = `configuration_version` + 1 WHERE `id` = new.environment_id;
END;
