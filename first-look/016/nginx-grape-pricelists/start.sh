#!/bin/sh
# start.sh CASE TMP PORT: nginx in front (static files itself, the rest to Puma)
mkdir -p "$2/static" "$2/nginx"
printf 'Prices are net and valid for thirty days.\n' > "$2/static/terms.txt"
sed -e "s|@TMP@|$2|g" -e "s|@PORT@|$3|g" "$1/nginx.conf" > "$2/nginx.conf"
setpriv --pdeathsig TERM nginx -c "$2/nginx.conf" -e "$2/nginx/error.log" &
cd "$1" && exec puma -q -e production -t 8:8 -b "unix://$2/puma.sock" config.ru
