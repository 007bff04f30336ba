import { hash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { detectionFields, type DetectionField } from '../detections/record/detection-fields.ts';
import { CreateDetection, type CreateAgent } from '../detections/record/detection-input.schema.ts';
import type { Detection } from '../detections/record/detection.schema.ts';
import { TestSet } from '../detections/test-cases.schema.ts';

/** The fields of a detection file: those of a create body, and the tests. Fields with their default value are left out. */
export type FileFields = Record<string, unknown>;

const testDefaults: FileFields = { localQuery: null, tests: [] };
const entries: [string, DetectionField][] = Object.entries(detectionFields);
const detectionDefaults: FileFields = Object.fromEntries(
  // Long texts come last, so that a reader sees the settings first.
  [...entries.filter(([, { longText }]) => !longText), ...entries.filter(([, { longText }]) => longText)].map(
    ([name, field]) => [name, field.default],
  ),
);
/** Each field with its default, in the order of a file. Fields whose default is `undefined` cannot be reset. */
const defaults: FileFields = { ...detectionDefaults, ...testDefaults };
export const fieldNames = Object.keys(defaults);

/** A block of the shipped detections that describes them to readers. Files may have it, and the service does not store it. */
export const libraryKey = 'library';

const isTestField = (name: string): boolean => name in testDefaults;

/** Returns the fields that a file of this detection has. */
export function toFileFields(record: Detection, { tests, localQuery }: TestSet): FileFields {
  return toCanonicalFields({ ...record, systemPrompt: record.activeSystemPrompt.prompt, tests, localQuery });
}

/** Returns the fields of a response agent that a create body sets. */
export const toAgentFields = (body: CreateAgent): FileFields => toCanonicalFields(body);

/** A file cannot be used. The message has the file, line and field of each problem. */
export class DetectionFileError extends Error {}

export type FieldProblem = { path: readonly PropertyKey[]; message: string };

/** The fields of a file are not valid. The reader of the file adds the file name and line numbers. */
export class InvalidFieldsError extends Error {
  problems: FieldProblem[];
  constructor(problems: FieldProblem[]) {
    super(problems.map(({ path, message }) => [...path.map(String), message].join(': ')).join('; '));
    this.problems = problems;
  }
}

/** Validates the content of a file and returns its fields. Throws an InvalidFieldsError with every problem. */
export function parseFields(raw: unknown): FileFields {
  if (raw === null || typeof raw !== 'object' || Array.isArray(raw))
    throw new InvalidFieldsError([{ path: [], message: 'must be a mapping of field names to values' }]);
  const unknown = Object.keys(raw).filter((name) => !fieldNames.includes(name) && name !== libraryKey);
  const { tests, localQuery, ...detection } = raw as FileFields;
  const body = Object.fromEntries(Object.entries(detection).filter(([name]) => fieldNames.includes(name)));
  const parsed = CreateDetection.safeParse(body);
  // Values that JSON cannot represent, such as .nan, would change on the way to the service.
  const set = TestSet.safeParse(JSON.parse(JSON.stringify({ tests: tests ?? [], localQuery })));
  const problems = [
    ...unknown.map((name) => ({ path: [name], message: 'is not a field of a detection' })),
    ...(parsed.error?.issues ?? []),
    ...(set.error?.issues ?? []),
  ];
  if (problems.length > 0 || !parsed.success || !set.success) throw new InvalidFieldsError(problems);
  return toCanonicalFields({ ...parsed.data, ...set.data });
}

/** Returns the tests and the local query of a file, as the API accepts them. */
export const toTestSet = (fields: FileFields): TestSet => ({
  tests: (fields['tests'] ?? []) as TestSet['tests'],
  localQuery: (fields['localQuery'] ?? null) as string | null,
});

/** Returns the fields of a file that belong to the detection itself. */
export const withoutTests = (fields: FileFields): FileFields =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => !isTestField(name)));

