import asyncio, os, time
from quart import Quart

app = Quart(__name__)
PRINT_S = float(os.environ.get("PRINT_S", "0.2"))

def print_invoice():
    time.sleep(PRINT_S)          # the printing service answers after that
    return "invoice"

def read_label():
    with open("/etc/hostname") as f:
        return f.read()

@app.get("/")
async def home():
    return "ok"

@app.get("/label")
async def label():
    return await asyncio.get_running_loop().run_in_executor(None, read_label)

@app.get("/invoice")
async def invoice():
    return await asyncio.get_running_loop().run_in_executor(None, print_invoice)
