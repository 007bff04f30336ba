import type { Models } from './agent/models.ts';
import type { Config } from './config.ts';
import type { Db } from './db/db.ts';
import type { Definition } from './detections/definition.ts';
import type { FieldError } from './lib/errors.ts';
import type { Metrics } from './http/metrics.ts';
import type { Clock } from './lib/clock.ts';
import type { Logger } from './lib/logger.ts';
import type { OrgId } from './lib/org-id.ts';
import type { Secretbox } from './lib/secretbox.ts';
import type { Extractor } from './ingest/extract/extractor.ts';
import type { Parser } from './ingest/parser.ts';
import type { LogEngine } from './logs/engine/engine.ts';
import type { Authenticate } from './orgs/authenticate.ts';
import type { ClockGuard } from './schedule/clock-guard.ts';
import type { ConnectionFor } from './connections/connect.ts';
import type { ConnectionRef } from './connections/store.ts';
import type { McpTools } from './tools/mcp.ts';
import type { FeedTools } from './tools/sources.ts';

/** Everything a use case may reach outside itself. Built once at start; tests build their own. */
export type Deps = {
  config: Config;
  db: Db;
  /** Slot time. */
  clock: Clock;
  log: Logger;
  auth: Authenticate;
  metrics: Metrics;
  /** Seals what is secret before it is stored. */
  secrets: Secretbox;
  /** Holds scheduling while slot time jumps. */
  clockGuard: ClockGuard;
  /** Asks the SIEM of a detection whether its query would run; throws a SiemError that says why not. */
  checkQuery?: (orgId: OrgId, ref: ConnectionRef, query: string) => Promise<void>;
  /** Runs a detection's tests against a definition of it; answers what is wrong, nothing where all pass. */
  checkTests?: (orgId: OrgId, detectionId: string, definition: Definition) => Promise<FieldError[]>;
  /** The embedded log engine: DuckDB in child processes. */
  engine: LogEngine;
  /** The SIEM that a detection asks. */
  connectionFor: ConnectionFor;
  /** Language models by alias; without, the built-in analyst judges everything. */
  models?: Models;
  /** Reads report texts in threads of their own. */
  extractor: Extractor;
  parser: Parser;
  feedTools?: (orgId: OrgId) => FeedTools;
  mcp?: McpTools;
  fetchAllow?: readonly string[];
};
