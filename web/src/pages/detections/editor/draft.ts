import type {
  Detection,
  DetectionCategory,
  DetectionChanges,
  GeneratedDetection,
  NewDetection,
} from '../../../api/detections.ts';
import type { NewAgent } from '../../../api/agents.ts';
import { ApiProblem } from '../../../api/problem.ts';
import { acceptanceOf, criteriaOf, noAcceptance, type Acceptance } from './acceptance.ts';
import type { Tuning } from './tuning.ts';
import { texts } from '../../../texts/editor.ts';

export type Cadence = '' | 'hourly' | 'daily' | 'weekly' | 'custom';

export type Budgets = NonNullable<NewDetection['budgets']>;
export type Input = Detection['inputs'][number];
export type Document = Detection['contextDocs'][number];

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
  planningMode: Detection['planningMode'];
  mode: Detection['mode'];
  inputs: Input[];
  contextDocs: Document[];
  /** JSON. */
  structuredOutputSchema: string;
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
  /** It defines a response agent, which has no query and raises no hits. */
  isAgent?: boolean;
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
  planningMode: 'auto',
  mode: 'standard',
  inputs: [],
  contextDocs: [],
  structuredOutputSchema: '',
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
  planningMode: detection.planningMode,
  mode: detection.mode,
  inputs: detection.inputs,
  contextDocs: detection.contextDocs,
  structuredOutputSchema: JSON.stringify(detection.structuredOutputSchema, null, 2),
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
  planningMode: ({ planningMode }) => ({ planningMode }),
  mode: ({ mode }) => ({ mode }),
  inputs: ({ inputs }) => ({ inputs }),
  contextDocs: ({ contextDocs }) => ({ contextDocs }),
  structuredOutputSchema: ({ structuredOutputSchema: text }) =>
    text.trim() === '' ? {} : { structuredOutputSchema: parseSchema(text) },
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

type OutputSchema = NonNullable<DetectionChanges['structuredOutputSchema']>;

/** Throws a problem of the field unless the text is JSON. */
function parseSchema(text: string): OutputSchema {
  try {
    return JSON.parse(text) as OutputSchema;
  } catch (cause) {
    const detail = texts.notJson;
    const problem = { pointer: '/structuredOutputSchema', code: 'invalid_json', detail };
    throw new ApiProblem({ status: 400, code: 'invalid_json', detail, errors: [problem], cause });
  }
}

const names = Object.keys(toFields) as (keyof Draft)[];

/** The fields that only detections have. */
const ofDetections = new Set<keyof Draft>([
  'detectionCategory',
  'siemType',
  'detectionQuery',
  'headline',
  'entityField',
  'timeField',
  'tuning',
  'continuous',
  'lookbackMinutes',
  'suppressionMinutes',
  'onUndecided',
]);

/** Names of the fields in which two drafts differ. */
export const changedFields = (before: Draft, after: Draft): (keyof Draft)[] =>
  names.filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]));

/** Returns the change that leads from one draft to the other. */
export const changesBetween = (before: Draft, after: Draft): DetectionChanges =>
  Object.assign({}, ...changedFields(before, after).map((name) => toFields[name](after)));

/** Returns the whole definition. Absent values stay absent. */
export const definitionOf = (draft: Draft): NewDetection => fieldsOf(draft, names) as NewDetection;

/** Returns the whole definition of a response agent. */
export const agentOf = (draft: Draft): NewAgent =>
  fieldsOf(
    draft,
    names.filter((name) => !ofDetections.has(name)),
  ) as NewAgent;

function fieldsOf(draft: Draft, of: readonly (keyof Draft)[]): Record<string, unknown> {
  const fields = Object.assign({}, ...of.map((name) => toFields[name](draft))) as Record<string, unknown>;
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
}
