-- The capacity that is held for silent agents now. Their reported usage leaves the window meanwhile, and what they may go on
-- using takes its place.

local kept = zeros()
if s.silent > 0 then
  for key, bucket in pairs(buckets) do
    local ageMs = now - tonumber(key) * 1000
    local trusted, way = trust(ageMs - W), min(1, ageMs / W)
    for i = 1, D do
      local may = bucket.from[i] + (bucket.to[i] - bucket.from[i]) * way
      kept[i] = kept[i] + max(0, may * trusted - bucket.used[i] * (1 - way))
    end
    -- Nothing is held for this bucket any more.
    if trusted == 0 then
      buckets[key] = nil
      s.silent = s.silent - 1
      isSilenceNew = true
    end
  end
end
