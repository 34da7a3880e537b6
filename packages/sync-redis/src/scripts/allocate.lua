-- Grants a limit to the agents of a swarm, piece by piece: one call for each report of an agent about one quota.
-- It computes the same as `AllocationLedger` of `@hivepace/core/testing`, which is the reference; a test compares the two.
--
-- KEYS (all in one slot of a Redis Cluster)
--   1  <quota>          hash: `s` the packed state, `b` the packed buckets of silent agents, `u<n>` usage in slot n
--   2  <quota>:agents   hash: one packed row for each agent, by its id
--   3  <quota>:line     sorted set: waiting agents by virtual time; a member is a 16-digit number, a colon and the agent's id
--   4  <quota>:due      sorted set: agent ids by the time at which an agent becomes silent, and later is forgotten
--
-- ARGV
--   1  the report as JSON: the head of a `AllocationRequest` and one `QuotaRequest`
--   2  the time in milliseconds, or "" for the server's clock (tests pass a time)
--
-- Reply: a list of texts, read by `allocation-reply.ts`. A list of amounts is joined by spaces.
--   1, 2    seconds and microseconds of the server's clock
--   3       error, or ""; when there is an error, nothing follows
--   4..8    stamp, is learning (1 or 0), number of agents, sum of their weights, store mode (1 or 0)
--   9..13   limits, capacity, used, allowed, fair
--   14      usage in bins for a journal that asks, or "": the bins are joined by commas
--   15..18  the level (epoch, levelAtCut, pauseCount, pauseMs, recoveryFactor, recoveryIntervalMs, levelMax, cutAgoMs, pausedAgoMs), its
--           tie, origin and reason; absent when there is no level
--
-- A file that is included shares the locals of this one.

-- @include allocate/arguments.lua
-- @include allocate/amounts.lua
-- @include allocate/state.lua
-- @include allocate/usage-window.lua
-- @include allocate/agents.lua
-- @include allocate/silent-agents.lua
-- @include allocate/queue.lua
-- @include allocate/sweep.lua
-- @include allocate/incarnation.lua

-- A journal counts usage and is granted nothing.
local journal = r.journal ~= cjson.null and r.journal or nil
if isNews and not failure then
  -- @include allocate/report.lua
  -- @include allocate/limits.lua
  -- @include allocate/level.lua
end

local answer = { time[1], time[2], failure or '' }
if not failure then
  -- @include allocate/capacity.lua
  -- @include allocate/held-for-silent.lua

  -- Everything that counts against the capacity: usage in the window, unused grants, and what is held for silent agents.
  local function usedNow()
    local list = {}
    for i = 1, D do list[i] = s.sum[i] + s.held[i] + kept[i] end
    return list
  end
  -- Nobody is served while the store learns, so waiting through that time is not contention.
  if isLearning and s.lineSince then s.lineSince = now end
  local allowed = row.allowed
  local isPaused = level and now < level.pausedAt + level.pauseMs
  if not journal and not isLearning and isNews and row.state == 'live' and not isPaused then
    -- The capacity that is available for grants.
    local room, used = {}, usedNow()
    for i = 1, D do room[i] = capacity[i] - used[i] end
    -- @include allocate/grant.lua
    -- @include allocate/lend.lua
  end
  -- @include allocate/reply.lua
end

-- @include allocate/save.lua
