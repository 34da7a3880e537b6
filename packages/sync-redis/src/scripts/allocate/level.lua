-- The level in force is the latest: by epoch, lower levelAtCut, pauseCount, longer pause, and tie. Of two equal levels the earlier cut
-- and pause count.

local l = r.level
if l and l ~= cjson.null then
  -- Ages travel and times are stored: clocks of agents are never compared.
  l.cutAt, l.pausedAt, l.cutAgoMs, l.pausedAgoMs = now - l.cutAgoMs, now - l.pausedAgoMs, nil, nil
  local k = s.level
  local order = 1
  if k then
    order = l.epoch - k.epoch
    if order == 0 then order = k.levelAtCut - l.levelAtCut end
    if order == 0 then order = l.pauseCount - k.pauseCount end
    if order == 0 then order = l.pauseMs - k.pauseMs end
    if order == 0 and l.tie ~= k.tie then order = tonumber(l.tie, 16) - tonumber(k.tie, 16) end
  end
  if order > 0 then s.level = l
  elseif order == 0 then k.cutAt, k.pausedAt = min(k.cutAt, l.cutAt), min(k.pausedAt, l.pausedAt) end
end
