/** An agent of the demo: what `hivepace demo` starts in threads and processes. */
import "@hivepace/swarm/agent";
