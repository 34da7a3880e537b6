-- Arithmetic on lists of D amounts, one amount for each dimension of the quota.

-- Seventeen digits represent every double exactly. The reply is text because Redis truncates numbers to integers.
local function num(x) return format('%.17g', x) end
local function nums(list)
  local out = {}
  for i = 1, D do out[i] = num(list[i]) end
  return table.concat(out, ' ')
end
local function zeros()
  local list = {}
  for i = 1, D do list[i] = 0 end
  return list
end
local function copy(list)
  local out = {}
  for i = 1, D do out[i] = list[i] end
  return out
end
-- Adds `factor * list` to `sum` in place.
local function add(sum, list, factor)
  for i = 1, D do sum[i] = sum[i] + factor * list[i] end
end
local function fits(list, room)
  for i = 1, D do if list[i] > room[i] + SLACK then return false end end
  return true
end
local function isNothing(list)
  for i = 1, D do if list[i] > SLACK then return false end end
  return true
end
-- The largest fraction that `list` takes of any limit.
local function sizeOf(list, limits)
  local most = 0
  for i = 1, D do most = max(most, list[i] / limits[i]) end
  return most
end
