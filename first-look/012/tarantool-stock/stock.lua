-- stock of a wholesaler in Tarantool, with a small HTTP/1.1 front of its own (fibers of the one transaction thread)
local socket, json, fiber, clock = require('socket'), require('json'), require('fiber'), require('clock')
box.cfg{ wal_mode = 'none', work_dir = os.getenv('WORK_DIR'), memtx_memory = 128 * 1024 * 1024, log_level = 3 }

box.once('schema', function()
    local s = box.schema.space.create('lots', { format = { { 'id', 'unsigned' }, { 'article', 'unsigned' },
        { 'depot', 'unsigned' }, { 'pieces', 'unsigned' }, { 'price', 'unsigned' } } })
    s:create_index('pk', { parts = { 'id' } })
    s:create_index('article', { parts = { 'article' }, unique = false })
    s:create_index('depot', { parts = { 'depot' }, unique = false })
end)
local lots = box.space.lots
local LOTS, ARTICLES, DEPOTS = 60000, 3000, 400
for i = 1, LOTS do
    lots:replace{ i, i * 7 % ARTICLES, i * 13 % DEPOTS, i % 90, 100 + i % 4000 }
end

local pages = {}

function pages.health() return { ok = true } end

function pages.article(n)
    local sum, places = 0, {}
    for _, t in lots.index.article:pairs(n % ARTICLES) do
        sum = sum + t.pieces
        places[#places + 1] = { t.depot, t.pieces }
    end
    return { article = n % ARTICLES, pieces = sum, places = places }
end

-- what the goods of one depot are worth
function pages.valuation(n)
    local depot, worth, count = n % DEPOTS, 0, 0
    local began = clock.monotonic()
    if os.getenv('VALUATION') == 'index' then
        for _, t in lots.index.depot:pairs(depot) do
            worth, count = worth + t.pieces * t.price, count + 1
        end
    else
        for _, t in lots:pairs() do
            if t.depot == depot then worth, count = worth + t.pieces * t.price, count + 1 end
        end
    end
    if os.getenv('TIMES') then io.stderr:write(string.format('valuation %d ms\n', (clock.monotonic() - began) * 1000)) end
    return { depot = depot, worth = worth, lots = count }
end

local function serve(s)
    s:nonblock(true)
    s:setsockopt('SOL_TCP', 'TCP_NODELAY', true)
    while true do
        local head = s:read('\r\n\r\n')
        if head == nil or head == '' then return end
        local name, n = head:match('^%u+ /(%a+)/?(%d*)')
        local page = pages[name]
        local body = json.encode(page and page(tonumber(n) or 0) or { error = 'not found' })
        s:write(string.format('HTTP/1.1 %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s',
            page and '200 OK' or '404 Not Found', #body, body))
    end
end

socket.tcp_server('127.0.0.1', tonumber(os.getenv('PORT')), serve)
