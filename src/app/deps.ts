import type { Models } from '../platform/models/models.ts';
import type { Config } from '../config.ts';
import type { Db } from '../platform/db/db.ts';
import type { Definition } from '../detection/detections/record/definition.ts';
import type { FieldError } from '../platform/lib/errors.ts';
import type { Metrics } from '../platform/http/metrics.ts';
import type { Clock } from '../platform/lib/clock.ts';
import type { Logger } from '../platform/lib/logger.ts';
import type { OrgId } from '../platform/lib/org-id.ts';
import type { Secretbox } from '../platform/lib/secretbox.ts';
import type { Extractor } from '../feed/extraction/extractor.ts';
import type { Parser } from '../feed/sources/pull/parser.ts';
import type { LogEngine } from '../detection/logs/engine/engine.ts';
import type { Authenticate } from '../platform/orgs/authenticate.ts';
import type { ClockGuard } from '../detection/scheduling/clock-guard.ts';
import type { ConnectionFor } from '../detection/connections/connect.ts';
import type { ConnectionRef } from '../detection/connections/connections.store.ts';
import type { McpTools } from '../platform/mcp/mcp-tools.ts';
import type { FeedTools } from '../detection/tools/tool-sources.ts';

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
