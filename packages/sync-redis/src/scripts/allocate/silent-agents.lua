-- Capacity held for agents that stopped reporting without a goodbye: they may go on using their fair share alone.
-- Agents that fell silent in the same second share one bucket, so that the cost does not grow with the swarm.

local buckets = s.silent > 0 and unpack(call('HGET', main, 'b')) or {}
local isSilenceNew = false
-- Adds an agent to the bucket of its last report (factor 1), or takes it out (factor -1). The held amount moves from
-- `from` (usage and grant at that time) to `to` (the fair share) within one window.
local function silence(row, factor)
  local key = format('%.0f', floor(row.at / 1000))
  local bucket = buckets[key]
  if not bucket then
    if factor < 0 then return end
    bucket = { used = zeros(), from = zeros(), to = zeros() }
    buckets[key] = bucket
    s.silent = s.silent + 1
  end
  add(bucket.used, row.used, factor)
  add(bucket.from, row.used, factor)
  add(bucket.from, hold(row), factor)
  add(bucket.to, row.fair, factor)
  isSilenceNew = true
end
-- Fraction that is still held `ms` after the window of silence: all of it, then halved every 5 s, then nothing.
local function trust(ms)
  if ms <= 25000 then return 1 end
  return ms >= 35000 and 0 or 0.5 ^ ((ms - 25000) / 5000)
end
