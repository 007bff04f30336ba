import { hash } from 'node:crypto';
import { resolveConnection } from '../../detection/connections/connections.store.ts';
import type { ConnectionFor } from '../../detection/connections/open-connection.ts';
import type { RenderedRow } from '../../detection/analysis/candidate.ts';
import { commonEntityFields } from '../../detection/analysis/rows/entity-fields.ts';
import { isAbsent, parseNumber } from '../../detection/analysis/rows/fields.ts';
import { renderRow } from '../../detection/analysis/rows/render-row.ts';
import { isTimeField } from '../../detection/analysis/rows/row-times.ts';
import { SiemError, selectsLogStore, type QueryRow, type SiemConnection } from '../../detection/siem/connector.ts';
import type { SiemKind } from '../../detection/siem/connectors/registry.ts';
import { indicatorTypes, isIndicatorType } from '../../feed/model/values/indicator-types.ts';
import { readParts } from '../../feed/model/values/indicator-forms.ts';
import { findTechnique } from '../../feed/reference-data/attack.ts';
import { inOrg, type Db } from '../../platform/db/db.ts';
import { fieldError } from '../../platform/lib/errors.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { buildSweepQuery, runSweepQueries, toSearchTerms } from '../sightings/run-queries.ts';
import {
  fieldsToSweep,
  isPlainValue,
  toTarget,
  toTargetBatches,
  type SweepTarget,
} from '../sightings/sweep-targets.ts';
import type { HuntInput, HuntRun } from './hunts.schema.ts';
import type { NewFinding } from './hunt-runs.store.ts';
import { listTechniqueQueries } from './hunts.store.ts';

export type AskDeps = { db: Db; connectionFor: ConnectionFor };

/** The question of a run as it was. */
export type AskedQuestion = Pick<HuntInput, 'kind' | 'question' | 'connectionId'>;

export type Question = AskedQuestion & { orgId: OrgId; from: Date; to: Date; signal: AbortSignal };

/** What a question found. `isComplete` is false if a limit was reached or a query failed. */
export type Answer = {
  findings: NewFinding[];
  queries: HuntRun['queries'];
  queriesSent: number;
  warnings: string[];
  isComplete: boolean;
};

export const findingsMax = 1_000;
const queriesMax = 300;
const datasetsMax = 50;
const linesMax = 1_000;
const detectionsMax = 100;
const limits = { rowsMax: findingsMax, groupsMax: findingsMax, timeoutMs: 120_000 };
const window = ({ from, to }: Question) => ({ from, to, clock: 'event' as const });

/** Asks a question about the logs. Throws a SiemError if its only query, or the connection, fails. */
export async function askQuestion(deps: AskDeps, question: Question): Promise<Answer> {
  const answer: Answer = { findings: [], queries: [], queriesSent: 0, warnings: [], isComplete: true };
  const collect = createCollector(answer, question);
  if (question.kind === 'indicators') await askIndicators(deps, question, collect);
  else if (question.kind === 'technique') await askTechnique(deps, question, collect);
  else await askSql(deps, question, collect);
  return answer;
}

type Found = { query: string; dataset: string | null; rows: readonly { row: QueryRow; detail: string | null }[] };
type Source = { detectionId?: string; entityField?: string | null; timeField?: string | null; isTruncated?: boolean };

/** Collects what queries return. A row that several of them return is one finding. */
type Collector = {
  answer: Answer;
  /** Returns false if no further query may be sent. */
  mayAsk: () => boolean;
  add: (found: Found, source: Source) => void;
};

