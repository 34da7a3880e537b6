/** The wire format of a level that was just halved, with some fields replaced. */
export const levelSaid = (change: object = {}) => ({
  epoch: 1,
  round: 0,
  base: 0.5,
  recovery_factor: 1.1,
  recovery_interval_ms: 30_000,
  most: 1,
  cut_age_ms: 0,
  pause_age_ms: 0,
  pause_ms: 0,
  origin: "x",
  reason: "said so",
  ...change,
});
