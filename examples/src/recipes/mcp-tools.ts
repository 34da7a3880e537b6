/**
 * MCP: a tool that calls a rate-limited API. Models call tools in bursts; the hive delays them, or the tool answers in
 * time.
 */
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { CapacityExhaustedError, createHive } from "hivepace";
import { z } from "zod";

const hive = await createHive({ endpoints: [{ id: "search", rpmLimit: 2 }] });

const server = new McpServer({ name: "search", version: "1.0.0" });
server.registerTool(
  "search",
  { description: "Searches the web.", inputSchema: { query: z.string() } },
  async ({ query }, { signal }) => {
    try {
      using _lease = await hive.acquire({ endpoint: "search", signal, timeoutMs: 0 }); // 30_000 in production
      return { content: [{ type: "text", text: `results for ${query}` }] }; // the call of the API
    } catch (error) {
      if (!(error instanceof CapacityExhaustedError)) throw error;
      // The model reads this and continues without the tool, or tries again later.
      return { isError: true, content: [{ type: "text", text: "Rate limit reached. Try again in a minute." }] };
    }
  },
);

const client = new Client({ name: "agent", version: "1.0.0" });
const [ours, theirs] = InMemoryTransport.createLinkedPair();
await Promise.all([server.connect(ours), client.connect(theirs)]);
for (const query of ["bees", "hives", "honey"]) {
  const { content } = await client.callTool({ name: "search", arguments: { query } });
  console.log((content as { text: string }[])[0]?.text);
}
await client.close();
await hive.close();

/* Output:
results for bees
results for hives
Rate limit reached. Try again in a minute.
*/