function createCollector(answer: Answer, question: Question): Collector {
  const seen = new Set<string>();
  const cut = (warning: string): void => {
    answer.isComplete = false;
    if (!answer.warnings.includes(warning)) answer.warnings.push(warning);
  };
  return {
    answer,
    mayAsk: () => {
      if (answer.queriesSent < queriesMax && answer.findings.length < findingsMax) {
        answer.queriesSent += 1;
        return true;
      }
      cut(`A run sends at most ${queriesMax} queries and has at most ${findingsMax} findings.`);
      return false;
    },
    add: (
      { query, dataset, rows },
      { detectionId = null, entityField = null, timeField = null, isTruncated = false },
    ) => {
      const before = answer.findings.length;
      for (const { row, detail } of rows) {
        const rendered = renderRow(
          row,
          { ...window(question), aggregate: false },
          { ...plainDefinition, entityField, timeField },
        );
        const key = toFindingKey(row, rendered, { dataset, connectionId: question.connectionId, detectionId });
        if (seen.has(key)) continue;
        if (answer.findings.length >= findingsMax) {
          cut(`The question has more than ${findingsMax} findings. Ask for less, or a shorter span.`);
          break;
        }
        seen.add(key);
        const { rowId, time, fields } = rendered;
        const at = time === null ? null : new Date(time);
        const entity = findEntity(fields, entityField);
        const queryIndex = answer.queries.length;
        answer.findings.push({ key, at, dataset, rowId, entity, detail, fields: JSON.stringify(fields), queryIndex });
      }
      const findings = answer.findings.length - before;
      if (findings > 0) answer.queries.push({ query, detectionId, findings });
      if (isTruncated) cut(`A query returned more than ${findingsMax} rows.`);
    },
  };
}

/** What rendering a row needs of a detection. */
export const plainDefinition = { category: 'custom', query: '', connectionId: null, cadence: null, slotMs: 0 };

type Origin = { dataset: string | null; connectionId: string | null; detectionId: string | null };

/**
 * Returns what a row has in common with the same row of another run: its dataset and ID, or, for a group, its values without counts and times, which
 * change with the span.
 */
function toFindingKey(
  row: QueryRow,
  { rowId, fields }: RenderedRow,
  { dataset, connectionId, detectionId }: Origin,
): string {
  if (typeof row['_id'] === 'string')
    return hash('sha256', JSON.stringify([connectionId, dataset, rowId])).slice(0, 32);
  const stable = Object.entries(fields).filter(
    ([field, value]) => !isTimeField(field, value) && parseNumber(value) === undefined,
  );
  const values = stable.length > 0 ? stable : Object.entries(fields);
  return hash('sha256', JSON.stringify([connectionId, detectionId, dataset, values.toSorted()])).slice(0, 32);
}

function findEntity(fields: Record<string, string>, entityField: string | null): string | null {
  const names = [...(entityField === null ? [] : [entityField]), ...commonEntityFields];
  const name = names.find((one) => Object.hasOwn(fields, one) && !isAbsent(fields[one]!));
  return name === undefined ? null : fields[name]!;
}

async function askSql({ connectionFor }: AskDeps, question: Question, collector: Collector): Promise<void> {
  const { orgId, connectionId, question: query, signal } = question;
  const connection = await connectionFor(orgId, { connectionId, siemType: null });
  if (collector.mayAsk()) await searchRows(connection, question, { query, collector, source: {} }, signal);
}

type Search = { query: string; collector: Collector; source: Source; detail?: string };

async function searchRows(
  connection: SiemConnection,
  question: Question,
  { query, collector, source, detail }: Search,
  signal: AbortSignal,
): Promise<void> {
  const { rows, truncated, warnings = [] } = await connection.search(query, window(question), limits, signal);
  const dataset = (await connection.sourcesOf?.(query, signal))?.datasets.join(', ') || null;
  collector.add(
    { query, dataset, rows: rows.map((row) => ({ row, detail: detail ?? null })) },
    { ...source, isTruncated: truncated },
  );
  collector.answer.warnings.push(...warnings.map((warning) => warning.detail));
}

