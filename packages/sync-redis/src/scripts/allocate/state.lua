-- Loads the state of the quota, or creates it, and decides whether the store knows enough to grant.
-- A store is learning when it has no state, when an agent has seen a later stamp (the store lost writes), or when no agent
-- has reported for LEARN heartbeats. While it learns, it only collects what the agents report.

local packed = call('HGET', main, 's')
local s = packed and unpack(packed)
-- The clock went back by more than drift explains: the state belongs to another server or another time.
if s and now < s.at - BACK_MS then
  call('DEL', main, agents, line, due)
  s = nil
end
if not s then
  -- cmsgpack keeps every finite number exactly. No infinity is stored: -1e15 stands for "never".
  s = { stamp = 0, at = 0, expectBy = 0, learnUntil = 0, limits = r.limits, limitsAt = -1e15, held = zeros(), members = 0,
    weights = 0, virtualTime = 0, orders = 0, ahead = zeros(), aheadAt = 0, isStore = false, sum = zeros(), first = 0, slots = 0,
    silent = 0, ttlAt = 0 }
end
-- Small steps back are absorbed: time in the state never decreases.
now = max(now, s.at)
if (now > s.expectBy or r.stamp > s.stamp) and now >= s.learnUntil then s.learnUntil = now + LEARN * H end
s.stamp = max(s.stamp, r.stamp) + 1
s.at = now
s.expectBy = max(s.expectBy, now + LEARN * r.nextMs)
local isLearning = now < s.learnUntil
