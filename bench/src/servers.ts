import type { startProvider as StartProvider } from "@hivepace/provider";
import type { startServer as StartServer } from "@hivepace/servers";
import { tsImport } from "tsx/esm/api";

/** Imported as TypeScript at run time: the package starts files next to its source, and is not published. */
export const startServer: typeof StartServer = async (kind) => {
  const servers = (await tsImport("@hivepace/servers", import.meta.url)) as { startServer: typeof StartServer };
  return servers.startServer(kind);
};

export const startProvider: typeof StartProvider = async (options) => {
  const provider = (await tsImport("@hivepace/provider", import.meta.url)) as { startProvider: typeof StartProvider };
  return provider.startProvider(options);
};
