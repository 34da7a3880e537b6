import { createHash } from "node:crypto";

/**
 * Leaves counts and reads sums. A key is one hash:
 *
 *     window                       the number of the window that it is about
 *     total                        requests, tokens and agents of all in that window
 *     <agent id>/<incarnation>     requests, tokens and sequence of one
 *
 * KEYS: first those that have changed, then those that are only read.
 * ARGV: windowMs, window ("" if not known), field, sequence, ttlMs; then requests and tokens of each that has changed.
 * Answers seconds and microseconds of the clock, and a line for each key: the sum and, if there is one, the own part.
 *
 * Everything leaves as text: as a number a fraction would be cut off. A key that is no hash is told and spoils no other.
 * What does not look as it should is begun anew: whoever misses its part reports it again.
 */
export const SCRIPT = `
local time = redis.call('TIME')
local windowMs, sequence = tonumber(ARGV[1]), tonumber(ARGV[4])
local present = string.format('%.0f', math.floor((time[1] * 1000 + time[2] / 1000) / windowMs))
local changed = ARGV[2] == present and (#ARGV - 5) / 2 or 0
local answer = { time[1], time[2] }
for i, key in ipairs(KEYS) do
  local seen = redis.pcall('HMGET', key, 'window', 'total', ARGV[3])
  if seen.err then
    answer[i + 2] = '!' .. seen.err
  else
    local requests, tokens, agents, ownRequests, ownTokens, last
    if seen[1] == present and seen[2] then requests, tokens, agents = string.match(seen[2], '^(%d+) (%d+) (%d+)$') end
    if agents and seen[3] then
      ownRequests, ownTokens, last = string.match(seen[3], '^(%d+) (%d+) (%d+)$')
      if not last then agents = nil end
    end
    local isThere = agents ~= nil
    if not isThere then requests, tokens, agents = '0', '0', '0' end
    if i <= changed and (not last or sequence > tonumber(last)) then
      if not isThere then redis.call('DEL', key) end
      local newRequests, newTokens = ARGV[4 + 2 * i], ARGV[5 + 2 * i]
      requests = string.format('%.0f', requests + newRequests - (ownRequests or 0))
      tokens = string.format('%.0f', tokens + newTokens - (ownTokens or 0))
      if not last then agents = string.format('%.0f', agents + 1) end
      ownRequests, ownTokens, last = newRequests, newTokens, ARGV[4]
      redis.call('HSET', key, 'window', present, 'total', requests .. ' ' .. tokens .. ' ' .. agents,
        ARGV[3], ownRequests .. ' ' .. ownTokens .. ' ' .. last)
      redis.call('PEXPIRE', key, ARGV[5])
    end
    local line = requests .. ' ' .. tokens .. ' ' .. agents
    if last then line = line .. ' ' .. ownRequests .. ' ' .. ownTokens end
    answer[i + 2] = line
  end
end
return answer
`;

export const SCRIPT_SHA = createHash("sha1").update(SCRIPT).digest("hex");
