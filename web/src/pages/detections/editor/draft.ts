import type { Detection, DetectionCategory, DetectionChanges, NewDetection } from '../../../api/detections.ts';

export type Cadence = '' | 'hourly' | 'daily' | 'weekly' | 'custom';

/** The definition as the form edits it: all text, so that half-typed values are possible. */
export type Draft = {
  name: string;
  description: string;
  detectionCategory: DetectionCategory;
  connectionId: string;
  detectionQuery: string;
  systemPrompt: string;
  headline: string;
  entityField: string;
  timeField: string;
  tags: string;
  modelAlias: string;
  toolNames: string[];
  cadence: Cadence;
  customCronSchedule: string;
  cronTimezone: string;
};

export type FormProps = {
  draft: Draft;
  onChange: (change: Partial<Draft>) => void;
  /** Returns what is wrong with a field of the API. */
  problemOf: (field: string) => string | undefined;
};

export const emptyDraft: Draft = {
  name: '',
  description: '',
  detectionCategory: 'custom',
  connectionId: '',
  detectionQuery: '',
  systemPrompt: '',
  headline: '',
  entityField: '',
  timeField: '',
  tags: '',
  modelAlias: '',
  toolNames: [],
  cadence: 'hourly',
  customCronSchedule: '',
  cronTimezone: '',
};

export const draftOf = (detection: Detection): Draft => ({
  name: detection.name,
  description: detection.description,
  detectionCategory: detection.detectionCategory ?? 'custom',
  connectionId: detection.connectionId ?? '',
  detectionQuery: detection.detectionQuery ?? '',
  systemPrompt: detection.activeSystemPrompt.prompt,
  headline: detection.headline ?? '',
  entityField: detection.entityField ?? '',
  timeField: detection.timeField ?? '',
  tags: detection.tags.join(', '),
  modelAlias: detection.modelAlias,
  toolNames: detection.toolNames,
  cadence: detection.customCronSchedule ? 'custom' : (detection.detectionCadence ?? ''),
  customCronSchedule: detection.customCronSchedule ?? '',
  cronTimezone: detection.cronTimezone ?? '',
});

const tagsOf = (text: string): string[] =>
  text
    .split(',')
    .map((tag) => tag.trim())
    .filter((tag) => tag !== '');

/** Fields of the API that belong to a field of the form, as a change. Null clears. */
const toFields: { [Name in keyof Draft]: (draft: Draft) => DetectionChanges } = {
  name: ({ name }) => ({ name }),
  description: ({ description }) => ({ description }),
  detectionCategory: ({ detectionCategory }) => ({ detectionCategory }),
  connectionId: ({ connectionId }) => (connectionId === '' ? {} : { connectionId }),
  detectionQuery: ({ detectionQuery }) => ({ detectionQuery }),
  systemPrompt: ({ systemPrompt }) => ({ systemPrompt }),
  headline: ({ headline }) => ({ headline: headline === '' ? null : headline }),
  entityField: ({ entityField }) => (entityField === '' ? {} : { entityField }),
  timeField: ({ timeField }) => (timeField === '' ? {} : { timeField }),
  tags: ({ tags }) => ({ tags: tagsOf(tags) }),
  modelAlias: ({ modelAlias }) => (modelAlias === '' ? {} : { modelAlias }),
  toolNames: ({ toolNames }) => ({ toolNames }),
  cadence: scheduleOf,
  customCronSchedule: scheduleOf,
  cronTimezone: ({ cronTimezone }) => ({ cronTimezone: cronTimezone === '' ? null : cronTimezone }),
};

function scheduleOf({ cadence, customCronSchedule }: Draft): DetectionChanges {
  return cadence === 'custom'
    ? { customCronSchedule }
    : { customCronSchedule: null, detectionCadence: cadence === '' ? null : cadence };
}

const names = Object.keys(toFields) as (keyof Draft)[];

/** Names of the fields in which two drafts differ. */
export const changedFields = (before: Draft, after: Draft): (keyof Draft)[] =>
  names.filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]));

/** Returns the change that leads from one draft to the other. */
export const changesBetween = (before: Draft, after: Draft): DetectionChanges =>
  Object.assign({}, ...changedFields(before, after).map((name) => toFields[name](after)));

/** Returns the whole definition. Absent values stay absent. */
export function definitionOf(draft: Draft): NewDetection {
  const fields = Object.assign({}, ...names.map((name) => toFields[name](draft))) as Record<string, unknown>;
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null)) as NewDetection;
}
