-- Counts the changes of an environment's configuration, so that no statement can leave one out.

CREATE TRIGGER `environments_configuration_version` AFTER UPDATE OF `configuration` ON `environments`
WHEN new.configuration <> old.configuration BEGIN
	UPDATE `environments` SET `configuration_version` = old.configuration_version + 1 WHERE `id` = new.id;
END;
