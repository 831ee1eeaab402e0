-- Orders: lua-http on cqueues. server.lua PORT [PRICE_PORT]
local http_server = require "http.server"
local http_headers = require "http.headers"
local http_client = require "http.client"
local cjson = require "cjson"
local port, price_port = tonumber(arg[1]), tonumber(arg[2])

-- most orders have one or two lines, one in twelve is a company's order of sixteen
local function lines_of(order)
  local n = math.floor(order * 2654435761 % 4294967296 / 65536) % 12
  if n == 5 then return 16 end
  return 1 + n % 2
end

-- connections to the price service that no order is using
local idle = {}

local function price(connection, article)
  local ask = http_headers.new()
  ask:append(":method", "GET")
  ask:append(":authority", "127.0.0.1")
  ask:append(":path", "/article/" .. article)
  ask:append(":scheme", "http")
  local stream = assert(connection:new_stream())
  assert(stream:write_headers(ask, true, 5))
  assert(stream:get_headers(5))
  return cjson.decode(assert(stream:get_body_as_string(5))).cents
end

local function order_page(order)
  local total, lines = 0, {}
  local connection = table.remove(idle) or assert(http_client.connect { host = "127.0.0.1", port = price_port, tls = false })
  for i = 1, lines_of(order) do
    local article = order * 31 % 5000 + i
    local cents = price(connection, article)
    total = total + cents
    lines[i] = { article = article, cents = cents }
  end
  idle[#idle + 1] = connection
  return "application/json", cjson.encode { order = order, lines = lines, total = total }
end

local function word(n) return ("%08x"):format(n * 2654435761 % 4294967296) end

local function list_page(page)
  local rows = {}
  for i = 1, 300 do
    local n = page * 300 + i
    rows[i] = { id = n, customer = word(n), city = word(n % 90):upper(), cents = n * 7919 % 100000 }
  end
  table.sort(rows, function(a, b) return a.cents < b.cents end)
  local out = {}
  for i, r in ipairs(rows) do
    out[i] = ("<tr><td>%d</td><td>%s</td><td>%s</td><td>%.2f</td></tr>"):format(r.id, (r.customer:gsub("%d+", "<b>%0</b>")), r.city, r.cents / 100)
  end
  return "text/html", "<table>\n" .. table.concat(out, "\n") .. "\n</table>\n"
end

local function reply(_, stream)
  local path = stream:get_headers():get(":path")
  local status, kind, body = "404", "text/plain", "not found\n"
  local what, n = path:match("^/(%a+)/(%d+)$")
  if what == "order" then status, kind, body = "200", order_page(tonumber(n))
  elseif what == "list" then status, kind, body = "200", list_page(tonumber(n))
  elseif path == "/" then status, body = "200", "orders\n" end
  local head = http_headers.new()
  head:append(":status", status)
  head:append("content-type", kind)
  head:append("content-length", tostring(#body))
  stream:write_headers(head, false)
  stream:write_chunk(body, true)
end

local server = assert(http_server.listen {
  host = "127.0.0.1", port = port, tls = false, onstream = reply,
  onerror = function(_, _, op, err) if os.getenv "DEBUG" then io.stderr:write(op, " ", tostring(err), "\n") end end,
})
assert(server:listen())
assert(server:loop())
