-- The limits in force are the smallest that any agent has named within FORGET_LIMITS heartbeats.

local isOld, isLess, isSame = now - s.limitsAt > FORGET_LIMITS * H, false, true
for i = 1, D do if r.limits[i] < s.limits[i] then isLess = true end end
if isOld then s.limits = copy(r.limits) end
for i = 1, D do
  s.limits[i] = min(s.limits[i], r.limits[i])
  if r.limits[i] ~= s.limits[i] then isSame = false end
end
if isOld or isLess or isSame then s.limitsAt = now end
