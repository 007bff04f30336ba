import { hash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { detectionFields, type DetectionField } from '../detections/record/detection-fields.ts';
import { CreateAgent, CreateDetection, detectionOnly } from '../detections/record/detection-input.schema.ts';
import type { Detection } from '../detections/record/detection.schema.ts';
import { CreateTrigger, SetSchedule } from '../detections/triggers/agent-triggers.schema.ts';
import { TestSet } from '../detections/test-cases.schema.ts';

/**
 * The fields of a file: those of a create body, and what the service stores apart from the record: the tests of a detection, or the triggers of a response
 * agent, whose `agentType` is `response`. Fields with their default value are left out.
 */
export type FileFields = Record<string, unknown>;

const testDefaults: FileFields = { localQuery: null, tests: [] };
const startDefaults: FileFields = { scheduleInputs: {}, triggers: [] };
const entries: [string, DetectionField][] = Object.entries(detectionFields);
const detectionDefaults: FileFields = Object.fromEntries(
  // Long texts come last, so that a reader sees the settings first.
  [...entries.filter(([, { longText }]) => !longText), ...entries.filter(([, { longText }]) => longText)].map(
    ([name, field]) => [name, field.default],
  ),
);
/** Each field with its default, in the order of a file. Fields whose default is `undefined` cannot be reset. */
const defaults: FileFields = { agentType: 'detection', ...detectionDefaults, ...testDefaults, ...startDefaults };
export const fieldNames = Object.keys(defaults);

/** A block of the shipped detections that describes them to readers. Files may have it, and the service does not store it. */
export const libraryKey = 'library';

const isApart = (name: string): boolean => name in testDefaults || name in startDefaults;

/** Returns the fields that a file of this detection or response agent has. */
export function toFileFields(record: Detection, apart: Partial<TestSet & AgentStarts>): FileFields {
  const { tests, localQuery, triggers, scheduleInputs } = apart;
  const systemPrompt = record.activeSystemPrompt.prompt;
  return toCanonicalFields({ ...record, systemPrompt, tests, localQuery, triggers, scheduleInputs });
}

/** Returns the fields of a response agent that a create body sets. */
export const toAgentFields = (body: CreateAgent): FileFields => toCanonicalFields({ ...body, agentType: 'response' });

export const isAgentFile = (fields: FileFields): boolean => fields['agentType'] === 'response';

const AgentStarts = z.strictObject({
  triggers: z
    .array(CreateTrigger)
    .max(20)
    .transform((triggers) => triggers.map(toFileTrigger))
    .refine((all) => new Set(all.map(({ name }) => name)).size === all.length, 'must have different names')
    .default([]),
  scheduleInputs: SetSchedule.shape.inputs.default({}),
});
/** What starts the runs of a response agent, as its file has it. */
export type AgentStarts = z.infer<typeof AgentStarts>;

/** Returns a trigger as files have it: without defaults, and without what the service adds. */
export function toFileTrigger({ source, name = source, enabled, filter, inputs, runsPerHourMax }: CreateTrigger) {
  return {
    name,
    source,
    ...(enabled ? {} : { enabled }),
    ...(Object.keys(filter).length === 0 ? {} : { filter }),
    ...(Object.keys(inputs).length === 0 ? {} : { inputs }),
    ...(runsPerHourMax === 60 ? {} : { runsPerHourMax }),
  };
}

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

/** Validates the content of a file and returns its fields. Throws an InvalidFieldsError with every problem, also for a response agent where none may be. */
export function parseFields(raw: unknown, { allowsAgents = false }: FileOptions = {}): FileFields {
  if (raw === null || typeof raw !== 'object' || Array.isArray(raw))
    throw new InvalidFieldsError([{ path: [], message: 'must be a mapping of field names to values' }]);
  const { agentType = 'detection', ...all } = raw as FileFields;
  const isAgent = agentType === 'response';
  if (agentType !== 'detection' && !(isAgent && allowsAgents))
    throw new InvalidFieldsError([
      { path: ['agentType'], message: allowsAgents ? 'must be detection or response' : 'must be detection here' },
    ]);
  const foreign = isAgent ? [...Object.keys(testDefaults), ...detectionOnly] : Object.keys(startDefaults);
  const isOwn = (name: string): boolean => fieldNames.includes(name) && !foreign.includes(name);
  const unknown = Object.keys(all).filter((name) => !isOwn(name) && name !== libraryKey);
  const pick = (matches: (name: string) => boolean) =>
    Object.fromEntries(Object.entries(all).filter(([name]) => isOwn(name) && matches(name)));
  const parsed = (isAgent ? CreateAgent : CreateDetection).safeParse(pick((name) => !isApart(name)));
  // Values that JSON cannot represent, such as .nan, would change on the way to the service.
  const apart = JSON.parse(JSON.stringify({ ...(isAgent ? {} : { tests: [] }), ...pick(isApart) })) as FileFields;
  const set = (isAgent ? AgentStarts : TestSet).safeParse(apart);
  const problems = [
    ...unknown.map((name) => ({
      path: [name],
      message: `is not a field of a ${isAgent ? 'response agent' : 'detection'}`,
    })),
    ...(parsed.error?.issues ?? []),
    ...(set.error?.issues ?? []),
  ];
  if (problems.length > 0 || !parsed.success || !set.success) throw new InvalidFieldsError(problems);
  return toCanonicalFields({ ...parsed.data, ...set.data, agentType });
}

/** Whether files of response agents may be beside those of detections. */
export type FileOptions = { allowsAgents?: boolean };

/** Returns the tests and the local query of a file, as the API accepts them. */
export const toTestSet = (fields: FileFields): TestSet => ({
  tests: (fields['tests'] ?? []) as TestSet['tests'],
  localQuery: (fields['localQuery'] ?? null) as string | null,
});

/** Returns the fields of a file that belong to the record itself. */
export const withoutTests = (fields: FileFields): FileFields =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => !isApart(name) && name !== 'agentType'));

/** Returns the fields with other tests. */
export const withTests = (fields: FileFields, tests: TestSet): FileFields =>
  toCanonicalFields({ ...withoutTests(fields), ...tests });

/** Returns whether tests, or what starts an agent, differ. */
export const hasTestChanges = (changes: FieldChange[]): boolean => changes.some(({ field }) => isApart(field));

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
  if (changes.some(({ field }) => field === 'agentType'))
    return 'agentType cannot change: a response agent is another thing than a detection. Give it a file of its own.';
  const names = changes
    .filter(({ field, after }) => after === undefined && defaults[field] === undefined && field !== 'enabled')
    .map(({ field }) => field);
  return names.length > 0 ? `${names.join(', ')} cannot be removed once set. Specify a value.` : undefined;
}

/** Returns the body of the PUT that applies the changes to the detection itself, with explicit values for fields that go back to their default. */
export function toUpdateBody(changes: FieldChange[], after: FileFields): FileFields {
  const body: FileFields = Object.fromEntries(
    changes
      .filter(({ field }) => !isApart(field) && field !== 'agentType')
      .map(({ field, after: value }) => [field, value === undefined ? defaults[field] : value]),
  );
  const isScheduled = after['customCronSchedule'] !== undefined || after['detectionCadence'] !== undefined;
  const touchesSchedule = ['customCronSchedule', 'cronTimezone', 'detectionCadence', 'enabled'].some(
    (field) => field in body,
  );
  if (touchesSchedule) body['enabled'] = isScheduled && after['enabled'] !== false;
  return body;
}
