-- Where can I pick up an article? Apache mod_lua, redis for the articles, the
-- shops' stock service over HTTP with LuaSocket. One Lua state per thread.
local socket = require "socket"
local redis = require "redis"

local db          -- kept for the life of this thread's Lua state
local stock       -- a kept connection to the stock service

local function database()
  if not db then
    db = redis.connect("127.0.0.1", tonumber(os.getenv("REDIS_PORT")))
  end
  return db
end

-- one GET over the kept connection; returns the numbers of the answer
local function ask(path)
  for try = 1, 2 do
    if not stock then
      stock = assert(socket.connect("127.0.0.1", tonumber(os.getenv("STOCK_PORT"))))
      stock:setoption("tcp-nodelay", true)
      stock:settimeout(5)
    end
    local ok = stock:send("GET " .. path .. " HTTP/1.1\r\nHost: stock\r\n\r\n")
    local line = ok and stock:receive("*l")
    if line then
      local length = 0
      while true do
        local h = stock:receive("*l")
        if h == "" then break end
        length = tonumber(h:lower():match("^content%-length: *(%d+)")) or length
      end
      local numbers = {}
      for n in stock:receive(length):gmatch("%d+") do numbers[#numbers + 1] = tonumber(n) end
      return numbers
    end
    stock:close()
    stock = nil
  end
  error("the stock service does not answer")
end

function article(r)
  local id = r.uri:match("(%d+)$")
  local a = database():hgetall("article:" .. id)
  r.content_type = "application/json"
  r:puts(string.format('{"id":%s,"name":"%s","cents":%s}', id, a.name, a.cents))
  return apache2.OK
end

function pickup(r)
  local id = r.uri:match("(%d+)$")
  local shops = database():lrange("shops:" .. id, 0, -1)
  local found = {}
  if os.getenv("STOCK_CALLS") == "batch" then
    local counts = ask("/stock/" .. id .. "?shops=" .. table.concat(shops, ","))
    for i, shop in ipairs(shops) do found[i] = shop .. ":" .. counts[i] end
  else
    for i, shop in ipairs(shops) do
      found[i] = shop .. ":" .. ask("/stock/" .. id .. "/" .. shop)[1]
    end
  end
  r.content_type = "text/plain"
  r:puts(table.concat(found, " "))
  return apache2.OK
end

function health(r)
  r.content_type = "text/plain"
  r:puts(database():ping() and "ok" or "no")
  return apache2.OK
end