/** Returns the fields with other tests. */
export const withTests = (fields: FileFields, tests: TestSet): FileFields =>
  toCanonicalFields({ ...withoutTests(fields), ...tests });

export const hasTestChanges = (changes: FieldChange[]): boolean => changes.some(({ field }) => isTestField(field));

/** Normalizes the cron expression and leaves out defaults and fields that are not part of a file. */
function toCanonicalFields(values: Record<string, unknown>): FileFields {
  const cron = values['customCronSchedule'];
  const all: Record<string, unknown> = {
    ...values,
    ...(typeof cron === 'string' ? { customCronSchedule: cron.trim().replaceAll(/\s+/g, ' ') } : {}),
  };
  const isScheduled = (all['customCronSchedule'] ?? all['detectionCadence'] ?? null) !== null;
  // By default, a detection is enabled if and only if it has a schedule.
  if (all['enabled'] === isScheduled) delete all['enabled'];
  return Object.fromEntries(
    fieldNames
      .filter((name) => all[name] !== undefined && all[name] !== null && !isDeepStrictEqual(all[name], defaults[name]))
      .map((name) => [name, all[name]]),
  );
}

/** Returns a SHA-256 hash of the fields that does not depend on the order of keys. */
export const hashFields = (fields: FileFields): string => hash('sha256', JSON.stringify(sortKeys(fields)));

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (value === null || typeof value !== 'object') return value;
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([name, inner]) => [name, sortKeys(inner)]));
}

/** A field that differs. Without a value, it has its default. */
export const FieldDiff = z.object({ field: z.string(), before: z.unknown(), after: z.unknown() });
export type FieldChange = z.infer<typeof FieldDiff>;

/** Returns the fields that differ, in the order of a file. `undefined` stands for the default. */
export function diffFields(before: FileFields, after: FileFields): FieldChange[] {
  return fieldNames
    .filter((field) => !isDeepStrictEqual(sortKeys(before[field]), sortKeys(after[field])))
    .map((field) => ({ field, before: before[field], after: after[field] }));
}

/**
 * Compares three ways: what was applied last, what is wanted now, and what the organization has. Returns the `changes` to fields that the
 * organization left as they were, and `kept`, the fields that both sides changed. Equal changes on both sides are neither.
 */
export function mergeVersions(
  applied: FileFields,
  wanted: FileFields,
  current: FileFields,
): { changes: FieldChange[]; kept: FieldChange[] } {
  const edited = new Set(diffFields(applied, current).map(({ field }) => field));
  const candidates = diffFields(applied, wanted)
    .map(({ field, after }) => ({ field, before: current[field], after }))
    .filter((change) => !isDeepStrictEqual(change.before, change.after));
  return {
    changes: candidates.filter(({ field }) => !edited.has(field)),
    kept: candidates.filter(({ field }) => edited.has(field)),
  };
}

/** Describes the fields that the changes would reset although the API cannot reset them, if there are any. */
export function describeUnresettable(changes: readonly FieldChange[]): string | undefined {
  const names = changes
    .filter(({ field, after }) => after === undefined && defaults[field] === undefined && field !== 'enabled')
    .map(({ field }) => field);
  return names.length > 0 ? `${names.join(', ')} cannot be removed once set. Specify a value.` : undefined;
}

/** Returns the body of the PUT that applies the changes to the detection itself, with explicit values for fields that go back to their default. */
export function toUpdateBody(changes: FieldChange[], after: FileFields): FileFields {
  const body: FileFields = Object.fromEntries(
    changes
      .filter(({ field }) => !isTestField(field))
      .map(({ field, after: value }) => [field, value === undefined ? defaults[field] : value]),
  );
  const isScheduled = after['customCronSchedule'] !== undefined || after['detectionCadence'] !== undefined;
  const touchesSchedule = ['customCronSchedule', 'cronTimezone', 'detectionCadence', 'enabled'].some(
    (field) => field in body,
  );
  if (touchesSchedule) body['enabled'] = isScheduled && after['enabled'] !== false;
  return body;
}
