// Run as a program of its own: starts a server, says where, and never stops it.
import { startOwnServer } from "../../src/index.ts";

const { pid, port } = await startOwnServer("redis");
console.log(JSON.stringify({ pid, port }));
