import asyncio, os
import httpx
from blacksheep import Application, get, json

app = Application()
BACK = "http://127.0.0.1:" + os.environ["BACK_PORT"]
client = httpx.AsyncClient(base_url=BACK)

@get("/")
async def home():
    return "ok"

@get("/product")
async def product():
    item = (await client.get("/item/5")).json()
    price = (await client.get("/price/5")).json()
    review = (await client.get("/review/5")).json()
    return json([item, price, review])

@get("/item")
async def item():
    return json((await client.get("/item/5")).json())
