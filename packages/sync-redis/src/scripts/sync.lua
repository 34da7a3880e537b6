-- Stores the counts of one agent and returns the sums over all agents. Each key is one hash:
--
--   window                       number of the window that the hash is about
--   total                        "requests tokens agents" over all agents in that window
--   <agent id>/<incarnation>     "requests tokens sequence" of one agent
--
-- KEYS: first the keys with changed counts, then the keys that are only read.
--
-- ARGV
--   1     windowMs
--   2     number of the window of the counts, or "" when it is not known
--   3     field of the agent in each hash
--   4     sequence of the report
--   5     time to live of a key in milliseconds
--   6..   requests and tokens, for each key with changed counts
--
-- Reply: a list of texts, because Redis truncates a number to an integer.
--   1, 2  seconds and microseconds of the server's clock
--   3..   for each key "requests tokens agents", followed by " requests tokens sequence" of the agent if it has counts;
--         or "!" and an error message
--
-- Most of the time goes into parsing texts, so none is parsed twice.

local call, pcall, match, format = redis.call, redis.pcall, string.match, string.format
local COUNTS = '^(%d+) (%d+) (%d+)$'
local time = call('TIME')
local windowMs, field, last, ttlMs = tonumber(ARGV[1]), ARGV[3], ARGV[4], ARGV[5]
-- The sequence is also kept as text: Lua would print a large number with an exponent.
local sequence = tonumber(last)
local present = format('%.0f', math.floor((time[1] * 1000 + time[2] / 1000) / windowMs))
-- Counts of a window other than the present one are ignored; their keys are still read.
local changed = ARGV[2] == present and (#ARGV - 5) / 2 or 0
local answer = { time[1], time[2] }
for i = 1, #KEYS do
  local key = KEYS[i]
  -- A key that is not a hash fails alone and leaves the other keys unaffected.
  local seen = pcall('HMGET', key, 'window', 'total', field)
  if seen.err then
    answer[i + 2] = '!' .. seen.err
  else
    local total, own = seen[2], seen[3]
    local requests, tokens, agents, ownRequests, ownTokens, before
    if seen[1] == present and total then requests, tokens, agents = match(total, COUNTS) end
    if agents and own then
      ownRequests, ownTokens, before = match(own, COUNTS)
      if not before then agents = nil end
    end
    -- A hash of an earlier window, or one with fields of another form, starts again. Every agent whose part is missing reports
    -- it again.
    if not agents then total, own = '0 0 0', nil end
    -- A report that is not newer than the last one of this agent changes nothing.
    if i <= changed and (not before or sequence > tonumber(before)) then
      local newRequests, newTokens = ARGV[4 + 2 * i], ARGV[5 + 2 * i]
      own = newRequests .. ' ' .. newTokens .. ' ' .. last
      if before then
        total = format('%d %d %s', requests + newRequests - ownRequests, tokens + newTokens - ownTokens, agents)
      elseif agents then
        total = format('%d %d %d', requests + newRequests, tokens + newTokens, agents + 1)
      else
        total = newRequests .. ' ' .. newTokens .. ' 1'
        call('DEL', key)
        call('HSET', key, 'window', present)
      end
      call('HSET', key, 'total', total, field, own)
      -- The time to live is set with the first count of a window, and is longer than the window.
      if not agents then call('PEXPIRE', key, ttlMs) end
    end
    answer[i + 2] = own and total .. ' ' .. own or total
  end
end
return answer
