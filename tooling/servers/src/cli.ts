// servers                      shows the source of each kind on this machine
// servers start redis nats     starts servers, prints their addresses, stops them on Ctrl-C

import { once } from "node:events";
import { survey } from "./availability.ts";
import { isServerKind, kinds, serverKinds } from "./kinds.ts";
import { type Server, startServer } from "./server.ts";

const [command, ...names] = process.argv.slice(2);
if (command === undefined) await show();
else if (command === "start") await start();
else fail(`unknown command ${JSON.stringify(command)}; the only command is "start"`);

async function show(): Promise<void> {
  for (const { kind, any, missing } of await Promise.all(kinds.map((kind) => survey(kind)))) {
    console.log(`${kind.padEnd(9)} ${any === undefined ? "-" : `${any.origin.padEnd(8)} ${any.detail}`}`);
    if (missing !== undefined) console.log(`${" ".repeat(10)}${missing}`);
  }
}

async function start(): Promise<void> {
  const unknown = names.find((name) => !isServerKind(name));
  if (unknown !== undefined) fail(`${JSON.stringify(unknown)} is not one of ${serverKinds.join(", ")}`);
  const interrupted = Promise.race([once(process, "SIGINT"), once(process, "SIGTERM")]);
  const wanted = names.length === 0 ? serverKinds : names.filter(isServerKind);
  const servers: Server[] = [];
  try {
    await Promise.all(wanted.map(async (kind) => servers.push(await startServer(kind))));
    for (const { kind, url, limits } of servers)
      console.log(`${kind.padEnd(6)} ${url}${limits ? `  (${limits})` : ""}`);
    console.log("Press Ctrl-C to stop them.");
    await interrupted;
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
  }
}

function fail(message: string): never {
  console.error(message);
  process.exit(2);
}
