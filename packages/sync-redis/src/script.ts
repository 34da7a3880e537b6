import { createHash } from "node:crypto";
import type { Script } from "./exchange.ts";

/**
 * Leaves counts and reads sums. A key is one hash:
 *
 *     window                       the number of the window that it is about
 *     total                        requests, tokens and agents of all in that window
 *     <agent id>/<incarnation>     requests, tokens and sequence of one
 *
 * KEYS: first those that have changed, then those that are only read.
 * ARGV: windowMs, window ("" if not known), field, sequence, ttlMs; then requests and tokens of each that has changed.
 * Answers seconds and microseconds of the clock, and a line for each key: the total and, if there is one, the own part.
 *
 * Everything leaves as text: as a number a fraction would be cut off. A key that is no hash is told and spoils no other.
 * What does not look as it should is begun anew: whoever misses its part reports it again. The time to live is set with
 * the first count of a window, which it outlasts. Most of the time goes into taking texts apart: none is twice.
 */
const SCRIPT = `
local call, pcall, match, format = redis.call, redis.pcall, string.match, string.format
local COUNTS = '^(%d+) (%d+) (%d+)$'
local time = call('TIME')
local windowMs, field, last, ttlMs = tonumber(ARGV[1]), ARGV[3], ARGV[4], ARGV[5]
local sequence = tonumber(last)
local present = format('%.0f', math.floor((time[1] * 1000 + time[2] / 1000) / windowMs))
local changed = ARGV[2] == present and (#ARGV - 5) / 2 or 0
local answer = { time[1], time[2] }
for i = 1, #KEYS do
  local key = KEYS[i]
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
    if not agents then total, own = '0 0 0', nil end
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
      if not agents then call('PEXPIRE', key, ttlMs) end
    end
    answer[i + 2] = own and total .. ' ' .. own or total
  end
end
return answer
`;

export const syncScript: Script = { text: SCRIPT, sha: createHash("sha1").update(SCRIPT).digest("hex") };

/** Redis up to 7.0 says that a command was not allowed, and only on which line of the script. */
export function withCommand(message: string, script = syncScript): string {
  if (!message.includes("can't run this command")) return message;
  const lines = script.text.split("\n");
  const number = /user_script:(\d+)/.exec(message)?.[1];
  // What is called in a way that catches its errors has no line.
  const line = number === undefined ? lines.find((one) => one.includes("pcall('")) : lines[Number(number) - 1];
  const command = /call\('(\w+)'/.exec(line ?? "")?.[1];
  return command === undefined ? message : `no right to ${command}: ${message}`;
}
