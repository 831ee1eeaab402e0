#!/bin/bash
# fill.sh FOLDER: makes the table of visits once
cd "$(dirname "$0")"
bash ./start.sh 18923 "$1" & pid=$!
q() { curl -sf "http://127.0.0.1:18923/" --data-binary "$1"; }
for i in $(seq 100); do q "SELECT 1" >/dev/null && break; sleep 0.2; done
q "CREATE TABLE visits (day Date, shop UInt32, visitor UInt64, url String, cents UInt32) ENGINE = MergeTree PARTITION BY toYYYYMM(day) ORDER BY (shop, day) SETTINGS index_granularity = 1024"
q "INSERT INTO visits SELECT toDate('2018-01-01') + number % 59, intHash32(number) % 20000, intHash64(number) % 1000000, concat('/p/', toString(intHash32(number) % 50000), '/', toString(number % 977)), number % 9000 FROM numbers(4000000)"
q "OPTIMIZE TABLE visits PARTITION 201801 FINAL"
q "OPTIMIZE TABLE visits PARTITION 201802 FINAL"
kill $pid; wait $pid; exit 0
