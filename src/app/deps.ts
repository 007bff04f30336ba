import type { UsageCounter } from './usage/usage-counter.ts';
import type { Models } from '../platform/models/models.ts';
import type { RunFeedStep } from './feed-steps.ts';
import type { Config } from '../config.ts';
import type { Db } from '../platform/db/db.ts';
import type { Definition } from '../detection/detections/record/detection-record.ts';
import type { FieldError } from '../platform/lib/errors.ts';
import type { DeliveryCounter } from '../platform/notifications/deliver.ts';
import type { Metrics } from './metrics.ts';
import type { DiskGuard } from '../platform/lib/storage/disk-guard.ts';
import type { Clock } from '../platform/lib/time/clock.ts';
import type { Enrich } from '../platform/enrichment/enrich.ts';
import type { Logger } from '../platform/lib/logging/logger.ts';
import type { OrgId } from '../platform/lib/org-id.ts';
import type { Secretbox } from '../platform/lib/secretbox.ts';
import type { Extractor } from '../feed/ingestion/extractor.ts';
import type { PageCache } from '../platform/http/responses/cached-pages.ts';
import type { FeedPages, SnapshotCache } from '../feed/items/snapshot/snapshot.ts';
import type { CountPublicWords } from '../feed/items/search/correct-search.ts';
import type { PageStarts } from '../feed/items/list-query/page-starts.ts';
import type { RecordPull, RunPull } from '../feed/sources/pull/start-pulls.ts';
import type { RunSourceTest } from '../feed/sources/test-source.ts';
import type { QueryShapes } from '../detection/log-query/search/run-together.ts';
import type { CatalogCache } from '../detection/log-store/catalog/catalog.store.ts';
import type { SegmentStore } from '../detection/log-store/files/segment-store.ts';
import type { RecordReceipt } from '../detection/log-ingest/receive-logs.ts';
import type { LogQuotaGuard } from '../detection/log-ingest/receive-logs.ts';
import type { BodyReader } from '../detection/shippers/body-reader.ts';
import type { ImportSigma } from '../detection/detections/bulk/bulk.schema.ts';
import type { RuleConverter } from '../detection/sigma/convert/convert-request.ts';
import type { LogEngine } from '../detection/log-engine/process/engine.ts';
import type { SessionAuthenticator } from '../platform/orgs/sessions/session-authenticator.ts';
import type { KeyAuthenticator } from '../platform/orgs/authenticate.ts';
import type { RunMetrics } from '../detection/runs/workers/run-metrics.ts';
import type { ClockGuard } from '../detection/scheduling/clock-guard.ts';
import type { ConnectionFor } from '../detection/connections/open-connection.ts';
import type { ConnectionSelector, QueryCheck } from '../detection/siem/connector.ts';
import type { McpTools } from '../platform/mcp/mcp-tools.ts';
import type { FeedTools } from '../detection/tools/tool-definition.ts';

/**
 * Every effect and shared object of one process: configuration, database, clock, log, engines, caches and counters. `buildDeps` creates
 * it once at start, and tests create their own. Only app, cli and demo see the whole type. A use case declares the members it needs.
 */
export type Deps = {
  config: Config;
  db: Db;
  clock: Clock;
  log: Logger;
  auth: KeyAuthenticator;
  sessions: SessionAuthenticator;
  /** The Prometheus registry and the HTTP histogram. */
  metrics: Metrics;
  runMetrics: RunMetrics;
  deliveryCounter: DeliveryCounter;
  secrets: Secretbox;
  /** Pauses scheduling while slot time jumps. */
  clockGuard: ClockGuard;
  /** Stops ingestion before the disk is full. */
  diskGuard: DiskGuard;
  /** Checks a detection's query against its SIEM. Throws a SiemError if the query would not run. */
  checkQuery?: (orgId: OrgId, selector: ConnectionSelector, query: string) => Promise<QueryCheck | void>;
  /** Runs a detection's tests against a new definition. Returns one error per failed test. */
  checkTests?: (orgId: OrgId, detectionId: string, definition: Definition) => Promise<FieldError[]>;
  /** Looks up what enrichers know of addresses. */
  enrich: Enrich;
  /** The embedded log engine (DuckDB in child processes). */
  engine: LogEngine;
  /** The files of the embedded log store, in a folder or a bucket. */
  segmentStore: SegmentStore;
  logCatalogs: CatalogCache;
  queryShapes: QueryShapes;
  /** Reads the bodies of sent events, in worker threads. */
  bodyReader: BodyReader;
  /** Refuses the logs of organizations that have used up a quota. */
  logQuotas: LogQuotaGuard;
  /** Converts Sigma rules, in a worker thread. */
  ruleConverter: RuleConverter;
  importSigma: ImportSigma;
  connectionFor: ConnectionFor;
  /** Language models by alias. Without models, the built-in analyst gives every verdict. */
  models?: Models;
  /** Extracts indicators and techniques from report texts, in worker threads. */
  extractor: Extractor;
  /** Pulls feed sources, in worker threads. */
  runPull: RunPull;
  /** Tests feed sources, in worker threads. */
  runSourceTest: RunSourceTest;
  /** Runs the steps of the feed's loops that compute for long, in a worker thread. */
  runFeedStep: RunFeedStep;
  recordPull: RecordPull;
  recordReceipt: RecordReceipt;
  /** Counts what organizations use by day. */
  usage: UsageCounter;
  snapshots: SnapshotCache;
  feedPages: FeedPages;
  /** Whole lists of detections. */
  detectionLists: PageCache;
  pageStarts: PageStarts;
  countPublicWords: CountPublicWords;
  /** The feed lookups that detection tools may use. */
  feedTools?: (orgId: OrgId) => FeedTools;
  mcp?: McpTools;
  /** Private hosts, addresses and CIDRs that outbound requests may reach (TOCSIN_FETCH_ALLOW). */
  fetchAllow?: readonly string[];
};
