import { ALIBABA } from "./alibaba.ts";
import { ANTHROPIC } from "./anthropic.ts";
import { AWS } from "./aws.ts";
import { BAIDU } from "./baidu.ts";
import { BYTEDANCE } from "./bytedance.ts";
import { CLOUDFLARE } from "./cloudflare.ts";
import { DATABRICKS } from "./databricks.ts";
import { GATEWAYS } from "./gateways.ts";
import { GENERAL } from "./general.ts";
import { GOOGLE } from "./google.ts";
import { HOSTS } from "./hosts.ts";
import { IBM } from "./ibm.ts";
import { LENGTHS } from "./lengths.ts";
import { MICROSOFT } from "./microsoft.ts";
import { MINIMAX } from "./minimax.ts";
import { MOONSHOT } from "./moonshot.ts";
import { OPENAI } from "./openai.ts";
import type { RefusalFamily } from "./rule.ts";
import { ZAI } from "./zai.ts";

/** All families. A new provider is a new file and a line here. */
export const FAMILIES: readonly RefusalFamily[] = [
  GENERAL,
  LENGTHS,
  ANTHROPIC,
  OPENAI,
  MICROSOFT,
  GOOGLE,
  AWS,
  MOONSHOT,
  ZAI,
  MINIMAX,
  ALIBABA,
  BAIDU,
  BYTEDANCE,
  DATABRICKS,
  CLOUDFLARE,
  GATEWAYS,
  HOSTS,
  IBM,
];
