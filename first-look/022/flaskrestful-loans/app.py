"""Circulation desk of a library: scanners report each copy that passes the gate."""
import os
import time
from contextlib import contextmanager

from flask import Flask
from flask_restful import Api, Resource, abort, fields, marshal_with, reqparse
from mysql.connector.pooling import MySQLConnectionPool

pool = MySQLConnectionPool(
    pool_name="library", pool_size=20, pool_reset_session=False, use_pure=True,
    host="127.0.0.1", port=int(os.environ["DB_PORT"]), user="library", password="library",
    database="library", charset="utf8mb4", collation="utf8mb4_general_ci", autocommit=False,
)
TRACE = os.environ.get("LOANS_TRACE")


def trace(what, seconds):
    if TRACE:
        with open(TRACE, "a") as f:
            f.write("%.3f %s %.1f\n" % (time.time(), what, seconds * 1000))


@contextmanager
def transaction():
    connection = pool.get_connection()
    try:
        yield connection
        begin = time.perf_counter()
        connection.commit()
        trace("commit", time.perf_counter() - begin)
    except BaseException:
        connection.rollback()
        raise
    finally:
        connection.close()


COPY = {
    "id": fields.Integer, "title": fields.String, "shelf": fields.String,
    "due": fields.String, "loans": fields.Integer,
}
SCAN = {"copy": fields.Integer, "result": fields.String, "due": fields.String}

scan_arguments = reqparse.RequestParser(bundle_errors=True)
scan_arguments.add_argument("kind", choices=("gate", "inventory", "return", "loan"), required=True, location="json")
scan_arguments.add_argument("reader", type=int, required=True, location="json")


def find(cursor, copy_id):
    cursor.execute("SELECT id, title, shelf, due, loans FROM copies WHERE id = %s", (copy_id,))
    row = cursor.fetchone()
    if row is None:
        abort(404, message="no such copy")
    return row


class Copy(Resource):
    @marshal_with(COPY)
    def get(self, copy_id):
        with transaction() as connection:
            cursor = connection.cursor(dictionary=True)
            row = find(cursor, copy_id)
            cursor.close()
        return row


class Scan(Resource):
    @marshal_with(SCAN)
    def post(self, copy_id):
        arguments = scan_arguments.parse_args()
        begin = time.perf_counter()
        with transaction() as connection:
            cursor = connection.cursor(dictionary=True)
            row = find(cursor, copy_id)
            result = "seen"
            if arguments["kind"] == "loan":
                cursor.execute(
                    "INSERT INTO loans (copy_id, reader, at) VALUES (%s, %s, NOW())", (copy_id, arguments["reader"]))
                cursor.execute(
                    "UPDATE copies SET due = CURDATE() + INTERVAL 21 DAY, loans = loans + 1 WHERE id = %s", (copy_id,))
                result = "lent"
            cursor.close()
        trace("scan-" + arguments["kind"], time.perf_counter() - begin)
        return {"copy": copy_id, "result": result, "due": row["due"]}, 201 if result == "lent" else 200


class Health(Resource):
    def get(self):
        with transaction() as connection:
            cursor = connection.cursor()
            cursor.execute("SELECT COUNT(*) FROM copies")
            (n,) = cursor.fetchone()
            cursor.close()
        return {"copies": n}


app = Flask(__name__)
api = Api(app)
api.add_resource(Copy, "/copies/<int:copy_id>")
api.add_resource(Scan, "/copies/<int:copy_id>/scans")
api.add_resource(Health, "/health")
