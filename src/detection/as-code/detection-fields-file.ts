import { hash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { CreateDetection } from '../detections/record/detection-input.ts';
import type { Detection } from '../detections/record/detection.schema.ts';
import { TestSet } from '../detections/test-cases/test-cases.schema.ts';
import { verdictSchema } from '../detections/record/verdict.schema.ts';

/** What a file says of a detection: the fields of a create body and its tests, without those that are as they are by default. */
export type Fields = Record<string, unknown>;

/** Each field with its default, in the order in which a file has them. `undefined`: none, so that it cannot be taken away again. */
export const defaults: Fields = {
  name: undefined,
  description: '',
  detectionCategory: undefined,
  siemType: null,
  connectionId: undefined,
  detectionCadence: null,
  customCronSchedule: null,
  enabled: undefined,
  entityField: undefined,
  timeField: undefined,
  lookbackMinutes: undefined,
  suppressionMinutes: 360,
  budgets: {},
  modelAlias: 'default',
  planningMode: 'auto',
  mode: 'standard',
  toolNames: [],
  tags: [],
  inputs: [],
  contextDocs: [],
  structuredOutputSchema: verdictSchema,
  detectionQuery: undefined,
  systemPrompt: undefined,
  localQuery: null,
  tests: [],
};
const testFields = ['localQuery', 'tests'];
export const fieldNames = Object.keys(defaults);

/** The fields of a record and its tests as a file would have them. */
export function fieldsOfRecord(record: Detection, { tests, localQuery }: TestSet): Fields {
  return canonical({ ...record, systemPrompt: record.activeSystemPrompt.prompt, tests, localQuery });
}

/** The message names the file, and the line and field where it is wrong. */
export class BadFile extends Error {}

export type FieldProblem = { path: readonly PropertyKey[]; message: string };

/** What is wrong with the fields of a file; whoever knows the file says where they stand. */
export class BadFields extends Error {
  problems: FieldProblem[];
  constructor(problems: FieldProblem[]) {
    super(problems.map(({ path, message }) => [...path.map(String), message].join(': ')).join('; '));
    this.problems = problems;
  }
}

/** Reads what stands in a file. Throws a BadFields that names each wrong field. */
export function readFields(raw: unknown): Fields {
  if (raw === null || typeof raw !== 'object' || Array.isArray(raw))
    throw new BadFields([{ path: [], message: 'is no mapping of field names to values' }]);
  const unknown = Object.keys(raw).filter((name) => !fieldNames.includes(name));
  const { tests, localQuery, ...own } = raw as Fields;
  const body = Object.fromEntries(Object.entries(own).filter(([name]) => !unknown.includes(name)));
  const parsed = CreateDetection.safeParse(body);
  // What JSON cannot say (.nan) would never come back as it was sent.
  const set = TestSet.safeParse(JSON.parse(JSON.stringify({ tests: tests ?? [], localQuery })));
  const problems = [
    ...unknown.map((name) => ({ path: [name], message: 'is no field of a detection' })),
    ...(parsed.error?.issues ?? []),
    ...(set.error?.issues ?? []),
  ];
  if (problems.length > 0 || !parsed.success || !set.success) throw new BadFields(problems);
  return canonical({ ...parsed.data, ...set.data });
}

/** The tests of a file as the API takes them, with its other query. */
export const testsOf = (fields: Fields): TestSet => ({
  tests: (fields['tests'] ?? []) as TestSet['tests'],
  localQuery: (fields['localQuery'] ?? null) as string | null,
});

/** The fields of a file that are the detection itself. */
export const definitionOf = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => !testFields.includes(name)));

/** The same detection with other tests. */
export const withTests = (fields: Fields, tests: TestSet): Fields => canonical({ ...definitionOf(fields), ...tests });

export const changesTests = (changes: FieldChange[]): boolean =>
  changes.some(({ field }) => testFields.includes(field));

function canonical(given: Record<string, unknown>): Fields {
  const cron = given['customCronSchedule'];
  const all: Record<string, unknown> = {
    ...given,
    ...(typeof cron === 'string' ? { customCronSchedule: cron.trim().replaceAll(/\s+/g, ' ') } : {}),
  };
  const scheduled = (all['customCronSchedule'] ?? all['detectionCadence'] ?? null) !== null;
  // A detection with a schedule runs unless it says otherwise, one without cannot.
  if (all['enabled'] === scheduled) delete all['enabled'];
  return Object.fromEntries(
    fieldNames
      .filter((name) => all[name] !== undefined && all[name] !== null && !isDeepStrictEqual(all[name], defaults[name]))
      .map((name) => [name, all[name]]),
  );
}

/** Equal texts mean equal fields. */
export const hashOfFields = (fields: Fields): string => hash('sha256', JSON.stringify(sorted(fields)));

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (value === null || typeof value !== 'object') return value;
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([name, inner]) => [name, sorted(inner)]));
}

export type FieldChange = { field: string; before: unknown; after: unknown };

/** The fields that differ, in the order of a file; `undefined` where a side has the default. */
export function changesOf(before: Fields, after: Fields): FieldChange[] {
  return fieldNames
    .filter((field) => !isDeepStrictEqual(sorted(before[field]), sorted(after[field])))
    .map((field) => ({ field, before: before[field], after: after[field] }));
}

/** Fields that a change would take away although the API cannot unset them. */
export const stuckFields = (changes: FieldChange[]): string[] =>
  changes
    .filter(({ field, after }) => after === undefined && defaults[field] === undefined && field !== 'enabled')
    .map(({ field }) => field);

/** The body of a PUT of the detection itself: what changes, defaults spelled out where a file leaves a field out. */
export function bodyOf(changes: FieldChange[], after: Fields): Fields {
  const body: Fields = Object.fromEntries(
    changes
      .filter(({ field }) => !testFields.includes(field))
      .map(({ field, after: value }) => [field, value === undefined ? defaults[field] : value]),
  );
  const scheduled = after['customCronSchedule'] !== undefined || after['detectionCadence'] !== undefined;
  const touchesSchedule = ['customCronSchedule', 'detectionCadence', 'enabled'].some((field) => field in body);
  if (touchesSchedule) body['enabled'] = scheduled && after['enabled'] !== false;
  return body;
}
