"""As much of Uptime Kuma's Socket.IO server as its client needs: monitor.py PORT"""

import sys

import eventlet
import eventlet.wsgi
import socketio

server = socketio.Server(async_mode="eventlet")


@server.event
def connect(sid, environ):
    server.emit("info", {"version": "1.23.16", "latestVersion": "1.23.16", "primaryBaseURL": None}, to=sid)


@server.on("login")
def login(sid, data):
    server.emit("monitorList", {"1": {"id": 1, "name": "shop", "type": "http", "active": True}}, to=sid)
    for event in ("notificationList", "proxyList", "statusPageList", "dockerHostList", "apiKeyList"):
        server.emit(event, [], to=sid)
    for event in ("heartbeatList", "importantHeartbeatList"):
        server.emit(event, ("1", [], False), to=sid)
    server.emit("avgPing", (1, 3), to=sid)
    server.emit("uptime", (1, 24, 1), to=sid)
    server.emit("maintenanceList", {}, to=sid)
    return {"ok": True, "token": "t"}


eventlet.wsgi.server(
    eventlet.listen(("127.0.0.1", int(sys.argv[1]))), socketio.WSGIApp(server), log_output=False
)