async function askIndicators({ db, connectionFor }: AskDeps, question: Question, collector: Collector): Promise<void> {
  const { orgId, connectionId, signal } = question;
  const selector = { connectionId, siemType: null };
  const connection = await connectionFor(orgId, selector);
  const remote = selectsLogStore(orgId, selector)
    ? undefined
    : await inOrg(db, orgId, (tx) => resolveConnection(tx, orgId, selector));
  const kind: SiemKind = remote?.kind ?? 'local';
  const datasets = (await connection.fields(signal)).flatMap((one) => fieldsToSweep(one) ?? []);
  if (datasets.length > datasetsMax) {
    collector.answer.isComplete = false;
    collector.answer.warnings.push(
      `Only the first ${datasetsMax} of ${datasets.length} datasets with indicators were searched.`,
    );
  }
  for (const dataset of datasets.slice(0, datasetsMax))
    for (const batch of toTargetBatches(readIndicators(question.question))) {
      const query = buildSweepQuery(kind, dataset, toSearchTerms(batch));
      if (query === undefined) continue;
      if (!collector.mayAsk()) return;
      const request = {
        kind,
        datasets: [dataset],
        window: window(question),
        batches: [batch],
        targets: batch,
        queriesMax: 3,
        signal,
      };
      const { sightings, queries, error } = await runSweepQueries(connection, request);
      collector.answer.queriesSent += queries - 1;
      if (error !== null) {
        collector.answer.isComplete = false;
        collector.answer.warnings.push(error);
      }
      const rows = sightings.map(({ event, eventKey, value }) => ({ row: toRow(event, eventKey), detail: value }));
      collector.add({ query, dataset: dataset.dataset, rows }, {});
    }
}

/** Returns the row of a sighting, whose event is JSON text that may be cut. */
function toRow(event: string, eventKey: string): QueryRow {
  try {
    const parsed = JSON.parse(event) as unknown;
    return { ...(typeof parsed === 'string' ? (JSON.parse(parsed) as QueryRow) : (parsed as QueryRow)), _id: eventKey };
  } catch {
    return { event, _id: eventKey };
  }
}

/** Reads one indicator per line, in any notation. Throws 400 if there are none or too many, or if a line is not an indicator that logs can contain. */
export function readIndicators(text: string): SweepTarget[] {
  const lines = text.split('\n').flatMap((line, index) => (line.trim() === '' ? [] : [{ line: line.trim(), index }]));
  if (lines.length === 0 || lines.length > linesMax)
    throw fieldError('/question', 'out_of_range', `question must have 1 to ${linesMax} indicators, one per line.`);
  return lines.flatMap(({ line, index }) => {
    const found = readParts(line).flatMap(({ forms }) => {
      const form = forms.find(({ isStrict }) => isStrict);
      const kind = form && isIndicatorType(form.type) ? indicatorTypes[form.type].logField : null;
      const value = form?.form.toLowerCase();
      if (!form || value === undefined || !isPlainValue(value)) return [];
      if (form.type === 'cidr') return [{ itemId: '', kind: 'address' as const, type: 'cidr', value }];
      return kind === null ? [] : [toTarget('', kind, { type: form.type, value })];
    });
    if (found.length === 0)
      throw fieldError(
        '/question',
        'invalid',
        `Line ${index + 1} of question is no address, network, domain, URL or hash.`,
      );
    return found;
  });
}

/** Runs the queries of the detections of a technique and its sub-techniques. One that fails does not keep the others from running. */
async function askTechnique({ db, connectionFor }: AskDeps, question: Question, collector: Collector): Promise<void> {
  const { orgId, signal } = question;
  const { answer } = collector;
  const id = findTechnique(question.question)?.id ?? question.question;
  const found = await inOrg(db, orgId, (tx) => listTechniqueQueries(tx, orgId, id));
  const learning = found.filter(({ category }) => category !== 'custom' && category !== 'privilege_escalation');
  const asked = found.filter((one) => !learning.includes(one));
  if (learning.length > 0)
    answer.warnings.push(
      `Left out, because they compare with what is normal: ${learning.map(({ name }) => name).join(', ')}. Their backtests show the past.`,
    );
  if (asked.length === 0) answer.warnings.push(`No detection of ${id} has a query whose rows are findings.`);
  if (asked.length > detectionsMax) {
    answer.isComplete = false;
    answer.warnings.push(`Only ${detectionsMax} of ${asked.length} detections were asked.`);
  }
  for (const { id: detectionId, name, query, connectionId, siemType, entityField, timeField } of asked.slice(
    0,
    detectionsMax,
  )) {
    if (!collector.mayAsk()) return;
    try {
      const connection = await connectionFor(orgId, { connectionId, siemType });
      const source = { detectionId, entityField, timeField };
      await searchRows(connection, question, { query, collector, source, detail: name }, signal);
    } catch (error) {
      if (!(error instanceof SiemError) || signal.aborted) throw error;
      answer.isComplete = false;
      answer.warnings.push(`${name}: ${error.failure.message}`.slice(0, 1_000));
    }
  }
}
