import type { RunEvent } from "../run/run-event.ts";
import { duration, percent, whole } from "./text.ts";

/** Returns a sentence about the event; undefined for events that only update the screen. */
export function sentenceOf(event: RunEvent): string | undefined {
  switch (event.type) {
    case "started":
      return `${agents(event.agents)} started after ${duration(event.tookMs)}`;
    case "limit": {
      const what = `${whole(event.rpm)} requests and ${whole(event.tpm)} tokens a minute`;
      return event.part < 1
        ? `the provider cuts the limit to ${percent(event.part)}: ${what}`
        : `the provider allows the whole limit again: ${what}`;
    }
    case "crashed":
      return event.isPlanned ? `${event.agentId} crashes` : `${event.agentId} ended by itself`;
    case "joined":
      return event.agentIds.length === 1
        ? `${event.agentIds[0]} joins`
        : `${agents(event.agentIds.length)} join: ${event.agentIds[0]} to ${event.agentIds.at(-1)}`;
    case "bus":
    case "trouble":
      return event.sentence;
    case "together":
      return `${all(event.agents)} know each other, ${duration(event.afterMs)} after they did not`;
    case "reduced": {
      const who = event.agents === event.of ? all(event.of) : `${event.agents} of ${agents(event.of)}`;
      return `${event.by} got a 429 and told the others: ${who} cut back within ${duration(event.tookMs)}`;
    }
    case "recovered":
      return `${all(event.agents)} have their whole limit again, ${duration(event.afterMs)} after the cut`;
    case "overtime":
      return "the time is up; waiting until the swarm has recovered";
    case "progress":
      return undefined;
  }
}

const agents = (count: number): string => (count === 1 ? "1 agent" : `${count} agents`);
const all = (count: number): string => (count === 1 ? "the agent" : `all ${count} agents`);
