#!/bin/sh
# $1 cache folder: fills the SQLite database of PowerDNS once (50 zones of 3500 records and 40 small ones)
set -e
rm -f "$1/pdns.db"
sqlite3 "$1/pdns.db" < /usr/share/pdns-backend-sqlite3/schema/schema.sqlite3.sql
sqlite3 "$1/pdns.db" <<'SQL'
BEGIN;
WITH RECURSIVE z(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM z WHERE i < 50)
INSERT INTO domains (id, name, type) SELECT i, 'branch' || i || '.example', 'NATIVE' FROM z;
WITH RECURSIVE h(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM h WHERE i < 3500)
INSERT INTO records (domain_id, name, type, content, ttl, prio, disabled, auth)
SELECT d.id, 'host' || h.i || '.' || d.name, 'A', '10.' || d.id || '.' || (h.i / 250) || '.' || (h.i % 250), 3600, 0, 0, 1
FROM domains d, h;
INSERT INTO records (domain_id, name, type, content, ttl, prio, disabled, auth)
SELECT id, name, 'SOA', 'ns1.' || name || ' hostmaster.' || name || ' 1 10800 3600 604800 3600', 3600, 0, 0, 1 FROM domains;
INSERT INTO domains (id, name, type) SELECT 100 + id, 'shop' || id || '.example', 'NATIVE' FROM domains WHERE id <= 40;
INSERT INTO records (domain_id, name, type, content, ttl, prio, disabled, auth)
SELECT d.id, n.column1 || d.name, 'A', '10.200.0.' || (d.id - 100), 3600, 0, 0, 1
FROM domains d, (VALUES ('www.'), ('mail.'), ('shop.'), ('ftp.')) n WHERE d.id > 100;
INSERT INTO records (domain_id, name, type, content, ttl, prio, disabled, auth)
SELECT id, name, 'SOA', 'ns1.' || name || ' hostmaster.' || name || ' 1 10800 3600 604800 3600', 3600, 0, 0, 1 FROM domains WHERE id > 100;
COMMIT;
ANALYZE;
SQL
