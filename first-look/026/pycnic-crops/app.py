"""Dashboard of an underground farm: readings of its sensors, with the weather outside."""
import http.client
import json
import os
import threading

from pycnic.core import Handler, WSGI
from pycnic.errors import HTTP_404
from sqlalchemy import create_engine, text
from sqlalchemy.orm import sessionmaker

engine = create_engine(
    "mysql+pymysql://crops:crops@127.0.0.1:%s/crops" % os.environ["DB_PORT"],
    pool_size=int(os.environ["SQL_POOL_SIZE"]), max_overflow=int(os.environ["SQL_MAX_OVERFLOW"]),
)
Session = sessionmaker(bind=engine)
local = threading.local()


def weather(zone):
    """Asks the weather service, over the connection that this thread keeps."""
    if getattr(local, "weather", None) is None:
        local.weather = http.client.HTTPConnection("127.0.0.1", int(os.environ["WEATHER_PORT"]), timeout=5)
    local.weather.request("GET", "/forecast?zone=%d" % zone)
    return json.loads(local.weather.getresponse().read())


class Dashboard(Handler):
    def get(self, sensor):
        session = Session()
        try:
            row = session.execute(
                text("SELECT id, name, zone FROM sensors WHERE id = :id"), {"id": int(sensor)}).first()
            if row is None:
                raise HTTP_404("no such sensor")
            readings = session.execute(
                text("SELECT at, temperature, humidity FROM readings WHERE sensor_id = :id ORDER BY at DESC LIMIT 48"),
                {"id": row.id}).all()
            outside = weather(row.zone)
            return {
                "sensor": row.name,
                "outside": outside["temperature"],
                "inside": sum(r.temperature for r in readings) / len(readings),
                "readings": [[r.at, r.temperature, r.humidity] for r in readings],
            }
        finally:
            session.close()


class Sensor(Handler):
    def get(self, sensor):
        session = Session()
        try:
            row = session.execute(
                text("SELECT id, name, zone FROM sensors WHERE id = :id"), {"id": int(sensor)}).first()
            if row is None:
                raise HTTP_404("no such sensor")
            return {"id": row.id, "name": row.name, "zone": row.zone}
        finally:
            session.close()


class Health(Handler):
    def get(self):
        session = Session()
        try:
            return {"sensors": session.execute(text("SELECT COUNT(*) FROM readings")).scalar()}
        finally:
            session.close()


class app(WSGI):
    routes = [
        (r"/sensors/(\d+)/dashboard", Dashboard()),
        (r"/sensors/(\d+)", Sensor()),
        (r"/health", Health()),
    ]
