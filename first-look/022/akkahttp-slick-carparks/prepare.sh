#!/bin/sh
# prepare.sh CACHE CASE: libraries, classes and a database template in CACHE
set -e
cache=$1 case=$2
mkdir -p "$cache/classes"
[ -e "$cache/lib.done" ] || {
    mvn -q -B -f "$case/pom.xml" dependency:copy-dependencies -DoutputDirectory="$cache/lib" </dev/null
    touch "$cache/lib.done"
}
[ "$cache/classes/carparks/Main.class" -nt "$case/Main.scala" ] ||
    java -cp "$cache/lib/*" scala.tools.nsc.Main -usejavacp -nowarn -d "$cache/classes" "$case/Main.scala"
cp "$case/application.conf" "$cache/classes/"
[ -e "$cache/db.done" ] && exit 0
bin=$(ls -d /usr/lib/postgresql/*/bin | sort -V | tail -1)
dir=$(mktemp -d /tmp/carparks-XXXXXX)
as=
if [ "$(id -u)" = 0 ]; then
    chown postgres "$dir"
    as="setpriv --reuid=postgres --regid=postgres --clear-groups"
fi
cd "$dir"
$as "$bin/initdb" -D "$dir/data" -U postgres -A trust --no-sync -E UTF8 --locale=C >/dev/null
cat >"$dir/fill.sql" <<'SQL'
CREATE TABLE car_park (id int PRIMARY KEY, name text NOT NULL, spaces int NOT NULL, cents int NOT NULL)
INSERT INTO car_park SELECT i, 'Car park ' || i, 80 + i * 13 % 400, 150 + i * 7 % 200 FROM generate_series(1, 40) i
CREATE TABLE visit (id bigserial PRIMARY KEY, car_park int NOT NULL, plate text NOT NULL, stay int NOT NULL)
INSERT INTO visit (car_park, plate, stay) SELECT i * 31 % 40 + 1, 'RX' || (i::bigint * 7919 % 30011), i::bigint * 104729 % 600 FROM generate_series(1, 90000) i
CREATE MATERIALIZED VIEW car_park_load AS SELECT car_park, count(*) AS visits, count(DISTINCT plate) AS plates, percentile_cont(0.9) WITHIN GROUP (ORDER BY stay) AS stay FROM visit GROUP BY car_park
CREATE UNIQUE INDEX car_park_load_key ON car_park_load (car_park)
VACUUM ANALYZE
SQL
$as "$bin/postgres" --single -F -D "$dir/data" postgres <"$dir/fill.sql" >"$cache/fill.log" 2>&1
! grep ERROR "$cache/fill.log"
rm -rf "$cache/db"
cp -a "$dir/data" "$cache/db"
cd /
rm -rf "$dir"
touch "$cache/db.done"
