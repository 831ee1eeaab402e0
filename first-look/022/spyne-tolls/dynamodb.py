"""Stand-in for DynamoDB: GetItem on one table with provisioned read capacity, as the service meters it.

dynamodb.py PORT READ_CAPACITY

A token bucket is filled with READ_CAPACITY units a second. GetItem takes one unit and is answered with
ProvisionedThroughputExceededException while the bucket is empty. The billing export of the same account
scans the table in pages of 1 MB; each page takes its 60 units at once and may overdraw the bucket.
"""
import asyncio
import json
import os
import sys
import time
import zlib

port, capacity = int(sys.argv[1]), float(sys.argv[2])
EXPORT_PAGE_UNITS = 60
EXPORT_EVERY = 0.7
COUNTS = os.environ.get("DYNAMODB_COUNTS")

ACCOUNTS = {
    "%s-%d" % (district, number): {
        "plate": {"S": "%s-%d" % (district, number)},
        "owner": {"S": "Haulage %d" % (number % 97)},
        "credit": {"N": str(1000 + number * 7 % 5000)},
        "axles": {"N": str(2 + number % 4)},
    }
    for district in ("HH", "B", "M", "K")
    for number in range(100, 200)
}


class Bucket:
    def __init__(self):
        self.limit = capacity * 0.2
        self.units = self.limit
        self.at = time.monotonic()
        self.served = self.throttled = 0

    def fill(self):
        now = time.monotonic()
        self.units = min(self.limit, self.units + (now - self.at) * capacity)
        self.at = now

    def take(self, units):
        self.fill()
        if self.units < units:
            self.throttled += 1
            return False
        self.units -= units
        self.served += 1
        return True

    def overdraw(self, units):
        self.fill()
        self.units -= units


bucket = Bucket()


def call(operation, body):
    if operation == "GetItem":
        if not bucket.take(1):
            return 400, {
                "__type": "com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException",
                "message": "The level of configured provisioned throughput for the table was exceeded. "
                           "Consider increasing your provisioning level with the UpdateTable API.",
            }
        item = ACCOUNTS.get(body["Key"]["plate"]["S"])
        return 200, {"Item": item} if item else {}
    return 400, {"__type": "com.amazon.coral.service#UnknownOperationException", "message": operation}


async def client(reader, writer):
    number = 0
    try:
        while True:
            if not await reader.readline():
                break
            length, operation = 0, ""
            while True:
                header = (await reader.readline()).strip()
                if not header:
                    break
                name, _, value = header.decode("latin1").partition(":")
                if name.lower() == "content-length":
                    length = int(value)
                elif name.lower() == "x-amz-target":
                    operation = value.strip().rpartition(".")[2]
            body = json.loads(await reader.readexactly(length) or b"{}")
            status, answer = call(operation, body)
            data = json.dumps(answer).encode()
            number += 1
            writer.write((
                "HTTP/1.1 %d %s\r\nServer: Server\r\nContent-Type: application/x-amz-json-1.0\r\n"
                "x-amzn-RequestId: %016X\r\nx-amz-crc32: %d\r\nContent-Length: %d\r\n\r\n"
                % (status, "OK" if status == 200 else "Bad Request", number, zlib.crc32(data), len(data))).encode() + data)
            await writer.drain()
    except (ConnectionError, asyncio.IncompleteReadError):
        pass
    finally:
        writer.close()


async def export():
    while True:
        await asyncio.sleep(EXPORT_EVERY)
        bucket.overdraw(EXPORT_PAGE_UNITS)
        if COUNTS:
            with open(COUNTS, "a") as f:
                f.write("%.3f served=%d throttled=%d units=%.0f\n" % (time.time(), bucket.served, bucket.throttled, bucket.units))


async def main():
    server = await asyncio.start_server(client, "127.0.0.1", port)
    task = asyncio.create_task(export())
    async with server:
        await server.serve_forever()
    del task


asyncio.run(main())
