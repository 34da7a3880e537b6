-- Fills in the reply, and the fair share that it tells the agent. The fair shares of all agents together are at most the
-- capacity: an isolated agent may use its own without coordination.

if isNews then row.told = copy(row.allowed) end
local used, held, fair = usedNow(), hold(row), {}
local ownPart = s.weights > 0 and row.weight / s.weights or 0
for i = 1, D do
  local own = row.used[i] + held[i]
  fair[i] = own * (used[i] > capacity[i] and capacity[i] / used[i] or 1) + max(0, capacity[i] - used[i]) * ownPart
end
if not journal and isNews and row.state == 'live' then row.fair = fair end
-- A roll-call counts agents and switches the swarm to the store above one number of agents, and back below another.
local crowd = r.crowd
if crowd and crowd ~= cjson.null then
  if isLearning then s.isStore = s.isStore or crowd.isStore
  else s.isStore = s.members > (s.isStore and crowd.below - 1 or crowd.above) end
end
answer[4], answer[5], answer[6], answer[7] = num(s.stamp), isLearning and '1' or '0', num(s.members), num(s.weights)
answer[8] = s.isStore and '1' or '0'
answer[9], answer[10], answer[11] = nums(s.limits), nums(capacity), nums(used)
answer[12], answer[13] = nums(allowed), nums(fair)
answer[14] = journal and journal.isAsking and binnedUsage() or ''
if level then
  local parts = { level.epoch, level.levelAtCut, level.pauseCount, level.pauseMs, level.recoveryFactor, level.recoveryIntervalMs,
    level.levelMax, now - level.cutAt, now - level.pausedAt }
  for i = 1, #parts do parts[i] = num(parts[i]) end
  answer[15], answer[16] = table.concat(parts, ' '), level.tie
  answer[17], answer[18] = level.origin, level.reason
end
