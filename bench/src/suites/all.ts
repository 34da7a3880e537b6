import type { Suite } from "../suite.ts";
import { acquire } from "./acquire.ts";
import { acquireMany } from "./acquire-many.ts";
import { badDays } from "./bad-days.ts";
import { bus } from "./bus.ts";
import { endpoints } from "./endpoints.ts";
import { hear } from "./hear.ts";
import { manyEndpoints } from "./many-endpoints.ts";
import { members } from "./members.ts";
import { memory } from "./memory.ts";
import { observed } from "./observed.ts";
import { rateCheck, rateShared } from "./rate-check.ts";
import { rateMemory } from "./rate-memory.ts";
import { rateThreads } from "./rate-threads.ts";
import { reservations } from "./reservations.ts";
import { route } from "./route.ts";
import { settle } from "./settle.ts";
import { sharedLimit } from "./shared-limit.ts";
import { size } from "./size.ts";
import { slots } from "./slots.ts";
import { swarm } from "./swarm.ts";
import { swarmDecision } from "./swarm-decision.ts";
import { sync } from "./sync.ts";
import { syncBeside } from "./sync-beside.ts";
import { tasks } from "./tasks.ts";
import { tryAcquire } from "./try-acquire.ts";
import { waiters } from "./waiters.ts";

/** Every suite, in the order of the report. To add one, create a file in this folder and add a line here. */
export const allSuites: readonly Suite[] = [
  tryAcquire,
  acquire,
  acquireMany,
  rateCheck,
  rateShared,
  rateThreads,
  bus,
  sync,
  syncBeside,
  route,
  swarm,
  swarmDecision,
  hear,
  members,
  waiters,
  manyEndpoints,
  settle,
  endpoints,
  observed,
  sharedLimit,
  slots,
  reservations,
  badDays,
  tasks,
  memory,
  rateMemory,
  size,
];
