-- The arguments, the time, and the constants that `AllocationLedger` of `@hivepace/core/testing` uses under the same names.

local call, pack, unpack, format = redis.call, cmsgpack.pack, cmsgpack.unpack, string.format
local floor, max, min = math.floor, math.max, math.min
local main, agents, line, due = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
-- The report of one agent about one quota.
local r = cjson.decode(ARGV[1])
-- TIME is always read: the reply carries the clock of the server even when a test passes its own time.
local time = call('TIME')
local now = ARGV[2] ~= '' and tonumber(ARGV[2]) or time[1] * 1000 + time[2] / 1000
-- LEARN: heartbeats for which a store that knows too little grants nothing. SLOTS: slots of the usage window.
-- BINS: bins in which an agent reports its last window. SLACK: tolerance for sums of fractions.
-- MOST_SWEPT, MOST_SERVED: bounds on the work of one call, because Redis answers nobody else meanwhile.
local LEARN, SLOTS, BINS, SLACK, MOST_SWEPT, MOST_SERVED = 2.5, 240, 12, 1e-6, 64, 256
-- CONTENDED: heartbeats of waiting after which grants are paced. PACE: that pace, in capacities per window.
-- DEBT: bound on how far one grant moves the virtual time of an agent, in fair shares.
-- FORGET_LIMITS: heartbeats after which a limit that nobody repeats may rise again.
-- BACK_MS: a clock that went back further than this means another server, and the state is dropped.
local CONTENDED, PACE, DEBT, FORGET_LIMITS, BACK_MS = 2, 1.1, 2, 5.5, 5000
-- Dimensions of the quota, its window and the heartbeat of the reporting agent.
local D, W, H = #r.limits, r.windowMs, r.heartbeatMs
local forgetMs = 2 * W + 60000
