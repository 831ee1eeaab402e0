#!/bin/sh
# start.sh PORT FOLDER CACHE MIRROR_PORT: a fresh calendar store; changes are told to the mirror
set -e
mkdir -p "$2/store/collection-root/team/calendar"
cd "$2/store"
echo '{"tag": "VCALENDAR", "D:displayname": "Team"}' >collection-root/team/calendar/.Radicale.props
i=1
while [ $i -le 200 ]; do
  d=$(printf '%02d' $((i % 28 + 1)))
  printf 'BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//team//EN\r\nBEGIN:VEVENT\r\nUID:meeting-%s\r\nDTSTAMP:20240101T000000Z\r\nDTSTART:202405%sT090000Z\r\nDTEND:202405%sT100000Z\r\nSUMMARY:Meeting %s\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n' $i $d $d $i >collection-root/team/calendar/meeting-$i.ics
  i=$((i + 1))
done
cat >"$2/radicale.conf" <<C
[server]
hosts = 127.0.0.1:$1
max_connections = 64
[auth]
type = none
[storage]
filesystem_folder = $2/store
hook = curl -fsS -o /dev/null -X POST http://127.0.0.1:$4/changed/%(user)s
C
exec "$3/venv/bin/python" -m radicale --config "$2/radicale.conf"
