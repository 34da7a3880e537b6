import type { startServer as StartServer } from "@hivepace/servers";
import { tsImport } from "tsx/esm/api";

/** The helper is TypeScript and stays it: it starts files that stand beside it. */
export const startServer: typeof StartServer = async (kind) => {
  const servers = (await tsImport("@hivepace/servers", import.meta.url)) as { startServer: typeof StartServer };
  return servers.startServer(kind);
};
