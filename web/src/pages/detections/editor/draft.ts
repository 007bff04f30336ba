import type {
  Detection,
  DetectionCategory,
  DetectionChanges,
  GeneratedDetection,
  NewDetection,
} from '../../../api/detections.ts';
import { acceptanceOf, criteriaOf, noAcceptance, type Acceptance } from './acceptance.ts';
import type { Tuning } from './tuning.ts';

export type Cadence = '' | 'hourly' | 'daily' | 'weekly' | 'custom';

export type Budgets = NonNullable<NewDetection['budgets']>;

/** The definition as the form edits it: text, so that half-typed values are possible, and numbers that may be left out. */
export type Draft = {
  name: string;
  description: string;
  detectionCategory: DetectionCategory;
  connectionId: string;
  /** Selects the only connection of this kind while none is chosen. The form does not change it. */
  siemType: string | null;
  detectionQuery: string;
  systemPrompt: string;
  headline: string;
  entityField: string;
  timeField: string;
  tags: string;
  modelAlias: string;
  toolNames: string[];
  skills: string[];
  cadence: Cadence;
  customCronSchedule: string;
  cronTimezone: string;
  tuning: Tuning;
  budgets: Budgets;
  continuous: boolean;
  lookbackMinutes: number | undefined;
  suppressionMinutes: number | undefined;
  dismissConfidence: number | undefined;
  acceptanceCriteria: Acceptance;
  onUndecided: 'raise' | 'review';
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
  siemType: null,
  detectionQuery: '',
  systemPrompt: '',
  headline: '',
  entityField: '',
  timeField: '',
  tags: '',
  modelAlias: '',
  toolNames: [],
  skills: [],
  cadence: 'hourly',
  customCronSchedule: '',
  cronTimezone: '',
  tuning: {},
  budgets: {},
  continuous: false,
  lookbackMinutes: undefined,
  suppressionMinutes: undefined,
  dismissConfidence: undefined,
  acceptanceCriteria: noAcceptance,
  onUndecided: 'raise',
};

export const draftOf = (detection: Detection): Draft => ({
  name: detection.name,
  description: detection.description,
  detectionCategory: detection.detectionCategory ?? 'custom',
  connectionId: detection.connectionId ?? '',
  siemType: detection.siemType,
  detectionQuery: detection.detectionQuery ?? '',
  systemPrompt: detection.activeSystemPrompt.prompt,
  headline: detection.headline ?? '',
  entityField: detection.entityField ?? '',
  timeField: detection.timeField ?? '',
  tags: detection.tags.join(', '),
  modelAlias: detection.modelAlias,
  toolNames: detection.toolNames,
  skills: detection.skills ?? [],
  cadence: detection.customCronSchedule ? 'custom' : (detection.detectionCadence ?? ''),
  customCronSchedule: detection.customCronSchedule ?? '',
  cronTimezone: detection.cronTimezone ?? '',
  tuning: detection.tuning ?? {},
  budgets: detection.budgets ?? {},
  continuous: detection.continuous ?? false,
  lookbackMinutes: detection.lookbackMinutes,
  suppressionMinutes: detection.suppressionMinutes,
  dismissConfidence: detection.dismissConfidence,
  acceptanceCriteria: acceptanceOf(detection.acceptanceCriteria ?? []),
  onUndecided: detection.onUndecided ?? 'raise',
});

/** Returns what a generated detection fills in. */
export const draftOfGenerated = (generated: GeneratedDetection): Partial<Draft> => ({
  name: generated.name,
  description: generated.description,
  detectionCategory: generated.detectionCategory,
  siemType: generated.siemType,
  detectionQuery: generated.detectionQuery,
  systemPrompt: generated.systemPrompt,
  entityField: generated.entityField,
  tags: generated.tags.join(', '),
  cadence: generated.detectionCadence,
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
  siemType: ({ siemType, connectionId }) => (siemType === null || connectionId !== '' ? {} : { siemType }),
  detectionQuery: ({ detectionQuery }) => ({ detectionQuery }),
  systemPrompt: ({ systemPrompt }) => ({ systemPrompt }),
  headline: ({ headline }) => ({ headline: headline === '' ? null : headline }),
  entityField: ({ entityField }) => (entityField === '' ? {} : { entityField }),
  timeField: ({ timeField }) => (timeField === '' ? {} : { timeField }),
  tags: ({ tags }) => ({ tags: tagsOf(tags) }),
  modelAlias: ({ modelAlias }) => (modelAlias === '' ? {} : { modelAlias }),
  toolNames: ({ toolNames }) => ({ toolNames }),
  skills: ({ skills }) => ({ skills }),
  cadence: scheduleOf,
  customCronSchedule: scheduleOf,
  cronTimezone: ({ cronTimezone }) => ({ cronTimezone: cronTimezone === '' ? null : cronTimezone }),
  tuning: ({ tuning }) => ({ tuning }),
  budgets: ({ budgets }) => ({ budgets }),
  continuous: ({ continuous }) => ({ continuous }),
  lookbackMinutes: ({ lookbackMinutes }) => (lookbackMinutes === undefined ? {} : { lookbackMinutes }),
  suppressionMinutes: ({ suppressionMinutes }) => (suppressionMinutes === undefined ? {} : { suppressionMinutes }),
  dismissConfidence: ({ dismissConfidence }) => (dismissConfidence === undefined ? {} : { dismissConfidence }),
  acceptanceCriteria: ({ acceptanceCriteria }) => ({ acceptanceCriteria: criteriaOf(acceptanceCriteria) }),
  onUndecided: ({ onUndecided }) => ({ onUndecided }),
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
