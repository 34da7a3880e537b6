export interface Tally {
  accepted: number;
  refused: number;
}

/** Agents that call the provider one request after the other, each as fast as `before` lets it, until time is up. */
export async function runSwarm(options: {
  url: string;
  agents: number;
  durationMs: number;
  before: (signal: AbortSignal) => Promise<void>;
}): Promise<Tally> {
  const tally = { accepted: 0, refused: 0 };
  const timeUp = AbortSignal.timeout(options.durationMs);
  const agent = async (): Promise<void> => {
    while (!timeUp.aborted) {
      try {
        await options.before(timeUp);
      } catch (error) {
        if (timeUp.aborted) return;
        throw error;
      }
      const { status } = await fetch(options.url);
      if (status === 429) tally.refused++;
      else tally.accepted++;
    }
  };
  await Promise.all(Array.from({ length: options.agents }, agent));
  return tally;
}
