/** The agent of the demo: the program that `hivepace demo` starts in threads and processes. */
import "@hivepace/swarm/agent";
