-- Evicts the oldest idempotency entries of a credential beyond its share, and refuses those beyond the organization's.

CREATE TRIGGER `idempotency_records_delete` AFTER DELETE ON `idempotency_records` BEGIN
	UPDATE `idempotency_totals` SET `bytes` = `bytes` - (300 + octet_length(old.key) + octet_length(old.result) + octet_length(old.secrets) + octet_length(old.changed_keys))
	WHERE `organization_id` = old.organization_id;
END;

CREATE TRIGGER `idempotency_records_size` AFTER INSERT ON `idempotency_records` BEGIN
	INSERT INTO `idempotency_totals` (`organization_id`, `bytes`) VALUES (new.organization_id, 300 + octet_length(new.key) + octet_length(new.result) + octet_length(new.secrets) + octet_length(new.changed_keys))
	ON CONFLICT (`organization_id`) DO UPDATE SET `bytes` = `bytes` + excluded.bytes;
	UPDATE `idempotency_records` SET `preceding_bytes` = coalesce((
		SELECT last.preceding_bytes + 300 + octet_length(last.key) + octet_length(last.result) + octet_length(last.secrets) + octet_length(last.changed_keys)
		FROM `idempotency_records` AS last WHERE last.credential_id = new.credential_id AND last.id <> new.id
		ORDER BY last.preceding_bytes DESC LIMIT 1), 0)
	WHERE `id` = new.id;
	DELETE FROM `idempotency_records` WHERE `credential_id` = new.credential_id AND `id` <> new.id AND `preceding_bytes` < (
		SELECT min(stored.own - 262144, max(stored.own - 16777216, stored.first + stored.total - 67108864)) FROM (
			SELECT newest.preceding_bytes + 300 + octet_length(newest.key) + octet_length(newest.result) + octet_length(newest.secrets) + octet_length(newest.changed_keys) AS own,
				(SELECT min(oldest.preceding_bytes) FROM `idempotency_records` AS oldest WHERE oldest.credential_id = newest.credential_id) AS first,
				(SELECT totals.bytes FROM `idempotency_totals` AS totals WHERE totals.organization_id = newest.organization_id) AS total
			FROM `idempotency_records` AS newest WHERE newest.id = new.id) AS stored);
	DELETE FROM `idempotency_records` WHERE `id` = new.id AND (
		SELECT max(own.bytes, coalesce((SELECT sum(founded.bytes) FROM `organizations` AS member
			JOIN `idempotency_totals` AS founded ON founded.organization_id = member.id
			WHERE member.limits_organization_id = organization.limits_organization_id), 0))
		FROM `idempotency_totals` AS own JOIN `organizations` AS organization ON organization.id = own.organization_id
		WHERE own.organization_id = new.organization_id) > 201326592;
	-- What a PATCH repeats has the same effect again.
	SELECT raise(ABORT, 'idempotency_limit_reached') WHERE new.status = 201
		AND NOT EXISTS (SELECT 1 FROM `idempotency_records` AS kept WHERE kept.id = new.id);
END;
