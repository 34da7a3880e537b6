-- The capacity of the quota now: the limits, less the safety margin if there are several agents, times the level.

local level, part = s.level, 1
if level then
  part = min(level.levelMax, level.levelAtCut * level.recoveryFactor ^ floor(max(0, now - level.cutAt) / level.recoveryIntervalMs))
end
local capacity = {}
for i = 1, D do
  local limit = s.limits[i]
  local spared = s.members > 1 and floor(limit * r.headroom) or 0
  capacity[i] = max((limit - spared) * part, limit * r.least)
end
