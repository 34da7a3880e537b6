-- The usage of the last window, in slots of the window. All usage in a slot expires together: up to one slot late,
-- never early. `s.sum` is the sum over all slots, so that no call has to read them.

local slotMs = W / SLOTS
local function field(slot) return format('u%.0f', slot) end
-- Counts `factor * list` at time `at`, unless that has left the window already.
local function use(at, list, factor)
  local isZero = true
  for i = 1, D do if list[i] ~= 0 then isZero = false end end
  local slot = floor(at / slotMs)
  if isZero or (slot + 1) * slotMs + W <= now then return end
  local known = call('HGET', main, field(slot))
  if known then known = unpack(known) else
    known = zeros()
    s.first = s.slots == 0 and slot or min(s.first, slot)
    s.slots = s.slots + 1
  end
  add(known, list, factor)
  add(s.sum, list, factor)
  call('HSET', main, field(slot), pack(known))
end
-- Counts at most `most` of the usage that an agent reports in bins, youngest bin first. Each bin is counted at the latest
-- time that it covers.
local function spread(most, bins)
  local left = copy(most)
  for b = 1, #bins do
    local part = {}
    for i = 1, D do part[i] = max(0, min(left[i], bins[b][i])) end
    use(now - ((b - 1) * W) / BINS, part, 1)
    add(left, part, -1)
  end
end
-- The usage of the window in bins, the youngest first, each by the last moment of its slots.
local function binnedUsage()
  local bins = {}
  for b = 1, BINS do bins[b] = zeros() end
  for slot = s.first, s.slots > 0 and floor(now / slotMs) or s.first - 1 do
    local known = call('HGET', main, field(slot))
    if known then
      local bin = floor((now - (slot + 1) * slotMs) * BINS / W)
      add(bins[min(BINS, max(1, bin + 1))], unpack(known), 1)
    end
  end
  for b = 1, BINS do bins[b] = nums(bins[b]) end
  return table.concat(bins, ',')
end
-- Expires the slots that have left the window.
while s.slots > 0 and (s.first + 1) * slotMs + W <= now do
  local gone = call('HGET', main, field(s.first))
  if gone then
    add(s.sum, unpack(gone), -1)
    call('HDEL', main, field(s.first))
    s.slots = s.slots - 1
  end
  s.first = s.first + 1
end
-- An empty window has an exact sum: this drops accumulated rounding errors.
if s.slots == 0 then s.sum = zeros() end
