#!/usr/bin/env node
import { runAsProcess } from "../command/process-world.ts";
import { runCommand } from "../command/run-command.ts";

void runAsProcess(runCommand);
