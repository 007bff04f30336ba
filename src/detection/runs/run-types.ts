import type { Spent } from '../../platform/models/budgets.ts';
import type { JudgingFigures } from '../verdicts/model/model-score.ts';
import type { Models } from '../../platform/models/models.ts';
import type { Verdict } from '../verdicts/verdict.ts';
import type { AnalysisDefinition } from '../analysis/analysis-definition.ts';
import type { MemoryScope } from '../analysis/memory/memory.ts';
import type { ConnectionFor } from '../connections/connect.ts';
import type { Db } from '../../platform/db/db.ts';
import type { Definition } from '../detections/record/definition.ts';
import type { Clock } from '../../platform/lib/clock.ts';
import type { Logger } from '../../platform/lib/logger.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import type { Claim } from '../scheduling/claim-runs.store.ts';
import type { SiemConnection, SiemFailure } from '../siem/connector.ts';
import type { McpTools } from '../../platform/mcp/mcp-tools.ts';
import type { FeedTools } from '../tools/tool-sources.ts';

/** What executing runs reaches outside itself. `clock` is slot time. */
export type RunDeps = {
  db: Db;
  clock: Clock;
  log: Logger;
  connectionFor: ConnectionFor;
  /** Without: the built-in analyst judges everything. */
  models?: Models;
  feedTools?: (orgId: OrgId) => FeedTools;
  mcp?: McpTools;
  /** Private hosts that http_get may reach. */
  fetchAllow?: readonly string[];
  /** How long one run may fill memory from the past, in milliseconds; 60,000 where absent. */
  fillMsMax?: number;
  /** Told of each run that ends. */
  observe?: (run: Run) => void;
};

export const runTriggers = ['schedule', 'manual', 'backfill'] as const;
export type RunTrigger = (typeof runTriggers)[number];
export type RunFailure = SiemFailure;
export type RunWarning = { code: string; detail: string };

/** An examined window, and what the score asks of it. `enoughPast`: how many candidates had a firm past; `candidateRows`: rows behind them. */
export type ExaminedWindow = {
  from: string;
  to: string;
  rowsTotal: number;
  truncated: boolean;
  candidates: number;
  enoughPast: number;
  candidateRows: number;
  entities: number;
  namedShare: number;
};

/** What a run has done so far, over all its attempts; stored with each step. `phases` in milliseconds. */
export type Progress = {
  windows: ExaminedWindow[];
  entities: Verdict[];
  warnings: RunWarning[];
  phases: { name: string; ms: number }[];
  judging: JudgingFigures;
  suppressed: Suppressed;
};

/** Candidates that nobody was asked about: since the same was judged a short while ago, by an exception, while snoozed. */
export type Suppressed = { known: number; exceptions: number; snoozed: number };

export const noneSuppressed: Suppressed = { known: 0, exceptions: 0, snoozed: 0 };

/** A run that this worker holds, with the definition that it pinned at its first claim. */
export type Run = {
  claim: Claim;
  orgId: OrgId;
  id: string;
  detectionId: string;
  trigger: RunTrigger;
  slotAt: Date | null;
  startedAt: Date;
  windowFrom: Date | null;
  windowTo: Date | null;
  clock: 'ingest' | 'event';
  connection: SiemConnection;
  definition: Definition;
  analysis: AnalysisDefinition;
  scope: MemoryScope;
  model: string;
  /** Of whoever asked for this run. */
  customInstructions: string | null;
  /** On its model, over all its attempts. */
  spent: Spent;
  /** Up to its latest step, over all its attempts. */
  elapsedMs: number;
  progress: Progress;
};

const warningsMax = 20;

/** Notes a warning once. */
export function warn(progress: Progress, code: string, detail: string): void {
  if (progress.warnings.length >= warningsMax || progress.warnings.some((warning) => warning.code === code)) return;
  progress.warnings.push({ code, detail });
}

/** Runs a step and adds its time to the run's phase of that name. */
export async function timed<T>(progress: Progress, name: string, step: () => Promise<T>): Promise<T> {
  const begun = performance.now();
  try {
    return await step();
  } finally {
    const ms = Math.round((performance.now() - begun) * 10) / 10;
    const phase = progress.phases.find((one) => one.name === name);
    if (phase) phase.ms = Math.round((phase.ms + ms) * 10) / 10;
    else progress.phases.push({ name, ms });
  }
}

/** Rows of all windows, and whether any was cut. */
export function totalsOf({ windows }: Progress): {
  rowsTotal: number;
  truncated: boolean;
  from: Date | null;
  to: Date | null;
} {
  const froms = windows.map((window) => Date.parse(window.from));
  const tos = windows.map((window) => Date.parse(window.to));
  return {
    rowsTotal: windows.reduce((sum, window) => sum + window.rowsTotal, 0),
    truncated: windows.some((window) => window.truncated),
    from: windows.length > 0 ? new Date(Math.min(...froms)) : null,
    to: windows.length > 0 ? new Date(Math.max(...tos)) : null,
  };
}
