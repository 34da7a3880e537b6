/** The address of a server that the parent process has started. */
export function addressOf(variable: "REDIS_URL" | "NATS_URL"): string {
  const address = process.env[variable];
  if (!address) throw new Error(`${variable} is not set: it must hold the address of a running server`);
  return address;
}
