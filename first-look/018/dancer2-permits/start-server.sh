#!/bin/sh
# $1 port; one worker for each kept-alive connection and a few more
exec starman --listen "127.0.0.1:$1" --workers 40 --max-requests 1000000 --keepalive-timeout 60 \
    --preload-app --env production "$(dirname "$0")/app.psgi"
