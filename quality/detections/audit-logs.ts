import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type LibraryEntry, loadLibrary } from '../../src/detection/library/load-library.ts';
import { createEngine, type LogEngine } from '../../src/detection/log-engine/process/engine.ts';
import { openFixtureStore } from '../../src/detection/log-query/search/fixture-store.ts';
import { createFileStore } from '../../src/detection/log-store/files/file-store.ts';
import type { QualityFigure } from '../figures.ts';
import { readRecordedRows } from '../recorded-inputs.ts';

type RuleTest = { name: string; expected: boolean; event: Record<string, unknown> };
type Rule = { ruleId: string; severity: string; analysisType: string; logTypes: string[] | null; tests: RuleTest[] };
type Alarm = { id: string; severity: string };

/** The log types of the rules, by the dataset that the library's detections read. */
const datasetByLogType: Record<string, string> = {
  'Okta.SystemLog': 'okta',
  'Azure.Audit': 'entra',
  'GSuite.ActivityEvent': 'google_workspace',
  'GitHub.Audit': 'github',
  'Microsoft365.Audit.SharePoint': 'm365',
  'Microsoft365.Audit.AzureActiveDirectory': 'm365',
  'Slack.AuditLogs': 'slack',
  'Amazon.EKS.Audit': 'kubernetes',
};
/** Rules of these logs for several products have names of their own theme. */
const isOfTheme = ({ ruleId, logTypes }: Rule, dataset: string): boolean =>
  dataset === 'kubernetes' ? ruleId.startsWith('Kubernetes.') : logTypes?.length === 1;

const window = { from: new Date(0), to: new Date('2100-01-01'), clock: 'event' } as const;
const limits = { rowsMax: 1000, groupsMax: 1000, timeoutMs: 10_000 };
const organization = '00000000-0000-7000-8000-000000000000';

/**
 * Measures the shipped detections of audit logs on the sample events of other rule authors, each event on its own: which events that their
 * rule must match cause a row, and which that it must not match cause one above severity low. Detections of counts, baselines, sequences and first
 * occurrences cannot be decided by one event.
 */
export async function measureAuditLogs(verbose: boolean): Promise<QualityFigure[]> {
  const rules = readRecordedRows<Rule>('detections/panther/rules.ndjson.gz');
  const dataDir = mkdtempSync(join(tmpdir(), 'tocsin-audit-logs-'));
  const engine = createEngine({ directoryOf: createFileStore(dataDir).folderOf });
  try {
    const figures: QualityFigure[] = [];
    for (const dataset of new Set(Object.values(datasetByLogType)))
      figures.push(...(await measureDataset({ engine, dataDir, rules, verbose }, dataset)));
    return figures;
  } finally {
    await engine.close();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

async function measureDataset(
  { engine, dataDir, rules, verbose }: { engine: LogEngine; dataDir: string; rules: Rule[]; verbose: boolean },
  dataset: string,
): Promise<QualityFigure[]> {
  const entries = [...loadLibrary().values()].filter(({ datasets }) => dataset in datasets);
  const counts = { positives: 0, found: 0, serious: 0, seriousFound: 0, negatives: 0, alarms: 0 };
  for (const rule of rules) {
    const isOfDataset = rule.logTypes?.some((type) => datasetByLogType[type] === dataset);
    if (!isOfDataset || rule.analysisType !== 'rule' || !isOfTheme(rule, dataset)) continue;
    const isSerious = ['Medium', 'High', 'Critical'].includes(rule.severity);
    for (const { name, expected, event } of rule.tests) {
      const alarms = await findAlarms({ engine, dataDir }, { entries, dataset, event });
      const isAlarm = alarms.some(({ severity }) => severity !== 'low');
      if (expected) {
        counts.positives += 1;
        counts.found += alarms.length > 0 ? 1 : 0;
        counts.serious += isSerious ? 1 : 0;
        counts.seriousFound += isSerious && alarms.length > 0 ? 1 : 0;
      } else {
        counts.negatives += 1;
        counts.alarms += isAlarm ? 1 : 0;
      }
      if (verbose && (expected ? alarms.length === 0 : isAlarm))
        console.log(
          `${expected ? 'missed' : 'alarm'} | ${rule.ruleId} (${rule.severity}) | ${name} | ${alarms.map(({ id, severity }) => `${id} ${severity}`).join(', ')}`,
        );
    }
  }
  return [
    {
      name: `${dataset}: expected matches with a row, of ${entries.length} detections`,
      measured: `${counts.found} of ${counts.positives}`,
    },
    {
      name: `${dataset}: the same for rules of severity medium and above`,
      measured: `${counts.seriousFound} of ${counts.serious}`,
    },
    {
      name: `${dataset}: expected non-matches with a row above low`,
      measured: `${counts.alarms} of ${counts.negatives}`,
    },
  ];
}

async function findAlarms(
  { engine, dataDir }: { engine: LogEngine; dataDir: string },
  { entries, dataset, event }: { entries: LibraryEntry[]; dataset: string; event: Record<string, unknown> },
): Promise<Alarm[]> {
  const events = Object.fromEntries([dataset, 'cloudtrail'].map((name) => [name, name === dataset ? [event] : []]));
  const fields = new Map();
  const store = await openFixtureStore(
    { engine, segmentStore: createFileStore(dataDir), organization },
    { events, fields, undatedMicros: Date.UTC(2026, 0, 1) * 1000 },
  );
  try {
    const alarms: Alarm[] = [];
    for (const { id, body, severity } of entries) {
      const { rows } = await store.search(body.detectionQuery, window, limits, AbortSignal.timeout(limits.timeoutMs));
      // A baseline has rows for quiet entities, and a first occurrence is no finding without a history.
      if (body.detectionCategory === 'baseline_anomaly' || body.detectionCategory === 'sequence_pattern') continue;
      if (rows.length > 0)
        alarms.push({
          id,
          severity: body.detectionCategory === 'first_occurrence' ? 'low' : String(rows[0]!['severity'] ?? severity),
        });
    }
    return alarms;
  } finally {
    await store.close();
  }
}
