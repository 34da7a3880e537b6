// A program that starts a server, prints its process id and port, and never stops it.
import { startOwnServer } from "../../src/index.ts";

const { pid, port } = await startOwnServer("redis");
console.log(JSON.stringify({ pid, port }));
