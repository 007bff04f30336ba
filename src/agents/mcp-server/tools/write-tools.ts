import { z } from 'zod';
import { EntityNotesInput, type EntityNotesStored } from '../../../detection/entities/entities.schema.ts';
import type { Detection } from '../../../detection/detections/record/detection.schema.ts';
import { hitStatuses, HitVerdict, type HitDetail } from '../../../detection/hits/hits.schema.ts';
import type { RunStarted } from '../../../detection/runs/run-model/runs.schema.ts';
import { GeneratedDetection } from '../../suggestions/generate-detection.schema.ts';
import { defineTool, pick, idInput, textInput } from './tool.ts';

const draftFields = GeneratedDetection.pick({
  name: true,
  description: true,
  detectionCategory: true,
  systemPrompt: true,
  detectionQuery: true,
  detectionCadence: true,
  entityField: true,
  tags: true,
}).shape;

/** The tools that change something. What they do is reversible and in the audit log, and none hides future hits. */
export const writeTools = [
  defineTool({
    name: 'set_hit_status',
    title: 'Set the status of a hit',
    description: 'Records the decision on a hit, with the reason. Ask a person first. It can be set back to open.',
    scopes: ['hits:write'],
    isWrite: true,
    input: z.strictObject({
      id: idInput('hit'),
      status: z.enum(hitStatuses),
      reason: textInput(2000, 'Why, for the people who read the history.'),
      expectedRevision: HitVerdict.shape.expectedRevision.describe(
        'The revision of the hit that the decision is based on. Always send it: a change that a person made since is then an error and not overwritten.',
      ),
    }),
    run: async (callApi, { id, ...body }) => {
      const hit = await callApi<HitDetail>('POST', `/api/hits/${id}/status`, body);
      return pick(hit, ['id', 'entity', 'headline', 'status', 'revision', 'updatedAt']);
    },
  }),
  defineTool({
    name: 'write_entity_note',
    title: 'Write a note on an entity',
    description: 'Stores what is known of an entity for later triage. Replaces its present note.',
    scopes: ['detections:write'],
    isWrite: true,
    input: z.strictObject({
      entity: EntityNotesInput.shape.notes.element.shape.entity,
      note: textInput(2000, 'What is known of the entity, in one or two sentences.'),
      expectedRevision: EntityNotesInput.shape.notes.element.shape.expectedRevision,
    }),
    run: (callApi, note) => callApi<EntityNotesStored>('PUT', '/api/entity-notes', { notes: [note] }),
  }),
  defineTool({
    name: 'suggest_detection',
    title: 'Suggest a detection',
    description:
      'Stores a draft, such as one of draft_detection, as a suggestion that a person accepts or dismisses in the console. It does not run until then. Checks its query first.',
    scopes: ['detections:write'],
    isWrite: true,
    input: z.strictObject({ ...draftFields, rationale: textInput(10_000, 'Why this detection is suggested.') }),
    run: async (callApi, body) => {
      const detection = await callApi<Detection>('POST', '/api/detections/suggestions?validate=true', body);
      return pick(detection, ['id', 'name', 'isSuggestion', 'createdAt']);
    },
  }),
  defineTool({
    name: 'run_detection',
    title: 'Run a detection now',
    description: 'Starts a run of a detection, which may raise hits and use the budget of its model. Returns its ID.',
    scopes: ['detections:run'],
    isWrite: true,
    input: z.strictObject({ id: idInput('detection') }),
    run: (callApi, { id }) => callApi<RunStarted>('POST', `/api/detections/${id}/run`, {}),
  }),
];
